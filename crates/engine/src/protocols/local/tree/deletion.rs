//! Removal of directory trees, limited to the names that the run can have created.
//!
//! Links are removed, never followed. File systems mounted inside are never entered. Every name has
//! a single component relative to an open directory. The depth of a tree requires neither stack nor
//! descriptors: only one directory is open at a time, and `..` must lead back to the directory it
//! was entered from; otherwise an error is returned.

use super::DIRECTORY;
use super::listing::{Listing, is_dot};
use super::nfs_mount;
use filestone_plan::made::{Kept, MadeNames};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, SeekFrom};
use rustix::io::Errno;
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;

/// Maximum number of listings that begin with the same removed name: such a server lists names that
/// it has removed, and would do so forever.
const REPEATS_MAX: u32 = 100;

/// Error of removing a tree.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoveError {
    /// The operating system refused.
    #[error("cannot remove {name}: {errno}")]
    Refused {
        /// Name relative to the top of the tree.
        name: String,
        /// Error of the operating system.
        errno: Errno,
    },
    /// Another file system is mounted there.
    #[error(
        "cannot remove {name}: a file system is mounted there, and nothing in it has been touched"
    )]
    Mounted {
        /// Name relative to the top of the tree.
        name: String,
    },
    /// A process has the file open, as on an NFS mount (`nfs_mount`).
    #[error("cannot remove {name}: the file is in use, or something is mounted on it")]
    Busy {
        /// Name relative to the top of the tree.
        name: String,
    },
    /// The removal succeeds, but the name is still listed.
    #[error("cannot remove {name}: it is listed again each time it was removed")]
    ReappearsInListing {
        /// Name relative to the top of the tree.
        name: String,
    },
}

impl RemoveError {
    /// Converts the error of removing a file.
    fn file(name: &[u8], errno: Errno) -> Self {
        let name = String::from_utf8_lossy(name).into_owned();
        match errno {
            Errno::BUSY => RemoveError::Busy { name },
            errno => RemoveError::Refused { name, errno },
        }
    }

    /// Converts the error of any other call, for a directory.
    fn refused(name: &[u8], errno: Errno) -> Self {
        let name = String::from_utf8_lossy(name).into_owned();
        match errno {
            // rmdir and rename return this for a mount point.
            Errno::BUSY | Errno::XDEV => RemoveError::Mounted { name },
            errno => RemoveError::Refused { name, errno },
        }
    }

    /// Prepends `directory` to the name.
    fn below(mut self, directory: &[u8]) -> Self {
        if directory.is_empty() {
            return self;
        }
        let (RemoveError::Refused { name, .. }
        | RemoveError::Mounted { name }
        | RemoveError::Busy { name }
        | RemoveError::ReappearsInListing { name }) = &mut self;
        *name = format!("{}/{name}", String::from_utf8_lossy(directory));
        self
    }

    /// Whether the file was removed while open, and is still open.
    pub fn is_still_open(&self) -> bool {
        match self {
            RemoveError::Busy { name } => {
                let last = name.rsplit('/').next().unwrap_or_default();
                nfs_mount::is_still_open(last.as_bytes())
            }
            RemoveError::Refused { .. }
            | RemoveError::Mounted { .. }
            | RemoveError::ReappearsInListing { .. } => false,
        }
    }

    /// Converts to an error of the operating system.
    pub fn errno(&self) -> Errno {
        match self {
            RemoveError::Refused { errno, .. } => *errno,
            RemoveError::Mounted { .. } | RemoveError::Busy { .. } => Errno::BUSY,
            RemoveError::ReappearsInListing { .. } => Errno::IO,
        }
    }
}

/// Scope of a removal: one file system, and the names that the run can have created.
pub(crate) struct RemovalScope<'m> {
    pub device: u64,
    pub made: &'m MadeNames,
}

/// A directory on the path down.
struct Level {
    name: Vec<u8>,
    /// Device and inode.
    identity: (u64, u64),
    /// Non-empty directories in it that have not been entered yet.
    directories: Vec<Vec<u8>>,
    /// Directories in it that are kept because of foreign contents.
    staying: Vec<Vec<u8>>,
    /// Hash of the first name of the last listing, and the number of consecutive listings that
    /// began with it.
    first: u64,
    repeats: u32,
}

/// Result of listing a directory once.
#[derive(Default)]
struct Pass {
    kept: Kept,
    first: Option<u64>,
    /// A file that was removed while open, and is still open.
    still_open: Option<Vec<u8>>,
}

