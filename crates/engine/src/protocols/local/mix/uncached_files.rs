//! Objects that a client's caches cannot answer for: files with unknown permissions, and symbolic
//! links that must be read again.
//!
//! Linux's client caches the results of ACCESS and READLINK with the file or link, and repeats the
//! call when it has changed. Every change costs a call. Changes that the mix makes anyway (SETATTR,
//! LINK, CREATE) are used; the additional objects that a run needs are created before the
//! measurement; when these are used up, an operation makes a change itself, which is counted with
//! it.

use super::opened_set::{LINK_TARGET, OpenedSet};
use filestone_plan::file_set::{VolatileDirectory, link_name};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::VecDeque;

/// First number of names created here. Other names count from 0, and RENAME uses the two highest
/// numbers.
pub(super) const MADE_FROM: u64 = 1 << 62;
/// Bit that marks the second name of the object with the number without this bit.
const SECOND: u64 = 1 << 61;
/// Bit that marks second names of the set's permanent symbolic links.
const OF_SET: u64 = 1 << 60;
/// Maximum number of objects per client.
pub(super) const OBJECTS_MAX: u64 = 4000;

/// Number of objects needed of each type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needed {
    pub files: u64,
    pub links: u64,
}

/// An object whose permissions are not cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unchecked {
    /// A data file, by number.
    File(u32),
    /// A file created for this purpose, by number.
    Made(u64),
}

/// Objects that a client's caches cannot answer for at present.
#[derive(Debug, Default)]
pub(super) struct UncachedFiles {
    unchecked: VecDeque<Unchecked>,
    is_unchecked: Vec<bool>,
    unread: VecDeque<u64>,
    /// Whether each permanent symbolic link has a second name.
    has_second: Vec<bool>,
    /// Index of the next permanent link to change.
    next_link: usize,
}

impl UncachedFiles {
    pub fn new(files: u32, links: u32) -> Self {
        Self {
            is_unchecked: vec![false; files as usize],
            has_second: vec![false; links as usize],
            ..Self::default()
        }
    }

    /// Records that a data file has changed, so that its permissions are not cached any more.
    pub fn changed(&mut self, file: u32) {
        if let Some(is_unchecked) = self.is_unchecked.get_mut(file as usize)
            && !std::mem::replace(is_unchecked, true)
        {
            self.unchecked.push_back(Unchecked::File(file));
        }
    }

    /// Whether the permissions of a data file are not cached.
    pub fn is_unchecked(&self, file: u32) -> bool {
        let is_unchecked = self.is_unchecked.get(file as usize);
        is_unchecked.copied().unwrap_or(false)
    }

    /// Takes an object whose permissions are not cached.
    pub fn take_unchecked(&mut self) -> Option<Unchecked> {
        let first = self.unchecked.pop_front()?;
        if let Unchecked::File(file) = first
            && let Some(is_unchecked) = self.is_unchecked.get_mut(file as usize)
        {
            *is_unchecked = false;
        }
        Some(first)
    }

    /// Takes the name of a symbolic link that is not cached.
    pub fn take_unread(&mut self) -> Option<String> {
        self.unread.pop_front().map(link)
    }

    /// Creates files in the directory of volatile names.
    pub fn make_files(&mut self, set: &OpenedSet, count: u64) -> Result<(), Errno> {
        for number in MADE_FROM..MADE_FROM + count {
            let flags = OFlags::CREATE | OFlags::TRUNC | super::opened_set::FILE;
            let directory = set.changing(VolatileDirectory::Created)?;
            let name = VolatileDirectory::Created.file_name(number);
            let file = rustix::fs::openat(directory, &name, flags, super::opened_set::FILE_MODE)?;
            // Opening may load the permissions into the cache.
            rustix::fs::fchmod(&file, super::opened_set::FILE_MODE)?;
            self.unchecked.push_back(Unchecked::Made(number));
        }
        Ok(())
    }

