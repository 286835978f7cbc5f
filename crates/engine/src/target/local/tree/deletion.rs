//! Trees taken away.
//!
//! Links are removed, never followed; file systems mounted inside are never
//! entered; nothing is named by more than one component below a directory that
//! is held open. The depth of a tree costs neither stack nor memory nor
//! descriptors: a directory that is not empty is moved up to the top of the tree
//! before it is emptied, so that three directories at most are open at a time.

use super::DIRECTORY;
use super::listing::{Listing, is_dot};
use super::nfs_mount;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, SeekFrom};
use rustix::io::Errno;
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;

/// Names tried for a directory that is moved up, when something in the way has
/// the same name.
const NAME_TRIES: u64 = 1000;

/// Times that a listing may begin with the same name that was removed: then its server
/// lists what it has removed, and would do so for ever.
const REPEATS_MAX: u32 = 100;

/// Why a tree is still there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRemoved {
    /// The operating system refused.
    #[error("cannot remove {name}: {errno}")]
    Refused {
        /// Its name, from the top of the tree on as it is now.
        name: String,
        /// What the operating system said.
        errno: Errno,
    },
    /// Another file system is mounted there.
    #[error(
        "cannot remove {name}: a file system is mounted there, and nothing in it has been touched"
    )]
    Mounted {
        /// Its name, from the top of the tree on as it is now.
        name: String,
    },
    /// Somebody holds a file, as on a mount of NFS (`nfs_mount`).
    #[error("cannot remove {name}: the file is in use, or something is mounted on it")]
    InUse {
        /// Its name, from the top of the tree on as it is now.
        name: String,
    },
    /// Removing it succeeds, and it is there again.
    #[error("cannot remove {name}: it is listed again each time it was removed")]
    ListedAgain {
        /// Its name, from the top of the tree on as it is now.
        name: String,
    },
}

impl NotRemoved {
    /// What unlink says of a file.
    fn file(name: &[u8], errno: Errno) -> Self {
        let name = String::from_utf8_lossy(name).into_owned();
        match errno {
            Errno::BUSY => NotRemoved::InUse { name },
            errno => NotRemoved::Refused { name, errno },
        }
    }

    /// What any other call says, about a directory.
    fn refused(name: &[u8], errno: Errno) -> Self {
        let name = String::from_utf8_lossy(name).into_owned();
        match errno {
            // rmdir and rename say so of a directory that something is mounted on.
            Errno::BUSY | Errno::XDEV => NotRemoved::Mounted { name },
            errno => NotRemoved::Refused { name, errno },
        }
    }

    /// The same, seen from the directory above `directory`.
    fn below(mut self, directory: &[u8]) -> Self {
        let (NotRemoved::Refused { name, .. }
        | NotRemoved::Mounted { name }
        | NotRemoved::InUse { name }
        | NotRemoved::ListedAgain { name }) = &mut self;
        *name = format!("{}/{name}", String::from_utf8_lossy(directory));
        self
    }

    /// Whether it is a file that was removed while it was open, and still is.
    pub fn is_still_open(&self) -> bool {
        match self {
            NotRemoved::InUse { name } => {
                let last = name.rsplit('/').next().unwrap_or_default();
                nfs_mount::is_still_open(last.as_bytes())
            }
            NotRemoved::Refused { .. }
            | NotRemoved::Mounted { .. }
            | NotRemoved::ListedAgain { .. } => false,
        }
    }

    /// As an error of the operating system.
    pub fn errno(&self) -> Errno {
        match self {
            NotRemoved::Refused { errno, .. } => *errno,
            NotRemoved::Mounted { .. } | NotRemoved::InUse { .. } => Errno::BUSY,
            NotRemoved::ListedAgain { .. } => Errno::IO,
        }
    }
}

/// Removes `name` in `parent` with all that is in it, on the file system `device`
/// only. Well done too if there is none.
pub(crate) fn remove_tree(
    parent: BorrowedFd<'_>,
    name: &[u8],
    device: u64,
) -> Result<(), NotRemoved> {
    if take_away(parent, name, FileType::Directory)? {
        return Ok(());
    }
    let Some(top) = enter(parent, name, device)? else {
        return Ok(());
    };
    empty(top.as_fd(), b"", device).map_err(|error| error.below(name))?;
    remove_empty(parent, name)
}

/// Removes all that is in `top` but the entry `keep`.
pub(super) fn empty(top: BorrowedFd<'_>, keep: &[u8], device: u64) -> Result<(), NotRemoved> {
    let mut below = Below {
        top,
        device,
        listing: Listing::new(),
        moved: 0,
    };
    let keeps = |name: &[u8]| is_dot(name) || name == keep;
    each_until_none(top, &mut Listing::new(), &keeps, |name, kind| {
        if take_away(top, name, kind)? {
            Ok(())
        } else {
            below.remove(name)
        }
    })
}

/// The directories right below the top.
struct Below<'a> {
    top: BorrowedFd<'a>,
    device: u64,
    listing: Listing,
    moved: u64,
}

