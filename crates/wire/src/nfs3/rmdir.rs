//! RMDIR: remove a directory (RFC 1813, section 3.3.13).

use super::{DirOpArgs, Status, WccData};

message! {
    /// `RMDIR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The directory, and the name of the one to remove from it.
        pub object: DirOpArgs<'a>,
    }
}

message! {
    /// `RMDIR3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

message! {
    /// The failing arms of `RMDIR3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

/// `RMDIR3res`.
pub type Reply = Result<ReplyOk, ReplyFail>;
