//! The files and directories that a load creates, renames and removes, to compute the live set:
//! only lengths, no data.
//!
//! Unknown objects are assumed to be as the load expects: a file that is opened successfully
//! without being created exists, and is empty.

use super::contents::TreeContents;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Approximate memory use of an entry without its name.
const ENTRY_WEIGHT: u64 = 96;

/// Number of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileNumber(usize);

/// Current object of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Now {
    #[default]
    Nothing,
    Directory,
    File(FileNumber),
    Symlink,
}

/// A name that occurs in a line.
#[derive(Debug, Default)]
struct Entry {
    now: Now,
    was_file: bool,
    was_directory: bool,
    presumed: bool,
}

/// A file, which is stored while it has a name or is open.
#[derive(Debug, Clone, Copy, Default)]
struct File {
    len: u64,
    names: u32,
    handles: u32,
    /// Ends of the previous read and write by name.
    read_end: Option<u64>,
    write_end: Option<u64>,
}

/// The names and files.
#[derive(Debug)]
pub(super) struct NameTree {
    /// Whether names are case-insensitive.
    fold_case: bool,
    names: BTreeMap<Box<[u8]>, Entry>,
    files: Vec<File>,
    free: Vec<usize>,
    live_bytes: u64,
    live_max: u64,
    largest: u64,
    depth: u64,
    weight: u64,
    /// Number of entries visited by renames and removals of whole trees.
    walked: u64,
    /// The name being looked up, with its case folded if necessary.
    name: Vec<u8>,
}

impl NameTree {
    pub fn new(fold_case: bool) -> Self {
        Self {
            fold_case,
            names: BTreeMap::new(),
            files: Vec::new(),
            free: Vec::new(),
            live_bytes: 0,
            live_max: 0,
            largest: 0,
            depth: 0,
            weight: 0,
            walked: 0,
            name: Vec::new(),
        }
    }

    /// Returns the approximate memory use.
    pub fn weight(&self) -> u64 {
        self.weight + self.files.len() as u64 * size_of::<File>() as u64
    }

    /// Returns the number of steps for whole trees.
    pub fn walked(&self) -> u64 {
        self.walked
    }

    /// Records that a line uses this name.
    pub fn mention(&mut self, path: &[u8]) {
        self.entry(path);
    }

    /// Opens or creates a file; `made` tells whether the line may create it. `None` if the name is
    /// a directory.
    pub fn open(&mut self, path: &[u8], made: bool) -> Option<FileNumber> {
        let entry = self.entry(path);
        entry.was_file |= entry.now != Now::Directory;
        match entry.now {
            Now::File(number) => return Some(number),
            Now::Directory => return None,
            Now::Nothing | Now::Symlink => entry.presumed |= !made,
        }
        let number = self.new_file();
        self.put(path, Now::File(number));
        Some(number)
    }

    pub fn is_directory(&mut self, path: &[u8]) -> bool {
        path.is_empty() || self.entry(path).now == Now::Directory
    }

    pub fn make_directory(&mut self, path: &[u8]) {
        if !self.is_directory(path) {
            self.put(path, Now::Directory);
        }
    }

    pub fn make_symlink(&mut self, path: &[u8]) {
        self.put(path, Now::Symlink);
    }

    /// Creates a second name for a file.
    pub fn link(&mut self, path: &[u8], existing: &[u8]) {
        if let Some(number) = self.open(existing, false) {
            self.put(path, Now::File(number));
            self.entry(path).was_file = true;
        }
    }

    /// Removes one name.
    pub fn remove(&mut self, path: &[u8]) {
        let entry = self.entry(path);
        let was = std::mem::take(&mut entry.now);
        self.forget(was);
    }

    /// Renames an object, with all names below it.
    pub fn rename(&mut self, from: &[u8], to: &[u8]) {
        let now = std::mem::take(&mut self.entry(from).now);
        match now {
            Now::Nothing => {
                // No line created it, but it exists, and most objects are files.
                self.entry(from).presumed = true;
                let number = self.new_file();
                self.put(to, Now::File(number));
            }
            Now::File(_) | Now::Symlink => self.move_here(to, now),
            Now::Directory => {
                let moved = self.take_below(from);
                self.put(to, Now::Directory);
                for (rest, now) in moved {
                    self.move_here(&[to, &rest].concat(), now);
                }
            }
        }
    }

    /// Moves an object to another name.
    fn move_here(&mut self, to: &[u8], now: Now) {
        self.put(to, now);
        self.forget(now);
    }

    /// Removes a name and all names below it.
    pub fn delete_tree(&mut self, path: &[u8]) {
        self.remove(path);
        for (_, now) in self.take_below(path) {
            self.forget(now);
        }
    }

