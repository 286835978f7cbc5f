//! What is in a file set, removed: what has a name that we give, and the directories.
//!
//! What has another name stays, and so do the directories that it is in. Links are removed and
//! never followed, and what is mounted from another file system is left alone.

use super::emptying::Emptying;
use super::error::{ClaimError, Purpose};
use super::tree::{Found, Tree, join};
use crate::error::RunError;
use filestone_model::file_set::{Part, client_of};

/// Names kept in memory before they are removed.
const BATCH: usize = 10_000;

/// A name, and whether it is a directory's.
#[derive(Debug)]
pub(crate) struct Name {
    pub name: Box<[u8]>,
    pub is_directory: bool,
}

/// A tree in which a file set is.
pub(crate) trait SetTree {
    /// A directory.
    type Directory;
    /// The tree by itself.
    type Tree: Tree<Directory = Self::Directory>;
    /// What a listing says of an entry.
    type Entry: Copy;

    /// The tree by itself.
    fn tree(&mut self) -> &mut Self::Tree;

    /// Shows the entries whose names are wanted, until `each` has seen enough and says so.
    fn list(
        &mut self,
        at: &Located<'_, Self::Directory>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], Self::Entry) -> bool,
    ) -> Result<(), RunError>;

    /// Whether the entry is a directory.
    fn is_directory(entry: Self::Entry) -> bool;

    /// Opens a directory that was listed; `None` if it is gone.
    fn enter(
        &mut self,
        parent: &Located<'_, Self::Directory>,
        name: &[u8],
        entry: Self::Entry,
    ) -> Result<Option<Self::Directory>, RunError>;

    /// Removes names; the first that is a directory's with something in it.
    fn remove_names(
        &mut self,
        parent: &Located<'_, Self::Directory>,
        names: &[Name],
    ) -> Result<Option<usize>, RunError>;
}

/// A directory with its path.
#[derive(Debug)]
pub(crate) struct Located<'a, D> {
    pub directory: &'a D,
    pub path: &'a str,
}

/// Removes everything of ours in the directory of a set.
pub(crate) fn empty<T: SetTree>(
    tree: &mut T,
    set: &Located<'_, T::Directory>,
) -> Result<(), RunError> {
    remove_directories(
        tree,
        set,
        &|name| client_of(name).is_some(),
        |tree, client, _| {
            let is_part = |name: &[u8]| Part::of(name).is_some();
            remove_directories(
                tree,
                client,
                &is_part,
                |tree, directory, name| match Part::of(name) {
                    Some(part) => {
                        remove_each(tree, directory, &|name| part.gives(name), |_, _| true)
                    }
                    None => Ok(()),
                },
            )
        },
    )
}

/// Removes the directories that are ours, after emptying them.
fn remove_directories<T: SetTree>(
    tree: &mut T,
    parent: &Located<'_, T::Directory>,
    is_ours: &dyn Fn(&[u8]) -> bool,
    mut empty: impl FnMut(&mut T, &Located<'_, T::Directory>, &[u8]) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let mut emptying = Emptying::default();
    loop {
        let mut entries = Vec::new();
        let mut names = Vec::new();
        tree.list(parent, is_ours, &mut |name, entry| {
            if T::is_directory(entry) {
                entries.push(entry);
                names.push(Name::new(name, true));
            }
            names.len() >= BATCH
        })?;
        if names.is_empty() {
            return Ok(());
        }
        check_end(&mut emptying, &names, parent.path)?;
        for (Name { name, .. }, entry) in names.iter().zip(entries) {
            if let Some(directory) = tree.enter(parent, name, entry)? {
                let path = &join(parent.path, name);
                empty(
                    tree,
                    &Located {
                        directory: &directory,
                        path,
                    },
                    name,
                )?;
            }
        }
        remove(tree, parent, &names)?;
    }
}

/// Removes what has a name of ours and is doomed, again and again until nothing such is listed: a
/// directory that changes while it is read may skip some.
pub(crate) fn remove_each<T: SetTree>(
    tree: &mut T,
    at: &Located<'_, T::Directory>,
    is_ours: &dyn Fn(&[u8]) -> bool,
    mut is_doomed: impl FnMut(&[u8], T::Entry) -> bool,
) -> Result<(), RunError> {
    let mut emptying = Emptying::default();
    loop {
        let mut names = Vec::new();
        tree.list(at, is_ours, &mut |name, entry| {
            if is_doomed(name, entry) {
                names.push(Name::new(name, T::is_directory(entry)));
            }
            names.len() >= BATCH
        })?;
        if names.is_empty() {
            return Ok(());
        }
        check_end(&mut emptying, &names, at.path)?;
        remove(tree, at, &names)?;
    }
}

impl Name {
    fn new(name: &[u8], is_directory: bool) -> Self {
        let name = name.into();
        Self { name, is_directory }
    }
}

/// An error if a directory lists again and again what has been removed from it.
fn check_end(emptying: &mut Emptying, listed: &[Name], path: &str) -> Result<(), RunError> {
    if emptying.may_end(listed.iter().map(|name| &*name.name)) {
        return Ok(());
    }
    let (path, purpose) = (path.into(), Purpose::FileSet);
    Err(ClaimError::NeverEmpty { path, purpose }.into())
}

/// Removes names; what is not empty has something foreign in it.
fn remove<T: SetTree>(
    tree: &mut T,
    parent: &Located<'_, T::Directory>,
    names: &[Name],
) -> Result<(), RunError> {
    let kept = tree.remove_names(parent, names)?;
    let Some(Name { name, .. }) = kept.and_then(|index| names.get(index)) else {
        return Ok(());
    };
    let tree = tree.tree();
    let inside = match tree.find(parent.directory, &String::from_utf8_lossy(name)) {
        Ok(Found::Directory(directory)) => tree.first_name(&directory, &[]),
        _ => Ok(None),
    };
    let path = join(parent.path, name);
    let inside = inside.ok().flatten().map(|name| join(&path, &name));
    Err(ClaimError::NotEmpty { path, inside }.into())
}
