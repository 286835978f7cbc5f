//! What the Linux client of an NFS mount does otherwise than a file system of this host.
//!
//! - A file that is removed while this host has it open gets the name `.nfs…` until it is
//!   closed. Until then nobody here can remove it (EBUSY), nor the directory that it is in
//!   (ENOTEMPTY). What is open is closed before its directory goes.
//! - flock is a lock of byte ranges on the server; an exclusive one needs a descriptor
//!   that may write (EBADF).
//!
//! Names are taken away and markers are locked by way of this module, so that unit tests
//! can put a stand-in for such a mount there.

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FlockOperation};
use rustix::io::Errno;
use std::time::Duration;

#[cfg(test)]
mod double;
#[cfg(test)]
mod tests;

/// What files are called that were removed while they were open.
const STILL_OPEN: &[u8] = b".nfs";

/// The client removes such a file a moment after it was closed: a READ that was under way
/// may hold it a little longer.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Whether it is the name of a file that was removed while it was open.
pub(crate) fn is_still_open(name: &[u8]) -> bool {
    name.starts_with(STILL_OPEN)
}

/// unlinkat.
pub(crate) fn unlink(parent: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<(), Errno> {
    #[cfg(test)]
    if double::keeps(parent, name, flags)? {
        return Ok(());
    }
    rustix::fs::unlinkat(parent, name, flags)
}

/// Locks a marker for as long as it is open: `AGAIN` if another process has locked it,
/// `false` where there are no locks.
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

/// Does it again, a few times, while what is in the way is still open.
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
