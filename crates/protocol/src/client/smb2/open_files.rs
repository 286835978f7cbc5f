//! What a load file has open on a share, by its own numbers.

use super::open_contexts::OpenContexts;
use super::requests::CreateParams;
use crate::client::call_slot::{ActionError, ActionResult};
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions, ShareAccess};
use filestone_wire::smb2::{AccessMask, FileId};
use filestone_workload::load::Cause;
use std::collections::BTreeMap;

/// A stretch of a file: one that is read, written, or held locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    /// Where it begins.
    pub offset: u64,
    /// Bytes of it.
    pub len: u64,
}

/// A file or directory that a load file has open, with what it takes to open it again.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub file_id: FileId,
    /// By what it is taken up again once its connection is gone, if it outlives that.
    pub outlives: Option<OpenContexts>,
    /// How often the session had been lost when it was opened.
    pub losses: u32,
    pub path: Box<str>,
    pub access: AccessMask,
    pub options: CreateOptions,
    pub sharing: ShareAccess,
    /// Whether it is the run's own, so that it may be changed.
    pub is_own: bool,
    pub locks: Vec<Held>,
}

impl OpenFile {
    /// How it is opened again, or taken up.
    pub fn opening(&self) -> CreateParams<'_> {
        CreateParams::existing(&self.path, self.access)
            .by(CreateDisposition::OPEN_IF)
            .with(self.options)
            .sharing(self.sharing)
    }
}

/// Open files by the numbers that the load file has for them. There are few at a time: to compare
/// a number with some is shorter than to hash it.
#[derive(Debug, Default)]
pub(super) struct OpenFiles(BTreeMap<u64, OpenFile>);

impl OpenFiles {
    /// The load file calls it so from now on; what it called so before.
    pub fn insert(&mut self, number: u64, file: OpenFile) -> Option<OpenFile> {
        self.0.insert(number, file)
    }

    /// An open file.
    pub fn find(&mut self, number: u64) -> ActionResult<&mut OpenFile> {
        let unknown = || ActionError::refused(Cause::UnknownHandle);
        self.0.get_mut(&number).ok_or_else(unknown)
    }

    /// An open file that the run may change.
    pub fn find_own(&mut self, number: u64) -> ActionResult<&mut OpenFile> {
        let file = self.find(number)?;
        if file.is_own {
            Ok(file)
        } else {
            Err(ActionError::refused(Cause::Denied))
        }
    }

    /// An open file.
    pub fn get(&self, number: u64) -> Option<&OpenFile> {
        self.0.get(&number)
    }

    /// An open file, to be changed.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut OpenFile> {
        self.0.get_mut(&number)
    }

    /// The numbers of all.
    pub fn numbers(&self) -> Vec<u64> {
        self.0.keys().copied().collect()
    }

    /// Closes one.
    pub fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }

    /// Closes all.
    pub fn take_all(&mut self) -> Vec<OpenFile> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}
