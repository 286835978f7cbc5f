//! Whose the directory `clients` is.
//!
//! A run makes it, and in it a marker that says which process made it and when.
//! The marker is locked (flock) as long as the run lives: the lock goes with the
//! process however it ends, so that a marker without a lock is what an earlier
//! run has left over. Where the file system has no locks, only a process of this
//! host that is gone is known to be. A directory without a marker is somebody
//! else's.

use super::deletion;
use super::names::DIRECTORY;
use crate::error::RunError;
use crate::host;
use crate::replay::marker::{self, LeftOver, MARKER_MAX_BYTES};
use crate::replay::site::{CLIENTS, MARKER};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// Nobody else has business in it, and nobody else can put links there.
const CLIENTS_MODE: Mode = Mode::from_raw_mode(0o700);

/// `clients`, claimed.
#[derive(Debug)]
pub(super) struct Claim {
    /// The directory `clients`.
    pub clients: OwnedFd,
    /// Holds the lock.
    pub marker: OwnedFd,
    /// The file system that it is on.
    pub device: u64,
}

/// Whose a `clients` is that was there before.
enum Owner {
    /// A run that is going on.
    Run(LeftOver),
    /// A run that is not going on any more; the marker is ours now.
    Nobody(Box<Claim>, LeftOver),
    /// A run of which it is not known whether it goes on.
    Unknown(LeftOver),
    /// Not filestone.
    Somebody,
}

/// Something is wrong with the directory.
pub(super) fn unsuitable(path: &Path, what: &str, help: &str) -> RunError {
    RunError::Unsuitable(format!("{}: {what}", path.display()), Some(help.into()))
}

/// A refusal of the operating system, in words.
pub(super) fn refused(path: &Path, errno: Errno, doing: &str) -> RunError {
    let (what, help) = match errno {
        Errno::NOENT => (
            "there is no such directory".into(),
            "make it first; without a target, a fresh temporary directory is used",
        ),
        Errno::NOTDIR => (
            "is not a directory".into(),
            "a load is replayed in a directory",
        ),
        Errno::ACCESS | Errno::PERM => (
            format!("{doing} is not allowed"),
            "the directory must be writable for who runs filestone",
        ),
        Errno::ROFS => (
            "the file system is mounted read-only".into(),
            "a load changes files; mount it read-write",
        ),
        Errno::NOSPC | Errno::DQUOT => (
            format!("{doing} failed: the file system is full ({errno})"),
            "make room, or use another directory",
        ),
        errno => (
            format!("{doing} failed: {errno}"),
            "use another directory, or see what is wrong with this one",
        ),
    };
    unsuitable(path, &what, help)
}

/// Opens the directory under test.
pub(super) fn open_directory(directory: &Path) -> Result<OwnedFd, RunError> {
    // The one name that may be a link: the user gave it.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::empty())
        .map_err(|errno| refused(directory, errno, "opening it"))
}

/// Makes `clients`, marks it and locks the marker.
pub(super) fn claim(root: BorrowedFd<'_>, directory: &Path) -> Result<Claim, RunError> {
    match rustix::fs::mkdirat(root, CLIENTS, CLIENTS_MODE) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Err(is_there(root, directory)),
        Err(errno) => return Err(refused(directory, errno, "making a directory in it")),
    }
    let result = mark(root);
    result.map_err(|errno| {
        // It was made a moment ago and has nothing in it but perhaps the marker.
        rustix::fs::unlinkat(root, format!("{CLIENTS}/{MARKER}"), AtFlags::empty()).ok();
        rustix::fs::unlinkat(root, CLIENTS, AtFlags::REMOVEDIR).ok();
        refused(directory, errno, "writing into it")
    })
}

fn mark(root: BorrowedFd<'_>) -> Result<Claim, Errno> {
    let clients = rustix::fs::openat(root, CLIENTS, DIRECTORY, Mode::empty())?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let marker = rustix::fs::openat(&clients, MARKER, flags, Mode::from_raw_mode(0o600))?;
    lock(&marker)?;
    let text = marker::text(&host::name(), false);
    let written = rustix::io::pwrite(&marker, text.as_bytes(), 0)?;
    if written != text.len() {
        return Err(Errno::NOSPC);
    }
    let device = rustix::fs::fstat(&clients)?.st_dev;
    Ok(Claim {
        clients,
        marker,
        device,
    })
}

/// Locks a marker; `AGAIN` if its run is going on, and `false` where there are no
/// locks.
fn lock(marker: &OwnedFd) -> Result<bool, Errno> {
    match rustix::fs::flock(marker, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => Ok(false),
        locked => locked.map(|()| true),
    }
}

