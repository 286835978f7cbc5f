//! Whether the data that READ brings are the data that should be there.

use crate::operation::FileId;
use crate::workload::FileTable;
use filestone_wire::pattern;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

/// Blocks that are remembered at most, over all files: 32 MiB of checksums.
const BLOCKS_MAX: u64 = 4 << 20;

/// Checks READ data.
///
/// Files that we wrote, and those of the built-in server, consist of the pattern
/// and are compared with it byte by byte. Of any other file nothing is known, so
/// each block must be the same as the first time that it was read.
#[derive(Debug)]
pub struct Verify {
    table: Arc<FileTable>,
    pattern: Arc<[u8]>,
    block_len: u32,
    /// Index of the first block of each file in `seen`.
    first: Vec<u64>,
    /// Checksums of the blocks read so far; 0 for none.
    seen: Vec<u64>,
}

impl Verify {
    /// Checks READs of `block_len` bytes at multiples of it.
    pub fn new(table: Arc<FileTable>, pattern: Arc<[u8]>, block_len: u32) -> Self {
        let block_len = block_len.max(1);
        let mut first = Vec::with_capacity(table.len() as usize);
        let mut blocks = 0u64;
        for index in 0..table.len() {
            first.push(blocks);
            if let Some(entry) = table.file(FileId(index)).filter(|entry| !entry.has_pattern) {
                blocks = blocks.saturating_add(entry.len.div_ceil(u64::from(block_len)));
            }
        }
        let seen = vec![0; blocks.min(BLOCKS_MAX) as usize];
        Self {
            table,
            pattern,
            block_len,
            first,
            seen,
        }
    }

    /// Whether `data` are what is at `offset` of `file`, as far as can be known.
    pub fn is_right(&mut self, file: FileId, offset: u64, data: &[u8]) -> bool {
        let Some(entry) = self.table.file(file) else {
            return false;
        };
        if entry.has_pattern {
            return pattern::first_mismatch_in(&self.pattern, offset, data).is_none();
        }
        let block = self.first.get(file.0 as usize).map_or(u64::MAX, |first| {
            first.saturating_add(offset / u64::from(self.block_len))
        });
        let Some(seen) = usize::try_from(block)
            .ok()
            .and_then(|block| self.seen.get_mut(block))
        else {
            return true;
        };
        let mut hasher = DefaultHasher::new();
        hasher.write(data);
        let checksum = hasher.finish().max(1);
        if *seen == 0 {
            *seen = checksum;
        }
        *seen == checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{FileEntry, ObjectKind};
    use filestone_wire::nfs3::Handle;

    #[test]
    fn a_server_may_claim_files_of_any_length() {
        let mut table = FileTable::default();
        let claims = [u64::MAX, u64::MAX, 1].map(|len| {
            table.add(FileEntry {
                handle: Handle::EMPTY,
                len,
                kind: ObjectKind::File,
                has_pattern: false,
            })
        });
        let mut verify = Verify::new(Arc::new(table), Vec::new().into(), 1);
        for file in claims {
            assert!(verify.is_right(file, u64::MAX, b"data"));
        }
        // What is remembered is held against the next reading.
        assert!(verify.is_right(claims[0], 0, b"data"));
        assert!(verify.is_right(claims[0], 0, b"data"));
        assert!(!verify.is_right(claims[0], 0, b"else"));
    }
}
