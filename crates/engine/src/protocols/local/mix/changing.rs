//! The names of a client that come and go, by number.

use std::collections::VecDeque;

/// So many names may be there beyond those that are there at the start; then the oldest goes.
const BEYOND_SPARE_MAX: usize = 1000;

/// The names in one directory.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: VecDeque<u64>,
    next: u64,
    spare: usize,
}

impl Names {
    /// Those of a directory that holds the numbers below `spare`.
    pub fn new(spare: u32) -> Self {
        Self {
            numbers: (0..u64::from(spare)).collect(),
            next: u64::from(spare),
            spare: spare as usize,
        }
    }

    /// A number that has not been there before.
    pub fn make(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Notes that a name has been made.
    pub fn add(&mut self, number: u64) {
        self.numbers.push_back(number);
    }

    /// Takes the newest out.
    pub fn take_newest(&mut self) -> Option<u64> {
        self.numbers.pop_back()
    }

    /// Takes the oldest out.
    pub fn take_oldest(&mut self) -> Option<u64> {
        self.numbers.pop_front()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether there are fewer than at the start.
    pub fn is_short(&self) -> bool {
        self.numbers.len() < self.spare
    }

    /// Whether there are so many that the oldest has to go.
    pub fn is_overfull(&self) -> bool {
        self.numbers.len() > self.spare + BEYOND_SPARE_MAX
    }
}

/// RENAME goes to and fro between these two numbers in `new`, out of the way of all others.
pub(super) const RENAMED: [u64; 2] = [u64::MAX, u64::MAX - 1];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_new_and_the_newest_goes_first() {
        let mut names = Names::new(2);
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
