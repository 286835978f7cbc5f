//! Adaptive spinning: decides whether to spin for a reply before sleeping.
//!
//! A sleep and its wake-up cost tens of microseconds, above all on virtual machines: with a server
//! that replies within that time they would dominate the measured time. Spinning for the duration
//! of a wake-up costs at most twice the better of the two (Karlin, Li, Manasse and Owicki 1991,
//! "Empirical studies of competitive spinning for a shared-memory multiprocessor", *SOSP '91*). If
//! spinning does not help, because the server is slower, or harms, because another thread (the
//! server's, for example) needs the same processor, it stops soon and is tried again rarely. The
//! same applies if this thread has to wait for a processor: its spinning would take one from the
//! threads that reply.

use filestone_host::processors::{monotonic_nanos, thread_nanos, waited_nanos};

/// Length of the spin before a due moment: a sleeping thread wakes up about 30 µs late at the
/// median.
pub(crate) const SPIN_NANOS: u64 = 50_000;
/// Longest spin for a reply: two wake-ups, since the first call after a pause finds the server
/// asleep, too, and does not show how fast it is when awake.
const LOOK_NANOS: u64 = 2 * SPIN_NANOS;
/// Maximum of the score: the number of successes that are remembered.
const SCORE_MAX: u32 = 8;
/// Initial score.
const SCORE_FIRST: u32 = 4;
/// Number of waits without a spin, at first.
const PAUSE_MIN: u32 = 64;
/// Number of waits without a spin after a long time without success.
const PAUSE_MAX: u32 = 8192;
/// A spin out of this many is compared with the CPU time.
const SAMPLED: u32 = 16;
/// A thread that gets less than this share of its spin time as CPU time shares its processor.
const OWN_SHARE: f64 = 0.75;
/// Minimum difference between spin time and CPU time of such a thread: two context switches take
/// about as long. Both clocks are read a little apart, and the kernel does not count interrupts as CPU time
/// of the thread: they may take most of a spin of a microsecond.
const OTHER_MIN_NANOS: u64 = 3_000;
/// A compared spin out of this many also checks how long this thread has waited for a processor,
const WATCHED: u32 = 16;
/// but not before this time has passed: it is much longer than other threads usually occupy the
/// processor at once.
const WATCH_NANOS: u64 = 100_000_000;
/// If the wait exceeds this share of the time, twice in succession, there are too few processors for
/// all threads. A thread that spins while the server has its own processor waits for 1 to 2.5 % of
/// the time; one that shares processors with the server waits for 8 to 20 %. Once may be a short
/// interruption, such as by a timer of the host.
const WAITED_SHARE: f64 = 0.05;
/// Length of a pause without spins in that case.
const CROWDED_NANOS: u64 = 1_000_000_000;

/// Adaptive-spin state of one waiting thread.
#[derive(Debug)]
pub(crate) struct AdaptiveSpin {
    /// Recent successes minus failures.
    score: u32,
    /// Waits before the next trial.
    pause: u32,
    next_pause: u32,
    /// Spins before the next one that is compared with the CPU time.
    unsampled: u32,
    /// Compared spins before the next one that checks how long this thread has waited.
    unwatched: u32,
    /// Reference for that check. Kept only between consecutive spins: a thread that sleeps waits
    /// briefly for a processor at every wake-up.
    watched: Option<Watch>,
    /// Whether the last check found that this thread had waited too long. It stays set during a
    /// pause, so that one check suffices after it.
    was_crowded: bool,
    spun_nanos: u64,
}

/// A spin before a wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpinDecision {
    /// Length in nanoseconds.
    pub nanos: u64,
    /// Total time spent spinning before it.
    pub spun_before: u64,
    /// CPU time at its start, if it is compared with that.
    cpu_nanos: Option<u64>,
}

/// Start of the observation of a thread, its wait for a processor up to then, in nanoseconds, and
/// the number of time readings since.
#[derive(Debug, Clone, Copy)]
struct Watch {
    since: u64,
    waited: u64,
    times: u32,
}

/// Result of a spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Found,
    /// Success, and no other thread used the processor in the meantime.
    FoundAlone,
    Missed,
    /// Another thread used the processor in the meantime.
    Harmed,
}

impl Default for AdaptiveSpin {
    fn default() -> Self {
        Self {
            score: SCORE_FIRST,
            pause: 0,
            next_pause: PAUSE_MIN,
            unsampled: 0,
            unwatched: 0,
            watched: None,
            was_crowded: false,
            spun_nanos: 0,
        }
    }
}