    /// Extends the file to at least that length.
    pub fn extend(&mut self, number: FileNumber, end: u64) {
        if self.files.get(number.0).is_some_and(|file| file.len < end) {
            self.set_len(number, end);
        }
    }

    /// Sets the length of the file.
    pub fn set_len(&mut self, number: FileNumber, len: u64) {
        if let Some(file) = self.files.get_mut(number.0) {
            self.live_bytes = self.live_bytes.saturating_sub(file.len).saturating_add(len);
            file.len = len;
            self.live_max = self.live_max.max(self.live_bytes);
            self.largest = self.largest.max(len);
        }
    }

    /// Returns the end of the previous read of the file by name.
    pub fn read_end(&mut self, number: FileNumber) -> Option<&mut Option<u64>> {
        Some(&mut self.files.get_mut(number.0)?.read_end)
    }

    /// Returns the end of the previous write of the file by name.
    pub fn write_end(&mut self, number: FileNumber) -> Option<&mut Option<u64>> {
        Some(&mut self.files.get_mut(number.0)?.write_end)
    }

    /// Adds a handle.
    pub fn hold(&mut self, number: FileNumber) {
        if let Some(file) = self.files.get_mut(number.0) {
            file.handles = file.handles.saturating_add(1);
        }
    }

    /// Removes a handle.
    pub fn release(&mut self, number: FileNumber) {
        if let Some(file) = self.files.get_mut(number.0) {
            file.handles = file.handles.saturating_sub(1);
            self.free_if_gone(number);
        }
    }

    pub fn finish(&self) -> TreeContents {
        let count = |wanted: fn(&Entry) -> bool| -> u64 {
            self.names.values().filter(|entry| wanted(entry)).count() as u64
        };
        TreeContents {
            live_set_bytes: self.live_max,
            largest_file_bytes: self.largest,
            files: count(|entry| entry.was_file),
            directories: count(|entry| entry.was_directory),
            names: self.names.len() as u64,
            depth: self.depth,
            files_presumed: count(|entry| entry.presumed),
            files_left: count(|entry| matches!(entry.now, Now::File(_))),
        }
    }

    fn entry(&mut self, path: &[u8]) -> &mut Entry {
        self.name.clear();
        self.name.extend_from_slice(path);
        if self.fold_case {
            self.name.make_ascii_lowercase();
        }
        // Most lookups find an existing name, and only a new one needs an allocation.
        if !self.names.contains_key(self.name.as_slice()) {
            self.weight += path.len() as u64 + ENTRY_WEIGHT;
            self.names
                .insert(self.name.as_slice().into(), Entry::default());
        }
        self.names
            .get_mut(self.name.as_slice())
            .expect("the name was inserted if it was missing")
    }

    fn new_file(&mut self) -> FileNumber {
        match self.free.pop() {
            Some(index) => FileNumber(index),
            None => {
                self.files.push(File::default());
                FileNumber(self.files.len() - 1)
            }
        }
    }

    /// Puts an object under a name, and replaces the previous object.
    fn put(&mut self, path: &[u8], now: Now) {
        if let Now::File(number) = now
            && let Some(file) = self.files.get_mut(number.0)
        {
            file.names += 1;
        }
        let entry = self.entry(path);
        let before = std::mem::replace(&mut entry.now, now);
        entry.was_directory |= now == Now::Directory;
        self.forget(before);
        if before == Now::Nothing {
            self.depth = self.depth.max(components(path));
            self.make_parents(path);
        }
    }

    /// Creates the parent directories of an object.
    fn make_parents(&mut self, path: &[u8]) {
        let mut path = path;
        while let Some(parent) = parent(path) {
            let entry = self.entry(parent);
            if entry.now == Now::Directory {
                return;
            }
            entry.was_directory = true;
            let before = std::mem::replace(&mut entry.now, Now::Directory);
            self.forget(before);
            path = parent;
        }
    }

    /// Removes a name's reference to an object.
    fn forget(&mut self, was: Now) {
        if let Now::File(number) = was
            && let Some(file) = self.files.get_mut(number.0)
        {
            file.names = file.names.saturating_sub(1);
            self.free_if_gone(number);
        }
    }

    fn free_if_gone(&mut self, number: FileNumber) {
        if let Some(file) = self.files.get_mut(number.0)
            && file.names == 0
            && file.handles == 0
        {
            self.live_bytes = self.live_bytes.saturating_sub(file.len);
            *file = File::default();
            self.free.push(number.0);
        }
    }

