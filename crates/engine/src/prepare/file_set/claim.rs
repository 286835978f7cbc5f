//! Whose the directory of a file set is, and which run works in it now.
//!
//! The directory carries a marker with the recipe of the set and the process that uses it.
//! A directory without one is somebody else's: nothing in it is touched. The marker is made
//! first, taken away last, and never missing while there is anything else.
//!
//! Whoever takes a set over puts a marker of its own in the place of the last one, by RENAME:
//! only one run can make the next marker. On a server that has no room for it, and for all else
//! that the owner has to say, the marker is written over in place (`marker_file`).

use super::listing::{self, Object};
use crate::error::RunError;
use crate::prepare::own_directory::{MARKER, join};
use crate::replay::nfs3::calls::{Failure, Nfs, Outcome};
use crate::replay::nfs3::remove::gone;
use crate::workspace::marker::{Liveness, LockHolder, Marker, Owner as LeftOver};
use filestone_model::file_set::Recipe;
use filestone_model::load::Status as LoadStatus;
use filestone_wire::nfs3::{FileType, Handle, Status};
use std::time::Duration;

/// What the next marker is called until it takes the place of the last one. Whoever makes
/// it is the only one who changes the marker.
const NEXT_MARKER: &str = "made-by-filestone.next";
const MARKER_MODE: u32 = 0o644;
/// How long a marker must stay as it was written in place before it counts: another run that
/// read the last one at the same time has written its own over it by then.
const SETTLE: Duration = Duration::from_millis(500);

/// The directory of a set, and the directory that it is in.
#[derive(Debug, Clone)]
pub struct Home {
    /// Where it is.
    pub path: String,
    parent: Handle,
    name: String,
    /// Its handle.
    pub handle: Handle,
}

/// What stands where the set shall be.
enum Found {
    Nothing,
    Somebodys(FileType),
    /// A directory with an empty marker and nothing else: its run was cut off.
    Begun(Handle),
    Ours(Handle, LeftOver, Recipe),
}

/// What was there when the directory was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing, or a set of the same recipe.
    Welcome,
    /// A set of another recipe, to be removed.
    Other,
}

/// A failure with its place.
pub fn error_at(path: &str, procedure: &'static str, failure: Failure) -> RunError {
    match failure {
        Failure::Lost(lost) if lost.is_stop() => RunError::Interrupted,
        Failure::Lost(lost) => RunError::Unsuitable(
            lost.what.to_string(),
            Some("is the server still there?".into()),
        ),
        Failure::Answered(LoadStatus::Nfs(number)) => RunError::Nfs {
            path: path.into(),
            procedure,
            status: Status(number),
        },
        Failure::Answered(other) => RunError::Internal(format!("{procedure}: {other:?}")),
    }
}

fn unsuitable(what: String, help: String) -> RunError {
    RunError::Unsuitable(what, Some(help))
}

/// The object of this name with its attributes; `None` if there is none.
fn find(nfs: &mut Nfs, directory: &Handle, name: &str) -> Outcome<Option<Object>> {
    listing::find(nfs, directory, name.as_bytes())
}

fn look(nfs: &mut Nfs, parent: &Handle, name: &str, path: &str) -> Outcome<Found> {
    let Some(found) = find(nfs, parent, name)? else {
        return Ok(Found::Nothing);
    };
    let somebodys = Found::Somebodys(found.file_type);
    if found.file_type != FileType::Directory {
        return Ok(somebodys);
    }
    let Some(text) = nfs.read_marker(&found.handle, MARKER.as_bytes())? else {
        return Ok(somebodys);
    };
    if text.is_empty() && foreign_name(nfs, &found.handle)?.is_none() {
        return Ok(Found::Begun(found.handle));
    }
    // Each set has had its recipe from its first marker on: what has none is no set.
    let run = LeftOver::read(path, &text);
    Ok(match run.zip(Recipe::find(&text)) {
        Some((run, recipe)) => Found::Ours(found.handle, run, recipe),
        None => somebodys,
    })
}

/// A name in the directory that is not a marker's; `None` if there is none.
fn foreign_name(nfs: &mut Nfs, directory: &Handle) -> Outcome<Option<Box<[u8]>>> {
    let known = [MARKER, NEXT_MARKER, ".", ".."];
    let is_foreign = |name: &[u8]| known.iter().all(|known| known.as_bytes() != name);
    let mut foreign = None;
    listing::list(nfs, directory, is_foreign, |name, _| {
        foreign = Some(name.into());
        true
    })?;
    Ok(foreign)
}

fn not_ours(path: &str, file_type: FileType) -> RunError {
    let is = match file_type {
        FileType::Directory => "was not made by filestone",
        _ => "is no directory",
    };
    unsuitable(
        format!("{path}: {is}: nothing has been touched"),
        "move it away, or give the file set another name or directory".into(),
    )
}

