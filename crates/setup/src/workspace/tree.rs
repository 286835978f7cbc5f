//! Interface of a tree of files for claims, markers and removals: on this host, or on a server.
//!
//! Links are never followed. Removing an object that is already gone succeeds.

use super::error::{ClaimError, Purpose};
use super::marker::{LockHolder, Marker, MarkerOwner};
use filestone_host::error::RunError;
use filestone_plan::made::{Kept, MadeNames};
use filestone_plan::plan::CreateModes;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Permissions of the directories that a run makes for itself: only its user works in them, and no
/// other user can put links there.
pub const DIRECTORY_MODE: u32 = CreateModes::OWN.directory;
/// Permissions of the files that it makes.
pub const FILE_MODE: u32 = CreateModes::OWN.file;

/// A directory, with its path and purpose for errors.
#[derive(Debug, Clone)]
pub struct TreeDirectory<H> {
    /// An open descriptor, or a file handle.
    pub handle: H,
    /// Path of the directory.
    pub path: String,
    /// Purpose for the run.
    pub purpose: Purpose,
}

impl<H> TreeDirectory<H> {
    /// Returns the path of an object in it.
    pub fn at(&self, name: impl AsRef<[u8]>) -> String {
        join(&self.path, name.as_ref())
    }

    /// Returns a directory in it.
    pub fn child<C>(&self, name: impl AsRef<[u8]>, handle: C) -> TreeDirectory<C> {
        TreeDirectory {
            handle,
            path: self.at(name),
            purpose: self.purpose,
        }
    }
}

/// A directory of a tree.
pub type DirectoryOf<T> = TreeDirectory<<T as FileTree>::Handle>;
/// Result of an action on a tree.
pub type TreeResult<V> = Result<V, TreeError>;

/// Error of an action on a tree.
#[derive(Debug)]
pub struct TreeError {
    /// Kind, for decisions.
    pub kind: RefusalKind,
    /// The error that is reported.
    pub error: RunError,
}

impl TreeError {
    /// Adds the remains at `path` and advice to the error, if `removed` is an error: the removal of
    /// the objects made before has failed.
    pub fn leaving(self, path: &str, removed: TreeResult<()>, advice: &str) -> Self {
        let Err(kept) = removed else { return self };
        Self {
            error: self.error.leaving(path, &kept.error, advice),
            ..self
        }
    }
}

/// Refusals that a claim or a removal distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The file system is full.
    Full,
    /// The directory is gone, or only its handle is stale.
    Stale,
    /// This user lacks the permission.
    Denied,
    /// The directory to remove is not empty.
    NotEmpty,
    /// Any other refusal.
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
pub trait FileTree {
    /// An open descriptor, or a file handle.
    type Handle;
    /// Attributes of an entry in a listing.
    type Entry: Copy;

    /// Makes a directory for the run; `None` if the name exists.
    fn make_directory(
        &mut self,
        parent: &DirectoryOf<Self>,
        name: &str,
    ) -> TreeResult<Option<DirectoryOf<Self>>>;

    /// Finds the object with this name.
    fn find(&mut self, parent: &DirectoryOf<Self>, name: &str) -> TreeResult<Found<Self::Handle>>;

    /// Returns the first name in a directory that is not in `known`; `None` if there is none.
    fn first_name(
        &mut self,
        at: &DirectoryOf<Self>,
        known: &[&str],
    ) -> TreeResult<Option<Box<[u8]>>>;

    /// Makes a marker and locks it; `None` if it exists.
    fn make_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<Option<MarkerLock>>;

