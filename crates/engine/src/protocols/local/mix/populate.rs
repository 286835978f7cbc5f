//! Creates and checks a client's files with system calls.
//!
//! All objects are in the set's directory, which belongs to filestone; even so, only names of the
//! set are changed there.

use super::changing::RENAMED;
use super::opened_set::{FILE, FILE_MODE, LINK_TARGET, OpenedSet, refused};
use super::uncached_files::is_made_here;
use crate::protocols::local::tree::{DIRECTORY, LocalTree};
use filestone_host::control::check_cancelled;
use filestone_host::error::RunError;
use filestone_plan::file_set::{
    FILES_PER_DIRECTORY, Layout, VolatileDirectory, file_name, link_name,
};
use filestone_setup::workspace::tree::TreeDirectory;
use filestone_setup::workspace::{Purpose, set_removal};
use filestone_wire::pattern;
use filestone_workload::operation::OpKind;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

/// Data are written in pieces of this length.
const PIECE_BYTES: usize = 1 << 20;
/// Number of objects found, and number created or repaired.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Populated {
    pub found: u64,
    pub made: u64,
}

impl Populated {
    fn count(&mut self, was_there: bool) {
        *(if was_there {
            &mut self.found
        } else {
            &mut self.made
        }) += 1;
    }
}

/// Creates missing objects of `set` and repairs wrong ones.
pub(super) fn populate(
    set: &OpenedSet,
    layout: &Layout,
    kinds: &[OpKind],
    stop: &AtomicBool,
) -> Result<Populated, RunError> {
    let mut populated = Populated::default();
    for (file, len) in (0..).zip(layout.lengths(set.client)) {
        check_cancelled(stop)?;
        let name = file_name(file);
        let directory = directory_of(set, file);
        let was_there = directory
            .and_then(|directory| data_file(directory, &name, len))
            .map_err(|errno| refused(&set.path.join(&name), errno, "making or mending it"))?;
        populated.count(was_there);
    }
    for link in 0..layout.symbolic_links(kinds) {
        let name = link_name(link);
        let was_there = set
            .changing(VolatileDirectory::SymbolicLinks)
            .and_then(|sym| symbolic_link(sym, &name, &layout.link_target(link)))
            .map_err(|errno| refused(&set.path.join(&name), errno, "making or mending it"))?;
        populated.count(was_there);
    }
    settle(set, layout, kinds, &mut populated)?;
    Ok(populated)
}

/// Returns the directory of a data file.
pub(super) fn directory_of(set: &OpenedSet, file: u32) -> Result<BorrowedFd<'_>, Errno> {
    let directory = set.directories.get((file / FILES_PER_DIRECTORY) as usize);
    directory.map(AsFd::as_fd).ok_or(Errno::NOENT)
}

/// Restores the volatile names to those present at the start.
pub(super) fn settle(
    set: &OpenedSet,
    layout: &Layout,
    kinds: &[OpKind],
    populated: &mut Populated,
) -> Result<(), RunError> {
    let needed = VolatileDirectory::ALL.into_iter();
    for changing in needed.filter(|changing| changing.is_needed_by(kinds)) {
        settle_one(set, layout, changing, kinds, populated)?;
    }
    Ok(())
}

fn settle_one(
    set: &OpenedSet,
    layout: &Layout,
    changing: VolatileDirectory,
    kinds: &[OpKind],
    populated: &mut Populated,
) -> Result<(), RunError> {
    let path = set.path.join(changing.directory());
    let failed = |errno| refused(&path, errno, "putting its names right");
    let is_changed = changing.is_changed_by(kinds);
    let spare = if is_changed { layout.spare_names() } else { 0 };
    let mut wanted: HashSet<u64> = (0..u64::from(spare)).collect();
    if changing == VolatileDirectory::Created && kinds.contains(&OpKind::Rename) {
        wanted.insert(RENAMED[0]);
    }
    let mut there = HashSet::new();
    let directory = set.changing(changing).map_err(failed)?;
    let fresh = rustix::fs::openat(directory, c".", DIRECTORY, Mode::empty()).map_err(failed)?;
    let at = TreeDirectory {
        handle: fresh,
        path: path.to_string_lossy().into_owned(),
        purpose: Purpose::FileSet,
    };
    let is_ours = |name: &[u8]| changing.number_of(name).is_some();
    set_removal::remove_each(&mut LocalTree, &at, &is_ours, |name, _| {
        let number = changing.number_of(name).unwrap_or_default();
        if wanted.contains(&number) {
            there.insert(number);
            return false;
        }
        is_changed || is_made_here(number)
    })?;
    for number in wanted {
        let was_there = there.contains(&number);
        if !was_there {
            make(set, changing, number).map_err(failed)?;
        }
        populated.count(was_there);
    }
    Ok(())
}

