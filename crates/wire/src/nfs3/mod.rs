//! NFS version 3: the 22 procedures (RFC 1813).
//!
//! Each procedure has a file with `Args`, `ReplyOk` and `Reply`, and fields named as in the
//! standard. Types shared by several procedures are in separate files.

pub mod access;
pub mod attributes;
pub mod commit;
pub mod create;
pub mod directory;
mod fail;
pub mod fsinfo;
pub mod fsstat;
pub mod getattr;
pub mod handle;
pub mod link;
pub mod lookup;
pub mod mkdir;
pub mod mknod;
pub mod null;
pub mod pathconf;
mod procedure;
pub mod read;
pub mod readdir;
pub mod readdirplus;
pub mod readlink;
pub mod remove;
pub mod rename;
pub mod rmdir;
pub mod setattr;
mod status;
pub mod symlink;
pub mod time;
pub mod write;

pub use attributes::{
    Fattr3, FileType, PostOpAttr, PreOpAttr, Sattr3, SetTime, Specdata3, WccAttr, WccData,
};
pub use fail::ReplyFail;
pub use handle::{DirOpArgs, FileHandle, HANDLE_MAX, Handle, PostOpHandle};
pub use procedure::Procedure;
pub use status::Status;
pub use time::Nfstime3;

/// NFS_PROGRAM, section 3.
pub const PROGRAM: u32 = 100_003;
/// NFS_V3, section 3.
pub const VERSION: u32 = 3;
/// Default port of servers, section 2.1.
pub const PORT: u16 = 2049;

/// `cookieverf3`, `createverf3` and `writeverf3`: eight bytes that are opaque to the other side.
pub type Verifier = [u8; 8];
