//! Operations that remove names: REMOVE, RMDIR, RENAME (RFC 1813, sections 3.3.12 to 3.3.14).

use filestone_wire::nfs3::Status;

use super::access::{MAY_CHANGE_ENTRIES, MAY_WRITE};
use super::inode::UnixNanoseconds;
use super::{Identity, InodeNumber, Tree, check_name, entry_cost, is_dot};

impl Tree {
    /// REMOVE, RFC 1813 section 3.3.12. Directories are refused; RMDIR removes them.
    pub fn remove(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        let victim = self.removable(directory, name, &by)?;
        if self.inode(victim)?.is_directory() {
            return Err(Status::ISDIR);
        }
        self.take_entry(directory, name, now)?;
        self.drop_link(victim, now)
    }

    /// RMDIR, RFC 1813 section 3.3.13.
    pub fn remove_directory(
        &mut self,
        parent: InodeNumber,
        name: &[u8],
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        // As in the RFC: "." is NFS3ERR_INVAL, ".." is NFS3ERR_EXIST.
        if name == b".." {
            self.directory(parent)?;
            return Err(Status::EXIST);
        }
        let victim = self.removable(parent, name, &by)?;
        if !self.directory(victim)?.is_empty() {
            return Err(Status::NOTEMPTY);
        }
        self.take_entry(parent, name, now)?;
        self.directory_mut(parent)?.count_subdirectory(-1);
        self.release(victim);
        Ok(())
    }

    /// RENAME, RFC 1813 section 3.3.14, with the statuses of rename(2).
    pub fn rename(
        &mut self,
        from: InodeNumber,
        from_name: &[u8],
        to: InodeNumber,
        to_name: &[u8],
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        self.directory(to)?;
        self.check(to, &by, MAY_CHANGE_ENTRIES)?;
        let moved = self.named(from, from_name, &by)?;
        check_name(to_name)?;
        if is_dot(to_name) {
            return Err(Status::INVAL);
        }
        let is_directory = self.inode(moved)?.is_directory();
        if is_directory && self.is_within(to, moved)? {
            return Err(Status::INVAL);
        }
        let replaced = self.directory(to)?.find(to_name);
        if replaced == Some(moved) {
            // Two names of one file: no effect (rename(2), and also RFC 1813).
            return Ok(());
        }
        self.check_sticky(from, moved, &by)?;
        if is_directory && from != to {
            // The `..` entry of the moved directory changes.
            self.check(moved, &by, MAY_WRITE)?;
        }
        match replaced {
            Some(replaced) => {
                self.check_sticky(to, replaced, &by)?;
                self.make_way(to, replaced, is_directory, now)?;
            }
            None => {
                let freed = if from == to { entry_cost(from_name) } else { 0 };
                self.check_room(entry_cost(to_name).saturating_sub(freed))?;
            }
        }
        self.insert_entry(to, to_name, moved, now)?;
        self.take_entry(from, from_name, now)?;
        if is_directory {
            self.directory_mut(from)?.count_subdirectory(-1);
            self.directory_mut(to)?.count_subdirectory(1);
            self.directory_mut(moved)?.set_parent(to);
        }
        self.inode_mut(moved)?.ctime = now;
        Ok(())
    }

    /// Removes the target of a RENAME, if it may be replaced. Its entry stays, because the moved
    /// object takes it over.
    fn make_way(
        &mut self,
        directory: InodeNumber,
        replaced: InodeNumber,
        by_directory: bool,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        match (self.inode(replaced)?.is_directory(), by_directory) {
            (false, false) => self.drop_link(replaced, now),
            (false, true) => Err(Status::NOTDIR),
            (true, false) => Err(Status::ISDIR),
            (true, true) if self.directory(replaced)?.is_empty() => {
                self.directory_mut(directory)?.count_subdirectory(-1);
                self.release(replaced);
                Ok(())
            }
            (true, true) => Err(Status::NOTEMPTY),
        }
    }

    /// Returns whether `inner` is `outer` or a descendant of it.
    pub fn is_within(&self, inner: InodeNumber, outer: InodeNumber) -> Result<bool, Status> {
        let mut at = inner;
        while at != outer {
            if at == InodeNumber::ROOT {
                return Ok(false);
            }
            at = self.directory(at)?.parent();
        }
        Ok(true)
    }

    /// Returns the object of this name, if the caller may remove it from the directory.
    fn removable(
        &self,
        directory: InodeNumber,
        name: &[u8],
        by: &Identity<'_>,
    ) -> Result<InodeNumber, Status> {
        let victim = self.named(directory, name, by)?;
        self.check_sticky(directory, victim, by)?;
        Ok(victim)
    }

    /// Returns the object of this name, if the caller may change the entries of the directory.
    fn named(
        &self,
        directory: InodeNumber,
        name: &[u8],
        by: &Identity<'_>,
    ) -> Result<InodeNumber, Status> {
        check_name(name)?;
        let entries = self.directory(directory)?;
        self.check(directory, by, MAY_CHANGE_ENTRIES)?;
        if is_dot(name) {
            return Err(Status::INVAL);
        }
        entries.find(name).ok_or(Status::NOENT)
    }

    fn take_entry(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        if self.directory_mut(directory)?.remove(name).is_some() {
            self.memory_used -= entry_cost(name);
        }
        self.inode_mut(directory)?.modify(now);
        Ok(())
    }

    fn drop_link(&mut self, number: InodeNumber, now: UnixNanoseconds) -> Result<(), Status> {
        let inode = self.inode_mut(number)?;
        inode.link_count -= 1;
        inode.ctime = now;
        if inode.link_count == 0 {
            self.release(number);
        }
        Ok(())
    }
}
