//! Whose a file set is.
//!
//! A run makes the set's directory, and in it a marker that says which program made it, by
//! what recipe, and which process uses it. The marker is locked (flock) as long as the run
//! lives; where there are no locks, its text says whether the run has given it up. A
//! directory without a marker is somebody else's, unless there is nothing in it but the
//! marker that a run was about to put into its place.

use super::removal;
use crate::error::RunError;
use crate::replay::local::{marked_directory, nfs_mount};
use crate::workspace::marker::{Liveness, Marker, Owner as LeftOver};
use filestone_model::file_set::Recipe;
use filestone_model::plan::FileSetPlan;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The file that says whose the set is.
const MARKER: &str = "made-by-filestone";
/// What the next marker is called until it takes the place of the last one: it is never
/// missing, and never half written. Runs over a connection of their own do the same.
const NEXT_MARKER: &str = "made-by-filestone.next";
/// Directories are opened so, and links are not followed.
pub(super) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);
/// Nobody else has business in it, and nobody else can put links there.
const SET_MODE: Mode = Mode::from_raw_mode(0o700);

/// A file set that this run may use.
#[derive(Debug)]
pub(super) struct Claim {
    /// The directory under test.
    target: OwnedFd,
    name: String,
    /// Where the set is.
    pub path: PathBuf,
    /// Its directory.
    pub set: OwnedFd,
    /// Holds the lock.
    marker: Option<OwnedFd>,
    recipe: Recipe,
    /// The file system that it is on.
    device: u64,
}

/// Something is wrong with the directory.
fn unsuitable(path: &Path, what: &str, help: &str) -> RunError {
    RunError::Unsuitable(format!("{}: {what}", path.display()), Some(help.into()))
}

/// A refusal of the operating system, in words.
pub(super) fn refused(path: &Path, errno: Errno, doing: &str) -> RunError {
    let help = match errno {
        Errno::NOENT | Errno::NOTDIR => "the target of a mix is a directory that is there",
        Errno::ACCESS | Errno::PERM => "the directory must be writable for who runs filestone",
        Errno::ROFS => "a mix changes files; mount it read-write",
        Errno::NOSPC | Errno::DQUOT => "make room, or ask for a smaller set (--files, --file-size)",
        _ => "use another directory, or see what is wrong with this one",
    };
    let what = format!("{doing} failed: {}", std::io::Error::from(errno));
    unsuitable(path, &what, help)
}

