//! The procedures of NFSv3 as functions: arguments in, the results that a client needs out.

use super::link::{NfsCallHandle, NfsReplyError};
use super::{ActionError, NfsActionResult, Object};
use crate::client::call_slot::Results;
use crate::client::nfs3::read_counts::{ReadCounts, check_written, go_on_after};
use crate::session::rpc::{Program, RpcProcedure};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::symlink::SymlinkData;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    self, DirOpArgs, Fattr3, Handle, PROGRAM, PostOpAttr, Procedure, ReplyFail, Sattr3, SetTime,
    VERSION, Verifier, access, commit, create, fsinfo, fsstat, getattr, link, lookup, mkdir,
    pathconf, read, readdir, readdirplus, readlink, remove, rename, setattr, symlink, write,
};
use filestone_wire::xdr::{Decode, DecodeError, Encode, Reader, Writer};
use filestone_workload::output::DataRange;

/// Result of READ.
#[derive(Debug, Clone, Copy)]
pub struct ReadResult {
    /// Bytes of data.
    pub count: u32,
    /// The end-of-file flag.
    pub eof: bool,
}

/// Result of WRITE.
#[derive(Debug, Clone, Copy)]
pub struct WriteResult {
    /// Bytes accepted.
    pub count: u32,
    /// Stability of the written data.
    pub committed: StableHow,
    /// Write verifier, which changes when the server restarts.
    pub verifier: Verifier,
}

/// Start of a listing page: cookie and verifier.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListingCursor {
    /// The cookie of the entry before it; 0 for the first page.
    pub cookie: u64,
    /// The cookie verifier.
    pub cookieverf: Verifier,
}

/// Returns attributes for new objects: only permissions.
pub fn permissions(mode: u32) -> Sattr3 {
    Sattr3 {
        mode: Some(mode),
        ..Sattr3::default()
    }
}

/// Returns attributes that set both times to the server's time.
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

/// Returns a procedure with its name for errors.
pub const fn called(procedure: Procedure) -> RpcProcedure {
    NFS.procedure(procedure.number(), procedure.name())
}

/// Returns a name in a directory.
pub fn named<'a>(dir: &'a Handle, name: &'a [u8]) -> DirOpArgs<'a> {
    let dir = dir.borrow();
    DirOpArgs { dir, name }
}

/// A WRITE up to its data; the data follow from another buffer.
struct WriteHead<'a>(write::Args<'a>, usize);

impl Encode for WriteHead<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode_head(self.1, out);
    }
}

/// Status, attributes, count, eof and length of a READ reply.
const READ_HEAD_MAX: usize = 4 + 4 + 84 + 12;

/// Result of a decoder.
type Decoded<T> = Result<NfsActionResult<T>, NfsReplyError>;

/// Extracts the needed part of a reply with `keep`.
fn answer<T, A, U>(
    reply: Result<Result<T, ReplyFail<A>>, DecodeError>,
    keep: impl FnOnce(T) -> U,
) -> Decoded<U> {
    Ok(reply?.map(keep).map_err(|fail| fail.status.into()))
}

/// Returns the handle of a new object, if the server sent it.
fn made(results: Results<'_>) -> Decoded<Option<Handle>> {
    answer(create::Reply::from_bytes(results.bytes), |ok| {
        ok.obj.map(Handle::from)
    })
}

fn removed(results: Results<'_>) -> Decoded<()> {
    answer(remove::Reply::from_bytes(results.bytes), drop)
}

impl NfsCallHandle {
    /// Sends GETATTR.
    pub fn attributes(&self, object: &Handle) -> impl Future<Output = NfsActionResult<Fattr3>> {
        let arguments = object.borrow();
        self.call(called(Procedure::Getattr), &arguments, |results| {
            answer(getattr::Reply::from_bytes(results.bytes), |ok| ok)
        })
    }

