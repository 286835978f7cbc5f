//! A model of Linux's NFS client for mixes: the calls that its caches leave of system calls.
//!
//! The model covers the attribute cache with its time-outs, cached names, permissions, links,
//! listings and data, and the attributes that are fetched again at open. Its behaviour was measured
//! call by call with Linux 6.1 against its own server, by the client's own counters; the first test
//! in the module above is the table of those measurements.

use crate::mix::counters::{Counters, UnmappedCalls};
use filestone_workload::operation::OpKind;
use std::collections::{HashMap, HashSet};

/// Mount options of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mount {
    /// `vers=3` only.
    V3,
    /// `vers=4.2`.
    V4,
    /// `vers=3,lookupcache=none,noac`.
    V3WithoutCaches,
}

/// An object with attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Inode {
    Directory,
    File(u64),
    Link(u64),
}

/// Initial and maximum lifetime of cached attributes: acregmin, acdirmin, and acregmax, which
/// equals acdirmax.
const FILE_SECONDS_MIN: f64 = 3.0;
const DIRECTORY_SECONDS_MIN: f64 = 30.0;
const SECONDS_MAX: f64 = 60.0;

#[derive(Debug, Clone, Copy)]
struct Attributes {
    until: f64,
    seconds: f64,
}

/// State of one client.
#[derive(Debug, Clone)]
pub(super) struct Linux {
    mount: Mount,
    pub(super) now_s: f64,
    pub(super) counters: Counters,
    attributes: HashMap<Inode, Attributes>,
    permissions: HashSet<Inode>,
    contents: HashSet<Inode>,
}

impl Linux {
    pub(super) fn new(mount: Mount) -> Self {
        Self {
            mount,
            now_s: 0.0,
            counters: Counters::default(),
            attributes: HashMap::new(),
            permissions: HashSet::new(),
            contents: HashSet::new(),
        }
    }

    fn call(&mut self, kind: OpKind) {
        let kind = crate::mix::feedback::counted_as(kind, self.mount == Mount::V4);
        self.counters.calls[kind] += 1;
        self.counters.total += 1;
    }

    fn other_call(&mut self, name: &str) {
        let other: &mut UnmappedCalls = self.counters.others.entry(name.into()).or_default();
        other.calls += 1;
        self.counters.total += 1;
    }

    fn has_caches(&self) -> bool {
        self.mount != Mount::V3WithoutCaches
    }

    fn seconds_min(inode: Inode) -> f64 {
        match inode {
            Inode::Directory => DIRECTORY_SECONDS_MIN,
            Inode::File(_) | Inode::Link(_) => FILE_SECONDS_MIN,
        }
    }

    /// Caches the attributes of a reply.
    fn refresh(&mut self, inode: Inode) {
        let seconds = Self::seconds_min(inode);
        let now = self.now_s;
        let known = self.attributes.entry(inode).or_insert(Attributes {
            until: 0.0,
            seconds,
        });
        known.until = now + known.seconds;
    }

    /// Fetches attributes if they have expired; if they have not changed, their lifetime grows.
    fn revalidate(&mut self, inode: Inode) {
        let known = self.attributes.get(&inode).copied();
        if self.has_caches() && known.is_some_and(|known| self.now_s < known.until) {
            return;
        }
        self.call(OpKind::GetAttr);
        let seconds = known.map_or(Self::seconds_min(inode), |known| {
            (2.0 * known.seconds).min(SECONDS_MAX)
        });
        let until = self.now_s + seconds;
        self.attributes.insert(inode, Attributes { until, seconds });
    }

    /// Invalidates the caches of an object that was changed other than by its data.
    fn changed(&mut self, inode: Inode) {
        let seconds = Self::seconds_min(inode);
        let until = self.now_s + seconds;
        self.attributes.insert(inode, Attributes { until, seconds });
        self.permissions.remove(&inode);
        if matches!(inode, Inode::Link(_)) {
            self.contents.remove(&inode);
        }
    }

    /// Looks up a cached name.
    fn walk_to(&mut self, inode: Inode) {
        self.revalidate(Inode::Directory);
        if !self.has_caches() {
            self.call(OpKind::Lookup);
            self.refresh(inode);
        }
    }

    pub(super) fn stat(&mut self, inode: Inode) {
        self.walk_to(inode);
        self.revalidate(inode);
    }

    pub(super) fn stat_unknown_name(&mut self) {
        self.revalidate(Inode::Directory);
        self.call(OpKind::Lookup);
    }

    pub(super) fn statx_force_sync(&mut self, inode: Inode) {
        self.call(OpKind::GetAttr);
        self.refresh(inode);
    }

    pub(super) fn fstat(&mut self, inode: Inode) {
        self.revalidate(inode);
    }

