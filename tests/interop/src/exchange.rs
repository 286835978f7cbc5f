//! Single RPC calls over a blocking connection: enough to make and inspect files of an export. The
//! calls that benchmarks measure are in their raw client.

use anyhow::{Context, Result, anyhow, bail, ensure};
use filestone_wire::mount::{self, DirPath, MntReply};
use filestone_wire::nfs3::{
    self, DirOpArgs, Handle, Sattr3, SetTime, create, lookup, mkdir, read, readdir, remove,
    symlink, write,
};
use filestone_wire::record::RecordMark;
use filestone_wire::rpc::{
    AuthSys, CallHeader, Credential, Gids, OpaqueAuth, ReplyBody, ReplyHeader,
};
use filestone_wire::xdr::{Decode, Encode, Reader, Writer};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Largest accepted reply in bytes; no reply to these calls is longer.
const REPLY_MAX: usize = 2 << 20;

/// A procedure of an RPC program.
#[derive(Debug, Clone, Copy)]
pub struct Procedure {
    program: u32,
    version: u32,
    number: u32,
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
    framed(stream, call, |mark| {
        let mark = RecordMark::from_bytes(mark);
        ensure!(mark.last, "a reply in several fragments");
        Ok(mark.len as usize)
    })
}

/// Sends a message and returns the reply, whose length is in the four bytes before it.
pub fn framed(
    stream: &mut TcpStream,
    message: &[u8],
    len: impl Fn([u8; 4]) -> Result<usize>,
) -> Result<Vec<u8>> {
    stream
        .write_all(message)
        .context("the call could not be sent")?;
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).context("no reply came")?;
    let len = len(mark)?;
    ensure!(len <= REPLY_MAX, "a reply of {len} bytes");
    let mut reply = vec![0; len];
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
        let args = DirOpArgs {
            dir: handle.borrow(),
            name: name.as_bytes(),
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

/// An export, used with one call at a time.
pub struct Export {
    /// Connection to the NFS server.
    pub stream: TcpStream,
    /// Root directory.
    pub root: Handle,
}

fn entry<'a>(directory: &'a Handle, name: &'a str) -> DirOpArgs<'a> {
    DirOpArgs {
        dir: directory.borrow(),
        name: name.as_bytes(),
    }
}

fn mode(mode: u32) -> Sattr3 {
    Sattr3 {
        mode: Some(mode),
        uid: None,
        gid: None,
        size: None,
        atime: SetTime::DontChange,
        mtime: SetTime::DontChange,
    }
}

impl Export {
    fn call(&mut self, procedure: nfs3::Procedure, arguments: &impl Encode) -> Result<Vec<u8>> {
        exchange(
            &mut self.stream,
            &call(Procedure::nfs(procedure), 1, arguments),
        )
    }

    /// Returns the handle of a path in the export.
    pub fn at(&mut self, names: &[&str]) -> Result<Handle> {
        handle_of(&mut self.stream, "/export", names)
    }

    /// Makes a file; returns `None` if there is no space.
    pub fn create(&mut self, directory: Handle, name: &str) -> Result<Option<Handle>> {
        let arguments = create::Args {
            where_: entry(&directory, name),
            how: create::CreateHow::Unchecked(mode(0o644)),
        };
        let reply = self.call(nfs3::Procedure::Create, &arguments)?;
        match create::Reply::decode(&mut results(&reply)?)? {
            Ok(ok) => Ok(ok.obj.map(Handle::from)),
            Err(fail) if fail.status == nfs3::Status::NOSPC => Ok(None),
            Err(fail) => bail!("{name}: CREATE answered {}", fail.status),
        }
    }

    /// Makes a directory.
    pub fn make_directory(&mut self, directory: Handle, name: &str) -> Result<Handle> {
        let arguments = mkdir::Args {
            where_: entry(&directory, name),
            attributes: mode(0o755),
        };
        let reply = self.call(nfs3::Procedure::Mkdir, &arguments)?;
        match mkdir::Reply::decode(&mut results(&reply)?)? {
            Ok(ok) => ok.obj.map(Handle::from).context("MKDIR gave no handle"),
            Err(fail) => bail!("{name}: MKDIR answered {}", fail.status),
        }
    }

    /// Makes a symbolic link to `target`.
    pub fn link(&mut self, directory: Handle, name: &str, target: &str) -> Result<()> {
        let arguments = symlink::Args {
            where_: entry(&directory, name),
            symlink: symlink::SymlinkData {
                symlink_attributes: mode(0o777),
                symlink_data: target.as_bytes(),
            },
        };
        let reply = self.call(nfs3::Procedure::Symlink, &arguments)?;
        match symlink::Reply::decode(&mut results(&reply)?)? {
            Ok(_) => Ok(()),
            Err(fail) => bail!("{name}: SYMLINK answered {}", fail.status),
        }
    }

    /// Writes to a file. Returns whether all bytes were written; there may be no space for them.
    pub fn write(&mut self, file: &Handle, offset: u64, data: &[u8]) -> Result<bool> {
        let arguments = write::Args {
            file: file.borrow(),
            offset,
            count: data.len() as u32,
            stable: write::StableHow::FileSync,
            data,
        };
        let reply = self.call(nfs3::Procedure::Write, &arguments)?;
        match write::Reply::decode(&mut results(&reply)?)? {
            Ok(ok) => Ok(ok.count as usize == data.len()),
            Err(fail) if fail.status == nfs3::Status::NOSPC => Ok(false),
            Err(fail) => bail!("WRITE answered {}", fail.status),
        }
    }

    /// Reads the start of a file.
    pub fn read(&mut self, names: &[&str]) -> Result<String> {
        let file = handle_of(&mut self.stream, "/export", names)?;
        let arguments = read::Args {
            file: file.borrow(),
            offset: 0,
            count: 4096,
        };
        let reply = self.call(nfs3::Procedure::Read, &arguments)?;
        match read::Reply::decode(&mut results(&reply)?)? {
            Ok(ok) => Ok(String::from_utf8_lossy(ok.data).into_owned()),
            Err(fail) => bail!("{names:?}: READ answered {}", fail.status),
        }
    }

    /// Removes a file from the export.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let root = self.root;
        let arguments = entry(&root, name);
        let reply = self.call(nfs3::Procedure::Remove, &arguments)?;
        match remove::Reply::decode(&mut results(&reply)?)? {
            Ok(_) => Ok(()),
            Err(fail) => bail!("{name}: REMOVE answered {}", fail.status),
        }
    }

    /// Returns the names in a directory that fit into one reply.
    pub fn names(&mut self, directory: Handle) -> Result<Vec<String>> {
        let arguments = readdir::Args {
            dir: directory.borrow(),
            cookie: 0,
            cookieverf: [0; 8],
            count: 32 << 10,
        };
        let reply = self.call(nfs3::Procedure::Readdir, &arguments)?;
        let listed = match readdir::Reply::decode(&mut results(&reply)?)? {
            Ok(listed) => listed,
            Err(fail) => bail!("READDIR answered {}", fail.status),
        };
        let names = listed.entries.iter();
        let names = names.map(|entry| String::from_utf8_lossy(entry.name).into_owned());
        Ok(names.filter(|name| name != "." && name != "..").collect())
    }
}
