//! WRITE: write to a file or a pipe (sections 2.2.21 and 2.2.22).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length16, length32};
use super::{Channel, FileId, HEADER_LEN};

flags! {
    /// Flags of a request from dialect 2.1 on.
    pub struct WriteFlags(u32) {
        /// SMB2_WRITEFLAG_WRITE_THROUGH: to stable storage before the response.
        WRITE_THROUGH = 0x1;
        /// SMB2_WRITEFLAG_WRITE_UNBUFFERED.
        WRITE_UNBUFFERED = 0x2;
    }
}

/// SMB2 WRITE Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Offset.
    pub offset: u64,
    /// FileId.
    pub file_id: FileId,
    /// Channel.
    pub channel: Channel,
    /// RemainingBytes: number of bytes that the client will write after these.
    pub remaining_bytes: u32,
    /// Flags.
    pub flags: WriteFlags,
    /// Descriptors of the channel, written after the data.
    pub channel_info: &'a [u8],
    /// Data to write.
    pub data: &'a [u8],
}

impl Request<'_> {
    const SIZE: u16 = 49;
    const DATA_AT: u16 = HEADER_LEN as u16 + 48;

    /// Appends the request up to its data, whose length is `data_len` rather than that of `data`:
    /// for a client that sends them without copying. The data are the end of the message in that
    /// case.
    #[inline]
    pub fn encode_head(&self, data_len: usize, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        out.u16(Self::DATA_AT);
        out.u32(length32(data_len));
        out.u64(self.offset);
        self.file_id.encode(out);
        self.channel.encode(out);
        out.u32(self.remaining_bytes);
        let info_len = length16(self.channel_info.len());
        let info_at = usize::from(Self::DATA_AT) + data_len;
        out.u16(if info_len == 0 { 0 } else { length16(info_at) });
        out.u16(info_len);
        self.flags.encode(out);
    }
}

impl Encode for Request<'_> {
    #[inline]
    fn encode(&self, out: &mut Writer<'_>) {
        self.encode_head(self.data.len(), out);
        out.bytes(self.data);
        out.bytes(self.channel_info);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    #[inline]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let (data_at, data_len) = (reader.u16()?, reader.u32()?);
        let offset = reader.u64()?;
        let file_id = FileId::decode(reader)?;
        let channel = Channel::decode(reader)?;
        let remaining_bytes = reader.u32()?;
        let (info_at, info_len) = (reader.u16()?, reader.u16()?);
        let flags = WriteFlags::decode(reader)?;
        Ok(Self {
            offset,
            file_id,
            channel,
            remaining_bytes,
            flags,
            channel_info: reader.buffer("WriteChannelInfo", info_at.into(), info_len.into())?,
            data: reader.buffer("Data", data_at.into(), data_len)?,
        })
    }
}

layout! {
    /// SMB2 WRITE Response.
    pub struct Response[17, reserved 2] {
        /// Count: bytes written.
        pub count: u32;
        /// Remaining: reserved.
        pub remaining: u32, reserved 4;
    }
}