/// An error unless the run that the marker names is certainly over.
fn check_over(run: &LeftOver, path: &str) -> Result<(), RunError> {
    let (process, started) = (run.process_in_words(), run.started_in_words());
    match run.liveness(LockHolder::None) {
        Liveness::Over => Ok(()),
        Liveness::Running => Err(unsuitable(
            format!("{path}: another run is using this file set ({process})"),
            "wait for its end, or give the file set another name or directory".into(),
        )),
        Liveness::Unknown => Err(unsuitable(
            format!(
                "{path}: this file set is left over, or in use, by {process}, \
                 whose run began {started}"
            ),
            format!(
                "if that run is over, add a line \"given up\" to {MARKER} in it; \
                 or give the file set another name or directory"
            ),
        )),
    }
}

/// A marker's text.
fn text_of(is_given_up: bool, recipe: Option<&Recipe>) -> String {
    let recipe = recipe.map(Recipe::to_string).unwrap_or_default();
    let marker = Marker {
        is_given_up,
        lines: &recipe,
    };
    marker.text(false)
}

/// Whether the server has no room for what was to be made.
fn is_full(made: &Outcome<()>) -> bool {
    let statuses = [Status::NOSPC, Status::DQUOT];
    let is_full = |failure: &Failure| statuses.iter().any(|status| failure.is(*status));
    made.as_ref().is_err_and(is_full)
}

impl Home {
    /// Makes the directory `name` in `parent`, which is at `path`, or takes over the one that
    /// is there, if it is ours and no run works in it.
    pub fn claim(
        nfs: &mut Nfs,
        (path, parent): (&str, Handle),
        name: &str,
        recipe: &Recipe,
    ) -> Result<(Self, Before), RunError> {
        let path = join(path, name.as_bytes());
        let found = look(nfs, &parent, name, &path);
        let mut home = Self {
            parent,
            name: name.into(),
            handle: Handle::EMPTY,
            path,
        };
        match found.map_err(|failure| error_at(&home.path, "LOOKUP", failure))? {
            Found::Nothing => {
                home.make(nfs, recipe)?;
                Ok((home, Before::Welcome))
            }
            Found::Somebodys(file_type) => Err(not_ours(&home.path, file_type)),
            Found::Begun(handle) => {
                home.handle = handle;
                home.remove(nfs)?;
                home.make(nfs, recipe)?;
                Ok((home, Before::Welcome))
            }
            Found::Ours(handle, run, theirs) => {
                check_over(&run, &home.path)?;
                home.handle = handle;
                let before = match &theirs == recipe {
                    true => Before::Welcome,
                    false => Before::Other,
                };
                // The old recipe stays until the last of the old set is gone.
                home.take_over(nfs, &theirs)?;
                Ok((home, before))
            }
        }
    }

    fn make(&mut self, nfs: &mut Nfs, recipe: &Recipe) -> Result<(), RunError> {
        let name = self.name.as_bytes();
        self.handle = nfs
            .make_own_directory(&self.parent, name, 0o755)
            .map_err(|failure| error_at(&self.path, "MKDIR", failure))?;
        let text = text_of(false, Some(recipe));
        self.mark(nfs, MARKER, &text).map_err(|failure| {
            // It was made a moment ago, and nothing is in it but perhaps the marker.
            nfs.remove(&self.handle, MARKER.as_bytes()).ok();
            nfs.remove_directory(&self.parent, name).ok();
            error_at(&join(&self.path, MARKER.as_bytes()), "CREATE", failure)
        })
    }

    /// Makes a marker, or nothing.
    fn mark(&self, nfs: &mut Nfs, name: &str, text: &str) -> Outcome<()> {
        let made = nfs.make_marker(&self.handle, name.as_bytes(), MARKER_MODE, text);
        if is_full(&made) {
            nfs.remove(&self.handle, name.as_bytes()).ok();
        }
        made
    }

    /// What the marker says; nothing if there is none.
    fn text(&self, nfs: &mut Nfs) -> Result<String, RunError> {
        let text = nfs.read_marker(&self.handle, MARKER.as_bytes());
        text.map(Option::unwrap_or_default)
            .map_err(|failure| error_at(&self.path, "READ", failure))
    }

    /// Writes another text over that of the marker.
    fn rewrite(&self, nfs: &mut Nfs, text: &str) -> Result<(), RunError> {
        let rewritten = nfs.rewrite_marker(&self.handle, MARKER.as_bytes(), text);
        let path = || join(&self.path, MARKER.as_bytes());
        rewritten.map_err(|failure| error_at(&path(), "WRITE", failure))
    }

