//! An object of the tree: its kind, and the attributes of RFC 1813, section 2.5.

use std::sync::atomic::{AtomicU64, Ordering};

use filestone_wire::nfs3::{Fattr3, FileType, Nfstime3, Specdata3, WccAttr};

use super::InodeNumber;
use super::content::Content;
use super::directory::Directory;

/// Identity of the file system in every `fattr3`: "fileston" in ASCII.
const FSID: u64 = u64::from_be_bytes(*b"fileston");

/// Size and use of a directory per entry, similar to those of a real one.
const ENTRY_BYTES: u64 = 32;

/// S_ISGID.
pub const SET_GROUP_ID: u32 = 0o2000;

/// Nanoseconds since 1970.
pub type UnixNanoseconds = u64;

/// Kind of an inode, with the data of that kind.
#[derive(Debug)]
pub enum InodeKind {
    File(Content),
    Directory(Directory),
    Symlink(Box<[u8]>),
    Block(Specdata3),
    Character(Specdata3),
    Socket,
    Fifo,
}

/// An object of the tree.
#[derive(Debug)]
pub struct Inode {
    pub kind: InodeKind,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Number of names of this object; a directory's `.` and its children's `..` are not counted.
    pub link_count: u32,
    /// Changed by reads, under a shared lock.
    pub atime: AtomicU64,
    pub mtime: UnixNanoseconds,
    pub ctime: UnixNanoseconds,
    /// Creation time, or the value that a client has set.
    pub birth: UnixNanoseconds,
    /// FileAttributes of SMB that NFS does not have: READONLY, HIDDEN, SYSTEM, ARCHIVE.
    pub dos_attributes: u32,
    /// Number of opens that keep the object alive after its last name is removed.
    pub holds: u32,
    /// Whether its last name is removed: only opens refer to it.
    pub is_orphan: bool,
    /// Verifier of an EXCLUSIVE CREATE (RFC 1813, section 3.3.8): a retransmission of that call has
    /// the same one. The client sends SETATTR once it has seen the reply, so a later CREATE is not
    /// a retransmission, and the verifier is dropped. Other servers store it in the times of the
    /// file, where a SETATTR or a WRITE overwrites it (observed on knfsd 6.1).
    pub create_verifier: Option<[u8; 8]>,
}

impl Inode {
    pub fn new(kind: InodeKind, mode: u32, uid: u32, gid: u32, now: UnixNanoseconds) -> Self {
        Self {
            kind,
            mode,
            uid,
            gid,
            link_count: 1,
            atime: AtomicU64::new(now),
            mtime: now,
            ctime: now,
            birth: now,
            dos_attributes: 0,
            holds: 0,
            is_orphan: false,
            create_verifier: None,
        }
    }

    pub fn is_directory(&self) -> bool {
        matches!(self.kind, InodeKind::Directory(_))
    }

    /// Updates the times after a change of the data.
    pub fn modify(&mut self, now: UnixNanoseconds) {
        self.mtime = now;
        self.ctime = now;
    }

    /// Clears set-user-id, and set-group-id if the group may execute: otherwise that bit means
    /// mandatory locking. A program that another user has changed, or been given, must not run as
    /// its former owner.
    pub fn drop_set_id_bits(&mut self) {
        const SET_USER_ID: u32 = 0o4000;
        const GROUP_EXECUTE: u32 = 0o010;
        if self.is_directory() {
            return;
        }
        self.mode &= !SET_USER_ID;
        if self.mode & GROUP_EXECUTE != 0 {
            self.mode &= !SET_GROUP_ID;
        }
    }

    /// Updates the time of the last read, to the second.
    ///
    /// Reads are the measured path; a store in every READ would make the cores contend for the
    /// cache line. A file system mounted with `relatime` is coarser still.
    pub fn touch(&self, now: UnixNanoseconds) {
        let atime = self.atime.load(Ordering::Relaxed);
        if atime.saturating_add(1_000_000_000) <= now || atime < self.mtime {
            self.atime.store(now, Ordering::Relaxed);
        }
    }

    pub fn size(&self) -> u64 {
        match &self.kind {
            InodeKind::File(content) => content.size(),
            InodeKind::Directory(directory) => (directory.len() as u64 + 2) * ENTRY_BYTES,
            InodeKind::Symlink(target) => target.len() as u64,
            InodeKind::Block(_) | InodeKind::Character(_) | InodeKind::Socket | InodeKind::Fifo => {
                0
            }
        }
    }

    pub fn used(&self) -> u64 {
        match &self.kind {
            InodeKind::File(content) => content.used(),
            _ => self.size().next_multiple_of(512),
        }
    }

    pub fn nlink(&self) -> u32 {
        match &self.kind {
            InodeKind::Directory(directory) => directory.subdirectory_count().saturating_add(2),
            _ => self.link_count,
        }
    }

    pub fn file_type(&self) -> FileType {
        match self.kind {
            InodeKind::File(_) => FileType::Regular,
            InodeKind::Directory(_) => FileType::Directory,
            InodeKind::Symlink(_) => FileType::Symlink,
            InodeKind::Block(_) => FileType::BlockDevice,
            InodeKind::Character(_) => FileType::CharacterDevice,
            InodeKind::Socket => FileType::Socket,
            InodeKind::Fifo => FileType::Fifo,
        }
    }

    /// Returns `fattr3`, RFC 1813 section 2.5.
    pub fn attributes(&self, number: InodeNumber) -> Fattr3 {
        Fattr3 {
            file_type: self.file_type(),
            mode: self.mode,
            nlink: self.nlink(),
            uid: self.uid,
            gid: self.gid,
            size: self.size(),
            used: self.used(),
            rdev: match self.kind {
                InodeKind::Block(device) | InodeKind::Character(device) => device,
                _ => Specdata3::default(),
            },
            fsid: FSID,
            fileid: number.fileid(),
            atime: nfs_time(self.atime.load(Ordering::Relaxed)),
            mtime: nfs_time(self.mtime),
            ctime: nfs_time(self.ctime),
        }
    }

    /// Returns `wcc_attr`, RFC 1813 section 2.6: the three attributes that a client compares with
    /// its cache.
    pub fn wcc_attributes(&self) -> WccAttr {
        WccAttr {
            size: self.size(),
            mtime: nfs_time(self.mtime),
            ctime: nfs_time(self.ctime),
        }
    }
}

/// Converts to `nfstime3`; its seconds are unsigned and 32 bits wide, so it ends in 2106.
pub fn nfs_time(timestamp: UnixNanoseconds) -> Nfstime3 {
    Nfstime3 {
        seconds: (timestamp / 1_000_000_000) as u32,
        nseconds: (timestamp % 1_000_000_000) as u32,
    }
}

/// Converts from `nfstime3`.
pub fn timestamp(time: Nfstime3) -> UnixNanoseconds {
    u64::from(time.seconds) * 1_000_000_000 + u64::from(time.nseconds)
}
