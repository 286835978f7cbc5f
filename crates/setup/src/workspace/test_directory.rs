//! The directory `clients` that a replay works in: claimed, released, removed.
//!
//! A run makes it in the directory under test, and a marker in it. Other objects in the directory
//! under test are never changed. If another program has a `clients` there, the run uses a directory
//! `filestone` next to it.

use super::error::ClaimError;
use super::marker::{Liveness, Marker, MarkerOwner};
use super::tree::{
    DirectoryOf, FileTree, Found, MarkerLock, RefusalKind, TreeDirectory, TreeResult,
};
use filestone_plan::made::MadeNames;
use filestone_plan::plan::LeftoverPolicy;
use filestone_workload::load::{CLIENTS, MARKER};
use std::sync::Arc;

/// Directory in the directory under test in which a run makes its `clients` if another program
/// already has a `clients` there.
pub const BESIDE: &str = "filestone";

/// Treatment of a `clients` that an earlier run has left.
#[derive(Debug, Clone, Copy)]
pub struct LeftOver<'a> {
    /// Whether it is removed.
    pub policy: LeftoverPolicy,
    /// Treatment of a `clients` that filestone has not made.
    pub occupied: OnExisting,
    /// The names that this run makes; the earlier one must have made the same.
    pub made: &'a MadeNames,
}

/// Advice for a `clients` that stays.
const REMOVE_LEFTOVER: &str = "remove it with --remove-leftover, or by hand";

/// Behaviour of a run if a `clients` exists that it has not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExisting {
    /// Work next to a `clients` that filestone has not made if it is empty: then the user cannot
    /// have meant its contents.
    #[default]
    BesideEmpty,
    /// Work next to any `clients`: dbench leaves it behind, and runs there again.
    Beside,
    /// Read the existing one, regardless of its creator: nothing is made, claimed or removed.
    Read,
}

/// A `clients` that this run has claimed.
#[derive(Debug)]
pub struct TestDirectory<H> {
    /// Parent directory of `clients`.
    pub root: TreeDirectory<H>,
    /// The directory.
    pub clients: TreeDirectory<H>,
    /// Lock on its marker; released before the marker is removed.
    pub lock: MarkerLock,
    /// The directory under test, if this `clients` is next to another one.
    under_test: Option<UnderTest<H>>,
    /// Whether the run only reads it: then there is nothing to release or remove.
    is_read: bool,
    /// Names that are removed.
    made: Arc<MadeNames>,
}

/// The directory under test, with a directory `filestone` in it.
#[derive(Debug)]
struct UnderTest<H> {
    root: TreeDirectory<H>,
    /// Whether `filestone` was made for this run, and is removed with it.
    has_made: bool,
}

/// A `clients` that was made a moment ago.
struct Marked<H> {
    clients: TreeDirectory<H>,
    lock: MarkerLock,
}

/// A `clients` that already existed.
enum Occupant<H> {
    Owned {
        clients: TreeDirectory<H>,
        lock: MarkerLock,
        owner: MarkerOwner,
        liveness: Liveness,
        /// Text of its marker.
        text: String,
    },
    /// Not made by filestone; contains the directory, if it is one.
    Foreign(Option<TreeDirectory<H>>),
}

/// Makes `clients` in `root` and its marker; `None` if it exists.
fn make<T: FileTree>(
    tree: &mut T,
    root: &DirectoryOf<T>,
    made: &MadeNames,
) -> TreeResult<Option<Marked<T::Handle>>> {
    let Some(clients) = tree.make_directory(root, CLIENTS)? else {
        return Ok(None);
    };
    let marker = Marker {
        lines: &made.line(),
        ..Marker::default()
    };
    match tree.make_marker(&clients, MARKER, &marker) {
        Ok(lock) => Ok(lock.map(|lock| Marked { clients, lock })),
        Err(refused) => {
            // It was made a moment ago and contains at most the marker. Both calls are made even if
            // the first has no reply: a slow server may still execute it.
            let unmarked = tree.remove_file(&clients, MARKER);
            let removed = tree.remove_directory(root, CLIENTS, false);
            Err(refused.leaving(&clients.path, unmarked.and(removed), REMOVE_LEFTOVER))
        }
    }
}

/// Returns the owner of the `clients` in `root`; `None` if it does not exist.
fn occupant<T: FileTree>(
    tree: &mut T,
    root: &DirectoryOf<T>,
) -> TreeResult<Option<Occupant<T::Handle>>> {
    let clients = match tree.find(root, CLIENTS)? {
        Found::Nothing => return Ok(None),
        Found::Other => return Ok(Some(Occupant::Foreign(None))),
        Found::Directory(clients) => clients,
    };
    let known = match tree.read_marker(&clients, MARKER)? {
        None => None,
        Some(found) => match found.owner(&clients.path) {
            Some(owner) => Some((owner, found)),
            // The run that made the marker could not write it, or will in a moment.
            None if found.text.is_empty() && tree.first_name(&clients, &[MARKER])?.is_none() => {
                Some((MarkerOwner::unknown(&clients.path), found))
            }
            None => None,
        },
    };
    Ok(Some(match known {
        None => Occupant::Foreign(Some(clients)),
        Some((owner, found)) => Occupant::Owned {
            liveness: owner.liveness(found.holder),
            lock: found.lock,
            text: found.text,
            clients,
            owner,
        },
    }))
}

