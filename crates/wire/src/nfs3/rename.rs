//! RENAME: rename a file or directory (RFC 1813, section 3.3.14).

use super::{DirOpArgs, ReplyFail, WccData};

message! {
    /// `RENAME3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Current directory and name.
        pub from: DirOpArgs<'a>,
        /// New directory and name.
        pub to: DirOpArgs<'a>,
    }
}

message! {
    /// `RENAME3resok`, and the attributes of a failure, which have the same form.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `fromdir_wcc`, with the attributes that the server returns.
        pub fromdir_wcc: WccData,
        /// `todir_wcc`, with the attributes that the server returns.
        pub todir_wcc: WccData,
    }
}

/// `RENAME3res`.
pub type Reply = Result<ReplyOk, ReplyFail<ReplyOk>>;
