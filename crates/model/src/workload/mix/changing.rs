//! What comes and goes: which name an operation makes or takes away, and the companions that
//! keep every kind in its proportion.
//!
//! All of it is decided when an operation is issued, so it follows from the order of the
//! operations and not from how fast they are answered. Two things are left to timing, both of
//! them rare: a name whose making call is still unanswered after a whole pool of later ones is
//! passed over, and what failed is put right when the failure is known.

use super::pool::{Levels, Pool, Taken};
use crate::file_set::{ChangingDirectories, ClientSet};
use crate::operation::{Failure, FileId, Name, OpKind, Operation, Outcome};
use crate::plan::MixCount;
use filestone_wire::nfs3::Status;
use std::collections::VecDeque;

/// The kinds of names that come and go, in the order in which REMOVE looks at them:
/// nhfsstone's, which took a hard link, else a symbolic link, else a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Link,
    SymbolicLink,
    Node,
    Created,
    Directory,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::Link,
        Kind::SymbolicLink,
        Kind::Node,
        Kind::Created,
        Kind::Directory,
    ];
    /// What REMOVE can take away.
    const REMOVABLE: [Kind; 4] = [
        Kind::Link,
        Kind::SymbolicLink,
        Kind::Node,
        Kind::Created,
    ];

    const fn letter(self) -> u8 {
        match self {
            Kind::Link => b'l',
            Kind::SymbolicLink => b's',
            Kind::Node => b'p',
            Kind::Created => b'f',
            Kind::Directory => b'd',
        }
    }

    const fn directory(self, directories: &ChangingDirectories) -> FileId {
        match self {
            Kind::Link => directories.links,
            Kind::SymbolicLink => directories.symbolic_links,
            Kind::Node => directories.nodes,
            Kind::Created => directories.created,
            Kind::Directory => directories.directories,
        }
    }

    /// The procedures that make or take such names.
    const fn procedures(self) -> &'static [OpKind] {
        match self {
            Kind::Link => &[OpKind::Link, OpKind::Remove],
            Kind::SymbolicLink => &[OpKind::SymLink, OpKind::Remove],
            Kind::Node => &[OpKind::MkNod, OpKind::Remove],
            Kind::Created => &[OpKind::Create, OpKind::Remove, OpKind::Rename],
            Kind::Directory => &[OpKind::MkDir, OpKind::RmDir],
        }
    }

    /// The procedures that need such names to be there.
    const fn takers(self) -> &'static [OpKind] {
        match self {
            Kind::Link | Kind::SymbolicLink | Kind::Node => &[],
            Kind::Created => &[OpKind::Remove, OpKind::Rename],
            Kind::Directory => &[OpKind::RmDir],
        }
    }
}

/// What one slot's operation does to the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The name comes.
    Make { kind: Kind, number: u64 },
    /// The name is there and stays.
    MakeAgain { number: u64 },
    /// The name goes.
    Take { kind: Kind, taken: Taken },
    /// A name of a created file goes and another comes.
    Rename { taken: Taken, to: u64 },
}

/// The share of these kinds in a mix.
fn share(counts: &[MixCount], kinds: &[OpKind]) -> f64 {
    let sum_of = |is_asked: &dyn Fn(OpKind) -> bool| {
        let asked = counts.iter().filter(|count| is_asked(count.operation));
        asked.map(|count| u128::from(count.count)).sum::<u128>() as f64
    };
    let all = sum_of(&|_| true);
    if all > 0.0 {
        sum_of(&|kind| kinds.contains(&kind)) / all
    } else {
        0.0
    }
}

/// Names of each kind that a client's part of the file set should have at the start, for a
/// client with `slots` slots.
///
/// With fewer the mix works, too, but begins by making the missing ones with companions.
pub fn spare_names_needed(counts: &[MixCount], slots: u32) -> u32 {
    let needed = Kind::ALL
        .iter()
        .filter(|kind| share(counts, kind.takers()) > 0.0)
        .map(|kind| Levels::new(0, share(counts, kind.procedures()), slots).level);
    needed.max().unwrap_or(0) as u32
}

/// The names of one client that come and go.
#[derive(Debug)]
pub(super) struct ChangingNames {
    directories: ChangingDirectories,
    pools: [Pool; Kind::ALL.len()],
    /// Companions that are still to be asked. Their names are fixed already.
    owed: VecDeque<Change>,
    owed_max: usize,
}

