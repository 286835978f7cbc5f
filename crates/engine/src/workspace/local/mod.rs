//! A tree of this host: directories that are held open, whatever file system they are on.
//!
//! A marker is locked (flock) for as long as its run lives: the lock goes with the process,
//! however that ends. Runs over NFS lock nothing, and their markers look the same through a mount.

pub(crate) mod deletion;
pub(crate) mod listing;
pub(crate) mod nfs_mount;

use super::error::{ClaimError, Purpose};
use super::marker::{LockHolder, MARKER_MAX_BYTES, Marker, padded};
use super::set_removal::{Located, Name, SetTree};
use super::tree::{At, DIRECTORY_MODE, FILE_MODE, Found, FoundMarker, Step, Tree};
use crate::error::RunError;
use deletion::NotRemoved;
use listing::{Listing, is_dot};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Directories are opened so, and links are not followed.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);
/// For writing as well: without that an NFS mount gives no lock.
const MARKER_FLAGS: OFlags = OFlags::RDWR
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// The trees of this host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalTree;

/// How a tree of this host refuses.
#[derive(Debug)]
pub(crate) enum LocalError {
    System(Errno),
    NotRemoved(NotRemoved),
}

impl From<Errno> for LocalError {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

/// Opens a directory that the user has named: the one name that may be a link.
pub(crate) fn open(directory: &Path, at: &At<'_>) -> Result<OwnedFd, RunError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::empty())
        .map_err(|errno| refused(at, errno, "opening it"))
}

/// A refusal of the operating system.
pub(crate) fn refused(at: &At<'_>, errno: Errno, doing: &'static str) -> RunError {
    let (path, purpose) = (at.path.into(), at.purpose);
    ClaimError::System {
        path,
        doing,
        errno,
        purpose,
    }
    .into()
}

/// Whether the open file has this name in the directory.
fn is_at(directory: &OwnedFd, file: &OwnedFd, name: &str) -> Result<bool, Errno> {
    let file = rustix::fs::fstat(file)?;
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok((found.st_dev, found.st_ino) == (file.st_dev, file.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Opens what may be a marker.
fn open_marker(directory: &OwnedFd, name: &str) -> Result<Option<OwnedFd>, Errno> {
    match rustix::fs::openat(directory, name, MARKER_FLAGS, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => Ok(None),
        opened => opened.map(Some),
    }
}

fn lock(marker: &OwnedFd) -> Result<LockHolder, Errno> {
    match nfs_mount::lock(marker) {
        Ok(true) => Ok(LockHolder::Us),
        Ok(false) => Ok(LockHolder::None),
        Err(Errno::AGAIN) => Ok(LockHolder::Other),
        Err(errno) => Err(errno),
    }
}

/// Writes a marker's text over what is in the file.
fn write(file: &OwnedFd, text: &str) -> Result<(), Errno> {
    let old_len = u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or_default();
    let text = padded(text, old_len);
    if rustix::io::pwrite(file, text.as_bytes(), 0)? != text.len() {
        return Err(Errno::NOSPC);
    }
    rustix::fs::fsync(file)
}

fn gone(removed: Result<(), Errno>) -> Result<(), LocalError> {
    match removed {
        Err(Errno::NOENT) => Ok(()),
        removed => removed.map_err(LocalError::System),
    }
}

impl Tree for LocalTree {
    type Directory = OwnedFd;
    type Lock = OwnedFd;
    type Error = LocalError;

    fn make_directory(
        &mut self,
        parent: &OwnedFd,
        name: &str,
    ) -> Result<Option<OwnedFd>, LocalError> {
        match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
            Err(Errno::EXIST) => Ok(None),
            made => {
                made?;
                let directory = rustix::fs::openat(parent, name, DIRECTORY, Mode::empty())?;
                Ok(Some(directory))
            }
        }
    }

    fn find(&mut self, parent: &OwnedFd, name: &str) -> Result<Found<OwnedFd>, LocalError> {
        match rustix::fs::openat(parent, name, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) => Ok(Found::Nothing),
            Err(Errno::NOTDIR | Errno::LOOP) => Ok(Found::Other),
            opened => Ok(Found::Directory(opened?)),
        }
    }

    fn first_name(
        &mut self,
        directory: &OwnedFd,
        known: &[&str],
    ) -> Result<Option<Box<[u8]>>, LocalError> {
        let mut first = None;
        rustix::fs::seek(directory, SeekFrom::Start(0))?;
        Listing::new().read(directory.as_fd(), |name, _| {
            let is_known = known.iter().any(|known| known.as_bytes() == name);
            // What was removed while it was open goes by itself.
            if is_dot(name) || is_known || nfs_mount::is_still_open(name) {
                return ControlFlow::Continue(());
            }
            first = Some(name.into());
            ControlFlow::Break(())
        })?;
        Ok(first)
    }

    fn make_marker(
        &mut self,
        directory: &OwnedFd,
        name: &str,
        marker: &Marker<'_>,
    ) -> Result<Option<OwnedFd>, LocalError> {
        let flags = MARKER_FLAGS | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::from_raw_mode(FILE_MODE);
        let file = match rustix::fs::openat(directory, name, flags, mode) {
            Err(Errno::EXIST) => return Ok(None),
            opened => opened?,
        };
        let holder = lock(&file)?;
        if holder == LockHolder::Other {
            return Ok(None);
        }
        write(&file, &marker.text(holder == LockHolder::Us))?;
        // Where nothing is locked, another run may have taken it for one that was cut off.
        Ok(is_at(directory, &file, name)?.then_some(file))
    }

    fn read_marker(
        &mut self,
        directory: &OwnedFd,
        name: &str,
    ) -> Result<Option<FoundMarker<OwnedFd>>, LocalError> {
        let Some(file) = open_marker(directory, name)? else {
            return Ok(None);
        };
        // Before its text is read: a run that is just beginning locks it first.
        let holder = lock(&file)?;
        let mut text = vec![0; MARKER_MAX_BYTES as usize];
        let len = rustix::io::pread(&file, &mut *text, 0)?;
        text.truncate(len);
        Ok(Some(FoundMarker {
            text: String::from_utf8_lossy(&text).into_owned(),
            holder,
            lock: file,
        }))
    }

    fn rewrite_marker(
        &mut self,
        directory: &OwnedFd,
        name: &str,
        marker: &Marker<'_>,
    ) -> Result<(), LocalError> {
        let file = open_marker(directory, name)?.ok_or(Errno::NOENT)?;
        Ok(write(&file, &marker.text(true))?)
    }

    fn replace_marker(
        &mut self,
        directory: &OwnedFd,
        from: &str,
        to: &str,
        lock: &OwnedFd,
    ) -> Result<bool, LocalError> {
        rustix::fs::renameat(directory, from, directory, to)?;
        Ok(is_at(directory, lock, to)?)
    }

    fn remove_file(&mut self, parent: &OwnedFd, name: &str) -> Result<(), LocalError> {
        let name = name.as_bytes();
        gone(nfs_mount::unlink(parent.as_fd(), name, AtFlags::empty()))
    }

    fn remove_directory(&mut self, parent: &OwnedFd, name: &str) -> Result<(), LocalError> {
        let name = name.as_bytes();
        gone(nfs_mount::unlink(parent.as_fd(), name, AtFlags::REMOVEDIR))
    }

    fn remove_emptied(&mut self, parent: &OwnedFd, name: &str) -> Result<(), LocalError> {
        let is_not_empty = |errno: &Errno| matches!(*errno, Errno::NOTEMPTY | Errno::EXIST);
        let parent = parent.as_fd();
        gone(nfs_mount::patiently(
            || nfs_mount::unlink(parent, name.as_bytes(), AtFlags::REMOVEDIR),
            is_not_empty,
        ))
    }

    fn empty_but(&mut self, directory: &OwnedFd, keep: &str) -> Result<(), LocalError> {
        let device = rustix::fs::fstat(directory)?.st_dev;
        nfs_mount::patiently(
            || deletion::empty(directory.as_fd(), keep.as_bytes(), device),
            NotRemoved::is_still_open,
        )
        .map_err(LocalError::NotRemoved)
    }

    fn pause(&mut self, pause: Duration) -> Result<(), LocalError> {
        std::thread::sleep(pause);
        Ok(())
    }

    fn is_full(error: &LocalError) -> bool {
        matches!(error, LocalError::System(Errno::NOSPC | Errno::DQUOT))
    }

    fn is_stale(error: &LocalError) -> bool {
        matches!(error, LocalError::System(Errno::STALE))
    }

    fn refused(error: LocalError, step: Step, at: &At<'_>) -> RunError {
        match (error, step) {
            (LocalError::NotRemoved(why), _) => ClaimError::NotRemoved {
                path: at.path.into(),
                why: why.to_string(),
            }
            .into(),
            (LocalError::System(errno), Step::MakeDirectory) => not_made(at, errno),
            (LocalError::System(errno), step) => refused(at, errno, doing(step)),
        }
    }
}

/// What an entry is, of a file system too that does not say so in its listings.
fn kind(directory: &OwnedFd, name: &[u8], listed: FileType) -> FileType {
    if listed != FileType::Unknown {
        return listed;
    }
    let status = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    status.map_or(listed, |status| FileType::from_raw_mode(status.st_mode))
}

fn of_set(path: &str) -> At<'_> {
    let purpose = Purpose::FileSet;
    At { path, purpose }
}

impl SetTree for LocalTree {
    type Directory = OwnedFd;
    type Tree = Self;
    type Entry = FileType;