impl AdaptiveSpin {
    /// Decides whether to spin this time; returns the spin if so.
    #[inline]
    pub fn start(&mut self) -> Option<SpinDecision> {
        self.begin_with(monotonic_nanos, waited_nanos)
    }

    /// Decides as [`Self::start`] does, with the time and the wait of the thread from the caller.
    #[inline]
    fn begin_with(
        &mut self,
        now: impl FnOnce() -> u64,
        waited: impl FnOnce() -> u64,
    ) -> Option<SpinDecision> {
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        let is_sampled = self.unsampled == 0;
        if !is_sampled {
            self.unsampled -= 1;
        } else if !self.may_sample(now, waited) {
            return None;
        }
        Some(SpinDecision {
            nanos: LOOK_NANOS,
            spun_before: self.spun_nanos,
            cpu_nanos: is_sampled.then(thread_nanos),
        })
    }

    /// Starts the next series of samples; returns `false` if there are too few processors for
    /// spinning.
    #[cold]
    fn may_sample(&mut self, now: impl FnOnce() -> u64, waited: impl FnOnce() -> u64) -> bool {
        self.unsampled = SAMPLED - 1;
        if self.unwatched > 0 {
            self.unwatched -= 1;
            return true;
        }
        self.unwatched = WATCHED - 1;
        let pause = self.crowded(now(), waited);
        if let Some(pause) = pause {
            self.back_off(pause);
        }
        pause.is_none()
    }

    /// If this thread has waited too long for a processor at two checks in succession, returns the
    /// number of waits without a spin.
    fn crowded(&mut self, now: u64, waited: impl FnOnce() -> u64) -> Option<u32> {
        if let Some(watch) = &mut self.watched
            && now.saturating_sub(watch.since) < WATCH_NANOS
        {
            watch.times += 1;
            return None;
        }
        let next = Watch {
            since: now,
            waited: waited(),
            times: 1,
        };
        let watch = self.watched.replace(next)?;
        let nanos = now.saturating_sub(watch.since);
        let waited = next.waited.saturating_sub(watch.waited);
        let looks = u64::from(watch.times * WATCHED * SAMPLED);
        let is_crowded = waited as f64 > WAITED_SHARE * nanos as f64;
        let was_crowded = std::mem::replace(&mut self.was_crowded, is_crowded);
        (is_crowded && was_crowded).then(|| (looks * CROWDED_NANOS / nanos) as u32)
    }

    /// Does not spin for `pause` waits.
    fn back_off(&mut self, pause: u32) {
        // The next spin is a trial: it is sampled, and the only one if it fails.
        self.score = 1;
        self.unsampled = 0;
        (self.unwatched, self.watched) = (0, None);
        self.pause = pause;
    }

    /// Updates the state after a spin that ended after `nanos` nanoseconds.
    #[inline]
    pub fn end(&mut self, look: SpinDecision, nanos: u64, has_found: bool) {
        let is_shared = look
            .cpu_nanos
            .map(|began| is_shared(nanos, thread_nanos().saturating_sub(began)));
        self.update(match (is_shared, has_found) {
            (Some(true), _) => Outcome::Harmed,
            (Some(false), true) => Outcome::FoundAlone,
            (None, true) => Outcome::Found,
            (_, false) => Outcome::Missed,
        });
    }

    fn update(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Found => self.score = SCORE_MAX.min(self.score + 1),
            Outcome::FoundAlone => {
                self.score = SCORE_MAX.min(self.score + 1);
                self.next_pause = PAUSE_MIN;
            }
            Outcome::Missed if self.score > 1 => self.score -= 1,
            Outcome::Missed | Outcome::Harmed => {
                self.back_off(self.next_pause);
                self.next_pause = PAUSE_MAX.min(2 * self.next_pause);
            }
        }
    }

    /// Adds time that was spent spinning without success.
    #[inline]
    pub fn count(&mut self, nanos: u64) {
        self.spun_nanos += nanos;
    }

    /// Returns the total time spent spinning without success, in nanoseconds.
    pub fn spun_nanos(&self) -> u64 {
        self.spun_nanos
    }
}

