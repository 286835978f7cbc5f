//! State of a client that its slots share: its open files and watches.

use super::{DIRECTORY, FILE, file_in};
use crate::client::Verify;
use crate::client::call_slot::ActionResult;
use crate::client::smb2::connection_setup::ConnectionSetup;
use crate::client::smb2::handle_policy::HandlePolicy;
use crate::client::smb2::link::SmbCallHandle;
use crate::client::smb2::open_table::{OpenKey, OpenTable, SmbHandle};
use crate::client::smb2::requests::{CreateParams, LISTING, is_not_there};
use filestone_wire::smb2::create::CreateDisposition;
use filestone_wire::smb2::{self, AccessMask, Dialect};
use filestone_workload::operation::{FileId, OpenId};
use std::sync::{Arc, Mutex, PoisonError};

/// A file kept open between operations.
#[derive(Debug, Clone, Copy)]
pub struct HeldFile<'k> {
    /// The file of the run.
    pub file: FileId,
    /// Path of the file.
    pub path: &'k str,
    /// Access mask of the open.
    pub access: AccessMask,
    /// Oplock, lease and durable-handle settings.
    pub keeping: &'k HandlePolicy,
}

impl HeldFile<'_> {
    pub(super) async fn open(
        &self,
        link: SmbCallHandle,
        dialect: Dialect,
    ) -> ActionResult<SmbHandle> {
        let asking = self.keeping.asking_to_stay(dialect, self.path);
        let opening = CreateParams::existing(self.path, self.access).asking(asking);
        let opened = self.keeping.open(link, &opening).await?;
        Ok(SmbHandle {
            file_id: opened.file_id,
            file: Some(self.file),
            outlives: opened.is_durable.then_some(asking),
        })
    }
}

/// State shared by the slots of a client.
#[derive(Debug, Clone)]
pub struct ClientState {
    /// Connection setup of the client.
    pub way: Arc<ConnectionSetup>,
    /// Open files of the client.
    pub opens: Arc<OpenTable>,
    /// Verifier of data that are read, if they are verified.
    pub verify: Option<Arc<Mutex<Verify>>>,
}

/// Time in nanoseconds until a server is certain to see changes. Samba answers before that: another
/// of its processes watches, and a change before the watch starts is never reported.
pub const WATCHES_TAKE_NANOS: u64 = 200_000_000;

impl ClientState {
    /// Creates the state of a client without open files.
    pub fn new(way: Arc<ConnectionSetup>) -> Self {
        let opens = Arc::default();
        Self {
            way,
            opens,
            verify: None,
        }
    }

    /// Returns the state with `verify` as the verifier of data that are read.
    #[must_use]
    pub fn verifying(self, verify: Option<Verify>) -> Self {
        let verify = verify.map(|verify| Arc::new(Mutex::new(verify)));
        Self { verify, ..self }
    }

    /// Returns whether these are the data at `offset` of a file, insofar as this can be determined.
    pub(super) fn is_right(&self, file: FileId, offset: u64, data: &[u8]) -> bool {
        let Some(verify) = &self.verify else {
            return true;
        };
        // All slots of a client are on one thread, and no code that holds the lock can panic.
        let mut verify = verify.lock().unwrap_or_else(PoisonError::into_inner);
        verify.is_right(file, offset, data)
    }

    /// Returns the state for another connection of the same client.
    #[must_use]
    pub fn over(&self, way: Arc<ConnectionSetup>) -> Self {
        Self {
            way,
            ..self.clone()
        }
    }

    /// Opens a directory that no other slot of any client uses, and makes the server record its
    /// changes.
    pub async fn watch(
        &self,
        link: SmbCallHandle,
        directory: &str,
        slot: u32,
    ) -> ActionResult<smb2::FileId> {
        self.watch_anew(link, directory, slot, 0).await
    }

    /// Watches the directory after `losses` losses of a connection. After each of them it is
    /// unknown whether the previous file in the directory is still open.
    pub(super) async fn watch_anew(
        &self,
        link: SmbCallHandle,
        directory: &str,
        slot: u32,
        losses: u32,
    ) -> ActionResult<smb2::FileId> {
        let path = self.own_path(directory, slot);
        let opening = CreateParams::existing(&path, LISTING)
            .by(CreateDisposition::OPEN_IF)
            .with(DIRECTORY);
        let opened = link.open(&opening).await?.file_id;
        // A killed server may have kept a delete-on-close file.
        match link.remove(&file_in(&path, losses), FILE).await {
            Err(failure) if !is_not_there(failure) => return Err(failure),
            _ => {}
        }
        link.watch(opened).await?;
        self.opens
            .insert(OpenKey::Open(OpenId(slot)), SmbHandle::plain(opened));
        Ok(opened)
    }

    /// Opens a file for a slot that will lock ranges of it.
    pub async fn open(
        &self,
        link: SmbCallHandle,
        what: &HeldFile<'_>,
        slot: u32,
    ) -> ActionResult<()> {
        let handle = what.open(link, self.way.dialect()).await?;
        self.opens.insert(OpenKey::Open(OpenId(slot)), handle);
        Ok(())
    }

    /// Holds a file open.
    pub async fn hold(
        &self,
        link: SmbCallHandle,
        what: &HeldFile<'_>,
    ) -> ActionResult<smb2::FileId> {
        let handle = what.open(link, self.way.dialect()).await?;
        self.opens.hold(what.file, handle);
        Ok(handle.file_id)
    }

    /// Holds a file open as the source of server-side copies, and requests its resume key.
    pub async fn hold_source(&self, link: SmbCallHandle, what: &HeldFile<'_>) -> ActionResult<()> {
        let opened = self.hold(link, what).await?;
        let key = link.resume_key(opened).await?;
        self.opens.keep_resume_key(what.file, key);
        Ok(())
    }

    /// Returns the path of the slot's directory.
    pub(super) fn own_path(&self, directory: &str, slot: u32) -> String {
        let client = u128::from_le_bytes(self.way.terms.client_guid);
        format!("{directory}\\{client:032x}-{slot}")
    }
}