impl RemovalScope<'_> {
    /// Removes `name` in `parent`, which is at `path` below the run's directory, with all contents
    /// that the run can have created. Returns the kept names. Succeeds if the name does not exist.
    pub fn remove_tree(
        &self,
        parent: BorrowedFd<'_>,
        name: &[u8],
        path: &[u8],
    ) -> Result<Kept, RemoveError> {
        let mut kept = Kept::default();
        if !self.made.has(path) {
            kept.add(path);
            return Ok(kept);
        }
        if remove_tree(parent, name, FileType::Directory)? {
            return Ok(kept);
        }
        let Some(top) = enter(parent, name, self.device)? else {
            return Ok(kept);
        };
        let (inside, still_open) = self.walk(top, path, b"")?;
        kept.merge(inside);
        if kept.is_empty() {
            remove_empty(parent, name, still_open.as_deref(), path, &mut kept)?;
        }
        Ok(kept)
    }

    /// Removes all entries of `top`, the run's directory, that the run can have created, except
    /// `keep`. Returns the kept names.
    pub fn empty(&self, top: BorrowedFd<'_>, keep: &[u8]) -> Result<Kept, RemoveError> {
        let refused = |errno| RemoveError::refused(b".", errno);
        let top = rustix::fs::openat(top, c".", DIRECTORY, Mode::empty()).map_err(refused)?;
        self.walk(top, b"", keep).map(|(kept, _)| kept)
    }

    /// Empties the directory at `path` below the run's directory. Returns the kept names, and a
    /// file in it that is still open.
    fn walk(
        &self,
        top: OwnedFd,
        path: &[u8],
        keep: &[u8],
    ) -> Result<(Kept, Option<Vec<u8>>), RemoveError> {
        let mut path = path.to_vec();
        let mut levels = vec![Level::new(top.as_fd(), b"")?];
        let (mut here, mut kept, mut listing) = (top, Kept::default(), Listing::new());
        loop {
            let keep = if levels.len() == 1 { keep } else { b"" };
            let Some(level) = levels.last_mut() else {
                return Ok((kept, None));
            };
            if let Some(name) = level.directories.pop() {
                let entered = enter(here.as_fd(), &name, self.device);
                if let Some(directory) = entered.map_err(|error| error.below(&path))? {
                    levels.push(Level::new(directory.as_fd(), &name)?);
                    push(&mut path, &name);
                    here = directory;
                }
                continue;
            }
            let pass = self.pass(here.as_fd(), &path, keep, level, &mut listing);
            let pass = pass.map_err(|error| error.below(&path))?;
            if pass.first.is_some() {
                continue;
            }
            let Some(done) = levels.pop() else { continue };
            let Some(above) = levels.last_mut() else {
                kept.merge(pass.kept);
                return Ok((kept, pass.still_open));
            };
            here = above.come_back(here).map_err(|error| error.below(&path))?;
            let before = kept.count;
            let stays = !pass.kept.is_empty() || !done.staying.is_empty();
            kept.merge(pass.kept);
            if !stays {
                let still_open = pass.still_open.as_deref();
                remove_empty(here.as_fd(), &done.name, still_open, &path, &mut kept)?;
            }
            if stays || kept.count > before {
                above.staying.push(done.name);
            }
            let parent = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            path.truncate(parent);
        }
    }

    /// Lists a directory once and removes the names that the run can have created; non-empty
    /// directories are queued. A listing may miss entries of a directory that changes at the same
    /// time.
    fn pass(
        &self,
        here: BorrowedFd<'_>,
        path: &[u8],
        keep: &[u8],
        level: &mut Level,
        listing: &mut Listing,
    ) -> Result<Pass, RemoveError> {
        let (mut pass, mut result) = (Pass::default(), Ok(()));
        let mut at = path.to_vec();
        rustix::fs::seek(here, SeekFrom::Start(0))
            .and_then(|_| {
                listing.read(here, |name, kind| {
                    if is_dot(name) || name == keep || level.staying.iter().any(|own| own == name) {
                        return ControlFlow::Continue(());
                    }
                    if nfs_mount::is_still_open(name) {
                        pass.still_open = Some(name.into());
                        return ControlFlow::Continue(());
                    }
                    at.truncate(path.len());
                    push(&mut at, name);
                    if !self.made.has(&at) {
                        pass.kept.add(&at);
                        return ControlFlow::Continue(());
                    }
                    result = level.remove(here, name, kind, &mut pass.first);
                    if result.is_err() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                })
            })
            .map_err(|errno| RemoveError::refused(b"directory", errno))?;
        result.map(|()| pass)
    }
}

