//! Verification of data returned by READ.
//!
//! Data are checked piece by piece as they are received, while they are in the processor's L1
//! cache: they are neither collected nor read again.

use super::checksum::Checksum;
use crate::workload::FileTable;
use filestone_wire::pattern;
use filestone_workload::operation::FileId;
use std::sync::Arc;

/// Maximum number of stored blocks over all files: 32 MiB of checksums.
const BLOCKS_MAX: u64 = 4 << 20;
/// Stored value of a block that has not been read, and of a block of the pattern; all other values
/// are checksums.
const UNREAD: u64 = 0;
const PATTERN: u64 = 1;

/// Checks READ data.
///
/// Files that filestone wrote, and those of the built-in server, consist of the pattern and are
/// compared with it byte by byte. The content of other files is unknown, so each block must equal
/// its first read: the pattern, byte by byte again, or data with the same checksum.
#[derive(Debug)]
pub struct Verify {
    known: Arc<Known>,
    /// State of each block at its first read.
    seen: Vec<u64>,
    now: Inspection,
}

/// Data shared by the checks of all clients.
#[derive(Debug)]
struct Known {
    table: Arc<FileTable>,
    pattern: Arc<[u8]>,
    block_len: u32,
    /// Index of the first block of each file in `seen`; empty if all files consist of the pattern.
    first: Vec<u64>,
    blocks: usize,
}

/// State of the check of one READ.
#[derive(Debug)]
struct Inspection {
    /// File offset of the next data.
    at: u64,
    /// Index and stored value of the block, if it is tracked.
    block: Option<(usize, u64)>,
    /// Whether all data until now are the pattern, if that matters.
    is_pattern: bool,
    /// Whether the data must be the pattern.
    must_be_pattern: bool,
    checksum: Checksum,
}

impl Known {
    fn new(table: Arc<FileTable>, pattern: Arc<[u8]>, block_len: u32) -> Self {
        let block_len = block_len.max(1);
        let entries = || (0..table.len()).filter_map(|index| table.file(FileId(index)));
        let mut blocks = 0u64;
        let mut first = Vec::new();
        if entries().any(|entry| !entry.has_pattern) {
            first.extend(entries().map(|entry| {
                let begins = blocks;
                if !entry.has_pattern {
                    let len = entry.len.div_ceil(u64::from(block_len));
                    blocks = blocks.saturating_add(len);
                }
                begins
            }));
        }
        Self {
            table,
            pattern,
            block_len,
            first,
            blocks: blocks.min(BLOCKS_MAX) as usize,
        }
    }

    /// Returns the index in `seen` of the block at this offset of a file.
    #[inline]
    fn block(&self, file: FileId, offset: u64) -> Option<usize> {
        let first = self.first.get(file.0 as usize)?;
        let block = first.saturating_add(offset / u64::from(self.block_len));
        let block = usize::try_from(block).ok()?;
        (block < self.blocks).then_some(block)
    }
}

impl Verify {
    /// Creates a check of READs of `block_len` bytes at multiples of it.
    pub fn new(table: Arc<FileTable>, pattern: Arc<[u8]>, block_len: u32) -> Self {
        Self::knowing(Arc::new(Known::new(table, pattern, block_len)))
    }

    /// Creates a check for another client, without any blocks read.
    pub fn again(&self) -> Self {
        Self::knowing(Arc::clone(&self.known))
    }

    fn knowing(known: Arc<Known>) -> Self {
        Self {
            seen: vec![UNREAD; known.blocks],
            known,
            now: Inspection {
                at: 0,
                block: None,
                is_pattern: true,
                must_be_pattern: false,
                checksum: Checksum::EMPTY,
            },
        }
    }

    /// Returns whether `data` are correct for `offset` of `file`, insofar as this can be
    /// determined.
    #[inline]
    pub fn is_right(&mut self, file: FileId, offset: u64, data: &[u8]) -> bool {
        self.start(file, offset);
        self.look_at(data);
        self.end()
    }

    /// Begins a check of the data at `offset` of `file`.
    #[inline]
    pub fn start(&mut self, file: FileId, offset: u64) {
        let has_pattern = self
            .known
            .table
            .file(file)
            .is_none_or(|entry| entry.has_pattern);
        let block = if has_pattern {
            None
        } else {
            self.known.block(file, offset)
        };
        let seen = |block| Some((block, self.seen.get(block).copied()?));
        let block = block.and_then(seen);
        let was = block.map(|(_, was)| was);
        self.now.at = offset;
        self.now.block = block;
        self.now.must_be_pattern = has_pattern || was == Some(PATTERN);
        // On the first read, the check determines whether the data are the pattern.
        self.now.is_pattern = self.now.must_be_pattern || was == Some(UNREAD);
        if self.sums_up() {
            self.now.checksum = Checksum::EMPTY;
        }
    }

