//! Whose the directory `clients` on a server is.
//!
//! A run makes it, and in it a marker that says which process on which host made
//! it and when. A directory without a marker is somebody else's. The server does
//! not tell when a process ends, so of a run on another host it is not known
//! whether it goes on; of one on this host, `/proc` tells.

use super::calls::{Failure, Nfs};
use super::remove::gone;
use crate::error::RunError;
use crate::replay::marker::{self, LeftOver};
use crate::replay::site::{CLIENTS, MARKER};
use filestone_model::load::Status as LoadStatus;
use filestone_model::plan::LeftOverPolicy;
use filestone_wire::nfs3::{FileType, Handle, Status};

/// What is said of a directory that has been emptied too often.
pub(super) const NEVER_EMPTY: &str = "never becomes empty: the server lists what it has removed, \
     or somebody else makes files in it";

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
            Failure::Lost(lost) if lost.is_stop() => RunError::Interrupted,
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
        let clients = match nfs.make_own_directory(&self.root, CLIENTS.as_bytes(), 0o700) {
            Err(failure) if failure.is(Status::EXIST) => {
                return Err(match self.owner(nfs) {
                    Ok((_, owner)) => self.complaint(&owner),
                    Err(failure) => self.error("LOOKUP", failure),
                });
            }
            made => made.map_err(|failure| self.error("MKDIR", failure))?,
        };
        let text = marker::text(self.host, false);
        match nfs.make_marker(&clients, MARKER.as_bytes(), 0o600, &text) {
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

    /// Says in the marker that the run is over and its trees were kept. That needs no room on
    /// the server: loads fill disks.
    pub(super) fn give_up(&self, nfs: &mut Nfs, clients: &Handle) -> Result<(), RunError> {
        let text = marker::text(self.host, true);
        nfs.rewrite_marker(clients, MARKER.as_bytes(), &text)
            .map_err(|failure| self.error("WRITE", failure))
    }

    /// Takes `clients` away with all that is in it: what was claimed, and nothing
    /// that may have come to be called so since.
    pub(super) fn remove(&self, nfs: &mut Nfs, clients: &Handle) -> Result<(), RunError> {
        // The marker goes last: what an interruption leaves is still known as ours.
        let emptied = nfs
            .empty_but(clients, MARKER.as_bytes())
            .and_then(|()| gone(nfs.remove(clients, MARKER.as_bytes())));
        match emptied {
            // A server that was started again may have lost the directory: then nothing of
            // that name is there.
            Err(failure) if failure.is(Status::STALE) && self.is_lost(nfs) => return Ok(()),
            Err(failure) if failure.is(Status::NOTEMPTY) => {
                return Err(unsuitable(
                    &format!("{}: {NEVER_EMPTY}", self.clients()),
                    "remove it with --remove-leftover, or by hand",
                ));
            }
            emptied => emptied.map_err(|failure| self.error("REMOVE", failure))?,
        }
        // Of a directory that is not empty, and so not ours, RMDIR takes nothing.
        gone(nfs.remove_directory(&self.root, CLIENTS.as_bytes()))
            .map_err(|failure| self.error("RMDIR", failure))
    }

    fn is_lost(&self, nfs: &mut Nfs) -> bool {
        let found = nfs.lookup(&self.root, CLIENTS.as_bytes());
        found.is_err_and(|failure| failure.is(Status::NOENT))
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
        let Some(text) = nfs.read_marker(&found.handle, MARKER.as_bytes())? else {
            return Ok(somebody);
        };
        let run = LeftOver::read(self.clients(), text.as_bytes());
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
