//! Directory trees on a share: a handle is a path in it.
//!
//! Nothing is locked, as over NFS: a run that was killed is detected by its process identity.

use super::connection::{ConnectedShare, RequestError};
use super::error::SmbError;
use crate::workspace::ClaimError;
use crate::workspace::marker::{LockHolder, MARKER_MAX_BYTES, Marker, padded};
use crate::workspace::tree::{
    EntryName, FileTree, Found, FoundMarker, MarkerLock, RefusalKind, TreeAction, TreeDirectory,
    TreeError, TreeResult,
};
use filestone_host::error::RunError;
use filestone_plan::made::{Kept, MadeNames};
use filestone_protocol::client::call_slot::ActionError;
use filestone_protocol::client::smb2::{
    ALL_OF_FILE, ATTRIBUTES, CreateParams, CreateResult, DirEntry, LISTING, Removal, SharePath,
    SmbCallHandle,
};
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_wire::smb2::{FileId, Status};
use filestone_workload::load::LineData;
use filestone_workload::output::{DataRange, WriteData};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Returns the path of a name in a directory of a share.
pub fn child_of(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.into()
    } else {
        format!("{parent}\\{name}")
    }
}

/// A directory on a share.
pub type ShareDirectory = TreeDirectory<SharePath>;

/// Directory trees of a share.
pub struct ShareTree<'a> {
    /// Connection to the share.
    pub connection: &'a mut ConnectedShare,
}

impl<'a> ShareTree<'a> {
    /// Creates a tree for claiming directories.
    pub fn new(connection: &'a mut ConnectedShare) -> Self {
        Self { connection }
    }
}

impl ConnectedShare {
    /// Returns the object at a path; `None` if there is none.
    pub fn look_at(&mut self, path: &str) -> Result<Option<CreateResult>, RequestError> {
        let opening = CreateParams::existing(path, ATTRIBUTES);
        unless_missing(self.call(async |link| link.touch(&opening).await))
    }

    /// Creates a directory; `None` if the name exists.
    pub fn make_directory(&mut self, path: &str) -> Result<Option<()>, RequestError> {
        let opening = CreateParams::existing(path, LISTING)
            .by(CreateDisposition::CREATE)
            .with(CreateOptions::DIRECTORY_FILE);
        unless_there(self.call(async |link| link.touch(&opening).await.map(drop)))
    }

    /// Creates a small file with this text; `None` if the name exists.
    fn make_text(&mut self, path: &str, text: &str) -> Result<Option<()>, RequestError> {
        let opening = CreateParams::existing(path, ALL_OF_FILE)
            .by(CreateDisposition::CREATE)
            .with(CreateOptions::NON_DIRECTORY_FILE);
        unless_there(self.write_text(&opening, text))
    }

    fn write_text(&mut self, opening: &CreateParams<'_>, text: &str) -> Result<(), RequestError> {
        let mut data = WriteData::default();
        data.keep(LineData::apart(text.as_bytes()));
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let (mut opening, mut at) = (*opening, 0);
        self.call_with(&data, async |link| {
            let file_id = link.open(&opening).await?.file_id;
            // The file belongs to this run now; another session opens it and continues.
            opening = opening.by(CreateDisposition::OPEN);
            let written = write_on(&link, file_id, &mut at, len).await;
            let closed = link.close(file_id).await;
            written.and(closed)
        })
    }

    /// Returns the text of a small file; `None` if it does not exist.
    fn read_text(&mut self, path: &str) -> Result<Option<String>, RequestError> {
        let opening = CreateParams::existing(path, LISTING).with(CreateOptions::NON_DIRECTORY_FILE);
        let read = self.call(async |link| {
            let look = |data: &[u8]| String::from_utf8_lossy(data).into_owned();
            link.read_at_path(&opening, 0, MARKER_MAX_BYTES, look).await
        });
        match read {
            // The file is empty.
            Err(RequestError::Answered(Status::END_OF_FILE)) => Ok(Some(String::new())),
            Err(RequestError::Answered(Status::FILE_IS_A_DIRECTORY)) => Ok(None),
            read => unless_missing(read),
        }
    }

