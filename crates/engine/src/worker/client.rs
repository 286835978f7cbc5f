//! One simulated client as its worker sees it: its slots, and its due time.

use filestone_control::arrivals::Arrivals;
use filestone_plan::plan::Plan;
use filestone_protocol::workload::Workload;
use filestone_workload::language::WorkType;
use filestone_workload::operation::{Completion, OpKind, Outcome, SlotId};
use filestone_workload::recording::{Role, Sample};
use filestone_workload::time::Timestamp;
use std::collections::VecDeque;

/// A client of a run and its workload.
pub struct WorkerClient<W> {
    /// Number among all clients.
    pub number: u32,
    /// Workload of the client.
    pub workload: W,
}

impl SlotState {
    /// Returns the sample of the operation in this slot, which has timed out.
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
                outcome: Outcome::TimedOut,
                calls: 0,
                ..Completion::success(ticket, ready, now)
            },
        }
    }
}

impl<W> WorkerClient<W> {
    /// Returns the clients of worker `index` of `plan`, with the workloads that `make` returns.
    pub fn of_worker(plan: &Plan, index: u32, mut make: impl FnMut(u32) -> W) -> Vec<Self> {
        let clients = plan.clients_of_worker(index);
        let member = |number| Self {
            number,
            workload: make(number),
        };
        clients.map(member).collect()
    }
}

/// One simulated client as its worker sees it. The workload is a separate field, because an
/// operation may borrow from it while the slots change.
pub(super) struct WorkerClientState<W> {
    pub workload: W,
    pub slots: ClientSlots,
}

/// Slots of a client, and its due time.
pub(super) struct ClientSlots {
    number: u32,
    /// Whether the workload needs each completion before its next operation.
    pub restores: bool,
    /// Whether the workload receives every sample.
    pub keeps_books: bool,
    /// Whether the client is a closed loop with identical operations.
    pub is_constant: bool,
    pub arrivals: Arrivals,
    /// Due time of the next operation, in an open loop.
    pub next_due: Timestamp,
    /// Whether `next_due` has passed and every slot was in use.
    pub is_starved: bool,
    /// Number of measured operations that the client may still start.
    pub remaining: u64,
    /// Whether the connection was lost, and reconnecting failed for the whole retry time.
    pub is_lost: bool,
    /// Whether the client may start no more operations.
    pub is_given_up: bool,
    /// The slot that waits for a moment set by its workload. Such workloads have one slot.
    pub parked: Option<u32>,
    /// Number of slots started, from the first on. In an open loop whose operations have
    /// prerequisites, the others start when they are needed.
    pub begun: u32,
    /// Start time of the first of them.
    pub begun_at: Timestamp,
    /// Free slots, the longest free one first.
    pub free: VecDeque<u32>,
    pub slots: Vec<SlotState>,
    /// Due time of the operation in each slot: the only value that every operation of a constant
    /// closed loop touches.
    pub due: Vec<Timestamp>,
}

/// The operation in a slot. Its due time is stored separately, in [`ClientSlots::due`].
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotState {
    pub free_at: Timestamp,
    /// Time at which the slot was free for it, in an open loop; in a closed loop an operation is
    /// due when its slot is free.
    pub ready: Timestamp,
    pub kind: OpKind,
    pub role: Role,
    pub under_way: SlotActivity,
}

/// Activity of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotActivity {
    Idle,
    /// An operation that is counted and timed.
    Measured,
    /// Work that is neither counted nor timed.
    Background,
}

impl<W> WorkerClientState<W> {
    /// Returns a client that may start `count` measured operations, if a count ends the run.
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
        let slots = ClientSlots {
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

    /// Skips the operations due from now on and before `end`, and counts by kind those due in the
    /// window.
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
        // A mix reports the kind of each skipped arrival.
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

/// Number of slots of an open loop that are kept ready if operations have prerequisites: this many
/// prerequisites are in flight at a time, in addition to those of operations that have ended.
const READY_SLOTS: usize = 8;

impl ClientSlots {
    /// Returns the number of slots that start first.
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

    /// Returns the next slot to start, if few of the started slots are free.
    #[inline]
    pub fn next_slot(&mut self) -> Option<u32> {
        let next = self.begun;
        if next as usize >= self.slots.len() || self.free.len() >= READY_SLOTS {
            return None;
        }
        self.begun += 1;
        Some(next)
    }

    /// Lets the client start no more operations.
    pub fn mark_failed(&mut self) {
        self.is_given_up = true;
        self.remaining = 0;
    }

    /// Returns whether the client has no operations left.
    pub fn is_done(&self) -> bool {
        self.remaining == 0
            && !self
                .slots
                .iter()
                .any(|slot| slot.under_way != SlotActivity::Idle)
    }

    /// Changes the offered load of all clients together to `load`.
    pub fn change_load(&mut self, load: f64, clients: u32, now: Timestamp) {
        self.is_starved = false;
        self.arrivals.change_load(load, self.number, clients, now);
        self.next_due = self.arrivals.next_due().unwrap_or(Timestamp::MAX);
    }
}