/// Returns whether another thread used the processor during a spin of `nanos`, in nanoseconds, if
/// this thread had `cpu_nanos` of CPU time.
fn is_shared(nanos: u64, cpu_nanos: u64) -> bool {
    let other = nanos.saturating_sub(cpu_nanos);
    other >= OTHER_MIN_NANOS && (cpu_nanos as f64) < OWN_SHARE * nanos as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of a wait.
    const WAIT_NANOS: u64 = 20_000;

    /// Returns how many of `waits` waits spin, if `outcome` is the result of each spin.
    fn looks(looking: &mut AdaptiveSpin, waits: u32, outcome: impl Fn(u32) -> Outcome) -> u32 {
        looks_beside(looking, waits, |_| 0, outcome)
    }

    /// Returns the same count for a thread that has waited for a processor for `waited` nanoseconds
    /// at each time.
    fn looks_beside(
        looking: &mut AdaptiveSpin,
        waits: u32,
        waited: impl Fn(u64) -> u64,
        outcome: impl Fn(u32) -> Outcome,
    ) -> u32 {
        let mut count = 0;
        for wait in 0..waits {
            let now = u64::from(wait) * WAIT_NANOS;
            if looking.begin_with(|| now, || waited(now)).is_some() {
                looking.update(outcome(wait));
                count += 1;
            }
        }
        count
    }

    #[test]
    fn one_that_always_helps_is_always_tried() {
        let mut looking = AdaptiveSpin::default();
        assert_eq!(looks(&mut looking, 1000, |_| Outcome::Found), 1000);
    }

    #[test]
    fn one_that_never_helps_is_tried_rarely() {
        let mut looking = AdaptiveSpin::default();
        // Four spins, then one after 64 waits, 128, 256, ... 8,192, and so on.
        assert_eq!(looks(&mut looking, 4, |_| Outcome::Missed), 4);
        assert_eq!(looks(&mut looking, 64, |_| Outcome::Missed), 0);
        assert_eq!(looks(&mut looking, 1, |_| Outcome::Missed), 1);
        assert_eq!(looks(&mut looking, 128, |_| Outcome::Missed), 0);
        assert_eq!(looks(&mut looking, 1, |_| Outcome::Missed), 1);
        looks(&mut looking, 20_000, |_| Outcome::Missed);
        let count = looks(&mut looking, 100_000, |_| Outcome::Missed);
        assert!((12..=13).contains(&count), "{count}");
    }

    #[test]
    fn one_that_takes_the_processor_from_who_needs_it_is_tried_rarely_though_it_finds_something() {
        let mut looking = AdaptiveSpin::default();
        let harmed = |wait: u32| match wait % 2 {
            0 => Outcome::Harmed,
            _ => Outcome::Found,
        };
        looks(&mut looking, 40_000, harmed);
        let count = looks(&mut looking, 100_000, harmed);
        assert!(count < 40, "{count}");
    }

    #[test]
    fn descheduled_thread_spins_rarely() {
        let mut looking = AdaptiveSpin::default();
        // For 200 ms, then each time for 100 ms, which are 5,000 waits, and up to the next of 256
        // spins that checks the wait; then a pause of a second, 50,000 waits.
        let crowded = |now: u64| (now as f64 * 0.08) as u64;
        let count = looks_beside(&mut looking, 555_000, crowded, |_| Outcome::Found);
        assert!((55_000..=59_000).contains(&count), "{count}");
        let alone = |now: u64| (now as f64 * 0.025) as u64;
        let count = looks_beside(&mut AdaptiveSpin::default(), 10_000, alone, |_| {
            Outcome::Found
        });
        assert_eq!(count, 10_000);
    }

    /// 20 ms without the processor in every 400 ms: a fifth of one check of 100 ms, but not of the
    /// next.
    #[test]
    fn thread_that_is_interrupted_goes_on_spinning() {
        let waited = |now: u64| (now + 200_000_000) / 400_000_000 * 20_000_000;
        let mut looking = AdaptiveSpin::default();
        let count = looks_beside(&mut looking, 100_000, waited, |_| Outcome::Found);
        assert_eq!(count, 100_000);
    }

    /// An interrupt may take a whole spin of a microsecond. Another thread has 10 of 20 µs, but not
    /// 4 of 20.
    #[test]
    fn interrupts_are_no_other_threads() {
        let spins = [(900, 0), (900, 900), (20_000, 16_000), (20_000, 10_000)];
        let found = spins.map(|(nanos, cpu_nanos)| is_shared(nanos, cpu_nanos));
        assert_eq!(found, [false, false, false, true]);
    }

    #[test]
    fn once_it_helps_again_it_is_used_again() {
        let mut looking = AdaptiveSpin::default();
        looks(&mut looking, 20_000, |_| Outcome::Missed);
        looks(&mut looking, 8_193, |_| Outcome::FoundAlone);
        assert_eq!(looks(&mut looking, 100, |_| Outcome::Found), 100);
    }

    #[test]
    fn one_that_helps_two_times_in_three_goes_on() {
        let outcome = |wait: u32| match wait % 3 {
            0 => Outcome::Missed,
            _ => Outcome::Found,
        };
        assert_eq!(looks(&mut AdaptiveSpin::default(), 3000, outcome), 3000);
    }
}
