//! Compounds: several messages in one frame (MS-SMB2, sections 2.2.1 and 3.2.4.1.4).

use alloc::vec::Vec;

use super::codec::{Chain, Decode, DecodeError, Encode, Linked, Reader, Writer};
use super::header::{HEADER_LEN, Header};

/// Format of the links by NextCommand.
const LINKED: Linked = Linked {
    field: "NextCommand",
    at: 20,
    least: HEADER_LEN,
    align: 8,
};

/// A message of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Header of the message.
    pub header: Header,
    /// The whole message, with its header and the padding up to the next: the input of a signature.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// Decodes a message that fills `bytes`.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let header = Header::from_bytes(bytes)?;
        Ok(Self { header, bytes })
    }

    /// Decodes the body after the header.
    #[inline]
    pub fn body<T: Decode<'a>>(&self) -> Result<T, DecodeError> {
        T::decode(&mut Reader::starting_at(self.bytes, HEADER_LEN))
    }
}

/// The messages of a frame, one or more; the iteration ends after an error.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    chain: Chain<'a>,
}

impl<'a> Messages<'a> {
    /// Returns the messages of this frame, which must be decrypted.
    #[inline]
    pub const fn of(frame: &'a [u8]) -> Self {
        let chain = LINKED.members(frame);
        Self { chain }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, DecodeError>;

    #[expect(
        clippy::inline_always,
        reason = "called, it hands each message over in memory: 52 instructions more of a response"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        // The header first: only a message of SMB2 has NextCommand.
        let header = Header::from_bytes(self.chain.rest()?);
        let bytes = self.chain.next()?;
        let message = header.and_then(|header| {
            Ok(Message {
                header,
                bytes: bytes?,
            })
        });
        if message.is_err() {
            self.chain = LINKED.members(&[]);
        }
        Some(message)
    }
}

/// Appends a message; returns its offset in `out`.
#[inline]
pub fn append(out: &mut Vec<u8>, header: &Header, body: &impl Encode) -> usize {
    let mut writer = Writer::new(out);
    let start = writer.position();
    header.encode(&mut writer);
    body.encode(&mut writer);
    start
}

/// Pads the message that starts at `last` and marks in its header that the next message to be
/// appended follows.
#[inline]
pub fn link(out: &mut Vec<u8>, last: usize) {
    LINKED.link(&mut Writer::new(out), last);
}

/// Marks in the header of the message that starts at `last` that no message follows.
#[inline]
pub fn unlink(out: &mut Vec<u8>, last: usize) {
    Writer::new(out).patch_u32(last + LINKED.at, 0);
}
