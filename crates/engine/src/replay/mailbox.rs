//! What a client's thread shows to the coordinator while it runs.
//!
//! Samples wait in a short queue of the client's own, behind a lock that nobody
//! else wants but once per interval; numbers for the progress row are atomic.

use super::layer::Reply;
use filestone_model::load::Mismatch;
use filestone_model::measure::{Role, Sample};
use filestone_model::operation::{Answer, Completion, Failure, OpKind, Outcome, Ticket};
use filestone_model::time::Moment;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Samples that wait at most before the client enters them itself.
pub const QUEUE_LEN: usize = 128;

/// The end of one line: what a [`Sample`] says, in half its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// The four moments.
    pub due: Moment,
    /// See [`Sample::ready`].
    pub ready: Moment,
    /// See [`Completion::sent`].
    pub sent: Moment,
    /// See [`Completion::done`].
    pub done: Moment,
    /// Bytes and exchanges that it took.
    pub bytes_sent: u32,
    /// Likewise.
    pub bytes_received: u32,
    /// File data moved.
    pub data_bytes: u32,
    /// Exchanges with a server.
    pub calls: u32,
    /// Those of them that were made again after a loss.
    pub retransmissions: u32,
    /// What it was.
    pub kind: OpKind,
    /// How it ended.
    pub end: End,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As the load file expects.
    AsExpected,
    /// Otherwise.
    Unexpected(Mismatch),
    /// With the loss of its client.
    Lost,
    /// Not at all: the window had been over for too long.
    TimedOut,
}

impl Ended {
    /// The end of a line that took what `reply` says.
    #[inline]
    pub fn new(kind: OpKind, end: End, reply: &Reply, moments: [Moment; 4]) -> Self {
        let [due, ready, sent, done] = moments;
        Self {
            due,
            ready,
            sent,
            done,
            bytes_sent: reply.bytes_sent,
            bytes_received: reply.bytes_received,
            data_bytes: u32::try_from(reply.data_bytes).unwrap_or(u32::MAX),
            calls: reply.calls,
            retransmissions: 0,
            kind,
            end,
        }
    }

    /// The sample that it stands for.
    #[inline]
    pub fn sample(&self) -> Sample {
        Sample {
            kind: self.kind,
            role: Role::Measured,
            due: self.due,
            ready: self.ready,
            completion: Completion {
                ticket: Ticket { client: 0, slot: 0 },
                outcome: match self.end {
                    End::AsExpected => Outcome::Ok,
                    End::Unexpected(mismatch) => Outcome::Failed(Failure::Unexpected(mismatch)),
                    End::Lost => Outcome::Disconnected,
                    End::TimedOut => Outcome::TimedOut,
                },
                answer: Answer::Plain,
                usable: Moment::ZERO,
                sent: self.sent,
                done: self.done,
                calls: self.calls,
                retransmissions: self.retransmissions,
                bytes_sent: self.bytes_sent,
                bytes_received: self.bytes_received,
                data_bytes: self.data_bytes,
            },
        }
    }
}

/// One client's mailbox.
#[derive(Debug)]
pub struct ReplayMailbox {
    queue: Mutex<Vec<Ended>>,
    /// Line of the load file that it is at.
    pub line: AtomicU64,
    /// Lines carried out.
    pub lines: AtomicU64,
    /// File data moved, warm-up included.
    pub data_bytes: AtomicU64,
    /// When the operation that it is in was due, in nanoseconds; 0 for none.
    busy_since: AtomicU64,
    /// Longest response time since it was last asked for, in nanoseconds.
    worst: AtomicU64,
    /// Processor time of its thread, in nanoseconds.
    pub cpu_nanos: AtomicU64,
    /// When it had carried out its last line, in nanoseconds; 0 before.
    done_at: AtomicU64,
    /// Whether it ended because the run was stopped.
    pub was_stopped: AtomicBool,
    /// Whether its tree has been taken away, too.
    pub is_clean: AtomicBool,
}

impl ReplayMailbox {
    /// An empty mailbox.
    pub fn new() -> Self {
        Self {
            queue: Mutex::new(Vec::with_capacity(QUEUE_LEN)),
            line: AtomicU64::new(0),
            lines: AtomicU64::new(0),
            data_bytes: AtomicU64::new(0),
            busy_since: AtomicU64::new(0),
            worst: AtomicU64::new(0),
            cpu_nanos: AtomicU64::new(0),
            done_at: AtomicU64::new(0),
            was_stopped: AtomicBool::new(false),
            is_clean: AtomicBool::new(false),
        }
    }

    /// Says that an operation begins that was due at `due`.
    #[inline]
    pub fn begin(&self, due: u64) {
        self.busy_since.store(due.max(1), Ordering::Relaxed);
    }

    /// Says that it came to no end.
    pub fn abandon(&self) {
        self.busy_since.store(0, Ordering::Relaxed);
    }

    /// Says that it has ended, `response_time` after it was due. Only the client's
    /// thread writes; a plain load and store are enough.
    #[inline]
    pub fn end(&self, line: u32, data_bytes: u64, response_time: u64) {
        self.busy_since.store(0, Ordering::Relaxed);
        if response_time > self.worst.load(Ordering::Relaxed) {
            self.worst.store(response_time, Ordering::Relaxed);
        }
        self.line.store(line.into(), Ordering::Relaxed);
        self.lines
            .store(self.lines.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if data_bytes > 0 {
            let moved = self.data_bytes.load(Ordering::Relaxed);
            self.data_bytes
                .store(moved.saturating_add(data_bytes), Ordering::Relaxed);
        }
    }

    /// Says that it carries out no more lines from `at` on.
    pub fn finish(&self, at: Moment) {
        self.done_at.store(at.nanos().max(1), Ordering::Release);
    }

    /// Since when it carries out no more lines; `None` while it does.
    pub fn done_at(&self) -> Option<Moment> {
        match self.done_at.load(Ordering::Acquire) {
            0 => None,
            nanos => Some(Moment::from_nanos(nanos)),
        }
    }

    /// The longest response time since this was last asked, an operation that
    /// has not ended by `now` included.
    pub fn worst(&self, now: u64) -> u64 {
        let since = self.busy_since.load(Ordering::Relaxed);
        let stuck = match since {
            0 => 0,
            since => now.saturating_sub(since),
        };
        self.worst.swap(0, Ordering::Relaxed).max(stuck)
    }

    /// Puts the end of a line into the queue; says whether it is full now.
    #[inline]
    pub fn push(&self, ended: Ended) -> bool {
        let mut queue = self.lock();
        queue.push(ended);
        queue.len() >= QUEUE_LEN
    }

    /// Takes what ended before `until`, in the order in which it did.
    pub fn drain(&self, until: Moment, mut enter: impl FnMut(&Ended)) {
        let mut queue = self.lock();
        let count = queue.partition_point(|ended| ended.done < until);
        queue[..count].iter().for_each(&mut enter);
        queue.drain(..count);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Ended>> {
        // Nothing can panic while it is held.
        self.queue
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Default for ReplayMailbox {
    fn default() -> Self {
        Self::new()
    }
}
