//! The directory of a file set: claimed, taken over, released, removed.
//!
//! A run makes it, and in it a marker with the spec of the set. A directory without a marker is
//! foreign: nothing in it is touched. The marker is made first, removed last, and always present
//! while there is anything else.
//!
//! A run that takes a set over renames a new marker over the last one: only one run can make the
//! next marker. If there is no room for it, the marker is overwritten in place, as for all other
//! changes by the owner.

use super::error::{ClaimError, Purpose};
use super::marker::{Liveness, LockHolder, Marker, MarkerOwner, ProcessIdentity};
use super::tree::{
    DirectoryOf, FileTree, Found, MarkerLock, RefusalKind, TreeDirectory, TreeResult,
};
use filestone_plan::file_set::FileSetSpec;
use filestone_workload::load::MARKER;
use std::time::Duration;

/// Name of the next marker until it replaces the last one. Only the run that makes it changes the
/// marker.
const NEXT_MARKER: &str = "made-by-filestone.next";
/// Advice for a set that only has its directory yet.
const MADE_ANEW: &str = "the next run makes it anew, or remove it by hand";
/// Time for which a marker written in place must stay unchanged before it counts: by then, another
/// run that read the last marker at the same time has overwritten it.
const SETTLE: Duration = Duration::from_millis(500);

/// Treatment of a set of another spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnSpecMismatch {
    /// Report an error.
    Refuse,
    /// Take the set over, for removal.
    TakeOver,
    /// Take the set over for removal, regardless of its spec, even if the state of its run is
    /// unknown.
    RemoveLeftOver,
}

/// The directory of a file set that this run has claimed.
#[derive(Debug)]
pub struct SetDirectory<H> {
    /// The directory.
    pub directory: TreeDirectory<H>,
    parent: TreeDirectory<H>,
    name: String,
    /// Lock on the marker; released before the marker is removed.
    lock: Option<MarkerLock>,
    /// The only run that it may be taken over from; that run is over.
    predecessor: Option<ProcessIdentity>,
    other: OnSpecMismatch,
}

/// Object that has the name of the set.
enum Occupant<H> {
    Nothing,
    /// A directory that contains only a truncated marker.
    Begun(TreeDirectory<H>),
    Owned(TreeDirectory<H>, FileSetSpec),
}

/// Contents and lock of a set's marker.
struct Reading {
    owner: MarkerOwner,
    recipe: Option<FileSetSpec>,
    lock: MarkerLock,
    holder: LockHolder,
}

fn foreign(path: &str, is_directory: bool) -> ClaimError {
    ClaimError::Foreign {
        path: path.into(),
        purpose: Purpose::FileSet,
        is_directory,
    }
}

fn overtaken<H>(directory: &TreeDirectory<H>) -> ClaimError {
    let path = directory.path.clone();
    ClaimError::Overtaken { path }
}

/// Returns an error unless the owner is certainly over, or the user requests the removal.
fn check_over(
    owner: MarkerOwner,
    holder: LockHolder,
    other: OnSpecMismatch,
) -> Result<(), ClaimError> {
    let purpose = Purpose::FileSet;
    match owner.liveness(holder) {
        Liveness::Exited => Ok(()),
        Liveness::Unknown if other == OnSpecMismatch::RemoveLeftOver => Ok(()),
        Liveness::Alive => Err(ClaimError::InUse { owner, purpose }),
        Liveness::Unknown => Err(ClaimError::Unknown { owner, purpose }),
    }
}

/// Returns the path of an object in the directory that is not a marker.
fn first_foreign<T: FileTree>(tree: &mut T, at: &DirectoryOf<T>) -> TreeResult<Option<String>> {
    let name = tree.first_name(at, &[MARKER, NEXT_MARKER])?;
    Ok(name.map(|name| at.at(name)))
}

