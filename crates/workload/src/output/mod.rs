//! What a client wants sent: bytes of its own and stretches of file data that
//! lie elsewhere.

mod write_data;

pub use write_data::WriteData;

/// A stretch of the data of an action, which lie elsewhere and are sent over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataRange {
    /// Where it begins.
    pub at: u64,
    /// Bytes of it.
    pub len: u32,
}

/// File data that belong between two bytes of an [`Output`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSegment {
    /// How many bytes of the output come before it.
    pub at: usize,
    /// Where the data start in the run's table.
    pub start: usize,
    /// How many bytes of data.
    pub len: usize,
}

/// Bytes to be sent over one connection, in order.
///
/// File data of WRITE are not copied: a [`DataSegment`] says which part of the run's
/// table goes where, and the engine sends both with one vectored write.
#[derive(Debug, Default)]
pub struct Output {
    /// Everything but spliced data.
    pub bytes: Vec<u8>,
    /// Spliced data, in order of `at`.
    pub splices: Vec<DataSegment>,
    /// Where each datagram ends in `bytes`; empty for streams.
    pub datagrams: Vec<usize>,
}

impl Output {
    /// Whether there is nothing to send.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.splices.clear();
        self.datagrams.clear();
    }

    /// Bytes to be sent, spliced data included.
    pub fn total_len(&self) -> usize {
        self.bytes.len() + self.splices.iter().map(|splice| splice.len).sum::<usize>()
    }
}
