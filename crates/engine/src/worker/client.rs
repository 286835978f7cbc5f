//! One simulated client as its worker sees it: its slots, and when it is due.

use filestone_control::arrivals::Arrivals;
use filestone_measure::measure::{Role, Sample};
use filestone_plan::plan::Plan;
use filestone_protocol::workload::Workload;
use filestone_workload::language::WorkType;
use filestone_workload::operation::{Completion, OpKind, Outcome, ReplyInfo, SlotId};
use filestone_workload::time::Timestamp;
use std::collections::VecDeque;

/// A client of a run, and what it asks.
pub struct WorkerClient<W> {
    /// Which of all clients it is.
    pub number: u32,
    /// What it asks.
    pub workload: W,
}

impl SlotState {
    /// The sample of what is in this slot, which has timed out.
    pub fn timed_out(
        &self,
        ticket: SlotId,
        due: Timestamp,
        ready: Timestamp,
        now: Timestamp,
    ) -> Sample {
        Sample {
            kind: self.kind,
            role: self.role,
            due,
            ready,
            completion: Completion {
                ticket,
                outcome: Outcome::TimedOut,
                answer: ReplyInfo::Plain,
                usable: Timestamp::ZERO,
                sent: ready,
                done: now,
                calls: 0,
                retransmissions: 0,
                bytes_sent: 0,
                bytes_received: 0,
                data_bytes: 0,
            },
        }
    }
}

impl<W> WorkerClient<W> {
    /// The clients that worker `index` of `plan` has, with the workloads that `make` gives.
    pub fn of_worker(plan: &Plan, index: u32, mut make: impl FnMut(u32) -> W) -> Vec<Self> {
        let clients = plan.clients_of_worker(index);
        let member = |number| Self {
            number,
            workload: make(number),
        };
        clients.map(member).collect()
    }
}

/// One simulated client as its worker sees it. The workload stands apart, because what it hands
/// out may borrow from it while the rest changes.
pub(super) struct ClientState<W> {
    pub workload: W,
    pub slots: Slots,
}

/// A client's slots, and when it is due.
pub(super) struct Slots {
    number: u32,
    /// Whether the workload wants to hear of completions before it goes on.
    pub restores: bool,
    /// Whether the workload wants to hear of every sample.
    pub keeps_books: bool,
    /// Whether it is a closed loop whose operations are all the same.
    pub is_constant: bool,
    pub arrivals: Arrivals,
    /// When its next operation is due, in an open loop.
    pub next_due: Timestamp,
    /// Whether `next_due` has passed and every slot was taken.
    pub is_starved: bool,
    /// Measured operations that it may still begin.
    pub remaining: u64,
    /// Whether its connection was lost and could not be made again for long.
    pub is_lost: bool,
    /// Whether nothing is to begin on it any more.
    pub is_given_up: bool,
    /// The slot that waits for a moment which its workload named. Such workloads have one slot.
    pub parked: Option<u32>,
    /// Slots that have been put to work so far, the first of all. In an open loop whose operations
    /// need something before, the others follow when they are needed.
    pub begun: u32,
    /// When the first of them were.
    pub begun_at: Timestamp,
    /// Slots without work, the one that was freed first in front.
    pub free: VecDeque<u32>,
    pub slots: Vec<SlotState>,
    /// When the operation in each slot was due: the one thing that every
    /// operation of a constant closed loop touches.
    pub due: Vec<Timestamp>,
}

/// The operation in a slot. When it is due stands apart, in [`Slots::due`].
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotState {
    pub free_at: Timestamp,
    /// When the slot was free for it, in an open loop; a closed loop's operation
    /// is due when its slot is free.
    pub ready: Timestamp,
    pub kind: OpKind,
    pub role: Role,
    pub under_way: SlotActivity,
}

/// What goes on in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotActivity {
    Idle,
    /// An operation that is counted and timed.
    Measured,
    /// Something that is neither.
    Background,
}

