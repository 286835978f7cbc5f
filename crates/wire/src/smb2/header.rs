//! The header in front of every message (MS-SMB2, section 2.2.1).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer};
use super::{Command, Status};

/// Length of the header, the smallest offset of variable parts in a message.
pub const HEADER_LEN: usize = 64;

/// The first four bytes of a message, which identify its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolId {
    /// A message of SMB2 or SMB3, section 2.2.1.
    Smb2,
    /// Encrypted messages, section 2.2.41.
    Transform,
    /// Compressed messages, section 2.2.42.
    Compression,
    /// A message of SMB1, MS-CIFS.
    Smb1,
}

impl ProtocolId {
    /// Returns the kind of a message; `None` if it is unknown.
    #[inline]
    pub const fn of(message: &[u8]) -> Option<Self> {
        match message.first_chunk() {
            Some(b"\xfeSMB") => Some(Self::Smb2),
            Some(b"\xfdSMB") => Some(Self::Transform),
            Some(b"\xfcSMB") => Some(Self::Compression),
            Some(b"\xffSMB") => Some(Self::Smb1),
            _ => None,
        }
    }

    /// Returns the four bytes.
    #[inline]
    pub const fn bytes(self) -> [u8; 4] {
        match self {
            Self::Smb2 => *b"\xfeSMB",
            Self::Transform => *b"\xfdSMB",
            Self::Compression => *b"\xfcSMB",
            Self::Smb1 => *b"\xffSMB",
        }
    }

    /// Reads these four bytes; any others are an error.
    #[inline]
    pub(super) fn expect(self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let found = *reader.array()?;
        if found == self.bytes() {
            return Ok(());
        }
        Err(DecodeError::Undefined {
            field: "ProtocolId",
            value: u32::from_be_bytes(found),
        })
    }
}

flags! {
    /// Flags of the header, without SMB2_FLAGS_ASYNC_COMMAND, which [`Route`] represents.
    pub struct HeaderFlags(u32) {
        /// SMB2_FLAGS_SERVER_TO_REDIR: a response or an unsolicited message.
        RESPONSE = 0x1;
        /// SMB2_FLAGS_RELATED_OPERATIONS: in a compound, uses the session, tree and file of the
        /// previous message.
        RELATED = 0x4;
        /// SMB2_FLAGS_SIGNED.
        SIGNED = 0x8;
        /// SMB2_FLAGS_PRIORITY_MASK.
        PRIORITY = 0x70;
        /// SMB2_FLAGS_DFS_OPERATIONS.
        DFS = 0x1000_0000;
        /// SMB2_FLAGS_REPLAY_OPERATION.
        REPLAY = 0x2000_0000;
    }
}

/// SMB2_FLAGS_ASYNC_COMMAND.
const ASYNC: HeaderFlags = HeaderFlags(0x2);

/// The fields of a header between MessageId and SessionId: the one difference between a SYNC and an
/// ASYNC header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Fields of an SMB2 header SYNC, section 2.2.1.2.
    Sync {
        /// Reserved; Windows and Samba set it to a process ID, 0xfeff.
        process_id: u32,
        /// TreeId.
        tree_id: u32,
    },
    /// AsyncId of an SMB2 header ASYNC, section 2.2.1.1: common to an interim response, its final
    /// response and a CANCEL.
    Async(u64),
}

/// SMB2 header, SYNC or ASYNC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// CreditCharge: number of credits that a request consumes; 0 in dialect 2.0.2.
    pub credit_charge: u16,
    /// Status of a response. In a request of the 3.x dialects, ChannelSequence and two reserved
    /// bytes: [`Header::channel_sequence`].
    pub status: Status,
    /// Command.
    pub command: Command,
    /// CreditRequest or CreditResponse.
    pub credits: u16,
    /// Flags.
    pub flags: HeaderFlags,
    /// NextCommand: distance from this header to the next one of a compound, in bytes; 0 in the
    /// last.
    pub next_command: u32,
    /// MessageId, which a response shares with its request.
    pub message_id: u64,
    /// TreeId, or AsyncId of an asynchronous operation.
    pub route: Route,
    /// SessionId.
    pub session_id: u64,
    /// Signature: 0 in a message that is not signed.
    pub signature: [u8; 16],
}

/// MessageId of unsolicited messages of a server.
pub const UNASKED: u64 = u64::MAX;

impl Header {
    /// Offset of Signature in a header.
    pub const SIGNATURE_AT: usize = 48;

    /// Returns the header of a request without signature, session and tree.
    pub const fn request(command: Command, message_id: u64) -> Self {
        Self {
            credit_charge: 0,
            status: Status::SUCCESS,
            command,
            credits: 1,
            flags: HeaderFlags::NONE,
            next_command: 0,
            message_id,
            route: Route::Sync {
                process_id: 0,
                tree_id: 0,
            },
            session_id: 0,
            signature: [0; 16],
        }
    }

    /// Returns whether the message is from a server.
    #[inline]
    pub const fn is_response(&self) -> bool {
        self.flags.contains(HeaderFlags::RESPONSE)
    }

    /// Returns whether the message is a break of an oplock or a lease, which has no request.
    #[inline]
    pub const fn is_unasked(&self) -> bool {
        self.message_id == UNASKED
    }

