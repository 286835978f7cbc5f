//! Whose the directory `clients` on a server is.
//!
//! A run makes it, and in it a marker that says which process on which host made
//! it and when. A directory without a marker is somebody else's. The server does
//! not tell when a process ends, so of a run on another host it is not known
//! whether it goes on; of one on this host, `/proc` tells.

use super::calls::{Failure, Nfs};
use super::remove::gone;
use crate::error::RunError;
use crate::replay::site::{BESIDE, Beside, CLIENTS, MARKER};
use crate::workspace::marker::{Liveness, LockHolder, Marker, Owner as LeftOver};
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

/// What a run has claimed.
pub(super) struct Claimed {
    /// The directory `clients`.
    pub clients: Handle,
    /// Where it is, if not in the directory under test itself.
    pub place: Option<OwnPlace>,
}

/// A place of the run's own in the directory under test.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnPlace {
    /// Its handle.
    pub root: Handle,
    /// Whether it was made for this run, and goes with it.
    pub has_made: bool,
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
        self.error_of(&self.clients(), procedure, failure)
    }

    fn error_of(&self, path: &str, procedure: &'static str, failure: Failure) -> RunError {
        match failure {
            Failure::Lost(lost) if lost.is_stop() => RunError::Interrupted,
            Failure::Lost(lost) => unsuitable(&lost.what, "is the server still there?"),
            Failure::Answered(LoadStatus::Nfs(number)) => RunError::Nfs {
                path: path.into(),
                procedure,
                status: Status(number),
            },
            Failure::Answered(other) => RunError::Internal(format!("{procedure}: {other:?}")),
        }
    }

    /// Claims `clients` in the directory, or in a place of our own in it.
    pub(super) fn claim(&self, nfs: &mut Nfs, beside: Beside) -> Result<Claimed, RunError> {
        if let Some(clients) = self.make_clients(nfs)? {
            return Ok(Claimed {
                clients,
                place: None,
            });
        }
        let (clients, owner) = self
            .owner(nfs)
            .map_err(|failure| self.error("LOOKUP", failure))?;
        if !self.may_work_beside(nfs, (&clients, &owner), beside)? {
            return Err(self.complaint(&owner));
        }
        let path = self.place_path();
        let made = nfs.make_own_directory(&self.root, BESIDE.as_bytes(), 0o700);
        let (root, has_made) = match made {
            Err(failure) if failure.is(Status::EXIST) => {
                let found = nfs.lookup(&self.root, BESIDE.as_bytes());
                (found.map(|found| found.handle), false)
            }
            made => (made, true),
        };
        let root = root.map_err(|failure| self.error_of(&path, "MKDIR", failure))?;
        let place = Ground {
            path: &path,
            root,
            host: self.host,
        };
        let claimed = place.make_clients(nfs).and_then(|clients| match clients {
            Some(clients) => Ok(clients),
            None => Err(match place.owner(nfs) {
                Ok((_, owner)) => place.complaint(&owner),
                Err(failure) => place.error("LOOKUP", failure),
            }),
        });
        match claimed {
            Ok(clients) => Ok(Claimed {
                clients,
                place: Some(OwnPlace { root, has_made }),
            }),
            Err(error) => {
                if has_made {
                    self.remove_place(nfs).ok();
                }
                Err(error)
            }
        }
    }

    /// The path of the run's own place in the directory.
    pub(super) fn place_path(&self) -> String {
        format!("{}/{BESIDE}", self.path.trim_end_matches('/'))
    }

    /// Takes the run's own place away, in which there is nothing any more.
    pub(super) fn remove_place(&self, nfs: &mut Nfs) -> Result<(), RunError> {
        gone(nfs.remove_directory(&self.root, BESIDE.as_bytes()))
            .map_err(|failure| self.error_of(&self.place_path(), "RMDIR", failure))
    }

    /// Whether a run may work beside a `clients` of theirs.
    fn may_work_beside(
        &self,
        nfs: &mut Nfs,
        (clients, owner): (&Handle, &Owner),
        beside: Beside,
    ) -> Result<bool, RunError> {
        match (owner, beside) {
            (Owner::Run(_), _) => Ok(false),
            (Owner::Somebody, Beside::Always) => Ok(true),
            (Owner::Somebody, Beside::IfEmpty) => match nfs.is_empty(clients) {
                // A file, for one, is no directory with nothing in it.
                Err(Failure::Answered(_)) => Ok(false),
                found => found.map_err(|failure| self.error("READDIR", failure)),
            },
        }
    }

    /// Makes `clients` and marks it; its handle, or `None` if it is there.
    fn make_clients(&self, nfs: &mut Nfs) -> Result<Option<Handle>, RunError> {
        let clients = match nfs.make_own_directory(&self.root, CLIENTS.as_bytes(), 0o700) {
            Err(failure) if failure.is(Status::EXIST) => return Ok(None),
            made => made.map_err(|failure| self.error("MKDIR", failure))?,
        };
        let text = Marker::default().text(false);
        match nfs.make_marker(&clients, MARKER.as_bytes(), 0o600, &text) {
            Ok(()) => Ok(Some(clients)),
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
        let marker = Marker {
            is_given_up: true,
            ..Marker::default()
        };
        let text = marker.text(false);
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
        let run = LeftOver::read(&self.clients(), &text);
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
        match run.liveness(LockHolder::None) {
            Liveness::Running => unsuitable(
                &format!("{path}: another run is using it ({process})"),
                "wait for its end, or use another directory",
            ),
            Liveness::Over => unsuitable(
                &format!("{path}: was left over by {process}, whose run began {started}"),
                "remove it with --remove-leftover, which takes nothing else away",
            ),
            Liveness::Unknown => unsuitable(
                &format!("{path}: left over, or in use, by {process}, whose run began {started}"),
                "if that run is not going on, remove it with --remove-leftover",
            ),
        }
    }

    /// Removes what a run has left over, and what one has left in a place of its own;
    /// `None` if there is nothing.
    pub(super) fn remove_left_over(
        &self,
        nfs: &mut Nfs,
        policy: LeftOverPolicy,
        beside: Beside,
    ) -> Result<Option<LeftOver>, RunError> {
        let (clients, owner) = match self.owner(nfs) {
            Err(failure) if failure.is(Status::NOENT) => return Ok(None),
            found => found.map_err(|failure| self.error("LOOKUP", failure))?,
        };
        if self.may_work_beside(nfs, (&clients, &owner), beside)? {
            return self.remove_place_left_over(nfs, policy);
        }
        self.remove_of(nfs, policy, (clients, owner)).map(Some)
    }

    fn remove_of(
        &self,
        nfs: &mut Nfs,
        policy: LeftOverPolicy,
        (clients, owner): (Handle, Owner),
    ) -> Result<LeftOver, RunError> {
        match owner {
            Owner::Run(run) if may_go(run.liveness(LockHolder::None), policy) => {
                self.remove(nfs, &clients)?;
                Ok(run)
            }
            owner => Err(self.complaint(&owner)),
        }
    }

    fn remove_place_left_over(
        &self,
        nfs: &mut Nfs,
        policy: LeftOverPolicy,
    ) -> Result<Option<LeftOver>, RunError> {
        let path = self.place_path();
        let root = match nfs.lookup(&self.root, BESIDE.as_bytes()) {
            Err(failure) if failure.is(Status::NOENT) => return Ok(None),
            found => found.map_err(|failure| self.error_of(&path, "LOOKUP", failure))?,
        };
        let place = Ground {
            path: &path,
            root: root.handle,
            host: self.host,
        };
        let found = match place.owner(nfs) {
            Err(failure) if failure.is(Status::NOENT) => return Ok(None),
            found => found.map_err(|failure| place.error("LOOKUP", failure))?,
        };
        let run = place.remove_of(nfs, policy, found)?;
        // If there is more in it, it stays.
        nfs.remove_directory(&self.root, BESIDE.as_bytes()).ok();
        Ok(Some(run))
    }
}

/// Whether a tree may be taken away whose run lives or not.
fn may_go(liveness: Liveness, policy: LeftOverPolicy) -> bool {
    match policy {
        LeftOverPolicy::Refuse => false,
        LeftOverPolicy::RemoveIfOver => liveness == Liveness::Over,
        LeftOverPolicy::Remove => liveness != Liveness::Running,
    }
}

fn unsuitable(what: &str, help: &str) -> RunError {
    RunError::Unsuitable(what.into(), Some(help.into()))
}