    /// Reads a marker and locks it; `None` if the object is missing or cannot be a marker.
    fn read_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        name: &str,
    ) -> TreeResult<Option<FoundMarker>>;

    /// Overwrites the text of a marker in place, which needs no room on the disk.
    fn rewrite_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<()>;

    /// Renames a marker over another one; returns `false` if the renamed file was not the one of
    /// `lock`.
    fn replace_marker(
        &mut self,
        at: &DirectoryOf<Self>,
        from: &str,
        to: &str,
        lock: &MarkerLock,
    ) -> TreeResult<bool>;

    /// Removes a file or a link.
    fn remove_file(&mut self, parent: &DirectoryOf<Self>, name: &str) -> TreeResult<()>;

    /// Removes an empty directory; `was_used`: files in it may have been open a moment ago.
    fn remove_directory(
        &mut self,
        parent: &DirectoryOf<Self>,
        name: &str,
        was_used: bool,
    ) -> TreeResult<()>;

    /// Removes everything in a directory that the run can have made, except the entry `keep`;
    /// returns the objects that stay.
    fn empty_but(
        &mut self,
        at: &DirectoryOf<Self>,
        keep: &str,
        made: &MadeNames,
    ) -> TreeResult<Kept>;

    /// Calls `each` with the entries whose names are wanted, until it returns `true`.
    fn list(
        &mut self,
        at: &DirectoryOf<Self>,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], Self::Entry) -> bool,
    ) -> TreeResult<()>;

    /// Returns whether the entry is a directory.
    fn is_directory(entry: Self::Entry) -> bool;

    /// Opens a listed directory; `None` if it is gone.
    fn record(
        &mut self,
        parent: &DirectoryOf<Self>,
        name: &[u8],
        entry: Self::Entry,
    ) -> TreeResult<Option<DirectoryOf<Self>>>;

    /// Removes names; returns the index of the first directory that is not empty.
    fn remove_names(
        &mut self,
        parent: &DirectoryOf<Self>,
        names: &[EntryName],
    ) -> TreeResult<Option<usize>>;

    /// Sleeps.
    fn pause(&mut self, pause: Duration) -> TreeResult<()>;
}

/// A name, and whether it belongs to a directory.
#[derive(Debug)]
pub struct EntryName {
    /// The name.
    pub name: Box<[u8]>,
    /// Whether it belongs to a directory.
    pub is_directory: bool,
}

/// Object found under a name.
#[derive(Debug)]
pub enum Found<H> {
    /// The name does not exist.
    Nothing,
    /// A directory.
    Directory(TreeDirectory<H>),
    /// Any other object, such as a link to a directory.
    Other,
}

/// Keeps a marker locked until it is dropped; empty if locks are not supported.
#[derive(Debug, Default)]
pub struct MarkerLock(pub Option<OwnedFd>);

/// A marker that was found.
#[derive(Debug)]
pub struct FoundMarker {
    /// Text of the marker.
    pub text: String,
    /// Holder of the lock.
    pub holder: LockHolder,
    /// The lock, if this process has it.
    pub lock: MarkerLock,
}

impl FoundMarker {
    /// Returns the owner of the directory at `path`; `None` if filestone has not written the
    /// marker. A run that has made its marker but not written it yet is recognised only by its
    /// lock.
    pub fn owner(&self, path: &str) -> Option<MarkerOwner> {
        let is_locked = self.holder == LockHolder::Other;
        MarkerOwner::read(path, &self.text)
            .or_else(|| is_locked.then(|| MarkerOwner::unknown(path)))
    }
}

/// The attempted action, for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeAction {
    /// Look up an object.
    Find,
    /// Create a directory.
    MakeDirectory,
    /// Create a marker.
    MakeMarker,
    /// Read a marker.
    ReadMarker,
    /// Overwrite a marker.
    RewriteMarker,
    /// Rename a new marker over another.
    ReplaceMarker,
    /// List a directory.
    List,
    /// Remove a file.
    RemoveFile,
    /// Remove an empty directory.
    RemoveDirectory,
    /// Remove the contents of a directory.
    Empty,
}

/// Returns a path with another component.
pub fn join(path: &str, name: &[u8]) -> String {
    let parent = path.trim_end_matches('/');
    format!("{parent}/{}", String::from_utf8_lossy(name))
}
