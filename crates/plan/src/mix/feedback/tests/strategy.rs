//! System calls for the operations of a mix: those of the engine, and those of nhfsstone, which
//! were used before.

use super::linux::{Inode, Linux, Mount};
use filestone_workload::operation::OpKind;
use std::collections::VecDeque;

/// Number of data files and of symbolic links of all clients.
pub(super) const FILES: u64 = 320;
const LINKS: u64 = 40;

/// The engine's strategy.
pub(super) struct Strategy {
    pub(super) linux: Linux,
    current: u64,
    unchecked: VecDeque<Inode>,
    unread: VecDeque<u64>,
    next_link: u64,
    has_second: [bool; LINKS as usize],
    pub(super) commits_directly: bool,
    /// Whether symbolic links can have a second name.
    pub(super) has_second_names: bool,
}

impl Strategy {
    /// Creates a strategy with `unchecked` files whose permissions are not cached, and `unread`
    /// links whose targets are not cached.
    pub(super) fn new(mount: Mount, unchecked: u64, unread: u64) -> Self {
        let mut linux = Linux::new(mount);
        linux.stat(Inode::Directory);
        for file in 0..FILES {
            linux.statx_force_sync(Inode::File(file));
        }
        for link in 0..LINKS {
            linux.symlink(link);
        }
        for link in 0..unread {
            linux.symlink(link);
            linux.link(Inode::Link(link));
        }
        Self {
            linux,
            current: 0,
            unchecked: (0..unchecked).map(Inode::File).collect(),
            unread: (0..unread).collect(),
            next_link: 0,
            has_second: [false; LINKS as usize],
            commits_directly: false,
            has_second_names: true,
        }
    }

    /// Executes one operation and returns its system calls.
    pub(super) fn execute(&mut self, kind: OpKind, random: u64) -> [(OpKind, u64); 2] {
        self.current = (self.current + 1) % FILES;
        let file = Inode::File(self.current);
        let linux = &mut self.linux;
        match kind {
            OpKind::GetAttr => linux.statx_force_sync(file),
            OpKind::SetAttr => {
                linux.fchmod(file);
                self.unchecked.push_back(file);
            }
            OpKind::Lookup => linux.stat_unknown_name(),
            OpKind::Access => match self.unchecked.pop_front() {
                Some(inode) => linux.access_of_open(inode),
                None => {
                    linux.fchmod(file);
                    linux.access_of_open(file);
                    return [(kind, 1), (OpKind::SetAttr, 1)];
                }
            },
            OpKind::ReadLink => return self.read_link(),
            OpKind::Read | OpKind::Write => {
                let transfers = 1 + random % 3;
                for _ in 0..transfers {
                    match kind {
                        OpKind::Read => linux.read_direct(file),
                        _ => linux.write_direct(file),
                    }
                }
                return [(kind, transfers), (kind, 0)];
            }
            OpKind::Commit if self.commits_directly => linux.write_direct_in_two(file),
            OpKind::Commit => linux.write_back_and_fsync(file),
            OpKind::Create => linux.create(),
            OpKind::SymLink => linux.symlink(1 << 32 | random),
            OpKind::Link => {
                linux.link(file);
                self.unchecked.push_back(file);
            }
            OpKind::ReadDir => linux.list_anew(false),
            OpKind::ReadDirPlus => linux.list_anew(true),
            OpKind::FsStat => linux.statfs(),
            _ => linux.change_names(kind),
        }
        [(kind, 1), (kind, 0)]
    }

    fn read_link(&mut self) -> [(OpKind, u64); 2] {
        if let Some(link) = self.unread.pop_front() {
            self.linux.readlink(link);
            return [(OpKind::ReadLink, 1), (OpKind::ReadLink, 0)];
        }
        let link = self.next_link % LINKS;
        self.next_link += 1;
        if !self.has_second_names {
            self.linux.readlink(link);
            return [(OpKind::ReadLink, 1), (OpKind::ReadLink, 0)];
        }
        let has_second = &mut self.has_second[link as usize];
        let change = match *has_second {
            true => OpKind::Remove,
            false => OpKind::Link,
        };
        *has_second = !*has_second;
        match change {
            OpKind::Link => self.linux.link(Inode::Link(link)),
            _ => self.linux.unlink_second(Inode::Link(link)),
        }
        self.linux.readlink(link);
        [(OpKind::ReadLink, 1), (change, 1)]
    }
}

/// Executes an operation of a kind on the next file with nhfsstone's strategy.
pub(super) fn carry_out_as_before(linux: &mut Linux, kind: OpKind, number: u64) {
    let file = Inode::File(number % FILES);
    match kind {
        OpKind::GetAttr if number.is_multiple_of(2) => linux.close_and_open(file),
        OpKind::GetAttr => linux.fstat(file),
        OpKind::SetAttr => linux.fchmod(file),
        OpKind::Lookup => linux.stat(file),
        OpKind::Access => linux.access(file),
        OpKind::ReadLink => linux.readlink(number % LINKS),
        OpKind::Read => {
            linux.read_through_cache(file);
            // Reading there detects the end of the file.
            linux.fstat(file);
        }
        OpKind::Write | OpKind::Commit => linux.write_and_fsync(file),
        OpKind::Create => linux.create(),
        OpKind::ReadDir | OpKind::ReadDirPlus => linux.list(),
        OpKind::FsStat => linux.statfs(),
        _ => linux.change_names(kind),
    }
}
