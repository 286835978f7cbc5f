//! A directory of our own on a server, for operations that change things.
//!
//! It has a name that no other run gives, and a marker in it. Only what is in it is ever removed,
//! and then the directory itself.

use super::error::{ClaimError, Purpose};
use super::marker::Marker;
use super::set_directory::MARKER;
use super::tree::{Directory, Found, RefusalKind, Refused, Tree, Tried};
use crate::driver::CallError;
use crate::error::RunError;
use std::hash::{BuildHasher, Hasher, RandomState};

/// What to do about a directory that stays.
pub(crate) const REMOVE_BY_HAND: &str = "remove it by hand";
/// Times that a name is tried which is taken.
const NAME_TRIES: u32 = 4;
/// Times that the directory is emptied: calls of an interrupted run may still arrive meanwhile.
const PASSES: u32 = 16;

/// A directory of our own.
pub(crate) struct OwnDirectory<H> {
    parent: Directory<H>,
    /// It.
    pub directory: Directory<H>,
    name: String,
}

impl<H> OwnDirectory<H> {
    /// Makes it in `handle`, which is at `path`.
    pub fn make(tree: &mut impl Tree<Handle = H>, path: &str, handle: H) -> Result<Self, RunError> {
        let parent = Directory {
            handle,
            path: path.into(),
            purpose: Purpose::Probe,
        };
        for _ in 0..NAME_TRIES {
            // Not of the plan's seed: two runs of one plan must not meet.
            let name = RandomState::new().build_hasher().finish();
            let name = format!("filestone-{name:016x}");
            if let Some(directory) = tree.make_directory(&parent, &name)? {
                let own = Self {
                    parent,
                    directory,
                    name,
                };
                return Ok(own.marked(tree)?);
            }
        }
        let path = parent.path;
        Err(ClaimError::Overtaken { path }.into())
    }

    fn marked(mut self, tree: &mut impl Tree<Handle = H>) -> Tried<Self> {
        let made = tree.make_marker(&self.directory, MARKER, &Marker::default());
        match made.map_err(RunError::from) {
            // A server that contradicts itself can be probed all the same; the name of the
            // directory says whose it is, too.
            Ok(_)
            | Err(RunError::Call {
                source: CallError::Violation(_),
                ..
            }) => Ok(self),
            Err(error) => {
                let removed = self.remove_by(tree);
                Err(Refused::from(error).leaving(self.path(), removed, REMOVE_BY_HAND))
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.directory.path
    }

    /// Removes everything in it, and it.
    pub fn remove(mut self, tree: &mut impl Tree<Handle = H>) -> Result<(), RunError> {
        Ok(self.remove_by(tree)?)
    }

    fn remove_by(&mut self, tree: &mut impl Tree<Handle = H>) -> Tried<()> {
        for _ in 0..PASSES {
            match tree.empty_but(&self.directory, MARKER) {
                // A server that was started again may have lost the directory, or only its
                // handle.
                Err(refused) if refused.kind == RefusalKind::Stale => {
                    match tree.find(&self.parent, &self.name)? {
                        Found::Directory(directory) => {
                            self.directory = directory;
                            continue;
                        }
                        Found::Nothing | Found::Other => return Ok(()),
                    }
                }
                emptied => emptied?,
            }
            tree.remove_file(&self.directory, MARKER)?;
            match tree.remove_directory(&self.parent, &self.name, false) {
                Err(refused) if refused.kind == RefusalKind::NotEmpty => {}
                removed => return removed,
            }
        }
        let (path, purpose) = (self.directory.path.clone(), Purpose::Probe);
        Err(ClaimError::NeverEmpty { path, purpose }.into())
    }
}
