//! A run of bytes that a reply refers to.

use std::ops::Range;
use std::sync::Arc;

/// A run of bytes for a reply, referred to and not copied.
#[derive(Debug, Clone)]
pub enum ByteSlice {
    /// Part of a chunk that was written.
    Chunk(Arc<Vec<u8>>, Range<usize>),
    /// The pattern, or zeros.
    Static(&'static [u8]),
}

impl ByteSlice {
    /// The bytes themselves.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Chunk(chunk, range) => chunk.get(range.clone()).unwrap_or_default(),
            Self::Static(bytes) => bytes,
        }
    }
}
