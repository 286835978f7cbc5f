//! Resolves names of a load file in the directory under test.
//!
//! Names are passed to the kernel unchanged, relative to a descriptor of the directory under test
//! that only this client uses. Nothing in `clients` is a symbolic link until a load creates one
//! (SYMLINK3). From then on the parent of each name is opened first, refusing links on the path
//! (openat2), as an NFS server does, so that no name can lead out of the tree.
//!
//! Resolving follows Samba: stat first; if the name does not exist, the directory is searched for a
//! name that differs only in case, component by component if the parent does not exist either. Only
//! A to Z have case.

use crate::protocols::local::tree::DIRECTORY;
use crate::protocols::local::tree::listing::{Listing, is_dot};
use filestone_workload::load::wildcard;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flags for opening a file that may not belong to the run; opening a pipe must not block.
pub(super) const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// Name resolution of one client.
#[derive(Debug)]
pub(super) struct NameResolver {
    root: OwnedFd,
    /// Whether a load has created a symbolic link, in any client.
    links: Arc<AtomicBool>,
    /// Whether names are searched case-insensitively.
    resolve: bool,
    listing: Listing,
    /// Results of case-insensitive searches, one per name of a verb; Rename has two.
    found: [Vec<u8>; 2],
    /// Absolute path of the directory under test, with space for a name.
    absolute: Vec<u8>,
    prefix_bytes: usize,
}

/// Result of resolving a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    /// Type of the object, or the error.
    pub what: Result<FileType, Errno>,
    slot: Option<usize>,
}

/// Directory and name for a system call.
pub(super) enum Location<'a> {
    /// Relative to the directory under test.
    Root(BorrowedFd<'a>, &'a [u8]),
    /// Relative to the parent directory, opened without following links.
    Parent(OwnedFd, &'a [u8]),
}

impl Location<'_> {
    /// Returns the directory.
    pub fn directory(&self) -> BorrowedFd<'_> {
        match self {
            Location::Root(directory, _) => *directory,
            Location::Parent(directory, _) => directory.as_fd(),
        }
    }

    /// Returns the name relative to the directory.
    pub fn name(&self) -> &[u8] {
        match self {
            Location::Root(_, name) | Location::Parent(_, name) => name,
        }
    }
}

/// Splits a path into its parent and last component.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => {
            let (parent, last) = path.split_at(slash);
            (parent, last.get(1..).unwrap_or_default())
        }
        None => (b"", path),
    }
}

/// Returns `.` for the directory under test, whose name in a load file is empty.
fn or_dot(path: &[u8]) -> &[u8] {
    if path.is_empty() { b"." } else { path }
}

impl NameResolver {
    pub fn new(root: OwnedFd, directory: &Path, links: Arc<AtomicBool>, resolve: bool) -> Self {
        let mut absolute = directory.as_os_str().as_bytes().to_vec();
        absolute.push(b'/');
        let prefix_bytes = absolute.len();
        Self {
            root,
            links,
            resolve,
            listing: Listing::new(),
            found: [Vec::new(), Vec::new()],
            absolute,
            prefix_bytes,
        }
    }

    /// Returns the directory under test.
    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Announces that names may contain links from now on.
    pub fn expect_links(&self) {
        self.links.store(true, Ordering::SeqCst);
    }

    /// Returns the directory and name for system calls.
    #[inline]
    pub fn locate<'a>(&'a self, path: &'a [u8]) -> Result<Location<'a>, Errno> {
        if !self.links.load(Ordering::Relaxed) {
            return Ok(Location::Root(self.root(), or_dot(path)));
        }
        let (parent, last) = split(path);
        if parent.is_empty() {
            return Ok(Location::Root(self.root(), or_dot(path)));
        }
        let parent = rustix::fs::openat2(
            &self.root,
            parent,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH,
        )?;
        Ok(Location::Parent(parent, last))
    }

    /// Opens a name; links are not followed.
    #[inline]
    pub fn open(&self, path: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let location = self.locate(path)?;
        rustix::fs::openat(
            location.directory(),
            location.name(),
            flags | OFlags::CLOEXEC | OFlags::NOFOLLOW,
            mode,
        )
    }

    /// Returns the attributes of a name; links are not followed.
    #[inline]
    pub fn stat(&self, path: &[u8]) -> Result<rustix::fs::Stat, Errno> {
        let location = self.locate(path)?;
        rustix::fs::statat(
            location.directory(),
            location.name(),
            AtFlags::SYMLINK_NOFOLLOW,
        )
    }

    /// Resolves a name as Samba does. `slot` is 0, or 1 for a verb's second name.
    #[inline]
    pub fn resolve(&mut self, path: &[u8], slot: usize) -> Resolved {
        match self.stat(path) {
            Ok(stat) => Resolved {
                what: Ok(FileType::from_raw_mode(stat.st_mode)),
                slot: None,
            },
            Err(Errno::NOENT) if self.resolve => self.search(path, slot),
            Err(errno) => Resolved {
                what: Err(errno),
                slot: None,
            },
        }
    }

