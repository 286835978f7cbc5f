//! Whose the directory `clients` is.
//!
//! A run makes it, and in it a marker that says which process made it and when, and
//! locks that as long as it lives (`marked_directory`). A directory without a marker is
//! somebody else's.

use super::deletion::{self, NotRemoved};
use super::listing::{Listing, is_dot};
use super::names::DIRECTORY;
use super::{marked_directory, nfs_mount};
use crate::error::RunError;
use crate::replay::site::{BESIDE, Beside, CLIENTS, MARKER};
use crate::workspace::marker::{Liveness, Marker, Owner as LeftOver};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Nobody else has business in it, and nobody else can put links there.
const CLIENTS_MODE: Mode = Mode::from_raw_mode(0o700);

/// `clients`, claimed.
#[derive(Debug)]
pub(super) struct Claim {
    /// The directory `clients`.
    pub clients: OwnedFd,
    /// Holds the lock; closed before `clients` goes.
    pub marker: Option<OwnedFd>,
    /// The file system that it is on.
    pub device: u64,
}

/// Whose a `clients` is that was there before.
enum Owner {
    /// A run that is going on.
    Run(LeftOver),
    /// A run that is not going on any more; the marker is ours now.
    Nobody(Box<Claim>, LeftOver),
    /// A run of which it is not known whether it goes on.
    Unknown(LeftOver),
    /// Not filestone.
    Somebody,
}

/// Something is wrong with the directory.
pub(super) fn unsuitable(path: &Path, what: &str, help: &str) -> RunError {
    RunError::Unsuitable(format!("{}: {what}", path.display()), Some(help.into()))
}

/// A refusal of the operating system, in words.
pub(super) fn refused(path: &Path, errno: Errno, doing: &str) -> RunError {
    let (what, help) = match errno {
        Errno::NOENT => (
            "there is no such directory".into(),
            "make it first; without a target, a fresh temporary directory is used",
        ),
        Errno::NOTDIR => (
            "is not a directory".into(),
            "a load is replayed in a directory",
        ),
        Errno::ACCESS | Errno::PERM => (
            format!("{doing} is not allowed"),
            "the directory must be writable for who runs filestone",
        ),
        Errno::ROFS => (
            "the file system is mounted read-only".into(),
            "a load changes files; mount it read-write",
        ),
        Errno::NOSPC | Errno::DQUOT => (
            format!("{doing} failed: the file system is full ({errno})"),
            "make room, or use another directory",
        ),
        errno => (
            format!("{doing} failed: {errno}"),
            "use another directory, or see what is wrong with this one",
        ),
    };
    unsuitable(path, &what, help)
}

/// It is there, since it was opened, and yet mkdir says of a name in it that there is no such
/// directory: so do file systems that have no files of anybody's, such as /proc.
fn takes_no_directory(directory: &Path) -> RunError {
    unsuitable(
        directory,
        "no directory can be made in it",
        "use a directory of a file system that keeps files, and that nobody is removing",
    )
}

/// Opens the directory under test.
pub(super) fn open_directory(directory: &Path) -> Result<OwnedFd, RunError> {
    // The one name that may be a link: the user gave it.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::empty())
        .map_err(|errno| refused(directory, errno, "opening it"))
}

/// A directory in which `clients` is claimed.
#[derive(Debug)]
pub(super) struct Ground {
    /// It.
    pub root: OwnedFd,
    /// Its path.
    pub directory: PathBuf,
    /// What was claimed in it.
    pub claim: Claim,
    /// If it is not the directory under test, that one.
    pub beside: Option<UnderTest>,
}

/// The directory under test, where the run's own place is in it.
#[derive(Debug)]
pub(super) struct UnderTest {
    root: OwnedFd,
    path: PathBuf,
    /// Whether the place was made for this run, and goes with it.
    has_made: bool,
}

impl UnderTest {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the run's own place away, if the run has made it.
    pub fn remove_place(&self) -> Result<(), RunError> {
        if !self.has_made {
            return Ok(());
        }
        nfs_mount::unlink(self.root.as_fd(), BESIDE.as_bytes(), AtFlags::REMOVEDIR)
            .map_err(|errno| refused(&self.path.join(BESIDE), errno, "removing it"))
    }
}

impl Ground {
    /// Claims `clients` in a directory, or in a place of our own in it.
    pub fn claim(root: OwnedFd, directory: PathBuf, beside: Beside) -> Result<Self, RunError> {
        if let Some(claim) = claim(root.as_fd(), &directory)? {
            return Ok(Self {
                root,
                directory,
                claim,
                beside: None,
            });
        }
        let owner = owner(root.as_fd(), &directory)
            .map_err(|errno| refused(&directory.join(CLIENTS), errno, "looking at it"))?;
        if !owner.may_have_neighbours(root.as_fd(), beside) {
            return Err(complaint(&directory, &owner));
        }
        Self::claim_beside(root, directory)
    }

