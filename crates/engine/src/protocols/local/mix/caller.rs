//! System calls for the operations of a mix. Calls that reach the wire regardless of the client's
//! caches are used if possible. The table is in docs/reference/mix-local.md; the actual effect of
//! each is measured before and during the run.
//!
//! Names removed by REMOVE are never data files; they have a separate directory.

use super::changing::{DirectoryNames, RENAMED};
use super::opened_set::{FILE, FILE_MODE, OpenedSet};
use super::populate::{self, directory_of};
use super::uncached_files::{Needed, UncachedFiles, Unchecked, beyond_first};
use crate::protocols::local::tree::listing::Listing;
use filestone_plan::file_set::{
    FILES_PER_DIRECTORY, FileSampler, Layout, VolatileDirectory, file_name, link_name,
};
use filestone_plan::plan::{Access, MixPlan, Popularity};
use filestone_wire::pattern;
use filestone_workload::operation::OpKind;
use filestone_workload::random::{Generator, RandomStream, RngExt, stream};
use filestone_workload::{only_in_loads, only_in_probes};
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Advice, AtFlags, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of data files that a client keeps open: more than nhfsstone's 40.
pub(super) const OPEN_FILES_MAX: usize = 256;
/// Maximum number of files that SETATTR tries in order to find one with cached permissions.
const KNOWN_FILE_SEARCH: u32 = 8;
/// Length of each half of a write that causes a COMMIT. Each half is in the middle of a memory
/// page, so that the client cannot merge them into one WRITE.
const HALF_BYTES: usize = 1000;
const PAGE_BYTES: usize = 4096;

/// Result of an operation's system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyscallResult {
    /// Expected RPC calls: of the operation's kind, and of another kind that was needed to cause
    /// it.
    pub claims: [(OpKind, u64); 2],
    /// File data moved, in bytes.
    pub data_bytes: u64,
}

/// Operations of one client on its files.
pub(super) trait SystemCalls {
    /// Returns the operations needed to keep the set balanced.
    fn needs(&self) -> Prerequisites;

    /// Executes an operation of this kind.
    fn operate(&mut self, kind: OpKind) -> Result<SyscallResult, Errno>;

    /// Executes an operation that keeps the set balanced.
    fn call_unmeasured(&mut self, unmeasured: UnmeasuredOperation) -> Result<SyscallResult, Errno>;

    /// Returns, after a failure, why no further operation can succeed.
    fn lost(&self) -> Option<String>;
}

impl SyscallResult {
    pub fn calls(kind: OpKind, calls: u64) -> Self {
        Self {
            claims: [(kind, calls), (kind, 0)],
            data_bytes: 0,
        }
    }

    fn and(mut self, kind: OpKind, calls: u64) -> Self {
        self.claims[1] = (kind, calls);
        self
    }

    fn moved(mut self, bytes: u64) -> Self {
        self.data_bytes = bytes;
        self
    }

    /// Returns the total number of calls.
    pub fn sum(&self) -> u64 {
        self.claims.iter().map(|(_, calls)| calls).sum()
    }
}

/// An operation that keeps the set balanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnmeasuredOperation {
    pub kind: OpKind,
    pub changing: VolatileDirectory,
}

/// Requirements of the next operations, and of the set's balance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prerequisites {
    /// RMDIR has no directory to remove.
    pub lacks_directory: bool,
    /// REMOVE has nothing to remove.
    pub lacks_file: bool,
    /// Operation needed because of the previous operations.
    pub after: Option<UnmeasuredOperation>,
}

impl Prerequisites {
    /// Returns the operation that must precede one of this kind.
    pub fn before(&self, kind: OpKind) -> Option<UnmeasuredOperation> {
        match kind {
            OpKind::RmDir if self.lacks_directory => Some(UnmeasuredOperation {
                kind: OpKind::MkDir,
                changing: VolatileDirectory::Directories,
            }),
            OpKind::Remove if self.lacks_file => Some(UnmeasuredOperation {
                kind: OpKind::Create,
                changing: VolatileDirectory::Created,
            }),
            _ => None,
        }
    }
}