    /// Enters this process into the marker, unless another run is faster.
    fn take_over(&self, nfs: &mut Nfs, recipe: &Recipe) -> Result<(), RunError> {
        let text = text_of(false, Some(recipe));
        let next = NEXT_MARKER.as_bytes();
        let at = |procedure| {
            let path = join(&self.path, next);
            move |failure| error_at(&path, procedure, failure)
        };
        let mut made = self.mark(nfs, NEXT_MARKER, &text);
        if made
            .as_ref()
            .is_err_and(|failure| failure.is(Status::EXIST))
        {
            self.clear_next(nfs)?;
            made = self.mark(nfs, NEXT_MARKER, &text);
        }
        if is_full(&made) {
            return self.take_over_in_place(nfs, &text);
        }
        made.map_err(at("CREATE"))?;
        // From here on, nobody else can take it over.
        if let Err(error) = self.check_free(nfs) {
            nfs.remove(&self.handle, next).ok();
            return Err(error);
        }
        let from = (&self.handle, next);
        match nfs.rename(from, (&self.handle, MARKER.as_bytes())) {
            // Sent twice, and done the first time.
            Err(failure) if failure.is(Status::NOENT) && nfs.0.was_resent() => Ok(()),
            renamed => renamed.map_err(at("RENAME")),
        }
    }

    /// The same without room for anything new: of several runs that write into the marker at
    /// the same time, the last one has the set.
    fn take_over_in_place(&self, nfs: &mut Nfs, text: &str) -> Result<(), RunError> {
        self.check_free(nfs)?;
        self.rewrite(nfs, text)?;
        nfs.0
            .wait(SETTLE)
            .map_err(|lost| error_at(&self.path, "WRITE", lost.into()))?;
        if self.is_ours(nfs)? {
            return Ok(());
        }
        self.check_free(nfs)?;
        Err(unsuitable(
            format!("{}: another run was faster", self.path),
            "try again, or give the file set another name or directory".into(),
        ))
    }

    /// An error unless the run that the marker names is over.
    fn check_free(&self, nfs: &mut Nfs) -> Result<(), RunError> {
        let text = self.text(nfs)?;
        match LeftOver::read(&self.path, &text) {
            Some(run) => check_over(&run, &self.path),
            None => Err(not_ours(&self.path, FileType::Directory)),
        }
    }

    /// Says in the marker that this process made the set by this recipe.
    pub fn enter_recipe(&self, nfs: &mut Nfs, recipe: &Recipe) -> Result<(), RunError> {
        self.rewrite(nfs, &text_of(false, Some(recipe)))
    }

    /// Gives the claim up; the set stays. Of a set that is not ours any more, nothing is changed.
    pub fn release(&self, nfs: &mut Nfs) -> Result<(), RunError> {
        if !self.is_ours(nfs)? {
            return Ok(());
        }
        let recipe = Recipe::find(&self.text(nfs)?);
        self.rewrite(nfs, &text_of(true, recipe.as_ref()))
    }

    /// Whether the marker says that this process uses the set.
    pub fn is_ours(&self, nfs: &mut Nfs) -> Result<bool, RunError> {
        let text = self.text(nfs)?;
        let run = LeftOver::read(&self.path, &text);
        Ok(run.is_some_and(|run| run.is_this_process()))
    }

    /// Takes away a marker that a run did not put into its place before its end.
    fn clear_next(&self, nfs: &mut Nfs) -> Result<(), RunError> {
        let path = join(&self.path, NEXT_MARKER.as_bytes());
        let text = nfs
            .read_marker(&self.handle, NEXT_MARKER.as_bytes())
            .map_err(|failure| error_at(&path, "READ", failure))?
            .unwrap_or_default();
        // Without a word in it, the run ended between two calls.
        if let Some(run) = LeftOver::read(&path, &text) {
            check_over(&run, &self.path)?;
        } else if !text.is_empty() {
            return Err(not_ours(&path, FileType::Directory));
        }
        gone(nfs.remove(&self.handle, NEXT_MARKER.as_bytes()))
            .map_err(|failure| error_at(&path, "REMOVE", failure))
    }

    /// Takes the marker and the directory away, of which everything else of ours is gone. What
    /// is not ours stays, and so do they.
    pub fn remove(&self, nfs: &mut Nfs) -> Result<(), RunError> {
        let foreign = foreign_name(nfs, &self.handle)
            .map_err(|failure| error_at(&self.path, "READDIRPLUS", failure))?;
        if let Some(name) = foreign {
            return Err(unsuitable(
                format!(
                    "{}: was not made by filestone: it has not been touched",
                    join(&self.path, &name)
                ),
                "move it away; the rest of the file set can be removed then".into(),
            ));
        }
        for name in [NEXT_MARKER, MARKER] {
            gone(nfs.remove(&self.handle, name.as_bytes())).map_err(|failure| {
                error_at(&join(&self.path, name.as_bytes()), "REMOVE", failure)
            })?;
        }
        gone(nfs.remove_directory(&self.parent, self.name.as_bytes()))
            .map_err(|failure| error_at(&self.path, "RMDIR", failure))
    }
}
