//! Operations that create names: CREATE, MKDIR, SYMLINK, MKNOD, LINK (RFC 1813, sections 3.3.8 to
//! 3.3.11 and 3.3.15).

use filestone_wire::nfs3::Status;
use filestone_wire::nfs3::{Sattr3, Specdata3};

use super::access::{MAY_CHANGE_ENTRIES, MAY_EXECUTE, allowed_mode};
use super::content::Content;
use super::directory::Directory;
use super::file::check_times;
use super::inode::{Inode, InodeKind, SET_GROUP_ID, UnixNanoseconds};
use super::{
    FILE_MAX, INODE_COST, Identity, InodeNumber, LINK_MAX, SYMLINK_MAX, Tree, check_name,
    entry_cost, is_dot,
};

/// `createhow3` of CREATE.
#[derive(Debug, Clone, Copy)]
pub enum CreateMode<'a> {
    /// An existing file is accepted; it is truncated if the attributes contain a size.
    Unchecked(&'a Sattr3),
    /// An existing file yields NFS3ERR_EXIST.
    Guarded(&'a Sattr3),
    /// An existing file is accepted if it was created with the same verifier.
    Exclusive([u8; 8]),
}

/// Kind of object that MKNOD creates.
#[derive(Debug, Clone, Copy)]
pub enum Node {
    Block(Specdata3),
    Character(Specdata3),
    Socket,
    Fifo,
}

impl Tree {
    /// CREATE, RFC 1813 section 3.3.8.
    pub fn create(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        mode: CreateMode<'_>,
        owner: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<InodeNumber, Status> {
        if let Some(existing) = self.existing(directory, name, &owner, MAY_EXECUTE)? {
            return self.open_existing(existing, mode, owner, now);
        }
        self.check(directory, &owner, MAY_CHANGE_ENTRIES)?;
        let content = InodeKind::File(Content::default());
        match mode {
            CreateMode::Unchecked(attributes) | CreateMode::Guarded(attributes) => {
                if attributes.size.is_some_and(|size| size > FILE_MAX) {
                    return Err(Status::FBIG);
                }
                self.make(directory, name, content, 0o644, attributes, owner, now)
            }
            CreateMode::Exclusive(verifier) => {
                // The client sets the attributes by SETATTR afterwards.
                let none = Sattr3::default();
                let made = self.make(directory, name, content, 0o600, &none, owner, now)?;
                self.inode_mut(made)?.create_verifier = Some(verifier);
                Ok(made)
            }
        }
    }

    fn open_existing(
        &mut self,
        existing: InodeNumber,
        mode: CreateMode<'_>,
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<InodeNumber, Status> {
        let inode = self.inode(existing)?;
        if !matches!(inode.kind, InodeKind::File(_)) {
            return Err(Status::EXIST);
        }
        match mode {
            CreateMode::Unchecked(attributes) => {
                check_times(attributes)?;
                // If the file exists, only its size is set, as open(O_CREAT | O_TRUNC) does.
                let size = Sattr3 {
                    size: attributes.size,
                    ..Sattr3::default()
                };
                self.set_attributes(existing, &size, None, by, now)?;
                Ok(existing)
            }
            CreateMode::Guarded(_) => Err(Status::EXIST),
            CreateMode::Exclusive(verifier) if inode.create_verifier == Some(verifier) => {
                Ok(existing)
            }
            CreateMode::Exclusive(_) => Err(Status::EXIST),
        }
    }

    /// MKDIR, RFC 1813 section 3.3.9.
    pub fn make_directory(
        &mut self,
        parent: InodeNumber,
        name: &[u8],
        attributes: &Sattr3,
        owner: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<InodeNumber, Status> {
        self.must_be_new(parent, name, &owner)?;
        let kind = InodeKind::Directory(Directory::new(parent));
        let made = self.make(parent, name, kind, 0o755, attributes, owner, now)?;
        self.directory_mut(parent)?.count_subdirectory(1);
        Ok(made)
    }

    /// SYMLINK, RFC 1813 section 3.3.10.
    pub fn make_symlink(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        target: &[u8],
        attributes: &Sattr3,
        owner: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<InodeNumber, Status> {
        self.must_be_new(directory, name, &owner)?;
        if target.len() > SYMLINK_MAX {
            return Err(Status::NAMETOOLONG);
        }
        if target.is_empty() || target.contains(&0) {
            return Err(Status::INVAL);
        }
        self.check_room(target.len() as u64 + INODE_COST + entry_cost(name))?;
        self.make(
            directory,
            name,
            InodeKind::Symlink(target.into()),
            0o777,
            attributes,
            owner,
            now,
        )
    }

    /// MKNOD, RFC 1813 section 3.3.11.
    pub fn make_node(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        node: Node,
        attributes: &Sattr3,
        owner: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<InodeNumber, Status> {
        self.must_be_new(directory, name, &owner)?;
        // CAP_MKNOD: only root may create a device of the server's host.
        let is_device = matches!(node, Node::Block(_) | Node::Character(_));
        if is_device && !owner.is_superuser() {
            return Err(Status::PERM);
        }
        let kind = match node {
            Node::Block(device) => InodeKind::Block(device),
            Node::Character(device) => InodeKind::Character(device),
            Node::Socket => InodeKind::Socket,
            Node::Fifo => InodeKind::Fifo,
        };
        self.make(directory, name, kind, 0o644, attributes, owner, now)
    }

    /// LINK, RFC 1813 section 3.3.15.
    pub fn link(
        &mut self,
        target: InodeNumber,
        directory: InodeNumber,
        name: &[u8],
        by: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        self.must_be_new(directory, name, &by)?;
        let inode = self.inode(target)?;
        if inode.is_directory() {
            return Err(Status::INVAL);
        }
        if inode.link_count >= LINK_MAX {
            return Err(Status::MLINK);
        }
        self.check_room(entry_cost(name))?;
        let inode = self.inode_mut(target)?;
        inode.link_count += 1;
        inode.ctime = now;
        self.insert_entry(directory, name, target, now)
    }

    /// Returns the object of this name, if any, for a caller with these rights on the directory.
    fn existing(
        &self,
        directory: InodeNumber,
        name: &[u8],
        by: &Identity<'_>,
        rights: u32,
    ) -> Result<Option<InodeNumber>, Status> {
        check_name(name)?;
        let entries = self.directory(directory)?;
        if is_dot(name) {
            return Err(Status::EXIST);
        }
        self.check(directory, by, rights)?;
        Ok(entries.find(name))
    }

    /// Refuses a name that exists. A caller that may not create entries is refused first, as in
    /// knfsd for all operations other than CREATE.
    fn must_be_new(
        &self,
        directory: InodeNumber,
        name: &[u8],
        by: &Identity<'_>,
    ) -> Result<(), Status> {
        match self.existing(directory, name, by, MAY_CHANGE_ENTRIES)? {
            Some(_) => Err(Status::EXIST),
            None => Ok(()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is one word of the call")]
    fn make(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        kind: InodeKind,
        mode: u32,
        attributes: &Sattr3,
        owner: Identity<'_>,
        now: UnixNanoseconds,
    ) -> Result<InodeNumber, Status> {
        check_times(attributes)?;
        self.check_room(INODE_COST + entry_cost(name))?;
        let parent = self.inode(directory)?;
        // A set-group-id directory passes its group on, and to directories also the bit, so that
        // objects created in them get the group as well (as in Linux).
        let inherited = parent.mode & SET_GROUP_ID;
        let gid = if inherited != 0 {
            parent.gid
        } else {
            owner.gid
        };
        let number = self.insert(Inode::new(kind, mode, owner.uid, gid, now));
        let mut attributes = *attributes;
        if !owner.is_superuser() {
            // Objects are created with the caller as owner, whatever the call requests (as knfsd
            // does).
            (attributes.uid, attributes.gid) = (None, None);
        }
        attributes.mode = attributes.mode.map(|mode| allowed_mode(mode, gid, &owner));
        self.apply_attributes(number, &attributes, now)?;
        let made = self.inode_mut(number)?;
        if made.is_directory() {
            made.mode |= inherited;
        }
        self.insert_entry(directory, name, number, now)?;
        Ok(number)
    }

    /// Inserts a name into a directory, or replaces its target.
    pub(super) fn insert_entry(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        number: InodeNumber,
        now: UnixNanoseconds,
    ) -> Result<(), Status> {
        let is_new = self.directory(directory)?.find(name).is_none();
        self.directory_mut(directory)?.insert(name, number);
        if is_new {
            self.memory_used += entry_cost(name);
        }
        self.inode_mut(directory)?.modify(now);
        Ok(())
    }
}
