//! Reader and writer for the structures of MS-SMB2: little-endian, packed, without padding of
//! their own. What varies in length lies behind the fixed fields, which say where: by an offset
//! from the first byte of the message's header.
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

/// Why bytes are not the message they were taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The input ends inside a value.
    #[error("{need} bytes expected at byte {at}, {have} left")]
    Short {
        /// Where the value begins, counted from the start of the message.
        at: usize,
        /// Bytes the value takes.
        need: usize,
        /// Bytes there were.
        have: usize,
    },
    /// A field says that something lies where the message has no room for it.
    #[error("{field} is said to be {len} bytes at byte {offset} of a message of {have} bytes")]
    Outside {
        /// What lies there, as the standard names it.
        field: &'static str,
        /// Where it is said to begin.
        offset: usize,
        /// How long it is said to be.
        len: usize,
        /// Bytes of the message.
        have: usize,
    },
    /// StructureSize is not the one of this structure.
    #[error("StructureSize is {found}, not {expected}")]
    Structure {
        /// That of the structure.
        expected: u16,
        /// What was found.
        found: u16,
    },
    /// A number is none of those that the standard lists for this field.
    #[error("{field} is {value:#x}, which the standard does not define")]
    Undefined {
        /// The field, as the standard names it.
        field: &'static str,
        /// What was found.
        value: u32,
    },
}

/// Something that can be written to a message.
pub trait Encode {
    /// Appends this value.
    fn encode(&self, out: &mut Writer<'_>);

    /// This value alone, in a new buffer.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(&mut Writer::new(&mut bytes));
        bytes
    }
}

/// Something that can be read from a message, borrowing from it.
pub trait Decode<'a>: Sized {
    /// Takes this value off the front of the reader.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads this value from the front of `bytes`. What follows it is not looked at: messages of
    /// a compound are padded, and what a server appends to a class of information is newer than
    /// we are.
    fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode(&mut Reader::new(bytes))
    }
}

/// What always takes the same number of bytes.
pub trait Fixed {
    /// How many.
    const LEN: usize;
}