impl<H> Occupant<H> {
    /// Returns whether a run may work next to it.
    fn may_have_neighbours(
        &self,
        tree: &mut impl FileTree<Handle = H>,
        occupied: OnExisting,
    ) -> bool {
        match (self, occupied) {
            (Self::Owned { .. }, _) | (Self::Foreign(None), OnExisting::BesideEmpty) => false,
            (Self::Foreign(_), OnExisting::Read) => false,
            (Self::Foreign(_), OnExisting::Beside) => true,
            (Self::Foreign(Some(clients)), OnExisting::BesideEmpty) => {
                matches!(tree.first_name(clients, &[]), Ok(None))
            }
        }
    }

    /// Returns the error that explains why it cannot be used.
    fn complaint(self, root: &TreeDirectory<H>) -> ClaimError {
        let purpose = root.purpose;
        match self {
            Self::Foreign(_) => ClaimError::Foreign {
                path: root.at(CLIENTS),
                purpose,
                is_directory: true,
            },
            Self::Owned {
                owner, liveness, ..
            } => match liveness {
                Liveness::Alive => ClaimError::InUse { owner, purpose },
                Liveness::Exited => ClaimError::Stale { owner },
                Liveness::Unknown => ClaimError::Unknown { owner, purpose },
            },
        }
    }

    /// Removes it, if its owner is over, or the user requests it.
    fn remove(
        self,
        tree: &mut impl FileTree<Handle = H>,
        root: &TreeDirectory<H>,
        wanted: LeftOver<'_>,
    ) -> TreeResult<MarkerOwner> {
        match self {
            Self::Owned {
                clients,
                lock,
                owner,
                liveness,
                text,
            } if may_go(liveness, wanted.policy) => {
                let made = wanted.made.recorded(&text);
                let made = made.map_err(|by| ClaimError::OtherNames {
                    path: clients.path.clone(),
                    by,
                })?;
                remove(tree, root, &clients, lock, &made)?;
                Ok(owner)
            }
            occupant => Err(occupant.complaint(root).into()),
        }
    }
}

/// Returns whether a tree may be removed whose owner is in this state.
pub(super) fn may_go(liveness: Liveness, policy: LeftoverPolicy) -> bool {
    match policy {
        LeftoverPolicy::Refuse => false,
        LeftoverPolicy::RemoveIfOver => liveness == Liveness::Exited,
        LeftoverPolicy::Remove => liveness != Liveness::Alive,
    }
}

impl<H> TestDirectory<H> {
    /// Claims `clients` in `root`, or in a directory `filestone` in it; or only finds it for
    /// reading.
    pub fn claim(
        tree: &mut impl FileTree<Handle = H>,
        root: TreeDirectory<H>,
        occupied: OnExisting,
        made: &Arc<MadeNames>,
    ) -> TreeResult<Self> {
        if occupied == OnExisting::Read {
            return Self::find(tree, root, made);
        }
        if let Some(marked) = make(tree, &root, made)? {
            return Ok(Self::new(root, marked, None, made));
        }
        match occupant(tree, &root)? {
            Some(occupant) if !occupant.may_have_neighbours(tree, occupied) => {
                Err(occupant.complaint(&root).into())
            }
            _ => Self::claim_beside(tree, root, made),
        }
    }

    fn new(
        root: TreeDirectory<H>,
        marked: Marked<H>,
        under_test: Option<UnderTest<H>>,
        made: &Arc<MadeNames>,
    ) -> Self {
        Self {
            root,
            clients: marked.clients,
            lock: marked.lock,
            under_test,
            is_read: false,
            made: Arc::clone(made),
        }
    }

    /// Finds the `clients` in `root` for reading, regardless of its creator.
    fn find(
        tree: &mut impl FileTree<Handle = H>,
        root: TreeDirectory<H>,
        made: &Arc<MadeNames>,
    ) -> TreeResult<Self> {
        let Found::Directory(clients) = tree.find(&root, CLIENTS)? else {
            let path = root.at(CLIENTS);
            return Err(ClaimError::NothingToRead { path }.into());
        };
        Ok(Self {
            root,
            clients,
            lock: MarkerLock::default(),
            under_test: None,
            is_read: true,
            made: Arc::clone(made),
        })
    }

