//! The tree of files in memory: inodes in a slab, names in directories, one memory limit.
//!
//! The tree is a pure data structure: no clock, no locks, no messages. The submodules contain the
//! operations by their effect on the tree; `dispatch` adds the remaining contents of replies
//! (attributes before and after).
//!
//! Permissions are in [`access`]. Each operation that creates, removes or changes an object checks
//! the required rights under the same lock; readers check before they read.

pub mod access;
pub mod basic;
pub mod content;
mod create;
pub mod directory;
mod file;
mod folded;
pub mod handle;
pub mod inode;
pub mod pattern;
mod remove;
pub mod run;
pub mod seed;

use filestone_wire::nfs3::Status;

use self::directory::Directory;
use self::handle::{HANDLE_LEN, HandleParts};
use self::inode::{Inode, InodeKind, UnixNanoseconds};

pub use self::access::Identity;
pub use self::create::{CreateMode, Node};
pub use self::seed::InitialTree;

/// Longest name of an entry, as in PATHCONF, in bytes.
pub const NAME_MAX: usize = 255;
/// Longest target of a symbolic link, in bytes.
pub const SYMLINK_MAX: usize = 4096;
/// Largest file, as in FSINFO, in bytes.
pub const FILE_MAX: u64 = i64::MAX as u64;
/// Largest number of names of a file, as in PATHCONF.
pub const LINK_MAX: u32 = 65_000;
/// Largest number of symbolic links in a path: the value of Linux.
const LINKS_FOLLOWED_MAX: usize = 40;

/// Memory accounted for an inode in addition to its data, in bytes.
const INODE_COST: u64 = 256;
/// Memory accounted for a name in addition to its bytes: two maps contain it.
const ENTRY_COST: u64 = 128;

/// Index of an inode in the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InodeNumber(pub u32);

impl InodeNumber {
    /// The root of the tree.
    pub const ROOT: Self = Self(0);

    /// Returns the `fileid` for clients; never 0, because some clients take it for "none".
    pub fn fileid(self) -> u64 {
        u64::from(self.0) + 1
    }
}

#[derive(Debug)]
struct Slot {
    generation: u64,
    inode: Option<Inode>,
}

/// The tree.
#[derive(Debug)]
pub struct Tree {
    slots: Vec<Slot>,
    free: Vec<u32>,
    lineage: u64,
    generation_next: u64,
    memory_limit: u64,
    memory_used: u64,
    inode_count: u64,
    discard: bool,
}

impl Tree {
    /// Creates a tree with only the root; objects belong to the initial tree until
    /// [`Tree::begin_life`].
    fn empty(initial: &InitialTree, discard: bool, now: UnixNanoseconds) -> Self {
        let mut tree = Self {
            slots: Vec::new(),
            free: Vec::new(),
            lineage: initial.lineage(),
            generation_next: 0,
            memory_limit: u64::MAX,
            memory_used: 0,
            inode_count: 0,
            discard,
        };
        let root = InodeKind::Directory(Directory::new(InodeNumber::ROOT));
        tree.insert(Inode::new(root, 0o777, initial.uid, initial.gid, now));
        tree
    }

    /// Ends the initial tree: later objects have generations from `generation` on, and
    /// `memory_limit` applies.
    fn begin_life(&mut self, generation: u64, memory_limit: u64) {
        self.generation_next = generation.max(1);
        self.memory_limit = memory_limit;
    }

    /// Returns the inode of a handle.
    pub fn resolve(&self, handle: &[u8]) -> Result<InodeNumber, Status> {
        let parts = HandleParts::decode(handle).ok_or(Status::BADHANDLE)?;
        let number = u32::try_from(parts.number).map_err(|_| Status::STALE)?;
        let slot = self.slots.get(number as usize).ok_or(Status::STALE)?;
        let is_alive = slot.inode.as_ref().is_some_and(|inode| !inode.is_orphan)
            && slot.generation == parts.generation
            && self.lineage == parts.lineage;
        if is_alive {
            Ok(InodeNumber(number))
        } else {
            Err(Status::STALE)
        }
    }

    /// Returns the handle of `number`.
    pub fn handle(&self, number: InodeNumber) -> [u8; HANDLE_LEN] {
        let generation = self
            .slots
            .get(number.0 as usize)
            .map_or(0, |slot| slot.generation);
        HandleParts {
            lineage: self.lineage,
            number: u64::from(number.0),
            generation,
        }
        .encode()
    }

    pub fn inode(&self, number: InodeNumber) -> Result<&Inode, Status> {
        let slot = self.slots.get(number.0 as usize).ok_or(Status::STALE)?;
        slot.inode.as_ref().ok_or(Status::STALE)
    }

    fn inode_mut(&mut self, number: InodeNumber) -> Result<&mut Inode, Status> {
        let slot = self.slots.get_mut(number.0 as usize).ok_or(Status::STALE)?;
        slot.inode.as_mut().ok_or(Status::STALE)
    }

    pub fn directory(&self, number: InodeNumber) -> Result<&Directory, Status> {
        match &self.inode(number)?.kind {
            InodeKind::Directory(directory) => Ok(directory),
            _ => Err(Status::NOTDIR),
        }
    }