    fn tree(&mut self) -> &mut Self {
        self
    }

    fn list(
        &mut self,
        at: &Located<'_, OwnedFd>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], FileType) -> bool,
    ) -> Result<(), RunError> {
        rustix::fs::seek(at.directory, SeekFrom::Start(0))
            .and_then(|_| {
                Listing::new().read(at.directory.as_fd(), |name, listed| {
                    let is_wanted = !is_dot(name) && is_wanted(name);
                    if is_wanted && each(name, kind(at.directory, name, listed)) {
                        return ControlFlow::Break(());
                    }
                    ControlFlow::Continue(())
                })
            })
            .map_err(|errno| refused(&of_set(at.path), errno, doing(Step::List)))
    }

    fn is_directory(entry: FileType) -> bool {
        entry == FileType::Directory
    }

    fn enter(
        &mut self,
        parent: &Located<'_, OwnedFd>,
        name: &[u8],
        _: FileType,
    ) -> Result<Option<OwnedFd>, RunError> {
        let failed = of_set(parent.path).failed::<Self>(Step::Empty);
        let device = rustix::fs::fstat(parent.directory).map(|status| status.st_dev);
        let device = device.map_err(|errno| failed(errno.into()))?;
        deletion::enter(parent.directory.as_fd(), name, device)
            .map_err(|error| failed(LocalError::NotRemoved(error)))
    }

