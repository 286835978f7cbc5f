//! REMOVE: remove a file (RFC 1813, section 3.3.12).

use super::{DirOpArgs, ReplyFail, WccData};

/// `REMOVE3args`: the directory, and the name to remove from it.
pub type Args<'a> = DirOpArgs<'a>;

/// `REMOVE3res`, whose `resok` contains only `dir_wcc`.
pub type Reply = Result<WccData, ReplyFail<WccData>>;
