//! Open directories of one client's part of a file set.

use crate::protocols::local::tree::{self, DIRECTORY};
use filestone_host::error::RunError;
use filestone_plan::file_set::{Layout, VolatileDirectory, client_directory, files_directory};
use filestone_setup::workspace::Purpose;
use filestone_setup::workspace::tree::{DIRECTORY_MODE, FILE_MODE as OWN_FILE_MODE};
use filestone_workload::operation::OpKind;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

pub(super) const FILE_MODE: Mode = Mode::from_raw_mode(OWN_FILE_MODE);
/// Flags for opening data files.
pub(super) const FILE: OFlags = OFlags::RDWR
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// Target of the symbolic links that are created and removed: a long name that does not exist.
pub(super) const LINK_TARGET: &str = "./a-name-that-leads-nowhere";

/// Converts an error of the operating system for an object in a file set.
pub(super) fn refused(path: &Path, errno: Errno, doing: &'static str) -> RunError {
    let path = path.to_string_lossy().into_owned();
    tree::refused(path, Purpose::FileSet, errno, doing)
}

/// The directories of one client.
#[derive(Debug)]
pub(super) struct OpenedSet {
    /// Number of the client in the run.
    pub client: u32,
    /// Path of the client's directory.
    pub path: PathBuf,
    /// The client's directory.
    pub root: OwnedFd,
    /// Directories of the data files.
    pub directories: Vec<OwnedFd>,
    /// Directories of names that are created and removed, if the mix needs them.
    changing: [Option<OwnedFd>; VolatileDirectory::ALL.len()],
    /// Number of directories created, and number found.
    pub made: u64,
    pub found: u64,
}

impl OpenedSet {
    /// Opens the directories of a client, and creates missing ones.
    pub fn open(
        parent: BorrowedFd<'_>,
        set_path: &Path,
        client: u32,
        layout: &Layout,
        kinds: &[OpKind],
    ) -> Result<Self, RunError> {
        let name = client_directory(client);
        let path = set_path.join(&name);
        let (mut made, mut found) = (0, 0);
        let mut open = |parent: BorrowedFd<'_>, name: &str, path: &Path| {
            let (directory, is_new) = open_or_make(parent, name)
                .map_err(|errno| refused(&path.join(name), errno, "making or opening it"))?;
            *(if is_new { &mut made } else { &mut found }) += 1;
            Ok::<_, RunError>(directory)
        };
        let root = open(parent, &name, set_path)?;
        let directories = (0..layout.file_directories())
            .map(|index| open(root.as_fd(), &files_directory(index), &path))
            .collect::<Result<_, _>>()?;
        let mut changing: [Option<OwnedFd>; VolatileDirectory::ALL.len()] = Default::default();
        for (place, kind) in changing.iter_mut().zip(VolatileDirectory::ALL) {
            if kind.is_needed_by(kinds) {
                *place = Some(open(root.as_fd(), kind.directory(), &path)?);
            }
        }
        Ok(Self {
            client,
            path,
            root,
            directories,
            changing,
            made,
            found,
        })
    }

    /// Returns the directory of names of that kind.
    pub fn changing(&self, changing: VolatileDirectory) -> Result<BorrowedFd<'_>, Errno> {
        let directory = self.changing.get(changing as usize);
        let directory = directory.and_then(Option::as_ref);
        directory.map(AsFd::as_fd).ok_or(Errno::NOENT)
    }

    /// Returns an error text if the client's directory is gone or inaccessible, that is, the mount
    /// is lost.
    pub fn lost(&self) -> Option<String> {
        let path = self.path.display();
        match rustix::fs::fstat(&self.root) {
            Ok(status) if status.st_nlink == 0 => Some(format!("{path}: has been removed")),
            Ok(_) => None,
            Err(errno) => Some(format!("{path}: {}", std::io::Error::from(errno))),
        }
    }
}

/// Opens or creates a directory; returns whether it was created.
fn open_or_make(parent: BorrowedFd<'_>, name: &str) -> Result<(OwnedFd, bool), Errno> {
    let is_new = match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(errno),
    };
    let directory = rustix::fs::openat(parent, name, DIRECTORY, Mode::empty())?;
    Ok((directory, is_new))
}
