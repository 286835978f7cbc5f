//! What each operation of a mix becomes: nhfsstone's system-call tricks, and the like of them
//! for the procedures that NFSv3 added. The table is in docs/reference/mix-local.md.
//!
//! Two things differ from nhfsstone. Names that REMOVE takes away are never data files: they
//! have a directory of their own. And unless its own arithmetic is asked for, a file's pages are
//! given back to the kernel before it is read, because a client with memory would otherwise
//! answer every READ after the first by itself.

use super::changing::{Names, RENAMED, name};
use super::furnish::{self, FILE, FILE_MODE, directory_of};
use super::place::Place;
use crate::replay::local::listing::Listing;
use filestone_model::file_set::{Changing, Chooser, Layout, file_name, link_name};
use filestone_model::only_in_loads;
use filestone_model::operation::OpKind;
use filestone_model::plan::{Access, FeedbackArithmetic, MixPlan, Popularity};
use filestone_model::random::{Generator, Purpose, RngExt, stream};
use filestone_wire::pattern;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Advice, AtFlags, Mode, SeekFrom};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::ops::ControlFlow;

/// Data files that a client keeps open at most: nhfsstone's 40, and some more.
const OPEN_FILES_MAX: usize = 256;

/// What an operation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Done {
    /// The calls that it claims to have made: of its own kind, and of another.
    pub claims: [(OpKind, u64); 2],
    /// File data moved.
    pub data_bytes: u64,
}

impl Done {
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
pub(super) struct Companion {
    pub kind: OpKind,
    pub changing: Changing,
}

/// Makes the system calls of one client.
pub(super) struct Caller {
    place: Place,
    lengths: Vec<u64>,
    links: u32,
    working_files: u32,
    chooser: Option<Chooser>,
    /// The file that operations work on.
    current: u32,
    files: Vec<Option<OwnedFd>>,
    /// Which are open, the one that has been for longest first.
    open: VecDeque<u32>,
    names: [Names; Changing::ALL.len()],
    kinds: Vec<OpKind>,
    renamed: usize,
    access: Access,
    arithmetic: FeedbackArithmetic,
    generator: Generator,
    buffer: Vec<u8>,
    listing: Listing,
}

impl Caller {
    /// A client's, in a place that is furnished.
    pub fn new(place: Place, layout: &Layout, mix: &MixPlan, kinds: &[OpKind], seed: u64) -> Self {
        let client = place.client;
        let working_files = layout.working_files(client).max(1);
        let chooser = match mix.file_set.popularity {
            // In turn: a file comes back when its attributes have long left the cache.
            Popularity::Uniform => None,
            popularity @ Popularity::Zipf { .. } => Chooser::new(&popularity, working_files).ok(),
        };
        let names = Changing::ALL.map(|changing| match changing.is_changed_by(kinds) {
            true => Names::new(layout.spare_names()),
            false => Names::default(),
        });
        Self {
            lengths: layout.lengths(client).collect(),
            links: layout.symbolic_links(kinds),
            working_files,
            chooser,
            current: 0,
            files: (0..layout.files_per_client()).map(|_| None).collect(),
            open: VecDeque::new(),
            names,
            kinds: kinds.to_vec(),
            renamed: 0,
            access: mix.access,
            arithmetic: mix.local.arithmetic,
            generator: stream(seed, Purpose::Workload, u64::from(client)),
            buffer: vec![0; mix.transfer_bytes.max(1) as usize],
            listing: Listing::new(),
            place,
        }
    }

    /// Opens as many files as are kept open, before the clock runs.
    pub fn open_files(&mut self) -> Result<(), Errno> {
        let count = self.working_files.min(OPEN_FILES_MAX as u32);
        (0..count).try_for_each(|file| self.open_file(file))
    }

    /// Where it works.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What has to be done first, so that an operation of this kind can be.
    pub fn before(&self, kind: OpKind) -> Option<Companion> {
        let is_empty = |changing| self.names(changing).is_empty();
        match kind {
            OpKind::RmDir if is_empty(Changing::Directories) => Some(Companion {
                kind: OpKind::MkDir,
                changing: Changing::Directories,
            }),
            OpKind::Remove if self.removable().is_none() => Some(Companion {
                kind: OpKind::Create,
                changing: Changing::Created,
            }),
            _ => None,
        }
    }

    /// What has to be done afterwards: a file for one that REMOVE took, or the oldest of too
    /// many names gone.
    pub fn after(&self) -> Option<Companion> {
        if self.names(Changing::Created).is_short() {
            return Some(Companion {
                kind: OpKind::Create,
                changing: Changing::Created,
            });
        }
        let changing = Changing::ALL;
        let overfull = changing
            .into_iter()
            .find(|changing| self.names(*changing).is_overfull())?;
        Some(Companion {
            kind: match overfull {
                Changing::Directories => OpKind::RmDir,
                _ => OpKind::Remove,
            },
            changing: overfull,
        })
    }

