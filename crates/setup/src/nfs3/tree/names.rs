//! Concurrent removal of many names.

use crate::driver::window::{Work, WorkError};
use crate::driver::{CallFailed, RpcProcedure};
use crate::nfs3::calls::called;
use crate::nfs3::session::{failed, without_results};
use crate::workspace::tree::{EntryName, TreeDirectory};
use filestone_host::error::RunError;
use filestone_wire::nfs3::{DirOpArgs, Handle, Procedure, Status, remove};
use filestone_wire::xdr::{Decode, Encode, Writer};

/// Names of a directory to remove.
pub(super) struct PendingRemovals<'a> {
    parent: &'a TreeDirectory<Handle>,
    names: &'a [EntryName],
    next: usize,
    /// Index of a name whose directory is not empty.
    pub not_empty: Option<usize>,
}

impl<'a> PendingRemovals<'a> {
    pub fn new(parent: &'a TreeDirectory<Handle>, names: &'a [EntryName]) -> Self {
        Self {
            parent,
            names,
            next: 0,
            not_empty: None,
        }
    }

    fn nfs_procedure(&self, call: usize) -> Procedure {
        match self.names.get(call) {
            Some(name) if name.is_directory => Procedure::Rmdir,
            _ => Procedure::Remove,
        }
    }

    fn about(&self, call: usize) -> String {
        let name = self.names.get(call);
        name.map_or_else(String::new, |name| self.parent.at(&name.name))
    }
}

impl Work for PendingRemovals<'_> {
    type Call = usize;
    type Error = RunError;

    fn next(&mut self) -> Option<usize> {
        let call = self.next;
        self.names.get(call)?;
        self.next += 1;
        Some(call)
    }

    fn procedure(&self, call: &usize) -> RpcProcedure {
        called(self.nfs_procedure(*call))
    }

    fn encode(&self, call: &usize, out: &mut Writer<'_>) {
        let Some(EntryName { name, .. }) = self.names.get(*call) else {
            return;
        };
        let object = DirOpArgs {
            dir: self.parent.handle.borrow(),
            name,
        };
        // The arguments of RMDIR have the same encoding.
        object.encode(out);
    }

    fn failed(&self, call: &usize, failed: CallFailed) -> RunError {
        without_results(failed, &self.about(*call))
    }

    fn answered(
        &mut self,
        call: usize,
        results: &[u8],
        _: bool,
    ) -> Result<(), WorkError<RunError>> {
        let reply = remove::Reply::from_bytes(results)?;
        match reply.err().map(|fail| fail.status) {
            None | Some(Status::NOENT) => Ok(()),
            Some(Status::NOTEMPTY | Status::EXIST) => {
                self.not_empty.get_or_insert(call);
                Ok(())
            }
            Some(status) => Err(failed(&self.about(call), self.nfs_procedure(call), status).into()),
        }
    }
}
