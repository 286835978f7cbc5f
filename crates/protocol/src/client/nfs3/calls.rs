//! Encoding of operations as calls.
//!
//! The part of a call before its arguments differs between calls of a procedure only in the xid: it
//! is encoded once, copied and patched.

use super::NfsSharedState;
use super::procedures::procedure_of;
use super::sequence::permissions;
use crate::session::rpc::Credentials;
use filestone_plan::plan::{CreateModes, TransportKind};
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    DirOpArgs, FileHandle, Sattr3, SetTime, access, commit, create, link, mkdir, mknod, read,
    readdir, readdirplus, rename, setattr, symlink, write,
};
use filestone_wire::nfs3::{Handle, PROGRAM, Procedure, VERSION};
use filestone_wire::pattern::PERIOD;
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth};
use filestone_wire::xdr::{Encode, Writer};
use filestone_workload::kind::{OpKind, PerKind};
use filestone_workload::operation::{
    AttributeChange, DirectoryCursor, FileId, ObjectName, Operation, Stability,
};
use filestone_workload::output::{DataSegment, Output};

/// Bytes of a record mark.
const MARK_LEN: usize = 4;
/// Minimum length of WRITE data that are spliced instead of copied.
const SPLICE_MIN: u32 = 1024;
/// Bytes of a name that consists of a letter and a number.
const NUMBERED_LEN: usize = 17;

/// Calls of all procedures up to their arguments, each after space for a record mark.
#[derive(Debug)]
pub struct Templates {
    heads: PerKind<Vec<u8>>,
    /// Permissions of objects that these calls create.
    modes: CreateModes,
}

impl Templates {
    /// Creates templates for these credentials. NULL uses AUTH_NONE, as in all clients.
    pub fn new(credentials: &Credentials) -> Self {
        let head = |kind| {
            let mut bytes = vec![0; MARK_LEN];
            let credential = match kind {
                OpKind::Null => Credential::None,
                _ => credentials.to_auth(),
            };
            let header = CallHeader {
                xid: 0,
                program: PROGRAM,
                version: VERSION,
                // Kinds without an NFSv3 procedure are refused before the run; the call would be
                // NULL.
                procedure: procedure_of(kind).unwrap_or(Procedure::Null).number(),
                credential,
                verifier: OpaqueAuth::NONE,
            };
            header.encode(&mut Writer::new(&mut bytes));
            bytes
        };
        Self {
            heads: PerKind::from_fn(head),
            modes: credentials.modes,
        }
    }
}

/// Appends the call of `operation` to `out` and returns its length, data and record mark included.
#[inline]
pub fn encode(shared: &NfsSharedState, operation: &Operation, xid: u32, out: &mut Output) -> u32 {
    let is_stream = shared.transport == TransportKind::Tcp;
    let head = shared.templates.heads[operation.kind()].as_slice();
    let head = if is_stream { head } else { &head[MARK_LEN..] };
    let start = out.bytes.len();
    let xid_at = start + if is_stream { MARK_LEN } else { 0 };
    out.bytes.extend_from_slice(head);
    out.bytes[xid_at..xid_at + 4].copy_from_slice(&xid.to_be_bytes());
    let spliced = match *operation {
        Operation::Null => 0,
        Operation::GetAttr { file } => {
            handle(shared, file).encode(&mut Writer::new(&mut out.bytes));
            0
        }
        Operation::Read { file, offset, len } => {
            let args = read::Args {
                file: handle(shared, file),
                offset,
                count: len,
            };
            args.encode(&mut Writer::new(&mut out.bytes));
            0
        }
        Operation::Write {
            file,
            offset,
            len,
            stability,
        } => encode_write(shared, out, file, offset, len, stability),
        ref other => {
            encode_entries(shared, other, &mut Writer::new(&mut out.bytes));
            0
        }
    };
    let len = out.bytes.len() - start + spliced;
    if is_stream {
        let mark = RecordMark {
            last: true,
            len: (len - MARK_LEN) as u32,
        };
        out.bytes[start..start + MARK_LEN].copy_from_slice(&mark.to_bytes());
    } else {
        out.datagrams.push(out.bytes.len());
    }
    len as u32
}

