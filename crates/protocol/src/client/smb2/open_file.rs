//! An open file of a load on a share.

use super::open_contexts::OpenContexts;
use super::requests::CreateParams;
use crate::client::open_files::{Extent, OpenedFile};
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions, ShareAccess};
use filestone_wire::smb2::{AccessMask, FileId};

/// A file or directory that a load file has open, with the parameters to open it again.
#[derive(Debug)]
pub(super) struct SmbOpenFile {
    pub file_id: FileId,
    /// Create contexts for a reclaim after the loss of its connection, if the handle is durable.
    pub outlives: Option<OpenContexts>,
    /// Number of session losses when it was opened.
    pub losses: u32,
    pub path: Box<str>,
    pub access: AccessMask,
    pub options: CreateOptions,
    pub sharing: ShareAccess,
    /// Whether it belongs to the run, so that it may be modified.
    pub is_own: bool,
    pub locks: Vec<Extent>,
}

impl SmbOpenFile {
    /// Returns the parameters to open it again, or to reclaim it.
    pub fn opening(&self) -> CreateParams<'_> {
        CreateParams::existing(&self.path, self.access)
            .by(CreateDisposition::OPEN_IF)
            .with(self.options)
            .sharing(self.sharing)
    }
}

impl OpenedFile for SmbOpenFile {
    fn is_own(&self) -> bool {
        self.is_own
    }
}
