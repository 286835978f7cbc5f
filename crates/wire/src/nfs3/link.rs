//! LINK: create a link to a file (RFC 1813, section 3.3.15).

use super::{DirOpArgs, FileHandle, PostOpAttr, ReplyFail, WccData};

message! {
    /// `LINK3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The file.
        pub file: FileHandle<'a>,
        /// The directory, and the new name in it.
        pub link: DirOpArgs<'a>,
    }
}

message! {
    /// `LINK3resok`, and the attributes of a failure, which have the same form.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `file_attributes`, if the server gives them.
        pub file_attributes: PostOpAttr,
        /// `linkdir_wcc`, with the attributes that the server returns.
        pub linkdir_wcc: WccData,
    }
}

/// `LINK3res`.
pub type Reply = Result<ReplyOk, ReplyFail<ReplyOk>>;
