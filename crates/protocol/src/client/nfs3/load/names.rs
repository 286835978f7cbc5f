//! Cache of file handles by path.
//!
//! The cache belongs to one client. This client's creations, removals and renames update it;
//! changes by others show as NFS3ERR_STALE, which clears the cache.

use filestone_wire::nfs3::Handle;
use std::collections::BTreeMap;

/// Maximum number of cached names. Without it a load with random names would fill the memory; a
/// load with more names looks them up again.
const NAMES_MAX: usize = 65_536;

/// Handles by path below the directory under test.
#[derive(Debug, Default)]
pub(super) struct HandleCache {
    handles: BTreeMap<Box<[u8]>, Handle>,
    /// Whether the cache contains a name that was found by ignoring case: then an object may have
    /// several paths.
    has_aliases: bool,
}

impl HandleCache {
    /// Returns the handle of a path.
    pub fn find(&self, path: &[u8]) -> Option<Handle> {
        self.handles.get(path).copied()
    }

    /// Records the handle of a path.
    pub fn record_handle(&mut self, path: &[u8], handle: Handle) {
        if let Some(known) = self.handles.get_mut(path) {
            *known = handle;
            return;
        }
        if self.handles.len() >= NAMES_MAX {
            self.forget_all();
        }
        self.handles.insert(path.into(), handle);
    }

    /// Records the handle of a path that has another spelling on the server.
    pub fn learn_alias(&mut self, path: &[u8], handle: Handle) {
        self.record_handle(path, handle);
        self.has_aliases = true;
    }

    /// Drops a name that was removed, or names another object now.
    pub fn forget(&mut self, path: &[u8]) {
        if self.has_aliases {
            return self.forget_all();
        }
        self.handles.remove(path);
        // Names with the same beginning sort between the name and its children: "a", "a-b", "a/b".
        let below: Vec<Box<[u8]>> = self
            .handles
            .range::<[u8], _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded))
            .map(|(name, _)| name)
            .take_while(|name| name.starts_with(path))
            .filter(|name| name.get(path.len()) == Some(&b'/'))
            .cloned()
            .collect();
        for name in below {
            self.handles.remove(&name);
        }
    }

    /// Clears the cache.
    pub fn forget_all(&mut self) {
        self.handles.clear();
        self.has_aliases = false;
    }
}

/// Splits a path into its parent and its last component. The parent of a name in the directory
/// under test is the empty path.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (
            path.get(..at).unwrap_or_default(),
            path.get(at + 1..).unwrap_or_default(),
        ),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(byte: u8) -> Handle {
        Handle::new(&[byte]).unwrap()
    }

    fn known() -> HandleCache {
        let mut names = HandleCache::default();
        for (byte, path) in (0..).zip(["a", "a-b", "a/b", "a/b/c", "ab", "b"]) {
            names.record_handle(path.as_bytes(), handle(byte));
        }
        names
    }

    #[test]
    fn what_is_below_a_name_goes_with_it_and_nothing_else() {
        let mut names = known();
        names.forget(b"a");
        assert_eq!(names.find(b"a"), None);
        assert_eq!(names.find(b"a/b"), None);
        assert_eq!(names.find(b"a/b/c"), None);
        assert_eq!(names.find(b"a-b"), Some(handle(1)));
        assert_eq!(names.find(b"ab"), Some(handle(4)));
    }

    #[test]
    fn where_a_name_may_be_spelt_otherwise_everything_is_forgotten() {
        let mut names = known();
        names.learn_alias(b"B", handle(5));
        names.forget(b"b");
        assert_eq!(names.find(b"B"), None);
        assert_eq!(names.find(b"a"), None);
    }

    #[test]
    fn the_cache_has_an_end() {
        let mut names = HandleCache::default();
        for number in 0..=NAMES_MAX {
            names.record_handle(number.to_string().as_bytes(), handle(0));
        }
        assert_eq!(names.handles.len(), 1);
    }

    #[test]
    fn a_path_is_split_at_its_last_slash() {
        assert_eq!(split(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split(b"a"), (&b""[..], &b"a"[..]));
    }
}
