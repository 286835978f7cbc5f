//! A directory that filestone makes on a server, for operations that change objects.
//!
//! Its name is unique to the run, and it contains a marker, by which a later run finds the remains
//! of a killed run. Only the names that a probe makes are removed from it, and then the directory
//! itself; if it contains anything else, both stay.

use super::error::{ClaimError, Purpose};
use super::marker::{Liveness, Marker};
use super::test_directory::may_go;
use super::tree::{DirectoryOf, FileTree, Found, RefusalKind, TreeDirectory, TreeResult};
use crate::driver::{CallError, UnmeasuredCallError};
use filestone_host::control::{CleanUpLimits, clean_up_limits};
use filestone_host::error::RunError;
use filestone_plan::file_set::FileSetSpec;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::LeftoverPolicy;
use filestone_workload::load::MARKER;
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

/// Advice for a directory that stays.
pub const REMOVE_LEFTOVER: &str = "remove it with --remove-leftover, or by hand";
/// Prefix of the names of such directories; sixteen hexadecimal digits follow.
const PREFIX: &[u8] = b"filestone-";
/// Maximum number of names that are searched for remains of an earlier run, unless those must be
/// removed.
const LOOKED_AT_MAX: u64 = 10_000;
/// Number of attempts to find an unused name.
const NAME_TRIES: u32 = 4;
/// Number of attempts to empty the directory: calls of an interrupted run may still arrive in the
/// meantime.
const PASSES: u32 = 16;

/// A scratch directory.
pub(crate) struct ScratchDirectory<H> {
    parent: TreeDirectory<H>,
    /// The directory.
    pub directory: TreeDirectory<H>,
    name: String,
    made: MadeNames,
    since: Instant,
}

/// Remains of probes that are over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOverProbes {
    /// Paths of the directories that stay.
    pub found: Vec<String>,
    /// Number of directories removed.
    pub removed: u32,
}

impl LeftOverProbes {
    /// Returns a note on the remains for the user.
    pub fn note(&self) -> Option<String> {
        let first = self.found.first()?;
        let more = match self.found.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        Some(format!(
            "{first}{more}: left over by an earlier probe; --remove-leftover removes it"
        ))
    }
}

/// Returns the directory under test of a probe.
pub(crate) fn under_test<H>(path: &str, handle: H) -> TreeDirectory<H> {
    TreeDirectory {
        handle,
        path: path.into(),
        purpose: Purpose::Probe,
    }
}

/// Converts the result of reading an object of another run; `None` if this user has no access, or
/// the object is gone by now.
fn if_seen<V>(tried: TreeResult<V>) -> TreeResult<Option<V>> {
    match tried {
        Ok(seen) => Ok(Some(seen)),
        Err(refused) if matches!(refused.kind, RefusalKind::Denied | RefusalKind::Stale) => {
            Ok(None)
        }
        Err(refused) => Err(refused),
    }
}

