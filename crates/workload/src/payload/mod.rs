//! What file data consist of that is looked at again: patterns, and the units in which they are written.

pub mod pattern;
pub mod unit;

pub use pattern::Pattern;
pub use unit::{DataVerifier, FileKey, Payloads, Piece, Place, ReadCheck, VerifyError, WriteBlock};

/// What the data of a line are, where they are not bytes that are sent over and over, nor any that are
/// passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// It writes this.
    Unit(WriteBlock),
    /// What it reads is looked at.
    Reading(ReadCheck),
}
