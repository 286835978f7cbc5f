//! SET_INFO: change a file, its file system, its security or its quota (sections 2.2.39 and
//! 2.2.40).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer, length32};
use super::info::InfoClass;
use super::{FileId, HEADER_LEN};

/// SMB2 SET_INFO Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// InfoType and FileInfoClass.
    pub class: InfoClass,
    /// AdditionalInformation: the parts of the security descriptor.
    pub additional_information: u32,
    /// FileId.
    pub file_id: FileId,
    /// A structure of MS-FSCC, one of those in [`info`](super::info).
    pub buffer: &'a [u8],
}

impl Request<'_> {
    const SIZE: u16 = 33;
    const BUFFER_AT: u16 = HEADER_LEN as u16 + 32;

    /// Appends a request with this structure in its buffer, instead of `buffer`.
    pub fn encode_with(&self, information: &impl Encode, out: &mut Writer<'_>) {
        let start = out.position();
        self.encode_head(0, out);
        let buffer = out.position();
        information.encode(out);
        out.patch_u32(start + 4, length32(out.position() - buffer));
    }

    fn encode_head(&self, len: usize, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.class.encode(out);
        out.u32(length32(len));
        out.u16(Self::BUFFER_AT);
        out.u16(0);
        out.u32(self.additional_information);
        self.file_id.encode(out);
    }
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.encode_head(self.buffer.len(), out);
        out.bytes(self.buffer);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let class = InfoClass::decode(reader)?;
        let (len, offset) = (reader.u32()?, reader.u16()?);
        reader.skip(2)?;
        let additional_information = reader.u32()?;
        Ok(Self {
            class,
            additional_information,
            file_id: FileId::decode(reader)?,
            buffer: reader.buffer("Buffer", offset.into(), len)?,
        })
    }
}

/// SMB2 SET_INFO Response: only its StructureSize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response;

impl Encode for Response {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(2);
    }
}

impl<'a> Decode<'a> for Response {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(2).map(|()| Self)
    }
}