/// Appends `count` copies of the call of `len` bytes at `start`, and returns them.
///
/// Each step copies all copies made before, so a hundred copies take seven steps.
#[inline]
pub fn copy(
    out: &mut Output,
    start: usize,
    len: usize,
    count: usize,
) -> impl Iterator<Item = &mut [u8]> {
    let first = out.bytes.len();
    let end = first + len * count;
    while out.bytes.len() < end {
        let here = (out.bytes.len() - start).min(end - out.bytes.len());
        out.bytes.extend_from_within(start..start + here);
    }
    out.bytes[first..].chunks_exact_mut(len)
}

/// Writes the xid of a call that follows a record mark.
#[inline]
pub fn set_xid(call: &mut [u8], xid: u32) {
    if let Some(place) = call.get_mut(MARK_LEN..MARK_LEN + 4) {
        place.copy_from_slice(&xid.to_be_bytes());
    }
}

/// Returns a file's handle. Operations use the same table, so it exists; otherwise the server would
/// answer NFS3ERR_BADHANDLE to the empty handle.
#[inline]
fn handle(shared: &NfsSharedState, file: FileId) -> FileHandle<'_> {
    let handle = shared.handles.get(file);
    handle.map_or(Handle::EMPTY.borrow(), Handle::borrow)
}

/// Encodes WRITE and returns the number of data bytes that are stored elsewhere.
fn encode_write(
    shared: &NfsSharedState,
    out: &mut Output,
    file: FileId,
    offset: u64,
    len: u32,
    stability: Stability,
) -> usize {
    let start = (offset % PERIOD as u64) as usize;
    let data = shared
        .pattern
        .get(start..start + len as usize)
        .unwrap_or_default();
    let args = write::Args {
        file: handle(shared, file),
        offset,
        count: data.len() as u32,
        stable: match stability {
            Stability::Unstable => StableHow::Unstable,
            Stability::DataSync => StableHow::DataSync,
            Stability::FileSync => StableHow::FileSync,
        },
        data,
    };
    let mut writer = Writer::new(&mut out.bytes);
    if len < SPLICE_MIN || shared.transport == TransportKind::Udp {
        args.encode(&mut writer);
        return 0;
    }
    args.encode_head(data.len(), &mut writer);
    let at = writer.position();
    writer.pad(data.len());
    out.splices.push(DataSegment {
        at,
        start,
        len: data.len(),
    });
    data.len()
}

/// Encodes the arguments of operations that make, rename or link directory entries, and of all other
/// operations outside the hottest paths.
fn encode_entries(shared: &NfsSharedState, operation: &Operation, out: &mut Writer<'_>) {
    let modes = &shared.templates.modes;
    let [room, other_room] = &mut [[0; NUMBERED_LEN]; 2];
    match *operation {
        Operation::Create { directory, name } => create::Args {
            where_: entry(shared, directory, name, room),
            how: create::CreateHow::Unchecked(permissions(modes.file)),
        }
        .encode(out),
        Operation::MakeDirectory { directory, name } => mkdir::Args {
            where_: entry(shared, directory, name, room),
            attributes: permissions(modes.directory),
        }
        .encode(out),
        #[rustfmt::skip]
        Operation::MakeSymlink { directory, name, target } => symlink::Args {
            where_: entry(shared, directory, name, room),
            symlink: symlink::SymlinkData {
                symlink_attributes: permissions(0o777),
                symlink_data: name_bytes(shared, target, other_room),
            },
        }
        .encode(out),
        Operation::MakeNode { directory, name } => mknod::Args {
            where_: entry(shared, directory, name, room),
            what: mknod::MknodData::Fifo(permissions(modes.file)),
        }
        .encode(out),
        #[rustfmt::skip]
        Operation::Rename { from_directory, from, to_directory, to } => rename::Args {
            from: entry(shared, from_directory, from, room),
            to: entry(shared, to_directory, to, other_room),
        }
        .encode(out),
        #[rustfmt::skip]
        Operation::Link { file, directory, name } => link::Args {
            file: handle(shared, file),
            link: entry(shared, directory, name, room),
        }
        .encode(out),
        ref other => encode_other(shared, other, out),
    }
}

