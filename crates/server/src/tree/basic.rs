//! Operations on objects that only SMB has: case-insensitive names, and SMB's times and attributes.

use std::sync::Arc;

use filestone_wire::nfs3::Status;
use filestone_wire::smb2::FileAttributes;

use super::inode::UnixNanoseconds;
use super::{InodeNumber, Tree, check_name};

/// An object, with its name as its directory spells it.
pub type NamedInode = (InodeNumber, Arc<[u8]>);

/// Times and attributes that SMB sets; `None` keeps the current value.
#[derive(Debug, Default, Clone, Copy)]
pub struct BasicChange {
    pub birth: Option<UnixNanoseconds>,
    pub atime: Option<UnixNanoseconds>,
    pub mtime: Option<UnixNanoseconds>,
    pub ctime: Option<UnixNanoseconds>,
    pub attributes: Option<FileAttributes>,
}

/// Attributes that are stored for SMB.
const KEPT: u32 = FileAttributes::READONLY.0
    | FileAttributes::HIDDEN.0
    | FileAttributes::SYSTEM.0
    | FileAttributes::ARCHIVE.0
    | FileAttributes::TEMPORARY.0
    | FileAttributes::OFFLINE.0;

impl Tree {
    /// Finds the entry of this name in any case, preferring the exact spelling; returns it with the
    /// directory's spelling.
    pub fn find_in_any_case(
        &mut self,
        directory: InodeNumber,
        name: &[u8],
    ) -> Result<Option<NamedInode>, Status> {
        check_name(name)?;
        let entries = self.directory_mut(directory)?;
        if let Some(number) = entries.find(name) {
            return Ok(Some((number, Arc::from(name))));
        }
        let found = entries.find_folded(name);
        Ok(found.and_then(|spelt| Some((entries.find(&spelt)?, spelt))))
    }

    /// Sets times and attributes.
    pub fn set_basic(&mut self, number: InodeNumber, change: BasicChange) -> Result<(), Status> {
        let inode = self.inode_mut(number)?;
        inode.birth = change.birth.unwrap_or(inode.birth);
        if let Some(atime) = change.atime {
            *inode.atime.get_mut() = atime;
        }
        inode.mtime = change.mtime.unwrap_or(inode.mtime);
        inode.ctime = change.ctime.unwrap_or(inode.ctime);
        if let Some(attributes) = change.attributes {
            inode.dos_attributes = attributes.0 & KEPT;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{CreateMode, Identity, InitialTree};
    const ROOT: Identity<'static> = Identity::unchecked(0, 0);

    use filestone_wire::nfs3::Sattr3;

    #[test]
    fn a_name_is_found_in_any_case_and_keeps_its_own() {
        let mut tree = InitialTree::default().plant(1, 1 << 20, false, 0);
        let root = InodeNumber::ROOT;
        let none = Sattr3::default();
        let make = |tree: &mut Tree, name: &str| {
            let mode = CreateMode::Guarded(&none);
            tree.create(root, name.as_bytes(), mode, ROOT, 1).unwrap()
        };
        let file = make(&mut tree, "Größe.TXT");
        let spelt = |tree: &mut Tree, name: &str| {
            let found = tree.find_in_any_case(root, name.as_bytes()).unwrap();
            found.map(|(number, name)| (number, String::from_utf8_lossy(&name).into_owned()))
        };
        let found = Some((file, "Größe.TXT".to_string()));
        assert_eq!(spelt(&mut tree, "GRÖßE.txt"), found);
        let other = make(&mut tree, "größe.txt");
        assert_eq!(spelt(&mut tree, "größe.txt").unwrap().0, other);
        assert_eq!(spelt(&mut tree, "GRÖßE.txt"), found, "the one made first");
        tree.remove(root, "Größe.TXT".as_bytes(), ROOT, 2).unwrap();
        assert_eq!(spelt(&mut tree, "GRÖßE.txt").unwrap().0, other);
        tree.remove(root, "größe.txt".as_bytes(), ROOT, 2).unwrap();
        assert_eq!(spelt(&mut tree, "GRÖßE.txt"), None);
    }

    #[test]
    fn what_is_held_outlives_its_name_but_not_its_hold() {
        let mut tree = InitialTree::default().plant(1, 1 << 20, false, 0);
        let export = tree.walk(b"export").unwrap();
        let file = tree.walk(b"export/file").unwrap();
        let (handle, count) = (tree.handle(file), tree.inode_count());
        tree.hold(file).unwrap();
        tree.remove(export, b"file", ROOT, 1).unwrap();
        assert_eq!(tree.resolve(&handle), Err(Status::STALE));
        assert!(tree.file(file).is_ok());
        assert_eq!(tree.inode_count(), count);
        tree.release_hold(file);
        assert!(tree.inode(file).is_err());
        assert_eq!(tree.inode_count(), count - 1);
    }
}
