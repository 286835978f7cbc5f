//! QUERY_INFO: queries a file, its file system, its security or its quota (sections 2.2.37 and
//! 2.2.38).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length32};
use super::info::InfoClass;
use super::{FileId, HEADER_LEN, OutputBuffer};

/// SMB2 QUERY_INFO Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// InfoType and FileInfoClass.
    pub class: InfoClass,
    /// OutputBufferLength: largest response, in bytes.
    pub output_buffer_length: u32,
    /// AdditionalInformation: the parts of the security descriptor.
    pub additional_information: u32,
    /// Flags: the start of a list of extended attributes.
    pub flags: u32,
    /// FileId.
    pub file_id: FileId,
    /// Parameters of queries for quotas and extended attributes.
    pub input: &'a [u8],
}

impl Request<'_> {
    const SIZE: u16 = 41;
    const INPUT_AT: u16 = HEADER_LEN as u16 + 40;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.class.encode(out);
        out.u32(self.output_buffer_length);
        let has_input = !self.input.is_empty();
        out.u16(if has_input { Self::INPUT_AT } else { 0 });
        out.u16(0);
        out.u32(length32(self.input.len()));
        out.u32(self.additional_information);
        out.u32(self.flags);
        self.file_id.encode(out);
        out.bytes(self.input);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let class = InfoClass::decode(reader)?;
        let output_buffer_length = reader.u32()?;
        let input_at = reader.u16()?;
        reader.skip(2)?;
        let input_len = reader.u32()?;
        let (additional_information, flags) = (reader.u32()?, reader.u32()?);
        Ok(Self {
            class,
            output_buffer_length,
            additional_information,
            flags,
            file_id: FileId::decode(reader)?,
            input: reader.buffer("InputBuffer", input_at.into(), input_len)?,
        })
    }
}

/// SMB2 QUERY_INFO Response: a structure of MS-FSCC, one of those in [`info`](super::info).
pub type Response<'a> = OutputBuffer<'a>;