    /// Carries out an operation that keeps the set in its proportions.
    pub fn accompany(&mut self, companion: Companion) -> Result<Done, Errno> {
        let Companion { kind, changing } = companion;
        match kind {
            OpKind::Create | OpKind::MkDir => self.make(changing)?,
            _ => {
                if let Some(number) = self.names_mut(changing).take_oldest() {
                    self.unlink(changing, number)?;
                }
            }
        }
        Ok(Done::calls(kind, 1))
    }

    /// Carries out an operation of this kind.
    pub fn carry_out(&mut self, kind: OpKind) -> Result<Done, Errno> {
        if !matches!(kind, OpKind::Create | OpKind::Lookup | OpKind::Remove) {
            self.advance();
        }
        let one = Done::calls(kind, 1);
        match kind {
            // No system call makes them; nhfsstone claimed its NULL all the same.
            OpKind::Null | OpKind::FsInfo | OpKind::PathConf => Ok(one),
            OpKind::GetAttr => self.attributes(),
            OpKind::SetAttr => {
                rustix::fs::fchmod(self.file()?, FILE_MODE)?;
                Ok(one)
            }
            OpKind::Lookup => {
                self.advance();
                let directory = directory_of(&self.place, self.current)?;
                let name = file_name(self.current);
                rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                Ok(one)
            }
            OpKind::Access => {
                let directory = directory_of(&self.place, self.current)?;
                let wanted = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
                let name = file_name(self.current);
                rustix::fs::accessat(directory, name, wanted, AtFlags::empty())?;
                Ok(one)
            }
            OpKind::ReadLink => self.read_link().map(|()| one),
            OpKind::Read => self.read(),
            OpKind::Write => self.write(),
            OpKind::Commit => self.commit(),
            OpKind::Create => self.make(Changing::Created).map(|()| one),
            OpKind::MkDir => self.make(Changing::Directories).map(|()| one),
            OpKind::SymLink => self.make(Changing::SymbolicLinks).map(|()| one),
            OpKind::MkNod => self.make(Changing::Nodes).map(|()| one),
            OpKind::Link => self.make(Changing::Links).map(|()| one),
            OpKind::Remove => self.remove().map(|()| one),
            OpKind::RmDir => self.remove_directory().map(|()| one),
            OpKind::Rename => self.rename().map(|()| one),
            OpKind::ReadDir | OpKind::ReadDirPlus => self.list().map(|()| one),
            OpKind::FsStat => {
                rustix::fs::fstatvfs(&self.place.root)?;
                Ok(one)
            }
            only_in_loads!() => Err(Errno::NOSYS),
        }
    }

    /// Goes on to another file.
    fn advance(&mut self) {
        self.current = match &self.chooser {
            None => (self.current + 1) % self.working_files,
            Some(chooser) => chooser.choose(&mut self.generator),
        };
    }

    fn names(&self, changing: Changing) -> &Names {
        &self.names[changing as usize]
    }

    fn names_mut(&mut self, changing: Changing) -> &mut Names {
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
        let directory = directory_of(&self.place, file)?;
        let opened = rustix::fs::openat(directory, file_name(file), FILE, Mode::empty())?;
        if let Some(place) = self.files.get_mut(file as usize) {
            *place = Some(opened);
            self.open.push_back(file);
        }
        Ok(())
    }

    fn close_file(&mut self, file: u32) {
        self.open.retain(|open| *open != file);
        if let Some(place) = self.files.get_mut(file as usize) {
            *place = None;
        }
    }

    /// Half of them close and open the file, because opening looks at the attributes anew; the
    /// others ask for them, which a cache may answer.
    fn attributes(&mut self) -> Result<Done, Errno> {
        if self.generator.random::<bool>() {
            self.close_file(self.current);
            self.open_file(self.current)?;
            return Ok(Done::calls(OpKind::GetAttr, 1).and(OpKind::Lookup, 1));
        }
        rustix::fs::fstat(self.file()?)?;
        Ok(Done::calls(OpKind::GetAttr, 1))
    }

    /// nhfsstone's: the newest one, or one that is always there.
    fn read_link(&mut self) -> Result<(), Errno> {
        let name = match self.names(Changing::SymbolicLinks).newest() {
            Some(number) => name(Changing::SymbolicLinks, number),
            None => link_name(self.current % self.links.max(1)),
        };
        let directory = self.place.changing(Changing::SymbolicLinks)?;
        rustix::fs::readlinkat(directory, name, Vec::new()).map(drop)
    }

