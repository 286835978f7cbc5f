//! The directory `clients` that a replay works in: claimed, given up, removed.
//!
//! A run makes it in the directory under test, and a marker in it. Whatever else is in the
//! directory under test is never changed. Where another program has a `clients` there, the
//! run's own is in a directory `filestone` beside it.

use super::error::{ClaimError, Purpose};
use super::marker::{Liveness, Marker, Owner};
use super::tree::{At, Found, Step, Tree, join};
use crate::error::RunError;
use filestone_model::plan::LeftOverPolicy;

/// The directory in the directory under test that belongs to the run.
pub const CLIENTS: &str = "clients";
/// The file in it that says so.
pub const MARKER: &str = ".filestone";
/// The directory in the directory under test in which a run makes its own `clients` where
/// there is one of another program's.
pub const BESIDE: &str = "filestone";

/// When a run works beside a `clients` that filestone has not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beside {
    /// If there is nothing in it: then there is nothing that the user could have meant.
    #[default]
    IfEmpty,
    /// Whatever it is: dbench leaves it behind, and runs there again.
    Always,
}

/// A `clients` that this run has claimed.
#[derive(Debug)]
pub(crate) struct TestDirectory<T: Tree> {
    /// The directory that it is in.
    pub root: T::Directory,
    /// The path of that.
    pub path: String,
    /// It.
    pub clients: T::Directory,
    /// Keeps its marker locked; dropped before it is removed.
    pub lock: Option<T::Lock>,
    /// If it is beside another `clients`, the directory under test.
    under_test: Option<UnderTest<T::Directory>>,
}

/// The directory under test, with a directory `filestone` in it.
#[derive(Debug)]
struct UnderTest<D> {
    root: D,
    path: String,
    /// Whether `filestone` was made for this run, and goes with it.
    has_made: bool,
}

/// A `clients` that was made a moment ago.
struct Marked<T: Tree> {
    clients: T::Directory,
    lock: T::Lock,
}

/// A `clients` that is there.
enum Occupant<T: Tree> {
    Owned {
        clients: T::Directory,
        lock: T::Lock,
        owner: Owner,
        liveness: Liveness,
    },
    /// Not filestone's; it, if it is a directory.
    Foreign(Option<T::Directory>),
}

fn at(path: &str) -> At<'_> {
    let purpose = Purpose::Replay;
    At { path, purpose }
}

/// Makes `clients` in `root`, which is at `path`, and marks it; `None` if it is there.
fn make<T: Tree>(
    tree: &mut T,
    root: &T::Directory,
    path: &str,
) -> Result<Option<Marked<T>>, RunError> {
    let path = join(path, CLIENTS.as_bytes());
    let made = tree.make_directory(root, CLIENTS);
    let Some(clients) = made.map_err(at(&path).failed::<T>(Step::MakeDirectory))? else {
        return Ok(None);
    };
    match tree.make_marker(&clients, MARKER, &Marker::default()) {
        Ok(lock) => Ok(lock.map(|lock| Marked { clients, lock })),
        Err(error) => {
            // It was made a moment ago and has nothing in it but perhaps the marker.
            tree.remove_file(&clients, MARKER).ok();
            tree.remove_directory(root, CLIENTS).ok();
            Err(T::refused(error, Step::MakeMarker, &at(&path)))
        }
    }
}

/// Whose the `clients` in `root` is; `None` if there is none.
fn occupant<T: Tree>(
    tree: &mut T,
    root: &T::Directory,
    path: &str,
) -> Result<Option<Occupant<T>>, RunError> {
    let path = join(path, CLIENTS.as_bytes());
    let found = tree.find(root, CLIENTS);
    let clients = match found.map_err(at(&path).failed::<T>(Step::Find))? {
        Found::Nothing => return Ok(None),
        Found::Other => return Ok(Some(Occupant::Foreign(None))),
        Found::Directory(clients) => clients,
    };
    let found = tree.read_marker(&clients, MARKER);
    let Some(found) = found.map_err(at(&path).failed::<T>(Step::ReadMarker))? else {
        return Ok(Some(Occupant::Foreign(Some(clients))));
    };
    let owner = match Owner::read(&path, &found.text) {
        Some(owner) => owner,
        // A run that is just beginning has not written it yet.
        None if found.is_locked_by_another() => Owner::unknown(&path),
        None => return Ok(Some(Occupant::Foreign(Some(clients)))),
    };
    Ok(Some(Occupant::Owned {
        liveness: owner.liveness(found.holder),
        lock: found.lock,
        clients,
        owner,
    }))
}

