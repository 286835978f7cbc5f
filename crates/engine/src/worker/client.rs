//! One simulated client as its worker sees it: its slots, and when it is due.

use filestone_model::arrivals::Arrivals;
use filestone_model::measure::Role;
use filestone_model::operation::OpKind;
use filestone_model::plan::Plan;
use filestone_model::time::Moment;
use filestone_model::workload::Workload;
use std::collections::VecDeque;

/// One simulated client as its worker sees it.
pub(super) struct ClientState {
    pub workload: Box<dyn Workload>,
    /// Whether the workload wants to hear of completions at all.
    pub restores: bool,
    /// Whether it is a closed loop whose operations are all the same.
    pub is_constant: bool,
    pub arrivals: Arrivals,
    /// When its next operation is due, in an open loop.
    pub next_due: Moment,
    /// Whether `next_due` has passed and every slot was taken.
    pub is_starved: bool,
    /// Measured operations that it may still begin.
    pub remaining: u64,
    /// Slots without work, the one that was freed first in front.
    pub free: VecDeque<u32>,
    pub slots: Vec<SlotState>,
    /// When the operation in each slot was due: the one thing that every
    /// operation of a constant closed loop touches.
    pub due: Vec<Moment>,
}

/// The operation in a slot. When it is due stands apart, in
/// [`ClientState::due`].
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotState {
    pub free_at: Moment,
    /// When the slot was free for it, in an open loop; a closed loop's operation
    /// is due when its slot is free.
    pub ready: Moment,
    pub kind: OpKind,
    pub role: Role,
    pub is_busy: bool,
}

impl ClientState {
    /// Client `client`, which may begin `count` measured operations, if a count ends the run.
    pub fn new(plan: &Plan, client: u32, count: Option<u64>, workload: Box<dyn Workload>) -> Self {
        let idle = SlotState {
            free_at: Moment::ZERO,
            ready: Moment::ZERO,
            kind: plan.measured_kind(),
            role: Role::Measured,
            is_busy: false,
        };
        let arrivals = Arrivals::of_client(&plan.arrivals, client, plan.clients, plan.seed);
        Self {
            restores: workload.restores(),
            is_constant: workload.is_constant() && !arrivals.is_open(),
            workload,
            arrivals,
            next_due: Moment::NEVER,
            is_starved: false,
            remaining: count.unwrap_or(u64::MAX),
            free: VecDeque::with_capacity(plan.in_flight as usize + 1),
            slots: vec![idle; plan.in_flight as usize],
            due: vec![Moment::ZERO; plan.in_flight as usize],
        }
    }

    /// Uses up what is due from now on and before `end`, and counts, kind by kind, what
    /// of it was due in the window.
    pub fn skip_due(
        &mut self,
        opened: Moment,
        end: Moment,
        mut count: impl FnMut(Option<OpKind>, u64),
    ) {
        if !self.arrivals.is_open() || self.next_due >= end {
            return;
        }
        let first = u64::from(self.next_due >= opened);
        let due = first + self.arrivals.count_due(opened, end);
        let skipped = due.min(self.remaining);
        // A mix says of each arrival what it would have been.
        let mut counted = 0;
        while counted < skipped {
            let kind = self.workload.skip();
            let times = if kind.is_some() { 1 } else { skipped - counted };
            count(kind, times);
            counted += times;
        }
        self.next_due = Moment::NEVER;
    }

    /// Goes on with another offered load of all clients together.
    pub fn change_load(&mut self, load: f64, client: u32, clients: u32, now: Moment) {
        self.is_starved = false;
        self.arrivals.change_load(load, client, clients, now);
        self.next_due = self.arrivals.next_due().unwrap_or(Moment::NEVER);
    }
}