    fn claim_beside(root: OwnedFd, directory: PathBuf) -> Result<Self, RunError> {
        let has_made = match rustix::fs::mkdirat(&root, BESIDE, CLIENTS_MODE) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(refused(&directory, errno, "making a directory in it")),
        };
        let place = directory.join(BESIDE);
        let under_test = UnderTest {
            root,
            path: directory,
            has_made,
        };
        let opened = rustix::fs::openat(&under_test.root, BESIDE, DIRECTORY, Mode::empty());
        let claimed = opened
            .map_err(|errno| refused(&place, errno, "opening it"))
            .and_then(|own| match claim(own.as_fd(), &place)? {
                Some(claim) => Ok((own, claim)),
                None => Err(is_there(own.as_fd(), &place)),
            });
        match claimed {
            Ok((root, claim)) => Ok(Self {
                root,
                directory: place,
                claim,
                beside: Some(under_test),
            }),
            Err(error) => {
                under_test.remove_place().ok();
                Err(error)
            }
        }
    }
}

impl Owner {
    /// Whether a run may work beside a `clients` of theirs.
    fn may_have_neighbours(&self, root: BorrowedFd<'_>, beside: Beside) -> bool {
        matches!(self, Self::Somebody) && (beside == Beside::Always || is_empty(root))
    }
}

