//! Execution of a load's verbs by one client: dispatch, and paths.
//!
//! The NFS verbs are in `verbs`, the CIFS verbs in `lowering`; the table of both is
//! docs/reference/lowering.md.

use super::locks::{self, ClientLocks};
use super::names::{HandleCache, split};
use super::open_file::NfsOpenFile;
use crate::client::nfs3::sequence::{ActionError, NfsActionResult, NfsCallHandle, Object, answer};
use crate::client::open_files::{Extent, OpenFiles};
use filestone_plan::made::MadeNames;
use filestone_plan::plan::CreateModes;
use filestone_wire::nfs3::{self, Handle};
use filestone_wire::nlm;
use filestone_workload::load::{ActionStatus, CLIENTS, LoadAction};
use std::sync::Arc;

/// Bytes of a READDIR page in a case-insensitive search for a name.
const SCAN_PAGE: u32 = 32 << 10;

/// Maximum bytes of one READ and one WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NfsTransferLimits {
    /// rtmax of FSINFO.
    pub read: u32,
    /// wtmax of FSINFO.
    pub write: u32,
}

/// Directories of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunDirectories {
    /// The directory under test.
    pub root: Handle,
    /// The directory `clients` in it.
    pub clients: Handle,
    /// Transfer sizes of the server.
    pub transfers: NfsTransferLimits,
}

/// Options of a client of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether the load's verbs are those of NFS.
    pub has_nfs_verbs: bool,
    /// Whether names are case-insensitive.
    pub ignores_case: bool,
    /// Whether writes are FILE_SYNC.
    pub stable: bool,
    /// Permissions of objects created by verbs without permissions.
    pub modes: CreateModes,
}

/// Result of looking up a name.
pub(super) struct LookupResult {
    /// The object.
    pub object: Object,
    /// The server's spelling, if it differs from the requested one.
    pub spelling: Option<Vec<u8>>,
}

/// Executes verbs for one client, with its state.
#[derive(Debug)]
pub(super) struct VerbExecutor {
    pub client: u32,
    pub nfs: NfsCallHandle,
    pub locks: Option<ClientLocks>,
    pub directories: RunDirectories,
    pub options: LoadOptions,
    /// The names that may be removed.
    pub made: Arc<MadeNames>,
    pub names: HandleCache,
    pub open: OpenFiles<NfsOpenFile>,
    /// File data that the current action has moved, in bytes.
    pub moved: u64,
}

/// Returns whether the server no longer knows the file of a handle.
fn is_stale(status: ActionStatus) -> bool {
    let of_nfs = [nfs3::Status::STALE, nfs3::Status::BADHANDLE].map(answer);
    of_nfs.contains(&status) || status == locks::answer(nlm::Status::STALE_FH)
}

/// Ignores server errors during the cleanup of an iteration, but not the loss of the connection.
fn unless_lost<T>(result: NfsActionResult<T>) -> NfsActionResult<()> {
    match result {
        Err(ActionError::ClientFailed | ActionError::ConnectionReset) => {
            Err(ActionError::ClientFailed)
        }
        Ok(_) | Err(ActionError::Status(_)) => Ok(()),
    }
}

impl VerbExecutor {
    /// Executes one action and returns its status.
    pub async fn execute(&mut self, action: LoadAction<'_>) -> NfsActionResult<ActionStatus> {
        let answer = self.answer(action).await;
        if let Ok(status) | Err(ActionError::Status(status)) = answer
            && is_stale(status)
        {
            // Another program changed the tree; its other changes are unknown.
            self.names.forget_all();
        }
        answer
    }

    /// Closes the files that an iteration left open.
    pub async fn end_pass(&mut self) -> NfsActionResult<()> {
        let mut ended = Ok(());
        for file in self.open.take_all() {
            if file.needs_commit() {
                let committed = self.nfs.commit(&file.handle).await;
                ended = ended.and(unless_lost(committed));
            }
        }
        if let Some(locks) = &mut self.locks {
            let freed = locks.close_all().await;
            ended = ended.and(unless_lost(freed));
        }
        ended
    }

