//! Simulated NFS mount: below its directory, a file that this process removes while it is open is
//! renamed to `.nfs…` until it is closed, and a lock needs a descriptor open for writing. It can
//! also simulate a server that lists names after their removal.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Simulated mounts of this process; tests run concurrently.
static MOUNTS: Mutex<Vec<Mount>> = Mutex::new(Vec::new());
static NEXT: AtomicU32 = AtomicU32::new(1);

#[derive(Clone)]
struct Mount {
    path: PathBuf,
    removes_nothing: bool,
}

/// A directory with this behaviour, initially empty and removed on drop.
pub(crate) struct NfsMount(PathBuf);

impl NfsMount {
    pub fn new() -> Self {
        Self::mount(false)
    }

    /// Creates a mount whose server reports that names are removed but keeps them.
    pub fn of_a_liar() -> Self {
        Self::mount(true)
    }

    fn mount(removes_nothing: bool) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("filestone-nfs-mount-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a directory");
        let path = path.canonicalize().expect("it is there");
        mounts().push(Mount {
            path: path.clone(),
            removes_nothing,
        });
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns all names in the mount, at any depth, after removing files that have been closed.
    pub fn names(&self) -> Vec<PathBuf> {
        let mut names = below(&self.0);
        names.retain(|path| !remove_if_closed(path));
        names
    }
}

impl Drop for NfsMount {
    fn drop(&mut self) {
        mounts().retain(|mount| mount.path != self.0);
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn mounts() -> MutexGuard<'static, Vec<Mount>> {
    MOUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns everything below a directory, each directory before its contents.
fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        found.push(path.clone());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(below(&path));
        }
    }
    found
}

/// Returns device and inode of every open file of this process.
fn open_files() -> HashSet<(u64, u64)> {
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("/proc");
    let identity = |path: PathBuf| std::fs::metadata(path).ok();
    descriptors
        .flatten()
        .filter_map(|entry| identity(entry.path()))
        .map(|found| (found.dev(), found.ino()))
        .collect()
}

fn is_open(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_ok_and(|found| found.is_file() && open_files().contains(&(found.dev(), found.ino())))
}

/// Removes such a file if its last descriptor has been closed, as the client does.
fn remove_if_closed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    super::is_still_open(name) && !is_open(path) && std::fs::remove_file(path).is_ok()
}

/// Returns the path of an open file on a simulated mount, and the mount.
fn path_on_mount(file: BorrowedFd<'_>) -> Option<(PathBuf, Mount)> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let mounts = mounts();
    let mount = mounts.iter().find(|mount| path.starts_with(&mount.path))?;
    Some((path, mount.clone()))
}

/// Whether the object of an unlinkat stays under another name because it is open.
pub(super) fn keeps(parent: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<bool, Errno> {
    let Some((directory, mount)) = path_on_mount(parent) else {
        return Ok(false);
    };
    if mount.removes_nothing {
        return match flags.contains(AtFlags::REMOVEDIR) {
            true => Err(Errno::NOTEMPTY),
            false => Ok(true),
        };
    }
    let path = directory.join(OsStr::from_bytes(name));
    if flags.contains(AtFlags::REMOVEDIR) {
        below(&path).iter().for_each(|path| {
            remove_if_closed(path);
        });
        return Ok(false);
    }
    if !is_open(&path) {
        return Ok(false);
    }
    if super::is_still_open(path.file_name().unwrap_or_default().as_bytes()) {
        return Err(Errno::BUSY);
    }
    let silly = format!(".nfs{:08x}", NEXT.fetch_add(1, Ordering::Relaxed));
    std::fs::rename(&path, path.with_file_name(silly)).expect("both are in the same directory");
    Ok(true)
}

/// Fails if the client would refuse a lock through this descriptor.
pub(super) fn check_lock(marker: &OwnedFd) -> Result<(), Errno> {
    let may_write = rustix::fs::fcntl_getfl(marker)?.intersects(OFlags::WRONLY | OFlags::RDWR);
    match may_write || path_on_mount(marker.as_fd()).is_none() {
        true => Ok(()),
        false => Err(Errno::BADF),
    }
}