    fn remove_names(
        &mut self,
        parent: &Located<'_, OwnedFd>,
        names: &[Name],
    ) -> Result<Option<usize>, RunError> {
        let failed = of_set(parent.path).failed::<Self>(Step::Empty);
        for (index, Name { name, is_directory }) in names.iter().enumerate() {
            let kind = if *is_directory {
                FileType::Directory
            } else {
                FileType::RegularFile
            };
            let removed = deletion::take_away(parent.directory.as_fd(), name, kind);
            if !removed.map_err(|error| failed(LocalError::NotRemoved(error)))? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// Why a directory was not made: what is wrong is wrong with the one that it was to be in.
fn not_made(at: &At<'_>, errno: Errno) -> RunError {
    let path = Path::new(at.path).parent().unwrap_or(Path::new("/"));
    let path = path.to_string_lossy().into_owned();
    if errno == Errno::NOENT {
        return ClaimError::NoFiles { path }.into();
    }
    let at = At { path: &path, ..*at };
    refused(&at, errno, doing(Step::MakeDirectory))
}

fn doing(step: Step) -> &'static str {
    match step {
        Step::Find => "looking at it",
        Step::MakeDirectory => "making a directory in it",
        Step::MakeMarker | Step::RewriteMarker | Step::ReplaceMarker => "writing its marker",
        Step::ReadMarker => "reading its marker",
        Step::List => "listing it",
        Step::RemoveFile | Step::RemoveDirectory | Step::Empty => "removing it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_system_and_a_read_only_one_are_told_apart() {
        let at = At {
            path: "/d",
            purpose: Purpose::Replay,
        };
        let say = |errno| refused(&at, errno, doing(Step::MakeDirectory)).to_string();
        assert!(say(Errno::NOSPC).contains("the file system is full"));
        assert!(say(Errno::ROFS).contains("mounted read-only"));
        assert!(say(Errno::ACCESS).contains("is not allowed"));
    }
}
