//! How long a server is waited for that answers NFS3ERR_JUKEBOX: it has begun what was asked
//! and is slow with it, and "the client should wait and then try the request with a new RPC
//! transaction ID" (RFC 1813, section 2.6).
//!
//! Only before and after the measured run: in it, such an answer is an answer.

use filestone_wire::nfs3::Status;
use std::time::{Duration, Instant};

/// The first pause; each further one is twice as long, up to the longest.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The patience that is left with one call.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    end: Instant,
    pause: Duration,
}

impl Patience {
    /// From now on; no longer than a call may take.
    pub fn new(timeout: Duration) -> Self {
        Self::beginning(timeout, PAUSE_MIN)
    }

    /// The same, with another first pause.
    pub fn beginning(timeout: Duration, pause: Duration) -> Self {
        Self {
            end: Instant::now() + timeout,
            pause,
        }
    }

    /// Whether these results ask for it. All procedures but NULL have a status first.
    pub fn is_asked_for(results: &[u8]) -> bool {
        results.starts_with(&Status::JUKEBOX.0.to_be_bytes())
    }

    /// How long to wait before the call is made again; `None` if there is none left.
    pub fn next(&mut self) -> Option<Duration> {
        let pause = self.pause;
        self.pause = PAUSE_MAX.min(2 * pause);
        (Instant::now() + pause <= self.end).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_second_and_end_with_the_timeout() {
        let mut patience = Patience::new(Duration::from_secs(3600));
        let pauses: Vec<_> = std::iter::from_fn(|| patience.next()).take(6).collect();
        let millis: Vec<_> = pauses.iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(Patience::new(Duration::ZERO).next(), None);
    }

    #[test]
    fn only_that_status_asks_for_it() {
        assert!(Patience::is_asked_for(&[0, 0, 0x27, 0x18, 1, 2, 3, 4]));
        assert!(!Patience::is_asked_for(&[0, 0, 0, 28]));
        assert!(!Patience::is_asked_for(&[]));
    }
}
