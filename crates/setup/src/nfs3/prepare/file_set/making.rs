//! Calls that create missing objects of a file set and repair wrong ones.

use super::writing::{After, PendingWrites, Stretch};
use crate::driver::window::{WINDOW, Work, WorkError};
use crate::driver::{CallFailed, RpcProcedure};
use crate::file_set::{
    FileSetProgress, Missing, ObjectTable, PendingObject, SetObjectKind, SpareName,
};
use crate::nfs3::calls::{called, permissions};
use crate::nfs3::prepare::PrepareError;
use crate::nfs3::session::{failed, without_results};
use filestone_host::error::RunError;
use filestone_plan::file_set::VolatileDirectory;
use filestone_plan::plan::CreateModes;
use filestone_protocol::client::nfs3::read_counts::{check_written, go_on_after};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::mknod::MknodData;
use filestone_wire::nfs3::symlink::SymlinkData;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    DirOpArgs, FileHandle, Handle, Procedure, Sattr3, Status, commit, create, link, lookup, mkdir,
    mknod, setattr, symlink, write,
};
use filestone_wire::pattern;
use filestone_wire::xdr::{Decode, Encode, Writer};
use std::collections::VecDeque;

/// Target of the symbolic links that are created and removed.
const SPARE_TARGET: &str = "made-by-filestone";

/// A call in flight.
#[derive(Debug, Clone, Copy)]
pub enum PendingCall {
    Make(u32),
    MakeSpare(SpareName),
    /// Looks up an object that the server created without returning its handle.
    LookUp(u32),
    Truncate(u32),
    Write(Stretch),
    Commit(u32),
}

/// Creates objects in the order of the steps.
pub struct SetBuilder<'w, 'p> {
    places: &'w mut ObjectTable<'p, Handle>,
    steps: &'w mut dyn Iterator<Item = PendingObject>,
    /// Calls that follow from replies.
    follow_up: VecDeque<PendingCall>,
    writings: PendingWrites,
    /// Pattern table of `wire::pattern`.
    pattern: Vec<u8>,
    /// Permissions of created objects.
    modes: CreateModes,
    /// Number of objects created.
    pub made: u64,
    progress: FileSetProgress<'w>,
}

impl<'w, 'p> SetBuilder<'w, 'p> {
    /// Creates a builder with these permissions.
    pub fn new(missing: Missing<'w, 'p, Handle>, modes: CreateModes) -> Self {
        Self {
            places: missing.places,
            steps: missing.steps,
            follow_up: VecDeque::new(),
            writings: PendingWrites::new(missing.transfer),
            pattern: pattern::table(),
            modes,
            made: 0,
            progress: missing.progress,
        }
    }

    /// Returns the handle of an object that has been created or found.
    fn handle(&self, index: u32) -> Handle {
        self.places.handle(index).copied().unwrap_or(Handle::EMPTY)
    }

    /// Returns the handle of its parent directory.
    fn parent(&self, index: u32) -> Handle {
        self.places.parent(index).copied().unwrap_or(Handle::EMPTY)
    }

    fn done(&mut self) {
        self.made += 1;
    }

    fn file_done(&mut self) {
        self.progress.files_done += 1;
        self.done();
    }

    /// Records the handle of an object and starts writing its data if it is a file.
    fn learnt(&mut self, index: u32, handle: Handle) {
        self.places.record_handle(index, handle);
        match self.places.part(index) {
            (_, SetObjectKind::File(_)) => self.start(index),
            _ => self.done(),
        }
    }

    fn start(&mut self, file: u32) {
        match self.places.len_of(file) {
            0 => self.file_done(),
            len => self.writings.start(file, len),
        }
    }

    fn resume(&mut self, file: u32, after: After) -> Result<(), WorkError<RunError>> {
        match after {
            After::More => Ok(()),
            After::Commit => {
                self.follow_up.push_back(PendingCall::Commit(file));
                Ok(())
            }
            After::Done => {
                self.file_done();
                Ok(())
            }
            After::Forgotten => Err(RunError::from(PrepareError::Forgotten {
                path: self.places.path(file),
            })
            .into()),
        }
    }

    /// Records the handle of a created object, or queues its lookup.
    fn record_handle(&mut self, index: u32, handle: Option<FileHandle<'_>>) {
        match handle {
            Some(handle) => self.learnt(index, handle.into()),
            None => self.follow_up.push_back(PendingCall::LookUp(index)),
        }
    }

