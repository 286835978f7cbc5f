//! Operations sampled from a mix, each executed for real on the client's own file set.
//!
//! Each operation is one call, and its kind comes from a [`ShuffledMix`]. Initial objects stay
//! unchanged (data files, their directories, the symbolic links of READLINK). Operations create and
//! remove names in separate directories, as queues of numbered names ([`changing`]). Unmeasured
//! operations balance a mix that creates more than it removes, or the reverse; they are recorded,
//! but are not part of the mix.
//!
//! The requests follow from the mix, the file set, the client's number and the seed: the n-th
//! operation of a client does not depend on the number of slots or on the speed of the server. Only
//! the cookies of READDIR and READDIRPLUS come from the server.

mod changing;
mod listing;
mod pool;
mod transfers;

pub use changing::spare_names_needed;

use crate::workload::{ACCESS_ALL, FileTable, Next, Workload};
use changing::{ChangingNames, NameChange};
use filestone_plan::file_set::{ClientSet, FILES_PER_DIRECTORY, FileSampler, VolatileDirectory};
use filestone_plan::mix::ShuffledMix;
use filestone_plan::plan::{Access, MixPlan};
use filestone_workload::operation::{
    AttributeChange, Completion, FileId, ObjectName, OpKind, Operation, Stability,
};
use filestone_workload::random::{Generator, RandomStream, stream};
use filestone_workload::time::Timestamp;
use filestone_workload::{only_in_loads, only_in_probes};
use listing::{Listings, PageRequest};
use std::sync::Arc;
use transfers::{Transfer, TransferPosition, with_data};

/// Mode set by SETATTR: that of nhfsstone's fchmod.
const MODE: u32 = 0o666;

/// The operations of one client of a mix.
#[derive(Debug)]
pub struct MixWorkload {
    settings: Settings,
    table: Arc<FileTable>,
    set: ClientSet,
    deck: ShuffledMix,
    chooser: Option<FileSampler>,
    /// Random stream that selects files.
    popularity: Generator,
    /// Random stream that selects transfers within files, with [`Access::Random`].
    generator: Generator,
    reading: TransferPosition,
    writing: TransferPosition,
    /// The file that COMMIT commits.
    written: Option<FileId>,
    /// Index of the symbolic link that READLINK reads next.
    link: u32,
    listings: Listings,
    changing: ChangingNames,
    slots: Vec<Pending>,
    restores: bool,
}

/// Parameters of the plan that the operations need.
#[derive(Debug, Clone, Copy)]
struct Settings {
    transfer_bytes: u32,
    listing_bytes: u32,
    access: Access,
    stability: Stability,
}

/// State to apply when the operation of a slot ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    Change(NameChange),
    Page(PageRequest),
}

impl MixWorkload {
    /// Creates the workload of client `client` with `slots` slots, whose part of the file set is
    /// `set`.
    pub fn new(
        plan: &MixPlan,
        table: Arc<FileTable>,
        set: ClientSet,
        client: u32,
        slots: u32,
        seed: u64,
    ) -> Self {
        let index = u64::from(client);
        let asked = plan.kinds();
        let restores = asked.iter().any(|(kind, _)| needs_to_know(*kind));
        let working = set.working_files.min(set.files.end - set.files.start);
        Self {
            settings: Settings {
                transfer_bytes: plan.transfer_bytes,
                listing_bytes: plan.listing_bytes,
                access: plan.access,
                stability: plan.stability,
            },
            table,
            deck: ShuffledMix::new(&plan.counts, client, seed),
            chooser: FileSampler::new(&plan.file_set.popularity, working).ok(),
            popularity: stream(seed, RandomStream::Popularity, index),
            generator: stream(seed, RandomStream::Workload, index),
            reading: TransferPosition::default(),
            writing: TransferPosition::default(),
            written: None,
            link: 0,
            listings: Listings::new(&set),
            changing: ChangingNames::new(&set, &plan.counts, slots, None),
            set,
            slots: vec![Pending::Nothing; slots as usize],
            restores,
        }
    }

