//! One client's thread: one operation after the other, each when it is due.
//!
//! A client has one operation in flight. What comes due meanwhile waits, and its response time
//! counts from when it was due.

use super::caller::{Done, SystemCalls, UnmeasuredOperation};
use super::clients::{ClientGroup, MixMailbox};
use super::pacer::Pacer;
use crate::time::Time;
use filestone_model::failure::StatusSpace;
use filestone_model::measure::processors::ThreadTime;
use filestone_model::measure::{Role, Sample};
use filestone_model::operation::{Answer, Completion, OpKind, Outcome, Ticket};
use filestone_model::plan::{MixPlan, Plan};
use filestone_model::time::Moment;
use rustix::io::Errno;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest wait at a time, so that a client whose group has ended ends, too.
const NAP_NANOS: u64 = 20_000_000;
/// While the counters are awaited that say whether enough calls have been made.
const COUNT_NAP_NANOS: u64 = 1_000_000;

/// What all clients share.
pub(super) struct Shared<'run> {
    pub stop: &'run AtomicBool,
    pub window_start: Moment,
    pub window_end: Moment,
    pub feedback: bool,
}

impl<'run> Shared<'run> {
    pub fn of(plan: &Plan, mix: &MixPlan, stop: &'run AtomicBool) -> Self {
        let window_start = Moment::from_nanos(plan.warm_up_ns);
        Self {
            stop,
            window_start,
            window_end: plan
                .duration_ns
                .map_or(Moment::NEVER, |duration| window_start.after_nanos(duration)),
            feedback: mix.local.feedback,
        }
    }
}

/// One client.
pub(super) struct Client<'run, C, T> {
    pub number: u32,
    pub caller: C,
    pub pacer: Pacer,
    pub group: &'run ClientGroup,
    pub mailbox: &'run MixMailbox,
    pub shared: &'run Shared<'run>,
    pub time: T,
    pub free_at: Moment,
}

/// How a client ended.
#[derive(Default)]
pub(super) struct ClientEnd {
    pub client: u32,
    /// Why it could not go on.
    pub lost: Option<String>,
    /// Whether somebody stopped it.
    pub was_stopped: bool,
    /// Operations that were due in the window and never begun.
    pub skipped: u64,
    /// What its thread came to in the window.
    pub thread: ThreadTime,
}

/// Whether a client has more to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Going,
    Ended,
    Lost(String),
}

/// What an operation is, and when it became what.
struct Begun {
    kind: OpKind,
    role: Role,
    due: Moment,
    ready: Moment,
    sent: Moment,
}

