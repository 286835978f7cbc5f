//! File attributes, and the ones that a client can set (RFC 1813, section 2.6).

use super::time::Nfstime3;
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

/// `ftype3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum FileType {
    /// NF3REG.
    Regular = 1,
    /// NF3DIR.
    Directory = 2,
    /// NF3BLK.
    BlockDevice = 3,
    /// NF3CHR.
    CharacterDevice = 4,
    /// NF3LNK.
    Symlink = 5,
    /// NF3SOCK.
    Socket = 6,
    /// NF3FIFO.
    Fifo = 7,
}

impl FileType {
    /// The file types, by number.
    pub const ALL: [Self; 7] = [
        Self::Regular,
        Self::Directory,
        Self::BlockDevice,
        Self::CharacterDevice,
        Self::Symlink,
        Self::Socket,
        Self::Fifo,
    ];

    #[inline]
    fn from_number(value: u32) -> Result<Self, DecodeError> {
        Ok(match value {
            1 => Self::Regular,
            2 => Self::Directory,
            3 => Self::BlockDevice,
            4 => Self::CharacterDevice,
            5 => Self::Symlink,
            6 => Self::Socket,
            7 => Self::Fifo,
            _ => {
                return Err(DecodeError::BadDiscriminant {
                    field: "ftype3",
                    value,
                });
            }
        })
    }
}

impl Encode for FileType {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u32(*self as u32);
    }
}

impl<'a> Decode<'a> for FileType {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::from_number(reader.u32()?)
    }
}

message! {
    /// `specdata3`: the two numbers of a device.
    #[derive(Copy, Default, Hash)]
    pub struct Specdata3 {
        /// `specdata1`, the major number.
        pub major: u32,
        /// `specdata2`, the minor number.
        pub minor: u32,
    }
}

/// `fattr3`: all attributes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fattr3 {
    /// `type`.
    pub file_type: FileType,
    /// Permission bits.
    pub mode: u32,
    /// Hard links to the file.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size of the file, in bytes.
    pub size: u64,
    /// Disk space of the file, in bytes.
    pub used: u64,
    /// Device numbers of a device file.
    pub rdev: Specdata3,
    /// File system of the file.
    pub fsid: u64,
    /// File number in the file system.
    pub fileid: u64,
    /// Last access to the data.
    pub atime: Nfstime3,
    /// Last change of the data.
    pub mtime: Nfstime3,
    /// Last change of the attributes.
    pub ctime: Nfstime3,
}

impl Fattr3 {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 84;
}

#[inline]
const fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

#[inline]
const fn low(value: u64) -> u32 {
    value as u32
}

#[inline]
const fn join(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Attributes are in nearly every reply, so they are written and read as one block of words, not
/// field by field.
impl Encode for Fattr3 {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.words([
            self.file_type as u32,
            self.mode,
            self.nlink,
            self.uid,
            self.gid,
            high(self.size),
            low(self.size),
            high(self.used),
            low(self.used),
            self.rdev.major,
            self.rdev.minor,
            high(self.fsid),
            low(self.fsid),
            high(self.fileid),
            low(self.fileid),
            self.atime.seconds,
            self.atime.nseconds,
            self.mtime.seconds,
            self.mtime.nseconds,
            self.ctime.seconds,
            self.ctime.nseconds,
        ]);
    }
}

impl<'a> Decode<'a> for Fattr3 {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let [file_type, mode, nlink, uid, gid] = reader.words()?;
        let [size_high, size_low, used_high, used_low, major, minor] = reader.words()?;
        let [fsid_high, fsid_low, fileid_high, fileid_low] = reader.words()?;
        let [atime, atime_n, mtime, mtime_n, ctime, ctime_n] = reader.words()?;
        Ok(Self {
            file_type: FileType::from_number(file_type)?,
            mode,
            nlink,
            uid,
            gid,
            size: join(size_high, size_low),
            used: join(used_high, used_low),
            rdev: Specdata3 { major, minor },
            fsid: join(fsid_high, fsid_low),
            fileid: join(fileid_high, fileid_low),
            atime: Nfstime3 {
                seconds: atime,
                nseconds: atime_n,
            },
            mtime: Nfstime3 {
                seconds: mtime,
                nseconds: mtime_n,
            },
            ctime: Nfstime3 {
                seconds: ctime,
                nseconds: ctime_n,
            },
        })
    }
}

