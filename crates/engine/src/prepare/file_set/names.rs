//! Names taken away, many at a time.

use crate::driver::window::{Work, WorkError};
use crate::driver::{CallFailed, RpcProcedure};
use crate::error::RunError;
use crate::nfs3::calls::called;
use crate::nfs3::session::{failed, without_results};
use crate::workspace::tree::join;
use filestone_wire::nfs3::{DirOpArgs, Handle, Procedure, Status, remove, rmdir};
use filestone_wire::xdr::{Decode, Encode, Writer};

/// A name in a directory of ours.
pub struct Doomed {
    /// The directory.
    pub directory: Handle,
    /// Its path.
    pub path: String,
    /// The name in it.
    pub name: Box<[u8]>,
    /// Whether it is that of a directory.
    pub is_directory: bool,
}

/// Names to be taken away.
pub struct Removal<'a> {
    names: &'a [Doomed],
    next: usize,
}

impl<'a> Removal<'a> {
    pub fn new(names: &'a [Doomed]) -> Self {
        Self { names, next: 0 }
    }

    fn doomed(&self, call: usize) -> Option<&'a Doomed> {
        self.names.get(call)
    }

    fn nfs_procedure(&self, call: &usize) -> Procedure {
        match self.doomed(*call) {
            Some(doomed) if doomed.is_directory => Procedure::Rmdir,
            _ => Procedure::Remove,
        }
    }

    fn about(&self, call: &usize) -> String {
        self.doomed(*call)
            .map(|doomed| join(&doomed.path, &doomed.name))
            .unwrap_or_default()
    }
}

impl Work for Removal<'_> {
    type Call = usize;
    type Error = RunError;

    fn next(&mut self) -> Option<usize> {
        let call = self.next;
        self.names.get(call)?;
        self.next += 1;
        Some(call)
    }

    fn procedure(&self, call: &usize) -> RpcProcedure {
        called(self.nfs_procedure(call))
    }

    fn encode(&self, call: &usize, out: &mut Writer<'_>) {
        let Some(doomed) = self.doomed(*call) else {
            return;
        };
        let object = DirOpArgs {
            dir: doomed.directory.borrow(),
            name: &doomed.name,
        };
        match doomed.is_directory {
            true => rmdir::Args { object }.encode(out),
            false => remove::Args { object }.encode(out),
        }
    }

    fn failed(&self, call: &usize, failed: CallFailed) -> RunError {
        without_results(failed, &self.about(call))
    }

    fn answered(
        &mut self,
        call: usize,
        results: &[u8],
        _: bool,
    ) -> Result<(), WorkError<RunError>> {
        let (procedure, status) = match self.nfs_procedure(&call) {
            Procedure::Rmdir => {
                let reply = rmdir::Reply::from_bytes(results)?;
                ("RMDIR", reply.err().map(|fail| fail.status))
            }
            _ => {
                let reply = remove::Reply::from_bytes(results)?;
                ("REMOVE", reply.err().map(|fail| fail.status))
            }
        };
        let path = self.about(&call);
        match status {
            None | Some(Status::NOENT) => Ok(()),
            // Nothing is taken away that we have not made.
            Some(Status::NOTEMPTY | Status::EXIST) => Err(RunError::Unsuitable(
                format!("{path}: there is something in it that filestone has not made"),
                Some("move it away; the rest of the file set can be removed then".into()),
            )
            .into()),
            Some(status) => Err(failed(&path, procedure, status).into()),
        }
    }
}
