//! What a client's caches cannot answer: files whose permissions it must ask for, and symbolic
//! links that it must read, although it has seen them before.
//!
//! Linux's client keeps the answers to ACCESS and READLINK with the file or link, and asks again
//! when that has changed. Every change costs a call. Those that the mix has anyway (SETATTR,
//! LINK, CREATE) are made use of; as many more as a run will need are made before it is measured;
//! and when these are used up, an operation makes a change of its own, which is counted with it.

use super::opened_set::{LINK_TARGET, OpenedSet};
use filestone_plan::file_set::{VolatileDirectory, link_name};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::VecDeque;

/// Numbers of names that are made here begin so: those of others count from 0, and those that
/// RENAME goes between are the very last.
pub(super) const MADE_FROM: u64 = 1 << 62;
/// Second names of what has the number without this bit.
const SECOND: u64 = 1 << 61;
/// Second names of the symbolic links that are always there.
const OF_SET: u64 = 1 << 60;
/// Objects of one client at most.
pub(super) const OBJECTS_MAX: u64 = 4000;

/// How many of either will be needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needed {
    pub files: u64,
    pub links: u64,
}

/// Something whose permissions must be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unchecked {
    /// A data file, by number.
    File(u32),
    /// A file that was made for it, by number.
    Made(u64),
}

/// What a client's caches cannot answer now.
#[derive(Debug, Default)]
pub(super) struct UncachedFiles {
    unchecked: VecDeque<Unchecked>,
    is_unchecked: Vec<bool>,
    unread: VecDeque<u64>,
    /// Whether each symbolic link that is always there has a second name.
    has_second: Vec<bool>,
    /// The one among them that is changed next.
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

    /// A data file has changed: its permissions must be asked for again.
    pub fn changed(&mut self, file: u32) {
        if let Some(is_unchecked) = self.is_unchecked.get_mut(file as usize)
            && !std::mem::replace(is_unchecked, true)
        {
            self.unchecked.push_back(Unchecked::File(file));
        }
    }

    /// Whether a data file's permissions must be asked for anyway.
    pub fn is_unchecked(&self, file: u32) -> bool {
        let is_unchecked = self.is_unchecked.get(file as usize);
        is_unchecked.copied().unwrap_or(false)
    }

    /// One whose permissions must be asked for.
    pub fn take_unchecked(&mut self) -> Option<Unchecked> {
        let first = self.unchecked.pop_front()?;
        if let Unchecked::File(file) = first
            && let Some(is_unchecked) = self.is_unchecked.get_mut(file as usize)
        {
            *is_unchecked = false;
        }
        Some(first)
    }

    /// The name of a symbolic link that must be read.
    pub fn take_unread(&mut self) -> Option<String> {
        self.unread.pop_front().map(link)
    }

    /// Makes files in the directory of names that come and go.
    pub fn make_files(&mut self, set: &OpenedSet, count: u64) -> Result<(), Errno> {
        for number in MADE_FROM..MADE_FROM + count {
            let flags = OFlags::CREATE | OFlags::TRUNC | super::opened_set::FILE;
            let directory = set.changing(VolatileDirectory::Created)?;
            let name = VolatileDirectory::Created.file_name(number);
            let file = rustix::fs::openat(directory, &name, flags, super::opened_set::FILE_MODE)?;
            // Opening may tell the client what it would have to ask for.
            rustix::fs::fchmod(&file, super::opened_set::FILE_MODE)?;
            self.unchecked.push_back(Unchecked::Made(number));
        }
        Ok(())
    }

    /// Makes symbolic links. Their client knows what it has just made, until
    /// [`change_links`](Self::change_links).
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

    /// Changes those links, and the ones that are always there, by a second name for each. That
    /// must be some clock ticks after they were made, to be seen as a change.
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

    /// Changes one of the links that are always there, by giving it a second name or taking that
    /// away; its own name, and whether it has a second one now.
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

/// The name of a symbolic link: made here, or always there.
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

/// Whether a name is of what was made here.
pub(super) fn is_made_here(number: u64) -> bool {
    number >> 62 == 1
}

/// Directories are listed from behind their first entries, so this is where those end.
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