impl Below<'_> {
    /// Removes one that is not empty; directories in it that are not empty either
    /// move up to the top and have their turn there.
    fn remove(&mut self, name: &[u8]) -> Result<(), NotRemoved> {
        let Some(directory) = enter(self.top, name, self.device)? else {
            return Ok(());
        };
        let (top, moved) = (self.top, &mut self.moved);
        each_until_none(
            directory.as_fd(),
            &mut self.listing,
            &is_dot,
            |entry, kind| {
                if take_away(directory.as_fd(), entry, kind)? {
                    Ok(())
                } else {
                    move_up(directory.as_fd(), entry, top, moved)
                }
            },
        )
        .map_err(|error| error.below(name))?;
        remove_empty(self.top, name)
    }
}

/// Shows all entries but those it `keeps`, again and again, until none is left:
/// a directory that changes while it is read may skip some.
fn each_until_none(
    directory: BorrowedFd<'_>,
    listing: &mut Listing,
    keeps: &dyn Fn(&[u8]) -> bool,
    mut remove: impl FnMut(&[u8], FileType) -> Result<(), NotRemoved>,
) -> Result<(), NotRemoved> {
    let (mut first_before, mut repeats) = (0, 0);
    loop {
        let mut first = None;
        let mut result = Ok(());
        rustix::fs::seek(directory, SeekFrom::Start(0))
            .and_then(|_| {
                listing.read(directory, |name, kind| {
                    if keeps(name) {
                        return ControlFlow::Continue(());
                    }
                    if first.is_none() {
                        let hash = hash_of(name);
                        first = Some(hash);
                        repeats = if hash == first_before { repeats + 1 } else { 0 };
                        first_before = hash;
                    }
                    result = if repeats < REPEATS_MAX {
                        remove(name, kind)
                    } else {
                        Err(NotRemoved::ListedAgain {
                            name: String::from_utf8_lossy(name).into_owned(),
                        })
                    };
                    if result.is_err() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                })
            })
            .map_err(|errno| NotRemoved::refused(b"directory", errno))?;
        result?;
        if first.is_none() {
            return Ok(());
        }
    }
}

/// Names are only compared, and not kept.
fn hash_of(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name);
    hasher.finish()
}

/// Removes a file, a link or an empty directory; says `false` of a directory that
/// is not empty.
pub(crate) fn take_away(
    parent: BorrowedFd<'_>,
    name: &[u8],
    kind: FileType,
) -> Result<bool, NotRemoved> {
    let may_be_directory = matches!(kind, FileType::Directory | FileType::Unknown);
    if may_be_directory {
        match nfs_mount::unlink(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => return Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(false),
            Err(Errno::NOTDIR) => {}
            Err(errno) => return Err(NotRemoved::refused(name, errno)),
        }
    }
    match nfs_mount::unlink(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        // What was a file when the directory was read has become a directory.
        Err(Errno::ISDIR) if !may_be_directory => Ok(false),
        Err(errno) => Err(NotRemoved::file(name, errno)),
    }
}

/// Opens a directory in order to empty it; `None` if it is gone.
pub(crate) fn enter(
    parent: BorrowedFd<'_>,
    name: &[u8],
    device: u64,
) -> Result<Option<OwnedFd>, NotRemoved> {
    let refused = |errno| NotRemoved::refused(name, errno);
    let directory = match rustix::fs::openat(parent, name, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.map_err(refused)?,
    };
    let found = rustix::fs::fstat(&directory).map_err(refused)?.st_dev;
    if found != device {
        return Err(NotRemoved::refused(name, Errno::XDEV));
    }
    Ok(Some(directory))
}

fn remove_empty(parent: BorrowedFd<'_>, name: &[u8]) -> Result<(), NotRemoved> {
    match nfs_mount::unlink(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(NotRemoved::refused(name, errno)),
    }
}

fn move_up(
    parent: BorrowedFd<'_>,
    name: &[u8],
    top: BorrowedFd<'_>,
    moved: &mut u64,
) -> Result<(), NotRemoved> {
    let mut last = Errno::EXIST;
    for _ in 0..NAME_TRIES {
        *moved += 1;
        let above = format!(".filestone-removing-{moved}");
        match rustix::fs::renameat(parent, name, top, above) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            // An empty directory in the way would be replaced, which is as good.
            Err(errno @ (Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR)) => last = errno,
            Err(errno) => return Err(NotRemoved::refused(name, errno)),
        }
    }
    Err(NotRemoved::refused(name, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_busy_is_in_use_and_a_directory_that_is_has_something_mounted_on_it() {
        let say = |error: NotRemoved| {
            assert_eq!(error.errno(), Errno::BUSY);
            error.below(b"client0").to_string()
        };
        let file = say(NotRemoved::file(b".nfs0001", Errno::BUSY));
        assert!(file.starts_with("cannot remove client0/.nfs0001: the file is in use"));
        let directory = say(NotRemoved::refused(b"dir", Errno::BUSY));
        assert!(directory.starts_with("cannot remove client0/dir: a file system is mounted"));
    }
}
