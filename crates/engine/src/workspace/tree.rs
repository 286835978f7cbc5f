//! What claims, markers and removals need of a tree of files: on this host, or on a server.
//!
//! Links are never followed. What is gone already is well removed, whoever removed it.

use super::error::{ClaimError, Purpose};
use super::marker::{LockHolder, Marker, Owner};
use crate::error::RunError;
use filestone_plan::made::{Kept, MadeNames};
use filestone_plan::plan::CreateModes;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Permissions of the directories that a run makes for itself. Its own user alone works in them,
/// and no one else can put links there.
pub(crate) const DIRECTORY_MODE: u32 = CreateModes::OWN.directory;
/// Permissions of the files that it makes.
pub(crate) const FILE_MODE: u32 = CreateModes::OWN.file;

/// A directory, with what errors say of it.
#[derive(Debug, Clone)]
pub(crate) struct Directory<H> {
    /// An open descriptor, or a file handle.
    pub handle: H,
    /// Where it is.
    pub path: String,
    /// What a run has it for.
    pub purpose: Purpose,
}

impl<H> Directory<H> {
    /// The path of something in it.
    pub fn at(&self, name: impl AsRef<[u8]>) -> String {
        join(&self.path, name.as_ref())
    }

    /// A directory in it.
    pub fn child<C>(&self, name: impl AsRef<[u8]>, handle: C) -> Directory<C> {
        Directory {
            handle,
            path: self.at(name),
            purpose: self.purpose,
        }
    }
}

/// A directory of a tree.
pub(crate) type DirectoryOf<T> = Directory<<T as Tree>::Handle>;
/// What comes of a step.
pub(crate) type TreeResult<V> = Result<V, TreeError>;

/// Why a step failed.
#[derive(Debug)]
pub(crate) struct TreeError {
    /// What is decided on.
    pub kind: RefusalKind,
    /// What is reported.
    pub error: RunError,
}

impl TreeError {
    /// The same, where `removed` says that what was made before could not be taken away again:
    /// what stays at `path` is named, with what to do about it.
    pub fn leaving(self, path: &str, removed: TreeResult<()>, advice: &str) -> Self {
        let Err(kept) = removed else { return self };
        Self {
            error: self.error.leaving(path, &kept.error, advice),
            ..self
        }
    }
}

/// Refusals on which a claim or a removal decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The file system has no room for what was to be made.
    Full,
    /// A directory that was there is gone, or only its handle.
    Stale,
    /// This user may not do it.
    Denied,
    /// Something is in a directory that was to be removed.
    NotEmpty,
    /// Any other.
    Other,
}

impl From<RunError> for TreeError {
    fn from(error: RunError) -> Self {
        let kind = RefusalKind::Other;
        Self { kind, error }
    }
}

impl From<ClaimError> for TreeError {
    fn from(error: ClaimError) -> Self {
        RunError::from(error).into()
    }
}

impl From<TreeError> for RunError {
    fn from(refused: TreeError) -> Self {
        refused.error
    }
}

/// A tree of files.
pub(crate) trait Tree {
    /// An open descriptor, or a file handle.
    type Handle;
    /// What a listing says of an entry.
    type Entry: Copy;

    /// Makes a directory of the run's own; `None` if there is something of that name.
    fn make_directory(
        &mut self,
        parent: &DirectoryOf<Self>,
        name: &str,
    ) -> TreeResult<Option<DirectoryOf<Self>>>;

    /// What has this name.
    fn find(&mut self, parent: &DirectoryOf<Self>, name: &str) -> TreeResult<Found<Self::Handle>>;

    /// The first name in a directory that is not `known`; `None` if there is none.
    fn first_name(
        &mut self,
        at: &DirectoryOf<Self>,
        known: &[&str],
    ) -> TreeResult<Option<Box<[u8]>>>;

    /// Makes a marker and locks it; `None` if there is one already.
    fn make_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<Option<MarkerLock>>;

    /// Reads a marker and locks it; `None` if what is there, or is not there, cannot be one.
    fn read_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        name: &str,
    ) -> TreeResult<Option<FoundMarker>>;

    /// Writes another text over that of a marker, in place: that needs no room.
    fn rewrite_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<()>;

    /// Puts a marker into the place of another one; `false` if it was not `lock`'s that was moved.
    fn replace_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        from: &str,
        to: &str,
        lock: &MarkerLock,
    ) -> TreeResult<bool>;

    /// Removes a file or a link.
    fn remove_file(&mut self, parent: &DirectoryOf<Self>, name: &str) -> TreeResult<()>;

    /// Removes a directory in which there is nothing; `was_used` if files in it may have been
    /// open a moment ago.
    fn remove_directory(
        &mut self,
        parent: &DirectoryOf<Self>,
        name: &str,
        was_used: bool,
    ) -> TreeResult<()>;

    /// Removes everything in a directory that the run can have made, but the entry `keep`; what stays.
    fn empty_but(
        &mut self,
        at: &DirectoryOf<Self>,
        keep: &str,
        made: &MadeNames,
    ) -> TreeResult<Kept>;

    /// Shows the entries whose names are wanted, until `each` has seen enough and says so.
    fn list(
        &mut self,
        at: &DirectoryOf<Self>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], Self::Entry) -> bool,
    ) -> TreeResult<()>;

    /// Whether the entry is a directory.
    fn is_directory(entry: Self::Entry) -> bool;

    /// Opens a directory that was listed; `None` if it is gone.
    fn record(
        &mut self,
        parent: &DirectoryOf<Self>,
        name: &[u8],
        entry: Self::Entry,
    ) -> TreeResult<Option<DirectoryOf<Self>>>;

    /// Removes names; the first that is a directory's with something in it.
    fn remove_names(
        &mut self,
        parent: &DirectoryOf<Self>,
        names: &[Name],
    ) -> TreeResult<Option<usize>>;

    /// Waits.
    fn pause(&mut self, pause: Duration) -> TreeResult<()>;
}

/// A name, and whether it is a directory's.
#[derive(Debug)]
pub(crate) struct Name {
    pub name: Box<[u8]>,
    pub is_directory: bool,
}

/// What has a name.
#[derive(Debug)]
pub(crate) enum Found<H> {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory(Directory<H>),
    /// Anything else, such as a link to a directory.
    Other,
}

/// Keeps a marker locked until it is dropped; holds nothing where there are no locks.
#[derive(Debug, Default)]
pub(crate) struct MarkerLock(pub Option<OwnedFd>);

/// A marker that was there.
#[derive(Debug)]
pub(crate) struct FoundMarker {
    /// What it says.
    pub text: String,
    /// Whether it is locked.
    pub holder: LockHolder,
    /// The lock, if this process has it.
    pub lock: MarkerLock,
}

impl FoundMarker {
    /// The owner of the directory at `path`; `None` if it is not a marker of ours. A run that has
    /// just made its marker, and not written it yet, is known by its lock alone.
    pub fn owner(&self, path: &str) -> Option<Owner> {
        let is_locked = self.holder == LockHolder::Other;
        Owner::read(path, &self.text).or_else(|| is_locked.then(|| Owner::unknown(path)))
    }
}

/// What was tried, for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Find,
    MakeDirectory,
    MakeMarker,
    ReadMarker,
    RewriteMarker,
    ReplaceMarker,
    List,
    RemoveFile,
    RemoveDirectory,
    Empty,
}

/// A path with another component.
pub(crate) fn join(path: &str, name: &[u8]) -> String {
    let parent = path.trim_end_matches('/');
    format!("{parent}/{}", String::from_utf8_lossy(name))
}
