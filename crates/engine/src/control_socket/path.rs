//! Where the socket of a fleet is: in a directory of the user's alone, named by the process.

use super::SocketError;
use rustix::process::getuid;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Which socket a fleet serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SocketChoice {
    /// None.
    #[default]
    None,
    /// One in the user's directory. A host that refuses it is no reason not to run.
    Usual,
    /// This one.
    At(PathBuf),
}

/// A fleet that runs, and its socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningFleet {
    /// Its process.
    pub process: u32,
    /// Its socket.
    pub path: PathBuf,
}

/// The directory of this user's sockets, which need not be there.
fn directory() -> PathBuf {
    let of_session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match of_session.filter(|path| path.is_absolute()) {
        Some(path) => path.join("filestone"),
        None => PathBuf::from(format!("/tmp/filestone-{}", getuid().as_raw())),
    }
}

/// The usual path of this process, in a directory that nobody else can look into.
pub(super) fn usual() -> Result<PathBuf, SocketError> {
    let directory = directory();
    let made = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(SocketError::refused(&directory, error));
        }
        Ok(()) | Err(_) => {}
    }
    // Not what a link leads to: another user may have made that.
    let found = std::fs::symlink_metadata(&directory)
        .map_err(|error| SocketError::refused(&directory, error))?;
    let is_ours = found.is_dir() && found.uid() == getuid().as_raw() && found.mode() & 0o077 == 0;
    if !is_ours {
        return Err(SocketError::NotOurs(directory));
    }
    Ok(directory.join(format!("fleet-{}.sock", std::process::id())))
}

/// Makes room for a socket: one that nobody serves any more is removed.
pub(super) fn make_room(path: &Path) -> Result<(), SocketError> {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.file_type().is_socket() {
        return Err(SocketError::NoSocket(path.into()));
    }
    if UnixStream::connect(path).is_ok() {
        return Err(SocketError::InUse(path.into()));
    }
    std::fs::remove_file(path).map_err(|error| SocketError::refused(path, error))
}

/// The fleets of this user that run. Sockets that dead processes have left are passed over.
pub fn running() -> Vec<RunningFleet> {
    let entries = std::fs::read_dir(directory()).into_iter().flatten();
    let fleet = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let process = name.strip_prefix("fleet-")?.strip_suffix(".sock")?;
        let process = process.parse().ok()?;
        let path = entry.path();
        UnixStream::connect(&path).ok()?;
        Some(RunningFleet { process, path })
    };
    let mut fleets: Vec<RunningFleet> = entries.flatten().filter_map(fleet).collect();
    fleets.sort_by_key(|fleet| fleet.process);
    fleets
}