impl<T: Tree> Occupant<T> {
    /// Whether a run may work beside it.
    fn may_have_neighbours(&self, tree: &mut T, beside: Beside) -> bool {
        match (self, beside) {
            (Self::Owned { .. }, _) | (Self::Foreign(None), Beside::IfEmpty) => false,
            (Self::Foreign(_), Beside::Always) => true,
            (Self::Foreign(Some(clients)), Beside::IfEmpty) => {
                matches!(tree.first_name(clients, &[]), Ok(None))
            }
        }
    }

    /// Why it cannot be used; `path` is that of the directory it is in.
    fn complaint(self, path: &str) -> ClaimError {
        let purpose = Purpose::Replay;
        match self {
            Self::Foreign(_) => ClaimError::Foreign {
                path: join(path, CLIENTS.as_bytes()),
                purpose,
                is_directory: true,
            },
            Self::Owned {
                owner, liveness, ..
            } => match liveness {
                Liveness::Running => ClaimError::InUse { owner, purpose },
                Liveness::Over => ClaimError::Stale { owner },
                Liveness::Unknown => ClaimError::Unknown { owner, purpose },
            },
        }
    }
}

/// Why the `clients` in `root` cannot be made.
fn complaint<T: Tree>(tree: &mut T, root: &T::Directory, path: &str) -> RunError {
    match occupant(tree, root, path) {
        Ok(Some(occupant)) => occupant.complaint(path).into(),
        Ok(None) => ClaimError::Overtaken { path: path.into() }.into(),
        Err(error) => error,
    }
}

impl<T: Tree> TestDirectory<T> {
    /// Claims `clients` in `root`, which is at `path`, or in a directory of our own in it.
    pub fn claim(
        tree: &mut T,
        root: T::Directory,
        path: &str,
        beside: Beside,
    ) -> Result<Self, RunError> {
        if let Some(Marked { clients, lock }) = make(tree, &root, path)? {
            return Ok(Self {
                root,
                path: path.into(),
                clients,
                lock: Some(lock),
                under_test: None,
            });
        }
        match occupant(tree, &root, path)? {
            Some(occupant) if !occupant.may_have_neighbours(tree, beside) => {
                Err(occupant.complaint(path).into())
            }
            _ => Self::claim_beside(tree, root, path),
        }
    }

    fn claim_beside(tree: &mut T, root: T::Directory, path: &str) -> Result<Self, RunError> {
        let own_path = join(path, BESIDE.as_bytes());
        let made = tree.make_directory(&root, BESIDE);
        let made = made.map_err(at(&own_path).failed::<T>(Step::MakeDirectory))?;
        let has_made = made.is_some();
        let claimed = match made {
            Some(own) => Ok(own),
            None => open_beside(tree, &root, &own_path),
        }
        .and_then(|own| match make(tree, &own, &own_path)? {
            Some(marked) => Ok((own, marked)),
            None => Err(complaint(tree, &own, &own_path)),
        });
        match claimed {
            Ok((own, Marked { clients, lock })) => Ok(Self {
                root: own,
                path: own_path,
                clients,
                lock: Some(lock),
                under_test: Some(UnderTest {
                    root,
                    path: path.into(),
                    has_made,
                }),
            }),
            Err(error) => {
                if has_made {
                    tree.remove_directory(&root, BESIDE).ok();
                }
                Err(error)
            }
        }
    }

    /// Whether it is in a directory of our own, beside another `clients`.
    pub fn is_beside(&self) -> bool {
        self.under_test.is_some()
    }

    /// What the user should know of a run that works beside another `clients`.
    pub fn remark(&self) -> Option<String> {
        let under_test = self.under_test.as_ref()?.path.trim_end_matches('/');
        Some(format!(
            "{under_test}/{CLIENTS} was not made by filestone and stays as it is; \
             working beside it, in {under_test}/{BESIDE}"
        ))
    }

    /// Says in the marker that the run is over and its trees were kept. That needs no room:
    /// loads fill disks.
    pub fn give_up(&mut self, tree: &mut T) -> Result<(), RunError> {
        let marker = Marker {
            is_given_up: true,
            ..Marker::default()
        };
        let path = join(&self.path, CLIENTS.as_bytes());
        tree.rewrite_marker(&self.clients, MARKER, &marker)
            .map_err(at(&path).failed::<T>(Step::RewriteMarker))?;
        self.lock = None;
        Ok(())
    }