    fn directory_mut(&mut self, number: InodeNumber) -> Result<&mut Directory, Status> {
        match &mut self.inode_mut(number)?.kind {
            InodeKind::Directory(directory) => Ok(directory),
            _ => Err(Status::NOTDIR),
        }
    }

    /// LOOKUP, RFC 1813 section 3.3.3, for a caller that may search the directory. `..` of the root
    /// is the root.
    pub fn lookup(&self, directory: InodeNumber, name: &[u8]) -> Result<InodeNumber, Status> {
        let entries = self.directory(directory)?;
        match name {
            b"." => Ok(directory),
            b".." => Ok(entries.parent()),
            _ => {
                if let Some(number) = entries.find(name) {
                    return Ok(number);
                }
                check_name(name)?;
                Err(Status::NOENT)
            }
        }
    }

    /// Resolves `path` from the root; skips empty components, does not follow links.
    pub fn walk(&self, path: &[u8]) -> Result<InodeNumber, Status> {
        path.split(|&byte| byte == b'/')
            .filter(|component| !component.is_empty())
            .try_fold(InodeNumber::ROOT, |directory, name| {
                self.lookup(directory, name)
            })
    }

    /// Resolves `path` and follows the symbolic link at its end, if any.
    pub fn walk_to_object(&self, path: &[u8]) -> Result<InodeNumber, Status> {
        let mut path = path.to_vec();
        for _ in 0..LINKS_FOLLOWED_MAX {
            let number = self.walk(&path)?;
            let InodeKind::Symlink(target) = &self.inode(number)?.kind else {
                return Ok(number);
            };
            if !target.starts_with(b"/") {
                let parent = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                path.truncate(parent);
                path.push(b'/');
            } else {
                path.clear();
            }
            path.extend_from_slice(target);
        }
        Err(Status::INVAL)
    }

    pub fn memory_limit(&self) -> u64 {
        self.memory_limit
    }

    pub fn memory_used(&self) -> u64 {
        self.memory_used
    }

    pub fn inode_count(&self) -> u64 {
        self.inode_count
    }

    /// Returns the number of inodes that still fit into the memory limit.
    pub fn inodes_free(&self) -> u64 {
        let room = self.memory_limit.saturating_sub(self.memory_used) / (INODE_COST + ENTRY_COST);
        room.min(u64::from(u32::MAX) - self.inode_count)
    }

    /// Returns an error if `cost` exceeds the memory limit.
    fn check_room(&self, cost: u64) -> Result<(), Status> {
        if cost > 0 && self.memory_used.saturating_add(cost) > self.memory_limit {
            return Err(Status::NOSPC);
        }
        Ok(())
    }

    fn insert(&mut self, inode: Inode) -> InodeNumber {
        self.memory_used += INODE_COST + charged(&inode);
        self.inode_count += 1;
        let generation = self.generation_next;
        if generation != 0 {
            self.generation_next = generation.wrapping_add(1).max(1);
        }
        let slot = Slot {
            generation,
            inode: Some(inode),
        };
        if let Some(index) = self.free.pop()
            && let Some(vacant) = self.slots.get_mut(index as usize)
        {
            *vacant = slot;
            return InodeNumber(index);
        }
        self.slots.push(slot);
        InodeNumber((self.slots.len() - 1) as u32)
    }

    /// Keeps an object alive until [`Tree::release_hold`], even if its names are removed.
    pub fn hold(&mut self, number: InodeNumber) -> Result<(), Status> {
        let inode = self.inode_mut(number)?;
        inode.holds = inode.holds.saturating_add(1);
        Ok(())
    }

    /// Releases one hold.
    pub fn release_hold(&mut self, number: InodeNumber) {
        let Ok(inode) = self.inode_mut(number) else {
            return;
        };
        inode.holds = inode.holds.saturating_sub(1);
        if inode.holds == 0 && inode.is_orphan {
            self.release(number);
        }
    }

    /// Removes an inode without names; its handles are stale from now on. An inode with holds
    /// stays, without a handle.
    fn release(&mut self, number: InodeNumber) {
        if let Ok(inode) = self.inode_mut(number)
            && inode.holds > 0
        {
            inode.is_orphan = true;
            return;
        }
        let slot = self.slots.get_mut(number.0 as usize);
        if let Some(inode) = slot.and_then(|slot| slot.inode.take()) {
            self.memory_used -= INODE_COST + charged(&inode);
            self.inode_count -= 1;
            self.free.push(number.0);
        }
    }
}

/// Returns the memory of an inode's data.
fn charged(inode: &Inode) -> u64 {
    match &inode.kind {
        InodeKind::File(content) => content.charged(),
        InodeKind::Symlink(target) => target.len() as u64,
        _ => 0,
    }
}

/// Returns the memory of the entry of a name.
fn entry_cost(name: &[u8]) -> u64 {
    ENTRY_COST + name.len() as u64
}

/// Checks a component of a path (RFC 1813, section 2.5, `filename3`).
fn check_name(name: &[u8]) -> Result<(), Status> {
    if name.len() > NAME_MAX {
        return Err(Status::NAMETOOLONG);
    }
    if name.is_empty() || name.contains(&b'/') || name.contains(&0) {
        return Err(Status::INVAL);
    }
    Ok(())
}

fn is_dot(name: &[u8]) -> bool {
    matches!(name, b"." | b"..")
}

#[cfg(test)]
mod tests;
