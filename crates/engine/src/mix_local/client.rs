//! One client's thread: one operation after the other, each when it is due.
//!
//! A client has one operation in flight. What comes due meanwhile waits, and its response time
//! counts from when it was due.

use super::caller::{Caller, Companion, Done};
use super::course::Course;
use super::kernel::Kernel;
use crate::clock::Clock;
use crate::processors::ThreadMark;
use filestone_model::failure::StatusSpace;
use filestone_model::measure::mix_record::CorrectionRecord;
use filestone_model::measure::processors::ThreadTime;
use filestone_model::measure::{Role, Sample};
use filestone_model::mix::Counters;
use filestone_model::mix::feedback::Group;
use filestone_model::operation::{Answer, Completion, OpKind, Outcome, Ticket};
use filestone_model::time::Moment;
use rustix::io::Errno;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest sleep at a time, so that somebody who stops the run need not wait.
const NAP: Duration = Duration::from_millis(20);
/// While the counters are awaited that say whether enough calls have been made.
const COUNT_NAP: Duration = Duration::from_millis(1);

/// What all clients share.
pub(super) struct Shared<'run> {
    pub stop: &'run AtomicBool,
    pub clock: Clock,
    pub window_start: Moment,
    pub window_end: Moment,
    pub feedback: bool,
}

/// The clients of one mount.
pub(super) struct Company {
    group: Mutex<Group>,
    /// The counters; `None` without feedback.
    pub kernel: Option<Kernel>,
    /// Those of all mounts, which nhfsstone's arithmetic looks at, and what they were at the start.
    pub all: Option<(Kernel, Counters)>,
    /// Enough calls have been made.
    pub is_over: AtomicBool,
    corrections: Mutex<Vec<CorrectionRecord>>,
}

impl Company {
    pub fn new(group: Group, kernel: Option<Kernel>, all: Option<(Kernel, Counters)>) -> Self {
        Self {
            group: Mutex::new(group),
            kernel,
            all,
            is_over: AtomicBool::new(false),
            corrections: Mutex::default(),
        }
    }

    /// Ends its clients.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// The group, for a moment.
    pub fn group(&self) -> MutexGuard<'_, Group> {
        // Nothing can panic while it is held.
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The corrections made so far.
    pub fn corrections(&self) -> MutexGuard<'_, Vec<CorrectionRecord>> {
        self.corrections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client shows to the coordinator.
#[derive(Default)]
pub(super) struct Board {
    samples: Mutex<Vec<Sample>>,
    /// When its next operation is due, in nanoseconds.
    pub due: AtomicU64,
    /// When it carries out no more, in nanoseconds; 0 before.
    pub done_at: AtomicU64,
}

impl Board {
    /// Takes what ended before `until`, in the order in which it did.
    pub fn drain(&self, until: Moment, mut enter: impl FnMut(&Sample)) {
        let mut samples = self.samples();
        let count = samples.partition_point(|sample| sample.completion.done < until);
        for sample in samples.drain(..count) {
            enter(&sample);
        }
    }

    fn samples(&self) -> MutexGuard<'_, Vec<Sample>> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One client.
pub(super) struct Client<'run> {
    pub number: u32,
    pub caller: Caller,
    pub course: Course,
    pub company: &'run Company,
    pub board: &'run Board,
    pub shared: &'run Shared<'run>,
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

enum Step {
    Going,
    Ended,
    Lost(String),
}

impl Client<'_> {
    /// Runs to the end. The caller is given back, to put its place right.
    pub fn run(mut self) -> (ClientEnd, Caller) {
        let mut end = ClientEnd {
            client: self.number,
            ..ClientEnd::default()
        };
        let mut opened = None;
        loop {
            if self.free_at >= self.shared.window_start {
                opened.get_or_insert_with(ThreadMark::now);
            }
            match self.step() {
                Step::Going => {}
                Step::Ended => break,
                Step::Lost(why) => {
                    end.lost = Some(why);
                    break;
                }
            }
        }
        let now = self.shared.clock.now();
        self.board
            .done_at
            .store(now.nanos().max(1), Ordering::Release);
        end.was_stopped = self.is_stopped() && now < self.shared.window_end;
        let by_time = !self.is_stopped() && !self.company.is_over.load(Ordering::Relaxed);
        if by_time && end.lost.is_none() {
            let (opened, closed) = (self.shared.window_start, self.shared.window_end);
            let pause_ns = self.company.group().pause_ns();
            end.skipped = self.course.skip(opened, closed, pause_ns);
        }
        let now = ThreadMark::now();
        end.thread = opened.unwrap_or(now).until(now, self.number);
        (end, self.caller)
    }

