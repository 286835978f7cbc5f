//! Names that operations create and remove, and the unmeasured operations that keep every kind at
//! its level.
//!
//! All decisions are made when an operation is issued, so they follow from the order of the
//! operations and not from the speed of the replies. Two rare cases depend on timing: a name whose
//! creating call is still unanswered after a whole pool of later ones is skipped, and a failure is
//! corrected when it becomes known.

use super::pool::{NamePool, PoolLimits, TakenName};
use filestone_plan::file_set::{ChangingDirectories, ClientSet, VolatileDirectory};
use filestone_plan::plan::MixCount;
use filestone_workload::failure::Cause;
use filestone_workload::operation::{FileId, ObjectName, OpKind, Operation, Outcome};
use std::collections::VecDeque;

/// Kinds that REMOVE can remove, in order of preference: that of nhfsstone, which removed a hard
/// link, else a symbolic link, else a file.
const REMOVABLE: [VolatileDirectory; 4] = [
    VolatileDirectory::Links,
    VolatileDirectory::SymbolicLinks,
    VolatileDirectory::Nodes,
    VolatileDirectory::Created,
];

const fn directory_of(kind: VolatileDirectory, directories: &ChangingDirectories) -> FileId {
    match kind {
        VolatileDirectory::Links => directories.links,
        VolatileDirectory::SymbolicLinks => directories.symbolic_links,
        VolatileDirectory::Nodes => directories.nodes,
        VolatileDirectory::Created => directories.created,
        VolatileDirectory::Directories => directories.directories,
    }
}

/// Returns the procedures that create or remove names of a kind.
const fn procedures(kind: VolatileDirectory) -> &'static [OpKind] {
    match kind {
        VolatileDirectory::Links => &[OpKind::Link, OpKind::Remove],
        VolatileDirectory::SymbolicLinks => &[OpKind::SymLink, OpKind::Remove],
        VolatileDirectory::Nodes => &[OpKind::MkNod, OpKind::Remove],
        VolatileDirectory::Created => &[OpKind::Create, OpKind::Remove, OpKind::Rename],
        VolatileDirectory::Directories => &[OpKind::MkDir, OpKind::RmDir],
    }
}

/// Returns the procedures that need existing names of a kind.
const fn takers(kind: VolatileDirectory) -> &'static [OpKind] {
    match kind {
        VolatileDirectory::Links | VolatileDirectory::SymbolicLinks | VolatileDirectory::Nodes => {
            &[]
        }
        VolatileDirectory::Created => &[OpKind::Remove, OpKind::Rename],
        VolatileDirectory::Directories => &[OpKind::RmDir],
    }
}

/// Effect of one slot's operation on the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameChange {
    /// Creates a name.
    Make {
        kind: VolatileDirectory,
        number: u64,
    },
    /// Creates a name that already exists.
    MakeAgain { number: u64 },
    /// Removes a name.
    Take {
        kind: VolatileDirectory,
        taken: TakenName,
    },
    /// Renames a created file.
    Rename { taken: TakenName, to: u64 },
}

/// Returns the share of these kinds in a mix.
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

/// Returns the number of names of each kind that a client's part of the file set should have at the
/// start, for a client with `slots` slots that begins at most `operations` operations.
///
/// With fewer the mix works, too, but begins by creating the missing ones, unmeasured.
pub fn spare_names_needed(counts: &[MixCount], slots: u32, operations: Option<u64>) -> u32 {
    let asked = counts.iter().filter(|count| count.count > 0);
    let asked: Vec<OpKind> = asked.map(|count| count.operation).collect();
    let is_taken =
        |kind: &VolatileDirectory| takers(*kind).iter().any(|taker| asked.contains(taker));
    if !VolatileDirectory::ALL.iter().any(is_taken) {
        return 0;
    }
    // Kinds that are only created count, too: REMOVE removes from the kind that is most above its
    // level, so all of them should begin at their levels.
    let changing = VolatileDirectory::ALL.into_iter();
    let levels = changing
        .filter(|kind| kind.is_changed_by(&asked))
        .map(|kind| PoolLimits::new(0, share(counts, procedures(kind)), slots, operations).level);
    levels.max().unwrap_or(0) as u32
}

/// The changing names of one client.
#[derive(Debug)]
pub(super) struct ChangingNames {
    directories: ChangingDirectories,
    pools: [NamePool; VolatileDirectory::ALL.len()],
    /// Pending unmeasured operations, with names already assigned.
    owed: VecDeque<NameChange>,
    owed_max: usize,
}