    /// Returns whether this is an interim response, before the final one (section 3.3.4.2).
    #[inline]
    pub const fn is_interim(&self) -> bool {
        matches!(self.route, Route::Async(_)) && self.status.0 == Status::PENDING.0
    }

    /// Returns ChannelSequence of a request of the 3.x dialects.
    #[inline]
    pub const fn channel_sequence(&self) -> u16 {
        self.status.0 as u16
    }

    /// Returns TreeId, unless the header is ASYNC.
    #[inline]
    pub const fn tree_id(&self) -> Option<u32> {
        match self.route {
            Route::Sync { tree_id, .. } => Some(tree_id),
            Route::Async(_) => None,
        }
    }
}

impl Header {
    /// Returns the bytes, built in place because every message begins with them.
    #[inline]
    pub fn to_array(&self) -> [u8; HEADER_LEN] {
        let is_async = matches!(self.route, Route::Async(_));
        let async_flag = if is_async { ASYNC } else { HeaderFlags::NONE };
        let flags = self.flags.without(ASYNC).with(async_flag);
        let route = match self.route {
            Route::Sync {
                process_id,
                tree_id,
            } => u64::from(process_id) | u64::from(tree_id) << 32,
            Route::Async(id) => id,
        };
        let mut bytes = [0; HEADER_LEN];
        bytes[0..4].copy_from_slice(&ProtocolId::Smb2.bytes());
        bytes[4..6].copy_from_slice(&(HEADER_LEN as u16).to_le_bytes());
        bytes[6..8].copy_from_slice(&self.credit_charge.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.status.0.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.command.number().to_le_bytes());
        bytes[14..16].copy_from_slice(&self.credits.to_le_bytes());
        bytes[16..20].copy_from_slice(&flags.0.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.next_command.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.message_id.to_le_bytes());
        bytes[32..40].copy_from_slice(&route.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.session_id.to_le_bytes());
        bytes[48..64].copy_from_slice(&self.signature);
        bytes
    }
}

impl Encode for Header {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.bytes(&self.to_array());
    }
}

impl<'a> Decode<'a> for Header {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        ProtocolId::Smb2.expect(reader)?;
        reader.structure(HEADER_LEN as u16)?;
        // Read at once: every message begins with them.
        let bytes: &[u8; HEADER_LEN - 6] = reader.array()?;
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let number = u16_at(6);
        let command = Command::from_number(number).ok_or(DecodeError::Undefined {
            field: "Command",
            value: number.into(),
        })?;
        let flags = HeaderFlags(u32_at(10));
        let route = if flags.contains(ASYNC) {
            Route::Async(u64_at(26))
        } else {
            Route::Sync {
                process_id: u32_at(26),
                tree_id: u32_at(30),
            }
        };
        let mut signature = [0; 16];
        signature.copy_from_slice(&bytes[42..]);
        Ok(Self {
            credit_charge: u16_at(0),
            status: Status(u32_at(2)),
            command,
            credits: u16_at(8),
            flags: flags.without(ASYNC),
            next_command: u32_at(14),
            message_id: u64_at(18),
            route,
            session_id: u64_at(34),
            signature,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MS-SMB2, section 2.2.1: every field at the offset in the standard's diagram.
    #[test]
    fn every_field_stands_where_the_standard_has_it() {
        let header = Header {
            credit_charge: 0x0102,
            status: Status::PENDING,
            command: Command::Lock,
            credits: 0x0304,
            flags: HeaderFlags::RESPONSE.with(HeaderFlags::SIGNED),
            next_command: 0,
            message_id: 0x0506_0708_090a_0b0c,
            route: Route::Sync {
                process_id: 0xfeff,
                tree_id: 0x0d0e_0f10,
            },
            session_id: 0x1112_1314_1516_1718,
            signature: [0x99; 16],
        };
        #[rustfmt::skip]
        let mut expected = [
            0xfe, b'S', b'M', b'B', 64, 0, 2, 1,
            3, 1, 0, 0, 10, 0, 4, 3,
            9, 0, 0, 0, 0, 0, 0, 0,
            0x0c, 0x0b, 0x0a, 9, 8, 7, 6, 5,
            0xff, 0xfe, 0, 0, 0x10, 0x0f, 0x0e, 0x0d,
            0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
            0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99,
            0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99,
        ];
        assert_eq!(header.to_bytes(), expected);
        assert_eq!(Header::from_bytes(&expected), Ok(header));
        assert!(!header.is_interim());

        expected[16] |= 2;
        let route = Route::Async(0x0d0e_0f10_0000_feff);
        let interim = Header { route, ..header };
        assert_eq!(Header::from_bytes(&expected), Ok(interim));
        assert_eq!(interim.to_bytes(), expected);
        assert!(interim.is_interim() && interim.is_response() && !interim.is_unasked());
    }

    #[test]
    fn another_protocol_on_that_port_is_named_by_its_first_bytes() {
        let undefined = DecodeError::Undefined {
            field: "ProtocolId",
            value: u32::from_be_bytes(*b"HTTP"),
        };
        assert_eq!(Header::from_bytes(b"HTTP/1.1 400 Bad"), Err(undefined));
        assert_eq!(ProtocolId::of(b"HTTP/1.1"), None);
        assert_eq!(ProtocolId::of(b"\xfdSMB"), Some(ProtocolId::Transform));
    }
}