/// Finds the directories that killed probes have left in `parent`, and removes them if the policy
/// allows it. Directories of probes that run, or may run on another host, stay, and those of other
/// users.
pub(crate) fn find_left_over<T: FileTree<Handle: Clone>>(
    tree: &mut T,
    parent: &DirectoryOf<T>,
    policy: LeftoverPolicy,
) -> TreeResult<LeftOverProbes> {
    let (mut names, seen) = (Vec::new(), Cell::new(0));
    let is_far = || policy == LeftoverPolicy::Refuse && seen.get() > LOOKED_AT_MAX;
    let is_wanted = |name: &[u8]| {
        seen.set(seen.get() + 1);
        is_own_name(name) || is_far()
    };
    let listed = tree.list(parent, &is_wanted, &mut |name, entry| {
        if is_own_name(name) && T::is_directory(entry) {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        is_far()
    });
    if_seen(listed)?;
    let mut left = LeftOverProbes::default();
    for name in names {
        let Some(Found::Directory(directory)) = if_seen(tree.find(parent, &name))? else {
            continue;
        };
        let Some(found) = if_seen(tree.read_marker(&directory, MARKER))? else {
            continue;
        };
        let Some(found) = found else {
            left.removed += u32::from(remove_unmarked(tree, parent, &name, policy)?);
            continue;
        };
        // A file set may have such a name.
        let is_set = FileSetSpec::find(&found.text).is_some();
        let owner = found.owner(&directory.path).filter(|_| !is_set);
        let Some(owner) = owner else {
            continue;
        };
        let liveness = owner.liveness(found.holder);
        match MadeNames::of_probe(u32::MAX).recorded(&found.text) {
            Ok(made) if may_go(liveness, policy) => {
                let mut own = ScratchDirectory {
                    parent: parent.clone(),
                    directory,
                    name,
                    made,
                    since: Instant::now(),
                };
                own.remove_by(tree)?;
                left.removed += 1;
            }
            Ok(_) if liveness == Liveness::Exited => left.found.push(directory.path),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(left)
}

/// Removes a directory without a marker if it is empty: a clean-up aborted after the removal of the
/// marker leaves such a directory. Returns whether it is gone.
fn remove_unmarked<T: FileTree>(
    tree: &mut T,
    parent: &DirectoryOf<T>,
    name: &str,
    policy: LeftoverPolicy,
) -> TreeResult<bool> {
    if policy == LeftoverPolicy::Refuse {
        return Ok(false);
    }
    match tree.remove_directory(parent, name, false) {
        Err(refused) if refused.kind == RefusalKind::NotEmpty => Ok(false),
        removed => Ok(if_seen(removed)?.is_some()),
    }
}

/// Returns whether a probe's directory can have this name.
fn is_own_name(name: &[u8]) -> bool {
    let digits = name.strip_prefix(PREFIX).unwrap_or_default();
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.len() == 16 && digits.iter().all(is_digit)
}

impl<H> ScratchDirectory<H> {
    /// Makes the directory in `parent`, for a run that makes these names in it.
    pub fn make(
        tree: &mut impl FileTree<Handle = H>,
        mut parent: TreeDirectory<H>,
        mut made: MadeNames,
    ) -> Result<Self, RunError> {
        for _ in 0..NAME_TRIES {
            // Independent of the plan's seed: two runs of one plan must not get the same name.
            let name = RandomState::new().build_hasher().finish();
            let name = format!("filestone-{name:016x}");
            if let Some(directory) = tree.make_directory(&parent, &name)? {
                let mut own = Self {
                    parent,
                    directory,
                    name,
                    made,
                    since: Instant::now(),
                };
                match own.mark(tree) {
                    // A run that removes left-over directories has taken it for an empty one of
                    // those.
                    Err(refused) if refused.kind == RefusalKind::Stale => {
                        (parent, made) = (own.parent, own.made);
                    }
                    Err(refused) => return Err(refused.into()),
                    Ok(()) => return Ok(own),
                }
            }
        }
        let path = parent.path;
        Err(ClaimError::Overtaken { path }.into())
    }

    fn mark(&mut self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        let marker = Marker {
            lines: &self.made.line(),
            ..Marker::default()
        };
        let Err(refused) = tree.make_marker(&self.directory, MARKER, &marker) else {
            return Ok(());
        };
        let failed = refused.error.of_area::<UnmeasuredCallError>();
        // A server that contradicts itself can still be probed; the name of the directory also
        // shows that filestone made it.
        if failed.is_some_and(|failed| matches!(failed.source, CallError::Violation(_))) {
            return Ok(());
        }
        let removed = self.remove_by(tree);
        Err(refused.leaving(self.path(), removed, REMOVE_LEFTOVER))
    }

    /// Returns the time limits of its removal: an endless listing must not block the end of the
    /// run.
    pub fn limits(&self, timeout: Duration) -> CleanUpLimits {
        clean_up_limits(timeout, self.since.elapsed())
    }

    /// Returns its path.
    pub fn path(&self) -> &str {
        &self.directory.path
    }

    /// Removes everything in it that the run can have made, and the directory.
    pub fn remove(mut self, tree: &mut impl FileTree<Handle = H>) -> Result<(), RunError> {
        Ok(self.remove_by(tree)?)
    }

    fn remove_by(&mut self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        for _ in 0..PASSES {
            match tree.empty_but(&self.directory, MARKER, &self.made) {
                Ok(kept) if !kept.is_empty() => {
                    // A later run removes it once the foreign objects have been moved elsewhere.
                    let marker = Marker {
                        is_given_up: true,
                        lines: &self.made.line(),
                    };
                    tree.rewrite_marker(&self.directory, MARKER, &marker).ok();
                    let (path, purpose) = (self.directory.path.clone(), Purpose::Probe);
                    let foreigners = ClaimError::Foreigners {
                        path,
                        kept,
                        purpose,
                    };
                    return Err(foreigners.into());
                }
                // A restarted server may have lost the directory, or only its handle.
                Err(refused) if refused.kind == RefusalKind::Stale => {
                    match tree.find(&self.parent, &self.name)? {
                        Found::Directory(directory) => {
                            self.directory = directory;
                            continue;
                        }
                        Found::Nothing | Found::Other => return Ok(()),
                    }
                }
                emptied => drop(emptied?),
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
