//! Pool of the changing names of one kind: first created, first removed.

use std::collections::VecDeque;

/// Limits on the number of names of one kind that a client keeps.
///
/// A name is removed in the order of creation, so its creating call has long ended when its turn
/// comes: the minimum number of names ensures this. Without it, the requests would depend on the
/// speed of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolLimits {
    /// Below this number an unmeasured operation creates a name.
    pub(super) lower: usize,
    /// Target number of names.
    pub(super) level: usize,
    /// Above this number an unmeasured operation removes a name.
    pub(super) upper: usize,
}

/// Completions per slot after which a call is certainly no longer in flight: if all slots are
/// equally likely to be next, one call in 10^14 lasts longer.
const TURNS: f64 = 32.0;
/// Maximum for the minimum number of names, so that a file set with many clients stays small.
const LEAST_MAX: f64 = 4096.0;

impl PoolLimits {
    /// Returns the limits for a client with `slots` slots and `spare` initial names, if `share` of
    /// its operations, at most `operations`, create or remove names of the kind.
    pub(super) fn new(spare: u32, share: f64, slots: u32, operations: Option<u64>) -> Self {
        // A run of few operations never reaches names beyond those that it removes.
        let changes = operations.map_or(usize::MAX, |all| Self::changes(share, all));
        let least = Self::least(share, slots).min(changes);
        let band = Self::band(share).min(changes);
        let level = (spare as usize).max(least + band);
        Self {
            lower: level - band,
            level,
            upper: level + band,
        }
    }

    /// Returns the maximum number of operations, of `operations` in all, that create or remove
    /// names of the kind.
    fn changes(share: f64, operations: u64) -> usize {
        let mean = (operations as f64 * share).ceil() as usize;
        let all = usize::try_from(operations).unwrap_or(usize::MAX);
        mean.saturating_add(Self::band(share)).min(all)
    }

    /// Returns the minimum number of names: with fewer, the oldest name may not exist yet when it
    /// is needed.
    fn least(share: f64, slots: u32) -> usize {
        let turns = (TURNS * f64::from(slots) * share).ceil().min(LEAST_MAX);
        slots as usize + 4 + turns as usize
    }

    /// Returns the maximum deviation from the level for a mix that creates as many names as it
    /// removes, caused by the order of the shuffled mix: four standard deviations in the middle of
    /// a deck, and a few cards.
    fn band(share: f64) -> usize {
        let cards = filestone_plan::mix::shuffled_mix::CARDS as f64;
        4 + (2.0 * (cards * share).sqrt()).ceil() as usize
    }
}

/// A removed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TakenName {
    pub(super) number: u64,
    /// Whether its creating call had succeeded by then.
    pub(super) was_ready: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    number: u64,
    is_ready: bool,
}

/// The names of one kind of one client. Bounded; allocates at the start only.
#[derive(Debug, Clone)]
pub(super) struct NamePool {
    entries: VecDeque<Entry>,
    levels: PoolLimits,
    /// Number of the next new name.
    next: u64,
    max: usize,
}

impl NamePool {
    /// Creates a pool with the existing names `0..spare`.
    pub(super) fn new(levels: PoolLimits, spare: u32, slots: u32) -> Self {
        let max = levels.upper + 2 * slots as usize + 2;
        let mut entries = VecDeque::with_capacity(max + 1);
        entries.extend((0..u64::from(spare)).map(|number| Entry {
            number,
            is_ready: true,
        }));
        Self {
            entries,
            levels,
            next: u64::from(spare),
            max,
        }
    }

    /// Returns the number of names above the target level.
    pub(super) fn excess(&self) -> i64 {
        self.entries.len() as i64 - self.levels.level as i64
    }

    pub(super) fn is_below(&self) -> bool {
        self.entries.len() < self.levels.lower
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.levels.upper
    }

    pub(super) fn is_above(&self) -> bool {
        self.entries.len() > self.levels.upper
    }

    /// Returns the number of missing names.
    pub(super) fn missing(&self) -> usize {
        self.levels.lower.saturating_sub(self.entries.len())
    }

    /// Adds a new name, to be created now.
    pub(super) fn make(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.push(number, false);
        number
    }

    /// Adds a name at the end of the queue. Only after repeated failures of removals is the queue
    /// full; then the oldest name is dropped.
    fn push(&mut self, number: u64, is_ready: bool) {
        if self.entries.len() >= self.max {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { number, is_ready });
    }

