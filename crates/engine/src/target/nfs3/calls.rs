//! The procedures of NFSv3 as functions: arguments in, what a client needs of
//! the results out.

use crate::driver::{CallError, CallFailed, Endpoint, Program, RpcConnection, RpcProcedure};
use filestone_model::client::nfs3::amounts::{ReadAmount, check_written, go_on_after};
use filestone_model::failure::StatusSpace;
use filestone_model::load::{Cause, Status};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::symlink::SymlinkData;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, DirOpArgs, Fattr3, Handle, PROGRAM, Procedure, Sattr3, SetTime, VERSION, Verifier,
    access, commit, create, fsinfo, fsstat, getattr, link, lookup, mkdir, pathconf, read, readdir,
    readdirplus, readlink, remove, rename, rmdir, setattr, symlink, write,
};
use filestone_wire::nlm;
use filestone_wire::xdr::{Decode, Encode, Writer};

/// Why an action is not done.
#[derive(Debug)]
pub enum Failure {
    /// The server, or the caller in its place, says no.
    Answered(Status),
    /// There is no way to the server any more.
    Lost(CallFailed),
}

impl Failure {
    /// Refused before anything is sent.
    pub fn refused(cause: Cause) -> Self {
        Failure::Answered(Status::Refused(cause))
    }

    /// Whether the server answered with this status.
    pub fn is(&self, status: nfs3::Status) -> bool {
        matches!(self, Failure::Answered(answered) if *answered == answer(status))
    }
}

impl From<CallFailed> for Failure {
    fn from(lost: CallFailed) -> Self {
        Failure::Lost(lost)
    }
}

impl From<nfs3::Status> for Failure {
    fn from(status: nfs3::Status) -> Self {
        Failure::Answered(answer(status))
    }
}

/// The answer of a procedure that did not do what it was to do.
pub const fn answer(status: nfs3::Status) -> Status {
    Status::Failed(StatusSpace::Nfs3.status(status.0))
}

/// A status of NFSv3, if the answer is one.
pub const fn status_of(answer: Status) -> Option<nfs3::Status> {
    match answer {
        Status::Failed(status) if matches!(status.space, StatusSpace::Nfs3) => {
            Some(nfs3::Status(status.number))
        }
        _ => None,
    }
}

/// What comes of a step.
pub type NfsResult<T> = Result<T, Failure>;

/// An object, and its attributes if the server gave them.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Its handle.
    pub handle: Handle,
    /// As LOOKUP gave them.
    pub attributes: Option<Fattr3>,
}

/// What READ answered.
#[derive(Debug, Clone, Copy)]
pub struct ReadBack {
    /// Bytes of data.
    pub count: u32,
    /// Whether the file ends there.
    pub eof: bool,
}

/// What WRITE answered.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// Bytes taken.
    pub count: u32,
    /// Whether they are on stable storage.
    pub committed: StableHow,
    /// Which life of the server took them.
    pub verifier: Verifier,
}

/// Where a page of a listing begins.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageStart {
    /// The cookie of the entry before it; 0 for the first page.
    pub cookie: u64,
    /// What came with that cookie.
    pub cookieverf: Verifier,
}

/// Attributes of what is made: only its permissions.
pub fn permissions(mode: u32) -> Sattr3 {
    Sattr3 {
        mode: Some(mode),
        ..Sattr3::default()
    }
}

/// Both times become the server's.
pub fn times_of_server() -> Sattr3 {
    Sattr3 {
        atime: SetTime::ServerTime,
        mtime: SetTime::ServerTime,
        ..Sattr3::default()
    }
}

/// NFS version 3.
pub const NFS: Program = Program {
    busy: Some(nfs3::Status::JUKEBOX.0),
    ..Program::new(PROGRAM, VERSION)
};

/// Its locks: NLM version 4.
pub const NLM: Program = Program::new(nlm::PROGRAM, nlm::VERSION);

/// A procedure, as errors name it.
pub const fn called(procedure: Procedure) -> RpcProcedure {
    NFS.procedure(procedure.number(), procedure.name())
}

/// A name in a directory.
pub fn named<'a>(dir: &'a Handle, name: &'a [u8]) -> DirOpArgs<'a> {
    let dir = dir.borrow();
    DirOpArgs { dir, name }
}

/// WRITE up to its data, which follow from where they lie.
struct WriteHead<'a>(write::Args<'a>, usize);

impl Encode for WriteHead<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode_head(self.1, out);
    }
}

/// A connection to an NFS server.
#[derive(Debug)]
pub struct Nfs(pub RpcConnection);

impl Nfs {
    /// Connects. Replies over `record_max` bytes are refused.
    pub fn connect(endpoint: Endpoint, record_max: usize) -> Result<Self, CallError> {
        RpcConnection::connect(endpoint, record_max).map(Self)
    }

    fn call<'c, R: Decode<'c>>(
        &'c mut self,
        procedure: Procedure,
        arguments: &impl Encode,
    ) -> Result<R, CallFailed> {
        self.0.call(called(procedure), arguments)
    }