/// Returns the object with the name of a set in `parent`. Foreign objects and sets in use are
/// errors.
fn inspect<T: FileTree>(
    tree: &mut T,
    parent: &DirectoryOf<T>,
    name: &str,
    other: OnSpecMismatch,
) -> TreeResult<Occupant<T::Handle>> {
    let directory = match tree.find(parent, name)? {
        Found::Nothing => return Ok(Occupant::Nothing),
        Found::Other => return Err(foreign(&parent.at(name), false).into()),
        Found::Directory(directory) => directory,
    };
    let path = &directory.path;
    let text = match tree.read_marker(&directory, MARKER)? {
        Some(found) => {
            let may_be_set = found.text.is_empty() || FileSetSpec::find(&found.text).is_some();
            if let Some(owner) = found.owner(path).filter(|_| may_be_set) {
                check_over(owner, found.holder, other)?;
            }
            found.text
        }
        None => match tree.find(&directory, NEXT_MARKER)? {
            Found::Other => String::new(),
            Found::Nothing | Found::Directory(_) => return Err(foreign(path, true).into()),
        },
    };
    if text.is_empty() && first_foreign(tree, &directory)?.is_none() {
        return Ok(Occupant::Begun(directory));
    }
    // Every set has its spec in its first marker: an object without a spec is not a set.
    match FileSetSpec::find(&text).filter(|_| MarkerOwner::read(path, &text).is_some()) {
        Some(recipe) => Ok(Occupant::Owned(directory, recipe)),
        None => Err(foreign(path, true).into()),
    }
}

impl<H> SetDirectory<H> {
    /// Makes the directory `name` in `parent`, or takes over the existing one, if filestone made it
    /// and no run works in it. Also returns whether the existing set has another spec.
    pub fn claim(
        tree: &mut impl FileTree<Handle = H>,
        parent: TreeDirectory<H>,
        name: &str,
        recipe: &FileSetSpec,
        other: OnSpecMismatch,
    ) -> TreeResult<(Self, bool)> {
        match inspect(tree, &parent, name, other)? {
            Occupant::Nothing => Ok((Self::make(tree, parent, name, recipe)?, false)),
            Occupant::Begun(directory) => {
                let mut begun = Self {
                    other,
                    ..Self::new(directory, parent, name)
                };
                begun.clear_next(tree)?;
                begun.remove(tree)?;
                Ok((Self::make(tree, begun.parent, name, recipe)?, false))
            }
            Occupant::Owned(directory, theirs) => {
                let has_other = &theirs != recipe || other == OnSpecMismatch::RemoveLeftOver;
                if has_other && other == OnSpecMismatch::Refuse {
                    let path = directory.path;
                    return Err(ClaimError::OtherRecipe { path }.into());
                }
                let mut set = Self {
                    other,
                    ..Self::new(directory, parent, name)
                };
                // The old spec stays until the last object of the old set is gone.
                set.take_over(tree, &theirs)?;
                Ok((set, has_other))
            }
        }
    }

    /// Takes over the set at `name` in `parent` from `owner`, a process that has ended; `None` if
    /// the set has another owner. An empty directory is removed: such a process leaves it if it
    /// ends between two calls.
    pub fn inherit(
        tree: &mut impl FileTree<Handle = H>,
        parent: TreeDirectory<H>,
        name: &str,
        owner: &ProcessIdentity,
    ) -> TreeResult<Option<Self>> {
        let Found::Directory(directory) = tree.find(&parent, name)? else {
            return Ok(None);
        };
        let found = tree.read_marker(&directory, MARKER)?;
        let mut set = Self {
            predecessor: Some(owner.clone()),
            ..Self::new(directory, parent, name)
        };
        let text = found.map(|found| found.text).unwrap_or_default();
        if text.is_empty() && first_foreign(tree, &set.directory)?.is_none() {
            set.clear_next(tree)?;
            return set.remove(tree).map(|()| None);
        }
        let marked = MarkerOwner::read(&set.directory.path, &text);
        match (marked, FileSetSpec::find(&text)) {
            (Some(marked), Some(recipe)) if marked.is_process(owner) => {
                set.take_over(tree, &recipe)?;
                Ok(Some(set))
            }
            (Some(_), Some(_)) => Ok(None),
            _ => Err(foreign(&set.directory.path, true).into()),
        }
    }

