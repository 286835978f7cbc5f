//! Byte-range locks.
//!
//! Clients are threads of one process here. POSIX locks (F_SETLK) belong to a process and would
//! never conflict between clients; open file description locks (F_OFD_SETLK, Linux 3.15) do, and
//! are closest to the locks per open file of an SMB server. dbench waits for a lock (F_SETLKW),
//! without end if two clients wait for each other. SMB_COM_LOCKING_ANDX and a non-blocking NLM_LOCK
//! do not wait, and neither does filestone: a conflicting lock fails at once with EAGAIN, or with
//! NLM4_DENIED for the verbs of NLM.
//!
//! The verbs of NLM name files, including files of other owners, since a lock does not change a
//! file. As in the lock manager of Linux, only regular files are opened, to avoid effects on
//! devices and pipes, and for writing, which an exclusive lock needs. So locking a file requires
//! write permission. The file is never written.

use super::answer::FailedVerb;
use super::names::{LOOK, NameResolver};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::ActionStatus;
use nix::fcntl::FcntlArg;
use nix::libc;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;

/// NLM4_DENIED (RFC 1813, appendix II).
const DENIED: ActionStatus = ActionStatus::Failed(StatusSpace::Nlm.status(1));

/// A range of a file in the form of fcntl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FcntlRange {
    start: i64,
    len: i64,
}

impl FcntlRange {
    /// Converts a range of SMB; `None` if nothing can be locked because the range is empty or
    /// beyond the maximum file size. Windows programs lock such ranges as semaphores; Samba does
    /// not pass them to the kernel either.
    pub fn of_smb(offset: u64, len: u64) -> Option<Self> {
        let start = i64::try_from(offset).ok()?;
        let most = i64::MAX - start;
        let len = i64::try_from(len).map_or(most, |len| len.min(most));
        (len > 0).then_some(Self { start, len })
    }

    /// Converts a range of NLM; a length of 0 means up to the end of the file.
    pub fn of_nlm(offset: u64, len: u64) -> Option<Self> {
        let start = i64::try_from(offset).ok()?;
        let most = i64::MAX - start;
        let len = i64::try_from(len).map_or(0, |len| if len > most { 0 } else { len });
        Some(Self { start, len })
    }

    fn with_type(self, kind: i32) -> libc::flock {
        libc::flock {
            // The constants fit: they are 0, 1 and 2.
            l_type: i16::try_from(kind).unwrap_or_default(),
            l_whence: 0,
            l_start: self.start,
            l_len: self.len,
            l_pid: 0,
        }
    }
}

fn errno(error: nix::errno::Errno) -> Errno {
    Errno::from_raw_os_error(error as i32)
}

/// Locks the range for writing, or fails at once.
pub(super) fn lock(file: BorrowedFd<'_>, range: FcntlRange) -> Result<(), Errno> {
    set(file, range.with_type(libc::F_WRLCK))
}

/// Unlocks the range; not an error if it is not locked.
pub(super) fn unlock(file: BorrowedFd<'_>, range: FcntlRange) -> Result<(), Errno> {
    set(file, range.with_type(libc::F_UNLCK))
}

fn set(file: BorrowedFd<'_>, lock: libc::flock) -> Result<(), Errno> {
    nix::fcntl::fcntl(file, FcntlArg::F_OFD_SETLK(&lock))
        .map(drop)
        .map_err(errno)
}

/// Whether another open file holds a lock in the range.
fn is_locked(file: BorrowedFd<'_>, range: FcntlRange) -> Result<bool, Errno> {
    let mut lock = range.with_type(libc::F_WRLCK);
    nix::fcntl::fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock)).map_err(errno)?;
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

/// Files locked by name (NLM): the descriptor that holds the locks stays open until the iteration
/// ends.
#[derive(Debug, Default)]
pub(super) struct NamedLocks {
    files: HashMap<Vec<u8>, OwnedFd>,
}

impl NamedLocks {
    /// Executes NLMPROC4_LOCK.
    pub fn lock(
        &mut self,
        names: &NameResolver,
        path: &[u8],
        range: Option<FcntlRange>,
    ) -> Result<(), FailedVerb> {
        if !self.files.contains_key(path) {
            let flags = OFlags::RDWR | OFlags::NONBLOCK;
            let file = open_regular(names, path, flags)?;
            self.files.insert(path.to_vec(), file);
        }
        match (self.files.get(path), range) {
            (Some(file), Some(range)) => lock(file.as_fd(), range).map_err(of_nlm),
            _ => Ok(()),
        }
    }

    /// Executes NLMPROC4_UNLOCK: also granted if nothing was locked, but the file must exist.
    pub fn unlock(
        &mut self,
        names: &NameResolver,
        path: &[u8],
        range: Option<FcntlRange>,
    ) -> Result<(), FailedVerb> {
        match (self.files.get(path), range) {
            (Some(file), Some(range)) => Ok(unlock(file.as_fd(), range)?),
            (Some(_), None) => Ok(()),
            (None, _) => Ok(names.stat(path).map(drop)?),
        }
    }

    /// Executes NLMPROC4_TEST.
    pub fn test(
        &self,
        names: &NameResolver,
        path: &[u8],
        range: Option<FcntlRange>,
    ) -> Result<(), FailedVerb> {
        let opened;
        let file = match self.files.get(path) {
            Some(file) => file,
            None => {
                opened = open_regular(names, path, LOOK)?;
                &opened
            }
        };
        match range {
            Some(range) if is_locked(file.as_fd(), range)? => Err(FailedVerb(DENIED)),
            _ => Ok(()),
        }
    }

    /// Releases all locks.
    pub fn clear(&mut self) {
        self.files.clear();
    }
}

/// Opens a regular file. The type is checked before opening too, because opening alone rewinds a
/// tape.
fn open_regular(names: &NameResolver, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    check_regular(&names.stat(path)?)?;
    let file = names.open(path, flags, Mode::empty())?;
    check_regular(&rustix::fs::fstat(&file)?)?;
    Ok(file)
}

fn check_regular(found: &rustix::fs::Stat) -> Result<(), Errno> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR),
        FileType::Symlink => Err(Errno::LOOP),
        _ => Err(Errno::INVAL),
    }
}

fn of_nlm(errno: Errno) -> FailedVerb {
    if errno == Errno::AGAIN || errno == Errno::ACCESS {
        FailedVerb(DENIED)
    } else {
        errno.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_where_files_can_end() {
        let range = |start, len| Some(FcntlRange { start, len });
        assert_eq!(
            FcntlRange::of_smb(2_147_483_538, 1),
            range(2_147_483_538, 1)
        );
        assert_eq!(
            FcntlRange::of_smb(1 << 40, 1 << 40),
            range(1 << 40, 1 << 40)
        );
        assert_eq!(FcntlRange::of_smb(10, u64::MAX), range(10, i64::MAX - 10));
        assert_eq!(FcntlRange::of_smb(10, 0), None);
        assert_eq!(FcntlRange::of_smb(u64::MAX - 1, 1), None);
        assert_eq!(FcntlRange::of_nlm(10, 0), range(10, 0));
        assert_eq!(FcntlRange::of_nlm(10, u64::MAX), range(10, 0));
        assert_eq!(FcntlRange::of_nlm(u64::MAX, 1), None);
    }
}
