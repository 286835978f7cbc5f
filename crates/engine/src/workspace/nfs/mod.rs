//! A tree on an NFSv3 server.
//!
//! A marker is made longer than its text: what it has to say later is written over it, in place,
//! so that a claim can also be given up, or taken over, on a server that has no room for
//! anything new.
//!
//! A server that keeps no file data (nfs-ganesha's in-memory file system, and ours with
//! `--discard`) still keeps where a symbolic link leads: there, the marker is one, and its
//! text is where it leads.
//!
//! All calls here may have been sent twice, if the connection was lost in between. Then "it is
//! there already" is the answer to the second sending, and is believed where nothing else can
//! have made it.

pub(crate) mod listing;
mod removal;

use super::error::{ClaimError, Purpose};
use super::marker::{LockHolder, MARKER_MAX_BYTES, Marker, padded};
use super::tree::{At, DIRECTORY_MODE, FILE_MODE, Found, FoundMarker, Step, Tree};
use crate::error::RunError;
use crate::nfs3::calls::{Failure, Nfs, Outcome, named, permissions};
use crate::nfs3::session::without_results;
use filestone_model::load::Status as LoadStatus;
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{FileType, Handle, Status};
use removal::gone;
use std::time::Duration;

/// Bytes of a page of a directory that should have next to nothing in it.
const PAGE: u32 = 8 << 10;