impl ChangingNames {
    pub(super) fn new(
        set: &ClientSet,
        counts: &[MixCount],
        slots: u32,
        operations: Option<u64>,
    ) -> Self {
        let pools = VolatileDirectory::ALL.map(|kind| {
            let share = share(counts, procedures(kind));
            NamePool::new(
                PoolLimits::new(set.spare_names, share, slots, operations),
                set.spare_names,
                slots,
            )
        });
        let is_needed = |kind: VolatileDirectory| share(counts, takers(kind)) > 0.0;
        let missing: usize = VolatileDirectory::ALL
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
        for kind in VolatileDirectory::ALL
            .into_iter()
            .filter(|kind| is_needed(*kind))
        {
            for _ in 0..names.pool(kind).missing() {
                names.reserve_name(kind);
            }
        }
        names
    }

    fn pool(&mut self, kind: VolatileDirectory) -> &mut NamePool {
        &mut self.pools[kind as usize]
    }

    /// CREATE of a new file; if there are enough, the oldest is truncated instead, as nhfsstone's
    /// O_CREAT | O_TRUNC always did.
    pub(super) fn create(&mut self) -> NameChange {
        let pool = self.pool(VolatileDirectory::Created);
        let again = if pool.is_full() {
            pool.make_again()
        } else {
            None
        };
        match again {
            Some(number) => NameChange::MakeAgain { number },
            None => self.make(VolatileDirectory::Created),
        }
    }

    /// Creates a new name; if that exceeds the upper limit, an unmeasured operation removes the
    /// oldest.
    pub(super) fn make(&mut self, kind: VolatileDirectory) -> NameChange {
        let number = self.pool(kind).make();
        // A second one in case there was no name to remove the last time.
        for _ in 0..2 {
            if self.pool(kind).is_above() && self.has_room() {
                let Some(number) = self.pool(kind).take_ready() else {
                    break;
                };
                let was_ready = true;
                let taken = TakenName { number, was_ready };
                self.owed.push_back(NameChange::Take { kind, taken });
            }
        }
        NameChange::Make { kind, number }
    }

    /// REMOVE of the oldest name of the kind that is most above its level, or else of the created
    /// files.
    pub(super) fn remove(&mut self) -> NameChange {
        let mut most = (0, VolatileDirectory::Created);
        for kind in REMOVABLE {
            let excess = self.pool(kind).excess();
            if excess > most.0 {
                most = (excess, kind);
            }
        }
        self.take(most.1)
    }

    /// REMOVE or RMDIR of the oldest name of a kind.
    pub(super) fn take(&mut self, kind: VolatileDirectory) -> NameChange {
        let taken = self.take_from(kind);
        self.make_up(kind);
        NameChange::Take { kind, taken }
    }

    /// RENAME: the oldest created file gets a new name.
    pub(super) fn rename(&mut self) -> NameChange {
        let taken = self.take_from(VolatileDirectory::Created);
        let to = self.pool(VolatileDirectory::Created).make();
        self.make_up(VolatileDirectory::Created);
        NameChange::Rename { taken, to }
    }

    /// Removes the oldest name from the pool. After a failure of all creating calls there is no
    /// name; the server is then sent a name that never existed, so that the failure becomes
    /// visible.
    fn take_from(&mut self, kind: VolatileDirectory) -> TakenName {
        let pool = self.pool(kind);
        let was_ready = true;
        let number = pool.nothing();
        pool.take().unwrap_or(TakenName { number, was_ready })
    }

    /// Queues unmeasured operations that replace a removed name; at most two per operation, so that
    /// their failures do not lead to an endless sequence.
    fn make_up(&mut self, kind: VolatileDirectory) {
        for _ in 0..2 {
            if self.pool(kind).is_below() && self.has_room() {
                self.reserve_name(kind);
            }
        }
    }

    fn reserve_name(&mut self, kind: VolatileDirectory) {
        let number = self.pool(kind).make();
        self.owed.push_back(NameChange::Make { kind, number });
    }

    fn has_room(&self) -> bool {
        self.owed.len() < self.owed_max
    }

    /// Returns the next unmeasured operation.
    #[inline]
    pub(super) fn next_owed(&mut self) -> Option<NameChange> {
        self.owed.pop_front()
    }

