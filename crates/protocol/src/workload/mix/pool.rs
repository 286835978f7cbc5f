//! The names of one kind that come and go: first made, first taken.

use std::collections::VecDeque;

/// How many names of one kind a client keeps.
///
/// A name is taken in the order in which names were made, so by the time that it is its turn
/// its making call has long ended: that is what the least number is for. Without it, what is
/// asked would depend on how fast the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolLimits {
    /// Below it an unmeasured operation makes a name.
    pub(super) lower: usize,
    /// What the kind is kept at.
    pub(super) level: usize,
    /// Above it an unmeasured operation takes a name away.
    pub(super) upper: usize,
}

/// Completions after which a call is certainly not in flight any more, per slot: if each slot's
/// turn is as likely as every other's, one call in 10^14 lasts longer.
const TURNS: f64 = 32.0;
/// Names of one kind at most, so that a file set with many clients stays small.
const LEAST_MAX: f64 = 4096.0;

impl PoolLimits {
    /// The levels of a client with `slots` slots and `spare` names at the start, if so large a
    /// share of its operations, which are no more than `operations`, makes or takes names of the kind.
    pub(super) fn new(spare: u32, share: f64, slots: u32, operations: Option<u64>) -> Self {
        // A run of few operations never comes to the names beyond those that it takes.
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

    /// How many of so many operations make or take names of the kind, at most.
    fn changes(share: f64, operations: u64) -> usize {
        let mean = (operations as f64 * share).ceil() as usize;
        let all = usize::try_from(operations).unwrap_or(usize::MAX);
        mean.saturating_add(Self::band(share)).min(all)
    }

    /// Fewer names than this, and the oldest may not be made yet when it is wanted.
    fn least(share: f64, slots: u32) -> usize {
        let turns = (TURNS * f64::from(slots) * share).ceil().min(LEAST_MAX);
        slots as usize + 4 + turns as usize
    }

    /// How far a mix with as many makers as takers strays from the level by the order of its
    /// deck: four standard deviations in the middle of a deck, and a few cards.
    fn band(share: f64) -> usize {
        let cards = filestone_plan::mix::shuffled_mix::CARDS as f64;
        4 + (2.0 * (cards * share).sqrt()).ceil() as usize
    }
}

/// A name that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) number: u64,
    /// Whether the call that makes it had ended well by then.
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
    /// The number of the next new name.
    next: u64,
    max: usize,
}

impl NamePool {
    /// A pool in which the numbers `0..spare` are there.
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

    /// How many more names there are than there should be.
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

    /// How many names are missing.
    pub(super) fn missing(&self) -> usize {
        self.levels.lower.saturating_sub(self.entries.len())
    }

    /// A new name, to be made now.
    pub(super) fn make(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.push(number, false);
        number
    }

    /// Adds a name at the end of the queue. Only where removals fail again and again is there
    /// no room; then the oldest is forgotten.
    fn push(&mut self, number: u64, is_ready: bool) {
        if self.entries.len() >= self.max {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { number, is_ready });
    }

    /// Takes the oldest name that is there, or else the oldest that is being made.
    pub(super) fn take(&mut self) -> Option<Taken> {
        let oldest = self.entries.iter().position(|entry| entry.is_ready);
        let entry = self.entries.remove(oldest.unwrap_or(0))?;
        Some(Taken {
            number: entry.number,
            was_ready: entry.is_ready,
        })
    }

    /// Takes the oldest name, but only if there is one that is there.
    pub(super) fn take_ready(&mut self) -> Option<u64> {
        let oldest = self.entries.iter().position(|entry| entry.is_ready)?;
        self.entries.remove(oldest).map(|entry| entry.number)
    }

    /// The oldest name, which is made once more: until then it is not taken.
    pub(super) fn make_again(&mut self) -> Option<u64> {
        let number = self.take_ready()?;
        self.push(number, false);
        Some(number)
    }

    /// A number that names nothing.
    pub(super) fn nothing(&self) -> u64 {
        self.next
    }

    /// The name is there: what makes it has ended well.
    pub(super) fn is_made(&mut self, number: u64) {
        if let Some(entry) = self.find(number).and_then(|at| self.entries.get_mut(at)) {
            entry.is_ready = true;
        }
    }

    /// The name is not there, or nobody knows.
    pub(super) fn forget(&mut self, number: u64) {
        if let Some(at) = self.find(number) {
            self.entries.remove(at);
        }
    }

    /// A name that was taken is still there.
    pub(super) fn put_back(&mut self, number: u64) {
        if self.entries.len() < self.max {
            self.push(number, true);
        }
    }

    /// Where a name is. Names that are being made are near the end.
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
        let taken = Taken {
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
        // 3 on average, and 6 for the order of the deck; then as if there were no end.
        assert_eq!(levels_of(100), (9, 15, 21));
        assert_eq!(levels_of(10_000), (20, 26, 32));
    }
}