/// Method of causing a COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CommitMethod {
    /// A cached write, sent as unstable, followed by fsync.
    #[default]
    Cached,
    /// An uncached write that takes two calls, for mounts that send every write immediately.
    Direct,
}

/// Executes the system calls of one client.
pub(super) struct SyscallExecutor {
    set: OpenedSet,
    lengths: Vec<u64>,
    links: u32,
    working_files: u32,
    chooser: Option<FileSampler>,
    /// Current file of the operations.
    current: u32,
    files: Vec<Option<OwnedFd>>,
    /// Open files, the one opened first in front.
    open: VecDeque<u32>,
    names: [DirectoryNames; VolatileDirectory::ALL.len()],
    renamed: usize,
    access: Access,
    generator: Generator,
    buffer: Vec<u8>,
    listing: Listing,
    fresh: UncachedFiles,
    /// Number of the next nonexistent name to look up; never repeated, even across runs.
    unknown: u64,
    /// Offset after the first entry of each data directory.
    listed_from: Vec<u64>,
    /// Whether files are read and written past the client's cache.
    is_direct: bool,
    /// Whether cached objects are changed to force a call, and nonexistent names are looked up.
    /// Otherwise calls are not counted on the wire, and each operation makes its plain system call.
    makes_changes: bool,
    pub committing: CommitMethod,
}

impl SyscallExecutor {
    /// Creates the caller of a client with a populated set. `is_direct` if the file system supports
    /// bypassing its cache.
    pub fn new(
        set: OpenedSet,
        layout: &Layout,
        mix: &MixPlan,
        kinds: &[OpKind],
        seed: u64,
        is_direct: bool,
    ) -> Self {
        let client = set.client;
        let working_files = layout.working_files(client).max(1);
        let chooser = match mix.file_set.popularity {
            // Round robin, so that all files are used equally.
            Popularity::Uniform => None,
            popularity @ Popularity::Zipf { .. } => {
                FileSampler::new(&popularity, working_files).ok()
            }
        };
        let names = VolatileDirectory::ALL.map(|changing| {
            if changing.is_changed_by(kinds) {
                DirectoryNames::new(layout.spare_names())
            } else {
                DirectoryNames::default()
            }
        });
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            lengths: layout.lengths(client).collect(),
            links: layout.symbolic_links(kinds),
            working_files,
            chooser,
            current: 0,
            files: (0..layout.files_per_client()).map(|_| None).collect(),
            open: VecDeque::new(),
            names,
            renamed: 0,
            access: mix.access,
            generator: stream(seed, RandomStream::Workload, u64::from(client)),
            buffer: vec![0; mix.transfer_bytes.max(1) as usize],
            listing: Listing::new(),
            fresh: UncachedFiles::new(layout.files_per_client(), layout.symbolic_links(kinds)),
            unknown: since_epoch.map_or(0, |time| time.as_nanos() as u64),
            listed_from: Vec::new(),
            is_direct,
            makes_changes: mix.local.feedback,
            committing: CommitMethod::default(),
            set,
        }
    }

    /// Opens the files that are kept open, before the clock starts.
    pub fn open_files(&mut self) -> Result<(), Errno> {
        let count = self.working_files.min(OPEN_FILES_MAX as u32);
        (0..count).try_for_each(|file| self.open_file(file))?;
        for directory in &self.set.directories {
            self.listed_from.push(beyond_first(directory)?);
        }
        Ok(())
    }

    /// Creates the objects that the caches must not be able to answer for;
    /// [`change_fresh`](Self::change_fresh) then changes them.
    pub fn make_fresh(&mut self, needed: Needed) -> Result<(), Errno> {
        let set_files = u64::from(self.working_files.min(OPEN_FILES_MAX as u32)).min(needed.files);
        for file in 0..set_files as u32 {
            self.current = file;
            rustix::fs::fchmod(self.file()?, FILE_MODE)?;
            self.fresh.changed(file);
        }
        if self.set.changing(VolatileDirectory::Created).is_ok() {
            let more = needed.files - set_files;
            self.fresh.make_files(&self.set, more)?;
        }
        self.fresh.make_links(&self.set, needed.links)
    }

    /// Changes the objects created by [`make_fresh`](Self::make_fresh).
    pub fn change_fresh(&mut self, needed: Needed) -> Result<(), Errno> {
        self.fresh.change_links(&self.set, needed.links)
    }

    /// Returns the client's part of the file set.
    pub fn set(&self) -> &OpenedSet {
        &self.set
    }
}

