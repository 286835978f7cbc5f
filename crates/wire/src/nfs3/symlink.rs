//! SYMLINK: create a symbolic link (RFC 1813, section 3.3.10).

use super::{DirOpArgs, PostOpAttr, PostOpHandle, Sattr3, Status, WccData};

message! {
    /// `SYMLINK3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// `where`: the directory, and the name of the new link in it.
        pub where_: DirOpArgs<'a>,
        /// The new link.
        pub symlink: SymlinkData<'a>,
    }
}

message! {
    /// `symlinkdata3`.
    #[derive(Copy)]
    pub struct SymlinkData<'a> {
        /// Its attributes.
        pub symlink_attributes: Sattr3,
        /// `nfspath3`: what it holds.
        pub symlink_data: &'a [u8],
    }
}

message! {
    /// `SYMLINK3resok`.
    #[derive(Copy)]
    pub struct ReplyOk<'a> {
        /// The new object, if the server gives it.
        pub obj: PostOpHandle<'a>,
        /// `obj_attributes`, if the server gives them.
        pub obj_attributes: PostOpAttr,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

message! {
    /// The failing arms of `SYMLINK3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `dir_wcc`, as far as the server gives it.
        pub dir_wcc: WccData,
    }
}

/// `SYMLINK3res`.
pub type Reply<'a> = Result<ReplyOk<'a>, ReplyFail>;
