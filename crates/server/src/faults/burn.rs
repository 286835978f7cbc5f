//! What a call costs on purpose: processor time and context switches of the thread that serves it.
//!
//! The truth that figures per operation are held against. A thread burns time by reading the clock
//! over and over, which no system call is needed for: those would leave the processor's caches and
//! predictors cold, which costs the call more than was asked. What lies between two readings is burnt,
//! unless it is so long that something else had the processor. A reading takes time itself: it is
//! measured, counted as burnt, and what a burn is longer than it should be is taken off the next.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// How many pairs of readings tell how long one takes.
const CALIBRATION_READINGS: usize = 1000;
/// Readings further apart have an interrupt or another program between them, in nanoseconds. It is
/// many times what a reading takes, and less than any of those.
const APART_NS: u64 = 1000;
/// How long a thread sleeps to give up its processor. Less may be over before it is gone.
const NAP: Duration = Duration::from_micros(10);

/// What one thread spends.
#[derive(Debug, Default)]
pub struct Cost {
    /// Processor time that a reading of the clock takes, in nanoseconds, once it is known.
    reading_ns: Option<NonZeroU64>,
    /// What was burnt more than asked so far, in nanoseconds.
    ahead_ns: u64,
}

impl Cost {
    /// Uses so much of the processor, on average over calls to the nanosecond.
    pub fn burn(&mut self, time: Duration) {
        if !time.is_zero() {
            let began = Instant::now();
            self.burn_by(time, || began.elapsed().as_nanos() as u64);
        }
    }

    fn burn_by(&mut self, time: Duration, mut clock: impl FnMut() -> u64) {
        let reading = *self
            .reading_ns
            .get_or_insert_with(|| duration_of_reading(&mut clock));
        let asked = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let Some(owed) = asked.checked_sub(self.ahead_ns) else {
            self.ahead_ns -= asked;
            return;
        };
        if owed == 0 {
            self.ahead_ns = 0;
            return;
        }
        let mut before = clock();
        // What lies before the first reading's moment and behind the last one's is one reading.
        let mut spent = reading.get();
        while spent < owed {
            let now = clock();
            let distance = now.saturating_sub(before);
            // Of what is too long, the reading itself.
            let own = if distance < APART_NS {
                distance
            } else {
                reading.get()
            };
            spent = spent.saturating_add(own);
            before = now;
        }
        self.ahead_ns = spent - owed;
    }

    /// Gives up the processor so many times.
    pub fn switch(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        let enough = switches_of_thread().map(|now| now.saturating_add(count.into()));
        // A nap that is over before the thread is gone is no switch, so the kernel's count decides.
        while enough.is_some() && switches_of_thread() < enough {
            std::thread::sleep(NAP);
        }
    }
}

/// The median distance of readings one after the other; at least 1 ns.
fn duration_of_reading(clock: &mut impl FnMut() -> u64) -> NonZeroU64 {
    let mut distances: Vec<u64> = (0..CALIBRATION_READINGS)
        .map(|_| {
            let before = clock();
            clock().saturating_sub(before)
        })
        .collect();
    let (_, median, _) = distances.select_nth_unstable(CALIBRATION_READINGS / 2);
    NonZeroU64::new(*median).unwrap_or(NonZeroU64::MIN)
}

/// Voluntary context switches of this thread so far.
fn switches_of_thread() -> Option<i64> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    Some(usage.voluntary_context_switches())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each reading takes 300 ns, and its moment is in the middle of it.
    struct VirtualClock {
        now_ns: u64,
    }

    impl VirtualClock {
        fn read(&mut self) -> u64 {
            self.now_ns += 300;
            self.now_ns - 150
        }
    }

    /// 1,000 times 5 us are 5,000 us, though 5 us are no multiple of a reading: 16 readings are
    /// 4.8 us and 17 are 5.1. What is owed is carried over, so the sum is late by one reading at most.
    #[test]
    fn what_is_burnt_is_what_was_asked() {
        let mut clock = VirtualClock { now_ns: 0 };
        let mut cost = Cost::default();
        let five = Duration::from_micros(5);
        cost.burn_by(five, || clock.read());
        // 1,000 pairs of readings to find out, and 17 to burn.
        assert_eq!(clock.now_ns, 300 * (2000 + 17));
        assert_eq!(cost.ahead_ns, 100);
        for _ in 1..1000 {
            cost.burn_by(five, || clock.read());
        }
        let burnt = clock.now_ns - 300 * 2000;
        assert!((5_000_000..5_000_300).contains(&burnt), "{burnt}");
    }

    /// Who takes the processor away in the middle of a burn, for 3 ms, takes nothing of it.
    #[test]
    fn what_others_have_is_not_burnt() {
        let mut clock = VirtualClock { now_ns: 0 };
        let mut cost = Cost::default();
        let mut readings = 0;
        cost.burn_by(Duration::from_micros(6), || {
            readings += 1;
            if readings == 2010 {
                clock.now_ns += 3_000_000;
            }
            clock.read()
        });
        // 20 readings to burn, and the calibration's.
        assert_eq!(clock.now_ns, 300 * (2000 + 20) + 3_000_000);
    }

    /// Less than one reading is burnt by every other call, or fewer.
    #[test]
    fn less_than_a_reading_is_burnt_now_and_then() {
        let mut clock = VirtualClock { now_ns: 0 };
        let mut cost = Cost::default();
        for _ in 0..3000 {
            cost.burn_by(Duration::from_nanos(100), || clock.read());
        }
        let burnt = clock.now_ns - 300 * 2000;
        assert!((300_000..=300_300).contains(&burnt), "{burnt}");
    }

    /// The kernel counts them, so they are exact whatever the machine does.
    #[test]
    fn a_thread_gives_up_its_processor_as_often_as_asked() {
        let before = switches_of_thread().unwrap();
        Cost::default().switch(3);
        let after = switches_of_thread().unwrap();
        assert_eq!(after - before, 3);
    }
}