/// Whether `clients` is a directory with nothing in it.
fn is_empty(root: BorrowedFd<'_>) -> bool {
    let opened = rustix::fs::openat(root, CLIENTS, DIRECTORY, Mode::empty());
    opened.is_ok_and(|clients| {
        let mut is_empty = true;
        let listed = Listing::new().read(clients.as_fd(), |name, _| {
            is_empty = is_dot(name);
            match is_empty {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        is_empty && listed.is_ok()
    })
}

/// Makes `clients`, marks it and locks the marker; `None` if it is there.
fn claim(root: BorrowedFd<'_>, directory: &Path) -> Result<Option<Claim>, RunError> {
    match rustix::fs::mkdirat(root, CLIENTS, CLIENTS_MODE) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(None),
        Err(Errno::NOENT) => return Err(takes_no_directory(directory)),
        Err(errno) => return Err(refused(directory, errno, "making a directory in it")),
    }
    let result = mark(root);
    result.map(Some).map_err(|errno| {
        // It was made a moment ago and has nothing in it but perhaps the marker.
        let marker = format!("{CLIENTS}/{MARKER}");
        nfs_mount::unlink(root, marker.as_bytes(), AtFlags::empty()).ok();
        nfs_mount::unlink(root, CLIENTS.as_bytes(), AtFlags::REMOVEDIR).ok();
        refused(directory, errno, "writing into it")
    })
}

fn mark(root: BorrowedFd<'_>) -> Result<Claim, Errno> {
    let clients = rustix::fs::openat(root, CLIENTS, DIRECTORY, Mode::empty())?;
    let marker = marked_directory::make_marker(&clients, MARKER)?;
    let text = Marker::default().text(nfs_mount::lock(&marker)?);
    let written = rustix::io::pwrite(&marker, text.as_bytes(), 0)?;
    if written != text.len() {
        return Err(Errno::NOSPC);
    }
    let device = rustix::fs::fstat(&clients)?.st_dev;
    Ok(Claim {
        clients,
        marker: Some(marker),
        device,
    })
}

/// Gives `clients` up and takes it away with all that is in it.
pub(super) fn remove(
    claim: &mut Claim,
    root: BorrowedFd<'_>,
    directory: &Path,
) -> Result<(), RunError> {
    let path = directory.join(CLIENTS);
    // The marker goes last: what an interruption leaves is still known as ours.
    nfs_mount::patiently(
        || deletion::empty(claim.clients.as_fd(), MARKER.as_bytes(), claim.device),
        NotRemoved::is_still_open,
    )
    .map_err(|error| unsuitable(&path, &error.to_string(), "remove it by hand"))?;
    let marker = (claim.marker.take(), MARKER);
    marked_directory::remove((root, CLIENTS), &claim.clients, marker)
        .map_err(|errno| refused(&path, errno, "removing it"))
}

/// Removes what a run has left over in `directory`: only a `clients` with our
/// marker in it, and only if no run holds it. `None` if there is no `clients`, or nothing
/// but an empty one.
pub fn remove_left_over(directory: &Path) -> Result<Option<LeftOver>, RunError> {
    remove_left_over_beside(directory, Beside::IfEmpty)
}

/// The same; of a run that worked beside another program's `clients`, too.
pub fn remove_left_over_beside(
    directory: &Path,
    beside: Beside,
) -> Result<Option<LeftOver>, RunError> {
    let root = open_directory(directory)?;
    match owner(root.as_fd(), directory) {
        Ok(owner) if owner.may_have_neighbours(root.as_fd(), beside) => {
            remove_place_left_over(root.as_fd(), &directory.join(BESIDE))
        }
        found => remove_of(found, root.as_fd(), directory),
    }
}

fn remove_of(
    found: Result<Owner, Errno>,
    root: BorrowedFd<'_>,
    directory: &Path,
) -> Result<Option<LeftOver>, RunError> {
    match found {
        Ok(Owner::Nobody(mut claim, left_over)) => {
            remove(&mut claim, root, directory)?;
            Ok(Some(left_over))
        }
        Ok(owner) => Err(complaint(directory, &owner)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(refused(&directory.join(CLIENTS), errno, "looking at it")),
    }
}

/// What a run has left over in the place of its own, and the place, unless there is more
/// in it.
fn remove_place_left_over(
    root: BorrowedFd<'_>,
    place: &Path,
) -> Result<Option<LeftOver>, RunError> {
    let own = match rustix::fs::openat(root, BESIDE, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.map_err(|errno| refused(place, errno, "opening it"))?,
    };
    let removed = remove_of(owner(own.as_fd(), place), own.as_fd(), place)?;
    if removed.is_some() {
        nfs_mount::unlink(root, BESIDE.as_bytes(), AtFlags::REMOVEDIR).ok();
    }
    Ok(removed)
}

/// Why a `clients` that is there cannot be used.
fn is_there(root: BorrowedFd<'_>, directory: &Path) -> RunError {
    match owner(root, directory) {
        Ok(owner) => complaint(directory, &owner),
        Err(errno) => refused(&directory.join(CLIENTS), errno, "looking at it"),
    }
}

fn owner(root: BorrowedFd<'_>, directory: &Path) -> Result<Owner, Errno> {
    let clients = match rustix::fs::openat(root, CLIENTS, DIRECTORY, Mode::empty()) {
        // A file or a link.
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Owner::Somebody),
        opened => opened?,
    };
    let Some(marker) = marked_directory::open_marker(&clients, MARKER)? else {
        return Ok(Owner::Somebody);
    };
    let path = directory.join(CLIENTS).display().to_string();
    let left_over = LeftOver::read(&path, &marked_directory::read_marker(&marker)?);
    // Before the text counts: a run that is just beginning has not written it yet.
    let is_locked = match nfs_mount::lock(&marker) {
        Err(Errno::AGAIN) => return Ok(Owner::Run(left_over.unwrap_or_default())),
        locked => locked?,
    };
    let Some(left_over) = left_over else {
        return Ok(Owner::Somebody);
    };
    match left_over.liveness(marked_directory::holder(is_locked)) {
        Liveness::Running => return Ok(Owner::Run(left_over)),
        Liveness::Unknown => return Ok(Owner::Unknown(left_over)),
        Liveness::Over => {}
    }
    let device = rustix::fs::fstat(&clients)?.st_dev;
    let claim = Claim {
        clients,
        marker: Some(marker),
        device,
    };
    Ok(Owner::Nobody(Box::new(claim), left_over))
}

fn complaint(directory: &Path, owner: &Owner) -> RunError {
    let path = directory.join(CLIENTS);
    match owner {
        Owner::Run(run) => unsuitable(
            &path,
            &format!("another run is using it ({})", run.process_in_words()),
            "wait for its end, or use another directory",
        ),
        Owner::Nobody(_, run) => unsuitable(
            &path,
            &format!(
                "was left over by {}, whose run began {}",
                run.process_in_words(),
                run.started_in_words(),
            ),
            "remove it with --remove-leftover, which takes nothing else away",
        ),
        Owner::Unknown(run) => unsuitable(
            &path,
            &format!(
                "left over, or in use, by {}, whose run began {}: this file system has no locks to tell",
                run.process_in_words(),
                run.started_in_words(),
            ),
            "if that run is not going on, remove it by hand",
        ),
        Owner::Somebody => unsuitable(
            &path,
            "was not made by filestone: nothing has been touched",
            "move it away, or use another directory",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_which_it_is_not_known_whether_it_goes_on_is_left_to_the_user() {
        let run = LeftOver::read(CLIENTS, "made by filestone 0\nprocess: 1\n");
        let said = complaint(Path::new("/d"), &Owner::Unknown(run.expect("a marker")));
        assert!(
            said.to_string()
                .contains("left over, or in use, by process")
        );
        assert!(said.help().is_some_and(|help| help.contains("by hand")));
    }
}
