//! A file set taken away with system calls: what is in its directories and has a name that we
//! give, and the directories. What has another name stays, and so do the directories that it
//! is in.
//!
//! Links are removed, never followed, and file systems mounted inside are never entered. The
//! same over a connection of our own is `prepare::file_set::removal`'s.

use super::place::refused;
use crate::error::RunError;
use crate::workspace::local::LocalTree;
use crate::workspace::local::deletion::{self, NotRemoved};
use crate::workspace::local::listing::{Listing, is_dot};
use crate::workspace::local::nfs_mount;
use crate::workspace::set_directory::SetDirectory;
use filestone_model::file_set::{Part, client_of};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, SeekFrom};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Names kept in memory before they are removed.
const BATCH: usize = 10_000;
/// Times that a directory is listed and emptied: then its server lists what it has removed.
/// So many batches hold more names than any client has.
const PASSES_MAX: u32 = 100_000;

/// Names, with what they are.
type Entries = Vec<(Box<[u8]>, FileType)>;

/// A directory that is held open.
#[derive(Clone, Copy)]
struct Directory<'a> {
    handle: BorrowedFd<'a>,
    path: &'a Path,
    /// The file system that it must be on.
    device: u64,
}

/// Removes a set. What has a name in it that we do not give stays, with the directories that it
/// is in, and is an error; the set is given up then.
pub(super) fn remove(mut claim: SetDirectory<LocalTree>) -> Result<(), RunError> {
    let device = rustix::fs::fstat(&claim.directory).map_or(0, |status| status.st_dev);
    let removed = empty(claim.directory.as_fd(), Path::new(&claim.path), device)
        .and_then(|()| claim.remove(&mut LocalTree));
    if removed.is_err() {
        // The first error is the one to report.
        let _ = claim.give_up(&mut LocalTree);
    }
    removed
}

/// Takes away the directories of all clients.
fn empty(set: BorrowedFd<'_>, path: &Path, device: u64) -> Result<(), RunError> {
    let set = Directory {
        handle: set,
        path,
        device,
    };
    set.remove_directories(
        |name| client_of(name).is_some(),
        |client, _| client.empty_client(),
    )
}

/// An error if there is anything else in the directory than these names.
fn check_empty_but(directory: BorrowedFd<'_>, path: &Path, names: &[&str]) -> Result<(), RunError> {
    let is_foreign = |name: &[u8]| {
        let mut names = names.iter();
        // They go by themselves.
        !nfs_mount::is_still_open(name) && !names.any(|known| known.as_bytes() == name)
    };
    let directory = Directory {
        handle: directory,
        path,
        device: 0,
    };
    let foreign = directory.names(|name, _| is_foreign(name))?;
    match foreign.first() {
        None => Ok(()),
        Some((name, _)) => Err(is_foreign_at(&directory.at(name))),
    }
}

fn unsuitable(path: &Path, what: &str, help: &str) -> RunError {
    RunError::Unsuitable(format!("{}: {what}", path.display()), Some(help.into()))
}

/// Nothing is taken away that we have not made.
fn is_foreign_at(path: &Path) -> RunError {
    unsuitable(
        path,
        "was not made by filestone: it has not been touched",
        "move it away; the rest of the file set can be removed then",
    )
}

impl Directory<'_> {
    fn at(&self, name: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(name))
    }

    fn not_removed(&self, error: &NotRemoved) -> RunError {
        unsuitable(self.path, &error.to_string(), "remove it by hand")
    }

    /// The entries that are wanted, up to a batch of them, with what they are.
    fn names(&self, is_wanted: impl Fn(&[u8], FileType) -> bool) -> Result<Entries, RunError> {
        let mut names = Entries::new();
        rustix::fs::seek(self.handle, SeekFrom::Start(0))
            .and_then(|_| {
                Listing::new().read(self.handle, |name, kind| {
                    if !is_dot(name) && is_wanted(name, self.kind(name, kind)) {
                        names.push((name.into(), kind));
                    }
                    match names.len() < BATCH {
                        true => ControlFlow::Continue(()),
                        false => ControlFlow::Break(()),
                    }
                })
            })
            .map_err(|errno| refused(self.path, errno, "listing it"))?;
        Ok(names)
    }

    /// What an entry is, of a file system too that does not say so in its listings.
    fn kind(&self, name: &[u8], listed: FileType) -> FileType {
        if listed != FileType::Unknown {
            return listed;
        }
        let status = rustix::fs::statat(self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        status.map_or(listed, |status| FileType::from_raw_mode(status.st_mode))
    }

    /// Shows the entries that are wanted, again and again, until there are none: a directory
    /// that changes while it is read may skip some.
    fn each_until_none(
        &self,
        is_wanted: impl Fn(&[u8], FileType) -> bool,
        mut each: impl FnMut(&[u8], FileType) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        for _ in 0..PASSES_MAX {
            let names = self.names(&is_wanted)?;
            if names.is_empty() {
                return Ok(());
            }
            for (name, kind) in names {
                each(&name, kind)?;
            }
        }
        let what = "names that were removed are listed again and again";
        Err(unsuitable(self.path, what, "remove it by hand"))
    }

    /// Removes the directories that are ours, after emptying them.
    fn remove_directories(
        &self,
        is_ours: impl Fn(&[u8]) -> bool,
        empty: impl Fn(&Directory<'_>, &[u8]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        self.each_until_none(
            |name, kind| kind == FileType::Directory && is_ours(name),
            |name, _| {
                let entered = deletion::enter(self.handle, name, self.device);
                let entered = entered.map_err(|error| self.not_removed(&error))?;
                let Some(directory) = entered else {
                    return Ok(());
                };
                let path = self.at(name);
                let directory = Directory {
                    handle: directory.as_fd(),
                    path: &path,
                    device: self.device,
                };
                empty(&directory, name)?;
                match rustix::fs::unlinkat(self.handle, name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT) => Ok(()),
                    Err(Errno::NOTEMPTY | Errno::EXIST) => Err(directory.has_something_in_it()),
                    Err(errno) => Err(refused(&path, errno, "removing it")),
                }
            },
        )
    }

    fn empty_client(&self) -> Result<(), RunError> {
        self.remove_directories(
            |name| Part::of(name).is_some(),
            |part, name| part.empty_part(name),
        )
    }

    fn empty_part(&self, name: &[u8]) -> Result<(), RunError> {
        let Some(part) = Part::of(name) else {
            return Ok(());
        };
        self.each_until_none(
            |name, _| part.gives(name),
            |name, kind| match deletion::take_away(self.handle, name, kind) {
                Ok(true) => Ok(()),
                Ok(false) => Err(is_foreign_at(&self.at(name).join("*"))),
                Err(error) => Err(self.not_removed(&error)),
            },
        )
    }

    /// Names what is in the way.
    fn has_something_in_it(&self) -> RunError {
        match check_empty_but(self.handle, self.path, &[]) {
            Err(error) => error,
            Ok(()) => unsuitable(
                self.path,
                "a file in it is in use",
                "remove it by hand when it is not any more",
            ),
        }
    }
}