    fn claim_beside(
        tree: &mut impl FileTree<Handle = H>,
        root: TreeDirectory<H>,
        made: &Arc<MadeNames>,
    ) -> TreeResult<Self> {
        let place = tree.make_directory(&root, BESIDE)?;
        let has_made = place.is_some();
        let own = match place {
            Some(own) => own,
            None => match tree.find(&root, BESIDE)? {
                Found::Directory(own) => own,
                Found::Nothing | Found::Other => return Err(no_directory(&root).into()),
            },
        };
        let marked = make(tree, &own, made).and_then(|marked| match marked {
            Some(marked) => Ok(marked),
            None => Err(match occupant(tree, &own)? {
                Some(occupant) => occupant.complaint(&own),
                None => ClaimError::Overtaken {
                    path: own.at(CLIENTS),
                },
            }
            .into()),
        });
        if marked.is_err() && has_made {
            tree.remove_directory(&root, BESIDE, false).ok();
        }
        let under_test = UnderTest { root, has_made };
        Ok(Self::new(own, marked?, Some(under_test), made))
    }

    /// Returns whether it is in a directory `filestone`, next to another `clients`.
    pub fn is_beside(&self) -> bool {
        self.under_test.is_some()
    }

    /// Returns a note for the user if the run works next to another `clients`.
    pub fn note(&self) -> Option<String> {
        let root = &self.under_test.as_ref()?.root;
        Some(format!(
            "{} was not made by filestone and stays as it is; working beside it, in {}",
            root.at(CLIENTS),
            root.at(BESIDE)
        ))
    }

    /// Writes to the marker that the run is over and its trees were kept. This needs no room on the
    /// disk: loads may fill it.
    pub fn release(&mut self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        if self.is_read {
            return Ok(());
        }
        release(tree, &self.clients, &self.made)?;
        self.lock = MarkerLock::default();
        Ok(())
    }

    /// Removes the claimed directory with all objects in it that the run can have made, but no
    /// object that got such a name since; and everything that claiming has made. Foreign objects
    /// stay, and so do their directories.
    pub fn remove(&mut self, tree: &mut impl FileTree<Handle = H>) -> TreeResult<()> {
        if self.is_read {
            return Ok(());
        }
        remove(
            tree,
            &self.root,
            &self.clients,
            std::mem::take(&mut self.lock),
            &self.made,
        )?;
        match &self.under_test {
            Some(under_test) if under_test.has_made => {
                tree.remove_directory(&under_test.root, BESIDE, false)
            }
            _ => Ok(()),
        }
    }
}

fn no_directory<H>(root: &TreeDirectory<H>) -> ClaimError {
    ClaimError::Foreign {
        path: root.at(BESIDE),
        purpose: root.purpose,
        is_directory: false,
    }
}

fn release<T: FileTree>(
    tree: &mut T,
    clients: &DirectoryOf<T>,
    made: &MadeNames,
) -> TreeResult<()> {
    let marker = Marker {
        is_given_up: true,
        lines: &made.line(),
    };
    tree.rewrite_marker(clients, MARKER, &marker)
}

fn remove<T: FileTree>(
    tree: &mut T,
    root: &DirectoryOf<T>,
    clients: &DirectoryOf<T>,
    lock: MarkerLock,
    made: &MadeNames,
) -> TreeResult<()> {
    // The marker goes last: the remains of an interruption are still recognised.
    match tree.empty_but(clients, MARKER, made) {
        Ok(kept) if kept.is_empty() => {}
        Ok(kept) => {
            // A later run can remove it once the foreign objects have been moved elsewhere.
            release(tree, clients, made).ok();
            let (path, purpose) = (clients.path.clone(), clients.purpose);
            let foreigners = ClaimError::Foreigners {
                path,
                kept,
                purpose,
            };
            return Err(foreigners.into());
        }
        Err(refused) => {
            // A restarted server may have lost the directory: then the name does not exist.
            let is_gone = refused.kind == RefusalKind::Stale
                && matches!(tree.find(root, CLIENTS), Ok(Found::Nothing));
            return if is_gone { Ok(()) } else { Err(refused) };
        }
    }
    tree.remove_file(clients, MARKER)?;
    drop(lock);
    // A directory that is not empty, and so was not made by filestone, is not removed.
    tree.remove_directory(root, CLIENTS, true)
}

/// Removes the remains of a run in `root` and in a directory `filestone` there; `None` if there are
/// none.
pub fn remove_left_over<T: FileTree>(
    tree: &mut T,
    root: &DirectoryOf<T>,
    wanted: LeftOver<'_>,
) -> TreeResult<Option<MarkerOwner>> {
    let Some(occupant) = occupant(tree, root)? else {
        return Ok(None);
    };
    if !occupant.may_have_neighbours(tree, wanted.occupied) {
        return occupant.remove(tree, root, wanted).map(Some);
    }
    let Found::Directory(own) = tree.find(root, BESIDE)? else {
        return Ok(None);
    };
    let Some(occupant) = self::occupant(tree, &own)? else {
        return Ok(None);
    };
    let owner = occupant.remove(tree, &own, wanted)?;
    // If it contains more, it stays.
    tree.remove_directory(root, BESIDE, false).ok();
    Ok(Some(owner))
}