    /// Removes all entries below a directory from the tree. Returns them with their names relative
    /// to it.
    fn take_below(&mut self, path: &[u8]) -> Vec<(Vec<u8>, Now)> {
        let mut first = path.to_vec();
        if self.fold_case {
            first.make_ascii_lowercase();
        }
        let own = first.len();
        // All names below "a/b" are from "a/b/" up to "a/b0": 0 follows the slash.
        let mut last = first.clone();
        first.push(b'/');
        last.push(b'/' + 1);
        let (first, last) = if path.is_empty() {
            (Bound::Unbounded, Bound::Unbounded)
        } else {
            (
                Bound::Included(first.as_slice()),
                Bound::Excluded(last.as_slice()),
            )
        };
        let mut taken = Vec::new();
        for (name, entry) in self.names.range_mut::<[u8], _>((first, last)) {
            self.walked += 1;
            let now = std::mem::take(&mut entry.now);
            if now != Now::Nothing {
                taken.push((name.get(own..).unwrap_or_default().to_vec(), now));
            }
        }
        taken
    }
}

fn components(path: &[u8]) -> u64 {
    if path.is_empty() {
        0
    } else {
        1 + path.iter().filter(|&&byte| byte == b'/').count() as u64
    }
}

fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|&byte| byte == b'/')?;
    path.get(..slash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(tree: &mut NameTree, path: &str, len: u64) -> FileNumber {
        let number = tree.open(path.as_bytes(), true).expect("no directory");
        tree.set_len(number, len);
        number
    }

    #[test]
    fn the_live_set_is_the_largest_sum_and_not_the_last() {
        let mut tree = NameTree::new(true);
        file(&mut tree, "a", 100);
        file(&mut tree, "b", 50);
        tree.remove(b"A");
        file(&mut tree, "c", 20);
        let contents = tree.finish();
        assert_eq!(contents.live_set_bytes, 150);
        assert_eq!(contents.largest_file_bytes, 100);
        assert_eq!((contents.files, contents.files_left), (3, 2));
    }

    #[test]
    fn a_file_renamed_over_another_takes_its_place() {
        let mut tree = NameTree::new(true);
        file(&mut tree, "a", 100);
        file(&mut tree, "b", 50);
        tree.rename(b"a", b"B");
        assert_eq!(tree.live_bytes, 100);
        assert_eq!(tree.finish().files_left, 1);
    }

    #[test]
    fn a_file_renamed_to_its_own_name_stays() {
        let mut tree = NameTree::new(true);
        file(&mut tree, "a", 100);
        tree.rename(b"a", b"a");
        assert_eq!(tree.live_bytes, 100);
        assert_eq!(tree.finish().files_left, 1);
    }

    #[test]
    fn a_file_that_is_open_keeps_its_bytes_when_its_name_is_gone() {
        let mut tree = NameTree::new(true);
        let number = file(&mut tree, "a", 100);
        tree.hold(number);
        tree.remove(b"a");
        assert_eq!(tree.live_bytes, 100);
        tree.release(number);
        assert_eq!(tree.live_bytes, 0);
    }

    #[test]
    fn a_directory_takes_what_is_below_it_along() {
        let mut tree = NameTree::new(true);
        file(&mut tree, "a/x/1", 1);
        file(&mut tree, "a.x", 2);
        file(&mut tree, "ab/1", 4);
        tree.rename(b"a", b"deep/er");
        assert_eq!(tree.live_bytes, 7);
        assert_eq!(tree.finish().depth, 4);
        tree.delete_tree(b"DEEP");
        assert_eq!(tree.live_bytes, 6);
        tree.delete_tree(b"");
        assert_eq!((tree.live_bytes, tree.finish().files_left), (0, 0));
    }

    #[test]
    fn names_below_a_file_s_own_name_do_no_harm() {
        let mut tree = NameTree::new(true);
        file(&mut tree, "a", 1);
        file(&mut tree, "a/b", 2);
        tree.rename(b"a", b"a/b/c");
        tree.delete_tree(b"a");
        assert_eq!(tree.live_bytes, 0);
    }

    #[test]
    fn a_second_name_is_no_second_file() {
        let mut tree = NameTree::new(false);
        file(&mut tree, "a", 100);
        tree.link(b"b", b"a");
        tree.remove(b"a");
        assert_eq!(tree.live_bytes, 100);
        tree.remove(b"b");
        assert_eq!(tree.live_bytes, 0);
    }

    #[test]
    fn names_that_differ_in_case_are_two_for_nfs() {
        let mut tree = NameTree::new(false);
        file(&mut tree, "a", 1);
        file(&mut tree, "A", 1);
        assert_eq!(tree.finish().files, 2);
    }

    #[test]
    fn what_nothing_made_is_presumed_to_be_there() {
        let mut tree = NameTree::new(true);
        assert!(tree.open(b"d/a", false).is_some());
        assert!(tree.open(b"d/a", false).is_some());
        tree.rename(b"d/b", b"d/c");
        let contents = tree.finish();
        assert_eq!(contents.files_presumed, 2);
        assert_eq!((contents.files, contents.files_left), (1, 2));
        assert_eq!(contents.directories, 1);
    }
}
