//! A directory of our own on the server, for operations that change things.
//!
//! It has a name that no other run gives, and a marker in it. Only what is in it is ever removed,
//! and then the directory itself.

use crate::error::RunError;
use crate::nfs3::calls::Nfs;
use crate::nfs3::session::{Session, at_path};
use crate::workspace::marker::Marker;
use crate::workspace::set_directory::MARKER;
use crate::workspace::tree::{At, Found, Step, Tree, join};
use crate::workspace::{ClaimError, Purpose};
use filestone_wire::nfs3::{Handle, Status};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Times that a name is tried which is taken.
const NAME_TRIES: u32 = 4;
/// Times that the directory is emptied: calls of an interrupted run may still arrive meanwhile.
const PASSES: u32 = 16;

/// A directory of our own.
pub struct OwnDirectory {
    parent: Handle,
    handle: Handle,
    name: String,
    path: String,
}

fn at(path: &str) -> At<'_> {
    let purpose = Purpose::Probe;
    At { path, purpose }
}

impl OwnDirectory {
    /// Makes it in `parent`, which is at `path`.
    pub fn make(session: &mut Session, path: &str, parent: Handle) -> Result<Self, RunError> {
        let nfs = session.nfs();
        for _ in 0..NAME_TRIES {
            // Not of the plan's seed: two runs of one plan must not meet.
            let name = RandomState::new().build_hasher().finish();
            let name = format!("filestone-{name:016x}");
            let path = join(path, name.as_bytes());
            let made = Tree::make_directory(nfs, &parent, &name);
            let Some(handle) = made.map_err(at(&path).failed::<Nfs>(Step::MakeDirectory))? else {
                continue;
            };
            let own = Self {
                parent,
                handle,
                name,
                path,
            };
            return own.marked(nfs);
        }
        let path = path.into();
        Err(ClaimError::Overtaken { path }.into())
    }

    fn marked(mut self, nfs: &mut Nfs) -> Result<Self, RunError> {
        match nfs.make_marker(&self.handle, MARKER, &Marker::default()) {
            Ok(_) => Ok(self),
            Err(failure) => {
                // The first error is the one to report.
                let _ = self.remove_by(nfs);
                Err(Nfs::refused(failure, Step::MakeMarker, &at(&self.path)))
            }
        }
    }

    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Makes an empty file in it.
    pub fn make_file(&self, session: &mut Session, name: &str) -> Result<Handle, RunError> {
        let made = session.nfs().make_own_file(&self.handle, name.as_bytes());
        let path = || join(&self.path, name.as_bytes());
        made.map_err(|failure| at_path(failure, &path(), "CREATE"))
    }

    /// Removes everything in it, and it.
    pub fn remove(mut self, session: &mut Session) -> Result<(), RunError> {
        self.remove_by(session.nfs())
    }

    fn remove_by(&mut self, nfs: &mut Nfs) -> Result<(), RunError> {
        for _ in 0..PASSES {
            match Tree::empty_but(nfs, &self.handle, MARKER) {
                // A server that was started again may have lost the directory, or only its
                // handle.
                Err(failure) if Nfs::is_stale(&failure) => {
                    if !self.find_again(nfs)? {
                        return Ok(());
                    }
                    continue;
                }
                emptied => emptied.map_err(at(&self.path).failed::<Nfs>(Step::Empty))?,
            }
            nfs.remove_file(&self.handle, MARKER)
                .map_err(at(&self.path).failed::<Nfs>(Step::RemoveFile))?;
            match Tree::remove_directory(nfs, &self.parent, &self.name) {
                Err(failure) if failure.is(Status::NOTEMPTY) || failure.is(Status::EXIST) => {}
                removed => {
                    return removed.map_err(at(&self.path).failed::<Nfs>(Step::RemoveDirectory));
                }
            }
        }
        let (path, purpose) = (self.path.clone(), Purpose::Probe);
        Err(ClaimError::NeverEmpty { path, purpose }.into())
    }

    /// Looks it up by its name; says whether it is still there.
    fn find_again(&mut self, nfs: &mut Nfs) -> Result<bool, RunError> {
        let found = nfs.find(&self.parent, &self.name);
        match found.map_err(at(&self.path).failed::<Nfs>(Step::Find))? {
            Found::Directory(handle) => {
                self.handle = handle;
                Ok(true)
            }
            Found::Nothing | Found::Other => Ok(false),
        }
    }
}