    /// Sends SETATTR without a guard.
    pub fn set_attributes(
        &self,
        object: &Handle,
        new_attributes: Sattr3,
    ) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = setattr::Args {
            object: object.borrow(),
            new_attributes,
            guard: None,
        };
        self.call(called(Procedure::Setattr), &arguments, |results| {
            answer(setattr::Reply::from_bytes(results.bytes), drop)
        })
    }

    /// Sends LOOKUP.
    pub fn lookup(
        &self,
        directory: &Handle,
        name: &[u8],
    ) -> impl Future<Output = NfsActionResult<Object>> {
        let arguments = named(directory, name);
        self.call(called(Procedure::Lookup), &arguments, |results| {
            let object = |ok: lookup::ReplyOk<'_>| Object {
                handle: ok.object.into(),
                attributes: ok.obj_attributes,
            };
            answer(lookup::Reply::from_bytes(results.bytes), object)
        })
    }

    /// Sends ACCESS; returns the granted permissions.
    pub fn access(
        &self,
        object: &Handle,
        access: u32,
    ) -> impl Future<Output = NfsActionResult<u32>> {
        let object = object.borrow();
        let arguments = access::Args { object, access };
        self.call(called(Procedure::Access), &arguments, |results| {
            answer(access::Reply::from_bytes(results.bytes), |ok| ok.access)
        })
    }

    /// Sends READLINK.
    pub fn read_link(&self, link: &Handle) -> impl Future<Output = NfsActionResult<()>> {
        self.call_readlink(link, |_| ())
    }

    /// Sends READLINK; returns the target of the link.
    pub fn link_text(&self, link: &Handle) -> impl Future<Output = NfsActionResult<Vec<u8>>> {
        self.call_readlink(link, <[u8]>::to_vec)
    }

    fn call_readlink<T>(
        &self,
        link: &Handle,
        keep: impl FnOnce(&[u8]) -> T,
    ) -> impl Future<Output = NfsActionResult<T>> {
        let arguments = link.borrow();
        self.call(called(Procedure::Readlink), &arguments, move |results| {
            answer(readlink::Reply::from_bytes(results.bytes), |ok| {
                keep(ok.data)
            })
        })
    }

    /// Sends READ of at most `count` bytes and ignores their content.
    pub fn read(
        &self,
        file: &Handle,
        offset: u64,
        count: u32,
    ) -> impl Future<Output = NfsActionResult<ReadResult>> {
        let file = file.borrow();
        let arguments = read::Args {
            file,
            offset,
            count,
        };
        let decode = move |results: Results<'_>| read_back(results, offset, count);
        self.call_with(
            called(Procedure::Read),
            &arguments,
            DataRange::default(),
            READ_HEAD_MAX,
            decode,
        )
    }

    /// Returns the bytes of a small file, for use before and after a run.
    pub fn read_text(
        &self,
        file: &Handle,
        count: u32,
    ) -> impl Future<Output = NfsActionResult<Vec<u8>>> {
        let file = file.borrow();
        let arguments = read::Args {
            file,
            offset: 0,
            count,
        };
        self.call(called(Procedure::Read), &arguments, |results| {
            answer(read::Reply::from_bytes(results.bytes), |ok| {
                ok.data.to_vec()
            })
        })
    }

    /// Sends WRITE of a range of the action's data.
    pub fn write(
        &self,
        file: &Handle,
        offset: u64,
        data: DataRange,
        stable: StableHow,
    ) -> impl Future<Output = NfsActionResult<WriteResult>> {
        let count = data.len;
        let arguments = write::Args {
            file: file.borrow(),
            offset,
            count,
            stable,
            data: &[],
        };
        let head = WriteHead(arguments, count as usize);
        let decode = move |results: Results<'_>| written(results, count);
        self.call_with(called(Procedure::Write), &head, data, usize::MAX, decode)
    }

    /// Sends COMMIT of the whole file.
    pub fn commit(&self, file: &Handle) -> impl Future<Output = NfsActionResult<Verifier>> {
        let arguments = commit::Args {
            file: file.borrow(),
            offset: 0,
            count: 0,
        };
        self.call(called(Procedure::Commit), &arguments, |results| {
            answer(commit::Reply::from_bytes(results.bytes), |ok| ok.verf)
        })
    }

    /// Sends CREATE; returns the handle if the server sent it.
    pub fn create(
        &self,
        directory: &Handle,
        name: &[u8],
        how: CreateHow,
    ) -> impl Future<Output = NfsActionResult<Option<Handle>>> {
        let where_ = named(directory, name);
        let arguments = create::Args { where_, how };
        self.call(called(Procedure::Create), &arguments, made)
    }

    /// Sends MKDIR; returns the handle if the server sent it.
    pub fn make_directory(
        &self,
        directory: &Handle,
        name: &[u8],
        mode: u32,
    ) -> impl Future<Output = NfsActionResult<Option<Handle>>> {
        let arguments = mkdir::Args {
            where_: named(directory, name),
            attributes: permissions(mode),
        };
        self.call(called(Procedure::Mkdir), &arguments, made)
    }

    /// Sends SYMLINK; returns the handle if the server sent it.
    pub fn symlink(
        &self,
        directory: &Handle,
        name: &[u8],
        target: &[u8],
    ) -> impl Future<Output = NfsActionResult<Option<Handle>>> {
        let arguments = symlink::Args {
            where_: named(directory, name),
            symlink: SymlinkData {
                symlink_attributes: permissions(0o777),
                symlink_data: target,
            },
        };
        self.call(called(Procedure::Symlink), &arguments, made)
    }

    /// Sends LINK, which creates another name for `file`.
    pub fn link(
        &self,
        file: &Handle,
        directory: &Handle,
        name: &[u8],
    ) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = link::Args {
            file: file.borrow(),
            link: named(directory, name),
        };
        self.call(called(Procedure::Link), &arguments, |results| {
            answer(link::Reply::from_bytes(results.bytes), drop)
        })
    }

    /// Sends REMOVE.
    pub fn remove(
        &self,
        directory: &Handle,
        name: &[u8],
    ) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = named(directory, name);
        self.call(called(Procedure::Remove), &arguments, removed)
    }

    /// Sends RMDIR.
    pub fn remove_directory(
        &self,
        directory: &Handle,
        name: &[u8],
    ) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = named(directory, name);
        self.call(called(Procedure::Rmdir), &arguments, removed)
    }

    /// Sends RENAME.
    pub fn rename(
        &self,
        from: DirOpArgs<'_>,
        to: DirOpArgs<'_>,
    ) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = rename::Args { from, to };
        self.call(called(Procedure::Rename), &arguments, |results| {
            answer(rename::Reply::from_bytes(results.bytes), drop)
        })
    }

    /// Sends READDIR for one page; returns the value of `keep`.
    pub fn names_page<T>(
        &self,
        dir: &Handle,
        start: ListingCursor,
        count: u32,
        keep: impl FnOnce(readdir::ReplyOk<'_>) -> T,
    ) -> impl Future<Output = NfsActionResult<T>> {
        let arguments = readdir::Args {
            dir: dir.borrow(),
            cookie: start.cookie,
            cookieverf: start.cookieverf,
            count,
        };
        self.call(called(Procedure::Readdir), &arguments, move |results| {
            answer(readdir::Reply::from_bytes(results.bytes), keep)
        })
    }

    /// Sends READDIRPLUS for one page; returns the value of `keep`.
    pub fn entries_page<T>(
        &self,
        dir: &Handle,
        start: ListingCursor,
        count: u32,
        keep: impl FnOnce(readdirplus::ReplyOk<'_>) -> T,
    ) -> impl Future<Output = NfsActionResult<T>> {
        let arguments = readdirplus::Args {
            dir: dir.borrow(),
            cookie: start.cookie,
            cookieverf: start.cookieverf,
            dircount: count,
            maxcount: count,
        };
        self.call(called(Procedure::Readdirplus), &arguments, move |results| {
            answer(readdirplus::Reply::from_bytes(results.bytes), keep)
        })
    }

    /// Sends FSSTAT.
    pub fn file_system_status(&self, root: &Handle) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = root.borrow();
        self.call(called(Procedure::Fsstat), &arguments, |results| {
            answer(fsstat::Reply::from_bytes(results.bytes), drop)
        })
    }

    /// Sends FSINFO.
    pub fn file_system_info(
        &self,
        root: &Handle,
    ) -> impl Future<Output = NfsActionResult<fsinfo::ReplyOk>> {
        let arguments = root.borrow();
        self.call(called(Procedure::Fsinfo), &arguments, |results| {
            answer(fsinfo::Reply::from_bytes(results.bytes), |ok| ok)
        })
    }

    /// Sends PATHCONF.
    pub fn path_configuration(&self, object: &Handle) -> impl Future<Output = NfsActionResult<()>> {
        let arguments = object.borrow();
        self.call(called(Procedure::Pathconf), &arguments, |results| {
            answer(pathconf::Reply::from_bytes(results.bytes), drop)
        })
    }
}

