//! The system calls that each operation of a mix becomes: such as reach the wire whatever the
//! client has in its caches, as far as there are any. The table is in
//! docs/reference/mix-local.md; what each causes is measured anyway, before the run and in it.
//!
//! Names that REMOVE takes away are never data files: they have a directory of their own.

use super::changing::{Names, RENAMED};
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

/// Data files that a client keeps open at most: nhfsstone's 40, and some more.
pub(super) const OPEN_FILES_MAX: usize = 256;
/// How far SETATTR looks for a file whose permissions the client knows.
const KNOWN_FILE_SEARCH: u32 = 8;
/// How much of a file the halves of a write are that makes a COMMIT: each lies in the middle of
/// a page of memory, so that the client cannot make one WRITE of them.
const HALF_BYTES: usize = 1000;
const PAGE_BYTES: usize = 4096;

/// What an operation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyscallResult {
    /// The calls that it ought to have made: of its own kind, and of another that it took to make
    /// that one necessary.
    pub claims: [(OpKind, u64); 2],
    /// File data moved.
    pub data_bytes: u64,
}

/// What one client does to its files.
pub(super) trait SystemCalls {
    /// What keeps the set in its proportions from here on.
    fn needs(&self) -> Prerequisites;

    /// Carries out an operation of this kind.
    fn operate(&mut self, kind: OpKind) -> Result<SyscallResult, Errno>;

    /// Carries out an operation that keeps the set in its proportions.
    fn call_unmeasured(&mut self, unmeasured: UnmeasuredOperation) -> Result<SyscallResult, Errno>;

    /// Why no operation can succeed any more, after one has failed.
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

    /// All calls together.
    pub fn sum(&self) -> u64 {
        self.claims.iter().map(|(_, calls)| calls).sum()
    }
}

/// An operation that keeps the set in its proportions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnmeasuredOperation {
    pub kind: OpKind,
    pub changing: VolatileDirectory,
}

/// What has to be done so that operations can be, and the set keeps its proportions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prerequisites {
    /// There is no directory for RMDIR to remove.
    pub lacks_directory: bool,
    /// There is nothing for REMOVE to remove.
    pub lacks_file: bool,
    /// What the operations so far have left to be done.
    pub after: Option<UnmeasuredOperation>,
}

impl Prerequisites {
    /// What has to be done first, so that an operation of this kind can be.
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

/// How COMMIT is caused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CommitMethod {
    /// A write into the cache, sent without being asked to be stable, and then fsync.
    #[default]
    Cached,
    /// A write past the cache that takes two calls, for mounts that send every write at once.
    Direct,
}

/// Makes the system calls of one client.
pub(super) struct Caller {
    set: OpenedSet,
    lengths: Vec<u64>,
    links: u32,
    working_files: u32,
    chooser: Option<FileSampler>,
    /// The file that operations work on.
    current: u32,
    files: Vec<Option<OwnedFd>>,
    /// Which are open, the one that has been for longest first.
    open: VecDeque<u32>,
    names: [Names; VolatileDirectory::ALL.len()],
    renamed: usize,
    access: Access,
    generator: Generator,
    buffer: Vec<u8>,
    listing: Listing,
    fresh: UncachedFiles,
    /// The number of the next name to look for that is not there: none comes twice, nor in
    /// another run.
    unknown: u64,
    /// Where each directory of data files goes on behind its first entry.
    listed_from: Vec<u64>,
    /// Whether files are read and written past the client's cache.
    is_direct: bool,
    /// Whether what its caches could answer is changed for it to be asked, and names are looked
    /// for that are not there. Without a look at the wire, an operation is what it is called.
    makes_changes: bool,
    pub committing: CommitMethod,
}

