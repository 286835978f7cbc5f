//! Directory trees of this host, with open directories, on any file system.
//!
//! A marker is locked (flock) while its run lives; the kernel releases the lock when the process
//! ends for any reason. Runs over NFS lock nothing, and their markers look the same through a
//! mount.

pub(crate) mod deletion;
pub(crate) mod listing;
pub(crate) mod nfs_mount;

use deletion::{RemovalScope, RemoveError};
use filestone_host::error::RunError;
use filestone_plan::made::{Kept, MadeNames};
use filestone_setup::workspace::marker::{LockHolder, MARKER_MAX_BYTES, Marker, padded};
use filestone_setup::workspace::tree::{
    DIRECTORY_MODE, EntryName, FILE_MODE, FileTree, Found, FoundMarker, MarkerLock, RefusalKind,
    TreeAction, TreeDirectory, TreeError, TreeResult,
};
use filestone_setup::workspace::{ClaimError, Purpose};
use listing::{Listing, is_dot};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Flags for opening directories without following links.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);
/// Opened for writing too, which an NFS mount requires for a lock.
const MARKER_FLAGS: OFlags = OFlags::RDWR
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

/// Directory trees of this host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalTree;

/// A directory of this host.
type LocalDirectory = TreeDirectory<OwnedFd>;

/// Opens the directory named by the user; only this name may be a link.
pub(crate) fn open(directory: &Path, purpose: Purpose) -> TreeResult<LocalDirectory> {
    let path = directory.to_string_lossy().into_owned();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags, Mode::empty()) {
        Ok(handle) => Ok(TreeDirectory {
            handle,
            path,
            purpose,
        }),
        Err(errno) => {
            let path = match std::fs::read_link(directory) {
                Ok(leads_to) => format!("{path}, a symbolic link to {}", leads_to.display()),
                Err(_) => path,
            };
            Err(refused(path, purpose, errno, "opening it").into())
        }
    }
}

/// Converts an error of the operating system.
pub(crate) fn refused(
    path: String,
    purpose: Purpose,
    errno: Errno,
    doing: &'static str,
) -> RunError {
    ClaimError::System {
        path,
        doing,
        errno,
        purpose,
    }
    .into()
}

fn kind_of(errno: Errno) -> RefusalKind {
    match errno {
        Errno::NOSPC | Errno::DQUOT => RefusalKind::Full,
        Errno::STALE => RefusalKind::Stale,
        Errno::ACCESS | Errno::PERM => RefusalKind::Denied,
        Errno::NOTEMPTY | Errno::EXIST => RefusalKind::NotEmpty,
        _ => RefusalKind::Other,
    }
}

/// Returns the error of a step in a directory.
fn failed(at: &LocalDirectory, step: TreeAction) -> impl Fn(Errno) -> TreeError + use<> {
    failed_at(at, at.path.clone(), step)
}

/// Returns the error of a step for an entry of a directory.
fn failed_with(
    at: &LocalDirectory,
    step: TreeAction,
    name: &str,
) -> impl Fn(Errno) -> TreeError + use<> {
    failed_at(at, at.at(name), step)
}

fn failed_at(
    at: &LocalDirectory,
    path: String,
    step: TreeAction,
) -> impl Fn(Errno) -> TreeError + use<> {
    let purpose = at.purpose;
    move |errno| TreeError {
        kind: kind_of(errno),
        error: refused(path.clone(), purpose, errno, doing(step)),
    }
}

fn not_removed(at: &LocalDirectory, why: &RemoveError) -> TreeError {
    let (path, why) = (at.path.clone(), why.to_string());
    ClaimError::NotRemoved { path, why }.into()
}