    pub(super) fn fchmod(&mut self, inode: Inode) {
        self.call(OpKind::SetAttr);
        self.changed(inode);
    }

    pub(super) fn access_of_open(&mut self, inode: Inode) {
        if self.permissions.insert(inode) {
            self.call(OpKind::Access);
            self.refresh(inode);
        } else {
            self.revalidate(inode);
        }
    }

    pub(super) fn access(&mut self, inode: Inode) {
        self.walk_to(inode);
        self.access_of_open(inode);
    }

    /// Close-to-open consistency.
    pub(super) fn close_and_open(&mut self, inode: Inode) {
        match self.mount {
            Mount::V4 => self.other_call("open_noattr"),
            Mount::V3 | Mount::V3WithoutCaches => {
                self.walk_to(inode);
                self.call(OpKind::GetAttr);
                self.refresh(inode);
            }
        }
    }

    pub(super) fn read_direct(&mut self, inode: Inode) {
        self.call(OpKind::Read);
        self.refresh(inode);
    }

    /// A read after the pages were dropped from the cache.
    pub(super) fn read_through_cache(&mut self, inode: Inode) {
        self.revalidate(inode);
        self.read_direct(inode);
    }

    pub(super) fn write_direct(&mut self, inode: Inode) {
        self.call(OpKind::Write);
        self.refresh(inode);
    }

    /// A single stable WRITE needs no COMMIT.
    pub(super) fn write_and_fsync(&mut self, inode: Inode) {
        self.write_direct(inode);
    }

    /// A mount without caches writes at once, and stably.
    pub(super) fn write_back_and_fsync(&mut self, inode: Inode) {
        self.write_direct(inode);
        if self.has_caches() {
            self.call(OpKind::Commit);
        }
    }

    pub(super) fn write_direct_in_two(&mut self, inode: Inode) {
        self.write_direct(inode);
        self.write_direct(inode);
        self.call(OpKind::Commit);
    }

    pub(super) fn readlink(&mut self, link: u64) {
        let inode = Inode::Link(link);
        self.walk_to(inode);
        self.revalidate(inode);
        if self.contents.insert(inode) {
            self.call(OpKind::ReadLink);
        }
    }

    /// The client caches the target of a link that it has created.
    pub(super) fn symlink(&mut self, link: u64) {
        self.revalidate_without_caches(1, false);
        self.call(OpKind::SymLink);
        self.changed(Inode::Link(link));
        self.contents.insert(Inode::Link(link));
    }

    /// Creates a second name for an object.
    pub(super) fn link(&mut self, inode: Inode) {
        self.revalidate_without_caches(2, true);
        self.call(OpKind::Link);
        self.changed(inode);
    }

    /// Removes the second name: the reply has no attributes of the object.
    pub(super) fn unlink_second(&mut self, inode: Inode) {
        self.revalidate_without_caches(1, true);
        self.call(OpKind::Remove);
        self.changed(inode);
        self.attributes.remove(&inode);
    }

    pub(super) fn create(&mut self) {
        self.revalidate_without_caches(1, false);
        match self.mount {
            Mount::V4 => self.other_call("close"),
            Mount::V3 | Mount::V3WithoutCaches => self.call(OpKind::Lookup),
        }
        self.call(OpKind::Create);
        self.contents.remove(&Inode::Directory);
    }

    /// MKDIR, MKNOD, and operations that remove or rename an existing name.
    pub(super) fn change_names(&mut self, kind: OpKind) {
        match kind {
            OpKind::Remove | OpKind::RmDir => self.revalidate_without_caches(1, true),
            OpKind::Rename => self.revalidate_without_caches(2, true),
            _ => self.revalidate_without_caches(1, false),
        }
        self.call(kind);
        self.contents.remove(&Inode::Directory);
    }

    fn revalidate_without_caches(&mut self, times: u32, looks_up: bool) {
        if !self.has_caches() {
            (0..times).for_each(|_| self.call(OpKind::GetAttr));
            if looks_up {
                self.call(OpKind::Lookup);
            }
        }
    }

    /// Lists the whole directory, from the cache if it has not changed.
    pub(super) fn list(&mut self) {
        self.revalidate_without_caches(2, false);
        if self.contents.insert(Inode::Directory) {
            self.call(OpKind::ReadDirPlus);
        }
    }

    /// Lists the directory after its pages were dropped, from its start or from a position within
    /// it.
    pub(super) fn list_anew(&mut self, is_from_beginning: bool) {
        self.revalidate_without_caches(1, false);
        self.call(match is_from_beginning {
            true => OpKind::ReadDirPlus,
            false => OpKind::ReadDir,
        });
        self.contents.insert(Inode::Directory);
    }

    pub(super) fn statfs(&mut self) {
        self.call(OpKind::FsStat);
    }
}