    fn new(directory: TreeDirectory<H>, parent: TreeDirectory<H>, name: &str) -> Self {
        Self {
            directory,
            parent,
            name: name.into(),
            lock: None,
            predecessor: None,
            other: OnSpecMismatch::Refuse,
        }
    }

    fn make(
        tree: &mut impl FileTree<Handle = H>,
        parent: TreeDirectory<H>,
        name: &str,
        recipe: &FileSetSpec,
    ) -> TreeResult<Self> {
        let Some(directory) = tree.make_directory(&parent, name)? else {
            let path = parent.at(name);
            return Err(ClaimError::Overtaken { path }.into());
        };
        let mut set = Self::new(directory, parent, name);
        set.lock = match set.make_marker(tree, MARKER, recipe) {
            Ok(lock) => lock,
            Err(refused) => {
                // It was made a moment ago, and contains at most the marker. Both calls are made
                // even if the first has no reply: it may still be executed.
                let unmarked = tree.remove_file(&set.directory, MARKER);
                let removed = unmarked.and(tree.remove_directory(&set.parent, name, false));
                return Err(refused.leaving(&set.directory.path, removed, MADE_ANEW));
            }
        };
        match set.lock {
            Some(_) => Ok(set),
            None => Err(overtaken(&set.directory).into()),
        }
    }

    fn make_marker(
        &self,
        tree: &mut impl FileTree<Handle = H>,
        name: &str,
        recipe: &FileSetSpec,
    ) -> TreeResult<Option<MarkerLock>> {
        let marker = Marker {
            is_given_up: false,
            lines: &recipe.to_string(),
        };
        tree.make_marker(&self.directory, name, &marker)
    }