impl SystemCalls for SyscallExecutor {
    fn needs(&self) -> Prerequisites {
        Prerequisites {
            lacks_directory: self.names(VolatileDirectory::Directories).is_empty(),
            lacks_file: self.removable().is_none(),
            after: self.after(),
        }
    }

    fn call_unmeasured(&mut self, unmeasured: UnmeasuredOperation) -> Result<SyscallResult, Errno> {
        let UnmeasuredOperation { kind, changing } = unmeasured;
        match kind {
            OpKind::Create | OpKind::MkDir => self.make(changing)?,
            _ => {
                if let Some(number) = self.names_mut(changing).take_oldest() {
                    self.unlink(changing, number)?;
                }
            }
        }
        Ok(SyscallResult::calls(kind, 1))
    }

    fn operate(&mut self, kind: OpKind) -> Result<SyscallResult, Errno> {
        if !matches!(kind, OpKind::Create | OpKind::Remove) {
            self.advance();
        }
        let one = SyscallResult::calls(kind, 1);
        match kind {
            // No system call causes these; nhfsstone counted its NULL anyway.
            OpKind::Null | OpKind::FsInfo | OpKind::PathConf => Ok(one),
            OpKind::GetAttr => self.attributes().map(|()| one),
            OpKind::SetAttr => self.set_attributes().map(|()| one),
            OpKind::Lookup => self.look_up().map(|()| one),
            OpKind::Access => self.check_access(),
            OpKind::ReadLink => self.read_link(),
            OpKind::Read => self.read(),
            OpKind::Write => self.write(),
            OpKind::Commit => self.commit(),
            OpKind::Create => self.make(VolatileDirectory::Created).map(|()| one),
            OpKind::MkDir => self.make(VolatileDirectory::Directories).map(|()| one),
            OpKind::SymLink => self.make(VolatileDirectory::SymbolicLinks).map(|()| one),
            OpKind::MkNod => self.make(VolatileDirectory::Nodes).map(|()| one),
            OpKind::Link => {
                self.make(VolatileDirectory::Links)?;
                self.fresh.changed(self.current);
                Ok(one)
            }
            OpKind::Remove => self.remove().map(|()| one),
            OpKind::RmDir => self.remove_directory().map(|()| one),
            OpKind::Rename => self.rename().map(|()| one),
            OpKind::ReadDir => self.list(1).map(|()| one),
            OpKind::ReadDirPlus => self.list(0).map(|()| one),
            OpKind::FsStat => {
                rustix::fs::fstatvfs(&self.set.root)?;
                Ok(one)
            }
            only_in_loads!() | only_in_probes!() => Err(Errno::NOSYS),
        }
    }

    fn lost(&self) -> Option<String> {
        self.set.lost()
    }
}

impl SyscallExecutor {
    /// Returns the creation of a file to replace one that REMOVE took, or the removal of the oldest
    /// if a directory has too many names.
    fn after(&self) -> Option<UnmeasuredOperation> {
        if self.names(VolatileDirectory::Created).is_short() {
            return Some(UnmeasuredOperation {
                kind: OpKind::Create,
                changing: VolatileDirectory::Created,
            });
        }
        let changing = VolatileDirectory::ALL;
        let overfull = changing
            .into_iter()
            .find(|changing| self.names(*changing).is_overfull())?;
        Some(UnmeasuredOperation {
            kind: match overfull {
                VolatileDirectory::Directories => OpKind::RmDir,
                _ => OpKind::Remove,
            },
            changing: overfull,
        })
    }

