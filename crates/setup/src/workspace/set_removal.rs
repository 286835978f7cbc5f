//! Removal of a file set's contents: the objects with names that filestone uses, and the
//! directories.
//!
//! Objects with other names stay, and so do their directories. Links are removed and never
//! followed, and mount points of other file systems are not touched.

use super::error::{ClaimError, Purpose};
use super::tree::{DirectoryOf, EntryName, FileTree, Found, TreeResult};
use filestone_plan::file_set::{SetEntry, client_of};
use filestone_workload::emptying::DeleteLoopGuard;

/// Names kept in memory before they are removed.
const BATCH: usize = 10_000;

/// Removes all objects of filestone in the directory of a set.
pub fn empty<T: FileTree>(tree: &mut T, set: &DirectoryOf<T>) -> TreeResult<()> {
    remove_directories(
        tree,
        set,
        &|name| client_of(name).is_some(),
        |tree, client, _| {
            let is_part = |name: &[u8]| SetEntry::of(name).is_some();
            remove_directories(
                tree,
                client,
                &is_part,
                |tree, directory, name| match SetEntry::of(name) {
                    Some(part) => {
                        remove_each(tree, directory, &|name| part.gives(name), |_, _| true)
                    }
                    None => Ok(()),
                },
            )
        },
    )
}

/// Removes the directories of filestone, after emptying them.
fn remove_directories<T: FileTree>(
    tree: &mut T,
    parent: &DirectoryOf<T>,
    is_ours: &dyn Fn(&[u8]) -> bool,
    mut empty: impl FnMut(&mut T, &DirectoryOf<T>, &[u8]) -> TreeResult<()>,
) -> TreeResult<()> {
    let mut emptying = DeleteLoopGuard::default();
    loop {
        let mut entries = Vec::new();
        let mut names = Vec::new();
        tree.list(parent, is_ours, &mut |name, entry| {
            if T::is_directory(entry) {
                entries.push(entry);
                names.push(EntryName::new(name, true));
            }
            names.len() >= BATCH
        })?;
        if names.is_empty() {
            return Ok(());
        }
        check_end(&mut emptying, &names, &parent.path)?;
        for (EntryName { name, .. }, entry) in names.iter().zip(entries) {
            if let Some(directory) = tree.record(parent, name, entry)? {
                empty(tree, &directory, name)?;
            }
        }
        remove(tree, parent, &names)?;
    }
}

/// Removes the objects with a name of filestone for which `is_doomed` is true, repeatedly until
/// none is listed: a directory that changes while it is read may skip some.
pub fn remove_each<T: FileTree>(
    tree: &mut T,
    at: &DirectoryOf<T>,
    is_ours: &dyn Fn(&[u8]) -> bool,
    mut is_doomed: impl FnMut(&[u8], T::Entry) -> bool,
) -> TreeResult<()> {
    let mut emptying = DeleteLoopGuard::default();
    loop {
        let mut names = Vec::new();
        tree.list(at, is_ours, &mut |name, entry| {
            if is_doomed(name, entry) {
                names.push(EntryName::new(name, T::is_directory(entry)));
            }
            names.len() >= BATCH
        })?;
        if names.is_empty() {
            return Ok(());
        }
        check_end(&mut emptying, &names, &at.path)?;
        remove(tree, at, &names)?;
    }
}

impl EntryName {
    fn new(name: &[u8], is_directory: bool) -> Self {
        let name = name.into();
        Self { name, is_directory }
    }
}

/// Returns an error if a directory lists removed names again and again.
fn check_end(emptying: &mut DeleteLoopGuard, listed: &[EntryName], path: &str) -> TreeResult<()> {
    if emptying.may_end(listed.iter().map(|name| &*name.name)) {
        return Ok(());
    }
    let (path, purpose) = (path.into(), Purpose::FileSet);
    Err(ClaimError::NeverEmpty { path, purpose }.into())
}

/// Removes names; a directory that is not empty contains a foreign object.
fn remove<T: FileTree>(
    tree: &mut T,
    parent: &DirectoryOf<T>,
    names: &[EntryName],
) -> TreeResult<()> {
    let kept = tree.remove_names(parent, names)?;
    let Some(EntryName { name, .. }) = kept.and_then(|index| names.get(index)) else {
        return Ok(());
    };
    let inside = match tree.find(parent, &String::from_utf8_lossy(name)) {
        Ok(Found::Directory(directory)) => {
            let first = tree.first_name(&directory, &[]).ok().flatten();
            first.map(|first| directory.at(first))
        }
        _ => None,
    };
    let path = parent.at(name);
    Err(ClaimError::NotEmpty { path, inside }.into())
}
