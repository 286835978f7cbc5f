//! REMOVE: remove a file (RFC 1813, section 3.3.12).

use super::{DirOpArgs, ReplyFail, WccData};

message! {
    /// `REMOVE3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The directory, and the name to remove from it.
        pub object: DirOpArgs<'a>,
    }
}

message! {
    /// `REMOVE3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `dir_wcc`, with the attributes that the server returns.
        pub dir_wcc: WccData,
    }
}

/// `REMOVE3res`.
pub type Reply = Result<ReplyOk, ReplyFail<WccData>>;
