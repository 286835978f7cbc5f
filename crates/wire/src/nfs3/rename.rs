//! RENAME: rename a file or directory (RFC 1813, section 3.3.14).

use super::{DirOpArgs, ReplyFail, WccData};

message! {
    /// `RENAME3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Where it is.
        pub from: DirOpArgs<'a>,
        /// Where it shall be.
        pub to: DirOpArgs<'a>,
    }
}

message! {
    /// `RENAME3resok`, and the attributes of a failing arm, which are the same.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `fromdir_wcc`, as far as the server gives it.
        pub fromdir_wcc: WccData,
        /// `todir_wcc`, as far as the server gives it.
        pub todir_wcc: WccData,
    }
}

/// `RENAME3res`.
pub type Reply = Result<ReplyOk, ReplyFail<ReplyOk>>;
