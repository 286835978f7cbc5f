//! Limits the CPU use of the serving thread to one fifth over time, whatever the number of
//! requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The limit is 1/`SHARE` of a CPU.
const SHARE: u32 = 5;
/// Maximum CPU time that may be used at once after an idle period: the cost of opening a page.
const CREDIT_MAX: Duration = Duration::from_millis(200);
/// Longest single rest.
const REST_MAX: Duration = Duration::from_millis(500);

/// Makes the serving thread rest when it exceeds its share. Clones share the same account.
#[derive(Clone)]
pub struct CpuLimiter(Arc<Mutex<Account>>);

/// CPU time granted and used.
#[derive(Debug)]
struct Account {
    /// CPU time that may still be used.
    credit: Duration,
    /// CPU time used beyond the credit.
    debt: Duration,
    seen: Instant,
    used: Duration,
}

impl Account {
    /// Accounts for the time since the last call: at `now` the thread has used `used` in total.
    /// Returns how long it must rest.
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
    /// Starts accounting for the calling thread.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Account {
            credit: CREDIT_MAX,
            debt: Duration::ZERO,
            seen: Instant::now(),
            used: thread_time(),
        })))
    }

    /// Sleeps if the thread has exceeded its share. The whole thread sleeps, so all requests wait.
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

/// Returns the CPU time of the calling thread.
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
        // Opening a page may use 200 ms at once.
        assert_eq!(account.book(begin, ms(200)), ms(0));
        // After that, 10 ms of work take 50 ms in total: 10 ms of work and 40 ms of rest.
        assert_eq!(account.book(begin + ms(10), ms(210)), ms(40));
        assert_eq!(account.book(begin + ms(50), ms(210)), ms(0));
        // An idle second earns 200 ms; ten idle seconds earn no more.
        assert_eq!(account.book(begin + ms(10_050), ms(210)), ms(0));
        assert_eq!(account.credit, CREDIT_MAX);
        assert_eq!(account.book(begin + ms(10_050), ms(410)), ms(0));
        assert_eq!(account.book(begin + ms(10_050), ms(1410)), REST_MAX);
    }
}