/// Encodes the arguments of the operations that neither [`encode`] nor [`encode_entries`] encodes.
fn encode_other(shared: &NfsSharedState, operation: &Operation, out: &mut Writer<'_>) {
    let room = &mut [0; NUMBERED_LEN];
    match *operation {
        #[rustfmt::skip]
        Operation::Null | Operation::GetAttr { .. } | Operation::Read { .. } | Operation::Write { .. }
        | Operation::Open { .. } | Operation::Close { .. }
        | Operation::Lock { .. } | Operation::Unlock { .. }
        | Operation::SessionSetup | Operation::TreeConnect | Operation::Notify { .. }
        | Operation::Copy { .. }
        | Operation::Create { .. } | Operation::MakeDirectory { .. }
        | Operation::MakeSymlink { .. } | Operation::MakeNode { .. }
        | Operation::Rename { .. } | Operation::Link { .. } => {}
        Operation::ReadLink { link: file }
        | Operation::FileSystemStatus { file }
        | Operation::FileSystemInfo { file }
        | Operation::PathConfiguration { file } => handle(shared, file).encode(out),
        Operation::Lookup { directory, name }
        | Operation::Remove { directory, name }
        | Operation::RemoveDirectory { directory, name } => {
            entry(shared, directory, name, room).encode(out);
        }
        Operation::SetAttr { file, change } => setattr::Args {
            object: handle(shared, file),
            new_attributes: attributes_of(change),
            guard: None,
        }
        .encode(out),
        Operation::Access { file, wanted } => access::Args {
            object: handle(shared, file),
            access: wanted,
        }
        .encode(out),
        #[rustfmt::skip]
        Operation::ReadDirectory { directory, cursor, len } => {
            readdir_args(shared, directory, cursor, len).encode(out);
        }
        #[rustfmt::skip]
        Operation::ReadDirectoryPlus { directory, cursor, len } => {
            readdirplus_args(shared, directory, cursor, len).encode(out);
        }
        Operation::Commit { file, offset, len } => commit::Args {
            file: handle(shared, file),
            offset,
            count: len,
        }
        .encode(out),
    }
}

fn readdir_args(
    shared: &NfsSharedState,
    directory: FileId,
    cursor: DirectoryCursor,
    len: u32,
) -> readdir::Args<'_> {
    readdir::Args {
        dir: handle(shared, directory),
        cookie: cursor.cookie,
        cookieverf: cursor.verifier,
        count: len,
    }
}

/// dircount limits names and cookies only; an equal limit for both requests as many entries as fit
/// into the whole reply.
fn readdirplus_args(
    shared: &NfsSharedState,
    directory: FileId,
    cursor: DirectoryCursor,
    len: u32,
) -> readdirplus::Args<'_> {
    readdirplus::Args {
        dir: handle(shared, directory),
        cookie: cursor.cookie,
        cookieverf: cursor.verifier,
        dircount: len,
        maxcount: len,
    }
}

/// Returns a name in a directory; a numbered name is formatted in `room`.
fn entry<'n>(
    shared: &'n NfsSharedState,
    directory: FileId,
    name: ObjectName,
    room: &'n mut [u8; NUMBERED_LEN],
) -> DirOpArgs<'n> {
    DirOpArgs {
        dir: handle(shared, directory),
        name: name_bytes(shared, name, room),
    }
}

/// Returns the bytes of a name; a numbered name is formatted in `room`.
fn name_bytes<'n>(
    shared: &'n NfsSharedState,
    name: ObjectName,
    room: &'n mut [u8; NUMBERED_LEN],
) -> &'n [u8] {
    match name {
        ObjectName::Listed(index) => shared.table.name(index).unwrap_or_default(),
        ObjectName::Numbered { letter, number } => {
            room[0] = letter;
            for (digit, byte) in room[1..].iter_mut().enumerate() {
                let nibble = (number >> (60 - 4 * digit)) & 0xf;
                *byte = b"0123456789abcdef"[nibble as usize];
            }
            room
        }
    }
}

fn attributes_of(change: AttributeChange) -> Sattr3 {
    match change {
        AttributeChange::Touch => Sattr3 {
            mtime: SetTime::ServerTime,
            ..Sattr3::default()
        },
        AttributeChange::Mode(bits) => permissions(bits),
        AttributeChange::Size(size) => Sattr3 {
            size: Some(size),
            ..Sattr3::default()
        },
    }
}
