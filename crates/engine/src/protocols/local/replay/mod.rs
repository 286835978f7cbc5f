//! The local layer: executes a load in a directory of this host, on any mounted file system.
//!
//! Each verb makes the system calls that a Samba server would make for it, as imitated by dbench's
//! file backend: names are resolved first, attributes are read along with the files, and so on. The
//! system calls of a verb are documented at its implementation (`verbs` for the CIFS verbs,
//! `by_path` for those of NFS). Three things differ from dbench, because a server behaves this way:
//! a name that was not found by resolving is not opened again to get the same error; a name found
//! in another case is used; and FIND_FIRST reads the directory once and matches the pattern,
//! instead of first searching for a file with the pattern as its name.
//!
//! A client opens the directory under test once and uses names relative to it. Buffers are reused;
//! an action does not allocate on the heap, unless a name is longer than rustix keeps on the stack
//! (256 bytes) or a table grows.
//!
//! Due times of lines, expected results and measurements are handled elsewhere.

mod answer;
mod by_path;
mod dos_attributes;
mod handles;
mod locks;
mod names;
mod options;
mod site;
mod territory;
mod transfer;
mod verbs;

pub use options::LocalOptions;
pub use site::{LocalSite, remove_left_over, remove_left_over_beside};

use crate::replay::layer::{Cancellation, Layer, LayerLost, LayerReply};
use answer::{Done, VerbResult, reply};
use dos_attributes::DosAttributes;
use filestone_workload::load::LoadAction;
use filestone_workload::only_in_nfs_loads;
use filestone_workload::payload::DataVerifier;
use handles::OpenHandles;
use locks::NamedLocks;
use names::NameResolver;
use transfer::TransferBuffers;

/// Access of one client to a directory of this host.
#[derive(Debug)]
pub struct LocalLayer {
    /// Number of the client in names.
    number: u32,
    options: LocalOptions,
    /// Device of the file system under test; removals do not leave it.
    device: u64,
    names: NameResolver,
    handles: OpenHandles,
    named_locks: NamedLocks,
    transfers: TransferBuffers,
    dos_attributes: DosAttributes,
}

impl LocalLayer {
    /// Returns the number of writes without O_DIRECT, because their offset or length was not a
    /// multiple of the required alignment.
    pub fn buffered_writes(&self) -> u64 {
        self.transfers.buffered_writes()
    }

    fn carry_out_verb(&mut self, action: &LoadAction<'_>, data: &[u8]) -> VerbResult {
        match *action {
            LoadAction::NtCreateX {
                path,
                options,
                disposition,
                handle,
            } => self.create(path, options, disposition, handle),
            LoadAction::Open { path, mode, handle } => self.open_by_path(path, mode, handle),
            LoadAction::OpenX { path, len, handle } => self.open_with_len(path, len, handle, data),
            LoadAction::Close { handle } => self.close(handle),
            LoadAction::ReadX {
                handle,
                offset,
                len,
                expected_len,
            } => self.read(handle, offset, len, expected_len),
            LoadAction::WriteX {
                handle,
                offset,
                len,
                expected_len,
            } => self.write(handle, offset, len, expected_len, data),
            LoadAction::Flush { handle } => self.flush(handle),
            LoadAction::LockX {
                handle,
                offset,
                len,
            } => self.lock(handle, offset, len),
            LoadAction::UnlockX {
                handle,
                offset,
                len,
            } => self.unlock(handle, offset, len),
            LoadAction::Unlink { path } => self.unlink(path),
            LoadAction::Mkdir { path } => self.make_directory(path),
            LoadAction::Rmdir { path } => self.remove_directory(path),
            LoadAction::Rename { from, to } => self.rename(from, to),
            LoadAction::Deltree { path } => self.delete_tree(path),
            LoadAction::FindFirst { pattern, max, .. } => self.find_first(pattern, max),
            LoadAction::QueryPathInformation { path, .. } => self.query_path(path),
            LoadAction::QueryFileInformation { handle, .. } => self.query_file(handle),
            LoadAction::SetFileInformation { handle, .. } => self.set_file(handle),
            LoadAction::QueryFsInformation { .. } => self.query_file_system(),
            LoadAction::ReadDirectoryPlus { path } => {
                Ok(self.names.list_with_attributes(path).map(|()| Done::OK)?)
            }
            only_in_nfs_loads!() => self.carry_out_by_path(action, data),
        }
    }
}

impl Layer for LocalLayer {
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.transfers.cancel_with(cancellation);
    }

    fn execute(&mut self, action: &LoadAction<'_>, data: &[u8]) -> Result<LayerReply, LayerLost> {
        let answer = self.carry_out_verb(action, data);
        if let Err(refusal) = answer {
            if self.transfers.has_broken_off(refusal) {
                return Err(LayerLost::Stopped);
            }
            if let Some(errno) = refusal.exhaustion() {
                return Err(LayerLost::Exhausted(errno.into()));
            }
        }
        Ok(reply(answer, self.transfers.take_partial()))
    }

    fn execute_verified(
        &mut self,
        action: &LoadAction<'_>,
        verifier: &mut DataVerifier,
    ) -> Result<LayerReply, LayerLost> {
        self.transfers.look_with(Some(*verifier));
        let answer = self.execute(action, &[0]);
        if let Some(seen) = self.transfers.look_with(None) {
            *verifier = seen;
        }
        answer
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        self.handles.clear();
        self.named_locks.clear();
        Ok(())
    }
}
