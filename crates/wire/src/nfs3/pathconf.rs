//! PATHCONF: get POSIX information (RFC 1813, section 3.3.20).

use super::{FileHandle, PostOpAttr, ReplyFail};

/// `PATHCONF3args`: object to query.
pub type Args<'a> = FileHandle<'a>;

message! {
    /// `PATHCONF3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// Largest number of hard links to an object.
        pub linkmax: u32,
        /// Longest name, in bytes.
        pub name_max: u32,
        /// The server refuses longer names and does not truncate them.
        pub no_trunc: bool,
        /// Only a privileged user can change owners.
        pub chown_restricted: bool,
        /// The file system ignores case in names.
        pub case_insensitive: bool,
        /// The file system preserves the case of names.
        pub case_preserving: bool,
    }
}

/// `PATHCONF3res`.
pub type Reply = Result<ReplyOk, ReplyFail<PostOpAttr>>;
