//! One operation, repeated: nct's workload for all 22 procedures.
//!
//! Operations that create or remove a name come in pairs, so that a run can continue indefinitely
//! in a directory of constant size: a measured CREATE is followed by an uncounted REMOVE on the
//! same slot, a measured REMOVE by an uncounted CREATE.
//! [`unmeasured_for`](filestone_plan::plan::unmeasured_for) is the table. LOCK, which also needs an
//! open file, is in `locks`.

use crate::workload::{ACCESS_ALL, FileTable, Next, Workload};
use filestone_plan::plan::{ProbePlan, unmeasured_for};
use filestone_workload::only_in_loads;
use filestone_workload::operation::{
    AttributeChange, Completion, DirectoryCursor, FileId, ObjectName, OpKind, Operation, Outcome,
    ReplyInfo,
};
use filestone_workload::random::{Generator, RandomStream, RngExt, stream};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// One operation, repeated by one client.
#[derive(Debug)]
pub struct Probe {
    plan: ProbePlan,
    table: Arc<FileTable>,
    client: u32,
    generator: Generator,
    /// Index of the next subject or name.
    position: u32,
    /// Offset of the next READ or WRITE of that subject, or of the next copy.
    offset: u64,
    slots: Vec<Slot>,
}

/// State of one slot between its operations.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Operations begun, so that names do not repeat.
    sequence: u64,
    /// Whether the unmeasured operation before the next measured one is done.
    is_restored: bool,
    /// Whether the operation in the slot is unmeasured.
    is_restoring: bool,
    /// Whether the last measured operation requires an unmeasured one.
    is_used: bool,
    /// Cursor of the slot's listing.
    cursor: DirectoryCursor,
    /// Offset of the unmeasured WRITE, for COMMIT.
    written: u64,
}

impl Probe {
    /// Creates the workload of client `client` with `slots` slots.
    pub fn new(
        plan: &ProbePlan,
        table: Arc<FileTable>,
        client: u32,
        slots: u32,
        seed: u64,
    ) -> Self {
        let probe = Self {
            plan: *plan,
            table,
            client,
            generator: stream(seed, RandomStream::Workload, u64::from(client)),
            position: 0,
            offset: 0,
            slots: vec![Slot::default(); slots as usize],
        };
        probe.numbered(client, seed)
    }

    /// Makes the workload issue the requests of client `number` of a job of several hosts, on the
    /// files of this host.
    #[must_use]
    pub fn numbered(mut self, number: u32, seed: u64) -> Self {
        self.generator = stream(seed, RandomStream::Workload, u64::from(number));
        // Clients start at different positions, so that they do not move in step.
        let count = self.visit_count();
        self.position = number.checked_rem(count).unwrap_or(0);
        self
    }

    /// Returns the number of objects or names that the operation visits in turn.
    fn visit_count(&self) -> u32 {
        match self.plan.operation {
            OpKind::Lookup => self.table.name_count(),
            _ => self.table.subjects.end - self.table.subjects.start,
        }
    }

    /// Returns the index of the next object or name to visit.
    #[inline]
    fn next_visit(&mut self) -> Option<u32> {
        let count = self.visit_count();
        if count == 0 {
            return None;
        }
        if self.plan.random {
            return Some(self.generator.random_range(0..count));
        }
        let index = self.position;
        self.position = if index + 1 >= count { 0 } else { index + 1 };
        Some(index)
    }

    #[inline]
    fn next_subject(&mut self) -> Option<FileId> {
        self.next_visit()
            .map(|index| FileId(self.table.subjects.start + index))
    }

    /// Returns the next READ: sequentially through all files, or at random.
    ///
    /// Offsets are multiples of the size; the last block of a file is requested with the whole size
    /// and the reply is short, as a file system would read it.
    #[inline]
    fn next_read(&mut self) -> Option<Operation> {
        let len = self.plan.size_bytes;
        if self.plan.random {
            let file = self.next_subject()?;
            let blocks = self.table.file(file)?.len.div_ceil(u64::from(len)).max(1);
            let offset = self.generator.random_range(0..blocks) * u64::from(len);
            return Some(Operation::Read { file, offset, len });
        }
        let file = FileId(self.table.subjects.start + self.position);
        let offset = self.offset;
        self.offset += u64::from(len);
        // The wrap belongs to the operation that reaches the end, so no operation starts at or
        // beyond it.
        if self.offset >= self.table.file(file)?.len {
            self.offset = 0;
            self.next_visit();
        }
        Some(Operation::Read { file, offset, len })
    }

