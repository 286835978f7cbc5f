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
use super::marker::{Liveness, LockHolder, Marker, Owner};
use super::tree::{At, Found, Step, Tree, join};
use crate::error::RunError;
use filestone_model::file_set::Recipe;
use std::time::Duration;

/// The file that names the owner and the recipe.
pub(crate) const MARKER: &str = "made-by-filestone";
/// What the next marker is called until it takes the place of the last one. The run that makes
/// it is the only one that changes the marker.
const NEXT_MARKER: &str = "made-by-filestone.next";
/// How long a marker must stay as it was written in place before it counts: another run that
/// read the last one at the same time has written its own over it by then.
const SETTLE: Duration = Duration::from_millis(500);

/// What is done with a set of another recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherRecipe {
    /// It is an error.
    Refuse,
    /// It is taken over, to be removed.
    TakeOver,
}

/// The directory of a file set that this run has claimed.
#[derive(Debug)]
pub(crate) struct SetDirectory<T: Tree> {
    /// Where it is.
    pub path: String,
    /// It.
    pub directory: T::Directory,
    parent: T::Directory,
    name: String,
    /// Keeps the marker locked; dropped before it is removed.
    lock: Option<T::Lock>,
}

/// What has the name of the set.
enum Occupant<T: Tree> {
    Nothing,
    /// A directory with a marker that was cut off and nothing else.
    Begun(T::Directory),
    Owned(T::Directory, Owner, LockHolder, Recipe),
}

/// What the marker of a set says.
struct Reading<L> {
    owner: Owner,
    recipe: Option<Recipe>,
    holder: LockHolder,
    lock: L,
}

/// Where a set is to be.
struct Place<'a, T: Tree> {
    parent: T::Directory,
    name: &'a str,
    path: String,
}

fn at(path: &str) -> At<'_> {
    let purpose = Purpose::FileSet;
    At { path, purpose }
}

fn foreign(path: &str, is_directory: bool) -> RunError {
    ClaimError::Foreign {
        path: path.into(),
        purpose: Purpose::FileSet,
        is_directory,
    }
    .into()
}

/// An error unless the owner is certainly over.
fn check_over(owner: Owner, holder: LockHolder) -> Result<(), RunError> {
    let purpose = Purpose::FileSet;
    Err(match owner.liveness(holder) {
        Liveness::Over => return Ok(()),
        Liveness::Running => ClaimError::InUse { owner, purpose },
        Liveness::Unknown => ClaimError::Unknown { owner, purpose },
    }
    .into())
}

/// The first name in the directory that is no marker's.
fn first_foreign<T: Tree>(
    tree: &mut T,
    directory: &T::Directory,
    path: &str,
) -> Result<Option<String>, RunError> {
    let name = tree.first_name(directory, &[MARKER, NEXT_MARKER]);
    let name = name.map_err(at(path).failed::<T>(Step::List))?;
    Ok(name.map(|name| join(path, &name)))
}

impl<T: Tree> Place<'_, T> {
    fn look(&self, tree: &mut T) -> Result<Occupant<T>, RunError> {
        let path = &self.path;
        let found = tree.find(&self.parent, self.name);
        let directory = match found.map_err(at(path).failed::<T>(Step::Find))? {
            Found::Nothing => return Ok(Occupant::Nothing),
            Found::Other => return Err(foreign(path, false)),
            Found::Directory(directory) => directory,
        };
        let found = tree.read_marker(&directory, MARKER);
        let found = found.map_err(at(path).failed::<T>(Step::ReadMarker))?;
        let (text, holder) = match found {
            Some(found) if found.text.is_empty() && found.is_locked_by_another() => {
                check_over(Owner::unknown(path), found.holder)?;
                (found.text, found.holder)
            }
            Some(found) => (found.text, found.holder),
            None if self.has_next(tree, &directory)? => (String::new(), LockHolder::None),
            None => return Err(foreign(path, true)),
        };
        if text.is_empty() && first_foreign(tree, &directory, path)?.is_none() {
            return Ok(Occupant::Begun(directory));
        }
        // Each set has had its recipe from its first marker on: what has none is no set.
        match Owner::read(path, &text).zip(Recipe::find(&text)) {
            Some((owner, recipe)) => Ok(Occupant::Owned(directory, owner, holder, recipe)),
            None => Err(foreign(path, true)),
        }
    }

    /// Whether there is a marker that has not been put into its place.
    fn has_next(&self, tree: &mut T, directory: &T::Directory) -> Result<bool, RunError> {
        let found = tree.find(directory, NEXT_MARKER);
        let found = found.map_err(at(&self.path).failed::<T>(Step::Find))?;
        Ok(matches!(found, Found::Other))
    }

    fn make(self, tree: &mut T, recipe: &Recipe) -> Result<SetDirectory<T>, RunError> {
        let made = tree.make_directory(&self.parent, self.name);
        let made = made.map_err(at(&self.path).failed::<T>(Step::MakeDirectory))?;
        let Some(directory) = made else {
            return Err(ClaimError::Overtaken { path: self.path }.into());
        };
        let mut set = self.claimed(directory);
        match set.make_marker(tree, MARKER, recipe) {
            Ok(Some(lock)) => {
                set.lock = Some(lock);
                Ok(set)
            }
            Ok(None) => Err(ClaimError::Overtaken { path: set.path }.into()),
            Err(error) => {
                // It was made a moment ago, and nothing is in it but perhaps the marker.
                tree.remove_file(&set.directory, MARKER).ok();
                tree.remove_directory(&set.parent, &set.name).ok();
                let path = join(&set.path, MARKER.as_bytes());
                Err(T::refused(error, Step::MakeMarker, &at(&path)))
            }
        }
    }

    fn claimed(self, directory: T::Directory) -> SetDirectory<T> {
        SetDirectory {
            path: self.path,
            directory,
            parent: self.parent,
            name: self.name.into(),
            lock: None,
        }
    }
}