/// Returns the result of READ from the head of its results.
///
/// A server must not report data that it did not return (section 3.3.6). Another client may write
/// at the same time, so the length of the file is not checked.
fn read_back(results: Results<'_>, offset: u64, asked: u32) -> Decoded<ReadResult> {
    let mut reader = Reader::new(results.bytes);
    let status = nfs3::Status(reader.u32()?);
    if status != nfs3::Status::OK {
        let fail = read::Reply::from_bytes(results.bytes)?;
        return Ok(Err(fail.err().map_or(status, |fail| fail.status).into()));
    }
    PostOpAttr::decode(&mut reader)?;
    let (count, eof) = (reader.u32()?, reader.bool()?);
    let data_len = reader.u32()?;
    check_data(results.len, reader.position(), data_len)?;
    let amount = ReadCounts {
        offset,
        requested: asked,
        count,
        eof,
        file_len: None,
    };
    if go_on_after(amount.check()).is_err() || data_len != count {
        return Err(NfsReplyError::Violation(format!(
            "asked for {asked} bytes, it says it sent {count}{} and sent {data_len}",
            if eof { " up to the end" } else { "" }
        )));
    }
    Ok(Ok(ReadResult { count, eof }))
}

/// Returns an error if results of `results_len` bytes do not end with the data that their head
/// announces.
fn check_data(results_len: usize, head_len: usize, data_len: u32) -> Result<(), DecodeError> {
    let have = results_len.saturating_sub(head_len);
    let need = (data_len as usize).saturating_add(data_len.wrapping_neg() as usize & 3);
    match have.checked_sub(need) {
        Some(0) => Ok(()),
        Some(count) => Err(DecodeError::TrailingBytes { count }),
        None => Err(DecodeError::Short {
            at: head_len,
            need,
            have,
        }),
    }
}

fn written(results: Results<'_>, asked: u32) -> Decoded<WriteResult> {
    let ok = match write::Reply::from_bytes(results.bytes)? {
        Ok(ok) => ok,
        Err(fail) => return Ok(Err(ActionError::from(fail.status))),
    };
    if go_on_after(check_written(asked, ok.count)).is_err() {
        return Err(NfsReplyError::Violation(format!(
            "sent {asked} bytes, it says it took {}",
            ok.count
        )));
    }
    Ok(Ok(WriteResult {
        count: ok.count,
        committed: ok.committed,
        verifier: ok.verf,
    }))
}
