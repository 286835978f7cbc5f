//! Detection of a directory that never becomes empty.
//!
//! The entries of a directory are listed and removed until the list is empty. A server may report
//! that it has removed a name and list it again; without a limit, this would never end.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Maximum number of times that a directory may list only names that were already removed. Once or
/// twice is normal: calls of an interrupted run may still arrive and create names again.
pub const STALLS_MAX: u32 = 3;
/// Maximum number of removed names that are remembered.
const REMEMBERED_MAX: usize = 8192;
/// Maximum number of names removed from one directory.
const NAMES_MAX: u64 = 50_000_000;

/// State of a directory that is being emptied.
#[derive(Debug, Default)]
pub struct DeleteLoopGuard {
    state: RandomState,
    /// Hashes of the removed names.
    removed: HashSet<u64>,
    stalls: u32,
    names: u64,
}

impl DeleteLoopGuard {
    /// Registers names that are listed and about to be removed. Returns whether the directory may
    /// still become empty.
    pub fn may_end<'n>(&mut self, listed: impl Iterator<Item = &'n [u8]>) -> bool {
        let (mut count, mut is_new) = (0, false);
        for name in listed {
            count += 1;
            let hash = self.state.hash_one(name);
            if self.removed.len() < REMEMBERED_MAX {
                is_new |= self.removed.insert(hash);
            } else {
                is_new |= !self.removed.contains(&hash);
            }
        }
        self.names += count;
        self.stalls += u32::from(!is_new && count > 0);
        self.stalls <= STALLS_MAX && self.names <= NAMES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(emptying: &mut DeleteLoopGuard, names: &[&str]) -> bool {
        emptying.may_end(names.iter().map(|name| name.as_bytes()))
    }

    #[test]
    fn new_names_are_never_too_many() {
        let mut emptying = DeleteLoopGuard::default();
        for number in 0..20_000 {
            assert!(check(&mut emptying, &[&number.to_string(), "again"]));
        }
    }

    #[test]
    fn names_that_come_again_are_in_whatever_order() {
        let mut emptying = DeleteLoopGuard::default();
        assert!(check(&mut emptying, &["a", "b", "c"]));
        assert!(check(&mut emptying, &["c", "a"]));
        assert!(check(&mut emptying, &["b"]));
        assert!(check(&mut emptying, &[]), "the end");
        assert!(check(&mut emptying, &["a", "b", "c"]));
        assert!(!check(&mut emptying, &["b", "a"]));
    }
}