impl<T: Tree> SetDirectory<T> {
    /// Makes the directory `name` in `parent`, which is at `path`, or takes over the one that
    /// is there, if it is ours and no run works in it; and whether that has another recipe.
    pub fn claim(
        tree: &mut T,
        parent: T::Directory,
        path: &str,
        name: &str,
        recipe: &Recipe,
        other: OtherRecipe,
    ) -> Result<(Self, bool), RunError> {
        let path = join(path, name.as_bytes());
        let place = Place { parent, name, path };
        match place.look(tree)? {
            Occupant::Nothing => Ok((place.make(tree, recipe)?, false)),
            Occupant::Begun(directory) => {
                let mut begun = place.claimed(directory);
                begun.clear_next(tree)?;
                begun.remove(tree)?;
                let (parent, path) = (begun.parent, begun.path);
                let place = Place { parent, name, path };
                Ok((place.make(tree, recipe)?, false))
            }
            Occupant::Owned(directory, owner, holder, theirs) => {
                check_over(owner, holder)?;
                let has_other = &theirs != recipe;
                if has_other && other == OtherRecipe::Refuse {
                    return Err(ClaimError::OtherRecipe { path: place.path }.into());
                }
                let mut set = place.claimed(directory);
                // The old recipe stays until the last of the old set is gone.
                set.take_over(tree, &theirs)?;
                Ok((set, has_other))
            }
        }
    }

    fn make_marker(
        &self,
        tree: &mut T,
        name: &str,
        recipe: &Recipe,
    ) -> Result<Option<T::Lock>, T::Error> {
        let marker = Marker {
            is_given_up: false,
            lines: &recipe.to_string(),
        };
        tree.make_marker(&self.directory, name, &marker)
    }

    fn read(&self, tree: &mut T) -> Result<Option<Reading<T::Lock>>, RunError> {
        let found = tree.read_marker(&self.directory, MARKER);
        let found = found.map_err(at(&self.path).failed::<T>(Step::ReadMarker))?;
        Ok(found.and_then(|found| {
            Some(Reading {
                owner: Owner::read(&self.path, &found.text)?,
                recipe: Recipe::find(&found.text),
                holder: found.holder,
                lock: found.lock,
            })
        }))
    }

    /// Writes another text over that of the marker.
    fn rewrite(
        &self,
        tree: &mut T,
        is_given_up: bool,
        recipe: Option<&Recipe>,
    ) -> Result<(), RunError> {
        let lines = recipe.map(Recipe::to_string).unwrap_or_default();
        let marker = Marker {
            is_given_up,
            lines: &lines,
        };
        let path = join(&self.path, MARKER.as_bytes());
        tree.rewrite_marker(&self.directory, MARKER, &marker)
            .map_err(at(&path).failed::<T>(Step::RewriteMarker))
    }

    /// Enters this process into the marker, unless another run is faster.
    fn take_over(&mut self, tree: &mut T, recipe: &Recipe) -> Result<(), RunError> {
        let next_path = join(&self.path, NEXT_MARKER.as_bytes());
        let mut made = self.make_marker(tree, NEXT_MARKER, recipe);
        if matches!(made, Ok(None)) {
            self.clear_next(tree)?;
            made = self.make_marker(tree, NEXT_MARKER, recipe);
        }
        if made.as_ref().is_err_and(T::is_full) {
            tree.remove_file(&self.directory, NEXT_MARKER).ok();
            return self.take_over_in_place(tree, recipe);
        }
        let made = made.map_err(at(&next_path).failed::<T>(Step::MakeMarker))?;
        let Some(lock) = made else {
            return Err(self.overtaken());
        };
        // From here on, no other run can take it over.
        if let Err(error) = self.check_free(tree) {
            tree.remove_file(&self.directory, NEXT_MARKER).ok();
            return Err(error);
        }
        let replaced = tree.replace_marker(&self.directory, NEXT_MARKER, MARKER, &lock);
        if !replaced.map_err(at(&next_path).failed::<T>(Step::ReplaceMarker))? {
            return Err(self.overtaken());
        }
        self.lock = Some(lock);
        Ok(())
    }

