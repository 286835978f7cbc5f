//! Limits of a server on copy requests, and division of a copy into requests (MS-SMB2, section
//! 3.3.3).

use filestone_wire::smb2::ioctl::{Chunk, CopychunkResponse, RESUME_KEY_LEN};
use filestone_workload::output::DataRange;

/// Key of a copy source, issued by the server.
pub(super) type ResumeKey = [u8; RESUME_KEY_LEN];

/// Maximum size of a copy request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyLimits {
    /// Number of chunks.
    chunks: u32,
    /// Bytes of a chunk.
    chunk_len: u32,
    /// Bytes of all chunks.
    total: u32,
}

impl Default for CopyLimits {
    /// Limits used before a server has returned its own. Windows and Samba allow 1 MiB and 16 MiB,
    /// and accept more chunks.
    fn default() -> Self {
        Self {
            chunks: 16,
            chunk_len: 1 << 20,
            total: 16 << 20,
        }
    }
}

/// Maximum number of chunks per request, whatever the server accepts.
const CHUNKS_MAX: u32 = 256;

impl CopyLimits {
    /// Returns the limits of a server that has refused these chunks; `None` if the chunks exceed
    /// none of them.
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

    /// Fills `chunks` with the next request for the rest of a copy to the same offset of another
    /// file.
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

/// Returns the total bytes of these chunks.
pub(super) fn sum_of(chunks: &[Chunk]) -> u64 {
    chunks.iter().map(|chunk| u64::from(chunk.length)).sum()
}
