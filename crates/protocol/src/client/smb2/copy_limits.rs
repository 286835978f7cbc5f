//! What a server copies at once, and how a copy is divided by that (MS-SMB2, section 3.3.3).

use filestone_wire::smb2::ioctl::{Chunk, CopychunkResponse, RESUME_KEY_LEN};
use filestone_workload::output::DataRange;

/// By what the server knows the source of a copy.
pub(super) type ResumeKey = [u8; RESUME_KEY_LEN];

/// The most that a request asks to be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyLimits {
    /// Chunks of it.
    chunks: u32,
    /// Bytes of a chunk.
    chunk_len: u32,
    /// Bytes of all chunks.
    total: u32,
}

impl Default for CopyLimits {
    /// What is asked before a server has said what its limits are. Windows and Samba have 1 MiB
    /// and 16 MiB, and take more chunks.
    fn default() -> Self {
        Self {
            chunks: 16,
            chunk_len: 1 << 20,
            total: 16 << 20,
        }
    }
}

/// Chunks of a request at most, whatever a server takes.
const CHUNKS_MAX: u32 = 256;

impl CopyLimits {
    /// The limits of a server that has refused these chunks; none if it says of no limit that they
    /// are beyond it.
    pub fn of(said: CopychunkResponse, refused: &[Chunk]) -> Option<Self> {
        let limits = Self {
            chunks: said.chunks_written.min(CHUNKS_MAX),
            chunk_len: said.chunk_bytes_written,
            total: said.total_bytes_written,
        };
        let is_limit = limits.chunks > 0 && limits.chunk_len > 0 && limits.total > 0;
        let fits = refused.len() as u64 <= u64::from(said.chunks_written)
            && refused.iter().all(|chunk| chunk.length <= limits.chunk_len)
            && sum_of(refused) <= u64::from(limits.total);
        (is_limit && !fits).then_some(limits)
    }

    /// The next request for what is left of a copy to the same place of another file.
    pub fn divide(self, left: DataRange, chunks: &mut Vec<Chunk>) {
        chunks.clear();
        let mut rest = left.len.min(self.total);
        let mut at = left.at;
        while rest > 0 && (chunks.len() as u32) < self.chunks {
            let length = rest.min(self.chunk_len);
            chunks.push(Chunk {
                source_offset: at,
                target_offset: at,
                length,
            });
            at = at.saturating_add(length.into());
            rest -= length;
        }
    }
}

/// Bytes of these chunks.
pub(super) fn sum_of(chunks: &[Chunk]) -> u64 {
    chunks.iter().map(|chunk| u64::from(chunk.length)).sum()
}