impl<W> ClientState<W> {
    /// A client that may begin `count` measured operations, if a count ends the run.
    pub fn new<L: WorkType>(plan: &Plan, count: Option<u64>, member: WorkerClient<W>) -> Self
    where
        W: Workload<L>,
    {
        let WorkerClient { number, workload } = member;
        let idle = SlotState {
            free_at: Timestamp::ZERO,
            ready: Timestamp::ZERO,
            kind: plan.measured_kind(),
            role: Role::Measured,
            under_way: SlotActivity::Idle,
        };
        let (arrivals, count) = if workload.has_own_schedule() {
            (Arrivals::Closed, None)
        } else {
            (Arrivals::of(plan, number), count)
        };
        let slots = Slots {
            number,
            restores: workload.needs_preparation(),
            keeps_books: workload.records_samples(),
            is_constant: workload.is_constant() && !arrivals.is_open(),
            arrivals,
            next_due: Timestamp::MAX,
            is_starved: false,
            remaining: count.unwrap_or(u64::MAX),
            is_lost: false,
            is_given_up: false,
            parked: None,
            begun: 0,
            begun_at: Timestamp::ZERO,
            free: VecDeque::with_capacity(plan.in_flight as usize + 1),
            slots: vec![idle; plan.in_flight as usize],
            due: vec![Timestamp::ZERO; plan.in_flight as usize],
        };
        Self { workload, slots }
    }

    /// Uses up what is due from now on and before `end`, and counts, kind by kind, what
    /// of it was due in the window.
    pub fn skip_due<L: WorkType>(
        &mut self,
        opened: Timestamp,
        end: Timestamp,
        mut count: impl FnMut(Option<OpKind>, u64),
    ) where
        W: Workload<L>,
    {
        let slots = &mut self.slots;
        if !slots.arrivals.is_open() {
            let mut one = |kind| count(Some(kind), 1);
            return self.workload.skip_due(opened, end, &mut one);
        }
        if slots.next_due >= end {
            return;
        }
        let first = u64::from(slots.next_due >= opened);
        let due = first + slots.arrivals.count_due(opened, end);
        let skipped = due.min(slots.remaining);
        // A mix says of each arrival what it would have been.
        let mut counted = 0;
        while counted < skipped {
            let kind = self.workload.skip();
            let times = if kind.is_some() { 1 } else { skipped - counted };
            count(kind, times);
            counted += times;
        }
        slots.next_due = Timestamp::MAX;
    }
}

/// Slots of an open loop that are kept ready where operations need something before: so many
/// prerequisites are under way at a time beside those of operations that have ended.
const READY_SLOTS: usize = 8;

impl Slots {
    /// How many slots are put to work first.
    pub fn first_slots(&self) -> u32 {
        let all = self.slots.len();
        let is_prepared = self.restores && self.arrivals.is_open();
        let first = if is_prepared {
            all.min(READY_SLOTS)
        } else {
            all
        };
        first as u32
    }

    /// The next slot to put to work, if few of those that were are free.
    #[inline]
    pub fn next_slot(&mut self) -> Option<u32> {
        let next = self.begun;
        if next as usize >= self.slots.len() || self.free.len() >= READY_SLOTS {
            return None;
        }
        self.begun += 1;
        Some(next)
    }

    /// Begins nothing more.
    pub fn mark_failed(&mut self) {
        self.is_given_up = true;
        self.remaining = 0;
    }

    /// Whether it has done all that it may.
    pub fn is_done(&self) -> bool {
        self.remaining == 0
            && !self
                .slots
                .iter()
                .any(|slot| slot.under_way != SlotActivity::Idle)
    }

    /// Goes on with another offered load of all clients together.
    pub fn change_load(&mut self, load: f64, clients: u32, now: Timestamp) {
        self.is_starved = false;
        self.arrivals.change_load(load, self.number, clients, now);
        self.next_due = self.arrivals.next_due().unwrap_or(Timestamp::MAX);
    }
}