    fn encode_make(&self, index: u32, out: &mut Writer<'_>) {
        let (parent, name) = (self.parent(index), self.places.name(index));
        let where_ = named(&parent, &name);
        match self.places.part(index) {
            (_, SetObjectKind::Root | SetObjectKind::Files(_) | SetObjectKind::Changing(_)) => {
                make_directory(where_, self.modes, out)
            }
            (_, SetObjectKind::File(_)) => make_file(where_, self.modes, out),
            (_, SetObjectKind::Link(link)) => {
                make_link(where_, &self.places.layout.link_target(link), out);
            }
        }
    }

    fn encode_spare(&self, spare: &SpareName, out: &mut Writer<'_>) {
        let (parent, name) = (self.handle(spare.directory(self.places)), spare.name());
        let where_ = named(&parent, &name);
        match spare.changing {
            VolatileDirectory::Created => make_file(where_, self.modes, out),
            VolatileDirectory::Links => {
                let files = self.places.layout.files_per_client().max(1);
                let file = SetObjectKind::File(spare.number % files);
                let file = self.handle(self.places.index(spare.client, file));
                let file = file.borrow();
                link::Args { file, link: where_ }.encode(out);
            }
            VolatileDirectory::SymbolicLinks => make_link(where_, SPARE_TARGET, out),
            VolatileDirectory::Nodes => {
                let what = MknodData::Fifo(permissions(self.modes.file));
                mknod::Args { where_, what }.encode(out);
            }
            VolatileDirectory::Directories => make_directory(where_, self.modes, out),
        }
    }

    fn nfs_procedure(&self, call: &PendingCall) -> Procedure {
        match call {
            PendingCall::Make(index) => match self.places.part(*index).1 {
                SetObjectKind::Root | SetObjectKind::Files(_) | SetObjectKind::Changing(_) => {
                    Procedure::Mkdir
                }
                SetObjectKind::File(_) => Procedure::Create,
                SetObjectKind::Link(_) => Procedure::Symlink,
            },
            PendingCall::MakeSpare(spare) => match spare.changing {
                VolatileDirectory::Created => Procedure::Create,
                VolatileDirectory::Links => Procedure::Link,
                VolatileDirectory::SymbolicLinks => Procedure::Symlink,
                VolatileDirectory::Nodes => Procedure::Mknod,
                VolatileDirectory::Directories => Procedure::Mkdir,
            },
            PendingCall::LookUp(_) => Procedure::Lookup,
            PendingCall::Truncate(_) => Procedure::Setattr,
            PendingCall::Write(_) => Procedure::Write,
            PendingCall::Commit(_) => Procedure::Commit,
        }
    }

    fn about(&self, call: &PendingCall) -> String {
        match call {
            PendingCall::MakeSpare(spare) => spare.path(self.places),
            PendingCall::Make(index) | PendingCall::LookUp(index) => self.places.path(*index),
            PendingCall::Truncate(file) | PendingCall::Commit(file) => self.places.path(*file),
            PendingCall::Write(stretch) => self.places.path(stretch.file),
        }
    }

    fn fail(&self, call: &PendingCall, status: Status) -> WorkError<RunError> {
        let procedure = self.nfs_procedure(call);
        let path = self.about(call);
        if matches!(status, Status::NOTSUPP | Status::BADTYPE) {
            return RunError::from(PrepareError::NotSupported {
                path,
                procedure,
                status,
            })
            .into();
        }
        failed(&path, procedure, status).into()
    }

    /// Evaluates the reply to creating an object or a name.
    fn answered_making(
        &mut self,
        call: PendingCall,
        results: &[u8],
        was_resent: bool,
    ) -> Result<(), WorkError<RunError>> {
        let made = match self.nfs_procedure(&call) {
            Procedure::Mkdir | Procedure::Create | Procedure::Symlink | Procedure::Mknod => {
                create::Reply::from_bytes(results)?
                    .map(|ok| ok.obj)
                    .map_err(|fail| fail.status)
            }
            Procedure::Link => link::Reply::from_bytes(results)?
                .map(|_| None)
                .map_err(|fail| fail.status),
            _ => lookup::Reply::from_bytes(results)?
                .map(|ok| Some(ok.object))
                .map_err(|fail| fail.status),
        };
        let handle = match made {
            // The first transmission created it, before the connection was lost.
            Err(Status::EXIST) if was_resent => None,
            made => made.map_err(|status| self.fail(&call, status))?,
        };
        match call {
            PendingCall::Make(index) | PendingCall::LookUp(index) => {
                self.record_handle(index, handle)
            }
            _ => self.done(),
        }
        Ok(())
    }