impl Claim {
    /// Claims the set of `plan` in `directory`; the set's own directory is made if it is not there.
    pub fn of(directory: &Path, plan: &FileSetPlan) -> Result<Self, RunError> {
        // The one name that may be a link: the user gave it.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let target = rustix::fs::open(directory, flags, Mode::empty())
            .map_err(|errno| refused(directory, errno, "opening it"))?;
        let path = directory.join(&plan.name);
        let is_new = match rustix::fs::mkdirat(&target, &plan.name, SET_MODE) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(refused(&path, errno, "making it")),
        };
        let set = match rustix::fs::openat(&target, &plan.name, DIRECTORY, Mode::empty()) {
            Ok(set) => set,
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(is_somebodys(&path)),
            Err(errno) => return Err(refused(&path, errno, "opening it")),
        };
        let marker = marked_directory::open_marker(&set, MARKER)
            .map_err(|errno| refused(&path, errno, "opening its marker"))?;
        if marker.is_none() && !is_new && !was_begun(set.as_fd(), &path) {
            return Err(is_somebodys(&path));
        }
        let device = rustix::fs::fstat(&set)
            .map_err(|errno| refused(&path, errno, "looking at it"))?
            .st_dev;
        let mut claim = Self {
            target,
            name: plan.name.clone(),
            path,
            set,
            marker,
            recipe: Recipe::of(plan),
            device,
        };
        if let Some(marker) = &claim.marker {
            claim.lock_and_check(marker)?;
        }
        match claim.mark(false) {
            Err(error) if is_new => {
                // It was made a moment ago, and is taken away only if nothing is in it.
                rustix::fs::unlinkat(&claim.target, &claim.name, AtFlags::REMOVEDIR).ok();
                Err(error)
            }
            marked => marked.map(|()| claim),
        }
    }

    fn lock_and_check(&self, marker: &OwnedFd) -> Result<(), RunError> {
        let is_locked = self.lock(marker)?;
        // Another run may have put its own into the place of the one that was opened.
        if !self.is_at(marker, MARKER) {
            return Err(self.is_in_use("another run"));
        }
        let text = marked_directory::read_marker(marker)
            .map_err(|errno| refused(&self.path, errno, "reading its marker"))?;
        let Some(run) = LeftOver::read(&self.path.display().to_string(), &text) else {
            return Err(is_somebodys(&self.path));
        };
        if run.liveness(marked_directory::holder(is_locked)) != Liveness::Over {
            return Err(self.is_in_use(&run.process_in_words()));
        }
        match Recipe::find(&text) {
            Some(recipe) if recipe == self.recipe => Ok(()),
            _ => Err(unsuitable(
                &self.path,
                "is a file set of another recipe",
                "give this one a name of its own (--set), or remove that one with --remove-set \
                 and the options that made it",
            )),
        }
    }

    fn is_in_use(&self, whom: &str) -> RunError {
        unsuitable(
            &self.path,
            &format!("{whom} is using it, or has been broken off"),
            "wait for its end, or give this run a set of its own (--set); without locks, as on \
             some mounts, remove the set by hand",
        )
    }

    /// Locks a marker; `false` where there are no locks.
    fn lock(&self, marker: &OwnedFd) -> Result<bool, RunError> {
        nfs_mount::lock(marker).map_err(|errno| match errno {
            Errno::AGAIN => self.is_in_use("another run"),
            errno => refused(&self.path, errno, "locking its marker"),
        })
    }

    /// Whether this is the file of that name.
    fn is_at(&self, file: &OwnedFd, name: &str) -> bool {
        let there = rustix::fs::statat(&self.set, name, AtFlags::SYMLINK_NOFOLLOW);
        let file = rustix::fs::fstat(file);
        matches!((there, file), (Ok(there), Ok(file))
            if (there.st_dev, there.st_ino) == (file.st_dev, file.st_ino))
    }

    /// Puts another marker into the place of the one that is there: of a run that goes on, or
    /// of one that has given the set up.
    fn mark(&mut self, is_given_up: bool) -> Result<(), RunError> {
        let writing = |errno| refused(&self.path, errno, "writing its marker");
        // Whoever makes it is the only one who changes the marker.
        let next = match marked_directory::make_marker(&self.set, NEXT_MARKER) {
            Err(Errno::EXIST) => {
                self.clear_next()?;
                marked_directory::make_marker(&self.set, NEXT_MARKER)
            }
            made => made,
        };
        let next = next.map_err(writing)?;
        let placed = self.lock(&next).and_then(|is_locked| {
            let marker = Marker {
                is_given_up,
                lines: &self.recipe.to_string(),
            };
            let text = marker.text(is_locked);
            write_all(&next, text.as_bytes())
                .and_then(|()| rustix::fs::fsync(&next))
                .and_then(|()| rustix::fs::renameat(&self.set, NEXT_MARKER, &self.set, MARKER))
                .map_err(writing)
        });
        if let Err(error) = placed {
            if self.is_at(&next, NEXT_MARKER) {
                rustix::fs::unlinkat(&self.set, NEXT_MARKER, AtFlags::empty()).ok();
            }
            return Err(error);
        }
        if !self.is_at(&next, MARKER) {
            return Err(self.is_in_use("another run"));
        }
        self.marker = Some(next);
        Ok(())
    }

    /// Takes away a marker that a run did not put into its place before its end.
    fn clear_next(&self) -> Result<(), RunError> {
        let path = self.path.join(NEXT_MARKER);
        let next = marked_directory::open_marker(&self.set, NEXT_MARKER)
            .map_err(|errno| refused(&path, errno, "opening it"))?;
        let Some(next) = next else {
            let there = rustix::fs::statat(&self.set, NEXT_MARKER, AtFlags::SYMLINK_NOFOLLOW);
            return match there {
                Err(Errno::NOENT) => Ok(()),
                _ => Err(is_somebodys(&path)),
            };
        };
        let is_locked = self.lock(&next)?;
        let text = marked_directory::read_marker(&next)
            .map_err(|errno| refused(&path, errno, "reading it"))?;
        match LeftOver::read(&path.display().to_string(), &text) {
            Some(run) if run.liveness(marked_directory::holder(is_locked)) != Liveness::Over => {
                return Err(self.is_in_use(&run.process_in_words()));
            }
            Some(_) => {}
            // Without a word in it, the run ended between two calls.
            None if text.is_empty() => {}
            None => return Err(is_somebodys(&path)),
        }
        match rustix::fs::unlinkat(&self.set, NEXT_MARKER, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(refused(&path, errno, "removing it")),
        }
    }

    /// Lets the set stay for another run.
    pub fn give_up(mut self) -> Result<(), RunError> {
        self.mark(true)
    }

    /// Takes the set away. What has a name in it that we do not give stays, with the
    /// directories that it is in, and is an error; the set is nobody's then.
    pub fn remove(mut self) -> Result<(), RunError> {
        if let Err(error) = self.empty() {
            // The first error is the one to report.
            let _ = self.mark(true);
            return Err(error);
        }
        rustix::fs::unlinkat(&self.set, NEXT_MARKER, AtFlags::empty()).ok();
        let marker = (self.marker.take(), MARKER);
        marked_directory::remove((self.target.as_fd(), &self.name), &self.set, marker)
            .map_err(|errno| refused(&self.path, errno, "removing it"))
    }

    /// The marker goes last: what an interruption leaves is still known as ours.
    fn empty(&self) -> Result<(), RunError> {
        removal::empty(self.set.as_fd(), &self.path, self.device)?;
        removal::check_empty_but(self.set.as_fd(), &self.path, &[MARKER, NEXT_MARKER])
    }
}

/// Whether there is nothing in it but a marker that no run has put into its place.
fn was_begun(set: BorrowedFd<'_>, path: &Path) -> bool {
    let next = rustix::fs::statat(set, NEXT_MARKER, AtFlags::SYMLINK_NOFOLLOW);
    next.is_ok() && removal::check_empty_but(set, path, &[NEXT_MARKER]).is_ok()
}

fn write_all(file: &OwnedFd, text: &[u8]) -> Result<(), Errno> {
    match rustix::io::pwrite(file, text, 0)? == text.len() {
        true => Ok(()),
        false => Err(Errno::NOSPC),
    }
}

fn is_somebodys(path: &Path) -> RunError {
    unsuitable(
        path,
        "was not made by filestone: nothing has been touched",
        "move it away, or give the set another name (--set)",
    )
}