    /// Passes the entries of a directory to `each` until it returns that it needs no more. When the
    /// session ends in between, entries already passed are not repeated.
    pub fn each_entry(
        &mut self,
        path: &str,
        mut each: impl FnMut(DirEntry) -> bool,
    ) -> Result<(), RequestError> {
        let page = self.reaching().way.limits().largest_page();
        let mut shown = Shown::default();
        self.call(async |link| {
            shown.start();
            let show = |entry: DirEntry| shown.is_new(&entry.name) && each(entry);
            link.each_entry(path, page, show).await
        })
    }

    /// Removes the object at a path, unless it is gone.
    pub fn remove(&mut self, path: &str, is_directory: bool) -> Result<(), RequestError> {
        let options = if is_directory {
            CreateOptions::DIRECTORY_FILE
        } else {
            CreateOptions::NON_DIRECTORY_FILE
        };
        let removed = self.call(async |link| link.remove(path, options).await);
        unless_missing(removed).map(drop)
    }
}

/// Writes the data from `at` to `len`.
async fn write_on(
    link: &SmbCallHandle,
    file_id: FileId,
    at: &mut u32,
    len: u32,
) -> Result<(), ActionError> {
    while *at < len {
        let offset = u64::from(*at);
        let data = DataRange {
            at: offset,
            len: len - *at,
        };
        *at += link.write(file_id, offset, data, true).await?;
    }
    Ok(())
}

/// The directory entries that a listing has returned; the listing restarts with each session.
#[derive(Default)]
struct Shown {
    state: RandomState,
    /// Hashes of the names that the current listing has returned, and of those of earlier listings.
    now: Vec<u64>,
    before: HashSet<u64>,
}

impl Shown {
    /// Starts another listing.
    fn start(&mut self) {
        self.before.extend(self.now.drain(..));
    }

    /// Whether no earlier listing has returned the entry.
    fn is_new(&mut self, name: &str) -> bool {
        let hash = self.state.hash_one(name);
        let is_new = !self.before.contains(&hash);
        if is_new {
            self.now.push(hash);
        }
        is_new
    }
}

/// Statuses for a name that does not exist.
const MISSING: [Status; 3] = [
    Status::OBJECT_NAME_NOT_FOUND,
    Status::OBJECT_PATH_NOT_FOUND,
    Status::NO_SUCH_FILE,
];

fn unless_missing<T>(found: Result<T, RequestError>) -> Result<Option<T>, RequestError> {
    match found {
        Err(unmet) if unmet.is_any(&MISSING) => Ok(None),
        found => found.map(Some),
    }
}

fn unless_there<T>(made: Result<T, RequestError>) -> Result<Option<T>, RequestError> {
    match made {
        Err(unmet) if unmet.is_any(&[Status::OBJECT_NAME_COLLISION]) => Ok(None),
        made => made.map(Some),
    }
}

const fn request_of(step: TreeAction) -> &'static str {
    match step {
        TreeAction::Find => "CREATE",
        TreeAction::MakeDirectory => "CREATE of a directory",
        TreeAction::MakeMarker => "CREATE of a marker",
        TreeAction::ReadMarker => "READ",
        TreeAction::RewriteMarker => "WRITE",
        TreeAction::ReplaceMarker => "SET_INFO with another name",
        TreeAction::List => "QUERY_DIRECTORY",
        TreeAction::RemoveFile | TreeAction::Empty | TreeAction::RemoveDirectory => {
            "SET_INFO to delete"
        }
    }
}

fn kind_of(unmet: &RequestError) -> RefusalKind {
    if unmet.is_any(&[Status::DISK_FULL, Status::QUOTA_EXCEEDED]) {
        RefusalKind::Full
    } else if unmet.is_any(&[Status::ACCESS_DENIED, Status::SHARING_VIOLATION]) {
        RefusalKind::Denied
    } else if unmet.is_any(&[Status::DELETE_PENDING]) {
        RefusalKind::Stale
    } else if unmet.is_any(&[Status::DIRECTORY_NOT_EMPTY]) {
        RefusalKind::NotEmpty
    } else {
        RefusalKind::Other
    }
}