    /// Selects the next file.
    fn advance(&mut self) {
        self.current = match &self.chooser {
            None => (self.current + 1) % self.working_files,
            Some(chooser) => chooser.choose(&mut self.generator),
        };
    }

    fn names(&self, changing: VolatileDirectory) -> &DirectoryNames {
        &self.names[changing as usize]
    }

    fn names_mut(&mut self, changing: VolatileDirectory) -> &mut DirectoryNames {
        &mut self.names[changing as usize]
    }

    /// Returns the current file; opens it if necessary.
    fn file(&mut self) -> Result<&OwnedFd, Errno> {
        let index = self.current as usize;
        if !self.files.get(index).is_some_and(Option::is_some) {
            self.open_file(self.current)?;
        }
        let file = self.files.get(index).and_then(Option::as_ref);
        file.ok_or(Errno::BADF)
    }

    fn open_file(&mut self, file: u32) -> Result<(), Errno> {
        if self.open.len() >= OPEN_FILES_MAX
            && let Some(oldest) = self.open.pop_front()
        {
            self.close_file(oldest);
        }
        let directory = directory_of(&self.set, file)?;
        let open = |flags| rustix::fs::openat(directory, file_name(file), flags, Mode::empty());
        let opened = match open(self.flags()) {
            Err(Errno::INVAL) if self.is_direct => {
                self.is_direct = false;
                open(FILE)?
            }
            opened => opened?,
        };
        if let Some(place) = self.files.get_mut(file as usize) {
            *place = Some(opened);
            self.open.push_back(file);
        }
        Ok(())
    }

    /// Returns the flags for opening data files.
    fn flags(&self) -> OFlags {
        if self.is_direct {
            FILE | OFlags::DIRECT
        } else {
            FILE
        }
    }

    fn close_file(&mut self, file: u32) {
        self.open.retain(|open| *open != file);
        if let Some(place) = self.files.get_mut(file as usize) {
            *place = None;
        }
    }

    /// Gets attributes from the server, regardless of the cache.
    fn attributes(&mut self) -> Result<(), Errno> {
        let file = self.file()?;
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
        match rustix::fs::statx(file, c"", flags, StatxFlags::BASIC_STATS) {
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::fstat(file).map(drop),
            known => known.map(drop),
        }
    }

    /// Sets attributes of a file whose permissions the client has cached, if one is found.
    fn set_attributes(&mut self) -> Result<(), Errno> {
        for _ in 0..KNOWN_FILE_SEARCH {
            if !self.fresh.is_unchecked(self.current) {
                break;
            }
            self.advance();
        }
        rustix::fs::fchmod(self.file()?, FILE_MODE)?;
        self.fresh.changed(self.current);
        Ok(())
    }

    /// Looks up a name never used before: only this is certain to reach the server.
    fn look_up(&mut self) -> Result<(), Errno> {
        let directory = directory_of(&self.set, self.current)?;
        let look_for = |name| rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        if !self.makes_changes {
            return look_for(file_name(self.current)).map(drop);
        }
        self.unknown = self.unknown.wrapping_add(1);
        match look_for(format!("x{:016x}", self.unknown)) {
            Err(Errno::NOENT) if exists(directory) => Ok(()),
            found => found.map(drop),
        }
    }