    /// The whole file, or any transfer of it.
    fn read(&mut self) -> Result<Done, Errno> {
        let transfer = self.buffer.len() as u64;
        let (offset, transfers_max) = match self.access {
            Access::Whole => (0, u64::MAX),
            Access::Random => (self.any_transfer() * transfer, 1),
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let is_exact = self.arithmetic == FeedbackArithmetic::Exact;
        let read = self.file().and_then(|file| {
            if is_exact {
                // Advice: where it is not taken, the cache keeps what it has.
                rustix::fs::fadvise(file, 0, None::<NonZeroU64>, Advice::DontNeed).ok();
            }
            read_from(file, offset, &mut buffer, transfers_max)
        });
        self.buffer = buffer;
        let (calls, bytes) = read?;
        // The original claimed one more, which saw the end of the file.
        let calls = if is_exact { calls.max(1) } else { calls + 1 };
        Ok(Done::calls(OpKind::Read, calls).moved(bytes))
    }

    /// So much of the file anew as chance will have it, or any transfer of it; and all of it
    /// made stable.
    fn write(&mut self) -> Result<Done, Errno> {
        let len = self.len();
        let transfer = self.buffer.len() as u64;
        let (first, count) = match self.access {
            Access::Whole => (0, 1 + self.any_transfer()),
            Access::Random => (self.any_transfer(), 1),
        };
        let end = len.min((first + count) * transfer);
        let (calls, bytes) = self.write_between(first * transfer, end)?;
        rustix::fs::fsync(self.file()?)?;
        let done = match self.arithmetic {
            FeedbackArithmetic::Nhfsstone => Done::calls(OpKind::Write, calls + 2),
            FeedbackArithmetic::Exact => {
                Done::calls(OpKind::Write, calls.max(1)).and(OpKind::Commit, 1)
            }
        };
        Ok(done.moved(bytes))
    }

    /// There is nothing to commit that has not been written.
    fn commit(&mut self) -> Result<Done, Errno> {
        let transfer = self.buffer.len() as u64;
        let first = self.any_transfer() * transfer;
        let (calls, bytes) = self.write_between(first, self.len().min(first + transfer))?;
        rustix::fs::fsync(self.file()?)?;
        let done = Done::calls(OpKind::Commit, 1).and(OpKind::Write, calls);
        Ok(done.moved(bytes))
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

    fn make(&mut self, changing: Changing) -> Result<(), Errno> {
        let number = self.names_mut(changing).make();
        match changing {
            Changing::Links => furnish::link(&self.place, self.current, number)?,
            _ => furnish::make(&self.place, changing, number)?,
        }
        self.names_mut(changing).add(number);
        Ok(())
    }

    /// What REMOVE takes next: the newest hard link, or else the newest symbolic link, pipe
    /// or file.
    fn removable(&self) -> Option<Changing> {
        let order = [
            Changing::Links,
            Changing::SymbolicLinks,
            Changing::Nodes,
            Changing::Created,
        ];
        let is_there = |changing: &Changing| !self.names(*changing).is_empty();
        order.into_iter().find(is_there)
    }

    fn remove(&mut self) -> Result<(), Errno> {
        let changing = self.removable().ok_or(Errno::NOENT)?;
        let number = self.names_mut(changing).take_newest();
        self.unlink(changing, number.ok_or(Errno::NOENT)?)
    }

    fn remove_directory(&mut self) -> Result<(), Errno> {
        let number = self.names_mut(Changing::Directories).take_newest();
        self.unlink(Changing::Directories, number.ok_or(Errno::NOENT)?)
    }

    fn unlink(&self, changing: Changing, number: u64) -> Result<(), Errno> {
        let flags = match changing {
            Changing::Directories => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        let directory = self.place.changing(changing)?;
        rustix::fs::unlinkat(directory, name(changing, number), flags)
    }

    /// To and fro between two names.
    fn rename(&mut self) -> Result<(), Errno> {
        let [from, to] = match self.renamed {
            0 => RENAMED,
            _ => [RENAMED[1], RENAMED[0]],
        };
        let directory = self.place.changing(Changing::Created)?;
        let [from, to] = [from, to].map(|number| name(Changing::Created, number));
        rustix::fs::renameat(directory, from, directory, to)?;
        self.renamed = 1 - self.renamed;
        Ok(())
    }

    /// All names of a directory that changes, if there is one: its listing is not in a cache.
    fn list(&mut self) -> Result<(), Errno> {
        let directory = match Changing::Created.is_changed_by(&self.kinds) {
            true => self.place.changing(Changing::Created)?,
            false => directory_of(&self.place, self.current)?,
        };
        rustix::fs::seek(directory, SeekFrom::Start(0))?;
        self.listing
            .read(directory.as_fd(), |_, _| ControlFlow::Continue(()))
    }
}

/// Reads up to the end; calls that brought data, and how much.
fn read_from(
    file: &OwnedFd,
    mut offset: u64,
    buffer: &mut [u8],
    transfers_max: u64,
) -> Result<(u64, u64), Errno> {
    let (mut calls, mut bytes) = (0, 0);
    while calls < transfers_max {
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
