//! Byte-range locks: mandatory, and each of one open (MS-FSA, section 2.1.4.10).

use filestone_wire::smb2::Status;

use super::held::{ByteRange, Lock};
use super::open_table::GlobalOpenTable;
use crate::tree::InodeNumber;

/// Largest number of locks of all clients.
const LOCKS_MAX: usize = 1 << 18;

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferDirection {
    Read,
    Write,
}

impl GlobalOpenTable {
    /// Sets a lock.
    pub fn lock(&mut self, number: InodeNumber, wanted: Lock) -> Result<(), Status> {
        if self.lock_count >= LOCKS_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let file = self.files.get_mut(&number).ok_or(Status::FILE_CLOSED)?;
        if file.locks.iter().any(|held| held.excludes(&wanted)) {
            return Err(Status::LOCK_NOT_GRANTED);
        }
        file.locks.push(wanted);
        self.lock_count += 1;
        Ok(())
    }

    /// Unlocks exactly this range of an open.
    pub fn unlock(
        &mut self,
        number: InodeNumber,
        open: u64,
        range: ByteRange,
    ) -> Result<(), Status> {
        let file = self.files.get_mut(&number).ok_or(Status::FILE_CLOSED)?;
        let is_it = |lock: &Lock| lock.open == open && lock.range == range;
        let index = file.locks.iter().position(is_it);
        file.locks.remove(index.ok_or(Status::RANGE_NOT_LOCKED)?);
        self.lock_count -= 1;
        self.wake(number);
        Ok(())
    }

    /// Checks that no lock prevents an open from reading or writing a range.
    pub fn check_transfer(
        &self,
        number: InodeNumber,
        open: u64,
        range: ByteRange,
        transfer: TransferDirection,
    ) -> Result<(), Status> {
        let Some(file) = self.files.get(&number) else {
            return Ok(());
        };
        let is_in_the_way = |lock: &Lock| {
            let concerns = match (transfer, lock.open == open) {
                (TransferDirection::Read, is_own) => lock.is_exclusive && !is_own,
                (TransferDirection::Write, true) => !lock.is_exclusive,
                (TransferDirection::Write, false) => true,
            };
            concerns && range.len > 0 && lock.range.overlaps(range)
        };
        if file.locks.iter().any(is_in_the_way) {
            return Err(Status::FILE_LOCK_CONFLICT);
        }
        Ok(())
    }
}
