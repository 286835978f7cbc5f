//! GETATTR: get file attributes (RFC 1813, section 3.3.1).

use super::{Fattr3, FileHandle, ReplyFail};

/// `GETATTR3args`: object whose attributes are requested.
pub type Args<'a> = FileHandle<'a>;

/// `GETATTR3res`, whose `resok` contains only `obj_attributes`.
pub type Reply = Result<Fattr3, ReplyFail<()>>;