impl Level {
    fn new(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Self, RemoveError> {
        let identity = identity(directory).map_err(|errno| RemoveError::refused(name, errno))?;
        Ok(Self {
            name: name.into(),
            identity,
            directories: Vec::new(),
            staying: Vec::new(),
            first: 0,
            repeats: 0,
        })
    }

    /// Removes a name from it, or queues a non-empty directory.
    fn remove(
        &mut self,
        here: BorrowedFd<'_>,
        name: &[u8],
        kind: FileType,
        first: &mut Option<u64>,
    ) -> Result<(), RemoveError> {
        if first.is_none() {
            let hash = hash_of(name);
            *first = Some(hash);
            self.repeats = if hash == self.first {
                self.repeats + 1
            } else {
                0
            };
            self.first = hash;
        }
        if self.repeats >= REPEATS_MAX {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(RemoveError::ReappearsInListing { name });
        }
        if !remove_tree(here, name, kind)? {
            self.directories.push(name.into());
        }
        Ok(())
    }

    /// Returns to this directory from one below it; an error if that has been moved.
    fn come_back(&self, below: OwnedFd) -> Result<OwnedFd, RemoveError> {
        let refused = |errno| RemoveError::refused(b"..", errno);
        let above = rustix::fs::openat(&below, c"..", DIRECTORY, Mode::empty()).map_err(refused)?;
        if identity(above.as_fd()).map_err(refused)? == self.identity {
            Ok(above)
        } else {
            Err(refused(Errno::STALE))
        }
    }
}

fn identity(directory: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    let status = rustix::fs::fstat(directory)?;
    Ok((status.st_dev, status.st_ino))
}

/// Appends a component to a path.
fn push(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Hashes a name, since names are only compared.
fn hash_of(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name);
    hasher.finish()
}

/// Removes a file, a link or an empty directory. Returns `false` for a non-empty directory.
pub(crate) fn remove_tree(
    parent: BorrowedFd<'_>,
    name: &[u8],
    kind: FileType,
) -> Result<bool, RemoveError> {
    let may_be_directory = matches!(kind, FileType::Directory | FileType::Unknown);
    if may_be_directory {
        match nfs_mount::unlink(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => return Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(false),
            Err(Errno::NOTDIR) => {}
            Err(errno) => return Err(RemoveError::refused(name, errno)),
        }
    }
    match nfs_mount::unlink(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // A file has become a directory since the listing.
        Err(Errno::ISDIR) if !may_be_directory => Ok(false),
        Err(errno) => Err(RemoveError::file(name, errno)),
    }
}

/// Opens a directory to empty it; `None` if it is gone.
pub(crate) fn enter(
    parent: BorrowedFd<'_>,
    name: &[u8],
    device: u64,
) -> Result<Option<OwnedFd>, RemoveError> {
    let refused = |errno| RemoveError::refused(name, errno);
    let directory = match rustix::fs::openat(parent, name, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.map_err(refused)?,
    };
    let found = rustix::fs::fstat(&directory).map_err(refused)?.st_dev;
    if found != device {
        return Err(RemoveError::refused(name, Errno::XDEV));
    }
    Ok(Some(directory))
}

/// Removes the emptied directory at `path` below the run's directory. A directory in which another
/// entry has just been created is kept.
fn remove_empty(
    parent: BorrowedFd<'_>,
    name: &[u8],
    still_open: Option<&[u8]>,
    path: &[u8],
    kept: &mut Kept,
) -> Result<(), RemoveError> {
    match nfs_mount::unlink(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(Errno::NOTEMPTY | Errno::EXIST) => match still_open {
            Some(file) => Err(RemoveError::file(file, Errno::BUSY).below(path)),
            None => {
                kept.add(path);
                Ok(())
            }
        },
        Err(errno) => Err(RemoveError::refused(path, errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_busy_is_in_use_and_a_directory_that_is_has_something_mounted_on_it() {
        let say = |error: RemoveError| {
            assert_eq!(error.errno(), Errno::BUSY);
            error.below(b"client0").to_string()
        };
        let file = say(RemoveError::file(b".nfs0001", Errno::BUSY));
        assert!(file.starts_with("cannot remove client0/.nfs0001: the file is in use"));
        let directory = say(RemoveError::refused(b"dir", Errno::BUSY));
        assert!(directory.starts_with("cannot remove client0/dir: a file system is mounted"));
    }
}
