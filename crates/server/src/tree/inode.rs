//! One object of the tree: what it is, and the attributes that RFC 1813, section 2.5, shows.

use std::sync::atomic::{AtomicU64, Ordering};

use filestone_wire::nfs3::{Fattr3, FileType, Nfstime3, Specdata3, WccAttr};

use super::InodeNumber;
use super::content::Content;
use super::directory::Directory;

/// The file system's identity in every `fattr3`: "fileston" in ASCII.
const FSID: u64 = u64::from_be_bytes(*b"fileston");

/// What every directory says it uses and how large it is, per entry, like a real one would.
const ENTRY_BYTES: u64 = 32;

/// S_ISGID.
pub const SET_GROUP_ID: u32 = 0o2000;

/// Nanoseconds since 1970.
pub type Timestamp = u64;

/// What an inode is, with what belongs to that kind alone.
#[derive(Debug)]
pub enum Kind {
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
    pub kind: Kind,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Names that lead here; a directory's `.` and its children's `..` are not among them.
    pub link_count: u32,
    /// Reading moves it, under a shared lock.
    pub atime: AtomicU64,
    pub mtime: Timestamp,
    pub ctime: Timestamp,
    /// When it was made, or what a client has set in its place.
    pub birth: Timestamp,
    /// FileAttributes that SMB has and NFS has not: READONLY, HIDDEN, SYSTEM, ARCHIVE.
    pub dos_attributes: u32,
    /// Opens that keep it alive when its last name is gone.
    pub holds: u32,
    /// Its last name is gone: only opens lead here.
    pub is_orphan: bool,
    /// What an EXCLUSIVE CREATE came with (RFC 1813, section 3.3.8): a retransmission of that
    /// call has the same. The client is to send SETATTR once it has seen the reply, so from then
    /// on it is no retransmission, and the verifier is forgotten. Other servers keep it in the
    /// times of the file, where a SETATTR or a WRITE overwrites it (seen on knfsd 6.1).
    pub create_verifier: Option<[u8; 8]>,
}

impl Inode {
    pub fn new(kind: Kind, mode: u32, uid: u32, gid: u32, now: Timestamp) -> Self {
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
        matches!(self.kind, Kind::Directory(_))
    }

    /// The data changed.
    pub fn modify(&mut self, now: Timestamp) {
        self.mtime = now;
        self.ctime = now;
    }

    /// Takes set-user-id away, and set-group-id where the group may execute: without that, the
    /// bit asks for mandatory locking. No program that somebody else has changed, or been given,
    /// may run as its former owner.
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

    /// Notes that the data were read, to a second.
    ///
    /// Reading is what this server is measured by; a store by every READ would make the cores
    /// fight for the line. A file system mounted with `relatime` is coarser still.
    pub fn touch(&self, now: Timestamp) {
        let atime = self.atime.load(Ordering::Relaxed);
        if atime.saturating_add(1_000_000_000) <= now || atime < self.mtime {
            self.atime.store(now, Ordering::Relaxed);
        }
    }

    pub fn size(&self) -> u64 {
        match &self.kind {
            Kind::File(content) => content.size(),
            Kind::Directory(directory) => (directory.len() as u64 + 2) * ENTRY_BYTES,
            Kind::Symlink(target) => target.len() as u64,
            Kind::Block(_) | Kind::Character(_) | Kind::Socket | Kind::Fifo => 0,
        }
    }

    pub fn used(&self) -> u64 {
        match &self.kind {
            Kind::File(content) => content.used(),
            _ => self.size().next_multiple_of(512),
        }
    }

    pub fn nlink(&self) -> u32 {
        match &self.kind {
            Kind::Directory(directory) => directory.subdirectory_count().saturating_add(2),
            _ => self.link_count,
        }
    }

    pub fn file_type(&self) -> FileType {
        match self.kind {
            Kind::File(_) => FileType::Regular,
            Kind::Directory(_) => FileType::Directory,
            Kind::Symlink(_) => FileType::Symlink,
            Kind::Block(_) => FileType::BlockDevice,
            Kind::Character(_) => FileType::CharacterDevice,
            Kind::Socket => FileType::Socket,
            Kind::Fifo => FileType::Fifo,
        }
    }

    /// `fattr3`, RFC 1813 section 2.5.
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
                Kind::Block(device) | Kind::Character(device) => device,
                _ => Specdata3::default(),
            },
            fsid: FSID,
            fileid: number.fileid(),
            atime: nfs_time(self.atime.load(Ordering::Relaxed)),
            mtime: nfs_time(self.mtime),
            ctime: nfs_time(self.ctime),
        }
    }

    /// `wcc_attr`, RFC 1813 section 2.6: the three a client compares with what it remembers.
    pub fn wcc_attributes(&self) -> WccAttr {
        WccAttr {
            size: self.size(),
            mtime: nfs_time(self.mtime),
            ctime: nfs_time(self.ctime),
        }
    }
}

/// `nfstime3`; seconds are unsigned and 32 bits wide, so the year 2106 ends it.
pub fn nfs_time(timestamp: Timestamp) -> Nfstime3 {
    Nfstime3 {
        seconds: (timestamp / 1_000_000_000) as u32,
        nseconds: (timestamp % 1_000_000_000) as u32,
    }
}

/// The other way round.
pub fn timestamp(time: Nfstime3) -> Timestamp {
    u64::from(time.seconds) * 1_000_000_000 + u64::from(time.nseconds)
}