    /// Checks access to an object that has changed since the last check, or else to the current
    /// file, after changing it.
    fn check_access(&mut self) -> Result<SyscallResult, Errno> {
        let done = SyscallResult::calls(OpKind::Access, 1);
        let wanted = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
        match self.fresh.take_unchecked() {
            Some(Unchecked::Made(number)) => {
                let directory = self.set.changing(VolatileDirectory::Created)?;
                let name = VolatileDirectory::Created.file_name(number);
                rustix::fs::accessat(directory, name, wanted, AtFlags::empty())?;
                Ok(done)
            }
            Some(Unchecked::File(file)) => {
                self.current = file;
                self.check_current(wanted).map(|()| done)
            }
            None if !self.makes_changes => self.check_current(wanted).map(|()| done),
            None => {
                rustix::fs::fchmod(self.file()?, FILE_MODE)?;
                self.check_current(wanted)?;
                Ok(done.and(OpKind::SetAttr, 1))
            }
        }
    }

    /// Checks access through the open file, to avoid a name lookup; by name if there is no /proc.
    fn check_current(&mut self, wanted: rustix::fs::Access) -> Result<(), Errno> {
        let opened = format!("/proc/self/fd/{}", self.file()?.as_raw_fd());
        match rustix::fs::access(opened, wanted) {
            Err(Errno::NOENT) => {
                let directory = directory_of(&self.set, self.current)?;
                let name = file_name(self.current);
                rustix::fs::accessat(directory, name, wanted, AtFlags::empty())
            }
            checked => checked,
        }
    }

    /// Reads a link that has changed since the client read it, or else one that is changed first.
    fn read_link(&mut self) -> Result<SyscallResult, Errno> {
        let done = SyscallResult::calls(OpKind::ReadLink, 1);
        let (name, done) = match self.fresh.take_unread() {
            Some(name) => (name, done),
            None if !self.makes_changes => (link_name(self.current % self.links.max(1)), done),
            None => match self.fresh.change_link(&self.set)? {
                (name, true) => (name, done.and(OpKind::Link, 1)),
                (name, false) => (name, done.and(OpKind::Remove, 1)),
            },
        };
        let directory = self.set.changing(VolatileDirectory::SymbolicLinks)?;
        rustix::fs::readlinkat(directory, name, Vec::new())?;
        Ok(done)
    }

