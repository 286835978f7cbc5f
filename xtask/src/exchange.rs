//! Single RPC calls over a blocking connection: enough to mount an export and resolve a path. The
//! measured calls are in [`raw_client`](crate::raw_client).

use anyhow::{Context, Result, anyhow, bail};
use filestone_wire::mount::{self, DirPath, MntReply};
use filestone_wire::nfs3::{self, DirOpArgs, Handle, lookup};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{
    AuthSys, CallHeader, Credential, Gids, OpaqueAuth, ReplyBody, ReplyHeader,
};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Largest accepted RPC record in bytes; no reply to these calls is longer.
const REPLY_MAX: usize = 2 << 20;

/// A procedure of an RPC program.
#[derive(Debug, Clone, Copy)]
pub struct Procedure {
    pub program: u32,
    pub version: u32,
    pub number: u32,
}

impl Procedure {
    /// Returns a procedure of NFSv3.
    pub const fn nfs(procedure: nfs3::Procedure) -> Self {
        Self {
            program: nfs3::PROGRAM,
            version: nfs3::VERSION,
            number: procedure.number(),
        }
    }

    const fn mount(procedure: mount::Procedure) -> Self {
        Self {
            program: mount::PROGRAM,
            version: mount::VERSION,
            number: procedure.number(),
        }
    }
}

/// Encodes a call with its record mark. NULL has AUTH_NONE, as with every client; the others have
/// AUTH_SYS with this host's name, user 0 and group 0.
pub fn call(procedure: Procedure, xid: u32, args: &impl Encode) -> Vec<u8> {
    let uname = rustix::system::uname();
    let credential = if procedure.number == 0 {
        Credential::None
    } else {
        Credential::Sys(AuthSys {
            stamp: 0,
            machine_name: uname.nodename().to_bytes(),
            uid: 0,
            gid: 0,
            gids: Gids::EMPTY,
        })
    };
    let mut bytes = Vec::new();
    let start = RecordMark::open(&mut bytes);
    let header = CallHeader {
        xid,
        program: procedure.program,
        version: procedure.version,
        procedure: procedure.number,
        credential,
        verifier: OpaqueAuth::NONE,
    };
    let mut writer = Writer::new(&mut bytes);
    header.encode(&mut writer);
    args.encode(&mut writer);
    RecordMark::close(&mut bytes, start, 0);
    bytes
}

/// Sends a call and returns its reply, without the record mark.
pub fn exchange(stream: &mut TcpStream, call: &[u8]) -> Result<Vec<u8>> {
    stream
        .write_all(call)
        .context("the call could not be sent")?;
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).context("no reply came")?;
    let mark = RecordMark::from_bytes(mark);
    if !mark.last || mark.len as usize > REPLY_MAX {
        bail!("a reply of {} bytes, last fragment {}", mark.len, mark.last);
    }
    let mut reply = vec![0; mark.len as usize];
    stream.read_exact(&mut reply).context("half a reply came")?;
    Ok(reply)
}

/// Returns a reader of the results of an accepted reply.
pub fn results(reply: &[u8]) -> Result<Reader<'_>> {
    let mut reader = Reader::new(reply);
    let header = ReplyHeader::decode(&mut reader)?;
    if header.body != ReplyBody::SUCCESS {
        bail!("the call was not carried out: {:?}", header.body);
    }
    Ok(reader)
}

/// Mounts `export` and looks up `names` below it, one after the other.
pub fn handle_of(stream: &mut TcpStream, export: &str, names: &[&str]) -> Result<Handle> {
    let path = DirPath(export.as_bytes());
    let reply = exchange(
        stream,
        &call(Procedure::mount(mount::Procedure::Mnt), 1, &path),
    )?;
    let mut handle = match MntReply::decode(&mut results(&reply)?)? {
        Ok(ok) => Handle::from(ok.fhandle),
        Err(fail) => bail!("{export}: MNT answered {}", fail.status),
    };
    for name in names {
        let args = lookup::Args {
            what: DirOpArgs {
                dir: handle.borrow(),
                name: name.as_bytes(),
            },
        };
        let bytes = call(Procedure::nfs(nfs3::Procedure::Lookup), 2, &args);
        let reply = exchange(stream, &bytes)?;
        handle = match lookup::Reply::decode(&mut results(&reply)?)? {
            Ok(ok) => Handle::from(ok.object),
            Err(fail) => return Err(anyhow!("{name}: LOOKUP answered {}", fail.status)),
        };
    }
    Ok(handle)
}