/// `post_op_attr`: attributes after the operation, if the server returns them.
pub type PostOpAttr = Option<Fattr3>;

/// `pre_op_attr`: attributes before the operation, if the server returns them.
pub type PreOpAttr = Option<WccAttr>;

message! {
    /// `wcc_attr`: the attributes that show whether a file has changed.
    #[derive(Copy, Default, Hash)]
    pub struct WccAttr {
        /// Size of the file, in bytes.
        pub size: u64,
        /// Last change of the data.
        pub mtime: Nfstime3,
        /// Last change of the attributes.
        pub ctime: Nfstime3,
    }
}

impl From<&Fattr3> for WccAttr {
    #[inline]
    fn from(attributes: &Fattr3) -> Self {
        Self {
            size: attributes.size,
            mtime: attributes.mtime,
            ctime: attributes.ctime,
        }
    }
}

message! {
    /// `wcc_data`: attributes before and after, for weak cache consistency.
    #[derive(Copy, Default)]
    pub struct WccData {
        /// Before the operation.
        pub before: PreOpAttr,
        /// After the operation.
        pub after: PostOpAttr,
    }
}

message! {
    /// `sattr3`: attributes to set; `None` leaves the current value.
    #[derive(Copy, Default)]
    pub struct Sattr3 {
        /// `set_mode3`.
        pub mode: Option<u32>,
        /// `set_uid3`.
        pub uid: Option<u32>,
        /// `set_gid3`.
        pub gid: Option<u32>,
        /// `set_size3`.
        pub size: Option<u64>,
        /// `set_atime`.
        pub atime: SetTime,
        /// `set_mtime`.
        pub mtime: SetTime,
    }
}

/// `set_atime`, `set_mtime`: a union switched on `time_how`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SetTime {
    /// DONT_CHANGE.
    #[default]
    DontChange,
    /// SET_TO_SERVER_TIME.
    ServerTime,
    /// SET_TO_CLIENT_TIME.
    ClientTime(Nfstime3),
}

impl Encode for SetTime {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::DontChange => out.u32(0),
            Self::ServerTime => out.u32(1),
            Self::ClientTime(time) => out.words([2, time.seconds, time.nseconds]),
        }
    }
}

impl<'a> Decode<'a> for SetTime {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match reader.u32()? {
            0 => Ok(Self::DontChange),
            1 => Ok(Self::ServerTime),
            2 => Ok(Self::ClientTime(Nfstime3::decode(reader)?)),
            value => Err(DecodeError::BadDiscriminant {
                field: "time_how",
                value,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_eighty_four_bytes_in_the_order_of_the_standard() {
        let time = |seconds| Nfstime3 {
            seconds,
            nseconds: seconds + 1,
        };
        let attributes = Fattr3 {
            file_type: FileType::CharacterDevice,
            mode: 1,
            nlink: 2,
            uid: 3,
            gid: 4,
            size: 0x0500_0000_0006,
            used: 0x0700_0000_0008,
            rdev: Specdata3 {
                major: 9,
                minor: 10,
            },
            fsid: 0x0b00_0000_000c,
            fileid: 0x0d00_0000_000e,
            atime: time(15),
            mtime: time(17),
            ctime: time(19),
        };
        #[rustfmt::skip]
        let words: [u32; Fattr3::LEN / 4] = [
            4, 1, 2, 3, 4, 0x500, 6, 0x700, 8, 9, 10, 0xb00, 12, 0xd00, 14,
            15, 16, 17, 18, 19, 20,
        ];
        let expected = words.map(u32::to_be_bytes);
        assert_eq!(attributes.to_bytes(), expected.as_flattened());
        assert_eq!(Fattr3::from_bytes(expected.as_flattened()), Ok(attributes));
    }

    #[test]
    fn a_type_the_standard_does_not_have_is_named() {
        for value in [0, 8] {
            assert_eq!(
                FileType::from_bytes(&u32::to_be_bytes(value)),
                Err(DecodeError::BadDiscriminant {
                    field: "ftype3",
                    value
                })
            );
        }
    }
}
