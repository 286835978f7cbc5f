//! FLUSH: write what is cached to stable storage (sections 2.2.17 and 2.2.18).

use super::{Empty, FileId};

layout! {
    /// SMB2 FLUSH Request.
    pub struct Request[24, reserved 6] {
        /// FileId.
        pub file_id: FileId;
    }
}

/// SMB2 FLUSH Response.
pub type Response = Empty;
