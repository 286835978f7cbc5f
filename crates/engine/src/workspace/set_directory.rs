//! The directory of a file set: claimed, taken over, given up, removed.
//!
//! A run makes it, and in it a marker with the recipe of the set. A directory without one is
//! foreign: nothing in it is touched. The marker is made first, removed last, and never missing
//! while there is anything else.
//!
//! A run that takes a set over puts a marker of its own in the place of the last one, by a
//! rename: only one run can make the next marker. Where there is no room for it, and for all
//! else that the owner has to say, the marker is written over in place.

use super::error::{ClaimError, Purpose};
use super::marker::{Liveness, LockHolder, Marker, Owner, ProcessIdentity};
use super::tree::{Directory, DirectoryOf, Found, MarkerLock, RefusalKind, Tree, TreeResult};
use filestone_plan::file_set::FileSetSpec;
pub(crate) use filestone_workload::load::MARKER;
use std::time::Duration;

/// What the next marker is called until it takes the place of the last one. The run that makes
/// it is the only one that changes the marker.
const NEXT_MARKER: &str = "made-by-filestone.next";
/// What to do about a set of which nothing is there yet but its directory.
const MADE_ANEW: &str = "the next run makes it anew, or remove it by hand";
/// How long a marker must stay as it was written in place before it counts: another run that
/// read the last one at the same time has written its own over it by then.
const SETTLE: Duration = Duration::from_millis(500);

/// What is done with a set of another recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnSpecMismatch {
    /// It is an error.
    Refuse,
    /// It is taken over, to be removed.
    TakeOver,
    /// Whatever its recipe, it is taken over to be removed; also if it is not known whether its run
    /// goes on.
    RemoveLeftOver,
}

/// The directory of a file set that this run has claimed.
#[derive(Debug)]
pub(crate) struct SetDirectory<H> {
    /// It.
    pub directory: Directory<H>,
    parent: Directory<H>,
    name: String,
    /// Keeps the marker locked; dropped before it is removed.
    lock: Option<MarkerLock>,
    /// The only run that it may be taken over from, which is known to be over.
    predecessor: Option<ProcessIdentity>,
    other: OnSpecMismatch,
}

/// What has the name of the set.
enum Occupant<H> {
    Nothing,
    /// A directory with a marker that was cut off and nothing else.
    Begun(Directory<H>),
    Owned(Directory<H>, FileSetSpec),
}

