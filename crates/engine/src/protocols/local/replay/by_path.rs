//! Verbs of NFS loads, which name their file by path, and their system calls: those of a server for
//! that file system, without the network. Names are case-sensitive, and links are not followed.

use super::LocalLayer;
use super::answer::{Done, VerbResult};
use super::locks::FcntlRange;
use super::names::LOOK;
use super::territory::must_be_ours;
use crate::protocols::local::tree::nfs_mount;
use filestone_workload::in_smb_loads;
use filestone_workload::load::{ActionStatus, Cause, LoadAction};
use filestone_workload::operation::Stability;
use rustix::fd::AsFd;
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

/// RFC 1813, section 3.3.4.
mod access {
    pub const READ: u64 = 0x01;
    pub const LOOKUP: u64 = 0x02;
    pub const MODIFY: u64 = 0x04;
    pub const EXTEND: u64 = 0x08;
    pub const DELETE: u64 = 0x10;
    pub const EXECUTE: u64 = 0x20;
}

/// Mode requested by dbench's CREATE3.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// Maximum length of a link text (PATH_MAX).
const LINK_MAX_BYTES: usize = 4096;

impl LocalLayer {
    pub(super) fn carry_out_by_path(&mut self, action: &LoadAction<'_>, data: &[u8]) -> VerbResult {
        match *action {
            LoadAction::GetAttr { path } | LoadAction::Lookup { path } => {
                Ok(self.names.stat(path).map(|_| Done::OK)?)
            }
            LoadAction::SetAttr { path } => self.touch(path),
            LoadAction::Access {
                path,
                wanted,
                granted,
            } => self.access(path, wanted, granted),
            LoadAction::ReadLink { path } => self.read_link(path),
            LoadAction::Read { path, offset, len } => self.read_path(path, offset, len),
            LoadAction::Write {
                path,
                offset,
                len,
                stability,
            } => self.write_path(path, offset, len, stability, data),
            LoadAction::Create { path } => self.create_path(path),
            LoadAction::Symlink { path, target } => self.make_link(path, target),
            LoadAction::Link { path, existing } => self.link(path, existing),
            LoadAction::Remove { path } => self.remove(path),
            LoadAction::FileSystemStatus | LoadAction::FileSystemInfo => self.query_file_system(),
            LoadAction::PathConfiguration { path } => self.path_configuration(path),
            LoadAction::Commit { path } => self.commit(path),
            LoadAction::Lock4 { path, offset, len } => {
                let range = FcntlRange::of_nlm(offset, len);
                self.named_locks.lock(&self.names, path, range)?;
                Ok(Done::OK)
            }
            LoadAction::Unlock4 { path, offset, len } => {
                let range = FcntlRange::of_nlm(offset, len);
                self.named_locks.unlock(&self.names, path, range)?;
                Ok(Done::OK)
            }
            LoadAction::Test4 { path, offset, len } => {
                let range = FcntlRange::of_nlm(offset, len);
                self.named_locks.test(&self.names, path, range)?;
                Ok(Done::OK)
            }
            in_smb_loads!() => Err(Cause::Other.into()),
        }
    }

    /// Sets the modification time to now with utimensat.
    fn touch(&mut self, path: &[u8]) -> VerbResult {
        // All clients share their parent directory, but it belongs to the run.
        if !super::territory::is_clients(path) {
            must_be_ours(path)?;
        }
        let special = |nanoseconds| Timespec {
            tv_sec: 0,
            tv_nsec: nanoseconds,
        };
        let times = Timestamps {
            last_access: special(rustix::fs::UTIME_OMIT),
            last_modification: special(rustix::fs::UTIME_NOW),
        };
        let location = self.names.locate(path)?;
        rustix::fs::utimensat(
            location.directory(),
            location.name(),
            &times,
            AtFlags::SYMLINK_NOFOLLOW,
        )?;
        Ok(Done::OK)
    }