    /// Returns the offset of the next WRITE or copy in this client's file.
    #[inline]
    fn next_write_offset(&mut self) -> u64 {
        let len = u64::from(self.plan.size_bytes.max(1));
        let blocks = (self.plan.file_size_bytes / len).max(1);
        if self.plan.random {
            return self.generator.random_range(0..blocks) * len;
        }
        let offset = self.offset;
        self.offset = if offset / len + 1 >= blocks {
            0
        } else {
            offset + len
        };
        offset
    }

    fn write(&mut self) -> Option<Operation> {
        let offset = self.next_write_offset();
        Some(Operation::Write {
            file: self.table.own_file(self.client)?,
            offset,
            len: self.plan.size_bytes,
            stability: self.plan.stability,
        })
    }

    /// Returns the next copy from this client's source to its file.
    fn copy(&mut self) -> Option<Operation> {
        Some(Operation::Copy {
            from: self.table.subject_of(self.client)?,
            to: self.table.own_file(self.client)?,
            offset: self.next_write_offset(),
            len: self.plan.size_bytes,
        })
    }

    /// Returns the name that operation number `sequence` of a slot creates or removes.
    ///
    /// 20 bits of client, 20 of slot and 24 of sequence: a name repeats after 16 million operations
    /// of its slot, long after its removal.
    fn name(&self, slot: u32, sequence: u64) -> ObjectName {
        let number = u64::from(self.client & 0xf_ffff) << 44
            | u64::from(slot & 0xf_ffff) << 24
            | (sequence & 0xff_ffff);
        ObjectName::Numbered {
            letter: b'f',
            number,
        }
    }

    /// Returns the unmeasured operation that accompanies this plan's operation, for one slot.
    fn restoring(&mut self, slot: u32, sequence: u64) -> Option<Operation> {
        let directory = self.table.directory?;
        let name = self.name(slot, sequence);
        match unmeasured_for(self.plan.operation).first()? {
            OpKind::Remove => Some(Operation::Remove { directory, name }),
            OpKind::RmDir => Some(Operation::RemoveDirectory { directory, name }),
            OpKind::Create => Some(Operation::Create { directory, name }),
            OpKind::MkDir => Some(Operation::MakeDirectory { directory, name }),
            OpKind::Write => {
                let write = self.write()?;
                if let (Operation::Write { offset, .. }, Some(state)) =
                    (&write, self.slots.get_mut(slot as usize))
                {
                    state.written = *offset;
                }
                Some(write)
            }
            _ => None,
        }
    }

    /// Returns whether the unmeasured operation comes before the first measured one.
    const fn restores_first(operation: OpKind) -> bool {
        matches!(
            operation,
            OpKind::Remove | OpKind::RmDir | OpKind::Rename | OpKind::Commit
        )
    }

    /// Returns one page of a listing, from the end of the slot's last page.
    fn page(&self, slot: u32) -> Option<Operation> {
        let directory = self.table.directory?;
        let cursor = self.slots.get(slot as usize)?.cursor;
        let len = self.plan.size_bytes;
        Some(match self.plan.operation {
            OpKind::ReadDirPlus => Operation::ReadDirectoryPlus {
                directory,
                cursor,
                len,
            },
            OpKind::ReadDir => Operation::ReadDirectory {
                directory,
                cursor,
                len,
            },
            _ => return None,
        })
    }

    /// Returns an operation on a name of the slot.
    fn change(&mut self, slot: u32) -> Option<Operation> {
        let directory = self.table.directory?;
        let state = self.slots.get_mut(slot as usize)?;
        let sequence = state.sequence;
        state.sequence += 1;
        state.is_used = true;
        let name = self.name(slot, sequence);
        Some(match self.plan.operation {
            OpKind::Create => Operation::Create { directory, name },
            OpKind::MkDir => Operation::MakeDirectory { directory, name },
            OpKind::SymLink => {
                let target = ObjectName::Numbered {
                    letter: b't',
                    number: u64::from(slot),
                };
                Operation::MakeSymlink {
                    directory,
                    name,
                    target,
                }
            }
            OpKind::MkNod => Operation::MakeNode { directory, name },
            OpKind::Link => Operation::Link {
                file: self.table.own_file(self.client)?,
                directory,
                name,
            },
            OpKind::Remove => Operation::Remove { directory, name },
            OpKind::RmDir => Operation::RemoveDirectory { directory, name },
            OpKind::Rename => Operation::Rename {
                from_directory: directory,
                from: name,
                to_directory: directory,
                to: self.name(slot, sequence + 1),
            },
            _ => return None,
        })
    }
}

/// Returns whether an operation lists a directory.
const fn lists(operation: OpKind) -> bool {
    matches!(operation, OpKind::ReadDir | OpKind::ReadDirPlus)
}

