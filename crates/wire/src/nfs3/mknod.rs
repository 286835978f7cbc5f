//! MKNOD: create a special device (RFC 1813, section 3.3.11).

/// `MKNOD3res`, which is that of CREATE.
pub use super::create::{Reply, ReplyOk};

use super::{DirOpArgs, FileType, Sattr3, Specdata3};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

message! {
    /// `devicedata3`.
    #[derive(Copy)]
    pub struct DeviceData {
        /// Attributes of the device file.
        pub dev_attributes: Sattr3,
        /// Device numbers.
        pub spec: Specdata3,
    }
}

/// `mknoddata3`: a union switched on `ftype3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MknodData {
    /// NF3CHR.
    CharacterDevice(DeviceData),
    /// NF3BLK.
    BlockDevice(DeviceData),
    /// NF3SOCK, with the attributes of the socket.
    Socket(Sattr3),
    /// NF3FIFO, with the attributes of the pipe.
    Fifo(Sattr3),
    /// NF3REG, which MKNOD does not create: NFS3ERR_BADTYPE.
    Regular,
    /// NF3DIR, which MKNOD does not create: NFS3ERR_BADTYPE.
    Directory,
    /// NF3LNK, which MKNOD does not create: NFS3ERR_BADTYPE.
    Symlink,
}

impl MknodData {
    /// The type of the new object.
    pub const fn file_type(&self) -> FileType {
        match self {
            Self::CharacterDevice(_) => FileType::CharacterDevice,
            Self::BlockDevice(_) => FileType::BlockDevice,
            Self::Socket(_) => FileType::Socket,
            Self::Fifo(_) => FileType::Fifo,
            Self::Regular => FileType::Regular,
            Self::Directory => FileType::Directory,
            Self::Symlink => FileType::Symlink,
        }
    }
}

impl Encode for MknodData {
    fn encode(&self, out: &mut Writer<'_>) {
        self.file_type().encode(out);
        match self {
            Self::CharacterDevice(device) | Self::BlockDevice(device) => device.encode(out),
            Self::Socket(attributes) | Self::Fifo(attributes) => attributes.encode(out),
            Self::Regular | Self::Directory | Self::Symlink => {}
        }
    }
}

impl<'a> Decode<'a> for MknodData {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match FileType::decode(reader)? {
            FileType::CharacterDevice => Self::CharacterDevice(DeviceData::decode(reader)?),
            FileType::BlockDevice => Self::BlockDevice(DeviceData::decode(reader)?),
            FileType::Socket => Self::Socket(Sattr3::decode(reader)?),
            FileType::Fifo => Self::Fifo(Sattr3::decode(reader)?),
            FileType::Regular => Self::Regular,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
        })
    }
}

message! {
    /// `MKNOD3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// `where`: the directory, and the name of the new object in it.
        pub where_: DirOpArgs<'a>,
        /// The new object.
        pub what: MknodData,
    }
}