/// Gives `clients` up and takes it away with all that is in it.
pub(super) fn remove(
    claim: &Claim,
    root: BorrowedFd<'_>,
    directory: &Path,
) -> Result<(), RunError> {
    let path = directory.join(CLIENTS);
    // The marker goes last: what an interruption leaves is still known as ours.
    deletion::empty(claim.clients.as_fd(), MARKER.as_bytes(), claim.device)
        .map_err(|error| unsuitable(&path, &error.to_string(), "remove it by hand"))?;
    rustix::fs::unlinkat(&claim.clients, MARKER, AtFlags::empty())
        .and_then(|()| rustix::fs::unlinkat(root, CLIENTS, AtFlags::REMOVEDIR))
        .map_err(|errno| refused(&path, errno, "removing it"))
}

/// Removes what a run has left over in `directory`: only a `clients` with our
/// marker in it, and only if no run holds it. `None` if there is no `clients`.
pub fn remove_left_over(directory: &Path) -> Result<Option<LeftOver>, RunError> {
    let root = open_directory(directory)?;
    match owner(root.as_fd(), directory) {
        Ok(Owner::Nobody(claim, left_over)) => {
            remove(&claim, root.as_fd(), directory)?;
            Ok(Some(left_over))
        }
        Ok(owner) => Err(complaint(directory, &owner)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(refused(&directory.join(CLIENTS), errno, "looking at it")),
    }
}

/// Why a `clients` that is there cannot be used.
fn is_there(root: BorrowedFd<'_>, directory: &Path) -> RunError {
    match owner(root, directory) {
        Ok(owner) => complaint(directory, &owner),
        Err(errno) => refused(&directory.join(CLIENTS), errno, "looking at it"),
    }
}

fn owner(root: BorrowedFd<'_>, directory: &Path) -> Result<Owner, Errno> {
    let clients = match rustix::fs::openat(root, CLIENTS, DIRECTORY, Mode::empty()) {
        // A file or a link.
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Owner::Somebody),
        opened => opened?,
    };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let marker = match rustix::fs::openat(&clients, MARKER, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP) => return Ok(Owner::Somebody),
        opened => opened?,
    };
    let mut text = [0; MARKER_MAX_BYTES as usize];
    let len = match rustix::io::pread(&marker, &mut text, 0) {
        Err(Errno::ISDIR) => return Ok(Owner::Somebody),
        read => read?,
    };
    let text = text.get(..len).unwrap_or_default();
    let path = directory.join(CLIENTS).display().to_string();
    let left_over = LeftOver::read(path, text);
    // Locked first: a run that is just beginning has not written it yet.
    let is_locked = match lock(&marker) {
        Err(Errno::AGAIN) => return Ok(Owner::Run(left_over.unwrap_or_default())),
        locked => locked?,
    };
    let Some(left_over) = left_over else {
        return Ok(Owner::Somebody);
    };
    match goes_on(is_locked, &left_over, &host::name()) {
        Some(true) => return Ok(Owner::Run(left_over)),
        None => return Ok(Owner::Unknown(left_over)),
        Some(false) => {}
    }
    let device = rustix::fs::fstat(&clients)?.st_dev;
    let claim = Claim {
        clients,
        marker,
        device,
    };
    Ok(Owner::Nobody(Box::new(claim), left_over))
}

/// Whether a run goes on whose marker could be locked, or stands where there are
/// no locks; `None` if that is not known.
fn goes_on(is_locked: bool, run: &LeftOver, host: &str) -> Option<bool> {
    if is_locked {
        Some(false)
    } else {
        run.is_going_on(host)
    }
}

fn complaint(directory: &Path, owner: &Owner) -> RunError {
    let path = directory.join(CLIENTS);
    match owner {
        Owner::Run(run) => unsuitable(
            &path,
            &format!("another run is using it ({})", run.process_in_words()),
            "wait for its end, or use another directory",
        ),
        Owner::Nobody(_, run) => unsuitable(
            &path,
            &format!(
                "was left over by {}, whose run began {}",
                run.process_in_words(),
                run.started_in_words(),
            ),
            "remove it with --remove-leftover, which takes nothing else away",
        ),
        Owner::Unknown(run) => unsuitable(
            &path,
            &format!(
                "left over, or in use, by {}, whose run began {}: this file system has no locks to tell",
                run.process_in_words(),
                run.started_in_words(),
            ),
            "if that run is not going on, remove it by hand",
        ),
        Owner::Somebody => unsuitable(
            &path,
            "was not made by filestone: nothing has been touched",
            "move it away, or use another directory",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_locks_only_a_process_that_is_gone_has_left_its_tree() {
        let run = |text: &str| LeftOver::read(CLIENTS.into(), text.as_bytes()).unwrap();
        let alive = run(&marker::text("here", false));
        assert_eq!(goes_on(true, &alive, "here"), Some(false));
        assert_eq!(goes_on(false, &alive, "here"), Some(true));
        assert_eq!(goes_on(false, &alive, "there"), None);
        let old = run("made by filestone 0\nprocess: 1\n");
        assert_eq!(goes_on(false, &old, "here"), None);
        let said = complaint(Path::new("/d"), &Owner::Unknown(alive));
        assert!(
            said.to_string()
                .contains("left over, or in use, by process")
        );
        assert!(said.help().is_some_and(|help| help.contains("by hand")));
    }
}
