//! CIFS verbs and their system calls.

use super::LocalLayer;
use super::answer::{Done, FailedVerb, VerbResult};
use super::handles::LocalHandle;
use super::locks::{self, FcntlRange};
use super::names::{LOOK, Resolved, split};
use super::territory::{is_clients, is_ours, must_be_ours};
use crate::protocols::local::tree::deletion::RemovalScope;
use crate::protocols::local::tree::{DIRECTORY, nfs_mount};
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY, OpenMode};
use filestone_workload::load::{ActionStatus, CLIENTS, Cause, MARKER, wildcard};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

/// Mode of dbench: access only for the owner.
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
const CREATED_DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
const MADE_DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);

/// SET_FILE_INFORMATION sets the times back by these seconds, as dbench does.
const ACCESS_TIME_EARLIER_S: i64 = 10;
const MODIFICATION_TIME_EARLIER_S: i64 = 12;

/// Returns whether a disposition creates a missing file, and whether it truncates an existing one
/// (MS-CIFS 2.2.4.64.1).
const fn effects(disposition: Disposition) -> (bool, bool) {
    match disposition {
        Disposition::Open | Disposition::OpenToRead => (false, false),
        Disposition::Create | Disposition::OpenIf => (true, false),
        Disposition::Overwrite => (false, true),
        Disposition::Supersede | Disposition::OverwriteIf => (true, true),
    }
}

impl LocalLayer {
    /// Calls stat, and getxattr with `--xattr`; searches the directory if the name does not exist.
    pub(super) fn resolve(&mut self, path: &[u8], slot: usize) -> Resolved {
        let resolved = self.names.resolve(path, slot);
        if self.dos_attributes.wanted() && resolved.what.is_ok() {
            let absolute = self.names.absolute(&resolved, path);
            self.dos_attributes.read_of_path(absolute);
        }
        resolved
    }

    /// NTCreateX: resolve, mkdir for a directory, open, fstat.
    ///
    /// FILE_CREATE opens an existing object: dbench's load relies on it.
    pub(super) fn create(
        &mut self,
        path: &[u8],
        options: u64,
        disposition: Disposition,
        handle: u64,
    ) -> VerbResult {
        let resolved = self.resolve(path, 0);
        let (creates, cuts) = effects(disposition);
        match resolved.what {
            Err(Errno::NOENT) if creates => {}
            what => drop(what?),
        }
        let name = self.names.actual(&resolved, path);
        if !is_ours(name) || disposition == Disposition::OpenToRead {
            return self.look_at(&resolved, path, creates || cuts, handle);
        }
        if options & OPTION_DIRECTORY != 0 {
            if creates && (resolved.what.is_err() || !self.options.stat_check) {
                let location = self.names.locate(name)?;
                // Errors are reported by the open that follows.
                rustix::fs::mkdirat(
                    location.directory(),
                    location.name(),
                    CREATED_DIRECTORY_MODE,
                )
                .ok();
            }
            let file = self.names.open(name, DIRECTORY, Mode::empty())?;
            return self.hold(file, handle);
        }
        let mut flags = OFlags::RDWR | self.file_flags();
        // `--stat-check` omits an O_CREAT that has no effect.
        if creates && (resolved.what.is_err() || !self.options.stat_check) {
            flags |= OFlags::CREATE;
        }
        if cuts {
            flags |= OFlags::TRUNC;
        }
        let file = match self.names.open(name, flags, FILE_MODE) {
            Err(Errno::ISDIR) => self.names.open(name, DIRECTORY, Mode::empty())?,
            opened => opened?,
        };
        self.hold(file, handle)
    }

    /// OPEN of loads that name files by path: resolve, open, fstat. Fails for a directory.
    pub(super) fn open_by_path(&mut self, path: &[u8], mode: OpenMode, handle: u64) -> VerbResult {
        let resolved = self.resolve(path, 0);
        match resolved.what {
            Err(Errno::NOENT) if mode.creates => {}
            // open(2) would not detect a name that exists in another case.
            Ok(_) if mode.is_exclusive => return Err(Errno::EXIST.into()),
            Ok(FileType::Directory) => return Err(Errno::ISDIR.into()),
            what => drop(what?),
        }
        let name = self.names.actual(&resolved, path);
        let changes = mode.writes || mode.creates || mode.cuts;
        if !changes {
            return self.look_at(&resolved, path, false, handle);
        }
        must_be_ours(name)?;
        let mut flags = self.file_flags()
            | match (mode.reads, mode.writes) {
                (true, true) => OFlags::RDWR,
                (false, true) => OFlags::WRONLY,
                (_, false) => OFlags::RDONLY,
            };
        flags.set(OFlags::CREATE, mode.creates);
        flags.set(OFlags::EXCL, mode.is_exclusive);
        flags.set(OFlags::TRUNC, mode.cuts);
        if mode.is_stable {
            flags |= OFlags::SYNC;
        }
        let file = self.names.open(name, flags, FILE_MODE)?;
        self.hold(file, handle)
    }

