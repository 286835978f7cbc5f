//! Whether to look again and again for a reply before sleeping.
//!
//! To sleep and be woken costs tens of microseconds, on virtual machines above all: of a server that
//! answers within that time it would be the larger part of what is measured. To look for as long as a
//! wake-up takes costs at most twice the better of the two (Karlin, Li, Manasse and Owicki 1991,
//! "Empirical studies of competitive spinning for a shared-memory multiprocessor", *SOSP '91*). Where
//! it does not help, because the server is slower, or harms, because something else wants this very
//! processor (the server, say), it is given up soon and tried again rarely. And so it is where this
//! thread has to wait for a processor itself: whoever looks then takes one from those who would answer.

use crate::processors::{monotonic_nanos, thread_nanos, waited_nanos};

/// Before a due moment a thread spins for this long: a sleeping one wakes up some 30 µs late at the
/// median.
pub(crate) const SPIN_NANOS: u64 = 50_000;
/// How long a look takes at most: two wake-ups, since the first call after a pause finds the server
/// asleep, too, and shows nothing of how fast it is awake.
const LOOK_NANOS: u64 = 2 * SPIN_NANOS;
/// How much success is remembered.
const SCORE_MAX: u32 = 8;
/// What it begins with.
const SCORE_FIRST: u32 = 4;
/// How many waits pass without looking, at first.
const PAUSE_MIN: u32 = 64;
/// And after it has long been in vain.
const PAUSE_MAX: u32 = 8192;
/// Of so many looks, one is held against processor time.
const SAMPLED: u32 = 16;
/// Who has the processor for less than this share of the time that it looks shares it.
const OWN_SHARE: f64 = 0.75;
/// Of so many of these, one sees how long this thread has waited for a processor,
const WATCHED: u32 = 16;
/// once so much time has passed: much more than whoever comes by takes the processor for at a time.
const WATCH_NANOS: u64 = 100_000_000;
/// Where that is more than this share of the time, there are too few processors for all. Threads that
/// look while the server has a processor to itself wait for 1 to 2.5 % of it, those that share processors with the
/// server for 8 to 20 %.
const WAITED_SHARE: f64 = 0.05;
/// How long nobody looks then.
const CROWDED_NANOS: u64 = 1_000_000_000;

/// What one waiting thread knows of that.
#[derive(Debug)]
pub(crate) struct AdaptiveSpin {
    /// Successes less failures, of late.
    score: u32,
    /// Waits before the next trial.
    pause: u32,
    next_pause: u32,
    /// Looks before the next one that is held against processor time.
    unsampled: u32,
    /// Samples before the next one that sees how long this thread has waited.
    unwatched: u32,
    /// What it is held against. Only while looks go on: a thread that sleeps waits for a moment whenever it is
    /// woken.
    watched: Option<Watch>,
    spun_nanos: u64,
}

/// One look, before a wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpinDecision {
    /// For how long.
    pub nanos: u64,
    /// What had been spent looking before it.
    pub spun_before: u64,
    /// Processor time when it began, if it is held against that.
    cpu_nanos: Option<u64>,
}

/// Since when a thread is watched, how long it had waited for a processor by then, in nanoseconds, and how often
/// the time was looked at since.
#[derive(Debug, Clone, Copy)]
struct Watch {
    since: u64,
    waited: u64,
    times: u32,
}

/// What came of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Found,
    /// And nobody else had the processor meanwhile.
    FoundAlone,
    Missed,
    /// Somebody else had the processor meanwhile.
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
            spun_nanos: 0,
        }
    }
}

impl AdaptiveSpin {
    /// Whether to look before sleeping, this time.
    #[inline]
    pub fn start(&mut self) -> Option<SpinDecision> {
        self.begin_with(monotonic_nanos, waited_nanos)
    }

    /// The same, by somebody who tells the time and how long the thread has waited.
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

    /// Begins with the next samples, unless there are too few processors for that.
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

    /// If this thread has waited for a processor too long of late: how many waits pass in the time that nobody is to
    /// look for.
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
        is_crowded.then(|| (looks * CROWDED_NANOS / nanos) as u32)
    }

    /// Does not look for so many waits.
    fn back_off(&mut self, pause: u32) {
        // The next look is a trial: it is sampled, and the only one if it is in vain.
        self.score = 1;
        self.unsampled = 0;
        (self.unwatched, self.watched) = (0, None);
        self.pause = pause;
    }

    /// Learns from a look that ended after so many nanoseconds.
    #[inline]
    pub fn end(&mut self, look: SpinDecision, nanos: u64, has_found: bool) {
        let is_shared = look.cpu_nanos.map(|began| {
            let had = thread_nanos().saturating_sub(began);
            (had as f64) < OWN_SHARE * nanos as f64
        });
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

    /// Counts time that was spent looking in vain.
    #[inline]
    pub fn count(&mut self, nanos: u64) {
        self.spun_nanos += nanos;
    }

    /// All of that.
    pub fn spun_nanos(&self) -> u64 {
        self.spun_nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait takes so long.
    const WAIT_NANOS: u64 = 20_000;

    /// How many of so many waits look, if this is what comes of them.
    fn looks(looking: &mut AdaptiveSpin, waits: u32, outcome: impl Fn(u32) -> Outcome) -> u32 {
        looks_beside(looking, waits, 0.0, outcome)
    }

    /// The same, of a thread that waits for a processor for this share of the time.
    fn looks_beside(
        looking: &mut AdaptiveSpin,
        waits: u32,
        waited_share: f64,
        outcome: impl Fn(u32) -> Outcome,
    ) -> u32 {
        let mut count = 0;
        for wait in 0..waits {
            let now = u64::from(wait) * WAIT_NANOS;
            let waited = (now as f64 * waited_share) as u64;
            if looking.begin_with(|| now, || waited).is_some() {
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
        // Four looks, then one after 64 waits, 128, 256, ... 8,192, and so on.
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
        // Each time for 100 ms, which are 5,000 waits, and to the next of 256 looks, of which one is watched; then a
        // pause of a second, 50,000 waits.
        let count = looks_beside(&mut looking, 550_000, 0.08, |_| Outcome::Found);
        assert!((50_000..=54_000).contains(&count), "{count}");
        let count = looks_beside(&mut AdaptiveSpin::default(), 10_000, 0.025, |_| {
            Outcome::Found
        });
        assert_eq!(count, 10_000);
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
