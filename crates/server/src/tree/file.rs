//! Operations that change or read one object: SETATTR, READ, WRITE (RFC 1813, sections 3.3.2, 3.3.6
//! and 3.3.7).

use std::sync::atomic::Ordering;

use filestone_wire::nfs3::Status;
use filestone_wire::nfs3::{Nfstime3, Sattr3, SetTime};

use super::access::{MAY_WRITE, allowed_mode, check_change, check_opened};
use super::content::Content;
use super::inode::{Inode, InodeKind, UnixNanoseconds, nfs_time, timestamp};
use super::run::ByteSlice;
use super::{FILE_MAX, Identity, InodeNumber, Tree, pattern};

/// Result of a READ: length, and whether it reaches the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadExtent {
    pub count: u32,
    pub is_eof: bool,
}

impl Tree {
    /// SETATTR, RFC 1813 section 3.3.2; `guard` is the ctime that the object must have.
    pub fn set_attributes(
        &mut self,
        number: InodeNumber,
        attributes: &Sattr3,
        guard: Option<Nfstime3>,
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        check_times(attributes)?;
        let inode = self.inode(number)?;
        if guard.is_some_and(|ctime| ctime != nfs_time(inode.ctime)) {
            return Err(Status::NOT_SYNC);
        }
        if let Some(size) = attributes.size {
            match inode.kind {
                InodeKind::File(_) if size > FILE_MAX => return Err(Status::FBIG),
                InodeKind::File(_) => {}
                InodeKind::Directory(_) => return Err(Status::ISDIR),
                _ => return Err(Status::INVAL),
            }
        }
        check_change(inode, &by, attributes)?;
        let group = attributes.gid.unwrap_or(inode.gid);
        let mode = attributes.mode.map(|mode| allowed_mode(mode, group, &by));
        let attributes = &Sattr3 {
            mode,
            ..*attributes
        };
        self.apply_attributes(number, attributes, now)?;
        let inode = self.inode_mut(number)?;
        inode.create_verifier = None;
        // A change of owner or group clears the set-ID bits even for root, and even if the call
        // sets the mode, as in knfsd; a change of the size keeps the mode in the same call.
        let is_given_away = attributes.uid.is_some() || attributes.gid.is_some();
        let is_cut = attributes.size.is_some() && attributes.mode.is_none() && !by.is_root();
        if is_given_away || is_cut {
            inode.drop_set_id_bits();
        }
        Ok(())
    }

    /// Applies `attributes`, after all checks.
    pub(super) fn apply_attributes(
        &mut self,
        number: InodeNumber,
        attributes: &Sattr3,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        let inode = self.inode_mut(number)?;
        inode.mode = attributes.mode.map_or(inode.mode, |mode| mode & 0o7777);
        inode.uid = attributes.uid.unwrap_or(inode.uid);
        inode.gid = attributes.gid.unwrap_or(inode.gid);
        let mut freed = 0;
        if let (Some(size), InodeKind::File(content)) = (attributes.size, &mut inode.kind) {
            let before = content.charged();
            content.set_size(size);
            freed = before - content.charged();
            inode.mtime = now;
        }
        if let Some(atime) = chosen_time(attributes.atime, now) {
            inode.atime.store(atime, Ordering::Relaxed);
        }
        inode.mtime = chosen_time(attributes.mtime, now).unwrap_or(inode.mtime);
        inode.ctime = now;
        self.memory_used -= freed;
        Ok(())
    }

    /// Returns the regular file `number`; for other objects the error that RFC 1813 specifies for
    /// READ and WRITE: NFS3ERR_ISDIR for a directory, NFS3ERR_INVAL for the rest.
    pub fn file(&self, number: InodeNumber) -> Result<(&Inode, &Content), Status> {
        let inode = self.inode(number)?;
        match &inode.kind {
            InodeKind::File(content) => Ok((inode, content)),
            InodeKind::Directory(_) => Err(Status::ISDIR),
            _ => Err(Status::INVAL),
        }
    }

    /// Returns the part of `offset..offset + count` that exists.
    pub fn read_extent(content: &Content, offset: u64, count: u32) -> ReadExtent {
        let rest = content.size().saturating_sub(offset);
        let count = rest.min(u64::from(count)) as u32;
        ReadExtent {
            count,
            is_eof: u64::from(count) == rest,
        }
    }

    /// Passes the data of an extent from [`Tree::read_extent`] to `visit`.
    pub fn read(
        &self,
        content: &Content,
        offset: u64,
        count: u32,
        mut visit: impl FnMut(ByteSlice),
    ) {
        if self.discard {
            pattern::runs(offset, u64::from(count), &mut visit);
        } else {
            content.read(offset, u64::from(count), visit);
        }
    }

    /// WRITE, RFC 1813 section 3.3.7. In a tree that discards data, `data` may be truncated: only
    /// `count` is used.
    pub fn write(
        &mut self,
        number: InodeNumber,
        offset: u64,
        count: u32,
        data: &[u8],
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        let (inode, content) = self.file(number)?;
        check_opened(inode, &by, MAY_WRITE)?;
        let end = offset
            .checked_add(u64::from(count))
            .filter(|&end| end <= FILE_MAX);
        let end = end.ok_or(Status::FBIG)?;
        let cost = if self.discard {
            0
        } else {
            content.cost_of_write(offset, u64::from(count))
        };
        self.check_room(cost)?;
        let discard = self.discard;
        let inode = self.inode_mut(number)?;
        let InodeKind::File(content) = &mut inode.kind else {
            return Err(Status::INVAL);
        };
        if count > 0 {
            if discard {
                content.grow_to(end);
            } else {
                content.write(offset, data);
            }
            inode.modify(now);
            inode.create_verifier = None;
            if !by.is_root() {
                inode.drop_set_id_bits();
            }
        }
        self.memory_used += cost;
        Ok(())
    }
}

/// Checks that each `nfstime3` has less than 10⁹ nanoseconds (RFC 1813, section 2.6).
pub(super) fn check_times(attributes: &Sattr3) -> Result<(), Status> {
    const NSECONDS_MAX: u32 = 999_999_999;
    let is_time = |time| !matches!(time, SetTime::ClientTime(t) if t.nseconds > NSECONDS_MAX);
    if is_time(attributes.atime) && is_time(attributes.mtime) {
        Ok(())
    } else {
        Err(Status::INVAL)
    }
}

fn chosen_time(time: SetTime, now: UnixNanoseconds) -> Option<UnixNanoseconds> {
    match time {
        SetTime::DontChange => None,
        SetTime::ServerTime => Some(now),
        SetTime::ClientTime(time) => Some(timestamp(time)),
    }
}
