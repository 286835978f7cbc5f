//! A file set on a server as a tree that is removed: listed one call at a time, and names taken
//! away with many calls in flight.

use crate::control::Cancellation;
use crate::driver::window::{Window, Work, WorkError};
use crate::driver::{CallFailed, RpcProcedure};
use crate::error::RunError;
use crate::nfs3::calls::{Failure, Nfs, called};
use crate::nfs3::session::{failed, without_results};
use crate::workspace::Purpose;
use crate::workspace::nfs::listing::Object;
use crate::workspace::set_removal::{self, Located, Name, SetTree};
use crate::workspace::tree::{At, Step, join};
use filestone_wire::nfs3::{DirOpArgs, FileType, Handle, Procedure, Status, remove, rmdir};
use filestone_wire::xdr::{Decode, Encode, Writer};

/// The error of a directory that cannot be listed.
pub fn not_listed(path: &str) -> impl Fn(Failure) -> RunError {
    let purpose = Purpose::FileSet;
    At { path, purpose }.failed::<Nfs>(Step::List)
}

/// What removes a set.
pub struct Remover<'a> {
    pub nfs: &'a mut Nfs,
    pub window: &'a mut Window,
    /// Ends the removal.
    pub sign: &'a Cancellation,
}

impl Remover<'_> {
    /// Removes the directories of all clients, in the set's directory.
    pub fn empty(&mut self, path: &str, directory: &Handle) -> Result<(), RunError> {
        set_removal::empty(self, &Located { directory, path })
    }
}

impl SetTree for Remover<'_> {
    type Directory = Handle;
    type Tree = Nfs;
    type Entry = Object;

    fn tree(&mut self) -> &mut Nfs {
        self.nfs
    }

    fn list(
        &mut self,
        at: &Located<'_, Handle>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], Object) -> bool,
    ) -> Result<(), RunError> {
        self.sign.go_on()?;
        self.nfs
            .each_object(at.directory, is_wanted, |name, object| each(name, *object))
            .map_err(not_listed(at.path))
    }

    fn is_directory(entry: Object) -> bool {
        entry.attributes.file_type == FileType::Directory
    }

    fn enter(
        &mut self,
        _: &Located<'_, Handle>,
        _: &[u8],
        entry: Object,
    ) -> Result<Option<Handle>, RunError> {
        Ok(Some(entry.handle))
    }

    fn remove_names(
        &mut self,
        parent: &Located<'_, Handle>,
        names: &[Name],
    ) -> Result<Option<usize>, RunError> {
        let mut removal = Removal {
            parent,
            names,
            next: 0,
            not_empty: None,
        };
        self.window.run(&mut removal)?;
        Ok(removal.not_empty)
    }
}

/// Names of a directory to be removed.
struct Removal<'a> {
    parent: &'a Located<'a, Handle>,
    names: &'a [Name],
    next: usize,
    /// One that is a directory's with something in it.
    not_empty: Option<usize>,
}

impl Removal<'_> {
    fn is_directory(&self, call: usize) -> bool {
        self.names.get(call).is_some_and(|name| name.is_directory)
    }

    fn about(&self, call: usize) -> String {
        let name = self.names.get(call);
        name.map_or_else(String::new, |name| join(self.parent.path, &name.name))
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
        called(if self.is_directory(*call) {
            Procedure::Rmdir
        } else {
            Procedure::Remove
        })
    }

    fn encode(&self, call: &usize, out: &mut Writer<'_>) {
        let Some(Name { name, is_directory }) = self.names.get(*call) else {
            return;
        };
        let object = DirOpArgs {
            dir: self.parent.directory.borrow(),
            name,
        };
        if *is_directory {
            rmdir::Args { object }.encode(out);
        } else {
            remove::Args { object }.encode(out);
        }
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
        let (procedure, status) = if self.is_directory(call) {
            let reply = rmdir::Reply::from_bytes(results)?;
            ("RMDIR", reply.err().map(|fail| fail.status))
        } else {
            let reply = remove::Reply::from_bytes(results)?;
            ("REMOVE", reply.err().map(|fail| fail.status))
        };
        match status {
            None | Some(Status::NOENT) => Ok(()),
            Some(Status::NOTEMPTY | Status::EXIST) => {
                self.not_empty.get_or_insert(call);
                Ok(())
            }
            Some(status) => Err(failed(&self.about(call), procedure, status).into()),
        }
    }
}