    /// Opens an object that does not belong to the run, or the directory of all clients, for
    /// reading only; so is every object of a run that changes nothing.
    fn look_at(
        &mut self,
        resolved: &Resolved,
        path: &[u8],
        changes: bool,
        handle: u64,
    ) -> VerbResult {
        let name = self.names.actual(resolved, path);
        if changes && !is_clients(name) {
            return Err(Cause::Denied.into());
        }
        let file = self.names.open(name, LOOK, Mode::empty())?;
        let what = rustix::fs::fstat(&file)?;
        let is_directory = FileType::from_raw_mode(what.st_mode) == FileType::Directory;
        let opened = LocalHandle {
            file,
            is_directory,
            is_own: false,
        };
        self.handles.insert(handle, opened);
        Ok(Done::OK)
    }

    pub(super) fn file_flags(&self) -> OFlags {
        let mut flags = OFlags::empty();
        if self.options.sync {
            flags |= OFlags::SYNC;
        }
        if self.options.direct {
            flags |= OFlags::DIRECT;
        }
        flags
    }

    /// Calls fstat, as a server does to answer, and fsetxattr of a file with `--xattr`.
    fn hold(&mut self, file: OwnedFd, handle: u64) -> VerbResult {
        let what = rustix::fs::fstat(&file)?;
        let is_directory = FileType::from_raw_mode(what.st_mode) == FileType::Directory;
        if !is_directory {
            self.dos_attributes.write(file.as_fd())?;
        }
        let opened = LocalHandle {
            file,
            is_directory,
            is_own: true,
        };
        self.handles.insert(handle, opened);
        Ok(Done::OK)
    }

    /// SMBopenX of dbench 1: resolve, open, fstat, and ftruncate or pwrite until the file has the
    /// length of the trace. The written bytes count as file data.
    pub(super) fn open_with_len(
        &mut self,
        path: &[u8],
        len: u64,
        handle: u64,
        data: &[u8],
    ) -> VerbResult {
        let resolved = self.resolve(path, 0);
        let name = self.names.actual(&resolved, path);
        must_be_ours(name)?;
        let mut flags = OFlags::RDWR | OFlags::CREATE | self.file_flags();
        if len == 0 {
            flags |= OFlags::TRUNC;
        }
        let file = self.names.open(name, flags, FILE_MODE)?;
        let found = u64::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or_default();
        if found > len {
            rustix::fs::ftruncate(&file, len)?;
        } else if found < len {
            self.transfers
                .write(file.as_fd(), found, len - found, data)?;
        }
        self.hold(file, handle)?;
        Ok(Done::data(ActionStatus::Ok, len.saturating_sub(found)))
    }

    /// Calls close.
    pub(super) fn close(&mut self, handle: u64) -> VerbResult {
        self.handles.take(handle).map(drop)?;
        Ok(Done::OK)
    }

    /// Calls pread.
    pub(super) fn read(
        &mut self,
        handle: u64,
        offset: u64,
        len: u64,
        expected_len: u64,
    ) -> VerbResult {
        let handle = self.handles.find(handle)?;
        if self.options.fake_io {
            return Ok(Done::data(ActionStatus::Ok, expected_len));
        }
        // Directories never have O_DIRECT; either read returns EISDIR.
        let got = self.transfers.read(handle.file.as_fd(), offset, len)?;
        Ok(Done::data(of_len(expected_len, got), got))
    }

    /// Calls pwrite, and fsync with `--fsync`.
    pub(super) fn write(
        &mut self,
        handle: u64,
        offset: u64,
        len: u64,
        expected_len: u64,
        data: &[u8],
    ) -> VerbResult {
        let handle = self.handles.find(handle)?;
        if self.options.fake_io {
            return Ok(Done::data(ActionStatus::Ok, expected_len));
        }
        if handle.is_directory {
            return Err(Errno::ISDIR.into());
        }
        let file = handle.file.as_fd();
        if self.options.one_byte_write_fix && len == 1 && is_written_already(file, offset, data)? {
            return Ok(Done::with(of_len(expected_len, len)));
        }
        self.transfers.write(file, offset, len, data)?;
        if self.options.fsync {
            rustix::fs::fsync(file)?;
        }
        Ok(Done::data(of_len(expected_len, len), len))
    }