    /// Adapts the workload to a run of `count` operations of all `clients` together.
    pub fn counted(
        mut self,
        plan: &MixPlan,
        client: u32,
        clients: u32,
        seed: u64,
        count: u64,
    ) -> Self {
        self.deck = ShuffledMix::counted(&plan.counts, client, clients, seed, count);
        self
    }

    /// Limits the workload to this number of operations of the client.
    pub fn limited(mut self, plan: &MixPlan, operations: Option<u64>) -> Self {
        let slots = self.slots.len() as u32;
        self.changing = ChangingNames::new(&self.set, &plan.counts, slots, operations);
        self
    }

    /// Returns a data file; the client's directory if the set has no files.
    #[inline]
    fn choose(&mut self) -> FileId {
        let chosen = self.chooser.as_ref();
        chosen.map_or(self.set.root, |chooser| {
            FileId(self.set.files.start + chooser.choose(&mut self.popularity))
        })
    }

    /// Returns an operation of this kind, and the state to keep until it ends.
    fn operation(&mut self, kind: OpKind) -> Option<(Operation, Pending)> {
        let operation = match kind {
            OpKind::Null => Operation::Null,
            OpKind::GetAttr => Operation::GetAttr {
                file: self.choose(),
            },
            OpKind::SetAttr => Operation::SetAttr {
                file: self.choose(),
                change: AttributeChange::Mode(MODE),
            },
            OpKind::Access => Operation::Access {
                file: self.choose(),
                wanted: ACCESS_ALL,
            },
            OpKind::Lookup => self.lookup(),
            OpKind::ReadLink => self.read_link(),
            OpKind::Read => self.read(),
            OpKind::Write => self.write(),
            OpKind::Commit => Operation::Commit {
                // At the very start no file has been written.
                file: self.written.unwrap_or_else(|| self.choose()),
                offset: 0,
                len: 0,
            },
            OpKind::FsStat => Operation::FileSystemStatus {
                file: self.set.root,
            },
            OpKind::FsInfo => Operation::FileSystemInfo {
                file: self.set.root,
            },
            OpKind::PathConf => Operation::PathConfiguration {
                file: self.set.root,
            },
            OpKind::ReadDir | OpKind::ReadDirPlus => {
                let len = self.settings.listing_bytes;
                let (operation, page) = self.listings.next(kind, &self.set, len);
                return Some((operation, Pending::Page(page)));
            }
            OpKind::Create
            | OpKind::MkDir
            | OpKind::SymLink
            | OpKind::MkNod
            | OpKind::Remove
            | OpKind::RmDir
            | OpKind::Rename
            | OpKind::Link => return Some(self.change(kind)),
            only_in_loads!() | only_in_probes!() => return None,
        };
        Some((operation, Pending::Nothing))
    }

    fn lookup(&mut self) -> Operation {
        let file = self.choose();
        let index = file.0.saturating_sub(self.set.files.start);
        Operation::Lookup {
            directory: FileId(self.set.directories.start + index / FILES_PER_DIRECTORY),
            name: ObjectName::Listed(self.set.names.start + index),
        }
    }

    /// Returns READLINK of the next symbolic link, round robin. A mix with READLINK needs a set
    /// with symbolic links; without them the server would answer that a directory is not a symbolic
    /// link.
    fn read_link(&mut self) -> Operation {
        let links = self.set.symbolic_links.clone();
        let count = links.end.saturating_sub(links.start);
        let link = if count == 0 {
            self.set.root
        } else {
            FileId(links.start + self.link)
        };
        self.link = (self.link + 1).checked_rem(count).unwrap_or(0);
        Operation::ReadLink { link }
    }

    /// Returns the next transfer for reading, or for writing.
    fn transfer(&mut self, place_of: impl Fn(&mut Self) -> &mut TransferPosition) -> Transfer {
        let mut place = *place_of(self);
        let (set, popularity) = (&self.set, &mut self.popularity);
        let chooser = self.chooser.as_ref();
        let transfer = place.next(
            self.settings.access,
            &self.table,
            self.settings.transfer_bytes,
            &mut self.generator,
            || file_with_data(chooser, popularity, set, &self.table),
        );
        *place_of(self) = place;
        transfer
    }

