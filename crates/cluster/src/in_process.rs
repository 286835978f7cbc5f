//! Ranks as threads of one process, for tests, with wrong clocks and late or lost messages.

use crate::transport::{Transport, TransportError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Fault injection for one rank.
#[derive(Debug, Clone, Default)]
pub struct RankFault {
    is_silent: Arc<AtomicBool>,
    delay_ns: Arc<AtomicU64>,
}

impl RankFault {
    /// Drops all messages from and to the rank from now on: it is dead or stopped.
    pub fn silence(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }

    /// Delivers messages of a silenced rank again.
    pub fn wake(&self) {
        self.is_silent.store(false, Ordering::Relaxed);
    }

    /// Delays each message of the rank by `by` from now on.
    pub fn delay(&self, by: Duration) {
        self.delay_ns.store(by.as_nanos() as u64, Ordering::Relaxed);
    }

    fn holds(&self) -> bool {
        self.is_silent.load(Ordering::Relaxed)
    }
}

struct Letter {
    from: u32,
    due: Instant,
    bytes: Arc<[u8]>,
}

/// Transport of one rank.
pub struct InProcess {
    rank: u32,
    to: Vec<Sender<Letter>>,
    from: Receiver<Letter>,
    /// Received from the channel but not due yet.
    next: Option<Letter>,
    fault: RankFault,
    epoch: Instant,
    ahead_ns: u64,
}

/// Creates one rank per element of `ahead_ns`, with its clock ahead of the first rank's clock by
/// that number of nanoseconds, and the fault injection of each.
pub fn connect(ahead_ns: &[i64]) -> Vec<(InProcess, RankFault)> {
    // A clock that is behind starts at an earlier epoch.
    const EPOCH_NS: i64 = 3_600_000_000_000;
    let epoch = Instant::now();
    let (to, from): (Vec<_>, Vec<_>) = ahead_ns.iter().map(|_| channel()).unzip();
    (0..)
        .zip(from)
        .zip(ahead_ns)
        .map(|((rank, from), ahead_ns)| {
            let fault = RankFault::default();
            let end = InProcess {
                rank,
                to: to.clone(),
                from,
                next: None,
                fault: fault.clone(),
                epoch,
                ahead_ns: EPOCH_NS.saturating_add(*ahead_ns).unsigned_abs(),
            };
            (end, fault)
        })
        .collect()
}

impl Transport for InProcess {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.to.len() as u32
    }

    fn send(&mut self, to: u32, message: &Arc<[u8]>) -> Result<(), TransportError> {
        if self.fault.holds() {
            return Ok(());
        }
        let delay = Duration::from_nanos(self.fault.delay_ns.load(Ordering::Relaxed));
        let letter = Letter {
            from: self.rank,
            due: Instant::now() + delay,
            bytes: Arc::clone(message),
        };
        let end = self.to.get(to as usize);
        let sent = end.ok_or(TransportError::Gone(to))?.send(letter);
        sent.map_err(|_| TransportError::Gone(to))
    }

    fn receive(&mut self) -> Option<(u32, Vec<u8>)> {
        if self.fault.holds() {
            return None;
        }
        let letter = match self.next.take() {
            Some(letter) => letter,
            None => self.from.try_recv().ok()?,
        };
        if letter.due > Instant::now() {
            self.next = Some(letter);
            return None;
        }
        Some((letter.from, letter.bytes.to_vec()))
    }

    fn now_ns(&self) -> u64 {
        let elapsed = self.epoch.elapsed().as_nanos() as u64;
        self.ahead_ns.saturating_add(elapsed)
    }

    fn instant_of(&self, at_ns: u64) -> Instant {
        self.epoch + Duration::from_nanos(at_ns.saturating_sub(self.ahead_ns))
    }

    fn leave(self: Box<Self>, _is_one_lost: bool) {}
}