    fn step(&mut self) -> Step {
        let due = self.course.due(self.free_at);
        self.board.due.store(due.nanos(), Ordering::Relaxed);
        if due >= self.shared.window_end || self.free_at >= self.shared.window_end {
            self.wait(self.shared.window_end);
            return Step::Ended;
        }
        self.wait(due);
        if self.is_stopped() || !self.may_go_on() {
            return Step::Ended;
        }
        let ready = due.max(self.free_at);
        let kind = self.course.choose(&mut self.company.group());
        let Some(kind) = kind else {
            return Step::Lost("the mix has nothing that could be asked".into());
        };
        let mut claimed = Vec::with_capacity(3);
        let mut lost = None;
        if let Some(companion) = self.caller.before(kind) {
            lost = self.accompany(companion, &mut claimed);
        }
        let sent = self.shared.clock.now().max(ready);
        let result = self.caller.carry_out(kind);
        lost = lost.or(self.record(
            (kind, Role::Measured),
            [due, ready, sent],
            result,
            &mut claimed,
        ));
        if let Some(companion) = self.caller.after() {
            lost = lost.or(self.accompany(companion, &mut claimed));
        }
        self.enter(kind, &claimed);
        match lost {
            Some(why) => Step::Lost(why),
            None => self.look_at_counters(),
        }
    }

    /// Tells the group and the course what has been done.
    fn enter(&mut self, kind: OpKind, claimed: &[Done]) {
        let mut group = self.company.group();
        group.carried_out(kind, claimed.iter().flat_map(|done| done.claims));
        let pause_ns = group.pause_ns();
        drop(group);
        self.course.end(claimed, pause_ns);
    }

    fn accompany(&mut self, companion: Companion, claimed: &mut Vec<Done>) -> Option<String> {
        let sent = self.shared.clock.now();
        let result = self.caller.accompany(companion);
        self.record(
            (companion.kind, Role::Companion),
            [sent; 3],
            result,
            claimed,
        )
    }

    /// Notes how an operation ended; says so if the mount is gone.
    fn record(
        &mut self,
        (kind, role): (OpKind, Role),
        [due, ready, sent]: [Moment; 3],
        result: Result<Done, Errno>,
        claimed: &mut Vec<Done>,
    ) -> Option<String> {
        let done = self.shared.clock.now().max(sent);
        self.free_at = done;
        let (outcome, what) = match result {
            Ok(what) => (Outcome::Ok, what),
            Err(errno) => {
                let number = errno.raw_os_error().unsigned_abs();
                let outcome = Outcome::Failed(StatusSpace::Errno.failure(number));
                (outcome, Done::calls(kind, 1))
            }
        };
        claimed.push(what);
        let completion = Completion {
            ticket: Ticket {
                client: self.number,
                slot: 0,
            },
            outcome,
            answer: Answer::Plain,
            usable: Moment::ZERO,
            sent,
            done,
            calls: u32::try_from(what.sum()).unwrap_or(u32::MAX),
            retransmissions: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: u32::try_from(what.data_bytes).unwrap_or(u32::MAX),
        };
        self.board.samples().push(Sample {
            kind,
            role,
            due,
            ready,
            completion,
        });
        match outcome {
            Outcome::Ok => None,
            _ => self.caller.place().lost(),
        }
    }

    /// By nhfsstone's arithmetic every process looks at the counters by itself.
    fn look_at_counters(&mut self) -> Step {
        let now = self.free_at;
        if !self.course.wants_counters(now) {
            return Step::Going;
        }
        let seen = match &self.company.all {
            // Without counters its own claims are all that there is.
            None => self.company.group().asked(),
            Some((kernel, before)) => match kernel.read() {
                Ok(counters) => counters.since(before).calls,
                Err(error) => return Step::Lost(error.to_string()),
            },
        };
        match self.course.correct(now, &seen) {
            None => {
                self.company.is_over.store(true, Ordering::Relaxed);
                Step::Ended
            }
            Some(correction) => {
                if self.shared.feedback {
                    self.company.corrections().push(correction);
                }
                Step::Going
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Whether calls are still to be made. When, by the estimate, they have been, the counters
    /// are awaited.
    fn may_go_on(&self) -> bool {
        loop {
            if self.company.is_over.load(Ordering::Relaxed) || self.is_stopped() {
                return false;
            }
            let counts =
                !self.course.counts_by_itself() && self.free_at >= self.shared.window_start;
            if !counts || !self.company.group().seems_complete() {
                return true;
            }
            std::thread::sleep(COUNT_NAP);
        }
    }

    fn wait(&self, until: Moment) {
        while !self.is_stopped() && !self.company.is_over.load(Ordering::Relaxed) {
            let left = until.nanos_since(self.shared.clock.now());
            if left == 0 {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left).min(NAP));
        }
    }
}
