//! Path of a fleet's socket: in a directory of the user alone, named by the process id.

use super::SocketError;
use rustix::process::getuid;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Choice of the socket that a fleet serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SocketChoice {
    /// No socket.
    #[default]
    None,
    /// A socket in the user's directory. The run continues if this host refuses it.
    Usual,
    /// A socket at this path.
    At(PathBuf),
}

/// A running fleet and its socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningFleet {
    /// Process id.
    pub process: u32,
    /// Path of the socket.
    pub path: PathBuf,
}

/// Returns the directory of this user's sockets, which may not exist.
fn directory() -> PathBuf {
    let of_session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match of_session.filter(|path| path.is_absolute()) {
        Some(path) => path.join("filestone"),
        None => PathBuf::from(format!("/tmp/filestone-{}", getuid().as_raw())),
    }
}

/// Returns the usual path for this process, in a directory that only this user can access.
pub(super) fn usual() -> Result<PathBuf, SocketError> {
    let directory = directory();
    let made = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(SocketError::refused(&directory, error));
        }
        Ok(()) | Err(_) => {}
    }
    // Symbolic links are not followed: another user may have created the target.
    let found = std::fs::symlink_metadata(&directory)
        .map_err(|error| SocketError::refused(&directory, error))?;
    let is_ours = found.is_dir() && found.uid() == getuid().as_raw() && found.mode() & 0o077 == 0;
    if !is_ours {
        return Err(SocketError::NotOurs(directory));
    }
    Ok(directory.join(format!("fleet-{}.sock", std::process::id())))
}

/// Makes room for a socket: removes a socket that no process serves.
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

/// Returns the running fleets of this user, without sockets left over by dead processes.
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