    /// Reads the whole file, or a random transfer of it.
    fn read(&mut self) -> Result<SyscallResult, Errno> {
        let transfer = self.buffer.len() as u64;
        let (first, end) = match self.access {
            Access::Whole => (0, self.len()),
            Access::Random => {
                let first = self.any_transfer() * transfer;
                (first, self.len().min(first + transfer))
            }
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read_between(first, end, &mut buffer);
        self.buffer = buffer;
        let (calls, bytes) = read?;
        Ok(SyscallResult::calls(OpKind::Read, calls.max(1)).moved(bytes))
    }

    fn read_between(
        &mut self,
        first: u64,
        end: u64,
        buffer: &mut [u8],
    ) -> Result<(u64, u64), Errno> {
        let is_direct = self.is_direct;
        let file = self.file()?;
        if !is_direct {
            // Only advice: if the kernel ignores it, the cache is kept.
            rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
        }
        match read_from(file, first, end, buffer) {
            // The file system requires aligned transfers.
            Err(Errno::INVAL) if is_direct => {
                self.use_cache()?;
                self.read_between(first, end, buffer)
            }
            read => read,
        }
    }

    /// Switches to cached reads and writes.
    fn use_cache(&mut self) -> Result<(), Errno> {
        self.is_direct = false;
        let mut files = self.files.iter().flatten();
        files.try_for_each(|file| rustix::fs::fcntl_setfl(file, OFlags::empty()))
    }

    /// Rewrites a random number of transfers from the beginning of the file, or a random transfer,
    /// and makes all of it stable.
    fn write(&mut self) -> Result<SyscallResult, Errno> {
        let len = self.len();
        let transfer = self.buffer.len() as u64;
        let (first, count) = match self.access {
            Access::Whole => (0, 1 + self.any_transfer()),
            Access::Random => (self.any_transfer(), 1),
        };
        let end = len.min((first + count) * transfer);
        let (calls, bytes) = self.write_between(first * transfer, end)?;
        if !self.is_direct {
            rustix::fs::fsync(self.file()?)?;
        }
        Ok(SyscallResult::calls(OpKind::Write, calls.max(1)).moved(bytes))
    }

    /// Causes a COMMIT; since only written data can be committed, it writes first.
    fn commit(&mut self) -> Result<SyscallResult, Errno> {
        let transfer = self.buffer.len() as u64;
        let first = self.any_transfer() * transfer;
        let done = SyscallResult::calls(OpKind::Commit, 1);
        if self.committing == CommitMethod::Direct && self.is_direct {
            return self.write_halves().map(|bytes| done.moved(bytes));
        }
        let was_direct = std::mem::replace(&mut self.is_direct, false);
        let written = self.commit_through_cache(first, transfer, was_direct);
        self.is_direct = was_direct;
        written.map(|bytes| done.moved(bytes))
    }

    /// Writes through the cache. `was_direct` is the mode in which the file is open; it is restored
    /// afterwards.
    fn commit_through_cache(
        &mut self,
        first: u64,
        transfer: u64,
        was_direct: bool,
    ) -> Result<u64, Errno> {
        if was_direct {
            rustix::fs::fcntl_setfl(self.file()?, OFlags::empty())?;
        }
        let written = self.write_between(first, self.len().min(first + transfer));
        let file = self.file()?;
        // Starts writing back without waiting: such WRITEs need not be stable.
        rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
        let synchronised = rustix::fs::fsync(file);
        if was_direct {
            rustix::fs::fcntl_setfl(file, OFlags::DIRECT)?;
        }
        synchronised?;
        written.map(|(_, bytes)| bytes)
    }

    /// Writes two buffers that are not adjacent in memory past the cache: two WRITEs that need not
    /// be stable, and one COMMIT.
    fn write_halves(&mut self) -> Result<u64, Errno> {
        let mut data = vec![0; PAGE_BYTES + HALF_BYTES];
        let bytes = self.len().min(2 * HALF_BYTES as u64) as usize;
        pattern::fill(0, &mut data[..bytes.min(HALF_BYTES)]);
        let second = bytes.saturating_sub(HALF_BYTES);
        pattern::fill(
            HALF_BYTES as u64,
            &mut data[PAGE_BYTES..PAGE_BYTES + second],
        );
        let parts = [
            IoSlice::new(&data[..bytes.min(HALF_BYTES)]),
            IoSlice::new(&data[PAGE_BYTES..PAGE_BYTES + second]),
        ];
        let written = rustix::io::pwritev(self.file()?, &parts, 0)?;
        Ok(written as u64)
    }

    fn write_between(&mut self, first: u64, end: u64) -> Result<(u64, u64), Errno> {
        let (mut offset, mut calls) = (first, 0);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut result = Ok(());
        while offset < end {
            let part = buffer.len().min((end - offset) as usize);
            let data = &mut buffer[..part];
            pattern::fill(offset, data);
            let written = self
                .file()
                .and_then(|file| rustix::io::pwrite(file, data, offset));
            match written {
                Ok(0) => result = Err(Errno::NOSPC),
                Ok(written) => {
                    offset += written as u64;
                    calls += 1;
                }
                // The file system requires aligned transfers.
                Err(Errno::INVAL) if self.is_direct => result = self.use_cache(),
                Err(errno) => result = Err(errno),
            }
            if result.is_err() {
                break;
            }
        }
        self.buffer = buffer;
        result.map(|()| (calls, offset - first))
    }

    /// Returns the length of the current file.
    fn len(&self) -> u64 {
        let len = self.lengths.get(self.current as usize);
        len.copied().unwrap_or_default()
    }

    /// Returns the number of a random transfer of the current file.
    fn any_transfer(&mut self) -> u64 {
        let transfers = self.len().div_ceil(self.buffer.len() as u64).max(1);
        self.generator.random_range(0..transfers)
    }

    fn make(&mut self, changing: VolatileDirectory) -> Result<(), Errno> {
        let number = self.names_mut(changing).make();
        match changing {
            VolatileDirectory::Links => populate::link(&self.set, self.current, number)?,
            _ => populate::make(&self.set, changing, number)?,
        }
        self.names_mut(changing).add(number);
        Ok(())
    }

    /// Returns the directory of the next REMOVE: the newest hard link, or else the newest symbolic
    /// link, pipe or file.
    fn removable(&self) -> Option<VolatileDirectory> {
        let order = [
            VolatileDirectory::Links,
            VolatileDirectory::SymbolicLinks,
            VolatileDirectory::Nodes,
            VolatileDirectory::Created,
        ];
        let is_there = |changing: &VolatileDirectory| !self.names(*changing).is_empty();
        order.into_iter().find(is_there)
    }

    fn remove(&mut self) -> Result<(), Errno> {
        let changing = self.removable().ok_or(Errno::NOENT)?;
        let number = self.names_mut(changing).take_newest();
        self.unlink(changing, number.ok_or(Errno::NOENT)?)
    }

    fn remove_directory(&mut self) -> Result<(), Errno> {
        let number = self.names_mut(VolatileDirectory::Directories).take_newest();
        self.unlink(VolatileDirectory::Directories, number.ok_or(Errno::NOENT)?)
    }

    fn unlink(&self, changing: VolatileDirectory, number: u64) -> Result<(), Errno> {
        let flags = match changing {
            VolatileDirectory::Directories => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        let directory = self.set.changing(changing)?;
        rustix::fs::unlinkat(directory, changing.file_name(number), flags)
    }

    /// Renames back and forth between two names.
    fn rename(&mut self) -> Result<(), Errno> {
        let [from, to] = match self.renamed {
            0 => RENAMED,
            _ => [RENAMED[1], RENAMED[0]],
        };
        let directory = self.set.changing(VolatileDirectory::Created)?;
        let [from, to] = [from, to].map(|number| VolatileDirectory::Created.file_name(number));
        rustix::fs::renameat(directory, from, directory, to)?;
        self.renamed = 1 - self.renamed;
        Ok(())
    }

    /// Lists the next names of a data directory, from its beginning or after its first entry:
    /// Linux's client requests attributes at the beginning of a directory, and only names later.
    fn list(&mut self, from: u64) -> Result<(), Errno> {
        let index = (self.current / FILES_PER_DIRECTORY) as usize;
        let beyond = self.listed_from.get(index).copied().unwrap_or(0);
        let directory = directory_of(&self.set, self.current)?;
        forget_listing(directory);
        rustix::fs::seek(directory, SeekFrom::Start(from * beyond))?;
        self.listing.read(directory, |_, _| ControlFlow::Break(()))
    }
}

/// Whether a directory still exists, according to cached attributes.
fn exists(directory: BorrowedFd<'_>) -> bool {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let known = rustix::fs::statx(directory, c"", flags, StatxFlags::NLINK);
    match known {
        Ok(known) => known.stx_nlink > 0,
        Err(errno) => errno == Errno::NOSYS,
    }
}

/// Drops the cached listing, which an NFS client keeps in pages; only advice.
fn forget_listing(directory: BorrowedFd<'_>) {
    rustix::fs::fadvise(directory, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
}

/// Reads a range; returns the number of calls that returned data, and of bytes.
fn read_from(
    file: &OwnedFd,
    mut offset: u64,
    end: u64,
    buffer: &mut [u8],
) -> Result<(u64, u64), Errno> {
    let (mut calls, mut bytes) = (0, 0);
    while offset < end {
        let read = rustix::io::pread(file, &mut *buffer, offset)? as u64;
        if read == 0 {
            break;
        }
        calls += 1;
        offset += read;
        bytes += read;
    }
    Ok((calls, bytes))
}