/// Creates a volatile name.
pub(super) fn make(set: &OpenedSet, changing: VolatileDirectory, number: u64) -> Result<(), Errno> {
    let directory = set.changing(changing)?;
    let name = changing.file_name(number);
    match changing {
        VolatileDirectory::Created => {
            let flags = OFlags::CREATE | OFlags::TRUNC | FILE;
            rustix::fs::openat(directory, &name, flags, FILE_MODE).map(drop)
        }
        VolatileDirectory::Links => link(set, 0, number),
        VolatileDirectory::SymbolicLinks => rustix::fs::symlinkat(LINK_TARGET, directory, &name),
        VolatileDirectory::Nodes => rustix::fs::mkfifoat(directory, &name, FILE_MODE),
        VolatileDirectory::Directories => {
            rustix::fs::mkdirat(directory, &name, Mode::from_raw_mode(0o777))
        }
    }
}

/// Creates a hard link to data file `file`.
pub(super) fn link(set: &OpenedSet, file: u32, number: u64) -> Result<(), Errno> {
    let (from, to) = (
        directory_of(set, file)?,
        set.changing(VolatileDirectory::Links)?,
    );
    let name = VolatileDirectory::Links.file_name(number);
    rustix::fs::linkat(from, file_name(file), to, &name, AtFlags::empty())
}

/// Creates a data file of that length, or repairs an existing one; returns whether it was correct.
fn data_file(directory: BorrowedFd<'_>, name: &str, len: u64) -> Result<bool, Errno> {
    let (file, is_new) = match rustix::fs::openat(directory, name, FILE, Mode::empty()) {
        Ok(file) => (file, false),
        Err(Errno::NOENT) => {
            let flags = FILE | OFlags::CREATE | OFlags::EXCL;
            (rustix::fs::openat(directory, name, flags, FILE_MODE)?, true)
        }
        Err(errno) => return Err(errno),
    };
    let status = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(Errno::EXIST);
    }
    if !is_new && u64::try_from(status.st_size) == Ok(len) {
        return Ok(true);
    }
    rustix::fs::ftruncate(&file, 0)?;
    write_pattern(&file, len)?;
    Ok(false)
}

fn write_pattern(file: &OwnedFd, len: u64) -> Result<(), Errno> {
    let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(len).unwrap_or(PIECE_BYTES))];
    let mut offset = 0;
    while offset < len {
        let part = (len - offset).min(PIECE_BYTES as u64) as usize;
        let Some(data) = piece.get_mut(..part) else {
            return Err(Errno::INVAL);
        };
        pattern::fill(offset, data);
        let written = rustix::io::pwrite(file, data, offset)?;
        if written == 0 {
            return Err(Errno::NOSPC);
        }
        offset += written as u64;
    }
    Ok(())
}

/// Creates a symbolic link, or repairs an existing one; returns whether it was correct.
fn symbolic_link(directory: BorrowedFd<'_>, name: &str, target: &str) -> Result<bool, Errno> {
    match rustix::fs::readlinkat(directory, name, Vec::new()) {
        Ok(found) if found.to_bytes() == target.as_bytes() => return Ok(true),
        Ok(_) => rustix::fs::unlinkat(directory, name, AtFlags::empty())?,
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::symlinkat(target, directory, name)?;
    Ok(false)
}
