//! Resolution of paths of the share in the tree: case-insensitive names, symbolic links followed.

use std::sync::Arc;

use filestone_wire::smb2::Status;

use super::metadata::status_of;
use super::names::ParsedSharePath;
use crate::tree::basic::NamedInode;
use crate::tree::inode::InodeKind;
use crate::tree::{InodeNumber, Tree};

/// Largest number of symbolic links in a path: the value of Linux.
const LINKS_MAX: u32 = 40;

/// Last component of a resolved path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub parent: InodeNumber,
    /// Name with the directory's spelling, or the requested spelling if it does not exist.
    pub name: Arc<[u8]>,
    /// Object of the name, if it exists.
    pub object: Option<InodeNumber>,
}

/// Resolves a path from `root`.
pub fn locate(
    tree: &mut Tree,
    root: InodeNumber,
    path: &ParsedSharePath,
) -> Result<Located, Status> {
    let Some((last, before)) = path.split_last() else {
        let parent = tree.directory(root).map_err(status_of)?.parent();
        return Ok(Located {
            parent,
            name: Arc::from(&b"export"[..]),
            object: Some(root),
        });
    };
    let mut directory = root;
    for name in before {
        let found = find(tree, directory, name.as_bytes());
        let found = found.map_err(|_| Status::OBJECT_PATH_NOT_FOUND)?;
        let (number, _) = found.ok_or(Status::OBJECT_PATH_NOT_FOUND)?;
        directory = number;
    }
    if tree.directory(directory).is_err() {
        return Err(Status::OBJECT_PATH_NOT_FOUND);
    }
    let found = find(tree, directory, last.as_bytes())?;
    let (object, name) = match found {
        Some((number, name)) => (Some(number), name),
        None => (None, Arc::from(last.as_bytes())),
    };
    Ok(Located {
        parent: directory,
        name,
        object,
    })
}

/// Returns the object of a name, with the directory's spelling of the name.
fn find(
    tree: &mut Tree,
    directory: InodeNumber,
    name: &[u8],
) -> Result<Option<NamedInode>, Status> {
    let found = tree.find_in_any_case(directory, name).map_err(status_of)?;
    let Some((number, spelt)) = found else {
        return Ok(None);
    };
    let mut left = LINKS_MAX;
    Ok(Some((follow(tree, directory, number, &mut left)?, spelt)))
}

/// Returns the target of an entry that is a symbolic link, or the entry itself.
pub fn followed(
    tree: &Tree,
    directory: InodeNumber,
    number: InodeNumber,
) -> Result<InodeNumber, Status> {
    let mut left = LINKS_MAX;
    follow(tree, directory, number, &mut left)
}

fn follow(
    tree: &Tree,
    directory: InodeNumber,
    number: InodeNumber,
    left: &mut u32,
) -> Result<InodeNumber, Status> {
    let InodeKind::Symlink(target) = &tree.inode(number).map_err(status_of)?.kind else {
        return Ok(number);
    };
    *left = left.checked_sub(1).ok_or(Status::OBJECT_PATH_SYNTAX_BAD)?;
    let mut at = if target.starts_with(b"/") {
        InodeNumber::ROOT
    } else {
        directory
    };
    for name in target.split(|byte| *byte == b'/') {
        if !name.is_empty() {
            let next = tree.lookup(at, name).map_err(status_of)?;
            at = follow(tree, at, next, left)?;
        }
    }
    Ok(at)
}
