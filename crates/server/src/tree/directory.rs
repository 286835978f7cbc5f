//! The entries of one directory: by name for LOOKUP, by cookie for READDIR.
//!
//! Each entry gets a cookie when it is created, from a counter that never decreases, and keeps it
//! until it is removed. A listing continues after a cookie, whether or not that entry still exists;
//! so a listing over several calls never returns a surviving entry twice and misses none, whatever
//! is created or removed during the listing (RFC 1813, section 3.3.16, requires no more).
//!
//! `.` and `..` are not stored; the tree lists them first, with the cookies 1 and 2.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::InodeNumber;
use super::folded::CaseFoldIndex;

/// Cookie of `.`.
pub const COOKIE_SELF: u64 = 1;
/// Cookie of `..`.
pub const COOKIE_PARENT: u64 = 2;

#[derive(Debug, Clone, Copy)]
struct Entry {
    inode: InodeNumber,
    cookie: u64,
}

/// Names of a directory and their inodes.
#[derive(Debug)]
pub struct Directory {
    parent: InodeNumber,
    by_name: HashMap<Arc<[u8]>, Entry>,
    by_cookie: BTreeMap<u64, (Arc<[u8]>, InodeNumber)>,
    cookie_last: u64,
    subdirectory_count: u32,
    /// Created when it is first needed.
    folded: Option<Box<CaseFoldIndex>>,
}

impl Directory {
    pub fn new(parent: InodeNumber) -> Self {
        Self {
            parent,
            by_name: HashMap::new(),
            by_cookie: BTreeMap::new(),
            cookie_last: COOKIE_PARENT,
            subdirectory_count: 0,
            folded: None,
        }
    }

    pub fn parent(&self) -> InodeNumber {
        self.parent
    }

    pub fn set_parent(&mut self, parent: InodeNumber) {
        self.parent = parent;
    }

    pub fn find(&self, name: &[u8]) -> Option<InodeNumber> {
        self.by_name.get(name).map(|entry| entry.inode)
    }

    /// Returns the spelling of an entry that differs from `name` in case only.
    pub fn find_folded(&mut self, name: &[u8]) -> Option<Arc<[u8]>> {
        let folded = self.folded.get_or_insert_with(|| {
            let mut folded = Box::<CaseFoldIndex>::default();
            for (name, _) in self.by_cookie.values() {
                folded.insert(name);
            }
            folded
        });
        folded.find(name).map(Arc::clone)
    }

    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns the highest cookie assigned; a higher one is not from this directory.
    pub fn cookie_last(&self) -> u64 {
        self.cookie_last
    }

    /// Returns the number of subdirectories; each has a link to this directory by its `..`.
    pub fn subdirectory_count(&self) -> u32 {
        self.subdirectory_count
    }

    pub fn count_subdirectory(&mut self, change: i32) {
        self.subdirectory_count = self.subdirectory_count.saturating_add_signed(change);
    }

    /// Inserts `name`. An existing name keeps its cookie and refers to the new inode from now on,
    /// so that a listing in progress does not return it twice.
    pub fn insert(&mut self, name: &[u8], inode: InodeNumber) {
        if let Some(entry) = self.by_name.get_mut(name) {
            entry.inode = inode;
            if let Some(listed) = self.by_cookie.get_mut(&entry.cookie) {
                listed.1 = inode;
            }
            return;
        }
        self.cookie_last += 1;
        let name: Arc<[u8]> = Arc::from(name);
        if let Some(folded) = &mut self.folded {
            folded.insert(&name);
        }
        self.by_cookie
            .insert(self.cookie_last, (Arc::clone(&name), inode));
        self.by_name.insert(
            name,
            Entry {
                inode,
                cookie: self.cookie_last,
            },
        );
    }

    pub fn remove(&mut self, name: &[u8]) -> Option<InodeNumber> {
        let entry = self.by_name.remove(name)?;
        self.by_cookie.remove(&entry.cookie);
        if let Some(folded) = &mut self.folded {
            folded.remove(name);
        }
        Some(entry.inode)
    }

    /// Returns the entries after `cookie`, in order of their cookies: (cookie, name, inode).
    pub fn entries_after(&self, cookie: u64) -> impl Iterator<Item = (u64, &[u8], InodeNumber)> {
        self.by_cookie
            .range((Bound::Excluded(cookie), Bound::Unbounded))
            .map(|(cookie, (name, inode))| (*cookie, name.as_ref(), *inode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(index: u32) -> InodeNumber {
        InodeNumber(index)
    }

    #[test]
    fn a_listing_survives_removals_and_insertions_on_the_way() {
        let mut directory = Directory::new(number(0));
        for index in 0..100_u32 {
            directory.insert(format!("n{index}").as_bytes(), number(index));
        }
        let mut seen = Vec::new();
        let mut cookie = COOKIE_PARENT;
        loop {
            let next = directory.entries_after(cookie).next();
            let Some((next, inode)) = next.map(|entry| (entry.0, entry.2)) else {
                break;
            };
            cookie = next;
            seen.push(inode.0);
            if inode.0 < 100 {
                directory.remove(format!("n{}", inode.0).as_bytes());
                directory.remove(format!("n{}", inode.0 + 1).as_bytes());
            }
            if seen.len() == 10 {
                directory.insert(b"late", number(1000));
            }
        }
        let expected: Vec<u32> = (0..100).step_by(2).chain([1000]).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_replaced_name_keeps_its_cookie() {
        let mut directory = Directory::new(number(0));
        directory.insert(b"a", number(1));
        directory.insert(b"b", number(2));
        directory.insert(b"a", number(3));
        let listed: Vec<_> = directory.entries_after(0).collect();
        assert_eq!(
            listed,
            [
                (3, b"a".as_slice(), number(3)),
                (4, b"b".as_slice(), number(2))
            ]
        );
    }
}
