//! Open files of a load on a share, by the load file's numbers.

use super::open_contexts::OpenContexts;
use super::requests::CreateParams;
use crate::client::call_slot::{ActionError, ActionResult};
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions, ShareAccess};
use filestone_wire::smb2::{AccessMask, FileId};
use filestone_workload::load::Cause;
use std::collections::BTreeMap;

/// A range of a file that is read, written or locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    /// Start offset.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

/// A file or directory that a load file has open, with the parameters to open it again.
#[derive(Debug)]
pub(super) struct OpenFile {
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
    pub locks: Vec<Held>,
}

impl OpenFile {
    /// Returns the parameters to open it again, or to reclaim it.
    pub fn opening(&self) -> CreateParams<'_> {
        CreateParams::existing(&self.path, self.access)
            .by(CreateDisposition::OPEN_IF)
            .with(self.options)
            .sharing(self.sharing)
    }
}

/// Open files by their numbers in the load file. Only a few are open at a time: comparisons are
/// faster than a hash.
#[derive(Debug, Default)]
pub(super) struct OpenFiles(BTreeMap<u64, OpenFile>);

impl OpenFiles {
    /// Adds an open file under this number; returns the previous one.
    pub fn insert(&mut self, number: u64, file: OpenFile) -> Option<OpenFile> {
        self.0.insert(number, file)
    }

    /// Returns an open file.
    pub fn find(&mut self, number: u64) -> ActionResult<&mut OpenFile> {
        let unknown = || ActionError::refused(Cause::UnknownHandle);
        self.0.get_mut(&number).ok_or_else(unknown)
    }

    /// Returns an open file that the run may modify.
    pub fn find_own(&mut self, number: u64) -> ActionResult<&mut OpenFile> {
        let file = self.find(number)?;
        if file.is_own {
            Ok(file)
        } else {
            Err(ActionError::refused(Cause::Denied))
        }
    }

    /// Returns an open file.
    pub fn get(&self, number: u64) -> Option<&OpenFile> {
        self.0.get(&number)
    }

    /// Returns an open file, mutable.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut OpenFile> {
        self.0.get_mut(&number)
    }

    /// Returns the numbers of all open files.
    pub fn numbers(&self) -> Vec<u64> {
        self.0.keys().copied().collect()
    }

    /// Removes one file.
    pub fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }

    /// Removes all files.
    pub fn take_all(&mut self) -> Vec<OpenFile> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}
