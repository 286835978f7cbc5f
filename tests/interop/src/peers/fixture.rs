//! The files that are read: made over NFS with one call at a time, so that every export contains
//! the same files, whatever its file system.

use super::{MOUNT_PORT, NFS_PORT};
use crate::exchange::{self, Export};
use anyhow::{Context, Result, ensure};
use filestone_wire::nfs3::Handle;
use filestone_wire::pattern;
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
pub fn make(host: &str, path: &str) -> Result<()> {
    let mut export = Export {
        root: mount(host, path)?,
        stream: connect(host, NFS_PORT)?,
    };
    make_file(&mut export, None, FILE, FILE_LEN)?;
    export.link(export.root, LINK, FILE)?;
    let directory = export.make_directory(export.root, DIRECTORY)?;
    for number in 0..SMALL_FILES {
        let name = format!("file{number:04}");
        make_file(&mut export, Some(directory), &name, 4096)?;
    }
    Ok(())
}

/// Makes a file with the pattern, in the root directory or another one.
fn make_file(export: &mut Export, directory: Option<Handle>, name: &str, len: u64) -> Result<()> {
    let file = export.create(directory.unwrap_or(export.root), name)?;
    let file = file.with_context(|| format!("{name}: the server gave no handle"))?;
    for offset in (0..len).step_by(WRITE_LEN) {
        let mut data = vec![0; WRITE_LEN.min((len - offset) as usize)];
        pattern::fill(offset, &mut data);
        let is_whole = export.write(&file, offset, &data)?;
        ensure!(is_whole, "{name}: it was not written completely");
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