    /// Returns the actual name of `path`.
    #[inline]
    pub fn actual<'a>(&'a self, resolved: &Resolved, path: &'a [u8]) -> &'a [u8] {
        resolved
            .slot
            .and_then(|slot| self.found.get(slot))
            .map_or(path, Vec::as_slice)
    }

    /// Searches case-insensitively for a name that does not exist exactly.
    fn search(&mut self, path: &[u8], slot: usize) -> Resolved {
        let missing = |errno| Resolved {
            what: Err(errno),
            slot: None,
        };
        let (parent, last) = split(path);
        let Some(found) = self.found.get_mut(slot) else {
            return missing(Errno::NOENT);
        };
        let mut name = std::mem::take(found);
        name.clear();
        let mut is_other = false;
        let what = match self.open(parent, DIRECTORY, Mode::empty()) {
            Ok(directory) => {
                name.extend_from_slice(parent);
                self.search_in(directory.as_fd(), last, &mut name)
            }
            Err(Errno::NOENT) => {
                is_other = true;
                self.walk(path, &mut name)
            }
            Err(errno) => Err(errno),
        };
        // Even for a missing name, the actual path of its parent matters, whose case may differ.
        is_other |= what.is_ok();
        if let Some(found) = self.found.get_mut(slot) {
            *found = name;
        }
        Resolved {
            what,
            slot: is_other.then_some(slot),
        }
    }

    /// Appends the entry of `directory` that matches `last` to `name`, or `last` itself if there is
    /// none.
    fn search_in(
        &mut self,
        directory: BorrowedFd<'_>,
        last: &[u8],
        name: &mut Vec<u8>,
    ) -> Result<FileType, Errno> {
        if !name.is_empty() {
            name.push(b'/');
        }
        let mut found = None;
        self.listing.read(directory, |entry, kind| {
            if entry.eq_ignore_ascii_case(last) {
                name.extend_from_slice(entry);
                found = Some(kind);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        match found {
            None => {
                name.extend_from_slice(last);
                Err(Errno::NOENT)
            }
            // Not every file system includes the type in directory entries.
            Some(FileType::Unknown) => self
                .stat(name)
                .map(|stat| FileType::from_raw_mode(stat.st_mode)),
            Some(kind) => Ok(kind),
        }
    }

    /// Resolves component by component, starting at the directory under test.
    fn walk(&mut self, path: &[u8], name: &mut Vec<u8>) -> Result<FileType, Errno> {
        let mut what = Ok(FileType::Directory);
        let mut left = path.split(|byte| *byte == b'/').peekable();
        while let Some(component) = left.next() {
            let directory = self.open(name, DIRECTORY, Mode::empty())?;
            what = self.search_in(directory.as_fd(), component, name);
            if what.is_err() && left.peek().is_some() {
                // The remaining components keep their spelling, because their parent is missing.
                for component in left.by_ref() {
                    name.push(b'/');
                    name.extend_from_slice(component);
                }
            }
        }
        what
    }

    /// Counts entries that match the pattern in the last component of `path`; reads until `most`
    /// have matched.
    pub fn find(&mut self, path: &[u8], most: u64) -> Result<u64, Errno> {
        let (parent, pattern) = split(path);
        let directory = match self.open(parent, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) if self.resolve => {
                let resolved = self.resolve(parent, 0);
                resolved.what?;
                self.open(self.actual(&resolved, parent), DIRECTORY, Mode::empty())?
            }
            opened => opened?,
        };
        let mut matched = 0;
        self.listing.read(directory.as_fd(), |entry, _| {
            matched += u64::from(wildcard::matches(pattern, entry));
            if matched >= most.max(1) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(matched)
    }

    /// Lists a directory, including `.` and `..`, with attributes of each entry as in READDIRPLUS.
    pub fn list_with_attributes(&mut self, path: &[u8]) -> Result<(), Errno> {
        let directory = self.open(path, DIRECTORY, Mode::empty())?;
        self.listing.read(directory.as_fd(), |entry, _| {
            // If another client has removed it in the meantime, it is not listed.
            rustix::fs::statat(&directory, entry, AtFlags::SYMLINK_NOFOLLOW).ok();
            ControlFlow::Continue(())
        })
    }

    /// Whether a directory has entries other than `.`, `..` and `but`.
    pub fn holds_more_than(&mut self, path: &[u8], but: &[u8]) -> Result<bool, Errno> {
        let directory = self.open(path, DIRECTORY, Mode::empty())?;
        let mut more = false;
        self.listing.read(directory.as_fd(), |entry, _| {
            if entry == but || is_dot(entry) {
                return ControlFlow::Continue(());
            }
            more = true;
            ControlFlow::Break(())
        })?;
        Ok(more)
    }

    /// Returns the absolute path, for calls that take no directory descriptor.
    pub fn absolute(&mut self, resolved: &Resolved, path: &[u8]) -> &[u8] {
        let name = resolved
            .slot
            .and_then(|slot| self.found.get(slot))
            .map_or(path, Vec::as_slice);
        self.absolute.truncate(self.prefix_bytes);
        self.absolute.extend_from_slice(name);
        &self.absolute
    }
}
