//! Differences of the Linux NFS client from a local file system.
//!
//! - A file that is removed while this host has it open is renamed to `.nfs…` until it is closed.
//!   Until then it cannot be removed on this host (EBUSY), nor can its directory (ENOTEMPTY). So
//!   files are closed before their directory is removed.
//! - flock is a byte-range lock on the server; an exclusive lock needs a descriptor open for
//!   writing (EBADF).
//!
//! Names are removed and markers are locked through this module, so that unit tests can substitute
//! a simulated NFS mount.

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation};
use rustix::io::Errno;
use std::time::Duration;

#[cfg(test)]
mod double;
#[cfg(test)]
mod tests;

/// Prefix of the names of files that were removed while open.
const STILL_OPEN: &[u8] = b".nfs";

/// The client removes such a file shortly after it is closed, because a pending READ may hold it
/// longer.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Whether this is the name of a file that was removed while open.
pub(crate) fn is_still_open(name: &[u8]) -> bool {
    name.starts_with(STILL_OPEN)
}

/// Calls unlinkat.
pub(crate) fn unlink(parent: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<(), Errno> {
    #[cfg(test)]
    if double::keeps(parent, name, flags)? {
        return Ok(());
    }
    rustix::fs::unlinkat(parent, name, flags)
}

/// Locks a marker until it is closed. Returns `AGAIN` if another process has locked it, `false` if
/// the file system has no locks.
pub(crate) fn lock(marker: &OwnedFd) -> Result<bool, Errno> {
    #[cfg(test)]
    double::check_lock(marker)?;
    match rustix::fs::flock(marker, FlockOperation::NonBlockingLockExclusive) {
        Err(errno) if is_without_locks(errno) => Ok(false),
        locked => locked.map(|()| true),
    }
}

fn is_without_locks(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL
    )
}

/// Repeats an action a few times while an open file prevents it.
pub(crate) fn patiently<T, E>(
    mut act: impl FnMut() -> Result<T, E>,
    is_still_open: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 1..TRIES {
        match act() {
            Err(error) if is_still_open(&error) => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
    act()
}