    /// The server did what the standard forbids.
    pub fn violated(&self, procedure: Procedure, what: &str) -> Failure {
        let violation = CallError::Violation(what.into());
        Failure::Lost(self.0.failed(called(procedure), violation))
    }

    /// GETATTR.
    pub fn attributes(&mut self, object: &Handle) -> NfsResult<Fattr3> {
        let object = object.borrow();
        let reply: getattr::Reply = self.call(Procedure::Getattr, &getattr::Args { object })?;
        match reply {
            Ok(ok) => Ok(ok.obj_attributes),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// SETATTR without a guard.
    pub fn set_attributes(&mut self, object: &Handle, new_attributes: Sattr3) -> NfsResult<()> {
        let arguments = setattr::Args {
            object: object.borrow(),
            new_attributes,
            guard: None,
        };
        let reply: setattr::Reply = self.call(Procedure::Setattr, &arguments)?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// LOOKUP.
    pub fn lookup(&mut self, directory: &Handle, name: &[u8]) -> NfsResult<Object> {
        let what = named(directory, name);
        let reply: lookup::Reply<'_> = self.call(Procedure::Lookup, &lookup::Args { what })?;
        match reply {
            Ok(ok) => Ok(Object {
                handle: ok.object.into(),
                attributes: ok.obj_attributes,
            }),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// ACCESS: which of the permissions are granted.
    pub fn access(&mut self, object: &Handle, access: u32) -> NfsResult<u32> {
        let object = object.borrow();
        let arguments = access::Args { object, access };
        let reply: access::Reply = self.call(Procedure::Access, &arguments)?;
        match reply {
            Ok(ok) => Ok(ok.access),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// READLINK.
    pub fn read_link(&mut self, link: &Handle) -> NfsResult<()> {
        let symlink = link.borrow();
        let arguments = readlink::Args { symlink };
        let reply: readlink::Reply<'_> = self.call(Procedure::Readlink, &arguments)?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// READLINK: where the link leads.
    pub fn link_text(&mut self, link: &Handle) -> NfsResult<Vec<u8>> {
        let symlink = link.borrow();
        let arguments = readlink::Args { symlink };
        let reply: readlink::Reply<'_> = self.call(Procedure::Readlink, &arguments)?;
        match reply {
            Ok(ok) => Ok(ok.data.to_vec()),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// READ of at most `count` bytes.
    pub fn read(&mut self, file: &Handle, offset: u64, count: u32) -> NfsResult<ReadBack> {
        let file = file.borrow();
        let arguments = read::Args {
            file,
            offset,
            count,
        };
        let reply: read::Reply<'_> = self.call(Procedure::Read, &arguments)?;
        let (back, len) = match reply {
            Ok(ok) => {
                let (count, eof) = (ok.count, ok.eof);
                (ReadBack { count, eof }, ok.data.len())
            }
            Err(fail) => return Err(fail.status.into()),
        };
        // A server may not say that it returned what it did not (section 3.3.6). Another
        // client may write meanwhile, so the length of the file is not held against it.
        let amount = ReadAmount {
            offset,
            asked: count,
            count: back.count,
            eof: back.eof,
            file_len: None,
        };
        if go_on_after(amount.check()).is_err() || len != back.count as usize {
            let what = format!(
                "asked for {count} bytes, it says it sent {}{} and sent {len}",
                back.count,
                if back.eof { " up to the end" } else { "" }
            );
            return Err(self.violated(Procedure::Read, &what));
        }
        Ok(back)
    }

    /// The bytes of a small file, for what is said before and after a run.
    pub fn read_text(&mut self, file: &Handle, count: u32) -> NfsResult<Vec<u8>> {
        let file = file.borrow();
        let arguments = read::Args {
            file,
            offset: 0,
            count,
        };
        let reply: read::Reply<'_> = self.call(Procedure::Read, &arguments)?;
        match reply {
            Ok(ok) => Ok(ok.data.to_vec()),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// WRITE of all of `data`.
    pub fn write(
        &mut self,
        file: &Handle,
        offset: u64,
        data: &[u8],
        stable: StableHow,
    ) -> NfsResult<Written> {
        let count = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let arguments = write::Args {
            file: file.borrow(),
            offset,
            count,
            stable,
            data: &[],
        };
        let head = WriteHead(arguments, data.len());
        let reply: write::Reply = self
            .0
            .call_with_data(called(Procedure::Write), &head, data)?;
        let ok = reply.map_err(|fail| Failure::from(fail.status))?;
        if go_on_after(check_written(count, ok.count)).is_err() {
            let what = format!("sent {count} bytes, it says it took {}", ok.count);
            return Err(self.violated(Procedure::Write, &what));
        }
        Ok(Written {
            count: ok.count,
            committed: ok.committed,
            verifier: ok.verf,
        })
    }

    /// COMMIT of the whole file.
    pub fn commit(&mut self, file: &Handle) -> NfsResult<Verifier> {
        let arguments = commit::Args {
            file: file.borrow(),
            offset: 0,
            count: 0,
        };
        let reply: commit::Reply = self.call(Procedure::Commit, &arguments)?;
        match reply {
            Ok(ok) => Ok(ok.verf),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// CREATE; the handle if the server gives it.
    pub fn create(
        &mut self,
        directory: &Handle,
        name: &[u8],
        how: CreateHow,
    ) -> NfsResult<Option<Handle>> {
        let where_ = named(directory, name);
        let reply: create::Reply<'_> =
            self.call(Procedure::Create, &create::Args { where_, how })?;
        match reply {
            Ok(ok) => Ok(ok.obj.map(Handle::from)),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// MKDIR; the handle if the server gives it.
    pub fn make_directory(
        &mut self,
        directory: &Handle,
        name: &[u8],
        mode: u32,
    ) -> NfsResult<Option<Handle>> {
        let arguments = mkdir::Args {
            where_: named(directory, name),
            attributes: permissions(mode),
        };
        let reply: mkdir::Reply<'_> = self.call(Procedure::Mkdir, &arguments)?;
        match reply {
            Ok(ok) => Ok(ok.obj.map(Handle::from)),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// SYMLINK; the handle if the server gives it.
    pub fn symlink(
        &mut self,
        directory: &Handle,
        name: &[u8],
        target: &[u8],
    ) -> NfsResult<Option<Handle>> {
        let arguments = symlink::Args {
            where_: named(directory, name),
            symlink: SymlinkData {
                symlink_attributes: permissions(0o777),
                symlink_data: target,
            },
        };
        let reply: symlink::Reply<'_> = self.call(Procedure::Symlink, &arguments)?;
        match reply {
            Ok(ok) => Ok(ok.obj.map(Handle::from)),
            Err(fail) => Err(fail.status.into()),
        }
    }

    /// LINK: another name for `file`.
    pub fn link(&mut self, file: &Handle, directory: &Handle, name: &[u8]) -> NfsResult<()> {
        let arguments = link::Args {
            file: file.borrow(),
            link: named(directory, name),
        };
        let reply: link::Reply = self.call(Procedure::Link, &arguments)?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// REMOVE.
    pub fn remove(&mut self, directory: &Handle, name: &[u8]) -> NfsResult<()> {
        let object = named(directory, name);
        let reply: remove::Reply = self.call(Procedure::Remove, &remove::Args { object })?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// RMDIR.
    pub fn remove_directory(&mut self, directory: &Handle, name: &[u8]) -> NfsResult<()> {
        let object = named(directory, name);
        let reply: rmdir::Reply = self.call(Procedure::Rmdir, &rmdir::Args { object })?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// RENAME.
    pub fn rename(&mut self, from: DirOpArgs<'_>, to: DirOpArgs<'_>) -> NfsResult<()> {
        let reply: rename::Reply = self.call(Procedure::Rename, &rename::Args { from, to })?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// One page of READDIR.
    pub fn names_page(
        &mut self,
        dir: &Handle,
        start: PageStart,
        count: u32,
    ) -> NfsResult<readdir::ReplyOk<'_>> {
        let arguments = readdir::Args {
            dir: dir.borrow(),
            cookie: start.cookie,
            cookieverf: start.cookieverf,
            count,
        };
        let reply: readdir::Reply<'_> = self.call(Procedure::Readdir, &arguments)?;
        reply.map_err(|fail| fail.status.into())
    }

    /// One page of READDIRPLUS.
    pub fn entries_page(
        &mut self,
        dir: &Handle,
        start: PageStart,
        count: u32,
    ) -> NfsResult<readdirplus::ReplyOk<'_>> {
        let arguments = readdirplus::Args {
            dir: dir.borrow(),
            cookie: start.cookie,
            cookieverf: start.cookieverf,
            dircount: count,
            maxcount: count,
        };
        let reply: readdirplus::Reply<'_> = self.call(Procedure::Readdirplus, &arguments)?;
        reply.map_err(|fail| fail.status.into())
    }

    /// FSSTAT.
    pub fn file_system_status(&mut self, root: &Handle) -> NfsResult<()> {
        let fsroot = root.borrow();
        let reply: fsstat::Reply = self.call(Procedure::Fsstat, &fsstat::Args { fsroot })?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }

    /// FSINFO.
    pub fn file_system_info(&mut self, root: &Handle) -> NfsResult<fsinfo::ReplyOk> {
        let fsroot = root.borrow();
        let reply: fsinfo::Reply = self.call(Procedure::Fsinfo, &fsinfo::Args { fsroot })?;
        reply.map_err(|fail| fail.status.into())
    }

    /// PATHCONF.
    pub fn path_configuration(&mut self, object: &Handle) -> NfsResult<()> {
        let object = object.borrow();
        let reply: pathconf::Reply = self.call(Procedure::Pathconf, &pathconf::Args { object })?;
        reply.map(drop).map_err(|fail| fail.status.into())
    }
}
