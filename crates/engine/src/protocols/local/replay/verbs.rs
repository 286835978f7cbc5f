//! The verbs of CIFS-style loads, and the system calls that they become.

use super::LocalLayer;
use super::answer::{Answer, Done, FailedVerb};
use super::handles::Handle;
use super::locks::{self, Range};
use super::names::{LOOK, Resolved, split};
use super::territory::{is_clients, is_ours, must_be_ours};
use crate::protocols::local::tree::deletion::Removal;
use crate::protocols::local::tree::{DIRECTORY, nfs_mount};
use crate::workspace::test_directory::{CLIENTS, MARKER};
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY, OpenMode};
use filestone_workload::load::{Cause, Status, wildcard};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

/// dbench's: nobody else has business there.
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
const CREATED_DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
const MADE_DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);

/// So much earlier a SET_FILE_INFORMATION makes the times, as dbench does.
const ACCESS_TIME_EARLIER_S: i64 = 10;
const MODIFICATION_TIME_EARLIER_S: i64 = 12;

/// Whether a disposition makes what is not there, and whether it cuts what is
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
    /// stat, and getxattr with `--xattr`; a search through the directory if it is
    /// not there.
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
    /// FILE_CREATE opens what is there already: dbench's load counts on it.
    pub(super) fn create(
        &mut self,
        path: &[u8],
        options: u64,
        disposition: Disposition,
        handle: u64,
    ) -> Answer {
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
                // What is wrong with it, opening will tell.
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
        // A pointless O_CREAT is what --stat-check is about.
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

    /// The OPEN of loads that name files by path: resolve, open, fstat. Never a directory.
    pub(super) fn open_by_path(&mut self, path: &[u8], mode: OpenMode, handle: u64) -> Answer {
        let resolved = self.resolve(path, 0);
        match resolved.what {
            Err(Errno::NOENT) if mode.creates => {}
            // Found in another case, it is there, and open(2) would not know.
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

    /// What belongs to somebody else, or is the directory of all clients, is
    /// opened to be read only, as all is of a run that changes nothing.
    fn look_at(&mut self, resolved: &Resolved, path: &[u8], changes: bool, handle: u64) -> Answer {
        let name = self.names.actual(resolved, path);
        if changes && !is_clients(name) {
            return Err(Cause::Denied.into());
        }
        let file = self.names.open(name, LOOK, Mode::empty())?;
        let what = rustix::fs::fstat(&file)?;
        let is_directory = FileType::from_raw_mode(what.st_mode) == FileType::Directory;
        let opened = Handle {
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

    /// fstat, as a server does to answer; fsetxattr of a file with `--xattr`.
    fn hold(&mut self, file: OwnedFd, handle: u64) -> Answer {
        let what = rustix::fs::fstat(&file)?;
        let is_directory = FileType::from_raw_mode(what.st_mode) == FileType::Directory;
        if !is_directory {
            self.dos_attributes.write(file.as_fd())?;
        }
        let opened = Handle {
            file,
            is_directory,
            is_own: true,
        };
        self.handles.insert(handle, opened);
        Ok(Done::OK)
    }

    /// dbench 1's SMBopenX: resolve, open, fstat, and ftruncate or pwrite until it
    /// has the length of the trace. What is written is file data like any other.
    pub(super) fn open_with_len(
        &mut self,
        path: &[u8],
        len: u64,
        handle: u64,
        data: &[u8],
    ) -> Answer {
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
        Ok(Done::data(Status::Ok, len.saturating_sub(found)))
    }

    /// close.
    pub(super) fn close(&mut self, handle: u64) -> Answer {
        self.handles.take(handle).map(drop)?;
        Ok(Done::OK)
    }

    /// pread.
    pub(super) fn read(&mut self, handle: u64, offset: u64, len: u64, expected_len: u64) -> Answer {
        let handle = self.handles.find(handle)?;
        if self.options.fake_io {
            return Ok(Done::data(Status::Ok, expected_len));
        }
        // A directory has no O_DIRECT either; both come to EISDIR.
        let got = self.transfers.read(handle.file.as_fd(), offset, len)?;
        Ok(Done::data(of_len(expected_len, got), got))
    }

    /// pwrite, and fsync with `--fsync`.
    pub(super) fn write(
        &mut self,
        handle: u64,
        offset: u64,
        len: u64,
        expected_len: u64,
        data: &[u8],
    ) -> Answer {
        let handle = self.handles.find(handle)?;
        if self.options.fake_io {
            return Ok(Done::data(Status::Ok, expected_len));
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

    /// fsync.
    pub(super) fn flush(&mut self, handle: u64) -> Answer {
        rustix::fs::fsync(&self.handles.find(handle)?.file)?;
        Ok(Done::OK)
    }

    /// fcntl F_OFD_SETLK: an error at once if somebody else has it.
    pub(super) fn lock(&mut self, handle: u64, offset: u64, len: u64) -> Answer {
        let handle = self.handles.find(handle)?;
        if let Some(range) = Range::of_smb(offset, len) {
            locks::lock(handle.file.as_fd(), range)?;
        }
        Ok(Done::OK)
    }

    /// fcntl F_OFD_SETLK.
    pub(super) fn unlock(&mut self, handle: u64, offset: u64, len: u64) -> Answer {
        let handle = self.handles.find(handle)?;
        if let Some(range) = Range::of_smb(offset, len) {
            locks::unlock(handle.file.as_fd(), range)?;
        }
        Ok(Done::OK)
    }

    /// Resolve, unlink; fdatasync of the directory with `--sync-dir`.
    pub(super) fn unlink(&mut self, path: &[u8]) -> Answer {
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
    /// `clients` is there already, made by the run for all clients, and each
    /// client's load makes it: that succeeds.
    pub(super) fn make_directory(&mut self, path: &[u8]) -> Answer {
        let resolved = self.resolve(path, 0);
        let name = self.names.actual(&resolved, path);
        if is_clients(name) && resolved.what.is_ok() {
            return Ok(Done::OK);
        }
        must_be_ours(name)?;
        // Found in another case, it is there; and --stat-check saves the call.
        if resolved.what.is_ok() && (self.options.stat_check || name != path) {
            return Err(Errno::EXIST.into());
        }
        let location = self.names.locate(name)?;
        rustix::fs::mkdirat(location.directory(), location.name(), MADE_DIRECTORY_MODE)?;
        Ok(Done::OK)
    }

    /// Resolve, rmdir; fdatasync of the directory above with `--sync-dir`.
    ///
    /// `clients` belongs to the run and stays. To a load that takes it away it is
    /// empty when no client has anything in it.
    pub(super) fn remove_directory(&mut self, path: &[u8]) -> Answer {
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

    /// Resolve both names, rename; fdatasync of the new directory with
    /// `--sync-dir`. What has the new name is replaced, as dbench's load expects.
    pub(super) fn rename(&mut self, from: &[u8], to: &[u8]) -> Answer {
        let source = self.resolve(from, 0);
        let target = self.resolve(to, 1);
        source.what?;
        let old = self.names.actual(&source, from);
        let mut new = self.names.actual(&target, to);
        if new == old {
            // Only its case is to change.
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

    pub(super) fn sync_parent(&self, name: &[u8]) -> Answer {
        if self.options.sync_directories {
            let (parent, _) = split(name);
            let directory = self.names.open(parent, DIRECTORY, Mode::empty())?;
            rustix::fs::fdatasync(directory)?;
        }
        Ok(Done::OK)
    }

    /// Reads, unlinks and removes the tree, top included. Links are not followed.
    ///
    /// Of `clients` only this client's own tree goes: the others' belong to those
    /// who replay the same load beside it.
    pub(super) fn delete_tree(&mut self, path: &[u8]) -> Answer {
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
        let removal = Removal {
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
            // What no run of this load makes stays, and with it the tree.
            Err(Errno::NOTEMPTY.into())
        }
    }

    /// With wildcards the directory is opened and read until enough entries match;
    /// without, it is a resolve. No match is NT_STATUS_NO_SUCH_FILE.
    pub(super) fn find_first(&mut self, pattern: &[u8], max: u64) -> Answer {
        if !wildcard::has_wildcards(split(pattern).1) {
            return self.query_path(pattern);
        }
        match self.names.find(pattern, max)? {
            0 => Err(Cause::NotFound.into()),
            _ => Ok(Done::OK),
        }
    }

    /// Resolve.
    pub(super) fn query_path(&mut self, path: &[u8]) -> Answer {
        self.resolve(path, 0).what?;
        Ok(Done::OK)
    }

    /// fstat, and fgetxattr with `--xattr`.
    pub(super) fn query_file(&mut self, handle: u64) -> Answer {
        let handle = self.handles.find(handle)?;
        rustix::fs::fstat(&handle.file)?;
        self.dos_attributes.read(handle.file.as_fd());
        Ok(Done::OK)
    }

    /// fstat, utimensat to times a little earlier, and fsetxattr of a file with
    /// `--xattr`.
    pub(super) fn set_file(&mut self, handle: u64) -> Answer {
        // Times can be set through a descriptor that cannot be written to.
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

    /// statvfs of the directory under test.
    pub(super) fn query_file_system(&mut self) -> Answer {
        rustix::fs::fstatvfs(self.names.root())?;
        Ok(Done::OK)
    }
}

/// The tree that belongs to the client with this number in names.
fn own_tree(number: u32) -> String {
    format!("{CLIENTS}/client{number}")
}

fn of_len(expected: u64, got: u64) -> Status {
    if expected == got {
        Status::Ok
    } else {
        Status::WrongLength { expected, got }
    }
}

/// A byte that is there already need not be written, and a zero beyond the end is
/// there as soon as the file is long enough (`--one-byte-write-fix`): programs of
/// Windows extend files like that.
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
            // O_DIRECT does not read single bytes.
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