    /// Creates symbolic links. They stay cached until [`change_links`](Self::change_links).
    pub fn make_links(&mut self, set: &OpenedSet, count: u64) -> Result<(), Errno> {
        if count == 0 {
            return Ok(());
        }
        let directory = set.changing(VolatileDirectory::SymbolicLinks)?;
        for number in MADE_FROM..MADE_FROM + count {
            rustix::fs::symlinkat(LINK_TARGET, directory, link(number))?;
        }
        Ok(())
    }

    /// Changes these links and the permanent ones, by adding a second name to each. To be detected
    /// as a change, this must happen some clock ticks after their creation.
    pub fn change_links(&mut self, set: &OpenedSet, count: u64) -> Result<(), Errno> {
        for number in (MADE_FROM..MADE_FROM + count).chain(0..self.has_second.len() as u64) {
            let directory = set.changing(VolatileDirectory::SymbolicLinks)?;
            let (one, second) = (link(number), second_name(number));
            rustix::fs::linkat(directory, one, directory, second, AtFlags::empty())?;
            if let Some(has_second) = self.has_second.get_mut(number as usize) {
                *has_second = true;
            }
            self.unread.push_back(number);
        }
        Ok(())
    }

    /// Changes a permanent link by adding or removing its second name. Returns its name, and
    /// whether it has a second name now.
    pub fn change_link(&mut self, set: &OpenedSet) -> Result<(String, bool), Errno> {
        let number = self.next_link % self.has_second.len().max(1);
        self.next_link = number + 1;
        let has_second = self.has_second.get_mut(number).ok_or(Errno::NOENT)?;
        let directory = set.changing(VolatileDirectory::SymbolicLinks)?;
        let (one, second) = (link(number as u64), second_name(number as u64));
        if *has_second {
            rustix::fs::unlinkat(directory, second, AtFlags::empty())?;
        } else {
            rustix::fs::linkat(directory, &one, directory, second, AtFlags::empty())?;
        }
        *has_second = !*has_second;
        Ok((one, *has_second))
    }
}

/// Returns the name of a symbolic link, created here or permanent.
fn link(number: u64) -> String {
    match number {
        MADE_FROM.. => VolatileDirectory::SymbolicLinks.file_name(number),
        _ => link_name(u32::try_from(number).unwrap_or(u32::MAX)),
    }
}

fn second_name(number: u64) -> String {
    let of_set = if number < MADE_FROM { OF_SET } else { 0 };
    VolatileDirectory::SymbolicLinks.file_name(MADE_FROM | SECOND | of_set | number)
}

/// Whether a name was created here.
pub(super) fn is_made_here(number: u64) -> bool {
    number >> 62 == 1
}

/// Returns the offset after the first entries of a directory, where listings begin.
pub(super) fn beyond_first(directory: impl rustix::fd::AsFd) -> Result<u64, Errno> {
    let mut buffer = Vec::with_capacity(4096);
    let fresh = rustix::fs::openat(
        directory,
        c".",
        crate::protocols::local::tree::DIRECTORY,
        Mode::empty(),
    )?;
    let mut entries = rustix::fs::RawDir::new(&fresh, buffer.spare_capacity_mut());
    match entries.next() {
        Some(entry) => Ok(entry?.next_entry_cookie()),
        None => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_made_here_are_no_others() {
        let second =
            |number| VolatileDirectory::SymbolicLinks.number_of(second_name(number).as_bytes());
        for number in [0, 7, MADE_FROM, MADE_FROM + 7] {
            let second = second(number).expect("a name that comes and goes");
            assert!(is_made_here(second) && second != number, "{second:x}");
        }
        assert_ne!(second(7), second(MADE_FROM + 7));
        assert!(!is_made_here(0) && !is_made_here(super::super::changing::RENAMED[1]));
    }

    #[test]
    fn a_file_that_changes_twice_is_asked_for_once() {
        let mut fresh = UncachedFiles::new(3, 0);
        fresh.changed(1);
        fresh.changed(1);
        assert!(fresh.is_unchecked(1) && !fresh.is_unchecked(0));
        assert_eq!(fresh.take_unchecked(), Some(Unchecked::File(1)));
        assert_eq!(fresh.take_unchecked(), None);
        assert!(!fresh.is_unchecked(1));
    }
}
