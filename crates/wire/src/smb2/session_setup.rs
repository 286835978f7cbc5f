//! SESSION_SETUP: authenticates, in one or more rounds (sections 2.2.5 and 2.2.6).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length16};
use super::{Capabilities, HEADER_LEN, SecurityMode};

flags! {
    /// Flags of a request.
    pub struct SetupFlags(u8) {
        /// SMB2_SESSION_FLAG_BINDING: binds the session to this connection.
        BINDING = 0x01;
    }
}

flags! {
    /// SessionFlags of a response.
    pub struct SessionFlags(u16) {
        /// SMB2_SESSION_FLAG_IS_GUEST.
        IS_GUEST = 0x1;
        /// SMB2_SESSION_FLAG_IS_NULL: anonymous.
        IS_NULL = 0x2;
        /// SMB2_SESSION_FLAG_ENCRYPT_DATA: the server requires encryption of all messages.
        ENCRYPT_DATA = 0x4;
    }
}

/// SMB2 SESSION_SETUP Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Flags.
    pub flags: SetupFlags,
    /// SecurityMode.
    pub security_mode: SecurityMode,
    /// Capabilities, of which only DFS has a meaning here.
    pub capabilities: Capabilities,
    /// Channel: reserved.
    pub channel: u32,
    /// PreviousSessionId: the session that this one replaces, or 0.
    pub previous_session_id: u64,
    /// The token of SPNEGO.
    pub security_buffer: &'a [u8],
}

impl Request<'_> {
    const SIZE: u16 = 25;
    const BUFFER_AT: u16 = HEADER_LEN as u16 + 24;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.flags.encode(out);
        // A single byte here, two in NEGOTIATE.
        out.u8(self.security_mode.0 as u8);
        self.capabilities.encode(out);
        out.u32(self.channel);
        out.u16(Self::BUFFER_AT);
        out.u16(length16(self.security_buffer.len()));
        out.u64(self.previous_session_id);
        out.bytes(self.security_buffer);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let flags = SetupFlags::decode(reader)?;
        let security_mode = SecurityMode(reader.u8()?.into());
        let capabilities = Capabilities::decode(reader)?;
        let channel = reader.u32()?;
        let (offset, len) = (reader.u16()?, reader.u16()?);
        let previous_session_id = reader.u64()?;
        Ok(Self {
            flags,
            security_mode,
            capabilities,
            channel,
            previous_session_id,
            security_buffer: reader.buffer("SecurityBuffer", offset.into(), len.into())?,
        })
    }
}

/// SMB2 SESSION_SETUP Response: the last one if its status is STATUS_SUCCESS, followed by another
/// round if it is STATUS_MORE_PROCESSING_REQUIRED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    /// SessionFlags.
    pub session_flags: SessionFlags,
    /// The token of SPNEGO.
    pub security_buffer: &'a [u8],
}

impl Response<'_> {
    const SIZE: u16 = 9;
    const BUFFER_AT: u16 = HEADER_LEN as u16 + 8;
}

impl Encode for Response<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.session_flags.encode(out);
        out.u16(Self::BUFFER_AT);
        out.u16(length16(self.security_buffer.len()));
        out.bytes(self.security_buffer);
    }
}

impl<'a> Decode<'a> for Response<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let session_flags = SessionFlags::decode(reader)?;
        let (offset, len) = (reader.u16()?, reader.u16()?);
        Ok(Self {
            session_flags,
            security_buffer: reader.buffer("SecurityBuffer", offset.into(), len.into())?,
        })
    }
}
