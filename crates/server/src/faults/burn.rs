//! Artificial cost of a call: CPU time and context switches of the thread that serves it.
//!
//! The reference for measured costs per operation. A thread burns CPU time by reading the clock
//! repeatedly, which needs no system call: system calls would leave the CPU's caches and predictors
//! cold, and the call would cost more than requested. The time between two readings counts as
//! burnt, unless it is so long that another program had the CPU. A reading takes time itself: that
//! time is measured and counted as burnt, and any excess of a burn is subtracted from the next one.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// Number of pairs of readings from which the time of one is estimated.
const CALIBRATION_READINGS: usize = 1000;
/// Distance of two readings, in nanoseconds, from which on an interrupt or another program ran in
/// between. Many times the duration of a reading, and less than any interruption.
const APART_NS: u64 = 1000;
/// Length of the sleep that yields the CPU. A shorter sleep may end before the thread is
/// descheduled.
const NAP: Duration = Duration::from_micros(10);

/// Artificial cost of one thread.
#[derive(Debug, Default)]
pub struct Cost {
    /// CPU time of a clock reading in nanoseconds, once measured.
    reading_ns: Option<NonZeroU64>,
    /// Total excess of the burns over the requested time, in nanoseconds.
    ahead_ns: u64,
}

impl Cost {
    /// Burns this much CPU time, exact to the nanosecond on average over calls.
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
        // The time before the first reading and the time after the last one add up to one reading.
        let mut spent = reading.get();
        while spent < owed {
            let now = clock();
            let distance = now.saturating_sub(before);
            // An interrupted distance counts as one reading.
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

    /// Yields the CPU `count` times.
    pub fn switch(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        let enough = switches_of_thread().map(|now| now.saturating_add(count.into()));
        // A sleep that ends before the thread is descheduled is not a switch, so the kernel's count
        // decides.
        while enough.is_some() && switches_of_thread() < enough {
            std::thread::sleep(NAP);
        }
    }
}

/// Returns the median distance of consecutive readings; at least 1 ns.
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

/// Returns the number of voluntary context switches of this thread.
fn switches_of_thread() -> Option<i64> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    Some(usage.voluntary_context_switches())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each reading takes 300 ns and returns the time at its middle.
    struct VirtualClock {
        now_ns: u64,
    }

    impl VirtualClock {
        fn read(&mut self) -> u64 {
            self.now_ns += 300;
            self.now_ns - 150
        }
    }

    /// 1,000 times 5 us are 5,000 us, although 5 us are not a multiple of a reading: 16 readings
    /// are 4.8 us and 17 are 5.1. The remainder is carried over, so the sum is off by one reading
    /// at most.
    #[test]
    fn what_is_burnt_is_what_was_asked() {
        let mut clock = VirtualClock { now_ns: 0 };
        let mut cost = Cost::default();
        let five = Duration::from_micros(5);
        cost.burn_by(five, || clock.read());
        // 1,000 pairs of readings for the calibration, and 17 for the burn.
        assert_eq!(clock.now_ns, 300 * (2000 + 17));
        assert_eq!(cost.ahead_ns, 100);
        for _ in 1..1000 {
            cost.burn_by(five, || clock.read());
        }
        let burnt = clock.now_ns - 300 * 2000;
        assert!((5_000_000..5_000_300).contains(&burnt), "{burnt}");
    }

    /// An interruption of 3 ms in the middle of a burn does not count as burnt.
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
        // 20 readings for the burn, and those of the calibration.
        assert_eq!(clock.now_ns, 300 * (2000 + 20) + 3_000_000);
    }

    /// A burn shorter than a reading happens in every second call, or fewer.
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

    /// The kernel counts the switches, so they are exact on any machine.
    #[test]
    fn a_thread_gives_up_its_processor_as_often_as_asked() {
        let before = switches_of_thread().unwrap();
        Cost::default().switch(3);
        let after = switches_of_thread().unwrap();
        assert_eq!(after - before, 3);
    }
}
