//! Names of a load file and where they lead in the directory under test.
//!
//! Names go to the kernel as they are, relative to one descriptor of the
//! directory under test that belongs to this client alone. Nothing in `clients`
//! is a symbolic link until a load makes one (SYMLINK3): from then on the parent
//! of each name is opened first, refusing links on the way (openat2), as an NFS
//! server does too, and no name can lead out of the tree.
//!
//! Resolving is Samba's: stat; if nothing of that name is there, the directory is
//! searched for a name that differs in case only, component by component if the
//! parent is not there either. Case is that of A to Z.

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

/// How a file is opened that may be somebody else's: a pipe among those must not
/// keep us waiting.
pub(super) const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// The names of one client.
#[derive(Debug)]
pub(super) struct Names {
    root: OwnedFd,
    /// Whether a load has made a symbolic link, in any client.
    links: Arc<AtomicBool>,
    /// Whether names are searched for without regard to case.
    resolve: bool,
    listing: Listing,
    /// What a search without regard to case has found: one place for each name of
    /// a verb, Rename having two.
    found: [Vec<u8>; 2],
    /// The absolute path of the directory under test, with room for a name.
    absolute: Vec<u8>,
    prefix_bytes: usize,
}

/// What a name was resolved to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    /// What is there, or why nothing is.
    pub what: Result<FileType, Errno>,
    slot: Option<usize>,
}

/// Where a system call finds a name.
pub(super) enum Location<'a> {
    /// From the directory under test on.
    Root(BorrowedFd<'a>, &'a [u8]),
    /// In its parent directory, which was reached without following links.
    Parent(OwnedFd, &'a [u8]),
}

impl Location<'_> {
    /// The directory from which on it is named.
    pub fn directory(&self) -> BorrowedFd<'_> {
        match self {
            Location::Root(directory, _) => *directory,
            Location::Parent(directory, _) => directory.as_fd(),
        }
    }

    /// Its name there.
    pub fn name(&self) -> &[u8] {
        match self {
            Location::Root(_, name) | Location::Parent(_, name) => name,
        }
    }
}

/// Directory and last component.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => {
            let (parent, last) = path.split_at(slash);
            (parent, last.get(1..).unwrap_or_default())
        }
        None => (b"", path),
    }
}

/// The directory under test has no name in a load file, but one in system calls.
fn or_dot(path: &[u8]) -> &[u8] {
    if path.is_empty() { b"." } else { path }
}

impl Names {
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

    /// The directory under test.
    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// From now on names may lead over links.
    pub fn expect_links(&self) {
        self.links.store(true, Ordering::SeqCst);
    }

    /// Where system calls find it.
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

    /// Opens what it names; a link is not followed.
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

    /// What it names; a link is not followed.
    #[inline]
    pub fn stat(&self, path: &[u8]) -> Result<rustix::fs::Stat, Errno> {
        let location = self.locate(path)?;
        rustix::fs::statat(
            location.directory(),
            location.name(),
            AtFlags::SYMLINK_NOFOLLOW,
        )
    }

    /// Looks for a name as Samba does. `slot` is 0, or 1 for a verb's second name.
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

    /// The name that was meant by `path`.
    #[inline]
    pub fn actual<'a>(&'a self, resolved: &Resolved, path: &'a [u8]) -> &'a [u8] {
        resolved
            .slot
            .and_then(|slot| self.found.get(slot))
            .map_or(path, Vec::as_slice)
    }

    /// Looks for a name without regard to case; the exact one is not there.
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
        // A name that is not there leads to where it would be: its parent may be
        // spelled differently.
        is_other |= what.is_ok();
        if let Some(found) = self.found.get_mut(slot) {
            *found = name;
        }
        Resolved {
            what,
            slot: is_other.then_some(slot),
        }
    }

    /// Adds to `name` what is called `last` in `directory`, or `last` itself.
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
            // Not every file system says in the directory what an entry is.
            Some(FileType::Unknown) => self
                .stat(name)
                .map(|stat| FileType::from_raw_mode(stat.st_mode)),
            Some(kind) => Ok(kind),
        }
    }

    /// Component by component from the directory under test on.
    fn walk(&mut self, path: &[u8], name: &mut Vec<u8>) -> Result<FileType, Errno> {
        let mut what = Ok(FileType::Directory);
        let mut left = path.split(|byte| *byte == b'/').peekable();
        while let Some(component) = left.next() {
            let directory = self.open(name, DIRECTORY, Mode::empty())?;
            what = self.search_in(directory.as_fd(), component, name);
            if what.is_err() && left.peek().is_some() {
                // The rest keeps its spelling; what is missing is its parent.
                for component in left.by_ref() {
                    name.push(b'/');
                    name.extend_from_slice(component);
                }
            }
        }
        what
    }

    /// Whether anything in its directory matches the pattern in the last
    /// component of `path`. Entries are read until `most` have matched.
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

    /// The directory's entries, `.` and `..` too, each looked up as READDIRPLUS
    /// does.
    pub fn list_with_attributes(&mut self, path: &[u8]) -> Result<(), Errno> {
        let directory = self.open(path, DIRECTORY, Mode::empty())?;
        self.listing.read(directory.as_fd(), |entry, _| {
            // Another client may have removed it meanwhile: then it is not listed.
            rustix::fs::statat(&directory, entry, AtFlags::SYMLINK_NOFOLLOW).ok();
            ControlFlow::Continue(())
        })
    }

    /// What a directory has in it beside `.`, `..` and `but`.
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

    /// The absolute path, for calls that take no directory to start from.
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