    /// Removes what was claimed with all that is in it, and nothing that may have come to be
    /// called so since; and what claiming it made.
    pub fn remove(&mut self, tree: &mut T) -> Result<(), RunError> {
        let path = join(&self.path, CLIENTS.as_bytes());
        remove(tree, &self.root, &path, &self.clients, self.lock.take())?;
        match &self.under_test {
            Some(under_test) if under_test.has_made => tree
                .remove_directory(&under_test.root, BESIDE)
                .map_err(at(&self.path).failed::<T>(Step::RemoveDirectory)),
            _ => Ok(()),
        }
    }
}

/// The directory `filestone`, which is at `path`.
fn open_beside<T: Tree>(
    tree: &mut T,
    root: &T::Directory,
    path: &str,
) -> Result<T::Directory, RunError> {
    match tree.find(root, BESIDE) {
        Ok(Found::Directory(own)) => Ok(own),
        Err(error) => Err(T::refused(error, Step::Find, &at(path))),
        Ok(Found::Nothing | Found::Other) => Err(ClaimError::Foreign {
            path: path.into(),
            purpose: Purpose::Replay,
            is_directory: false,
        }
        .into()),
    }
}

fn remove<T: Tree>(
    tree: &mut T,
    root: &T::Directory,
    path: &str,
    clients: &T::Directory,
    lock: Option<T::Lock>,
) -> Result<(), RunError> {
    // The marker goes last: what an interruption leaves is still known as ours.
    let emptied = tree.empty_but(clients, MARKER);
    if let Err(error) = emptied {
        // A server that was started again may have lost the directory: then nothing of that
        // name is there.
        let is_gone = T::is_stale(&error) && matches!(tree.find(root, CLIENTS), Ok(Found::Nothing));
        return match is_gone {
            true => Ok(()),
            false => Err(T::refused(error, Step::Empty, &at(path))),
        };
    }
    tree.remove_file(clients, MARKER)
        .map_err(at(path).failed::<T>(Step::RemoveFile))?;
    drop(lock);
    // Of a directory that is not empty, and so not ours, nothing is removed.
    tree.remove_emptied(root, CLIENTS)
        .map_err(at(path).failed::<T>(Step::RemoveDirectory))
}

/// Removes what a run has left over in `root`, which is at `path`, and what one has left in a
/// directory of its own there; `None` if there is nothing.
pub(crate) fn remove_left_over<T: Tree>(
    tree: &mut T,
    root: &T::Directory,
    path: &str,
    policy: LeftOverPolicy,
    beside: Beside,
) -> Result<Option<Owner>, RunError> {
    let Some(occupant) = occupant(tree, root, path)? else {
        return Ok(None);
    };
    if !occupant.may_have_neighbours(tree, beside) {
        return remove_occupant(tree, root, path, occupant, policy).map(Some);
    }
    let own_path = join(path, BESIDE.as_bytes());
    let found = tree.find(root, BESIDE);
    let Found::Directory(own) = found.map_err(at(&own_path).failed::<T>(Step::Find))? else {
        return Ok(None);
    };
    let Some(occupant) = self::occupant(tree, &own, &own_path)? else {
        return Ok(None);
    };
    let owner = remove_occupant(tree, &own, &own_path, occupant, policy)?;
    // If there is more in it, it stays.
    tree.remove_directory(root, BESIDE).ok();
    Ok(Some(owner))
}

fn remove_occupant<T: Tree>(
    tree: &mut T,
    root: &T::Directory,
    path: &str,
    occupant: Occupant<T>,
    policy: LeftOverPolicy,
) -> Result<Owner, RunError> {
    match occupant {
        Occupant::Owned {
            clients,
            lock,
            owner,
            liveness,
        } if may_go(liveness, policy) => {
            remove(tree, root, &owner.path, &clients, Some(lock))?;
            Ok(owner)
        }
        occupant => Err(occupant.complaint(path).into()),
    }
}

/// Whether a tree may be removed whose owner lives, or does not.
fn may_go(liveness: Liveness, policy: LeftOverPolicy) -> bool {
    match policy {
        LeftOverPolicy::Refuse => false,
        LeftOverPolicy::RemoveIfOver => liveness == Liveness::Over,
        LeftOverPolicy::Remove => liveness != Liveness::Running,
    }
}