    /// Calls fsync.
    pub(super) fn flush(&mut self, handle: u64) -> VerbResult {
        rustix::fs::fsync(&self.handles.find(handle)?.file)?;
        Ok(Done::OK)
    }

    /// Calls fcntl F_OFD_SETLK; an error at once if another open file holds the lock.
    pub(super) fn lock(&mut self, handle: u64, offset: u64, len: u64) -> VerbResult {
        let handle = self.handles.find(handle)?;
        if let Some(range) = FcntlRange::of_smb(offset, len) {
            locks::lock(handle.file.as_fd(), range)?;
        }
        Ok(Done::OK)
    }

    /// Calls fcntl F_OFD_SETLK.
    pub(super) fn unlock(&mut self, handle: u64, offset: u64, len: u64) -> VerbResult {
        let handle = self.handles.find(handle)?;
        if let Some(range) = FcntlRange::of_smb(offset, len) {
            locks::unlock(handle.file.as_fd(), range)?;
        }
        Ok(Done::OK)
    }

    /// Resolve, unlink; fdatasync of the directory with `--sync-dir`.
    pub(super) fn unlink(&mut self, path: &[u8]) -> VerbResult {
        let resolved = self.resolve(path, 0);
        let name = self.names.actual(&resolved, path);
        must_be_ours(name)?;
        resolved.what?;
        let location = self.names.locate(name)?;
        nfs_mount::unlink(location.directory(), location.name(), AtFlags::empty())?;
        self.sync_parent(name)
    }

    /// Resolve, mkdir.
    ///
    /// The run creates `clients` for all clients, and each client's load creates it again: that
    /// succeeds.
    pub(super) fn make_directory(&mut self, path: &[u8]) -> VerbResult {
        let resolved = self.resolve(path, 0);
        let name = self.names.actual(&resolved, path);
        if is_clients(name) && resolved.what.is_ok() {
            return Ok(Done::OK);
        }
        must_be_ours(name)?;
        // A name that exists in another case also counts; `--stat-check` omits the call.
        if resolved.what.is_ok() && (self.options.stat_check || name != path) {
            return Err(Errno::EXIST.into());
        }
        let location = self.names.locate(name)?;
        rustix::fs::mkdirat(location.directory(), location.name(), MADE_DIRECTORY_MODE)?;
        Ok(Done::OK)
    }

    /// Resolve, rmdir; fdatasync of the directory above with `--sync-dir`.
    ///
    /// `clients` belongs to the run and is kept. For a load that removes it, it counts as empty if
    /// it contains nothing of any client.
    pub(super) fn remove_directory(&mut self, path: &[u8]) -> VerbResult {
        let resolved = self.resolve(path, 0);
        let name = self.names.actual(&resolved, path);
        if is_clients(name) {
            return if self.names.holds_more_than(path, MARKER.as_bytes())? {
                Err(Errno::NOTEMPTY.into())
            } else {
                Ok(Done::OK)
            };
        }
        must_be_ours(name)?;
        if resolved.what? != FileType::Directory && self.options.stat_check {
            return Err(Errno::NOTDIR.into());
        }
        let location = self.names.locate(name)?;
        nfs_mount::unlink(location.directory(), location.name(), AtFlags::REMOVEDIR)?;
        self.sync_parent(name)
    }

    /// Resolve both names, rename; fdatasync of the new directory with `--sync-dir`. An existing
    /// object of the new name is replaced, as dbench's load expects.
    pub(super) fn rename(&mut self, from: &[u8], to: &[u8]) -> VerbResult {
        let source = self.resolve(from, 0);
        let target = self.resolve(to, 1);
        source.what?;
        let old = self.names.actual(&source, from);
        let mut new = self.names.actual(&target, to);
        if new == old {
            // Only the case of the name changes.
            new = to;
        }
        must_be_ours(old)?;
        must_be_ours(new)?;
        let old_location = self.names.locate(old)?;
        let new_location = self.names.locate(new)?;
        rustix::fs::renameat(
            old_location.directory(),
            old_location.name(),
            new_location.directory(),
            new_location.name(),
        )?;
        self.sync_parent(new)
    }

    pub(super) fn sync_parent(&self, name: &[u8]) -> VerbResult {
        if self.options.sync_directories {
            let (parent, _) = split(name);
            let directory = self.names.open(parent, DIRECTORY, Mode::empty())?;
            rustix::fs::fdatasync(directory)?;
        }
        Ok(Done::OK)
    }