    /// Returns whether a checksum is needed.
    #[inline]
    fn sums_up(&self) -> bool {
        !self.now.must_be_pattern && self.now.block.is_some()
    }

    /// Checks the next piece of data.
    #[inline]
    pub fn look_at(&mut self, data: &[u8]) {
        if self.now.is_pattern {
            let wrong = pattern::first_mismatch_in(&self.known.pattern, self.now.at, data);
            self.now.is_pattern = wrong.is_none();
        }
        if self.sums_up() {
            self.now.checksum.add(data);
        }
        self.now.at = self.now.at.wrapping_add(data.len() as u64);
    }

    /// Ends the check; returns whether the data were correct, insofar as this can be determined.
    #[inline]
    pub fn end(&mut self) -> bool {
        if self.now.must_be_pattern {
            return self.now.is_pattern;
        }
        let Some((block, was)) = self.now.block else {
            return true;
        };
        let is = if self.now.is_pattern {
            PATTERN
        } else {
            self.now.checksum.sum().max(PATTERN + 1)
        };
        if was == UNREAD
            && let Some(seen) = self.seen.get_mut(block)
        {
            *seen = is;
        }
        was == UNREAD || was == is
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{FileEntry, ObjectKind};

    #[test]
    fn a_server_may_claim_files_of_any_length() {
        let mut table = FileTable::default();
        let claims = [u64::MAX, u64::MAX, 1].map(|len| {
            table.add(FileEntry {
                len,
                kind: ObjectKind::File,
                has_pattern: false,
            })
        });
        let mut verify = Verify::new(Arc::new(table), Vec::new().into(), 1);
        for file in claims {
            assert!(verify.is_right(file, u64::MAX, b"data"));
        }
        // The next read is compared with the stored state.
        assert!(verify.is_right(claims[0], 0, b"data"));
        assert!(verify.is_right(claims[0], 0, b"data"));
        assert!(!verify.is_right(claims[0], 0, b"else"));
    }
    const LEN: u32 = 10_000;

    /// A verifier of one file with unknown content, and one with the pattern.
    fn two_files() -> (Verify, FileId, FileId) {
        let mut table = FileTable::default();
        let [unknown, patterned] = [false, true].map(|has_pattern| {
            table.add(FileEntry {
                len: 1 << 20,
                kind: ObjectKind::File,
                has_pattern,
            })
        });
        let pattern = pattern::table().into();
        (
            Verify::new(Arc::new(table), pattern, LEN),
            unknown,
            patterned,
        )
    }

    #[test]
    fn any_byte_that_is_wrong_is_found_however_the_data_are_cut() {
        let (mut verify, unknown, patterned) = two_files();
        let offset = u64::from(LEN) * 3;
        let mut right = vec![0; LEN as usize];
        pattern::fill(offset, &mut right);
        let other: Vec<u8> = right.iter().map(|byte| byte ^ 0x55).collect();
        // The pattern where it must be; the pattern where it was found; other data.
        for (file, block, data) in [
            (patterned, 0, &right),
            (unknown, 0, &right),
            (unknown, 1, &other),
        ] {
            let offset = offset + u64::from(LEN) * block;
            let mut checked = |data: &[u8], cut: usize| {
                verify.start(file, offset);
                data.chunks(cut).for_each(|piece| verify.look_at(piece));
                verify.end()
            };
            assert!(checked(data, LEN as usize), "the first reading");
            for cut in [1, 4, 63, 64, 1000, 9999, 10_000] {
                assert!(checked(data, cut));
                for wrong in [0, 1, 63, 64, 5000, 9998, 9999] {
                    let mut data = data.clone();
                    data[wrong] ^= 0x80;
                    assert!(!checked(&data, cut), "byte {wrong}, pieces of {cut}");
                }
            }
            assert!(checked(data, 100), "what was wrong is not remembered");
            assert!(!checked(&data[1..], 100) || file == patterned);
        }
    }

    #[test]
    fn what_was_the_pattern_must_stay_so_and_what_was_not_must_not_become_so() {
        let (mut verify, unknown, _) = two_files();
        let mut right = vec![0; LEN as usize];
        pattern::fill(0, &mut right);
        let zeros = vec![0; LEN as usize];
        assert!(verify.is_right(unknown, 0, &right));
        assert!(!verify.is_right(unknown, 0, &zeros));
        let second = u64::from(LEN);
        let mut there = vec![0; LEN as usize];
        pattern::fill(second, &mut there);
        assert!(verify.is_right(unknown, second, &zeros));
        assert!(!verify.is_right(unknown, second, &there));
        // Another client has read nothing yet.
        assert!(verify.again().is_right(unknown, second, &there));
    }
}
