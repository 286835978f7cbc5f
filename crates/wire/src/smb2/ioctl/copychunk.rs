//! Server-side copy: the key of the source, and the ranges to copy (sections 2.2.31.1, 2.2.32.1 and
//! 2.2.32.3).

use crate::smb2::codec::{Array, Decode, DecodeError, Encode, Reader, Writer, length32};

/// Length of a ResumeKey, in bytes.
pub const RESUME_KEY_LEN: usize = 24;

layout! {
    /// SRV_REQUEST_RESUME_KEY Response.
    pub struct ResumeKeyResponse {
        /// ResumeKey: identifies the source of a copy. ContextLength and Context after it are
        /// unused.
        pub resume_key: [u8; 24], reserved 4;
    }
}

layout! {
    /// SRV_COPYCHUNK.
    pub struct Chunk {
        /// SourceOffset.
        pub source_offset: u64;
        /// TargetOffset.
        pub target_offset: u64;
        /// Length.
        pub length: u32, reserved 4;
    }
}

/// SRV_COPYCHUNK_COPY: a request to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopychunkCopy<'a> {
    /// SourceKey: the ResumeKey of the source.
    pub source_key: [u8; RESUME_KEY_LEN],
    /// Chunks.
    pub chunks: Array<'a, Chunk>,
}

impl Encode for CopychunkCopy<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.bytes(&self.source_key);
        out.u32(length32(self.chunks.len()));
        out.u32(0);
        self.chunks.encode(out);
    }
}

impl<'a> Decode<'a> for CopychunkCopy<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let source_key = *reader.array()?;
        let chunk_count = reader.u32()?;
        reader.skip(4)?;
        Ok(Self {
            source_key,
            chunks: Array::decode(reader, chunk_count as usize)?,
        })
    }
}

layout! {
    /// SRV_COPYCHUNK_RESPONSE: the amount copied, or with STATUS_INVALID_PARAMETER the server's
    /// limits of a copy.
    pub struct CopychunkResponse {
        /// ChunksWritten.
        pub chunks_written: u32;
        /// ChunkBytesWritten: of the last chunk.
        pub chunk_bytes_written: u32;
        /// TotalBytesWritten.
        pub total_bytes_written: u32;
    }
}
