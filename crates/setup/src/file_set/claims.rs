//! The directories of a file set: claimed, released, removed.

use super::server::SetServer;
use super::{FileSetRequest, OrphanedSet};
use crate::workspace::Purpose;
use crate::workspace::set_directory::{OnSpecMismatch, SetDirectory};
use crate::workspace::set_removal;
use crate::workspace::tree::{FileTree, TreeDirectory};
use filestone_host::control::{Cancellation, CleanUpLimits, Observer, cancel_clean_up_on};
use filestone_host::error::RunError;
use filestone_plan::file_set::FileSetSpec;
use filestone_plan::plan::LeftoverPolicy;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time left to release a claim after the removal of a set was stopped.
pub const LAST_WORD: Duration = Duration::from_millis(300);

/// Returns the limits of a clean-up whose total time is not limited.
fn limits(stopped: Duration) -> CleanUpLimits {
    CleanUpLimits {
        stopped,
        finished: Duration::MAX,
    }
}

/// The directories that this process has claimed.
#[derive(Debug)]
pub struct Claims<H> {
    pub homes: Vec<SetDirectory<H>>,
}

impl<H: Clone + PartialEq> Claims<H> {
    /// Claims the set's directory in each of the given directories; returns the index of the claim
    /// for each of them. Sets of another spec are removed.
    pub fn claim<S: SetServer<Handle = H>>(
        &mut self,
        tree: &mut S::Tree<'_>,
        order: &FileSetRequest<'_, H>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<usize>, RunError> {
        let recipe = FileSetSpec::of(order.plan);
        let mut seen: Vec<&H> = Vec::new();
        let mut home_of_root = Vec::new();
        for (path, root) in order.roots {
            // A directory that is given twice has one set.
            if let Some(home) = seen.iter().position(|handle| *handle == root) {
                home_of_root.push(home);
                continue;
            }
            let parent = TreeDirectory {
                handle: root.clone(),
                path: path.clone(),
                purpose: Purpose::FileSet,
            };
            let other = match order.left_over {
                LeftoverPolicy::Remove => OnSpecMismatch::RemoveLeftOver,
                LeftoverPolicy::Refuse | LeftoverPolicy::RemoveIfOver => OnSpecMismatch::TakeOver,
            };
            let name = &order.plan.name;
            let (home, has_other) = SetDirectory::claim(tree, parent, name, &recipe, other)?;
            seen.push(root);
            home_of_root.push(self.homes.len());
            self.homes.push(home);
            if let Some(home) = self.homes.last().filter(|_| has_other) {
                observer.preparing(&format!(
                    "removing another file set in {}",
                    home.directory.path
                ));
                set_removal::empty(tree, &home.directory)?;
                home.enter_recipe(tree, &recipe)?;
            }
        }
        Ok(home_of_root)
    }

    /// Takes over the claims of a process that has ended. One failure does not stop the other
    /// takeovers.
    pub fn inherit<T: FileTree<Handle = H>>(
        &mut self,
        tree: &mut T,
        left: &OrphanedSet<'_, H>,
    ) -> Result<(), RunError> {
        let mut result = Ok(());
        let mut seen: Vec<&H> = Vec::new();
        for (path, root) in left.roots {
            if seen.contains(&root) {
                continue;
            }
            seen.push(root);
            let parent = TreeDirectory {
                handle: root.clone(),
                path: path.clone(),
                purpose: Purpose::FileSet,
            };
            match SetDirectory::inherit(tree, parent, left.name, left.owner) {
                Ok(home) => self.homes.extend(home),
                Err(refused) => result = result.and(Err(refused.into())),
            }
        }
        result
    }

    /// Returns the path of the first claimed directory.
    pub fn path(&self) -> Option<String> {
        self.homes.first().map(|home| home.directory.path.clone())
    }

    /// Releases all claims; within `limit` if the run has been stopped.
    pub fn release<S: SetServer<Handle = H>>(
        &self,
        server: &S,
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<(), RunError> {
        self.release_within(server, stop, limits(limit))
    }

    /// Releases all claims within these limits.
    pub fn release_within<S: SetServer<Handle = H>>(
        &self,
        server: &S,
        stop: &AtomicBool,
        limits: CleanUpLimits,
    ) -> Result<(), RunError> {
        if self.homes.is_empty() {
            return Ok(());
        }
        let cancellation = Cancellation::default();
        cancel_clean_up_on(stop, limits, &cancellation, || {
            server.on_tree(&cancellation, |tree| self.release_all::<S>(tree))
        })
    }

    /// Releases all claims. One failure does not stop the others.
    pub fn release_all<S: SetServer<Handle = H>>(
        &self,
        tree: &mut S::Tree<'_>,
    ) -> Result<(), RunError> {
        let mut result = Ok(());
        for home in &self.homes {
            let given_up = home.release(tree);
            result = result.and(given_up.map_err(RunError::from));
        }
        result
    }

    /// Removes all claimed sets.
    pub fn remove<S: SetServer<Handle = H>>(
        &mut self,
        server: &S,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let cancellation = Cancellation::default();
        let limits = limits(server.timeout());
        let removed = cancel_clean_up_on(stop, limits, &cancellation, || {
            server.on_tree(&cancellation, |tree| self.remove_all::<S>(tree))
        });
        if removed.is_err() {
            // A set that could not be removed is no longer in use either.
            let limit = if cancellation.is_cancelled() {
                LAST_WORD
            } else {
                server.timeout()
            };
            let _ = self.release(server, stop, limit);
        }
        removed
    }

    /// Removes all claimed sets, until one removal fails.
    pub fn remove_all<S: SetServer<Handle = H>>(
        &mut self,
        tree: &mut S::Tree<'_>,
    ) -> Result<(), RunError> {
        while let Some(home) = self.homes.last_mut() {
            home.check_ours(tree)?;
            set_removal::empty(tree, &home.directory)?;
            home.remove(tree)?;
            self.homes.pop();
        }
        Ok(())
    }
}
