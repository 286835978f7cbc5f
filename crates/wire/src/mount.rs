//! MOUNT version 3: from a path to the first file handle (RFC 1813,
//! appendix I).

use alloc::vec::Vec;

use crate::nfs3::FileHandle;
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer, length};

/// MOUNT_PROGRAM.
pub const PROGRAM: u32 = 100_005;
/// MOUNT_V3.
pub const VERSION: u32 = 3;
/// MNTPATHLEN: longest path, in bytes.
pub const PATH_MAX: usize = 1024;
/// MNTNAMLEN: longest name of a host or group, in bytes.
pub const NAME_MAX: usize = 255;

procedures! {
    /// A procedure of the MOUNT protocol, section 5.2.
    pub enum Procedure: u32 {
        /// MOUNTPROC3_NULL: void to void.
        Null = 0, "null";
        /// MOUNTPROC3_MNT: [`DirPath`] to [`MntReply`].
        Mnt = 1, "mnt";
        /// MOUNTPROC3_DUMP: void to [`DumpReply`].
        Dump = 2, "dump";
        /// MOUNTPROC3_UMNT: [`DirPath`] to void.
        Umnt = 3, "umnt";
        /// MOUNTPROC3_UMNTALL: void to void.
        UmntAll = 4, "umntall";
        /// MOUNTPROC3_EXPORT: void to [`ExportReply`].
        Export = 5, "export";
    }
}

numbered! {
    /// `mountstat3`, section 5.1.5.
    pub struct MountStatus("mountstat3") {
        /// No error.
        OK = 0, "MNT3_OK";
        /// Operation not permitted for a non-owner.
        PERM = 1, "MNT3ERR_PERM";
        /// No such file or directory.
        NOENT = 2, "MNT3ERR_NOENT";
        /// I/O error.
        IO = 5, "MNT3ERR_IO";
        /// Permission denied.
        ACCES = 13, "MNT3ERR_ACCES";
        /// The path is not a directory.
        NOTDIR = 20, "MNT3ERR_NOTDIR";
        /// Invalid argument.
        INVAL = 22, "MNT3ERR_INVAL";
        /// The file name is too long.
        NAMETOOLONG = 63, "MNT3ERR_NAMETOOLONG";
        /// The operation is not supported.
        NOTSUPP = 10004, "MNT3ERR_NOTSUPP";
        /// A failure on the server.
        SERVERFAULT = 10006, "MNT3ERR_SERVERFAULT";
    }
}

/// `dirpath`: the path of a directory on the server, at most [`PATH_MAX`] bytes. Argument of MNT
/// and UMNT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirPath<'a>(pub &'a [u8]);

impl Encode for DirPath<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.opaque(self.0);
    }
}

impl<'a> Decode<'a> for DirPath<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.opaque(PATH_MAX).map(Self)
    }
}

/// `name`: a host or a group of hosts, at most [`NAME_MAX`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a>(pub &'a [u8]);

impl Encode for Name<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.opaque(self.0);
    }
}

impl<'a> Decode<'a> for Name<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.opaque(NAME_MAX).map(Self)
    }
}

/// `mountres3_ok`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MntOk<'a> {
    /// The handle of the directory.
    pub fhandle: FileHandle<'a>,
    /// RPC authentication flavors that the server accepts, best first.
    pub auth_flavors: Vec<u32>,
}

impl Encode for MntOk<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.fhandle.encode(out);
        out.u32(length(self.auth_flavors.len()));
        for flavor in &self.auth_flavors {
            out.u32(*flavor);
        }
    }
}

impl<'a> Decode<'a> for MntOk<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let fhandle = FileHandle::decode(reader)?;
        let count = reader.u32()?;
        let mut auth_flavors = Vec::new();
        for _ in 0..count {
            auth_flavors.push(reader.u32()?);
        }
        Ok(Self {
            fhandle,
            auth_flavors,
        })
    }
}

message! {
    /// Failure arm of `mountres3`.
    #[derive(Copy)]
    pub struct MntFail {
        /// Status of the failure.
        pub status: MountStatus,
    }
}

/// `mountres3`.
pub type MntReply<'a> = Result<MntOk<'a>, MntFail>;

message! {
    /// `mountbody`: a client and its mount.
    #[derive(Copy)]
    pub struct MountEntry<'a> {
        /// `ml_hostname`.
        pub hostname: Name<'a>,
        /// `ml_directory`.
        pub directory: DirPath<'a>,
    }
}

/// `mountlist`: the server's list of clients and their mounts.
pub type DumpReply<'a> = Vec<MountEntry<'a>>;

message! {
    /// `exportnode`: one exported directory.
    pub struct ExportEntry<'a> {
        /// `ex_dir`.
        pub directory: DirPath<'a>,
        /// `ex_groups`: groups that may mount it; everyone if empty.
        pub groups: Vec<Name<'a>>,
    }
}

/// `exports`: what the server exports.
pub type ExportReply<'a> = Vec<ExportEntry<'a>>;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn a_path_over_1024_bytes_is_refused() {
        let path = DirPath(&[b'a'; 1025]).to_bytes();
        assert_eq!(
            DirPath::from_bytes(&path),
            Err(DecodeError::TooLong {
                at: 0,
                len: 1025,
                limit: 1024
            })
        );
    }

    #[test]
    fn a_status_is_shown_by_name_and_number() {
        assert_eq!(MountStatus::ACCES.to_string(), "MNT3ERR_ACCES (13)");
    }

    #[test]
    fn a_count_of_flavors_takes_no_memory() {
        let mut bytes = MntReply::Ok(MntOk {
            fhandle: FileHandle::new(b"root").unwrap(),
            auth_flavors: vec![1],
        })
        .to_bytes();
        let count = bytes.len() - 8;
        bytes[count..count + 4].copy_from_slice(&[0xff; 4]);
        assert!(matches!(
            MntReply::from_bytes(&bytes),
            Err(DecodeError::Short { .. })
        ));
    }

    #[test]
    fn an_export_list_is_what_the_appendix_says() {
        let exports = vec![ExportEntry {
            directory: DirPath(b"/mem"),
            groups: vec![Name(b"*")],
        }];
        // An entry follows: "/mem"; one group follows: "*"; no group; no export.
        let expected = [
            0, 0, 0, 1, 0, 0, 0, 4, b'/', b'm', b'e', b'm', 0, 0, 0, 1, 0, 0, 0, 1, b'*', 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(exports.to_bytes(), expected);
        assert_eq!(ExportReply::from_bytes(&expected), Ok(exports));
    }
}
