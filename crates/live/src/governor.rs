//! What the thread that serves may take of a processor: a fifth, over time, whatever is asked of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The share is one in so many.
const SHARE: u32 = 5;
/// Processor time that may be taken at once, after a time without work: what a page takes to open.
const CREDIT_MAX: Duration = Duration::from_millis(200);
/// The longest rest at once.
const REST_MAX: Duration = Duration::from_millis(500);

/// Says when the thread that serves has to rest. Clones are the same.
#[derive(Clone)]
pub struct CpuLimiter(Arc<Mutex<Account>>);

/// Processor time that was granted, and taken.
#[derive(Debug)]
struct Account {
    /// What may be taken.
    credit: Duration,
    /// What was taken beyond that.
    debt: Duration,
    seen: Instant,
    used: Duration,
}

impl Account {
    /// Books the time since the last look: the thread had used `used` then, at `now`. How long it has to
    /// rest.
    fn book(&mut self, now: Instant, used: Duration) -> Duration {
        let granted = now.saturating_duration_since(self.seen) / SHARE;
        let taken = used.saturating_sub(self.used);
        (self.seen, self.used) = (now, used);
        let credit = self.credit + granted;
        let owed = self.debt + taken;
        self.debt = owed.saturating_sub(credit);
        self.credit = credit.saturating_sub(owed).min(CREDIT_MAX);
        (self.debt * SHARE).min(REST_MAX)
    }
}

impl CpuLimiter {
    /// Of the calling thread, from now on.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Account {
            credit: CREDIT_MAX,
            debt: Duration::ZERO,
            seen: Instant::now(),
            used: thread_time(),
        })))
    }

    /// Rests if the thread has taken more than its share: all of it rests, and whatever it serves waits.
    pub fn rest(&self) {
        let mut account = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = account.book(Instant::now(), thread_time());
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
    }
}

impl Default for CpuLimiter {
    fn default() -> Self {
        Self::new()
    }
}

/// Processor time of the calling thread.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_four_times_as_long_as_it_worked() {
        let ms = Duration::from_millis;
        let begin = Instant::now();
        let mut account = Account {
            credit: CREDIT_MAX,
            debt: Duration::ZERO,
            seen: begin,
            used: ms(0),
        };
        // A page that opens may take 200 ms at once.
        assert_eq!(account.book(begin, ms(200)), ms(0));
        // From then on 10 ms of work are paid by 50 ms of time: 10 that it took, 40 of rest.
        assert_eq!(account.book(begin + ms(10), ms(210)), ms(40));
        assert_eq!(account.book(begin + ms(50), ms(210)), ms(0));
        // A second without work is worth 200 ms, and ten are worth no more.
        assert_eq!(account.book(begin + ms(10_050), ms(210)), ms(0));
        assert_eq!(account.credit, CREDIT_MAX);
        assert_eq!(account.book(begin + ms(10_050), ms(410)), ms(0));
        assert_eq!(account.book(begin + ms(10_050), ms(1410)), REST_MAX);
    }
}
