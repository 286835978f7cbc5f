//! Output buffer of a client: bytes to be sent, and references to ranges of file data.

mod write_data;

pub use write_data::WriteData;

/// A range of the data of an action, which are stored elsewhere and repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataRange {
    /// Start of the range.
    pub at: u64,
    /// Length in bytes.
    pub len: u32,
}

/// File data that belong between two bytes of an [`Output`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSegment {
    /// Number of bytes of the output before it.
    pub at: usize,
    /// Start of the data in the run's table.
    pub start: usize,
    /// Number of bytes of data.
    pub len: usize,
}

/// Bytes to be sent over one connection, in order.
///
/// File data of WRITE are not copied: a [`DataSegment`] refers to a part of the run's table and its
/// position, and the engine sends both with one vectored write.
#[derive(Debug, Default)]
pub struct Output {
    /// Everything except spliced data.
    pub bytes: Vec<u8>,
    /// Spliced data, in order of `at`.
    pub splices: Vec<DataSegment>,
    /// End of each datagram in `bytes`; empty for streams.
    pub datagrams: Vec<usize>,
}

impl Output {
    /// Whether there is nothing to send.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.splices.clear();
        self.datagrams.clear();
    }

    /// Returns the number of bytes to be sent, including spliced data.
    pub fn total_len(&self) -> usize {
        self.bytes.len() + self.splices.iter().map(|splice| splice.len).sum::<usize>()
    }
}
