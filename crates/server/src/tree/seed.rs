//! The initial tree of a server.
//!
//! The data are synthetic and use no memory. The handles depend only on the options, so that
//! clients can continue with them after the server was killed and restarted.

use rustix::process::{getegid, geteuid};

use super::content::Content;
use super::directory::Directory;
use super::inode::{Inode, InodeKind, UnixNanoseconds};
use super::{InodeNumber, Tree, pattern};

/// Contents of `/export` at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitialTree {
    /// Size of `/export/file`, in bytes.
    pub file_size: u64,
    /// Number of files in `/export/files`: `file0000`, `file0001` and so on.
    pub small_file_count: u32,
    /// Size of each of these files, in bytes.
    pub small_file_size: u64,
    /// Owner of all objects.
    pub uid: u32,
    /// Group of all objects.
    pub gid: u32,
}

/// The tree belongs to the user that runs the server, like files that a server exports.
impl Default for InitialTree {
    fn default() -> Self {
        Self {
            file_size: 256 << 20,
            small_file_count: 1000,
            small_file_size: 4096,
            uid: geteuid().as_raw(),
            gid: getegid().as_raw(),
        }
    }
}

/// Name of the exported directory.
const EXPORT: &[u8] = b"export";

/// All users may write in the directories of the initial tree.
const DIRECTORY_MODE: u32 = 0o777;
const FILE_MODE: u32 = 0o666;

impl InitialTree {
    /// Creates the tree. `generation` is the first generation of objects created later; it should
    /// be random.
    pub fn plant(
        &self,
        generation: u64,
        memory_limit: u64,
        discard: bool,
        now: UnixNanoseconds,
    ) -> Tree {
        pattern::prepare();
        let mut tree = Tree::empty(self, discard, now);
        let export = tree.plant_directory(InodeNumber::ROOT, EXPORT, now);
        tree.plant_inode(
            export,
            b"file",
            InodeKind::File(Content::synthetic(self.file_size)),
            now,
        );
        let files = tree.plant_directory(export, b"files", now);
        for index in 0..self.small_file_count {
            let content = Content::synthetic(self.small_file_size);
            let name = format!("file{index:04}");
            tree.plant_inode(files, name.as_bytes(), InodeKind::File(content), now);
        }
        tree.plant_inode(
            export,
            b"link",
            InodeKind::Symlink(b"file".as_slice().into()),
            now,
        );
        tree.begin_life(generation, memory_limit);
        tree
    }

    /// Returns a digest of the options (FNV-1a): handles of a server with another tree are stale
    /// here.
    pub(super) fn lineage(&self) -> u64 {
        [
            self.file_size,
            u64::from(self.small_file_count),
            self.small_file_size,
        ]
        .iter()
        .flat_map(|word| word.to_be_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

impl Tree {
    /// Returns owner and group of the root.
    pub fn owner(&self) -> (u32, u32) {
        let root = self.inode(InodeNumber::ROOT);
        root.map_or((0, 0), |root| (root.uid, root.gid))
    }

    fn plant_directory(
        &mut self,
        parent: InodeNumber,
        name: &[u8],
        now: UnixNanoseconds,
    ) -> InodeNumber {
        let kind = InodeKind::Directory(Directory::new(parent));
        let number = self.plant_inode(parent, name, kind, now);
        if let Ok(parent) = self.directory_mut(parent) {
            parent.count_subdirectory(1);
        }
        number
    }

    fn plant_inode(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
        kind: InodeKind,
        now: UnixNanoseconds,
    ) -> InodeNumber {
        let mode = match kind {
            InodeKind::Directory(_) | InodeKind::Symlink(_) => DIRECTORY_MODE,
            _ => FILE_MODE,
        };
        let (uid, gid) = self.owner();
        let number = self.insert(Inode::new(kind, mode, uid, gid, now));
        self.insert_entry(directory, name, number, now)
            .expect("the initial tree is planted into directories that were just made");
        number
    }
}