    /// Calls stat, and faccessat for each requested permission.
    fn access(&mut self, path: &[u8], wanted: u64, expected: u64) -> VerbResult {
        let stat = self.names.stat(path)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let location = self.names.locate(path)?;
        let mut granted = 0;
        let (search, change) = if is_directory {
            (
                access::LOOKUP,
                access::MODIFY | access::EXTEND | access::DELETE,
            )
        } else {
            (access::EXECUTE, access::MODIFY | access::EXTEND)
        };
        for (bits, permission) in [
            (access::READ, Access::READ_OK),
            (search, Access::EXEC_OK),
            (change, Access::WRITE_OK),
        ] {
            if wanted & bits == 0 {
                continue;
            }
            match rustix::fs::accessat(
                location.directory(),
                location.name(),
                permission,
                AtFlags::empty(),
            ) {
                Ok(()) => granted |= wanted & bits,
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(Done::with(if granted == expected {
            ActionStatus::Ok
        } else {
            ActionStatus::WrongAccess {
                expected,
                got: granted,
            }
        }))
    }

    /// Calls readlinkat.
    fn read_link(&mut self, path: &[u8]) -> VerbResult {
        let location = self.names.locate(path)?;
        let mut text = [0; LINK_MAX_BYTES];
        rustix::fs::readlinkat_raw(location.directory(), location.name(), &mut text)?;
        Ok(Done::OK)
    }

    /// Calls openat, pread, close. A short read is not an error (READ3).
    fn read_path(&mut self, path: &[u8], offset: u64, len: u64) -> VerbResult {
        if self.options.fake_io {
            return Ok(Done::data(ActionStatus::Ok, len));
        }
        let flags = LOOK | self.file_flags();
        let file = self.names.open(path, flags, Mode::empty())?;
        let got = self.transfers.read(file.as_fd(), offset, len)?;
        Ok(Done::data(ActionStatus::Ok, got))
    }

    /// Calls openat, with O_DSYNC or O_SYNC for stable writes, pwrite, close.
    fn write_path(
        &mut self,
        path: &[u8],
        offset: u64,
        len: u64,
        stability: Stability,
        data: &[u8],
    ) -> VerbResult {
        must_be_ours(path)?;
        if self.options.fake_io {
            return Ok(Done::data(ActionStatus::Ok, len));
        }
        let stable = match stability {
            Stability::Unstable => OFlags::empty(),
            Stability::DataSync => OFlags::DSYNC,
            Stability::FileSync => OFlags::SYNC,
        };
        let flags = OFlags::WRONLY | stable | self.file_flags();
        let file = self.names.open(path, flags, Mode::empty())?;
        self.transfers.write(file.as_fd(), offset, len, data)?;
        if self.options.fsync {
            rustix::fs::fsync(&file)?;
        }
        Ok(Done::data(ActionStatus::Ok, len))
    }

    /// Calls openat with O_CREAT, close.
    fn create_path(&mut self, path: &[u8]) -> VerbResult {
        must_be_ours(path)?;
        self.names
            .open(path, OFlags::WRONLY | OFlags::CREATE, FILE_MODE)?;
        Ok(Done::OK)
    }

    /// Calls symlinkat with the text unchanged.
    fn make_link(&mut self, path: &[u8], target: &[u8]) -> VerbResult {
        must_be_ours(path)?;
        self.names.expect_links();
        let location = self.names.locate(path)?;
        rustix::fs::symlinkat(target, location.directory(), location.name())?;
        Ok(Done::OK)
    }

    /// Calls linkat. A file that does not belong to the run must not get a name in the run's tree,
    /// because it could be written to.
    fn link(&mut self, path: &[u8], existing: &[u8]) -> VerbResult {
        must_be_ours(path)?;
        must_be_ours(existing)?;
        let old = self.names.locate(existing)?;
        let new = self.names.locate(path)?;
        rustix::fs::linkat(
            old.directory(),
            old.name(),
            new.directory(),
            new.name(),
            AtFlags::empty(),
        )?;
        Ok(Done::OK)
    }

    /// Calls unlinkat; fdatasync of the directory with `--sync-dir`.
    fn remove(&mut self, path: &[u8]) -> VerbResult {
        must_be_ours(path)?;
        let location = self.names.locate(path)?;
        nfs_mount::unlink(location.directory(), location.name(), AtFlags::empty())?;
        self.sync_parent(path)
    }

    /// Calls stat and statvfs, as a server does to answer.
    fn path_configuration(&mut self, path: &[u8]) -> VerbResult {
        self.names.stat(path)?;
        self.query_file_system()
    }

    /// Calls openat, fsync, close.
    fn commit(&mut self, path: &[u8]) -> VerbResult {
        let file = self.names.open(path, LOOK, Mode::empty())?;
        rustix::fs::fsync(file)?;
        Ok(Done::OK)
    }
}