    /// Reads the contents of the marker and the holder of its lock.
    fn read(&self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<Option<Reading>> {
        let found = tree.read_marker(&self.directory, MARKER)?;
        Ok(found.and_then(|found| {
            Some(Reading {
                owner: found.owner(&self.directory.path)?,
                recipe: FileSetSpec::find(&found.text),
                holder: found.holder,
                lock: found.lock,
            })
        }))
    }

    /// Overwrites the text of the marker.
    fn rewrite(
        &self,
        tree: &mut impl FileTree<Handle = H>,
        is_given_up: bool,
        recipe: Option<&FileSetSpec>,
    ) -> TreeResult<()> {
        let lines = &recipe.map(FileSetSpec::to_string).unwrap_or_default();
        let marker = Marker { is_given_up, lines };
        tree.rewrite_marker(&self.directory, MARKER, &marker)
    }

    /// Enters this process into the marker, unless another run does so first.
    fn take_over(
        &mut self,
        tree: &mut impl FileTree<Handle = H>,
        recipe: &FileSetSpec,
    ) -> TreeResult<()> {
        let mut made = self.make_marker(tree, NEXT_MARKER, recipe);
        if matches!(made, Ok(None)) {
            self.clear_next(tree)?;
            made = self.make_marker(tree, NEXT_MARKER, recipe);
        }
        let lock = match made {
            Err(refused) if refused.kind == RefusalKind::Full => {
                tree.remove_file(&self.directory, NEXT_MARKER).ok();
                return self.take_over_in_place(tree, recipe);
            }
            made => made?.ok_or_else(|| overtaken(&self.directory))?,
        };
        // From here on, no other run can take it over.
        if let Err(error) = self.check_free(tree) {
            tree.remove_file(&self.directory, NEXT_MARKER).ok();
            return Err(error);
        }
        if !tree.replace_marker(&self.directory, NEXT_MARKER, MARKER, &lock)? {
            return Err(overtaken(&self.directory).into());
        }
        self.lock = Some(lock);
        Ok(())
    }

    /// Takes the set over without room for a new marker: if several runs overwrite the marker at
    /// the same time, the last one gets the set.
    fn take_over_in_place(
        &mut self,
        tree: &mut impl FileTree<Handle = H>,
        recipe: &FileSetSpec,
    ) -> TreeResult<()> {
        self.lock = Some(self.check_free(tree)?);
        self.rewrite(tree, false, Some(recipe))?;
        tree.pause(SETTLE)?;
        if self.is_ours(tree)? {
            return Ok(());
        }
        self.check_free(tree)?;
        Err(overtaken(&self.directory).into())
    }

    /// Returns the marker's lock, or an error unless the run in the marker is over.
    fn check_free(&self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<MarkerLock> {
        let Some(read) = self.read(tree)? else {
            return Err(foreign(&self.directory.path, true).into());
        };
        if self.predecessor.is_none() || read.holder == LockHolder::Other {
            check_over(read.owner, read.holder, self.other)?;
        } else if !self.is_predecessor(&read.owner) {
            return Err(overtaken(&self.directory).into());
        }
        Ok(read.lock)
    }

    /// Returns whether the owner is the run that has certainly ended.
    fn is_predecessor(&self, owner: &MarkerOwner) -> bool {
        let predecessor = self.predecessor.as_ref();
        predecessor.is_some_and(|predecessor| owner.is_process(predecessor))
    }

    /// Writes to the marker that this process made the set with this spec.
    pub fn enter_recipe(
        &self,
        tree: &mut impl FileTree<Handle = H>,
        recipe: &FileSetSpec,
    ) -> TreeResult<()> {
        self.rewrite(tree, false, Some(recipe))
    }

    /// Releases the claim; the set stays. If the set belongs to another process by now, nothing is
    /// changed.
    pub fn release(&self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        match self.read(tree)? {
            Some(read) if read.owner.is_this_process() => {
                self.rewrite(tree, true, read.recipe.as_ref())
            }
            _ => Ok(()),
        }
    }

    fn is_ours(&self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<bool> {
        let read = self.read(tree)?;
        Ok(read.is_some_and(|read| read.owner.is_this_process()))
    }

    /// Returns an error unless the marker names this process as the user of the set.
    pub fn check_ours(&self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        if self.is_ours(tree)? {
            return Ok(());
        }
        let path = self.directory.path.clone();
        Err(ClaimError::NotOwned { path }.into())
    }

    /// Removes a next marker that an earlier run did not put in place before its end.
    fn clear_next(&self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        let path = self.directory.at(NEXT_MARKER);
        match tree.read_marker(&self.directory, NEXT_MARKER)? {
            Some(found) => match found.owner(&self.directory.path) {
                Some(owner) if self.is_predecessor(&owner) => {}
                Some(owner) => check_over(owner, found.holder, self.other)?,
                // If it is empty, the run ended between two calls.
                None if found.text.is_empty() => {}
                None => return Err(foreign(&path, true).into()),
            },
            None => match tree.find(&self.directory, NEXT_MARKER)? {
                Found::Nothing => return Ok(()),
                Found::Directory(_) | Found::Other => return Err(foreign(&path, true).into()),
            },
        }
        tree.remove_file(&self.directory, NEXT_MARKER)
    }

    /// Removes the marker and the directory; all other objects of filestone in it are gone. If it
    /// contains foreign objects, both stay.
    pub fn remove(&mut self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        if let Some(path) = first_foreign(tree, &self.directory)? {
            return Err(ClaimError::ForeignContent { path }.into());
        }
        for name in [NEXT_MARKER, MARKER] {
            tree.remove_file(&self.directory, name)?;
        }
        self.lock = None;
        tree.remove_directory(&self.parent, &self.name, true)
    }
}
