//! FSINFO: get static file system information (RFC 1813, section 3.3.19).

use super::{FileHandle, Nfstime3, PostOpAttr, ReplyFail};

/// FSF3_LINK: hard links.
pub const LINK: u32 = 0x01;
/// FSF3_SYMLINK: symbolic links.
pub const SYMLINK: u32 = 0x02;
/// FSF3_HOMOGENEOUS: PATHCONF has equal results for every file.
pub const HOMOGENEOUS: u32 = 0x08;
/// FSF3_CANSETTIME: SETATTR sets times exactly.
pub const CANSETTIME: u32 = 0x10;

/// `FSINFO3args`: the root of the file system.
pub type Args<'a> = FileHandle<'a>;

message! {
    /// `FSINFO3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// Largest READ, in bytes.
        pub rtmax: u32,
        /// Preferred size of a READ, in bytes.
        pub rtpref: u32,
        /// Suggested multiple of read sizes.
        pub rtmult: u32,
        /// Largest WRITE, in bytes.
        pub wtmax: u32,
        /// Preferred size of a WRITE, in bytes.
        pub wtpref: u32,
        /// Suggested multiple of write sizes.
        pub wtmult: u32,
        /// Preferred size of a READDIR, in bytes.
        pub dtpref: u32,
        /// Largest file, in bytes.
        pub maxfilesize: u64,
        /// The precision of times.
        pub time_delta: Nfstime3,
        /// The `FSF3` bits.
        pub properties: u32,
    }
}

/// `FSINFO3res`.
pub type Reply = Result<ReplyOk, ReplyFail<PostOpAttr>>;