impl<C: SystemCalls, T: Time> Client<'_, C, T> {
    /// Runs to the end. The caller is given back, to put its set right.
    pub fn run(mut self) -> (ClientEnd, C) {
        let mut opened = None;
        let lost = loop {
            if self.free_at >= self.shared.window_start {
                opened.get_or_insert_with(|| self.time.thread_mark());
            }
            match self.step() {
                Step::Going => {}
                Step::Ended => break None,
                Step::Lost(why) => break Some(why),
            }
        };
        let mut end = self.end(lost);
        let now = self.time.thread_mark();
        end.thread = opened.unwrap_or(now).until(now, self.number);
        (end, self.caller)
    }

    /// Says how it ended, and counts what was due and never begun.
    pub fn end(&mut self, lost: Option<String>) -> ClientEnd {
        let now = self.time.now();
        let done_at = now.nanos().max(1);
        self.mailbox.done_at.store(done_at, Ordering::Release);
        let mut end = ClientEnd {
            client: self.number,
            was_stopped: self.is_stopped() && now < self.shared.window_end,
            lost,
            ..ClientEnd::default()
        };
        if end.lost.is_none() && !self.is_stopped() && !self.group.is_over() {
            let (opened, closed) = (self.shared.window_start, self.shared.window_end);
            end.skipped = self.pacer.skip(opened, closed, self.group.pause_ns());
        }
        end
    }

    /// Waits for the next operation to be due, and carries it out.
    pub fn step(&mut self) -> Step {
        let due = self.pacer.due(self.free_at);
        self.mailbox.due.store(due.nanos(), Ordering::Relaxed);
        let window_end = self.shared.window_end;
        if due >= window_end || self.free_at >= window_end {
            self.wait(window_end);
            return Step::Ended;
        }
        self.wait(due);
        if self.is_stopped() || self.group.is_over() {
            return Step::Ended;
        }
        if self.awaits_counters() {
            let now = self.time.now();
            self.time.wait(now.after_nanos(COUNT_NAP_NANOS));
            return Step::Going;
        }
        // In a statement of its own, so that the arithmetic is not held meanwhile.
        let kind = self.pacer.choose(&mut self.group.arithmetic());
        match kind {
            None => Step::Lost("the mix has nothing that could be asked".into()),
            Some(kind) => self.operate(kind, due),
        }
    }

    /// Carries out an operation, and what keeps the set in its proportions.
    fn operate(&mut self, kind: OpKind, due: Moment) -> Step {
        let ready = due.max(self.free_at);
        let mut claimed = Vec::with_capacity(3);
        let before = self.caller.before(kind);
        let mut lost = before.and_then(|unmeasured| self.call_unmeasured(unmeasured, &mut claimed));
        let begun = Begun {
            kind,
            role: Role::Measured,
            due,
            ready,
            sent: self.time.now().max(ready),
        };
        let result = self.caller.carry_out(kind);
        lost = lost.or(self.record(&begun, result, &mut claimed));
        if let Some(unmeasured) = self.caller.after() {
            lost = lost.or(self.call_unmeasured(unmeasured, &mut claimed));
        }
        self.enter(kind, &claimed);
        match lost {
            Some(why) => Step::Lost(why),
            None => self.look_at_counters(),
        }
    }

    /// Tells the arithmetic and the pacer what has been done.
    fn enter(&mut self, kind: OpKind, claimed: &[Done]) {
        let mut arithmetic = self.group.arithmetic();
        arithmetic.carried_out(kind, claimed.iter().flat_map(|done| done.claims));
        let pause_ns = arithmetic.pause_ns();
        drop(arithmetic);
        self.pacer.end(claimed, pause_ns);
    }

    fn call_unmeasured(
        &mut self,
        unmeasured: UnmeasuredOperation,
        claimed: &mut Vec<Done>,
    ) -> Option<String> {
        let sent = self.time.now();
        let begun = Begun {
            kind: unmeasured.kind,
            role: Role::Unmeasured,
            due: sent,
            ready: sent,
            sent,
        };
        let result = self.caller.call_unmeasured(unmeasured);
        self.record(&begun, result, claimed)
    }

    /// Notes how an operation ended; says so if the mount is gone.
    fn record(
        &mut self,
        begun: &Begun,
        result: Result<Done, Errno>,
        claimed: &mut Vec<Done>,
    ) -> Option<String> {
        let done = self.time.now().max(begun.sent);
        self.free_at = done;
        let (outcome, what) = match result {
            Ok(what) => (Outcome::Ok, what),
            Err(errno) => {
                let number = errno.raw_os_error().unsigned_abs();
                let outcome = Outcome::Failed(StatusSpace::Errno.failure(number));
                (outcome, Done::calls(begun.kind, 1))
            }
        };
        claimed.push(what);
        self.mailbox.samples().push(Sample {
            kind: begun.kind,
            role: begun.role,
            due: begun.due,
            ready: begun.ready,
            completion: Completion {
                ticket: Ticket {
                    client: self.number,
                    slot: 0,
                },
                outcome,
                answer: Answer::Plain,
                usable: Moment::ZERO,
                sent: begun.sent,
                done,
                calls: u32::try_from(what.sum()).unwrap_or(u32::MAX),
                retransmissions: 0,
                bytes_sent: 0,
                bytes_received: 0,
                data_bytes: u32::try_from(what.data_bytes).unwrap_or(u32::MAX),
            },
        });
        match outcome {
            Outcome::Ok => None,
            _ => self.caller.lost(),
        }
    }

    /// By nhfsstone's arithmetic every process looks at the counters by itself.
    fn look_at_counters(&mut self) -> Step {
        let now = self.free_at;
        if !self.pacer.wants_counters(now) {
            return Step::Going;
        }
        let seen = match &self.group.all {
            // Without counters its own claims are all that there is.
            None => self.group.arithmetic().asked(),
            Some((kernel, before)) => match kernel.read() {
                Ok(counters) => counters.since(before).calls,
                Err(error) => return Step::Lost(error.to_string()),
            },
        };
        match self.pacer.correct(now, &seen) {
            None => {
                self.group.end();
                Step::Ended
            }
            Some(correction) => {
                if self.shared.feedback {
                    self.group.corrections().push(correction);
                }
                Step::Going
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Whether, by the estimate, enough calls have been made: then the counters decide.
    fn awaits_counters(&self) -> bool {
        !self.pacer.counts_by_itself()
            && self.free_at >= self.shared.window_start
            && self.group.arithmetic().seems_complete()
    }

    fn wait(&self, until: Moment) {
        while !self.is_stopped() && !self.group.is_over() {
            let now = self.time.now();
            if now >= until {
                return;
            }
            self.time.wait(until.min(now.after_nanos(NAP_NANOS)));
        }
    }
}
