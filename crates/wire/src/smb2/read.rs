//! READ: read from a file or a pipe (sections 2.2.19 and 2.2.20).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length16, length32};
use super::{Channel, FileId, HEADER_LEN};

flags! {
    /// Flags of a request in the 3.x dialects.
    pub struct ReadFlags(u8) {
        /// SMB2_READFLAG_READ_UNBUFFERED.
        UNBUFFERED = 0x01;
        /// SMB2_READFLAG_REQUEST_COMPRESSED.
        REQUEST_COMPRESSED = 0x02;
    }
}

/// SMB2 READ Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Padding: preferred offset of the data in the response.
    pub padding: u8,
    /// Flags.
    pub flags: ReadFlags,
    /// Length.
    pub length: u32,
    /// Offset.
    pub offset: u64,
    /// FileId.
    pub file_id: FileId,
    /// MinimumCount: returning fewer bytes is an error.
    pub minimum_count: u32,
    /// Channel.
    pub channel: Channel,
    /// RemainingBytes: number of bytes that the client will read after these.
    pub remaining_bytes: u32,
    /// Descriptors of the channel.
    pub channel_info: &'a [u8],
}

impl Request<'_> {
    const SIZE: u16 = 49;
    const CHANNEL_INFO_AT: u16 = HEADER_LEN as u16 + 48;
    /// Offset of the data in the response if they directly follow the fixed fields.
    pub const PADDING: u8 = HEADER_LEN as u8 + 16;
}

impl Encode for Request<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        out.u8(self.padding);
        self.flags.encode(out);
        out.u32(self.length);
        out.u64(self.offset);
        self.file_id.encode(out);
        out.u32(self.minimum_count);
        self.channel.encode(out);
        out.u32(self.remaining_bytes);
        if self.channel_info.is_empty() {
            // No offset, no length, and the one mandatory byte.
            return out.zeros(5);
        }
        out.u16(Self::CHANNEL_INFO_AT);
        out.u16(length16(self.channel_info.len()));
        out.bytes(self.channel_info);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let padding = reader.u8()?;
        let flags = ReadFlags::decode(reader)?;
        let (length, offset) = (reader.u32()?, reader.u64()?);
        let file_id = FileId::decode(reader)?;
        let minimum_count = reader.u32()?;
        let channel = Channel::decode(reader)?;
        let remaining_bytes = reader.u32()?;
        let (info_at, info_len) = (reader.u16()?, reader.u16()?);
        Ok(Self {
            padding,
            flags,
            length,
            offset,
            file_id,
            minimum_count,
            channel,
            remaining_bytes,
            channel_info: reader.buffer("ReadChannelInfo", info_at.into(), info_len.into())?,
        })
    }
}

/// SMB2 READ Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    /// DataRemaining: bytes sent over the channel.
    pub data_remaining: u32,
    /// Flags in dialect 3.1.1; reserved before.
    pub flags: u32,
    /// Data that were read.
    pub data: &'a [u8],
}

impl Response<'_> {
    const SIZE: u16 = 17;
    const DATA_AT: u8 = HEADER_LEN as u8 + 16;

    /// Appends the response up to its data, whose length is `data_len` rather than that of `data`:
    /// for a server that sends them without copying.
    #[inline]
    pub fn encode_head(&self, data_len: usize, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        out.u8(Self::DATA_AT);
        out.u8(0);
        out.u32(length32(data_len));
        out.u32(self.data_remaining);
        out.u32(self.flags);
    }
}

impl Encode for Response<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        self.encode_head(self.data.len(), out);
        out.bytes(self.data);
    }
}

impl<'a> Decode<'a> for Response<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let data_at = reader.u8()?;
        reader.skip(1)?;
        let data_len = reader.u32()?;
        let (data_remaining, flags) = (reader.u32()?, reader.u32()?);
        Ok(Self {
            data_remaining,
            flags,
            data: reader.buffer("Data", data_at.into(), data_len)?,
        })
    }
}
