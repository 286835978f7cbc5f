//! What claims, markers and removals need of a tree of files: on this host, or on a server.
//!
//! Links are never followed. What is gone already is well removed, whoever removed it.

use super::error::Purpose;
use super::marker::{LockHolder, Marker};
use crate::error::RunError;
use std::fmt::Debug;
use std::time::Duration;

/// Permissions of the directories that a run makes for itself. Its own user alone works in them,
/// and no one else can put links there.
pub(crate) const DIRECTORY_MODE: u32 = 0o700;
/// Permissions of the files that it makes.
pub(crate) const FILE_MODE: u32 = 0o600;

/// A tree of files.
pub(crate) trait Tree {
    /// A directory: an open descriptor, or a file handle.
    type Directory: Debug;
    /// Keeps a marker locked until it is dropped, where there are locks.
    type Lock: Debug;
    /// How the tree refuses.
    type Error;

    /// Makes a directory of the run's own; `None` if there is something of that name.
    fn make_directory(
        &mut self,
        parent: &Self::Directory,
        name: &str,
    ) -> Result<Option<Self::Directory>, Self::Error>;

    /// What has this name.
    fn find(
        &mut self,
        parent: &Self::Directory,
        name: &str,
    ) -> Result<Found<Self::Directory>, Self::Error>;

    /// The first name in a directory that is not `known`; `None` if there is none.
    fn first_name(
        &mut self,
        directory: &Self::Directory,
        known: &[&str],
    ) -> Result<Option<Box<[u8]>>, Self::Error>;

    /// Makes a marker and locks it; `None` if there is one already.
    fn make_marker(
        &mut self,
        directory: &Self::Directory,
        name: &str,
        marker: &Marker<'_>,
    ) -> Result<Option<Self::Lock>, Self::Error>;

    /// Reads a marker and locks it; `None` if what is there, or is not there, cannot be one.
    fn read_marker(
        &mut self,
        directory: &Self::Directory,
        name: &str,
    ) -> Result<Option<FoundMarker<Self::Lock>>, Self::Error>;

    /// Writes another text over that of a marker, in place: that needs no room.
    fn rewrite_marker(
        &mut self,
        directory: &Self::Directory,
        name: &str,
        marker: &Marker<'_>,
    ) -> Result<(), Self::Error>;

    /// Puts a marker into the place of another one; `false` if it was not `lock`'s that was moved.
    fn replace_marker(
        &mut self,
        directory: &Self::Directory,
        from: &str,
        to: &str,
        lock: &Self::Lock,
    ) -> Result<bool, Self::Error>;

    /// Removes a file or a link.
    fn remove_file(&mut self, parent: &Self::Directory, name: &str) -> Result<(), Self::Error>;

    /// Removes a directory in which there is nothing.
    fn remove_directory(&mut self, parent: &Self::Directory, name: &str)
    -> Result<(), Self::Error>;

    /// The same, of a directory in which files were open a moment ago.
    fn remove_emptied(&mut self, parent: &Self::Directory, name: &str) -> Result<(), Self::Error> {
        self.remove_directory(parent, name)
    }

    /// Removes everything in a directory but the entry `keep`.
    fn empty_but(&mut self, directory: &Self::Directory, keep: &str) -> Result<(), Self::Error>;

    /// Waits.
    fn pause(&mut self, pause: Duration) -> Result<(), Self::Error>;

    /// Whether the file system has no room for what was to be made.
    fn is_full(error: &Self::Error) -> bool;

    /// Whether a directory that was there is gone, or only its handle.
    fn is_stale(error: &Self::Error) -> bool;

    /// An error with its place.
    fn refused(error: Self::Error, step: Step, at: &At<'_>) -> RunError;
}

/// What has a name.
#[derive(Debug)]
pub(crate) enum Found<D> {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory(D),
    /// Anything else, such as a link to a directory.
    Other,
}

/// A marker that was there.
#[derive(Debug)]
pub(crate) struct FoundMarker<L> {
    /// What it says.
    pub text: String,
    /// Whether it is locked.
    pub holder: LockHolder,
    /// The lock, if this process has it.
    pub lock: L,
}

impl<L> FoundMarker<L> {
    /// Whether another descriptor has locked it: a run that has just made it, and not written
    /// it yet, may be known by nothing else.
    pub fn is_locked_by_another(&self) -> bool {
        self.holder == LockHolder::Other
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

/// Where something was tried, for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    /// The path.
    pub path: &'a str,
    /// What for.
    pub purpose: Purpose,
}

impl<'a> At<'a> {
    /// The error of a step there.
    pub fn failed<T: Tree>(self, step: Step) -> impl Fn(T::Error) -> RunError + 'a {
        move |error| T::refused(error, step, &self)
    }
}

/// A path with another component.
pub(crate) fn join(path: &str, name: &[u8]) -> String {
    let parent = path.trim_end_matches('/');
    format!("{parent}/{}", String::from_utf8_lossy(name))
}