/// What the marker of a set says.
struct Reading {
    owner: Owner,
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

fn overtaken<H>(directory: &Directory<H>) -> ClaimError {
    let path = directory.path.clone();
    ClaimError::Overtaken { path }
}

/// An error unless the owner is certainly over, or the user says so.
fn check_over(owner: Owner, holder: LockHolder, other: OnSpecMismatch) -> Result<(), ClaimError> {
    let purpose = Purpose::FileSet;
    match owner.liveness(holder) {
        Liveness::Exited => Ok(()),
        Liveness::Unknown if other == OnSpecMismatch::RemoveLeftOver => Ok(()),
        Liveness::Alive => Err(ClaimError::InUse { owner, purpose }),
        Liveness::Unknown => Err(ClaimError::Unknown { owner, purpose }),
    }
}

/// The path of something in the directory that is no marker.
fn first_foreign<T: Tree>(tree: &mut T, at: &DirectoryOf<T>) -> TreeResult<Option<String>> {
    let name = tree.first_name(at, &[MARKER, NEXT_MARKER])?;
    Ok(name.map(|name| at.at(name)))
}

/// What has the name of a set in `parent`. What is foreign, and a set that is in use, are errors.
fn inspect<T: Tree>(
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
    // Each set has had its recipe from its first marker on: what has none is no set.
    match FileSetSpec::find(&text).filter(|_| Owner::read(path, &text).is_some()) {
        Some(recipe) => Ok(Occupant::Owned(directory, recipe)),
        None => Err(foreign(path, true).into()),
    }
}

impl<H> SetDirectory<H> {
    /// Makes the directory `name` in `parent`, or takes over the one that is there, if it is
    /// ours and no run works in it; and whether that has another recipe.
    pub fn claim(
        tree: &mut impl Tree<Handle = H>,
        parent: Directory<H>,
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
                // The old recipe stays until the last of the old set is gone.
                set.take_over(tree, &theirs)?;
                Ok((set, has_other))
            }
        }
    }

    /// Takes over what `owner`, a process that is known to be over, has at `name` in `parent`;
    /// nothing if what is there is another's. A directory in which there is nothing is removed: it is
    /// what such a process leaves that ends between two calls.
    pub fn inherit(
        tree: &mut impl Tree<Handle = H>,
        parent: Directory<H>,
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
        let marked = Owner::read(&set.directory.path, &text);
        match (marked, FileSetSpec::find(&text)) {
            (Some(marked), Some(recipe)) if marked.is_process(owner) => {
                set.take_over(tree, &recipe)?;
                Ok(Some(set))
            }
            (Some(_), Some(_)) => Ok(None),
            _ => Err(foreign(&set.directory.path, true).into()),
        }
    }

    fn new(directory: Directory<H>, parent: Directory<H>, name: &str) -> Self {
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
        tree: &mut impl Tree<Handle = H>,
        parent: Directory<H>,
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
                // It was made a moment ago, and nothing is in it but perhaps the marker. Both
                // calls are made even if the first has no answer: it may be executed yet.
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
        tree: &mut impl Tree<Handle = H>,
        name: &str,
        recipe: &FileSetSpec,
    ) -> TreeResult<Option<MarkerLock>> {
        let marker = Marker {
            is_given_up: false,
            lines: &recipe.to_string(),
        };
        tree.make_marker(&self.directory, name, &marker)
    }

    /// What the marker says, and who has locked it.
    fn read(&self, tree: &mut impl Tree<Handle = H>) -> TreeResult<Option<Reading>> {
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

    /// Writes another text over that of the marker.
    fn rewrite(
        &self,
        tree: &mut impl Tree<Handle = H>,
        is_given_up: bool,
        recipe: Option<&FileSetSpec>,
    ) -> TreeResult<()> {
        let lines = &recipe.map(FileSetSpec::to_string).unwrap_or_default();
        let marker = Marker { is_given_up, lines };
        tree.rewrite_marker(&self.directory, MARKER, &marker)
    }

    /// Enters this process into the marker, unless another run is faster.
    fn take_over(
        &mut self,
        tree: &mut impl Tree<Handle = H>,
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

    /// The same without room for anything new: of several runs that write into the marker at
    /// the same time, the last one has the set.
    fn take_over_in_place(
        &mut self,
        tree: &mut impl Tree<Handle = H>,
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

    /// An error unless the run that the marker names is over; the marker's lock.
    fn check_free(&self, tree: &mut impl Tree<Handle = H>) -> TreeResult<MarkerLock> {
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

    /// Whether it is the run that is known to be over.
    fn is_predecessor(&self, owner: &Owner) -> bool {
        let predecessor = self.predecessor.as_ref();
        predecessor.is_some_and(|predecessor| owner.is_process(predecessor))
    }

    /// Says in the marker that this process made the set by this recipe.
    pub fn enter_recipe(
        &self,
        tree: &mut impl Tree<Handle = H>,
        recipe: &FileSetSpec,
    ) -> TreeResult<()> {
        self.rewrite(tree, false, Some(recipe))
    }

    /// Gives the claim up; the set stays. Of a set that is not ours any more, nothing is changed.
    pub fn release(&self, tree: &mut impl Tree<Handle = H>) -> TreeResult<()> {
        match self.read(tree)? {
            Some(read) if read.owner.is_this_process() => {
                self.rewrite(tree, true, read.recipe.as_ref())
            }
            _ => Ok(()),
        }
    }

    fn is_ours(&self, tree: &mut impl Tree<Handle = H>) -> TreeResult<bool> {
        let read = self.read(tree)?;
        Ok(read.is_some_and(|read| read.owner.is_this_process()))
    }

    /// An error unless the marker says that this process uses the set.
    pub fn check_ours(&self, tree: &mut impl Tree<Handle = H>) -> TreeResult<()> {
        if self.is_ours(tree)? {
            return Ok(());
        }
        let path = self.directory.path.clone();
        Err(ClaimError::NotOwned { path }.into())
    }

    /// Removes a marker that a run did not put into its place before its end.
    fn clear_next(&self, tree: &mut impl Tree<Handle = H>) -> TreeResult<()> {
        let path = self.directory.at(NEXT_MARKER);
        match tree.read_marker(&self.directory, NEXT_MARKER)? {
            Some(found) => match found.owner(&self.directory.path) {
                Some(owner) if self.is_predecessor(&owner) => {}
                Some(owner) => check_over(owner, found.holder, self.other)?,
                // Without a word in it, the run ended between two calls.
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

    /// Removes the marker and the directory, of which everything else of ours is gone. What is
    /// foreign stays, and so do they.
    pub fn remove(&mut self, tree: &mut impl Tree<Handle = H>) -> TreeResult<()> {
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