impl Probe {
    /// Returns the next measured operation of a slot.
    fn next_operation(&mut self, slot: u32) -> Option<Operation> {
        match self.plan.operation {
            OpKind::Null => Some(Operation::Null),
            OpKind::GetAttr => self.next_subject().map(|file| Operation::GetAttr { file }),
            OpKind::SetAttr => {
                let file = self.table.own_file(self.client)?;
                Some(Operation::SetAttr {
                    file,
                    change: AttributeChange::Touch,
                })
            }
            OpKind::Lookup => {
                let name = ObjectName::Listed(self.next_visit()?);
                Some(Operation::Lookup {
                    directory: self.table.directory?,
                    name,
                })
            }
            OpKind::Access => self.next_subject().map(|file| Operation::Access {
                file,
                wanted: ACCESS_ALL,
            }),
            OpKind::ReadLink => self.next_subject().map(|link| Operation::ReadLink { link }),
            OpKind::Read => self.next_read(),
            OpKind::Write => self.write(),
            OpKind::Create
            | OpKind::MkDir
            | OpKind::SymLink
            | OpKind::MkNod
            | OpKind::Remove
            | OpKind::RmDir
            | OpKind::Rename
            | OpKind::Link => self.change(slot),
            OpKind::ReadDir | OpKind::ReadDirPlus => self.page(slot),
            OpKind::FsStat => self
                .next_subject()
                .map(|file| Operation::FileSystemStatus { file }),
            OpKind::FsInfo => self
                .next_subject()
                .map(|file| Operation::FileSystemInfo { file }),
            OpKind::PathConf => self
                .next_subject()
                .map(|file| Operation::PathConfiguration { file }),
            OpKind::Commit => {
                let offset = self.slots.get(slot as usize)?.written;
                Some(Operation::Commit {
                    file: self.table.own_file(self.client)?,
                    offset,
                    len: self.plan.size_bytes,
                })
            }
            OpKind::SessionSetup => Some(Operation::SessionSetup),
            OpKind::TreeConnect => Some(Operation::TreeConnect),
            OpKind::Notify => {
                let directory = self.table.directory?;
                Some(Operation::Notify { directory })
            }
            OpKind::Copy => self.copy(),
            OpKind::Lock | OpKind::Unlock | only_in_loads!() => None,
        }
    }
}

impl Workload for Probe {
    fn prepare_slot(&mut self, slot: u32, after: Option<&Completion>) -> Option<Operation> {
        let operation = self.plan.operation;
        let index = slot as usize;
        let mut state = *self.slots.get(index)?;
        match after {
            Some(Completion {
                answer: ReplyInfo::Directory { cursor, end, .. },
                ..
            }) if !state.is_restoring => {
                let next = (!end).then_some(*cursor);
                self.slots[index].cursor = next.unwrap_or_default();
            }
            // A cookie that is no longer valid (NFS3ERR_BAD_COOKIE) restarts the listing.
            Some(Completion {
                outcome: Outcome::Failed(_),
                ..
            }) if lists(operation) => self.slots[index].cursor = DirectoryCursor::default(),
            _ => {}
        }
        unmeasured_for(operation).first()?;
        if state.is_restoring {
            state.is_restoring = false;
            state.is_restored = true;
            state.is_used = false;
            self.slots[index] = state;
            return None;
        }
        let is_wanted = match operation {
            // A renamed file stays; only a slot without one, or whose RENAME failed, needs another.
            OpKind::Rename => after.is_none_or(|completion| completion.outcome != Outcome::Ok),
            _ if Self::restores_first(operation) => true,
            _ => state.is_used,
        };
        if !is_wanted {
            return None;
        }
        // The name of the last sequence number, already created, is removed again; the next name to
        // be removed is created under the next number.
        let sequence = if Self::restores_first(operation) {
            state.sequence
        } else {
            state.sequence.saturating_sub(1)
        };
        self.slots[index].is_restoring = true;
        self.restoring(slot, sequence)
    }

    fn needs_preparation(&self) -> bool {
        let operation = self.plan.operation;
        !unmeasured_for(operation).is_empty() || lists(operation)
    }

    fn is_constant(&self) -> bool {
        match self.plan.operation {
            OpKind::Null | OpKind::SetAttr => true,
            OpKind::GetAttr
            | OpKind::Access
            | OpKind::Lookup
            | OpKind::ReadLink
            | OpKind::FsStat
            | OpKind::FsInfo
            | OpKind::PathConf => self.visit_count() == 1,
            _ => false,
        }
    }

    fn next(&mut self, slot: u32, _now: Timestamp) -> Next<Operation> {
        Next::or_nothing(self.next_operation(slot))
    }
}

#[cfg(test)]
mod tests;