    /// Takes the oldest existing name, or else the oldest name whose creation is pending.
    pub(super) fn take(&mut self) -> Option<TakenName> {
        let oldest = self.entries.iter().position(|entry| entry.is_ready);
        let entry = self.entries.remove(oldest.unwrap_or(0))?;
        Some(TakenName {
            number: entry.number,
            was_ready: entry.is_ready,
        })
    }

    /// Takes the oldest name, but only if one exists.
    pub(super) fn take_ready(&mut self) -> Option<u64> {
        let oldest = self.entries.iter().position(|entry| entry.is_ready)?;
        self.entries.remove(oldest).map(|entry| entry.number)
    }

    /// Returns the oldest name for another creating call: until it ends the name is not removed.
    pub(super) fn make_again(&mut self) -> Option<u64> {
        let number = self.take_ready()?;
        self.push(number, false);
        Some(number)
    }

    /// Returns a number without a name.
    pub(super) fn nothing(&self) -> u64 {
        self.next
    }

    /// Marks a name as existing: its creating call succeeded.
    pub(super) fn is_made(&mut self, number: u64) {
        if let Some(entry) = self.find(number).and_then(|at| self.entries.get_mut(at)) {
            entry.is_ready = true;
        }
    }

    /// Drops a name that does not exist or whose existence is unknown.
    pub(super) fn forget(&mut self, number: u64) {
        if let Some(at) = self.find(number) {
            self.entries.remove(at);
        }
    }

    /// Puts back a removed name that still exists.
    pub(super) fn put_back(&mut self, number: u64) {
        if self.entries.len() < self.max {
            self.push(number, true);
        }
    }

    /// Returns the position of a name. Names with pending creation are near the end.
    fn find(&self, number: u64) -> Option<usize> {
        self.entries
            .iter()
            .rposition(|entry| entry.number == number)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[cfg(test)]
    pub(super) fn levels(&self) -> PoolLimits {
        self.levels
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(spare: u32) -> NamePool {
        NamePool::new(PoolLimits::new(spare, 0.01, 2, None), spare, 2)
    }

    #[test]
    fn names_are_taken_in_the_order_in_which_they_were_made() {
        let mut pool = pool(2);
        let made = pool.make();
        assert_eq!(made, 2);
        pool.is_made(made);
        let taken: Vec<_> = (0..3).filter_map(|_| pool.take()).collect();
        let numbers: Vec<_> = taken.iter().map(|taken| taken.number).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert!(taken.iter().all(|taken| taken.was_ready));
        assert_eq!(pool.take(), None);
    }

    #[test]
    fn a_name_that_is_being_made_waits_while_another_is_there() {
        let mut pool = pool(0);
        let (first, second) = (pool.make(), pool.make());
        pool.is_made(second);
        assert_eq!(pool.take_ready(), Some(second));
        assert_eq!(pool.take_ready(), None);
        let taken = TakenName {
            number: first,
            was_ready: false,
        };
        assert_eq!(pool.take(), Some(taken));
    }

    #[test]
    fn failures_correct_the_pool() {
        let mut pool = pool(1);
        let failed = pool.make();
        pool.forget(failed);
        let kept = pool.take().expect("a name");
        pool.put_back(kept.number);
        assert_eq!(pool.take_ready(), Some(0));
        assert_eq!(pool.take(), None);
    }

    #[test]
    fn a_pool_is_bounded_whatever_fails() {
        let mut pool = pool(0);
        let room = pool.capacity();
        for _ in 0..10_000 {
            let number = pool.make();
            pool.put_back(number);
        }
        assert_eq!(pool.capacity(), room);
        assert!(pool.len() <= pool.max);
    }

    #[test]
    fn levels_grow_with_slots_and_share() {
        let levels = PoolLimits::new(0, 0.03, 8, None);
        assert_eq!((levels.lower, levels.level, levels.upper), (20, 26, 32));
        let all = PoolLimits::new(0, 1.0, 8, None);
        assert_eq!((all.lower, all.level, all.upper), (268, 281, 294));
        assert_eq!(PoolLimits::new(1000, 0.03, 8, None).level, 1000);
    }

    #[test]
    fn few_operations_need_few_names() {
        let levels_of = |operations| {
            let levels = PoolLimits::new(0, 0.03, 8, Some(operations));
            (levels.lower, levels.level, levels.upper)
        };
        assert_eq!(levels_of(0), (0, 0, 0));
        assert_eq!(levels_of(1), (1, 2, 3));
        // 3 on average, and 6 for the order of the deck; then the same as without an end.
        assert_eq!(levels_of(100), (9, 15, 21));
        assert_eq!(levels_of(10_000), (20, 26, 32));
    }
}
