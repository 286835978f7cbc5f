//! Directory trees on an NFSv3 server.
//!
//! A marker file is padded beyond its text, so that later texts overwrite it in place. A claim can
//! therefore be released or taken over even if the server has no space left.
//!
//! A server that discards file data (nfs-ganesha's in-memory file system, or the built-in server
//! with `--discard`) still stores the targets of symbolic links. On such servers the marker is a
//! symbolic link with the text as its target.
//!
//! Any call here may have been sent twice if the connection was lost in between. Then an EXIST
//! status answers the second transmission, and is ignored if no other process can have created the
//! object.

mod names;

use crate::driver::window::{CallPipeline, Work};
use crate::nfs3::calls::{NfsConnection, NfsError, NfsResult, named, permissions};
use crate::nfs3::session::{at_path, without_results};
use crate::workspace::ClaimError;
use crate::workspace::Purpose;
use crate::workspace::marker::{LockHolder, MARKER_MAX_BYTES, Marker, padded};
use crate::workspace::tree::{
    EntryName, FileTree, Found, FoundMarker, MarkerLock, RefusalKind, TreeAction, TreeDirectory,
    TreeError, TreeResult,
};
use filestone_host::error::RunError;
use filestone_plan::made::{Kept, MadeNames};
use filestone_protocol::client::nfs3::sequence::ObjectWithAttributes as Object;
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{FileType, Handle, Procedure, Status};
use names::PendingRemovals;
use std::time::Duration;

/// Page size in bytes for directories that should be almost empty.
const PAGE: u32 = 8 << 10;

