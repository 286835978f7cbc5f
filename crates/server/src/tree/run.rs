//! A slice of bytes that a reply references.

use std::ops::Range;
use std::sync::Arc;

/// A slice of bytes for a reply, referenced and not copied.
#[derive(Debug, Clone)]
pub enum ByteSlice {
    /// Part of a written chunk.
    Chunk(Arc<Vec<u8>>, Range<usize>),
    /// The pattern, or zeros.
    Static(&'static [u8]),
}

impl ByteSlice {
    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Chunk(chunk, range) => chunk.get(range.clone()).unwrap_or_default(),
            Self::Static(bytes) => bytes,
        }
    }
}