/// Returns the error of a step for the object at `path`.
fn refused(unmet: RequestError, step: TreeAction, at: &ShareDirectory, path: &str) -> TreeError {
    let kind = kind_of(&unmet);
    let purpose = at.purpose;
    let error = match (unmet, step) {
        (unmet, TreeAction::Empty) if kind == RefusalKind::NotEmpty => {
            drop(unmet);
            let path = path.into();
            ClaimError::NeverEmpty { path, purpose }.into()
        }
        (unmet, step) => match unmet.at(path, request_of(step)) {
            SmbError::Exchange(failed) => match SmbError::Exchange(failed).into_run_error() {
                RunError::Interrupted => RunError::Interrupted,
                error => ClaimError::Lost {
                    what: error.to_string(),
                }
                .into(),
            },
            error => error.into(),
        },
    };
    TreeError { kind, error }
}

impl ShareDirectory {
    fn named(&self, name: &str) -> SharePath {
        child_of(&self.handle, name).into()
    }
}

impl FileTree for ShareTree<'_> {
    type Handle = SharePath;
    type Entry = ShareEntry;

    fn make_directory(
        &mut self,
        parent: &ShareDirectory,
        name: &str,
    ) -> TreeResult<Option<ShareDirectory>> {
        let path = parent.named(name);
        let made = self.connection.make_directory(&path);
        let failed = |unmet| refused(unmet, TreeAction::MakeDirectory, parent, &parent.at(name));
        Ok(made.map_err(failed)?.map(|()| parent.child(name, path)))
    }

    fn find(&mut self, parent: &ShareDirectory, name: &str) -> TreeResult<Found<SharePath>> {
        let path = parent.named(name);
        let found = self.connection.look_at(&path);
        let failed = |unmet| refused(unmet, TreeAction::Find, parent, &parent.at(name));
        Ok(match found.map_err(failed)? {
            None => Found::Nothing,
            Some(opened) if opened.is_directory() => Found::Directory(parent.child(name, path)),
            Some(_) => Found::Other,
        })
    }

    fn first_name(&mut self, at: &ShareDirectory, known: &[&str]) -> TreeResult<Option<Box<[u8]>>> {
        let mut first = None;
        let listed = self.connection.each_entry(&at.handle, |entry| {
            if !known.contains(&entry.name.as_str()) {
                first = Some(entry.name.into_bytes().into_boxed_slice());
            }
            first.is_some()
        });
        listed.map_err(|unmet| refused(unmet, TreeAction::List, at, &at.path))?;
        Ok(first)
    }

    fn make_marker(
        &mut self,
        at: &ShareDirectory,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<Option<MarkerLock>> {
        let text = padded(&marker.text(false), 0);
        let made = self.connection.make_text(&at.named(name), &text);
        let failed = |unmet| refused(unmet, TreeAction::MakeMarker, at, &at.at(name));
        Ok(made.map_err(failed)?.map(|()| MarkerLock::default()))
    }

    fn read_marker(&mut self, at: &ShareDirectory, name: &str) -> TreeResult<Option<FoundMarker>> {
        let text = self.connection.read_text(&at.named(name));
        let failed = |unmet| refused(unmet, TreeAction::ReadMarker, at, &at.at(name));
        Ok(text.map_err(failed)?.map(|text| FoundMarker {
            text,
            holder: LockHolder::None,
            lock: MarkerLock::default(),
        }))
    }

    fn rewrite_marker(
        &mut self,
        at: &ShareDirectory,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<()> {
        let path = at.named(name);
        let failed = |unmet| refused(unmet, TreeAction::RewriteMarker, at, &at.at(name));
        let old = self.connection.look_at(&path).map_err(failed)?;
        let old_len = old.map_or(0, |opened| opened.len);
        let opening = CreateParams::existing(&path, ALL_OF_FILE);
        let text = padded(&marker.text(false), old_len);
        let written = self.connection.write_text(&opening, &text);
        written.map_err(failed)
    }

    fn replace_marker(
        &mut self,
        at: &ShareDirectory,
        from: &str,
        to: &str,
        _: &MarkerLock,
    ) -> TreeResult<bool> {
        let (old, new) = (at.named(from), at.named(to));
        let renamed = self
            .connection
            .call(async |link| link.rename(&old, &new, true).await);
        let failed = |unmet| refused(unmet, TreeAction::ReplaceMarker, at, &at.at(from));
        renamed.map(|()| true).map_err(failed)
    }

    fn remove_file(&mut self, parent: &ShareDirectory, name: &str) -> TreeResult<()> {
        let removed = self.connection.remove(&parent.named(name), false);
        removed.map_err(|unmet| refused(unmet, TreeAction::RemoveFile, parent, &parent.at(name)))
    }

    fn remove_directory(&mut self, parent: &ShareDirectory, name: &str, _: bool) -> TreeResult<()> {
        let removed = self.connection.remove(&parent.named(name), true);
        removed
            .map_err(|unmet| refused(unmet, TreeAction::RemoveDirectory, parent, &parent.at(name)))
    }

    fn empty_but(&mut self, at: &ShareDirectory, keep: &str, made: &MadeNames) -> TreeResult<Kept> {
        let page = self.connection.reaching().way.limits().largest_page();
        let removal = Removal { made, page };
        let emptied = self
            .connection
            .call(async |link| link.empty_but(&at.handle, keep, removal).await);
        emptied.map_err(|unmet| refused(unmet, TreeAction::Empty, at, &at.path))
    }

    fn list(
        &mut self,
        at: &ShareDirectory,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], ShareEntry) -> bool,
    ) -> TreeResult<()> {
        let listed = self.connection.each_entry(&at.handle, |entry| {
            let name = entry.name.as_bytes();
            let shown = ShareEntry {
                is_directory: entry.is_directory,
                len: entry.len,
            };
            is_wanted(name) && each(name, shown)
        });
        listed.map_err(|unmet| refused(unmet, TreeAction::List, at, &at.path))
    }

    fn is_directory(entry: ShareEntry) -> bool {
        entry.is_directory
    }

    fn record(
        &mut self,
        parent: &ShareDirectory,
        name: &[u8],
        _: ShareEntry,
    ) -> TreeResult<Option<ShareDirectory>> {
        let text = String::from_utf8_lossy(name);
        Ok(Some(parent.child(name, parent.named(&text))))
    }

    fn remove_names(
        &mut self,
        parent: &ShareDirectory,
        names: &[EntryName],
    ) -> TreeResult<Option<usize>> {
        let mut not_empty = None;
        for (index, name) in names.iter().enumerate() {
            let text = String::from_utf8_lossy(&name.name);
            let removed = self
                .connection
                .remove(&parent.named(&text), name.is_directory);
            match removed {
                Err(unmet) if unmet.is_any(&[Status::DIRECTORY_NOT_EMPTY]) => {
                    not_empty.get_or_insert(index);
                }
                removed => removed.map_err(|unmet| {
                    refused(
                        unmet,
                        TreeAction::RemoveFile,
                        parent,
                        &parent.at(&name.name),
                    )
                })?,
            }
        }
        Ok(not_empty)
    }

    fn pause(&mut self, pause: Duration) -> TreeResult<()> {
        let waited = self.connection.wait(pause);
        Ok(waited.map_err(|unmet| unmet.at("", "waiting").into_run_error())?)
    }
}

/// Entry of a listing.
#[derive(Debug, Clone, Copy)]
pub struct ShareEntry {
    /// Whether the entry is a directory.
    pub is_directory: bool,
    /// Length in bytes.
    pub len: u64,
}