    /// The same without room for anything new: of several runs that write into the marker at
    /// the same time, the last one has the set.
    fn take_over_in_place(&mut self, tree: &mut T, recipe: &Recipe) -> Result<(), RunError> {
        self.lock = self.check_free(tree)?;
        self.rewrite(tree, false, Some(recipe))?;
        tree.pause(SETTLE)
            .map_err(at(&self.path).failed::<T>(Step::RewriteMarker))?;
        if self.is_ours(tree)? {
            return Ok(());
        }
        self.check_free(tree)?;
        Err(self.overtaken())
    }

    fn overtaken(&self) -> RunError {
        let path = self.path.clone();
        ClaimError::Overtaken { path }.into()
    }

    /// An error unless the run that the marker names is over; the marker's lock.
    fn check_free(&self, tree: &mut T) -> Result<Option<T::Lock>, RunError> {
        let Some(read) = self.read(tree)? else {
            return Err(foreign(&self.path, true));
        };
        check_over(read.owner, read.holder)?;
        Ok(Some(read.lock))
    }

    /// Says in the marker that this process made the set by this recipe.
    pub fn enter_recipe(&self, tree: &mut T, recipe: &Recipe) -> Result<(), RunError> {
        self.rewrite(tree, false, Some(recipe))
    }

    /// Gives the claim up; the set stays. Of a set that is not ours any more, nothing is changed.
    pub fn give_up(&self, tree: &mut T) -> Result<(), RunError> {
        if let Some(read) = self.read(tree)?
            && read.owner.is_this_process()
        {
            self.rewrite(tree, true, read.recipe.as_ref())?;
        }
        Ok(())
    }

    /// An error unless the marker says that this process uses the set.
    pub fn check_ours(&self, tree: &mut T) -> Result<(), RunError> {
        if self.is_ours(tree)? {
            return Ok(());
        }
        let path = self.path.clone();
        Err(ClaimError::NotOwned { path }.into())
    }

    fn is_ours(&self, tree: &mut T) -> Result<bool, RunError> {
        let read = self.read(tree)?;
        Ok(read.is_some_and(|read| read.owner.is_this_process()))
    }

    /// Removes a marker that a run did not put into its place before its end.
    fn clear_next(&self, tree: &mut T) -> Result<(), RunError> {
        let path = join(&self.path, NEXT_MARKER.as_bytes());
        let found = tree.read_marker(&self.directory, NEXT_MARKER);
        let found = found.map_err(at(&path).failed::<T>(Step::ReadMarker))?;
        let Some(found) = found else {
            return match tree.find(&self.directory, NEXT_MARKER) {
                Ok(Found::Nothing) => Ok(()),
                Ok(_) => Err(foreign(&path, true)),
                Err(error) => Err(T::refused(error, Step::Find, &at(&path))),
            };
        };
        match Owner::read(&self.path, &found.text) {
            Some(owner) => check_over(owner, found.holder)?,
            None if found.is_locked_by_another() => {
                check_over(Owner::unknown(&self.path), found.holder)?;
            }
            // Without a word in it, the run ended between two calls.
            None if found.text.is_empty() => {}
            None => return Err(foreign(&path, true)),
        }
        tree.remove_file(&self.directory, NEXT_MARKER)
            .map_err(at(&path).failed::<T>(Step::RemoveFile))
    }

    /// Removes the marker and the directory, of which everything else of ours is gone. What is
    /// foreign stays, and so do they.
    pub fn remove(&mut self, tree: &mut T) -> Result<(), RunError> {
        if let Some(path) = first_foreign(tree, &self.directory, &self.path)? {
            return Err(ClaimError::ForeignContent { path }.into());
        }
        for name in [NEXT_MARKER, MARKER] {
            let path = join(&self.path, name.as_bytes());
            tree.remove_file(&self.directory, name)
                .map_err(at(&path).failed::<T>(Step::RemoveFile))?;
        }
        self.lock = None;
        tree.remove_emptied(&self.parent, &self.name)
            .map_err(at(&self.path).failed::<T>(Step::RemoveDirectory))
    }
}