/// Returns the error of creating a directory in another.
fn makes_none(parent: &LocalDirectory, errno: Errno) -> TreeError {
    if errno == Errno::NOENT {
        let path = parent.path.clone();
        return ClaimError::NoFiles { path }.into();
    }
    failed(parent, TreeAction::MakeDirectory)(errno)
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

/// Whether the name still refers to the locked marker.
pub(crate) fn is_still_at(at: &LocalDirectory, lock: &MarkerLock, name: &str) -> TreeResult<bool> {
    let file = lock.0.as_ref();
    let is_there = file.map_or(Ok(true), |file| is_at(&at.handle, file, name));
    is_there.map_err(failed(at, TreeAction::ReadMarker))
}

/// Opens a possible marker; `None` if the object cannot be one.
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

/// Overwrites the text of a marker.
fn write(file: &OwnedFd, text: &str) -> Result<(), Errno> {
    let old_len = u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or_default();
    let text = padded(text, old_len);
    if rustix::io::pwrite(file, text.as_bytes(), 0)? != text.len() {
        return Err(Errno::NOSPC);
    }
    rustix::fs::fsync(file)
}

fn gone(removed: Result<(), Errno>) -> Result<(), Errno> {
    match removed {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

fn make_directory(parent: &OwnedFd, name: &str) -> Result<Option<OwnedFd>, Errno> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
        Err(Errno::EXIST) => return Ok(None),
        made => made?,
    }
    rustix::fs::openat(parent, name, DIRECTORY, Mode::empty()).map(Some)
}

fn make_marker(
    directory: &OwnedFd,
    name: &str,
    marker: &Marker<'_>,
) -> Result<Option<MarkerLock>, Errno> {
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
    write(&file, &marker.text(holder == LockHolder::Us)).inspect_err(|_| {
        // A full file system may have space for a name but not for its text.
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
    })?;
    // Without locks, another run may have taken it for an incomplete marker.
    Ok(is_at(directory, &file, name)?.then_some(MarkerLock(Some(file))))
}

fn read_marker(directory: &OwnedFd, name: &str) -> Result<Option<FoundMarker>, Errno> {
    let Some(file) = open_marker(directory, name)? else {
        return Ok(None);
    };
    // Locked before its text is read: a run that is just starting takes the lock first.
    let holder = lock(&file)?;
    let mut text = vec![0; MARKER_MAX_BYTES as usize];
    let len = rustix::io::pread(&file, &mut *text, 0)?;
    text.truncate(len);
    Ok(Some(FoundMarker {
        text: String::from_utf8_lossy(&text).into_owned(),
        holder,
        lock: MarkerLock(Some(file)),
    }))
}

/// Returns the type of an entry, also on file systems that do not include it in listings.
fn kind(directory: &OwnedFd, name: &[u8], listed: FileType) -> FileType {
    if listed != FileType::Unknown {
        return listed;
    }
    let status = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    status.map_or(listed, |status| FileType::from_raw_mode(status.st_mode))
}

fn device_of(directory: &LocalDirectory) -> TreeResult<u64> {
    let status = rustix::fs::fstat(&directory.handle);
    Ok(status.map_err(failed(directory, TreeAction::Find))?.st_dev)
}

impl FileTree for LocalTree {
    type Handle = OwnedFd;
    type Entry = FileType;

    fn make_directory(
        &mut self,
        parent: &LocalDirectory,
        name: &str,
    ) -> TreeResult<Option<LocalDirectory>> {
        let made = make_directory(&parent.handle, name);
        let made = made.map_err(|errno| makes_none(parent, errno))?;
        Ok(made.map(|handle| parent.child(name, handle)))
    }

    fn find(&mut self, parent: &LocalDirectory, name: &str) -> TreeResult<Found<OwnedFd>> {
        match rustix::fs::openat(&parent.handle, name, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) => Ok(Found::Nothing),
            Err(Errno::NOTDIR | Errno::LOOP) => Ok(Found::Other),
            Err(errno) => Err(failed_with(parent, TreeAction::Find, name)(errno)),
            Ok(handle) => Ok(Found::Directory(parent.child(name, handle))),
        }
    }

    fn first_name(&mut self, at: &LocalDirectory, known: &[&str]) -> TreeResult<Option<Box<[u8]>>> {
        let mut first = None;
        let is_foreign = |name: &[u8]| {
            let is_known = known.iter().any(|known| known.as_bytes() == name);
            // A file removed while open disappears on its own.
            !is_known && !nfs_mount::is_still_open(name)
        };
        self.list(at, &is_foreign, &mut |name, _| {
            first = Some(name.into());
            true
        })?;
        Ok(first)
    }

    fn make_marker(
        &mut self,
        at: &LocalDirectory,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<Option<MarkerLock>> {
        make_marker(&at.handle, name, marker).map_err(failed(at, TreeAction::MakeMarker))
    }

    fn read_marker(&mut self, at: &LocalDirectory, name: &str) -> TreeResult<Option<FoundMarker>> {
        read_marker(&at.handle, name).map_err(failed(at, TreeAction::ReadMarker))
    }

    fn rewrite_marker(
        &mut self,
        at: &LocalDirectory,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<()> {
        open_marker(&at.handle, name)
            .and_then(|file| write(&file.ok_or(Errno::NOENT)?, &marker.text(true)))
            .map_err(failed(at, TreeAction::RewriteMarker))
    }

    fn replace_marker(
        &mut self,
        at: &LocalDirectory,
        from: &str,
        to: &str,
        lock: &MarkerLock,
    ) -> TreeResult<bool> {
        let renamed = rustix::fs::renameat(&at.handle, from, &at.handle, to);
        renamed.map_err(failed(at, TreeAction::ReplaceMarker))?;
        is_still_at(at, lock, to)
    }

    fn remove_file(&mut self, parent: &LocalDirectory, name: &str) -> TreeResult<()> {
        let directory = parent.handle.as_fd();
        gone(nfs_mount::unlink(
            directory,
            name.as_bytes(),
            AtFlags::empty(),
        ))
        .map_err(failed_with(parent, TreeAction::RemoveFile, name))
    }

    fn remove_directory(
        &mut self,
        parent: &LocalDirectory,
        name: &str,
        was_used: bool,
    ) -> TreeResult<()> {
        let directory = parent.handle.as_fd();
        gone(nfs_mount::patiently(
            || nfs_mount::unlink(directory, name.as_bytes(), AtFlags::REMOVEDIR),
            |errno| was_used && kind_of(*errno) == RefusalKind::NotEmpty,
        ))
        .map_err(failed_with(parent, TreeAction::RemoveDirectory, name))
    }

    fn empty_but(&mut self, at: &LocalDirectory, keep: &str, made: &MadeNames) -> TreeResult<Kept> {
        let removal = RemovalScope {
            device: device_of(at)?,
            made,
        };
        nfs_mount::patiently(
            || removal.empty(at.handle.as_fd(), keep.as_bytes()),
            RemoveError::is_still_open,
        )
        .map_err(|why| not_removed(at, &why))
    }

    fn list(
        &mut self,
        at: &LocalDirectory,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], FileType) -> bool,
    ) -> TreeResult<()> {
        rustix::fs::seek(&at.handle, SeekFrom::Start(0))
            .and_then(|_| {
                Listing::new().read(at.handle.as_fd(), |name, listed| {
                    let is_wanted = !is_dot(name) && is_wanted(name);
                    if is_wanted && each(name, kind(&at.handle, name, listed)) {
                        return ControlFlow::Break(());
                    }
                    ControlFlow::Continue(())
                })
            })
            .map_err(failed(at, TreeAction::List))
    }

    fn is_directory(entry: FileType) -> bool {
        entry == FileType::Directory
    }

    fn record(
        &mut self,
        parent: &LocalDirectory,
        name: &[u8],
        _: FileType,
    ) -> TreeResult<Option<LocalDirectory>> {
        let entered = deletion::enter(parent.handle.as_fd(), name, device_of(parent)?);
        let entered = entered.map_err(|why| not_removed(parent, &why))?;
        Ok(entered.map(|handle| parent.child(name, handle)))
    }

    fn remove_names(
        &mut self,
        parent: &LocalDirectory,
        names: &[EntryName],
    ) -> TreeResult<Option<usize>> {
        for (index, EntryName { name, is_directory }) in names.iter().enumerate() {
            let kind = if *is_directory {
                FileType::Directory
            } else {
                FileType::RegularFile
            };
            let removed = deletion::remove_tree(parent.handle.as_fd(), name, kind);
            if !removed.map_err(|why| not_removed(parent, &why))? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn pause(&mut self, pause: Duration) -> TreeResult<()> {
        std::thread::sleep(pause);
        Ok(())
    }
}

fn doing(step: TreeAction) -> &'static str {
    match step {
        TreeAction::Find => "looking at it",
        TreeAction::MakeDirectory => "making a directory in it",
        TreeAction::MakeMarker | TreeAction::RewriteMarker | TreeAction::ReplaceMarker => {
            "writing its marker"
        }
        TreeAction::ReadMarker => "reading its marker",
        TreeAction::List => "listing it",
        TreeAction::RemoveFile | TreeAction::RemoveDirectory | TreeAction::Empty => "removing it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_system_and_a_read_only_one_are_told_apart() {
        let directory = open(Path::new("/"), Purpose::Replay).expect("it is there");
        let say = |errno| makes_none(&directory, errno).error.to_string();
        assert!(say(Errno::NOSPC).contains("the file system is full"));
        assert!(say(Errno::ROFS).contains("mounted read-only"));
        assert!(say(Errno::ACCESS).contains("is not allowed"));
    }
}