impl Nfs {
    /// MKDIR of a directory of the run's own; NFS3ERR_EXIST if it was there before.
    fn make_own_directory(&mut self, parent: &Handle, name: &[u8]) -> Outcome<Handle> {
        match self.make_directory(parent, name, DIRECTORY_MODE) {
            Ok(Some(handle)) => Ok(handle),
            // The server may leave the handle out (RFC 1813, section 3.3.9).
            Ok(None) => Ok(self.lookup(parent, name)?.handle),
            Err(failure) if failure.is(Status::EXIST) && self.0.was_resent() => {
                let found = self.lookup(parent, name)?.handle;
                match self.first_name(&found, &[])? {
                    None => Ok(found),
                    Some(_) => Err(failure),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// CREATE of an empty file of the run's own; NFS3ERR_EXIST if it was there before.
    pub(crate) fn make_own_file(&mut self, directory: &Handle, name: &[u8]) -> Outcome<Handle> {
        let how = CreateHow::Guarded(permissions(FILE_MODE));
        let made = match self.create(directory, name, how) {
            Err(failure) if failure.is(Status::EXIST) && self.0.was_resent() => None,
            made => made?,
        };
        match made {
            Some(handle) => Ok(handle),
            // The server may leave the handle out (RFC 1813, section 3.3.8).
            None => Ok(self.lookup(directory, name)?.handle),
        }
    }

    /// The same with this text; NFS3ERR_NOSPC if not all of it was taken.
    fn make_text(&mut self, directory: &Handle, name: &[u8], text: &str) -> Outcome<()> {
        let file = self.make_own_file(directory, name)?;
        let padded = padded(text, 0);
        self.write_text(&file, &padded)?;
        if self.read_text(&file, MARKER_MAX_BYTES)? == padded.as_bytes() {
            return Ok(());
        }
        self.remove(directory, name)?;
        self.symlink(directory, name, text.as_bytes()).map(drop)
    }

    fn replace_link(&mut self, directory: &Handle, name: &[u8], text: &str) -> Outcome<()> {
        let next = [name, b".link"].concat();
        gone(self.remove(directory, &next))?;
        self.symlink(directory, &next, text.as_bytes())?;
        self.rename(named(directory, &next), named(directory, name))
    }

    /// Writes a small file from its beginning, with certainty.
    ///
    /// A server may take a part of it (RFC 1813, section 3.3.7), and is sent the rest; that it
    /// took nothing is an error of the call already, so this comes to an end.
    fn write_text(&mut self, file: &Handle, text: &str) -> Outcome<()> {
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

/// "It is there already" as nothing made.
fn unless_there<T>(made: Outcome<T>) -> Outcome<Option<T>> {
    match made {
        Err(failure) if failure.is(Status::EXIST) => Ok(None),
        made => made.map(Some),
    }
}

impl Tree for Nfs {
    type Directory = Handle;
    type Lock = ();
    type Error = Failure;

    fn make_directory(&mut self, parent: &Handle, name: &str) -> Outcome<Option<Handle>> {
        unless_there(self.make_own_directory(parent, name.as_bytes()))
    }

    fn find(&mut self, parent: &Handle, name: &str) -> Outcome<Found<Handle>> {
        Ok(match self.find_object(parent, name.as_bytes())? {
            None => Found::Nothing,
            Some(found) if found.attributes.file_type == FileType::Directory => {
                Found::Directory(found.handle)
            }
            Some(_) => Found::Other,
        })
    }

    fn first_name(&mut self, directory: &Handle, known: &[&str]) -> Outcome<Option<Box<[u8]>>> {
        let mut first = None;
        self.find_name(directory, PAGE, |name| {
            let is_known = known.iter().any(|known| known.as_bytes() == name);
            if !is_known && !matches!(name, b"." | b"..") {
                first = Some(name.into());
            }
            first.is_some()
        })?;
        Ok(first)
    }

    fn make_marker(
        &mut self,
        directory: &Handle,
        name: &str,
        marker: &Marker<'_>,
    ) -> Outcome<Option<()>> {
        unless_there(self.make_text(directory, name.as_bytes(), &marker.text(false)))
    }

    fn read_marker(&mut self, directory: &Handle, name: &str) -> Outcome<Option<FoundMarker<()>>> {
        let Some(marker) = self.find_object(directory, name.as_bytes())? else {
            return Ok(None);
        };
        let text = match marker.attributes.file_type {
            FileType::Regular => self.read_text(&marker.handle, MARKER_MAX_BYTES)?,
            FileType::Symlink => self.link_text(&marker.handle)?,
            _ => return Ok(None),
        };
        Ok(Some(FoundMarker {
            text: String::from_utf8_lossy(&text).into_owned(),
            holder: LockHolder::None,
            lock: (),
        }))
    }

    /// No byte that was there stays, and none is added to a file that is long enough. A symbolic
    /// link is replaced by another one.
    fn rewrite_marker(
        &mut self,
        directory: &Handle,
        name: &str,
        marker: &Marker<'_>,
    ) -> Outcome<()> {
        let text = marker.text(false);
        let found = self.find_object(directory, name.as_bytes())?;
        let marker = found.ok_or(Failure::from(Status::NOENT))?;
        if marker.attributes.file_type == FileType::Symlink {
            return self.replace_link(directory, name.as_bytes(), &text);
        }
        let text = padded(&text, marker.attributes.size);
        self.write_text(&marker.handle, &text)
    }

    fn replace_marker(
        &mut self,
        directory: &Handle,
        from: &str,
        to: &str,
        (): &(),
    ) -> Outcome<bool> {
        match self.rename(
            named(directory, from.as_bytes()),
            named(directory, to.as_bytes()),
        ) {
            // Sent twice, and done the first time.
            Err(failure) if failure.is(Status::NOENT) && self.0.was_resent() => Ok(true),
            renamed => renamed.map(|()| true),
        }
    }

    fn remove_file(&mut self, parent: &Handle, name: &str) -> Outcome<()> {
        gone(self.remove(parent, name.as_bytes()))
    }

    fn remove_directory(&mut self, parent: &Handle, name: &str) -> Outcome<()> {
        gone(Nfs::remove_directory(self, parent, name.as_bytes()))
    }

    fn empty_but(&mut self, directory: &Handle, keep: &str) -> Outcome<()> {
        Nfs::empty_but(self, directory, keep.as_bytes())
    }

    fn pause(&mut self, pause: Duration) -> Outcome<()> {
        Ok(self.0.wait(pause)?)
    }

    fn is_full(failure: &Failure) -> bool {
        failure.is(Status::NOSPC) || failure.is(Status::DQUOT)
    }

    fn is_stale(failure: &Failure) -> bool {
        failure.is(Status::STALE)
    }

    fn refused(failure: Failure, step: Step, at: &At<'_>) -> RunError {
        match failure {
            Failure::Lost(lost) if lost.is_stop() => RunError::Interrupted,
            Failure::Lost(lost) if at.purpose == Purpose::Probe => without_results(lost, at.path),
            Failure::Lost(lost) => ClaimError::Lost {
                what: lost.to_string(),
            }
            .into(),
            Failure::Answered(LoadStatus::Nfs(number))
                if step == Step::Empty && Status(number) == Status::NOTEMPTY =>
            {
                let (path, purpose) = (at.path.into(), at.purpose);
                ClaimError::NeverEmpty { path, purpose }.into()
            }
            Failure::Answered(LoadStatus::Nfs(number)) => RunError::Nfs {
                path: at.path.into(),
                procedure: procedure(step),
                status: Status(number),
            },
            Failure::Answered(other) => {
                RunError::Internal(format!("{}: {other:?}", procedure(step)))
            }
        }
    }
}

fn procedure(step: Step) -> &'static str {
    match step {
        Step::Find => "LOOKUP",
        Step::MakeDirectory => "MKDIR",
        Step::MakeMarker => "CREATE",
        Step::ReadMarker => "READ",
        Step::RewriteMarker => "WRITE",
        Step::ReplaceMarker => "RENAME",
        Step::List => "READDIRPLUS",
        Step::RemoveFile | Step::Empty => "REMOVE",
        Step::RemoveDirectory => "RMDIR",
    }
}
