//! Selection of the next transfer and its data file.

use crate::workload::FileTable;
use core::ops::Range;
use filestone_plan::plan::Access;
use filestone_workload::operation::FileId;
use filestone_workload::random::{Generator, RngExt};

/// Maximum number of files examined to find one that is not empty.
const LOOKS_MAX: u32 = 64;

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    pub(super) file: FileId,
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// Position of a client in the files that it reads, or in those that it writes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TransferPosition {
    /// The file, and the offset of the next transfer; `None` at the end of a file.
    current: Option<(FileId, u64)>,
}

impl TransferPosition {
    /// Returns the next transfer: the rest of the current file, piece by piece, then the next
    /// selected file; or any piece of any file.
    ///
    /// The last piece of a file is as long as the rest of the file, so no transfer reaches beyond
    /// its end and WRITE never extends it.
    #[inline]
    pub(super) fn next(
        &mut self,
        access: Access,
        table: &FileTable,
        transfer_bytes: u32,
        generator: &mut Generator,
        choose: impl FnOnce() -> FileId,
    ) -> Transfer {
        let transfer_bytes = transfer_bytes.max(1);
        let (file, offset) = match (access, self.current.take()) {
            (Access::Whole, Some(current)) => current,
            (Access::Whole, None) => (choose(), 0),
            (Access::Random, _) => {
                let file = choose();
                let pieces = length(table, file).div_ceil(u64::from(transfer_bytes));
                let piece = generator.random_range(0..pieces.max(1));
                (file, piece * u64::from(transfer_bytes))
            }
        };
        let left = length(table, file).saturating_sub(offset);
        let len = left.min(u64::from(transfer_bytes)) as u32;
        if access == Access::Whole && left > u64::from(len) {
            self.current = Some((file, offset + u64::from(len)));
        }
        Transfer { file, offset, len }
    }
}

fn length(table: &FileTable, file: FileId) -> u64 {
    table.file(file).map_or(0, |entry| entry.len)
}

/// Returns the file itself, or the next one in `files` that is not empty. If none of the next files
/// has data, returns the file itself: then there is no data to read or write.
pub(super) fn with_data(file: FileId, files: &Range<u32>, table: &FileTable) -> FileId {
    let after = (file.0..files.end).chain(files.start..file.0);
    after
        .take(LOOKS_MAX as usize)
        .map(FileId)
        .find(|file| length(table, *file) > 0)
        .unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{FileEntry, ObjectKind};
    use filestone_workload::random::{RandomStream, stream};

    fn table(lengths: &[u64]) -> FileTable {
        let mut table = FileTable::default();
        for len in lengths {
            table.add(FileEntry {
                len: *len,
                kind: ObjectKind::File,
                has_pattern: true,
            });
        }
        table
    }

    /// Returns the next `count` transfers of 8 KiB, going through the files in turn.
    fn transfers(access: Access, lengths: &[u64], count: usize) -> Vec<(u32, u64, u32)> {
        let table = table(lengths);
        let mut generator = stream(1, RandomStream::Workload, 0);
        let mut place = TransferPosition::default();
        let mut chosen = 0..;
        let mut next = || {
            let choose = || FileId(chosen.next().unwrap_or(0) % lengths.len() as u32);
            let transfer = place.next(access, &table, 8192, &mut generator, choose);
            (transfer.file.0, transfer.offset, transfer.len)
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn whole_files_are_gone_through_and_their_last_transfer_is_short() {
        assert_eq!(
            transfers(Access::Whole, &[20_000, 8192, 1], 6),
            [
                (0, 0, 8192),
                (0, 8192, 8192),
                (0, 16_384, 3616),
                (1, 0, 8192),
                (2, 0, 1),
                (0, 0, 8192)
            ]
        );
    }

    #[test]
    fn transfers_at_random_stay_within_the_file_and_reach_all_of_it() {
        let drawn = transfers(Access::Random, &[20_000], 100);
        for (_, offset, len) in &drawn {
            assert_eq!(offset % 8192, 0);
            assert_eq!(u64::from(*len), (20_000 - offset).min(8192));
        }
        assert!(drawn.iter().any(|(_, offset, _)| *offset == 16_384));
    }

    #[test]
    fn an_empty_file_is_passed_over_if_another_has_data() {
        let files = 0..3;
        let some = table(&[0, 0, 7]);
        assert_eq!(with_data(FileId(0), &files, &some), FileId(2));
        assert_eq!(with_data(FileId(2), &files, &some), FileId(2));
        let none = table(&[0, 0, 0]);
        assert_eq!(with_data(FileId(1), &files, &none), FileId(1));
        assert_eq!(transfers(Access::Whole, &[0], 2), [(0, 0, 0), (0, 0, 0)]);
    }
}
