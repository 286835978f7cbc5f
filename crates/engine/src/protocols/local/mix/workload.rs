//! Workload of one client: the call model of its group selects the kind of operation, and its pacer
//! the time.
//!
//! A client has one operation in flight. Operations that become due in the meantime wait; their
//! response time counts from the due time.

use super::caller::Prerequisites;
use super::clients::ClientGroup;
use super::pacer::ClientPacer;
use super::work::{Account, MountKinds, MountWork, RequestedWork};
use filestone_plan::plan::{MixPlan, Plan};
use filestone_protocol::workload::{Next, Workload};
use filestone_workload::operation::{Completion, OpKind};
use filestone_workload::recording::Sample;
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// Longest single wait, so that a client notices the end of its group.
const NAP_NANOS: u64 = 20_000_000;
/// Longest single wait for the counters that decide whether enough calls have been made.
const COUNT_NAP_NANOS: u64 = 1_000_000;
/// Maximum number of parts of an operation: itself, one before it and one after it.
const PARTS_MAX: usize = 3;

/// Workload of one client.
pub(super) struct MountMix {
    number: u32,
    pacer: ClientPacer,
    group: Arc<ClientGroup>,
    window_start: Timestamp,
    window_end: Timestamp,
    /// Kind under which skipped operations are counted.
    measured_kind: OpKind,
    account: Account,
    stage: Stage,
    free_at: Timestamp,
}

/// Stage of a client's operation.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// No operation.
    Free,
    /// The operation is selected; prerequisites are being executed.
    Preparing { kind: OpKind, due: Timestamp },
    /// The operation is in progress or done.
    Operating(OpKind),
    /// The operation is done; the set is being balanced.
    Settling(OpKind),
}

impl MountMix {
    /// Creates client `number` of `plan`, whose set has these initial requirements.
    pub fn new(
        plan: &Plan,
        mix: &MixPlan,
        number: u32,
        group: Arc<ClientGroup>,
        needs: Prerequisites,
    ) -> Self {
        let window = plan.window();
        Self {
            number,
            pacer: ClientPacer::new(plan, mix, number, group.pause_ns()),
            group,
            window_start: window.start,
            window_end: window.end,
            measured_kind: plan.measured_kind(),
            account: Account {
                done: Vec::with_capacity(PARTS_MAX),
                needs,
                ..Account::default()
            },
            stage: Stage::Free,
            free_at: Timestamp::ZERO,
        }
    }

    /// Returns the reason why the client could not continue.
    pub fn into_loss(self) -> Option<String> {
        self.account.lost
    }

    fn work(&mut self, asked: RequestedWork) -> MountWork<'_> {
        MountWork {
            asked,
            account: &mut self.account,
        }
    }

    /// Selects the next operation if it is due; otherwise returns when to ask again.
    fn choose(&mut self, now: Timestamp) -> Result<(OpKind, Timestamp), Next<MountWork<'static>>> {
        let due = self.pacer.due(self.free_at);
        self.group.show_due(self.number, due);
        if due >= self.window_end || self.free_at >= self.window_end {
            return Err(Next::NotBefore(Timestamp::MAX));
        }
        if due > now {
            return Err(Next::NotBefore(due.min(now.after_nanos(NAP_NANOS))));
        }
        if self.awaits_counters() {
            return Err(Next::NotBefore(now.after_nanos(COUNT_NAP_NANOS)));
        }
        let kind = self.pacer.choose(&mut self.group.arithmetic());
        let Some(kind) = kind else {
            self.account.lost = Some("the mix has nothing that could be asked".into());
            return Err(Next::Idle);
        };
        Ok((kind, due))
    }

    /// Whether enough calls have been made by the estimate; then the counters decide.
    fn awaits_counters(&self) -> bool {
        !self.pacer.counts_by_itself()
            && self.free_at >= self.window_start
            && self.group.arithmetic().seems_complete()
    }

    /// Reports the calls of the ended operation to the call model and the pacer.
    fn finish(&mut self) {
        let (Stage::Operating(kind) | Stage::Settling(kind)) = self.stage else {
            return;
        };
        self.stage = Stage::Free;
        let done = &self.account.done;
        let pause_ns = {
            let mut arithmetic = self.group.arithmetic();
            arithmetic.carried_out(kind, done.iter().flat_map(|done| done.claims));
            arithmetic.pause_ns()
        };
        self.pacer.end(done, pause_ns);
        self.account.done.clear();
        self.check_counters();
    }

    /// With nhfsstone's arithmetic, every client reads the counters itself.
    fn check_counters(&mut self) {
        let now = self.free_at;
        if !self.pacer.wants_counters(now) {
            return;
        }
        let seen = match &self.group.all {
            // Without counters, only the client's claims are known.
            None => self.group.arithmetic().asked(),
            Some((kernel, before)) => match kernel.read() {
                Ok(counters) => counters.since(before).calls,
                Err(error) => {
                    self.account.lost = Some(error.to_string());
                    return;
                }
            },
        };
        match self.pacer.correct(now, &seen) {
            None => self.group.end(),
            Some(correction) => self.group.corrections().push(correction),
        }
    }
}

impl Workload<MountKinds> for MountMix {
    fn has_own_schedule(&self) -> bool {
        true
    }

    fn next(&mut self, _slot: u32, now: Timestamp) -> Next<MountWork<'_>> {
        if std::mem::take(&mut self.account.has_failed) {
            return Next::Background(self.work(RequestedWork::Loss));
        }
        if self.account.lost.is_some() || self.group.is_over() {
            return Next::Idle;
        }
        if let Stage::Preparing { kind, due } = self.stage {
            self.stage = Stage::Operating(kind);
            return Next::Due(due, self.work(RequestedWork::Measured(kind)));
        }
        let (kind, due) = match self.choose(now) {
            Ok(chosen) => chosen,
            Err(instead) => return instead,
        };
        if let Some(unmeasured) = self.account.needs.before(kind) {
            self.stage = Stage::Preparing { kind, due };
            return Next::Unmeasured(self.work(RequestedWork::Unmeasured(unmeasured)));
        }
        self.stage = Stage::Operating(kind);
        Next::Due(due, self.work(RequestedWork::Measured(kind)))
    }

    fn needs_preparation(&self) -> bool {
        true
    }

    /// Returns the follow-up work of the ended operation.
    fn prepare_slot(&mut self, _slot: u32, _after: Option<&Completion>) -> Option<MountWork<'_>> {
        if let Stage::Operating(kind) = self.stage
            && let Some(unmeasured) = self.account.needs.after
        {
            self.stage = Stage::Settling(kind);
            return Some(self.work(RequestedWork::Unmeasured(unmeasured)));
        }
        self.finish();
        None
    }

    fn records_samples(&self) -> bool {
        true
    }

    fn ended(&mut self, sample: &Sample) {
        self.free_at = sample.completion.done;
    }

    fn skip_due(&mut self, opened: Timestamp, end: Timestamp, count: &mut dyn FnMut(OpKind)) {
        // An operation in progress at the very end counts as started, and must not be counted
        // again.
        self.finish();
        if self.account.lost.is_some() || self.group.is_over() {
            return;
        }
        let skipped = self.pacer.skip(opened, end, self.group.pause_ns());
        (0..skipped).for_each(|_| count(self.measured_kind));
    }
}
