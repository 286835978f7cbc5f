//! Common response of QUERY_DIRECTORY, CHANGE_NOTIFY and QUERY_INFO (sections 2.2.34, 2.2.36 and
//! 2.2.38).

use super::HEADER_LEN;
use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length32};

/// A buffer with the requested information, whose format depends on the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputBuffer<'a> {
    /// Buffer.
    pub data: &'a [u8],
}

impl OutputBuffer<'_> {
    const SIZE: u16 = 9;
    const BUFFER_AT: u16 = HEADER_LEN as u16 + 8;

    /// Appends the response up to its buffer, which has `len` bytes.
    pub fn encode_head(len: usize, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        out.u16(Self::BUFFER_AT);
        out.u32(length32(len));
    }
}

impl Encode for OutputBuffer<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        Self::encode_head(self.data.len(), out);
        out.bytes(self.data);
    }
}

impl<'a> Decode<'a> for OutputBuffer<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let (offset, len) = (reader.u16()?, reader.u32()?);
        Ok(Self {
            data: reader.buffer("OutputBuffer", offset.into(), len)?,
        })
    }
}