    fn read(&mut self) -> Operation {
        let transfer = self.transfer(|client| &mut client.reading);
        let (file, offset) = (transfer.file, transfer.offset);
        // If all files are empty, the read is at the end of one.
        let len = if transfer.len == 0 {
            self.settings.transfer_bytes
        } else {
            transfer.len
        };
        Operation::Read { file, offset, len }
    }

    fn write(&mut self) -> Operation {
        let transfer = self.transfer(|client| &mut client.writing);
        self.written = Some(transfer.file);
        Operation::Write {
            file: transfer.file,
            offset: transfer.offset,
            len: transfer.len,
            stability: self.settings.stability,
        }
    }

    /// Returns an operation that creates or removes a name.
    fn change(&mut self, kind: OpKind) -> (Operation, Pending) {
        let change = match kind {
            OpKind::Create => self.changing.create(),
            OpKind::MkDir => self.changing.make(VolatileDirectory::Directories),
            OpKind::SymLink => self.changing.make(VolatileDirectory::SymbolicLinks),
            OpKind::MkNod => self.changing.make(VolatileDirectory::Nodes),
            OpKind::Link => self.changing.make(VolatileDirectory::Links),
            OpKind::RmDir => self.changing.take(VolatileDirectory::Directories),
            OpKind::Rename => self.changing.rename(),
            _ => self.changing.remove(),
        };
        let file = match kind {
            OpKind::Link => self.choose(),
            _ => self.set.root,
        };
        (
            self.changing.operation(&change, file),
            Pending::Change(change),
        )
    }

    /// Applies the outcome of the operation in a slot.
    fn apply(&mut self, slot: u32, completion: &Completion) {
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return;
        };
        match core::mem::replace(place, Pending::Nothing) {
            Pending::Nothing => {}
            Pending::Change(change) => self.changing.apply(&change, &completion.outcome),
            Pending::Page(page) => self.listings.apply(page, completion),
        }
    }

    fn remember(&mut self, slot: u32, pending: Pending) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = pending;
        }
    }
}

/// Returns a selected data file that is not empty, if there is one.
fn file_with_data(
    chooser: Option<&FileSampler>,
    popularity: &mut Generator,
    set: &ClientSet,
    table: &FileTable,
) -> FileId {
    chooser.map_or(set.root, |chooser| {
        let first = set.files.start;
        let working = first..set.files.end.min(first.saturating_add(set.working_files));
        with_data(FileId(first + chooser.choose(popularity)), &working, table)
    })
}

/// Returns whether the workload needs the outcome of such operations.
const fn needs_to_know(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Create
            | OpKind::MkDir
            | OpKind::SymLink
            | OpKind::MkNod
            | OpKind::Remove
            | OpKind::RmDir
            | OpKind::Rename
            | OpKind::Link
            | OpKind::ReadDir
            | OpKind::ReadDirPlus
    )
}

impl Workload for MixWorkload {
    fn prepare_slot(&mut self, slot: u32, after: Option<&Completion>) -> Option<Operation> {
        if let Some(completion) = after {
            self.apply(slot, completion);
        }
        let change = self.changing.next_owed()?;
        self.remember(slot, Pending::Change(change));
        Some(self.changing.operation(&change, self.set.root))
    }

    fn needs_preparation(&self) -> bool {
        self.restores
    }

    fn next(&mut self, slot: u32, _now: Timestamp) -> Next<Operation> {
        let drawn = self.deck.draw().and_then(|kind| self.operation(kind));
        let Some((operation, pending)) = drawn else {
            return Next::Idle;
        };
        if self.restores {
            self.remember(slot, pending);
        }
        Next::Measured(operation)
    }

    /// The arrival's operation is drawn and dropped, so the following operations are unchanged.
    fn skip(&mut self) -> Option<OpKind> {
        self.deck.draw()
    }
}

#[cfg(test)]
mod tests;