    // One line per verb where it fits, as in the table of the documentation.
    #[rustfmt::skip]
    async fn answer(&mut self, action: LoadAction<'_>) -> NfsActionResult<ActionStatus> {
        match action {
            LoadAction::NtCreateX { path, options, disposition, handle } => {
                self.nt_create_x(path, options, disposition, handle).await
            }
            LoadAction::Open { path, mode, handle } => self.open_by_path(path, mode, handle).await,
            LoadAction::OpenX { path, len, handle } => self.open_x(path, len, handle).await,
            LoadAction::Close { handle } => self.close(handle).await,
            LoadAction::ReadX { handle, offset, len, expected_len } => self.read_x(handle, offset, len, expected_len).await,
            LoadAction::WriteX { handle, offset, len, expected_len } => {
                self.write_x(handle, Extent { offset, len }, expected_len).await
            }
            LoadAction::Flush { handle } => self.flush(handle).await,
            LoadAction::LockX { handle, offset, len } => self.lock_x(handle, offset, len).await,
            LoadAction::UnlockX { handle, offset, len } => self.unlock_x(handle, offset, len).await,
            LoadAction::Unlink { path } => self.unlink(path).await,
            LoadAction::Mkdir { path } => self.make_directory(path).await,
            LoadAction::Rmdir { path } => self.remove_directory(path).await,
            LoadAction::Rename { from, to } => self.rename(from, to).await,
            LoadAction::Deltree { path } => self.remove_tree(path).await,
            LoadAction::FindFirst { pattern, max, .. } => self.find_first(pattern, max).await,
            LoadAction::QueryPathInformation { path, .. } => self.query_path(path).await,
            LoadAction::QueryFileInformation { handle, .. } => self.query_file(handle).await,
            LoadAction::SetFileInformation { handle, .. } => self.set_file(handle).await,
            LoadAction::QueryFsInformation { .. } | LoadAction::FileSystemStatus => self.file_system_status().await,
            LoadAction::FileSystemInfo => self.file_system_info().await,
            LoadAction::GetAttr { path } => self.attributes(path).await,
            LoadAction::SetAttr { path } => self.set_attributes(path).await,
            LoadAction::Lookup { path } => self.look_up_path(path).await,
            LoadAction::Access { path, wanted, granted } => self.access(path, wanted, granted).await,
            LoadAction::ReadLink { path } => self.read_link(path).await,
            LoadAction::Read { path, offset, len } => self.read(path, offset, len).await,
            LoadAction::Write { path, offset, len, stability } => self.write(path, Extent { offset, len }, stability).await,
            LoadAction::Create { path } => self.create(path).await,
            LoadAction::Symlink { path, target } => self.symlink(path, target).await,
            LoadAction::Link { path, existing } => self.link(path, existing).await,
            LoadAction::Remove { path } => self.remove(path).await,
            LoadAction::ReadDirectoryPlus { path } => self.read_directory(path).await,
            LoadAction::PathConfiguration { path } => self.path_configuration(path).await,
            LoadAction::Commit { path } => self.commit(path).await,
            LoadAction::Lock4 { path, offset, len } => self.lock(path, offset, len).await,
            LoadAction::Unlock4 { path, offset, len } => self.unlock(path, offset, len).await,
            LoadAction::Test4 { path, offset, len } => self.test_lock(path, offset, len).await,
        }
    }

    /// Returns the handle of a path, component by component from its longest cached prefix.
    pub async fn walk(&mut self, path: &[u8]) -> NfsActionResult<Handle> {
        let (mut end, mut handle) = self.longest_known(path);
        while end < path.len() {
            let start = if end == 0 { 0 } else { end + 1 };
            let rest = path.get(start..).unwrap_or_default();
            let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
            end = start + name.len();
            let prefix = path.get(..end).unwrap_or_default();
            handle = self.step(&handle, prefix, name).await?.handle;
        }
        Ok(handle)
    }

    fn longest_known(&self, path: &[u8]) -> (usize, Handle) {
        let mut known = path;
        loop {
            if known.is_empty() {
                return (0, self.directories.root);
            }
            // In any spelling: the run created it, and has its handle.
            if known.eq_ignore_ascii_case(CLIENTS.as_bytes()) {
                return (known.len(), self.directories.clients);
            }
            if let Some(handle) = self.names.find(known) {
                return (known.len(), handle);
            }
            known = split(known).0;
        }
    }

    /// Looks up one component of a path and caches it.
    async fn step(
        &mut self,
        directory: &Handle,
        prefix: &[u8],
        name: &[u8],
    ) -> NfsActionResult<Object> {
        match self.look_up(directory, name).await {
            Ok(found) => {
                self.record_lookup(prefix, &found);
                Ok(found.object)
            }
            Err(failure) => {
                if failure.is(nfs3::Status::NOENT) {
                    self.names.forget(prefix);
                }
                Err(failure)
            }
        }
    }

    /// Caches the result of looking up a path.
    pub fn record_lookup(&mut self, path: &[u8], found: &LookupResult) {
        match found.spelling {
            None => self.names.record_handle(path, found.object.handle),
            Some(_) => self.names.learn_alias(path, found.object.handle),
        }
    }

    /// Sends LOOKUP; if the name does not exist and names are case-insensitive, does the same as
    /// Samba: searches the directory for a name that differs only in case.
    pub async fn look_up(
        &mut self,
        directory: &Handle,
        name: &[u8],
    ) -> NfsActionResult<LookupResult> {
        let missing = match self.nfs.lookup(directory, name).await {
            Err(failure) if failure.is(nfs3::Status::NOENT) && self.options.ignores_case => failure,
            answer => {
                return answer.map(|object| LookupResult {
                    object,
                    spelling: None,
                });
            }
        };
        let mut spelling = None;
        let searched = self.nfs.find_name(directory, SCAN_PAGE, |listed| {
            let is_it = listed.eq_ignore_ascii_case(name);
            if is_it {
                spelling = Some(listed.to_vec());
            }
            is_it
        });
        searched.await?;
        let Some(spelt) = spelling else {
            return Err(missing);
        };
        let object = self.nfs.lookup(directory, &spelt).await?;
        Ok(LookupResult {
            object,
            spelling: Some(spelt),
        })
    }
}
