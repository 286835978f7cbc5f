//! Names that a client creates and removes, by number.

use std::collections::VecDeque;

/// Maximum number of names beyond those present at the start; then the oldest is removed.
const BEYOND_SPARE_MAX: usize = 1000;

/// Names in one directory.
#[derive(Debug, Default)]
pub(super) struct DirectoryNames {
    numbers: VecDeque<u64>,
    next: u64,
    spare: usize,
}

impl DirectoryNames {
    /// Creates the names of a directory that contains the numbers below `spare`.
    pub fn new(spare: u32) -> Self {
        Self {
            numbers: (0..u64::from(spare)).collect(),
            next: u64::from(spare),
            spare: spare as usize,
        }
    }

    /// Returns a number not used before.
    pub fn make(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Adds a name that has been created.
    pub fn add(&mut self, number: u64) {
        self.numbers.push_back(number);
    }

    /// Removes the newest name.
    pub fn take_newest(&mut self) -> Option<u64> {
        self.numbers.pop_back()
    }

    /// Removes the oldest name.
    pub fn take_oldest(&mut self) -> Option<u64> {
        self.numbers.pop_front()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether there are fewer names than at the start.
    pub fn is_short(&self) -> bool {
        self.numbers.len() < self.spare
    }

    /// Whether there are too many names, so that the oldest must be removed.
    pub fn is_overfull(&self) -> bool {
        self.numbers.len() > self.spare + BEYOND_SPARE_MAX
    }
}

/// RENAME alternates between these two numbers in `new`, which no other name uses.
pub(super) const RENAMED: [u64; 2] = [u64::MAX, u64::MAX - 1];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_new_and_the_newest_goes_first() {
        let mut names = DirectoryNames::new(2);
        assert!(!names.is_short());
        let made = names.make();
        names.add(made);
        assert_eq!(made, 2);
        assert_eq!(names.take_newest(), Some(2));
        assert_eq!(names.make(), 3);
        assert_eq!(names.take_oldest(), Some(0));
        assert!(names.is_short() && !names.is_empty());
        assert_eq!(names.take_newest(), Some(1));
        assert_eq!(names.take_newest(), None);
    }
}
