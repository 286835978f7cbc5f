//! SETATTR: set file attributes (RFC 1813, section 3.3.2).

use super::{FileHandle, Nfstime3, Sattr3, Status, WccData};

message! {
    /// `SETATTR3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The object to change.
        pub object: FileHandle<'a>,
        /// What to set.
        pub new_attributes: Sattr3,
        /// `sattrguard3`: change nothing unless the ctime is this.
        pub guard: Option<Nfstime3>,
    }
}

message! {
    /// `SETATTR3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `obj_wcc`, as far as the server gives it.
        pub obj_wcc: WccData,
    }
}

message! {
    /// The failing arms of `SETATTR3res`.
    #[derive(Copy)]
    pub struct ReplyFail {
        /// Why.
        pub status: Status,
        /// `obj_wcc`, as far as the server gives it.
        pub obj_wcc: WccData,
    }
}

/// `SETATTR3res`.
pub type Reply = Result<ReplyOk, ReplyFail>;
