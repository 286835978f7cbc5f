//! Reader and writer for the structures of MS-SMB2: little-endian, packed, without implicit
//! padding. Fields of variable length follow the fixed fields, which contain their offset from the
//! first byte of the message's header.
//!
//! The reader borrows and never allocates. Lists are a peer's bytes or the caller's values
//! ([`Array`], [`Text`]), so that neither direction needs memory for them.

mod array;
mod chain;
mod reader;
mod text;
mod values;
mod writer;

pub use array::Array;
pub use chain::{Chain, Linked};
pub use reader::Reader;
pub use text::Text;
pub use writer::Writer;
pub(crate) use writer::{length16, length32};

use alloc::vec::Vec;

/// Error when bytes are not the expected message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The input ends inside a value.
    #[error("{need} bytes expected at byte {at}, {have} left")]
    Short {
        /// Offset of the value from the start of the message.
        at: usize,
        /// Length of the value, in bytes.
        need: usize,
        /// Number of bytes available.
        have: usize,
    },
    /// A field refers to bytes outside of the message.
    #[error("{field} is said to be {len} bytes at byte {offset} of a message of {have} bytes")]
    Outside {
        /// Name of the referenced bytes in the standard.
        field: &'static str,
        /// Announced offset.
        offset: usize,
        /// Announced length.
        len: usize,
        /// Length of the message, in bytes.
        have: usize,
    },
    /// StructureSize has another value than this structure's.
    #[error("StructureSize is {found}, not {expected}")]
    Structure {
        /// StructureSize of the structure.
        expected: u16,
        /// Received value.
        found: u16,
    },
    /// A number has no meaning in the standard for this field.
    #[error("{field} is {value:#x}, which the standard does not define")]
    Undefined {
        /// Name of the field in the standard.
        field: &'static str,
        /// Received value.
        value: u32,
    },
}

/// A type that can be written to a message.
pub trait Encode {
    /// Appends this value.
    fn encode(&self, out: &mut Writer<'_>);

    /// Returns the encoded value in a new buffer.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(&mut Writer::new(&mut bytes));
        bytes
    }
}

/// A type that can be read from a message, borrowing from it.
pub trait Decode<'a>: Sized {
    /// Reads this value from the front of the reader.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads this value from the front of `bytes`. Bytes after it are ignored: messages of a
    /// compound are padded, and a server may append fields to an information class that are newer
    /// than this code.
    fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode(&mut Reader::new(bytes))
    }
}

/// A type with a fixed number of bytes.
pub trait Fixed {
    /// Number of bytes.
    const LEN: usize;
}