    /// Reads, unlinks and removes the tree, including its top. Links are not followed.
    ///
    /// For `clients`, only this client's tree is removed: the other trees belong to clients that
    /// replay the same load concurrently.
    pub(super) fn delete_tree(&mut self, path: &[u8]) -> VerbResult {
        let resolved = self.resolve(path, 0);
        let own;
        let mut name = self.names.actual(&resolved, path);
        if is_clients(name) {
            own = own_tree(self.number);
            name = own.as_bytes();
        }
        must_be_ours(name)?;
        match resolved.what {
            Err(Errno::NOENT) => return Ok(Done::OK),
            what => drop(what?),
        }
        let location = self.names.locate(name)?;
        let removal = RemovalScope {
            device: self.device,
            made: &self.options.made,
        };
        let below = name.get(CLIENTS.len() + 1..).unwrap_or_default();
        let kept = removal.remove_tree(location.directory(), location.name(), below);
        if kept
            .map_err(|error| FailedVerb::from(error.errno()))?
            .is_empty()
        {
            Ok(Done::OK)
        } else {
            // Objects that no run of this load creates are kept, and the tree with them.
            Err(Errno::NOTEMPTY.into())
        }
    }

    /// With wildcards, opens the directory and reads it until enough entries match; without,
    /// resolves the name. No match is NT_STATUS_NO_SUCH_FILE.
    pub(super) fn find_first(&mut self, pattern: &[u8], max: u64) -> VerbResult {
        if !wildcard::has_wildcards(split(pattern).1) {
            return self.query_path(pattern);
        }
        match self.names.find(pattern, max)? {
            0 => Err(Cause::NotFound.into()),
            _ => Ok(Done::OK),
        }
    }

    /// Resolves the name.
    pub(super) fn query_path(&mut self, path: &[u8]) -> VerbResult {
        self.resolve(path, 0).what?;
        Ok(Done::OK)
    }

    /// Calls fstat, and fgetxattr with `--xattr`.
    pub(super) fn query_file(&mut self, handle: u64) -> VerbResult {
        let handle = self.handles.find(handle)?;
        rustix::fs::fstat(&handle.file)?;
        self.dos_attributes.read(handle.file.as_fd());
        Ok(Done::OK)
    }

    /// Calls fstat, utimensat with slightly earlier times, and fsetxattr of a file with `--xattr`.
    pub(super) fn set_file(&mut self, handle: u64) -> VerbResult {
        // Times can be set through a read-only descriptor.
        let handle = self.handles.find_own(handle)?;
        self.dos_attributes.read(handle.file.as_fd());
        let found = rustix::fs::fstat(&handle.file)?;
        let earlier = |seconds: i64, by: i64| Timespec {
            tv_sec: seconds.saturating_sub(by),
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: earlier(found.st_atime, ACCESS_TIME_EARLIER_S),
            last_modification: earlier(found.st_mtime, MODIFICATION_TIME_EARLIER_S),
        };
        rustix::fs::futimens(&handle.file, &times)?;
        if !handle.is_directory {
            self.dos_attributes.write(handle.file.as_fd())?;
        }
        Ok(Done::OK)
    }

    /// Calls statvfs of the directory under test.
    pub(super) fn query_file_system(&mut self) -> VerbResult {
        rustix::fs::fstatvfs(self.names.root())?;
        Ok(Done::OK)
    }
}

/// Returns the tree of the client with this number in names.
fn own_tree(number: u32) -> String {
    format!("{CLIENTS}/client{number}")
}

fn of_len(expected: u64, got: u64) -> ActionStatus {
    if expected == got {
        ActionStatus::Ok
    } else {
        ActionStatus::WrongLength { expected, got }
    }
}

/// Whether a write of one byte can be omitted (`--one-byte-write-fix`): the file already has that
/// byte, or it is a zero beyond the end, in which case the file is extended. Windows programs
/// extend files this way.
fn is_written_already(
    file: rustix::fd::BorrowedFd<'_>,
    offset: u64,
    data: &[u8],
) -> Result<bool, Errno> {
    let len = u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or_default();
    if offset < len {
        let mut there = [0];
        return match rustix::io::pread(file, &mut there, offset) {
            Ok(1) => Ok(data.first() == Some(&there[0])),
            // O_DIRECT cannot read single bytes.
            Ok(_) | Err(Errno::INVAL) => Ok(false),
            Err(errno) => Err(errno),
        };
    }
    if data.first() != Some(&0) {
        return Ok(false);
    }
    let end = offset.checked_add(1).ok_or(Errno::FBIG)?;
    rustix::fs::ftruncate(file, end)?;
    Ok(true)
}
