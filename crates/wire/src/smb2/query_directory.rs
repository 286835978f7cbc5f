//! QUERY_DIRECTORY: list a directory (sections 2.2.33 and 2.2.34).

use super::codec::{Decode, DecodeError, Encode, Reader, Text, Writer, length16};
use super::info::FileInfoClass;
use super::{FileId, HEADER_LEN, OutputBuffer};

flags! {
    /// Flags.
    pub struct QueryDirectoryFlags(u8) {
        /// SMB2_RESTART_SCANS.
        RESTART_SCANS = 0x01;
        /// SMB2_RETURN_SINGLE_ENTRY.
        RETURN_SINGLE_ENTRY = 0x02;
        /// SMB2_INDEX_SPECIFIED.
        INDEX_SPECIFIED = 0x04;
        /// SMB2_REOPEN.
        REOPEN = 0x10;
    }
}

/// SMB2 QUERY_DIRECTORY Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// FileInformationClass: one of those for directory listings.
    pub class: FileInfoClass,
    /// Flags.
    pub flags: QueryDirectoryFlags,
    /// FileIndex.
    pub file_index: u32,
    /// FileId.
    pub file_id: FileId,
    /// OutputBufferLength: largest response, in bytes.
    pub output_buffer_length: u32,
    /// FileName: the pattern; `*` for everything.
    pub pattern: Text<'a>,
}

impl Request<'_> {
    const SIZE: u16 = 33;
    const PATTERN_AT: u16 = HEADER_LEN as u16 + 32;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.class.encode(out);
        self.flags.encode(out);
        out.u32(self.file_index);
        self.file_id.encode(out);
        out.u16(Self::PATTERN_AT);
        out.u16(length16(self.pattern.len()));
        out.u32(self.output_buffer_length);
        self.pattern.encode(out);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let class = FileInfoClass::decode(reader)?;
        let flags = QueryDirectoryFlags::decode(reader)?;
        let file_index = reader.u32()?;
        let file_id = FileId::decode(reader)?;
        let (offset, len) = (reader.u16()?, reader.u16()?);
        let output_buffer_length = reader.u32()?;
        let pattern = reader.buffer("FileName", offset.into(), len.into())?;
        Ok(Self {
            class,
            flags,
            file_index,
            file_id,
            output_buffer_length,
            pattern: Text::from_units(pattern, "FileName")?,
        })
    }
}

/// SMB2 QUERY_DIRECTORY Response: entries, as [`info::Entries`](super::info::Entries) reads them.
pub type Response<'a> = OutputBuffer<'a>;
