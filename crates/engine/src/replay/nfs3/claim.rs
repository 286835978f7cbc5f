//! Whose the directory `clients` on a server is.
//!
//! A run makes it, and in it a marker that says which process on which host made
//! it and when. A directory without a marker is somebody else's. The server does
//! not tell when a process ends, so of a run on another host it is not known
//! whether it goes on; of one on this host, `/proc` tells.

use super::calls::{Failure, Nfs, permissions};
use super::remove::gone;
use crate::error::RunError;
use crate::replay::marker::{self, LeftOver, MARKER_MAX_BYTES};
use crate::replay::site::{CLIENTS, MARKER};
use filestone_model::load::Status as LoadStatus;
use filestone_model::plan::LeftOverPolicy;
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{FileType, Handle, Status};

/// Whose a `clients` is that was there before.
enum Owner {
    /// A run of filestone.
    Run(LeftOver),
    /// Not filestone.
    Somebody,
}

/// A directory under test.
pub(super) struct Ground<'a> {
    /// How errors call it.
    pub path: &'a str,
    /// Its handle.
    pub root: Handle,
    /// The name of this host.
    pub host: &'a str,
}

impl Ground<'_> {
    fn clients(&self) -> String {
        format!("{}/{CLIENTS}", self.path.trim_end_matches('/'))
    }

    /// A failure with its place.
    pub(super) fn error(&self, procedure: &'static str, failure: Failure) -> RunError {
        match failure {
            Failure::Lost(lost) => unsuitable(&lost.what, "is the server still there?"),
            Failure::Answered(LoadStatus::Nfs(number)) => RunError::Nfs {
                path: self.clients(),
                procedure,
                status: Status(number),
            },
            Failure::Answered(other) => RunError::Internal(format!("{procedure}: {other:?}")),
        }
    }

    /// Makes `clients` and marks it; its handle.
    pub(super) fn claim(&self, nfs: &mut Nfs) -> Result<Handle, RunError> {
        let made = match nfs.make_directory(&self.root, CLIENTS.as_bytes(), 0o700) {
            Err(failure) if failure.is(Status::EXIST) => {
                return Err(match self.owner(nfs) {
                    Ok((_, owner)) => self.complaint(&owner),
                    Err(failure) => self.error("LOOKUP", failure),
                });
            }
            made => made.map_err(|failure| self.error("MKDIR", failure))?,
        };
        let clients = match made {
            Some(handle) => handle,
            None => nfs
                .lookup(&self.root, CLIENTS.as_bytes())
                .map(|found| found.handle)
                .map_err(|failure| self.error("LOOKUP", failure))?,
        };
        match self.mark(nfs, &clients, false) {
            Ok(()) => Ok(clients),
            Err(failure) => {
                // It was made a moment ago and has nothing in it but perhaps the
                // marker.
                nfs.remove(&clients, MARKER.as_bytes()).ok();
                nfs.remove_directory(&self.root, CLIENTS.as_bytes()).ok();
                Err(self.error("CREATE", failure))
            }
        }
    }

    fn mark(&self, nfs: &mut Nfs, clients: &Handle, is_given_up: bool) -> Result<(), Failure> {
        let text = marker::text(self.host, is_given_up);
        let how = CreateHow::Guarded(permissions(0o600));
        let marker = match nfs.create(clients, MARKER.as_bytes(), how)? {
            Some(handle) => handle,
            None => nfs.lookup(clients, MARKER.as_bytes())?.handle,
        };
        nfs.write(&marker, 0, text.as_bytes(), StableHow::FileSync)?;
        Ok(())
    }

    /// Says in the marker that the run is over and its trees were kept.
    pub(super) fn give_up(&self, nfs: &mut Nfs, clients: &Handle) -> Result<(), RunError> {
        nfs.remove(clients, MARKER.as_bytes())
            .and_then(|()| self.mark(nfs, clients, true))
            .map_err(|failure| self.error("CREATE", failure))
    }

    /// Takes `clients` away with all that is in it: what was claimed, and nothing
    /// that may have come to be called so since.
    pub(super) fn remove(&self, nfs: &mut Nfs, clients: &Handle) -> Result<(), RunError> {
        // The marker goes last: what an interruption leaves is still known as ours.
        nfs.empty_but(clients, MARKER.as_bytes())
            .and_then(|()| gone(nfs.remove(clients, MARKER.as_bytes())))
            .map_err(|failure| self.error("REMOVE", failure))?;
        // Of a directory that is not empty, and so not ours, RMDIR takes nothing.
        gone(nfs.remove_directory(&self.root, CLIENTS.as_bytes()))
            .map_err(|failure| self.error("RMDIR", failure))
    }

    fn owner(&self, nfs: &mut Nfs) -> Result<(Handle, Owner), Failure> {
        let found = nfs.lookup(&self.root, CLIENTS.as_bytes())?;
        let attributes = match found.attributes {
            Some(attributes) => attributes,
            None => nfs.attributes(&found.handle)?,
        };
        let somebody = (found.handle, Owner::Somebody);
        if attributes.file_type != FileType::Directory {
            return Ok(somebody);
        }
        let marker = match nfs.lookup(&found.handle, MARKER.as_bytes()) {
            Err(failure) if failure.is(Status::NOENT) => return Ok(somebody),
            marker => marker?.handle,
        };
        if nfs.attributes(&marker)?.file_type != FileType::Regular {
            return Ok(somebody);
        }
        let text = nfs.read_text(&marker, MARKER_MAX_BYTES)?;
        let run = LeftOver::read(self.clients(), &text);
        Ok((found.handle, run.map_or(Owner::Somebody, Owner::Run)))
    }

    fn complaint(&self, owner: &Owner) -> RunError {
        let path = self.clients();
        let Owner::Run(run) = owner else {
            return unsuitable(
                &format!("{path}: was not made by filestone: nothing has been touched"),
                "move it away, or use another directory",
            );
        };
        let (process, started) = (run.process_in_words(), run.started_in_words());
        match run.is_going_on(self.host) {
            Some(true) => unsuitable(
                &format!("{path}: another run is using it ({process})"),
                "wait for its end, or use another directory",
            ),
            Some(false) => unsuitable(
                &format!("{path}: was left over by {process}, whose run began {started}"),
                "remove it with --remove-leftover, which takes nothing else away",
            ),
            None => unsuitable(
                &format!("{path}: left over, or in use, by {process}, whose run began {started}"),
                "if that run is not going on, remove it with --remove-leftover",
            ),
        }
    }

    /// Removes what a run has left over; `None` if there is no `clients`.
    pub(super) fn remove_left_over(
        &self,
        nfs: &mut Nfs,
        policy: LeftOverPolicy,
    ) -> Result<Option<LeftOver>, RunError> {
        let (clients, owner) = match self.owner(nfs) {
            Err(failure) if failure.is(Status::NOENT) => return Ok(None),
            found => found.map_err(|failure| self.error("LOOKUP", failure))?,
        };
        match owner {
            Owner::Run(run) if may_go(run.is_going_on(self.host), policy) => {
                self.remove(nfs, &clients)?;
                Ok(Some(run))
            }
            owner => Err(self.complaint(&owner)),
        }
    }
}

/// Whether a tree may be taken away, if it is known whether its run goes on.
fn may_go(is_going_on: Option<bool>, policy: LeftOverPolicy) -> bool {
    match policy {
        LeftOverPolicy::Refuse => false,
        LeftOverPolicy::RemoveIfOver => is_going_on == Some(false),
        LeftOverPolicy::Remove => is_going_on != Some(true),
    }
}

fn unsuitable(what: &str, help: &str) -> RunError {
    RunError::Unsuitable(what.into(), Some(help.into()))
}