    fn answered_write(
        &mut self,
        stretch: Stretch,
        results: &[u8],
    ) -> Result<(), WorkError<RunError>> {
        let call = PendingCall::Write(stretch);
        let ok =
            write::Reply::from_bytes(results)?.map_err(|fail| self.fail(&call, fail.status))?;
        if go_on_after(check_written(stretch.len, ok.count)).is_err() {
            return Err(RunError::from(PrepareError::WrongCount {
                path: self.about(&call),
                sent: stretch.len,
                taken: ok.count,
            })
            .into());
        }
        let after = self
            .writings
            .written(stretch, ok.count, ok.committed, ok.verf);
        self.resume(stretch.file, after)
    }
}

impl Work for SetBuilder<'_, '_> {
    type Call = PendingCall;
    type Error = RunError;

    fn next(&mut self) -> Option<PendingCall> {
        if let Some(call) = self.follow_up.pop_front() {
            return Some(call);
        }
        if let Some(stretch) = self.writings.next() {
            return Some(PendingCall::Write(stretch));
        }
        // Limits the number of unfinished files.
        if self.writings.count() >= WINDOW {
            return None;
        }
        Some(match self.steps.next()? {
            PendingObject::Object(index) => PendingCall::Make(index),
            PendingObject::Wrong(file) => PendingCall::Truncate(file),
            PendingObject::Spare(spare) => PendingCall::MakeSpare(spare),
        })
    }

    fn procedure(&self, call: &PendingCall) -> RpcProcedure {
        called(self.nfs_procedure(call))
    }

    fn encode(&self, call: &PendingCall, out: &mut Writer<'_>) {
        match call {
            PendingCall::Make(index) => self.encode_make(*index, out),
            PendingCall::MakeSpare(spare) => self.encode_spare(spare, out),
            PendingCall::LookUp(index) => {
                let (parent, name) = (self.parent(*index), self.places.name(*index));
                let what = named(&parent, &name);
                what.encode(out);
            }
            PendingCall::Truncate(file) => setattr::Args {
                object: self.handle(*file).borrow(),
                new_attributes: Sattr3 {
                    size: Some(0),
                    ..Sattr3::default()
                },
                guard: None,
            }
            .encode(out),
            PendingCall::Write(stretch) => {
                // The table has two periods, so that a full period follows any offset in the first.
                let period = (self.pattern.len() / 2).max(1) as u64;
                let start = (stretch.offset % period) as usize;
                let data = self.pattern.get(start..start + stretch.len as usize);
                write::Args {
                    file: self.handle(stretch.file).borrow(),
                    offset: stretch.offset,
                    count: stretch.len,
                    stable: StableHow::Unstable,
                    data: data.unwrap_or_default(),
                }
                .encode(out);
            }
            PendingCall::Commit(file) => commit::Args {
                file: self.handle(*file).borrow(),
                offset: 0,
                count: 0,
            }
            .encode(out),
        }
    }

    fn failed(&self, call: &PendingCall, failed: CallFailed) -> RunError {
        without_results(failed, &self.about(call))
    }

    fn answered(
        &mut self,
        call: PendingCall,
        results: &[u8],
        was_resent: bool,
    ) -> Result<(), WorkError<RunError>> {
        self.progress.tell();
        match call {
            PendingCall::Make(_) | PendingCall::MakeSpare(_) | PendingCall::LookUp(_) => {
                self.answered_making(call, results, was_resent)
            }
            PendingCall::Truncate(file) => {
                setattr::Reply::from_bytes(results)?
                    .map_err(|fail| self.fail(&call, fail.status))?;
                self.start(file);
                Ok(())
            }
            PendingCall::Write(stretch) => self.answered_write(stretch, results),
            PendingCall::Commit(file) => {
                let ok = commit::Reply::from_bytes(results)?
                    .map_err(|fail| self.fail(&call, fail.status))?;
                let after = self.writings.committed(file, ok.verf);
                self.resume(file, after)
            }
        }
    }
}

fn named<'a>(directory: &'a Handle, name: &'a str) -> DirOpArgs<'a> {
    DirOpArgs {
        dir: directory.borrow(),
        name: name.as_bytes(),
    }
}

fn make_directory(where_: DirOpArgs<'_>, modes: CreateModes, out: &mut Writer<'_>) {
    let attributes = permissions(modes.directory);
    mkdir::Args { where_, attributes }.encode(out);
}

fn make_file(where_: DirOpArgs<'_>, modes: CreateModes, out: &mut Writer<'_>) {
    let how = CreateHow::Guarded(permissions(modes.file));
    create::Args { where_, how }.encode(out);
}

fn make_link(where_: DirOpArgs<'_>, target: &str, out: &mut Writer<'_>) {
    let symlink = SymlinkData {
        symlink_attributes: permissions(0o777),
        symlink_data: target.as_bytes(),
    };
    symlink::Args { where_, symlink }.encode(out);
}