impl NfsConnection {
    /// MKDIR of a directory owned by the run; NFS3ERR_EXIST if it existed before.
    fn make_own_directory(&mut self, parent: &Handle, name: &[u8]) -> NfsResult<Handle> {
        let mode = self.modes().directory;
        match self.call(|link| link.make_directory(parent, name, mode)) {
            Ok(Some(handle)) => Ok(handle),
            // The server may leave the handle out (RFC 1813, section 3.3.9).
            Ok(None) => Ok(self.call(|link| link.lookup(parent, name))?.handle),
            Err(failure) if failure.is(Status::EXIST) && self.connection.was_resent() => {
                let found = self.call(|link| link.lookup(parent, name))?.handle;
                match self.first_name(&found, &[])? {
                    None => Ok(found),
                    Some(_) => Err(failure),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// CREATE of an empty file owned by the run; NFS3ERR_EXIST if it existed before.
    pub(crate) fn make_own_file(&mut self, directory: &Handle, name: &[u8]) -> NfsResult<Handle> {
        let how = CreateHow::Guarded(permissions(self.modes().file));
        let made = match self.call(|link| link.create(directory, name, how)) {
            Err(failure) if failure.is(Status::EXIST) && self.connection.was_resent() => None,
            made => made?,
        };
        match made {
            Some(handle) => Ok(handle),
            // The server may leave the handle out (RFC 1813, section 3.3.8).
            None => Ok(self.call(|link| link.lookup(directory, name))?.handle),
        }
    }

    /// Creates a file with this text; NFS3ERR_NOSPC if the text was not stored completely.
    fn make_text(&mut self, directory: &Handle, name: &[u8], text: &str) -> NfsResult<()> {
        let file = self.make_own_file(directory, name)?;
        let padded = padded(text, 0);
        self.write_text(&file, &padded)?;
        if self.call(|link| link.read_text(&file, MARKER_MAX_BYTES))? == padded.as_bytes() {
            return Ok(());
        }
        self.call(|link| link.remove(directory, name))?;
        self.call(|link| link.symlink(directory, name, text.as_bytes()))
            .map(drop)
    }

    /// Returns the text of a marker; `None` if the object cannot be a marker.
    fn marker_text(&mut self, directory: &Handle, name: &[u8]) -> NfsResult<Option<String>> {
        let Some(Object { handle, attributes }) =
            self.call(|link| link.find_object(directory, name))?
        else {
            return Ok(None);
        };
        let text = match attributes.file_type {
            FileType::Regular => self.call(|link| link.read_text(&handle, MARKER_MAX_BYTES))?,
            FileType::Symlink => self.call(|link| link.link_text(&handle))?,
            _ => return Ok(None),
        };
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Overwrites the text of a marker. All previous bytes are replaced, and a file that is long
    /// enough does not grow. A symbolic link is replaced by a new one.
    fn rewrite(&mut self, directory: &Handle, name: &[u8], text: &str) -> NfsResult<()> {
        let found = self.call(|link| link.find_object(directory, name))?;
        let Object { handle, attributes } = found.ok_or(NfsError::from(Status::NOENT))?;
        if attributes.file_type == FileType::Symlink {
            return self.replace_link(directory, name, text);
        }
        self.write_text(&handle, &padded(text, attributes.size))
    }

    /// Returns the first name in a directory that is not in `known`.
    fn first_name(&mut self, directory: &Handle, known: &[&str]) -> NfsResult<Option<Box<[u8]>>> {
        let mut first = None;
        self.call(|link| {
            link.find_name(directory, PAGE, |name| {
                let is_known = known.iter().any(|known| known.as_bytes() == name);
                if !is_known && !matches!(name, b"." | b"..") {
                    first = Some(name.into());
                }
                first.is_some()
            })
        })?;
        Ok(first)
    }

    fn replace_link(&mut self, directory: &Handle, name: &[u8], text: &str) -> NfsResult<()> {
        let next = [name, b".link"].concat();
        gone(self.call(|link| link.remove(directory, &next)))?;
        self.call(|link| link.symlink(directory, &next, text.as_bytes()))?;
        self.call(|link| link.rename(named(directory, &next), named(directory, name)))
    }

    /// Writes a small file from its beginning, with stable writes.
    ///
    /// A server may write only a part (RFC 1813, section 3.3.7), after which the rest is sent. A
    /// write of 0 bytes is already an error of the call, so the loop terminates.
    fn write_text(&mut self, file: &Handle, text: &str) -> NfsResult<()> {
        let mut rest = text.as_bytes();
        let mut offset = 0;
        while !rest.is_empty() {
            let written = self.write(file, offset, rest, StableHow::FileSync)?;
            offset += u64::from(written.count);
            rest = rest.get(written.count as usize..).unwrap_or_default();
        }
        Ok(())
    }
}

/// Treats NOENT as success: the object is gone.
fn gone(answer: NfsResult<()>) -> NfsResult<()> {
    match answer {
        Err(failure) if failure.is(Status::NOENT) => Ok(()),
        answer => answer,
    }
}

/// Converts an EXIST status to `None`.
fn unless_there<T>(made: NfsResult<T>) -> NfsResult<Option<T>> {
    match made {
        Err(failure) if failure.is(Status::EXIST) => Ok(None),
        made => made.map(Some),
    }
}

/// A directory on a server.
type NfsDirectory = TreeDirectory<Handle>;

/// Directory trees of a server.
pub struct NfsTree<'a> {
    /// The session of its calls.
    pub nfs: &'a mut NfsConnection,
    /// Pipeline for many concurrent calls; `None` if directories are only claimed.
    pub window: Option<&'a mut CallPipeline>,
}

impl<'a> NfsTree<'a> {
    /// Creates a tree for claiming directories only.
    pub fn new(nfs: &'a mut NfsConnection) -> Self {
        Self { nfs, window: None }
    }

    /// Executes many concurrent calls.
    pub fn run<W: Work<Error = RunError>>(&mut self, work: &mut W) -> Result<(), RunError> {
        match &mut self.window {
            Some(window) => window.run(work),
            None => Err(RunError::Internal("no connection for many calls".into())),
        }
    }
}

fn kind_of(failure: &NfsError) -> RefusalKind {
    let is_any = |statuses: &[Status]| statuses.iter().any(|status| failure.is(*status));
    if is_any(&[Status::NOSPC, Status::DQUOT]) {
        RefusalKind::Full
    } else if is_any(&[Status::STALE]) {
        RefusalKind::Stale
    } else if is_any(&[Status::ACCES, Status::PERM]) {
        RefusalKind::Denied
    } else if is_any(&[Status::NOTEMPTY, Status::EXIST]) {
        RefusalKind::NotEmpty
    } else {
        RefusalKind::Other
    }
}

impl NfsDirectory {
    /// Returns the error of a step in this directory.
    pub fn failed(&self, step: TreeAction) -> impl Fn(NfsError) -> TreeError + use<> {
        let (path, purpose) = (self.path.clone(), self.purpose);
        move |failure| TreeError {
            kind: kind_of(&failure),
            error: refused(failure, step, &path, purpose),
        }
    }

    /// Returns the error of a step for an entry of this directory.
    fn failed_with(&self, step: TreeAction, name: &str) -> impl Fn(NfsError) -> TreeError + use<> {
        self.child(name, self.handle).failed(step)
    }
}

impl FileTree for NfsTree<'_> {
    type Handle = Handle;
    type Entry = Object;

    fn make_directory(
        &mut self,
        parent: &NfsDirectory,
        name: &str,
    ) -> TreeResult<Option<NfsDirectory>> {
        let made = self.nfs.make_own_directory(&parent.handle, name.as_bytes());
        let made =
            unless_there(made).map_err(parent.failed_with(TreeAction::MakeDirectory, name))?;
        Ok(made.map(|handle| parent.child(name, handle)))
    }

    fn find(&mut self, parent: &NfsDirectory, name: &str) -> TreeResult<Found<Handle>> {
        let found = self
            .nfs
            .call(|link| link.find_object(&parent.handle, name.as_bytes()));
        let found = found.map_err(parent.failed_with(TreeAction::Find, name))?;
        Ok(match found {
            None => Found::Nothing,
            Some(object) if Self::is_directory(object) => {
                Found::Directory(parent.child(name, object.handle))
            }
            Some(_) => Found::Other,
        })
    }

    fn first_name(&mut self, at: &NfsDirectory, known: &[&str]) -> TreeResult<Option<Box<[u8]>>> {
        let first = self.nfs.first_name(&at.handle, known);
        first.map_err(at.failed(TreeAction::List))
    }

    fn make_marker(
        &mut self,
        at: &NfsDirectory,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<Option<MarkerLock>> {
        let text = marker.text(false);
        let made = unless_there(self.nfs.make_text(&at.handle, name.as_bytes(), &text));
        let made = made.map_err(at.failed_with(TreeAction::MakeMarker, name))?;
        Ok(made.map(|()| MarkerLock::default()))
    }

    fn read_marker(&mut self, at: &NfsDirectory, name: &str) -> TreeResult<Option<FoundMarker>> {
        let text = self.nfs.marker_text(&at.handle, name.as_bytes());
        let text = text.map_err(at.failed_with(TreeAction::ReadMarker, name))?;
        Ok(text.map(|text| FoundMarker {
            text,
            holder: LockHolder::None,
            lock: MarkerLock::default(),
        }))
    }

    fn rewrite_marker(
        &mut self,
        at: &NfsDirectory,
        name: &str,
        marker: &Marker<'_>,
    ) -> TreeResult<()> {
        let text = marker.text(false);
        self.nfs
            .rewrite(&at.handle, name.as_bytes(), &text)
            .map_err(at.failed_with(TreeAction::RewriteMarker, name))
    }

    fn replace_marker(
        &mut self,
        at: &NfsDirectory,
        from: &str,
        to: &str,
        _: &MarkerLock,
    ) -> TreeResult<bool> {
        let (old, new) = (
            named(&at.handle, from.as_bytes()),
            named(&at.handle, to.as_bytes()),
        );
        match self.nfs.call(|link| link.rename(old, new)) {
            // The first transmission has already renamed it.
            Err(failure) if failure.is(Status::NOENT) && self.nfs.connection.was_resent() => {
                Ok(true)
            }
            renamed => renamed
                .map(|()| true)
                .map_err(at.failed_with(TreeAction::ReplaceMarker, from)),
        }
    }

    fn remove_file(&mut self, parent: &NfsDirectory, name: &str) -> TreeResult<()> {
        gone(
            self.nfs
                .call(|link| link.remove(&parent.handle, name.as_bytes())),
        )
        .map_err(parent.failed_with(TreeAction::RemoveFile, name))
    }

    fn remove_directory(&mut self, parent: &NfsDirectory, name: &str, _: bool) -> TreeResult<()> {
        gone(
            self.nfs
                .call(|link| link.remove_directory(&parent.handle, name.as_bytes())),
        )
        .map_err(parent.failed_with(TreeAction::RemoveDirectory, name))
    }

    fn empty_but(&mut self, at: &NfsDirectory, keep: &str, made: &MadeNames) -> TreeResult<Kept> {
        let emptied = self
            .nfs
            .call(|link| link.empty_but(&at.handle, keep.as_bytes(), made));
        emptied.map_err(at.failed(TreeAction::Empty))
    }

    fn list(
        &mut self,
        at: &NfsDirectory,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&[u8], Object) -> bool,
    ) -> TreeResult<()> {
        let failed = at.failed(TreeAction::List);
        self.nfs
            .connection
            .check_cancelled()
            .map_err(|lost| failed(lost.into()))?;
        self.nfs
            .call(|link| {
                link.each_object(&at.handle, is_wanted, |name, object| each(name, *object))
            })
            .map_err(failed)
    }

    fn is_directory(entry: Object) -> bool {
        entry.attributes.file_type == FileType::Directory
    }

    fn record(
        &mut self,
        parent: &NfsDirectory,
        name: &[u8],
        entry: Object,
    ) -> TreeResult<Option<NfsDirectory>> {
        // Objects of another mounted file system do not belong to the run, whatever their names.
        let entered = match self.nfs.call(|link| link.attributes(&parent.handle)) {
            Ok(of_parent) if of_parent.fsid != entry.attributes.fsid => Err(Status::XDEV.into()),
            attributes => attributes.map(|_| parent.child(name, entry.handle)),
        };
        let failed = |failure| refused(failure, TreeAction::Find, &parent.at(name), parent.purpose);
        Ok(entered.map(Some).map_err(failed)?)
    }

    fn remove_names(
        &mut self,
        parent: &NfsDirectory,
        names: &[EntryName],
    ) -> TreeResult<Option<usize>> {
        let mut removal = PendingRemovals::new(parent, names);
        self.run(&mut removal)?;
        Ok(removal.not_empty)
    }

    fn pause(&mut self, pause: Duration) -> TreeResult<()> {
        let waited = self.nfs.connection.wait(pause);
        let failed = |lost| refused(lost, TreeAction::RewriteMarker, "", Purpose::FileSet);
        Ok(waited.map_err(|lost| failed(NfsError::Lost(lost)))?)
    }
}

fn refused(failure: NfsError, step: TreeAction, path: &str, purpose: Purpose) -> RunError {
    match failure {
        NfsError::Lost(lost) if lost.is_stop() => RunError::Interrupted,
        NfsError::Lost(lost) if purpose == Purpose::Probe => without_results(lost, path),
        NfsError::Lost(lost) => ClaimError::Lost {
            what: lost.to_string(),
        }
        .into(),
        failure if step == TreeAction::Empty && failure.is(Status::NOTEMPTY) => {
            let path = path.into();
            ClaimError::NeverEmpty { path, purpose }.into()
        }
        failure => at_path(failure, path, procedure(step)),
    }
}

fn procedure(step: TreeAction) -> Procedure {
    match step {
        TreeAction::Find => Procedure::Lookup,
        TreeAction::MakeDirectory => Procedure::Mkdir,
        TreeAction::MakeMarker => Procedure::Create,
        TreeAction::ReadMarker => Procedure::Read,
        TreeAction::RewriteMarker => Procedure::Write,
        TreeAction::ReplaceMarker => Procedure::Rename,
        TreeAction::List => Procedure::Readdirplus,
        TreeAction::RemoveFile | TreeAction::Empty => Procedure::Remove,
        TreeAction::RemoveDirectory => Procedure::Rmdir,
    }
}

#[cfg(test)]
mod tests;
