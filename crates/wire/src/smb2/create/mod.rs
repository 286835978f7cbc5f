//! CREATE: opens or creates a file or a directory (sections 2.2.13 and 2.2.14).

mod context;
mod disposition;
mod durable;
mod lease;

pub use context::{Context, Contexts, RequestContext, ResponseContext, UnknownContext};
pub use disposition::{
    CreateAction, CreateDisposition, CreateOptions, ImpersonationLevel, ShareAccess,
};
pub use durable::{DurableFlags, DurableGrantV2, DurableReconnectV2, DurableRequestV2};
pub use lease::{Lease, LeaseV2};

use super::codec::{Decode, DecodeError, Encode, Reader, Text, Writer, length16};
use super::{AccessMask, FileAttributes, FileId, FileTime, HEADER_LEN, OplockLevel};

/// SMB2 CREATE Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// RequestedOplockLevel.
    pub oplock_level: OplockLevel,
    /// ImpersonationLevel.
    pub impersonation_level: ImpersonationLevel,
    /// DesiredAccess.
    pub desired_access: AccessMask,
    /// FileAttributes of a new file.
    pub file_attributes: FileAttributes,
    /// ShareAccess.
    pub share_access: ShareAccess,
    /// CreateDisposition.
    pub disposition: CreateDisposition,
    /// CreateOptions.
    pub options: CreateOptions,
    /// Name: a path from the share's root, without a leading `\`; empty for the root.
    pub name: Text<'a>,
    /// CreateContexts.
    pub contexts: Contexts<'a, RequestContext<'a>>,
}

impl Request<'_> {
    const SIZE: u16 = 57;
    const NAME_AT: usize = HEADER_LEN + 56;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        let name_len = self.name.len();
        out.u16(Self::SIZE);
        // SecurityFlags: reserved.
        out.u8(0);
        self.oplock_level.encode(out);
        self.impersonation_level.encode(out);
        // SmbCreateFlags and Reserved.
        out.zeros(16);
        self.desired_access.encode(out);
        self.file_attributes.encode(out);
        self.share_access.encode(out);
        self.disposition.encode(out);
        self.options.encode(out);
        out.u16(Self::NAME_AT as u16);
        out.u16(length16(name_len));
        let contexts_field = out.position();
        out.u64(0);
        self.name.encode(out);
        if self.contexts.is_empty() {
            // The buffer has at least one byte.
            out.zeros(usize::from(name_len == 0));
        } else {
            let name_end = Self::NAME_AT + name_len;
            let contexts_at = name_end.next_multiple_of(8);
            out.zeros(contexts_at - name_end);
            self.contexts.encode_at(contexts_at, contexts_field, out);
        }
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        reader.skip(1)?;
        let oplock_level = OplockLevel::decode(reader)?;
        let impersonation_level = ImpersonationLevel::decode(reader)?;
        reader.skip(16)?;
        let desired_access = AccessMask::decode(reader)?;
        let file_attributes = FileAttributes::decode(reader)?;
        let share_access = ShareAccess::decode(reader)?;
        let disposition = CreateDisposition::decode(reader)?;
        let options = CreateOptions::decode(reader)?;
        let (name_at, name_len) = (reader.u16()?, reader.u16()?);
        let (contexts_at, contexts_len) = (reader.u32()?, reader.u32()?);
        let name = reader.buffer("Name", name_at.into(), name_len.into())?;
        let contexts = reader.buffer("CreateContexts", contexts_at, contexts_len)?;
        Ok(Self {
            oplock_level,
            impersonation_level,
            desired_access,
            file_attributes,
            share_access,
            disposition,
            options,
            name: Text::from_units(name, "Name")?,
            contexts: Contexts::from_bytes(contexts)?,
        })
    }
}

/// SMB2 CREATE Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    /// OplockLevel.
    pub oplock_level: OplockLevel,
    /// Flags: 1 if the path has a reparse point.
    pub flags: u8,
    /// CreateAction.
    pub action: CreateAction,
    /// CreationTime.
    pub creation_time: FileTime,
    /// LastAccessTime.
    pub last_access_time: FileTime,
    /// LastWriteTime.
    pub last_write_time: FileTime,
    /// ChangeTime.
    pub change_time: FileTime,
    /// AllocationSize.
    pub allocation_size: u64,
    /// EndofFile.
    pub end_of_file: u64,
    /// FileAttributes.
    pub file_attributes: FileAttributes,
    /// FileId.
    pub file_id: FileId,
    /// CreateContexts.
    pub contexts: Contexts<'a, ResponseContext<'a>>,
}

impl Response<'_> {
    const SIZE: u16 = 89;
    const CONTEXTS_AT: usize = HEADER_LEN + 88;
}

impl Encode for Response<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.oplock_level.encode(out);
        out.u8(self.flags);
        self.action.encode(out);
        self.creation_time.encode(out);
        self.last_access_time.encode(out);
        self.last_write_time.encode(out);
        self.change_time.encode(out);
        out.u64(self.allocation_size);
        out.u64(self.end_of_file);
        self.file_attributes.encode(out);
        out.u32(0);
        self.file_id.encode(out);
        let contexts_field = out.position();
        out.u64(0);
        if !self.contexts.is_empty() {
            self.contexts
                .encode_at(Self::CONTEXTS_AT, contexts_field, out);
        }
    }
}

impl<'a> Decode<'a> for Response<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let oplock_level = OplockLevel::decode(reader)?;
        let flags = reader.u8()?;
        let action = CreateAction::decode(reader)?;
        let creation_time = FileTime::decode(reader)?;
        let last_access_time = FileTime::decode(reader)?;
        let last_write_time = FileTime::decode(reader)?;
        let change_time = FileTime::decode(reader)?;
        let (allocation_size, end_of_file) = (reader.u64()?, reader.u64()?);
        let file_attributes = FileAttributes::decode(reader)?;
        reader.skip(4)?;
        let file_id = FileId::decode(reader)?;
        let (contexts_at, contexts_len) = (reader.u32()?, reader.u32()?);
        let contexts = reader.buffer("CreateContexts", contexts_at, contexts_len)?;
        Ok(Self {
            oplock_level,
            flags,
            action,
            creation_time,
            last_access_time,
            last_write_time,
            change_time,
            allocation_size,
            end_of_file,
            file_attributes,
            file_id,
            contexts: Contexts::from_bytes(contexts)?,
        })
    }
}
