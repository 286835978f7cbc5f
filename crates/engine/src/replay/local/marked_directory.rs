//! A directory that a run has made, with a marker in it by which it is known again:
//! `clients` of a replay, and the file set of a mix.
//!
//! The marker is locked (flock) as long as the run lives: the lock goes with the process
//! however it ends. A run over an NFS connection of its own locks nothing, and its marker
//! looks the same through a mount; only a marker that says that it was locked is free for
//! sure once it can be. Of others, and where there are no locks, the process is asked for.

use super::nfs_mount;
use crate::workspace::marker::{LockHolder, MARKER_MAX_BYTES};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

const MARKER_MODE: Mode = Mode::from_raw_mode(0o600);

/// For writing as well: without that an NFS mount gives no lock.
const MARKER_FLAGS: OFlags = OFlags::RDWR
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// Makes a marker that is not there yet.
pub(crate) fn make_marker(directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = MARKER_FLAGS | OFlags::CREATE | OFlags::EXCL;
    rustix::fs::openat(directory, name, flags, MARKER_MODE)
}

/// Opens the marker of an earlier run; `None` if what is there, or is not there, cannot
/// be one.
pub(crate) fn open_marker(directory: &OwnedFd, name: &str) -> Result<Option<OwnedFd>, Errno> {
    match rustix::fs::openat(directory, name, MARKER_FLAGS, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => Ok(None),
        opened => opened.map(Some),
    }
}

/// What a marker says.
pub(crate) fn read_marker(marker: &OwnedFd) -> Result<String, Errno> {
    let mut text = vec![0; MARKER_MAX_BYTES as usize];
    let len = rustix::io::pread(marker, &mut *text, 0)?;
    text.truncate(len);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Who holds the lock on a marker that this process has locked, or could not.
pub(crate) fn holder(is_locked: bool) -> LockHolder {
    if is_locked {
        LockHolder::Us
    } else {
        LockHolder::None
    }
}

/// Takes away a directory in which there is nothing any more but its marker. The marker
/// is open as long as it is there, and closed before its directory goes.
pub(crate) fn remove(
    (parent, name): (BorrowedFd<'_>, &str),
    directory: &OwnedFd,
    (marker, marker_name): (Option<OwnedFd>, &str),
) -> Result<(), Errno> {
    nfs_mount::unlink(directory.as_fd(), marker_name.as_bytes(), AtFlags::empty())?;
    drop(marker);
    nfs_mount::patiently(
        || nfs_mount::unlink(parent, name.as_bytes(), AtFlags::REMOVEDIR),
        |errno| matches!(*errno, Errno::NOTEMPTY | Errno::EXIST),
    )
}