impl ChangingNames {
    pub(super) fn new(set: &ClientSet, counts: &[MixCount], slots: u32) -> Self {
        let pools = Kind::ALL.map(|kind| {
            let share = share(counts, kind.procedures());
            Pool::new(
                Levels::new(set.spare_names, share, slots),
                set.spare_names,
                slots,
            )
        });
        let is_needed = |kind: Kind| share(counts, kind.takers()) > 0.0;
        let missing: usize = Kind::ALL
            .into_iter()
            .zip(&pools)
            .filter(|(kind, _)| is_needed(*kind))
            .map(|(_, pool)| pool.missing())
            .sum();
        let owed_max = missing + 2 * slots as usize + 2;
        let mut names = Self {
            directories: set.changing,
            pools,
            owed: VecDeque::with_capacity(owed_max),
            owed_max,
        };
        for kind in Kind::ALL.into_iter().filter(|kind| is_needed(*kind)) {
            for _ in 0..names.pool(kind).missing() {
                names.owe_a_name(kind);
            }
        }
        names
    }

    fn pool(&mut self, kind: Kind) -> &mut Pool {
        &mut self.pools[kind as usize]
    }

    /// CREATE: a new file; when there are enough, the oldest is truncated instead, as
    /// nhfsstone's O_CREAT | O_TRUNC always did.
    pub(super) fn create(&mut self) -> Change {
        let pool = self.pool(Kind::Created);
        let again = if pool.is_full() {
            pool.make_again()
        } else {
            None
        };
        match again {
            Some(number) => Change::MakeAgain { number },
            None => self.make(Kind::Created),
        }
    }

    /// A new name; if that is one too many, a companion takes the oldest away.
    pub(super) fn make(&mut self, kind: Kind) -> Change {
        let number = self.pool(kind).make();
        // A second time if no name was there to be taken the last time.
        for _ in 0..2 {
            if self.pool(kind).is_above() && self.has_room() {
                let Some(number) = self.pool(kind).take_ready() else {
                    break;
                };
                let was_ready = true;
                let taken = Taken { number, was_ready };
                self.owed.push_back(Change::Take { kind, taken });
            }
        }
        Change::Make { kind, number }
    }

    /// REMOVE: the oldest name of the kind that is most above its level, or else of the
    /// created files.
    pub(super) fn remove(&mut self) -> Change {
        let mut most = (0, Kind::Created);
        for kind in Kind::REMOVABLE {
            let excess = self.pool(kind).excess();
            if excess > most.0 {
                most = (excess, kind);
            }
        }
        self.take(most.1)
    }

    /// REMOVE or RMDIR of the oldest name of a kind.
    pub(super) fn take(&mut self, kind: Kind) -> Change {
        let taken = self.take_from(kind);
        self.make_up(kind);
        Change::Take { kind, taken }
    }

    /// RENAME: the oldest created file gets a new name.
    pub(super) fn rename(&mut self) -> Change {
        let taken = self.take_from(Kind::Created);
        let to = self.pool(Kind::Created).make();
        self.make_up(Kind::Created);
        Change::Rename { taken, to }
    }

    /// The oldest name. Where all making has failed there is none; the server is asked for one
    /// that never was, so that its failure is seen.
    fn take_from(&mut self, kind: Kind) -> Taken {
        let pool = self.pool(kind);
        let was_ready = true;
        let number = pool.nothing();
        pool.take().unwrap_or(Taken { number, was_ready })
    }

    /// Companions for what was taken; never more than two for one operation, so that a server
    /// on which they fail is not asked for ever.
    fn make_up(&mut self, kind: Kind) {
        for _ in 0..2 {
            if self.pool(kind).is_below() && self.has_room() {
                self.owe_a_name(kind);
            }
        }
    }

    fn owe_a_name(&mut self, kind: Kind) {
        let number = self.pool(kind).make();
        self.owed.push_back(Change::Make { kind, number });
    }

    fn has_room(&self) -> bool {
        self.owed.len() < self.owed_max
    }

    /// The next companion.
    #[inline]
    pub(super) fn next_owed(&mut self) -> Option<Change> {
        self.owed.pop_front()
    }

