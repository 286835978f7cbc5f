//! File data with verification: patterns, and units of writes.

pub mod pattern;
pub mod unit;

pub use pattern::Pattern;
pub use unit::{
    BlockPiece, BlockPosition, DataVerifier, FileKey, Payloads, ReadCheck, VerifyError, WriteBlock,
};

/// Data of a line, other than repeated bytes and data that are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Data to write.
    Unit(WriteBlock),
    /// Parameters to verify the data that are read.
    Reading(ReadCheck),
}
