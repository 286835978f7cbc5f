//! Permissions: the rights of a caller on an object, by owner, group and mode bits (POSIX.1,
//! section 4.7, file access permissions), with the exceptions that Linux's knfsd makes as a server
//! without open files.
//!
//! ACCESS uses the same rights as the operations. The rights that an operation requires are defined
//! where it is implemented.

use filestone_wire::nfs3::access::{DELETE, EXECUTE, EXTEND, LOOKUP, MODIFY, READ};
use filestone_wire::nfs3::{Sattr3, SetTime, Status};

use super::inode::{Inode, InodeKind, SET_GROUP_ID};
use super::{InodeNumber, Tree};

/// Bits of one class of a mode.
pub const MAY_READ: u32 = 0o4;
pub const MAY_WRITE: u32 = 0o2;
/// Execution of a file, search of a directory.
pub const MAY_EXECUTE: u32 = 0o1;
/// Required to create, remove and rename entries of a directory.
pub const MAY_CHANGE_ENTRIES: u32 = MAY_WRITE | MAY_EXECUTE;

/// S_ISVTX: entries of such a directory can be removed and renamed only by their owner, the
/// directory's owner and root.
const STICKY: u32 = 0o1000;

/// Caller of an operation, and owner of the objects that the operation creates.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    pub uid: u32,
    pub gid: u32,
    /// Supplementary groups.
    pub gids: &'a [u32],
    /// Whether permissions are checked; uid 0 is never checked.
    pub is_checked: bool,
}

impl Identity<'_> {
    /// Returns an identity with all rights.
    pub const fn unchecked(uid: u32, gid: u32) -> Identity<'static> {
        Identity {
            uid,
            gid,
            gids: &[],
            is_checked: false,
        }
    }

    /// Returns whether set-user-id and set-group-id are kept on a change by this caller.
    pub fn is_root(&self) -> bool {
        self.uid == 0
    }

    /// Returns whether permissions are ignored: CAP_DAC_OVERRIDE, CAP_FOWNER and CAP_CHOWN of
    /// Linux.
    pub fn is_superuser(&self) -> bool {
        self.is_root() || !self.is_checked
    }

    pub fn is_in(&self, group: u32) -> bool {
        self.gid == group || self.gids.contains(&group)
    }

    fn owns(&self, inode: &Inode) -> bool {
        self.uid == inode.uid || self.is_superuser()
    }

    /// Returns the three mode bits that apply to this caller.
    fn bits_on(&self, inode: &Inode) -> u32 {
        if self.is_superuser() {
            // Root may execute a file only if some class may.
            let executes = inode.is_directory() || inode.mode & 0o111 != 0;
            return MAY_READ | MAY_WRITE | u32::from(executes);
        }
        let shift = if self.uid == inode.uid {
            6
        } else if self.is_in(inode.gid) {
            3
        } else {
            0
        };
        inode.mode >> shift & 0o7
    }
}

/// Returns the subset of `asked` that `identity` has on `inode`: ACCESS, RFC 1813 section 3.3.4.
pub fn granted(inode: &Inode, identity: &Identity<'_>, asked: u32) -> u32 {
    asked & rights(identity.bits_on(inode), inode.is_directory())
}

/// Converts mode bits to ACCESS rights as in knfsd: a change of the entries of a directory requires
/// search as well as write permission.
fn rights(bits: u32, is_directory: bool) -> u32 {
    let mut rights = 0;
    if bits & MAY_READ != 0 {
        rights |= READ;
    }
    if bits & MAY_EXECUTE != 0 {
        rights |= if is_directory { LOOKUP } else { EXECUTE };
    }
    // Only an entry of a directory can be deleted, so the right is defined for directories.
    if is_directory && bits & MAY_CHANGE_ENTRIES == MAY_CHANGE_ENTRIES {
        rights |= MODIFY | EXTEND | DELETE;
    }
    if !is_directory && bits & MAY_WRITE != 0 {
        rights |= MODIFY | EXTEND;
    }
    rights
}

/// Returns an error if the caller lacks one of the rights.
pub fn check(inode: &Inode, by: &Identity<'_>, rights: u32) -> Result<(), Status> {
    if by.bits_on(inode) & rights == rights {
        Ok(())
    } else {
        Err(Status::ACCES)
    }
}

/// Returns an error if the caller could not have opened the file for reading or writing.
///
/// NFSv3 has no OPEN: a client checks access when a program opens the file, and the calls that
/// follow must succeed even if the mode has changed since. So the owner always has access
/// (NFSD_MAY_OWNER_OVERRIDE of knfsd), and an executable file may be read.
pub fn check_opened(inode: &Inode, by: &Identity<'_>, right: u32) -> Result<(), Status> {
    let is_program = right == MAY_READ && matches!(inode.kind, InodeKind::File(_));
    if by.owns(inode) || is_program && check(inode, by, MAY_EXECUTE).is_ok() {
        return Ok(());
    }
    check(inode, by, right)
}

/// Returns an error if the caller may not change these attributes: SETATTR, RFC 1813 section 3.3.2,
/// with chmod(2), chown(2) and utimensat(2).
pub fn check_change(inode: &Inode, by: &Identity<'_>, change: &Sattr3) -> Result<(), Status> {
    let owns = by.owns(inode);
    let times = [change.atime, change.mtime];
    let has_own_time = times
        .iter()
        .any(|time| matches!(time, SetTime::ClientTime(_)));
    let has_server_time = times.contains(&SetTime::ServerTime);
    if change.size.is_some() || has_server_time && !has_own_time {
        check_opened(inode, by, MAY_WRITE)?;
    }
    // Only a superuser may change the owner; the owner may change the group to one of the caller's
    // groups.
    let keeps_owner = change.uid.is_none_or(|uid| uid == inode.uid && owns);
    let keeps_group = change
        .gid
        .is_none_or(|gid| owns && (gid == inode.gid || by.is_in(gid)));
    let is_allowed = by.is_superuser()
        || keeps_owner && keeps_group && (owns || change.mode.is_none() && !has_own_time);
    is_allowed.then_some(()).ok_or(Status::PERM)
}

/// Returns the mode that results when the caller sets `mode` on an object of this group: only a
/// member of the group can set set-group-id (chmod(2)).
pub fn allowed_mode(mode: u32, group: u32, by: &Identity<'_>) -> u32 {
    if by.is_superuser() || by.is_in(group) {
        mode
    } else {
        mode & !SET_GROUP_ID
    }
}

impl Tree {
    /// Returns an error if the caller lacks one of the rights on an object.
    pub fn check(&self, number: InodeNumber, by: &Identity<'_>, rights: u32) -> Result<(), Status> {
        check(self.inode(number)?, by, rights)
    }

    /// Returns an error if `victim` is in a sticky directory and the caller owns neither.
    pub(super) fn check_sticky(
        &self,
        directory: InodeNumber,
        victim: InodeNumber,
        by: &Identity<'_>,
    ) -> Result<(), Status> {
        let directory = self.inode(directory)?;
        let is_kept = directory.mode & STICKY != 0;
        if is_kept && !by.owns(directory) && !by.owns(self.inode(victim)?) {
            return Err(Status::PERM);
        }
        Ok(())
    }
}