    /// The operation that brings a change about. `file` is what LINK links.
    pub(super) fn operation(&self, change: &Change, file: FileId) -> Operation {
        match *change {
            Change::Make { kind, number } => self.making(kind, number, file),
            Change::MakeAgain { number } => self.making(Kind::Created, number, file),
            Change::Take { kind, taken } => {
                let (directory, name) = self.place(kind, taken.number);
                match kind {
                    Kind::Directory => Operation::RemoveDirectory { directory, name },
                    Kind::Link | Kind::SymbolicLink | Kind::Node | Kind::Created => {
                        Operation::Remove { directory, name }
                    }
                }
            }
            Change::Rename { taken, to } => {
                let (from_directory, from) = self.place(Kind::Created, taken.number);
                let (to_directory, to) = self.place(Kind::Created, to);
                Operation::Rename {
                    from_directory,
                    from,
                    to_directory,
                    to,
                }
            }
        }
    }

    fn making(&self, kind: Kind, number: u64, file: FileId) -> Operation {
        let (directory, name) = self.place(kind, number);
        match kind {
            Kind::Created => Operation::Create { directory, name },
            Kind::Directory => Operation::MakeDirectory { directory, name },
            Kind::Node => Operation::MakeNode { directory, name },
            Kind::Link => Operation::Link {
                file,
                directory,
                name,
            },
            Kind::SymbolicLink => {
                let letter = b't';
                let target = Name::Numbered { letter, number };
                Operation::MakeSymlink {
                    directory,
                    name,
                    target,
                }
            }
        }
    }

    fn place(&self, kind: Kind, number: u64) -> (FileId, Name) {
        let letter = kind.letter();
        let directory = kind.directory(&self.directories);
        (directory, Name::Numbered { letter, number })
    }

    /// Notes what became of a change.
    pub(super) fn settle(&mut self, change: &Change, outcome: &Outcome) {
        match *change {
            Change::Make { kind, number } => self.settle_made(kind, number, outcome),
            // Whatever the server says, the file was there before.
            Change::MakeAgain { number } => match outcome {
                Outcome::Ok | Outcome::Failed(_) | Outcome::Skipped => {
                    self.pool(Kind::Created).is_made(number);
                }
                Outcome::TimedOut | Outcome::Disconnected => {
                    self.pool(Kind::Created).forget(number);
                }
            },
            Change::Take { kind, taken } => self.settle_taken(kind, taken, outcome),
            Change::Rename { taken, to } => {
                match outcome {
                    Outcome::Ok => self.pool(Kind::Created).is_made(to),
                    Outcome::Failed(_)
                    | Outcome::TimedOut
                    | Outcome::Disconnected
                    | Outcome::Skipped => self.pool(Kind::Created).forget(to),
                }
                self.settle_taken(Kind::Created, taken, outcome);
            }
        }
    }

    fn settle_made(&mut self, kind: Kind, number: u64, outcome: &Outcome) {
        match outcome {
            Outcome::Ok => self.pool(kind).is_made(number),
            Outcome::Failed(Failure::Status(status)) if *status == Status::EXIST.0 => {
                self.pool(kind).is_made(number);
            }
            Outcome::Failed(_)
            | Outcome::TimedOut
            | Outcome::Disconnected
            | Outcome::Skipped => self.pool(kind).forget(number),
        }
    }

    /// What could not be taken is still there, unless the server does not know it; after a call
    /// without an answer nobody knows, and a name more or less in the directory does no harm.
    fn settle_taken(&mut self, kind: Kind, taken: Taken, outcome: &Outcome) {
        let is_there = match outcome {
            Outcome::Ok | Outcome::TimedOut | Outcome::Disconnected => false,
            Outcome::Failed(Failure::Status(status)) if *status == Status::NOENT.0 => {
                !taken.was_ready
            }
            Outcome::Failed(_) | Outcome::Skipped => true,
        };
        if is_there {
            self.pool(kind).put_back(taken.number);
        }
    }

    #[cfg(test)]
    pub(super) fn levels_and_lengths(&mut self) -> Vec<(Levels, usize)> {
        let pools = self.pools.iter();
        pools.map(|pool| (pool.levels(), pool.len())).collect()
    }

    #[cfg(test)]
    pub(super) fn owed_len(&self) -> (usize, usize) {
        (self.owed.len(), self.owed.capacity())
    }
}
