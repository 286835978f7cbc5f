//! The files that are read: made over NFS with one call at a time, so that every export contains
//! the same files, whatever its file system.

use super::{MOUNT_PORT, NFS_PORT};
use crate::exchange::{self, Procedure, call, exchange};
use anyhow::{Context, Result, bail};
use filestone_wire::nfs3::{
    DirOpArgs, Handle, Procedure as Nfs, Sattr3, SetTime, Status, create, mkdir, symlink, write,
};
use filestone_wire::pattern;
use filestone_wire::xdr::Decode;
use std::net::TcpStream;
use std::path::Path;

/// A file with the pattern that `--verify` expects.
pub const FILE: &str = "file";
/// Length of [`FILE`] in bytes.
pub const FILE_LEN: u64 = 1 << 20;
/// A symbolic link to [`FILE`].
pub const LINK: &str = "link";
/// A directory of small files.
pub const DIRECTORY: &str = "files";
const SMALL_FILES: u32 = 20;
const WRITE_LEN: usize = 32 << 10;

fn connect(host: &str, port: u16) -> Result<TcpStream> {
    let stream = TcpStream::connect((host, port))
        .with_context(|| format!("{host}:{port} does not answer"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Returns the handle of an export.
pub fn mount(host: &str, export: &str) -> Result<Handle> {
    exchange::handle_of(&mut connect(host, MOUNT_PORT)?, export, &[])
}

/// Makes the files in an export.
pub fn make(host: &str, export: &str) -> Result<()> {
    let root = mount(host, export)?;
    let mut maker = Maker {
        stream: connect(host, NFS_PORT)?,
    };
    let file = maker.file(root, FILE)?;
    for offset in (0..FILE_LEN).step_by(WRITE_LEN) {
        maker.write(file, offset, WRITE_LEN)?;
    }
    maker.link(root, LINK)?;
    let directory = maker.directory(root, DIRECTORY)?;
    for number in 0..SMALL_FILES {
        let file = maker.file(directory, &format!("file{number:04}"))?;
        maker.write(file, 0, 4096)?;
    }
    Ok(())
}

/// Makes the same files in a directory of this host, except for the link.
pub fn make_in(directory: &Path) -> Result<()> {
    let with_pattern = |path: &Path, len: u64| {
        let mut data = vec![0; len as usize];
        pattern::fill(0, &mut data);
        std::fs::write(path, data)
    };
    with_pattern(&directory.join(FILE), FILE_LEN)?;
    let small = directory.join(DIRECTORY);
    std::fs::create_dir_all(&small)?;
    for number in 0..SMALL_FILES {
        with_pattern(&small.join(format!("file{number:04}")), 4096)?;
    }
    Ok(())
}

fn attributes(mode: u32) -> Sattr3 {
    Sattr3 {
        mode: Some(mode),
        uid: None,
        gid: None,
        size: None,
        atime: SetTime::DontChange,
        mtime: SetTime::DontChange,
    }
}

fn place<'a>(directory: &'a Handle, name: &'a str) -> DirOpArgs<'a> {
    DirOpArgs {
        dir: directory.borrow(),
        name: name.as_bytes(),
    }
}

fn made(what: &str, handle: Option<Handle>, status: Option<Status>) -> Result<Handle> {
    match (handle, status) {
        (_, Some(status)) => bail!("{what}: the server answered {status}"),
        (None, None) => bail!("{what}: the server gave no handle"),
        (Some(handle), None) => Ok(handle),
    }
}

struct Maker {
    stream: TcpStream,
}

impl Maker {
    fn file(&mut self, directory: Handle, name: &str) -> Result<Handle> {
        let args = create::Args {
            where_: place(&directory, name),
            how: create::CreateHow::Unchecked(attributes(0o644)),
        };
        let reply = exchange(
            &mut self.stream,
            &call(Procedure::nfs(Nfs::Create), 1, &args),
        )?;
        match create::Reply::decode(&mut exchange::results(&reply)?)? {
            Ok(ok) => made(name, ok.obj.map(Handle::from), None),
            Err(fail) => made(name, None, Some(fail.status)),
        }
    }

    fn directory(&mut self, directory: Handle, name: &str) -> Result<Handle> {
        let args = mkdir::Args {
            where_: place(&directory, name),
            attributes: attributes(0o755),
        };
        let reply = exchange(
            &mut self.stream,
            &call(Procedure::nfs(Nfs::Mkdir), 1, &args),
        )?;
        match mkdir::Reply::decode(&mut exchange::results(&reply)?)? {
            Ok(ok) => made(name, ok.obj.map(Handle::from), None),
            Err(fail) => made(name, None, Some(fail.status)),
        }
    }

    fn link(&mut self, directory: Handle, name: &str) -> Result<()> {
        let args = symlink::Args {
            where_: place(&directory, name),
            symlink: symlink::SymlinkData {
                symlink_attributes: attributes(0o777),
                symlink_data: FILE.as_bytes(),
            },
        };
        let reply = exchange(
            &mut self.stream,
            &call(Procedure::nfs(Nfs::Symlink), 1, &args),
        )?;
        match symlink::Reply::decode(&mut exchange::results(&reply)?)? {
            Ok(_) => Ok(()),
            Err(fail) => bail!("{name}: the server answered {}", fail.status),
        }
    }

    fn write(&mut self, file: Handle, offset: u64, len: usize) -> Result<()> {
        let mut data = vec![0; len];
        pattern::fill(offset, &mut data);
        let args = write::Args {
            file: file.borrow(),
            offset,
            count: len as u32,
            stable: write::StableHow::FileSync,
            data: &data,
        };
        let reply = exchange(
            &mut self.stream,
            &call(Procedure::nfs(Nfs::Write), 1, &args),
        )?;
        match write::Reply::decode(&mut exchange::results(&reply)?)? {
            Ok(ok) if ok.count as usize == len => Ok(()),
            Ok(ok) => bail!("WRITE of {len} bytes wrote {}", ok.count),
            Err(fail) => bail!("WRITE: the server answered {}", fail.status),
        }
    }
}
