//! NEGOTIATE: dialect and message protection (sections 2.2.3 and 2.2.4).

mod context;
mod dialect;

pub use context::{
    Cipher, CompressionAlgorithm, Context, Contexts, HashAlgorithm, SigningAlgorithm,
};
pub use dialect::{Capabilities, Dialect, SecurityMode};

use super::codec::{Array, Decode, DecodeError, Encode, Reader, Writer, length16, length32};
use super::{FileTime, HEADER_LEN};

/// SMB2 NEGOTIATE Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// SecurityMode.
    pub security_mode: SecurityMode,
    /// Capabilities; 0 in the dialects before 3.0.
    pub capabilities: Capabilities,
    /// ClientGuid.
    pub client_guid: [u8; 16],
    /// Dialects.
    pub dialects: Array<'a, Dialect>,
    /// NegotiateContextList: only if 3.1.1 is among the dialects.
    pub contexts: Contexts<'a>,
}

impl Request<'_> {
    const SIZE: u16 = 36;
    const DIALECTS_AT: usize = HEADER_LEN + Self::SIZE as usize;

    /// Returns the offset of the contexts: after the dialects, at a multiple of eight bytes.
    const fn contexts_at(dialects: usize) -> usize {
        (Self::DIALECTS_AT + 2 * dialects).next_multiple_of(8)
    }
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        let dialects = self.dialects.len();
        out.u16(Self::SIZE);
        out.u16(length16(dialects));
        self.security_mode.encode(out);
        out.u16(0);
        self.capabilities.encode(out);
        out.bytes(&self.client_guid);
        if self.contexts.is_empty() {
            out.u64(0);
            return self.dialects.encode(out);
        }
        let contexts_at = Self::contexts_at(dialects);
        out.u32(length32(contexts_at));
        out.u16(self.contexts.count());
        out.u16(0);
        self.dialects.encode(out);
        out.zeros(contexts_at - Self::DIALECTS_AT - 2 * dialects);
        self.contexts.encode(out);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let dialect_count = reader.u16()?;
        let security_mode = SecurityMode::decode(reader)?;
        reader.skip(2)?;
        let capabilities = Capabilities::decode(reader)?;
        let client_guid = *reader.array()?;
        // ClientStartTime, unless 3.1.1 is offered.
        let (contexts_at, context_count) = (reader.u32()?, reader.u16()?);
        reader.skip(2)?;
        let dialects = Array::decode(reader, dialect_count.into())?;
        let has_contexts = dialects.iter().any(|dialect| dialect == Dialect::SMB_3_1_1);
        let contexts = if has_contexts {
            Contexts::decode(reader, contexts_at, context_count)?
        } else {
            Contexts::default()
        };
        Ok(Self {
            security_mode,
            capabilities,
            client_guid,
            dialects,
            contexts,
        })
    }
}

/// SMB2 NEGOTIATE Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    /// SecurityMode.
    pub security_mode: SecurityMode,
    /// DialectRevision.
    pub dialect: Dialect,
    /// ServerGuid.
    pub server_guid: [u8; 16],
    /// Capabilities.
    pub capabilities: Capabilities,
    /// MaxTransactSize: largest length of QUERY_INFO, QUERY_DIRECTORY and similar, in bytes.
    pub max_transact_size: u32,
    /// MaxReadSize.
    pub max_read_size: u32,
    /// MaxWriteSize.
    pub max_write_size: u32,
    /// SystemTime.
    pub system_time: FileTime,
    /// ServerStartTime.
    pub server_start_time: FileTime,
    /// First token of SPNEGO.
    pub security_buffer: &'a [u8],
    /// NegotiateContextList: only in dialect 3.1.1.
    pub contexts: Contexts<'a>,
}

impl Response<'_> {
    const SIZE: u16 = 65;
    const BUFFER_AT: usize = HEADER_LEN + 64;
}

impl Encode for Response<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        let buffer_len = self.security_buffer.len();
        let buffer_end = Self::BUFFER_AT + buffer_len;
        let contexts_at = buffer_end.next_multiple_of(8);
        out.u16(Self::SIZE);
        self.security_mode.encode(out);
        self.dialect.encode(out);
        out.u16(self.contexts.count());
        out.bytes(&self.server_guid);
        self.capabilities.encode(out);
        out.u32(self.max_transact_size);
        out.u32(self.max_read_size);
        out.u32(self.max_write_size);
        self.system_time.encode(out);
        self.server_start_time.encode(out);
        out.u16(Self::BUFFER_AT as u16);
        out.u16(length16(buffer_len));
        if self.contexts.is_empty() {
            out.u32(0);
            return out.bytes(self.security_buffer);
        }
        out.u32(length32(contexts_at));
        out.bytes(self.security_buffer);
        out.zeros(contexts_at - buffer_end);
        self.contexts.encode(out);
    }
}

impl<'a> Decode<'a> for Response<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let security_mode = SecurityMode::decode(reader)?;
        let dialect = Dialect::decode(reader)?;
        let context_count = reader.u16()?;
        let server_guid = *reader.array()?;
        let capabilities = Capabilities::decode(reader)?;
        let (max_transact_size, max_read_size) = (reader.u32()?, reader.u32()?);
        let max_write_size = reader.u32()?;
        let system_time = FileTime::decode(reader)?;
        let server_start_time = FileTime::decode(reader)?;
        let (offset, len) = (reader.u16()?, reader.u16()?);
        // Reserved before 3.1.1, and not zero in older versions of Windows.
        let contexts_at = reader.u32()?;
        let contexts = if dialect == Dialect::SMB_3_1_1 {
            Contexts::decode(reader, contexts_at, context_count)?
        } else {
            Contexts::default()
        };
        Ok(Self {
            security_mode,
            dialect,
            server_guid,
            capabilities,
            max_transact_size,
            max_read_size,
            max_write_size,
            system_time,
            server_start_time,
            security_buffer: reader.buffer("SecurityBuffer", offset.into(), len.into())?,
            contexts,
        })
    }
}