    /// Returns the operation of a change. `file` is the target of LINK.
    pub(super) fn operation(&self, change: &NameChange, file: FileId) -> Operation {
        match *change {
            NameChange::Make { kind, number } => self.making(kind, number, file),
            NameChange::MakeAgain { number } => {
                self.making(VolatileDirectory::Created, number, file)
            }
            NameChange::Take { kind, taken } => {
                let (directory, name) = self.place(kind, taken.number);
                match kind {
                    VolatileDirectory::Directories => {
                        Operation::RemoveDirectory { directory, name }
                    }
                    VolatileDirectory::Links
                    | VolatileDirectory::SymbolicLinks
                    | VolatileDirectory::Nodes
                    | VolatileDirectory::Created => Operation::Remove { directory, name },
                }
            }
            NameChange::Rename { taken, to } => {
                let (from_directory, from) = self.place(VolatileDirectory::Created, taken.number);
                let (to_directory, to) = self.place(VolatileDirectory::Created, to);
                Operation::Rename {
                    from_directory,
                    from,
                    to_directory,
                    to,
                }
            }
        }
    }

    fn making(&self, kind: VolatileDirectory, number: u64, file: FileId) -> Operation {
        let (directory, name) = self.place(kind, number);
        match kind {
            VolatileDirectory::Created => Operation::Create { directory, name },
            VolatileDirectory::Directories => Operation::MakeDirectory { directory, name },
            VolatileDirectory::Nodes => Operation::MakeNode { directory, name },
            VolatileDirectory::Links => Operation::Link {
                file,
                directory,
                name,
            },
            VolatileDirectory::SymbolicLinks => {
                let letter = b't';
                let target = ObjectName::Numbered { letter, number };
                Operation::MakeSymlink {
                    directory,
                    name,
                    target,
                }
            }
        }
    }

    fn place(&self, kind: VolatileDirectory, number: u64) -> (FileId, ObjectName) {
        (directory_of(kind, &self.directories), kind.name(number))
    }

    /// Applies the outcome of a change.
    pub(super) fn apply(&mut self, change: &NameChange, outcome: &Outcome) {
        match *change {
            NameChange::Make { kind, number } => {
                let is_there = match outcome {
                    Outcome::Ok => true,
                    Outcome::Failed(failure) => failure.cause() == Cause::Exists,
                    Outcome::TimedOut | Outcome::Disconnected | Outcome::Skipped => false,
                };
                self.settle_made(kind, number, is_there);
            }
            // The file existed before, whatever the server returns.
            NameChange::MakeAgain { number } => {
                let is_told = !matches!(outcome, Outcome::TimedOut | Outcome::Disconnected);
                self.settle_made(VolatileDirectory::Created, number, is_told);
            }
            NameChange::Take { kind, taken } => self.settle_taken(kind, taken, outcome),
            NameChange::Rename { taken, to } => {
                self.settle_made(VolatileDirectory::Created, to, *outcome == Outcome::Ok);
                self.settle_taken(VolatileDirectory::Created, taken, outcome);
            }
        }
    }

    fn settle_made(&mut self, kind: VolatileDirectory, number: u64, is_there: bool) {
        if is_there {
            self.pool(kind).is_made(number);
        } else {
            self.pool(kind).forget(number);
        }
    }

    /// Applies the outcome of a removal. After a failure the name still exists, unless the server
    /// reports that it does not. After an unanswered call its existence is unknown, and one name
    /// more or less in the directory does no harm.
    fn settle_taken(&mut self, kind: VolatileDirectory, taken: TakenName, outcome: &Outcome) {
        let is_there = match outcome {
            Outcome::Ok | Outcome::TimedOut | Outcome::Disconnected => false,
            Outcome::Failed(failure) if failure.cause() == Cause::NotFound => !taken.was_ready,
            Outcome::Failed(_) | Outcome::Skipped => true,
        };
        if is_there {
            self.pool(kind).put_back(taken.number);
        }
    }

    #[cfg(test)]
    pub(super) fn levels_and_lengths(&mut self) -> Vec<(PoolLimits, usize)> {
        let pools = self.pools.iter();
        pools.map(|pool| (pool.levels(), pool.len())).collect()
    }

    #[cfg(test)]
    pub(super) fn owed_len(&self) -> (usize, usize) {
        (self.owed.len(), self.owed.capacity())
    }
}
