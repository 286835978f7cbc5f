//! Metadata of an object of the tree in SMB's terms.

use std::sync::atomic::Ordering;

use filestone_wire::nfs3;
use filestone_wire::smb2::{AccessMask, FileAttributes, FileTime, Status};

use crate::tree::inode::{Inode, UnixNanoseconds};
use crate::tree::{InodeNumber, Tree};

/// Full access to a file.
pub const ALL_ACCESS: AccessMask = AccessMask(0x001f_01ff);
/// The volume's serial number and id: "file" in ASCII.
pub const VOLUME: u32 = u32::from_be_bytes(*b"file");
/// Size of an allocation unit, in bytes.
pub const UNIT: u64 = 4096;

/// Metadata, the common source of all information classes.
#[derive(Debug, Clone, Copy)]
pub struct FileMetadata {
    pub creation_time: FileTime,
    pub last_access_time: FileTime,
    pub last_write_time: FileTime,
    pub change_time: FileTime,
    pub allocation_size: u64,
    pub end_of_file: u64,
    pub attributes: FileAttributes,
    pub links: u32,
    pub is_directory: bool,
    pub index: u64,
}

impl FileMetadata {
    pub fn of(tree: &Tree, number: InodeNumber) -> Result<Self, Status> {
        Ok(Self::of_inode(
            tree.inode(number).map_err(status_of)?,
            number,
        ))
    }

    /// Adds the reserved space, if the object is a file.
    pub fn reserving(self, bytes: u64) -> Self {
        let asked = if self.is_directory { 0 } else { bytes };
        let asked = asked.checked_next_multiple_of(UNIT).unwrap_or(asked);
        Self {
            allocation_size: self.allocation_size.max(asked),
            ..self
        }
    }

    pub fn of_inode(inode: &Inode, number: InodeNumber) -> Self {
        let is_directory = inode.is_directory();
        let size = |bytes| if is_directory { 0 } else { bytes };
        Self {
            creation_time: file_time(inode.birth),
            last_access_time: file_time(inode.atime.load(Ordering::Relaxed)),
            last_write_time: file_time(inode.mtime),
            change_time: file_time(inode.ctime),
            allocation_size: size(inode.used().next_multiple_of(UNIT)),
            end_of_file: size(inode.size()),
            attributes: attributes_of(inode),
            links: if is_directory {
                1
            } else {
                inode.nlink().max(1)
            },
            is_directory,
            index: number.fileid(),
        }
    }
}

/// Returns FileAttributes: NORMAL if there is no other.
pub fn attributes_of(inode: &Inode) -> FileAttributes {
    let kept = FileAttributes(inode.dos_attributes);
    if inode.is_directory() {
        kept.with(FileAttributes::DIRECTORY)
    } else if kept == FileAttributes::NONE {
        FileAttributes::NORMAL
    } else {
        kept
    }
}

/// Converts a time of the tree.
pub fn file_time(time: UnixNanoseconds) -> FileTime {
    FileTime::from_unix((time / 1_000_000_000) as i64, (time % 1_000_000_000) as u32)
}

/// Converts to a time of the tree, which starts in 1970.
pub fn timestamp(time: FileTime) -> UnixNanoseconds {
    let seconds = u64::try_from(time.unix_seconds()).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(time.subsec_nanoseconds().into())
}

/// Converts an error status of the tree to SMB.
pub fn status_of(status: nfs3::Status) -> Status {
    match status {
        nfs3::Status::NOENT | nfs3::Status::STALE => Status::OBJECT_NAME_NOT_FOUND,
        nfs3::Status::EXIST => Status::OBJECT_NAME_COLLISION,
        nfs3::Status::NOTDIR => Status::NOT_A_DIRECTORY,
        nfs3::Status::ISDIR => Status::FILE_IS_A_DIRECTORY,
        nfs3::Status::NOTEMPTY => Status::DIRECTORY_NOT_EMPTY,
        nfs3::Status::NOSPC | nfs3::Status::DQUOT => Status::DISK_FULL,
        nfs3::Status::NAMETOOLONG => Status::OBJECT_NAME_INVALID,
        nfs3::Status::FBIG => Status::INVALID_PARAMETER,
        nfs3::Status::ACCES | nfs3::Status::PERM => Status::ACCESS_DENIED,
        nfs3::Status::MLINK => Status::TOO_MANY_LINKS,
        nfs3::Status::INVAL => Status::INVALID_DEVICE_REQUEST,
        _ => Status::UNEXPECTED_IO_ERROR,
    }
}