impl Caller {
    /// A client's, in a set that is populated. `is_direct` where the file system may be asked
    /// to read and write past its cache.
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
            // In turn, so that all are used alike.
            Popularity::Uniform => None,
            popularity @ Popularity::Zipf { .. } => {
                FileSampler::new(&popularity, working_files).ok()
            }
        };
        let names = VolatileDirectory::ALL.map(|changing| {
            if changing.is_changed_by(kinds) {
                Names::new(layout.spare_names())
            } else {
                Names::default()
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

    /// Opens as many files as are kept open, before the clock runs.
    pub fn open_files(&mut self) -> Result<(), Errno> {
        let count = self.working_files.min(OPEN_FILES_MAX as u32);
        (0..count).try_for_each(|file| self.open_file(file))?;
        for directory in &self.set.directories {
            self.listed_from.push(beyond_first(directory)?);
        }
        Ok(())
    }

    /// Makes what its caches must not be able to answer, up to changing it.
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

    /// Changes what was made so.
    pub fn change_fresh(&mut self, needed: Needed) -> Result<(), Errno> {
        self.fresh.change_links(&self.set, needed.links)
    }

    /// Where it works.
    pub fn set(&self) -> &OpenedSet {
        &self.set
    }
}

impl SystemCalls for Caller {
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
            // No system call makes them; nhfsstone claimed its NULL all the same.
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

impl Caller {
    /// A file for one that REMOVE took, or the oldest of too many names gone.
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

    /// Goes on to another file.
    fn advance(&mut self) {
        self.current = match &self.chooser {
            None => (self.current + 1) % self.working_files,
            Some(chooser) => chooser.choose(&mut self.generator),
        };
    }

    fn names(&self, changing: VolatileDirectory) -> &Names {
        &self.names[changing as usize]
    }

    fn names_mut(&mut self, changing: VolatileDirectory) -> &mut Names {
        &mut self.names[changing as usize]
    }

    /// The current file, opened if it is not.
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

    /// How data files are opened.
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

    /// From the server, whatever is in the cache.
    fn attributes(&mut self) -> Result<(), Errno> {
        let file = self.file()?;
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
        match rustix::fs::statx(file, c"", flags, StatxFlags::BASIC_STATS) {
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::fstat(file).map(drop),
            known => known.map(drop),
        }
    }

    /// Of a file, if there is one at hand, whose permissions the client knows until then.
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

    /// A name that was never looked for: nothing else is sure to be asked of the server.
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

    /// Of what has changed since the client asked last; or of the current file, which is changed
    /// for it.
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

    /// By the open file, so that no name need be looked up; by its name where there is no /proc.
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

    /// A link that has changed since the client read it; or one that is changed for it.
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

    /// The whole file, or any transfer of it.
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
            // Advice: where it is not taken, the cache keeps what it has.
            rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
        }
        match read_from(file, first, end, buffer) {
            // A file system that wants its transfers aligned.
            Err(Errno::INVAL) if is_direct => {
                self.use_cache()?;
                self.read_between(first, end, buffer)
            }
            read => read,
        }
    }

    /// From now on, through the cache.
    fn use_cache(&mut self) -> Result<(), Errno> {
        self.is_direct = false;
        let mut files = self.files.iter().flatten();
        files.try_for_each(|file| rustix::fs::fcntl_setfl(file, OFlags::empty()))
    }

    /// So much of the file anew as chance will have it, or any transfer of it; and all of it
    /// made stable.
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

    /// There is nothing to commit that has not been written.
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

    /// `was_direct` says how the file is open, and is to be afterwards.
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
        // Begins to write back and waits for nothing: such WRITEs need not be stable.
        rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
        let synchronised = rustix::fs::fsync(file);
        if was_direct {
            rustix::fs::fcntl_setfl(file, OFlags::DIRECT)?;
        }
        synchronised?;
        written.map(|(_, bytes)| bytes)
    }

    /// Writes two pieces that lie apart in memory, past the cache: two WRITEs that need not be
    /// stable, and one COMMIT.
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
                // A file system that wants its transfers aligned.
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

    /// The current file's length.
    fn len(&self) -> u64 {
        let len = self.lengths.get(self.current as usize);
        len.copied().unwrap_or_default()
    }

    /// The number of any transfer of the current file.
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

    /// What REMOVE takes next: the newest hard link, or else the newest symbolic link, pipe
    /// or file.
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

    /// To and fro between two names.
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

    /// The next names of a directory of data files, from its beginning or from behind its first
    /// entry: Linux's client asks for attributes with the names at the beginning of a directory,
    /// and then for names only.
    fn list(&mut self, from: u64) -> Result<(), Errno> {
        let index = (self.current / FILES_PER_DIRECTORY) as usize;
        let beyond = self.listed_from.get(index).copied().unwrap_or(0);
        let directory = directory_of(&self.set, self.current)?;
        forget_listing(directory);
        rustix::fs::seek(directory, SeekFrom::Start(from * beyond))?;
        self.listing.read(directory, |_, _| ControlFlow::Break(()))
    }
}

/// Whether a directory has not been removed, as far as is known without a call.
fn exists(directory: BorrowedFd<'_>) -> bool {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let known = rustix::fs::statx(directory, c"", flags, StatxFlags::NLINK);
    match known {
        Ok(known) => known.stx_nlink > 0,
        Err(errno) => errno == Errno::NOSYS,
    }
}

/// Advice: what a client of NFS knows of a directory's names is in pages, too.
fn forget_listing(directory: BorrowedFd<'_>) {
    rustix::fs::fadvise(directory, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
}

/// Reads what lies between; calls that brought data, and how much.
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
