//! COMMIT: commit cached data to stable storage (RFC 1813, section 3.3.21).

use super::{FileHandle, ReplyFail, Verifier, WccData};

message! {
    /// `COMMIT3args`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// The file.
        pub file: FileHandle<'a>,
        /// Offset in the file.
        pub offset: u64,
        /// Number of bytes; 0 extends to the end.
        pub count: u32,
    }
}

message! {
    /// `COMMIT3resok`.
    #[derive(Copy)]
    pub struct ReplyOk {
        /// `file_wcc`, with the attributes that the server returns.
        pub file_wcc: WccData,
        /// `writeverf3`: a value other than that of WRITE means that data may be lost.
        pub verf: Verifier,
    }
}

/// `COMMIT3res`.
pub type Reply = Result<ReplyOk, ReplyFail<WccData>>;
