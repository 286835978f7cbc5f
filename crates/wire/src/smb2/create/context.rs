//! SMB2_CREATE_CONTEXT: additional parameters and results of a CREATE (sections 2.2.13.2 and
//! 2.2.14.2).

use core::fmt;

use super::{DurableGrantV2, DurableReconnectV2, DurableRequestV2, Lease, LeaseV2};
use crate::smb2::codec::{
    Chain, Decode, DecodeError, Encode, Fixed, Linked, Reader, Writer, length16, length32,
};
use crate::smb2::{AccessMask, FileId, FileTime, Status};

/// Format of the links of contexts, and number of bytes before a context's name.
const LINKED: Linked = Linked {
    field: "Next",
    at: 0,
    least: 16,
    align: 8,
};

/// Names of the contexts that are decoded here.
mod name {
    pub const DURABLE_REQUEST: &[u8] = b"DHnQ";
    pub const DURABLE_RECONNECT: &[u8] = b"DHnC";
    pub const DURABLE_REQUEST_V2: &[u8] = b"DH2Q";
    pub const DURABLE_RECONNECT_V2: &[u8] = b"DH2C";
    pub const LEASE: &[u8] = b"RqLs";
    pub const MAXIMAL_ACCESS: &[u8] = b"MxAc";
    pub const ALLOCATION_SIZE: &[u8] = b"AlSi";
    pub const TIMEWARP_TOKEN: &[u8] = b"TWrp";
    pub const QUERY_ON_DISK_ID: &[u8] = b"QFid";
}

/// A context that is not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownContext<'a> {
    /// Name.
    pub name: &'a [u8],
    /// Data.
    pub data: &'a [u8],
}

/// A context of a request or of a response.
pub trait Context<'a>: Copy + PartialEq + fmt::Debug {
    /// Returns the name of the context.
    fn name(&self) -> &'a [u8];

    /// Appends the data of the context.
    fn encode_data(&self, out: &mut Writer<'_>);

    /// Decodes the context with this name and data.
    fn decode_data(context: UnknownContext<'a>) -> Result<Self, DecodeError>;
}

/// A context of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestContext<'a> {
    /// SMB2_CREATE_DURABLE_HANDLE_REQUEST.
    DurableRequest,
    /// SMB2_CREATE_DURABLE_HANDLE_RECONNECT.
    DurableReconnect(FileId),
    /// SMB2_CREATE_DURABLE_HANDLE_REQUEST_V2.
    DurableRequestV2(DurableRequestV2),
    /// SMB2_CREATE_DURABLE_HANDLE_RECONNECT_V2.
    DurableReconnectV2(DurableReconnectV2),
    /// SMB2_CREATE_REQUEST_LEASE.
    Lease(Lease),
    /// SMB2_CREATE_REQUEST_LEASE_V2.
    LeaseV2(LeaseV2),
    /// SMB2_CREATE_QUERY_MAXIMAL_ACCESS_REQUEST; with a time, only if the file has changed since.
    MaximalAccess(Option<FileTime>),
    /// SMB2_CREATE_ALLOCATION_SIZE.
    AllocationSize(u64),
    /// SMB2_CREATE_TIMEWARP_TOKEN.
    TimewarpToken(FileTime),
    /// SMB2_CREATE_QUERY_ON_DISK_ID.
    QueryOnDiskId,
    /// Any other context.
    Unknown(UnknownContext<'a>),
}

impl<'a> Context<'a> for RequestContext<'a> {
    fn name(&self) -> &'a [u8] {
        match self {
            Self::DurableRequest => name::DURABLE_REQUEST,
            Self::DurableReconnect(_) => name::DURABLE_RECONNECT,
            Self::DurableRequestV2(_) => name::DURABLE_REQUEST_V2,
            Self::DurableReconnectV2(_) => name::DURABLE_RECONNECT_V2,
            Self::Lease(_) | Self::LeaseV2(_) => name::LEASE,
            Self::MaximalAccess(_) => name::MAXIMAL_ACCESS,
            Self::AllocationSize(_) => name::ALLOCATION_SIZE,
            Self::TimewarpToken(_) => name::TIMEWARP_TOKEN,
            Self::QueryOnDiskId => name::QUERY_ON_DISK_ID,
            Self::Unknown(unknown) => unknown.name,
        }
    }

    fn encode_data(&self, out: &mut Writer<'_>) {
        match self {
            Self::DurableRequest => out.zeros(16),
            Self::DurableReconnect(file_id) => file_id.encode(out),
            Self::DurableRequestV2(request) => request.encode(out),
            Self::DurableReconnectV2(reconnect) => reconnect.encode(out),
            Self::Lease(lease) => lease.encode(out),
            Self::LeaseV2(lease) => lease.encode(out),
            Self::MaximalAccess(None) | Self::QueryOnDiskId => {}
            Self::MaximalAccess(Some(time)) | Self::TimewarpToken(time) => time.encode(out),
            Self::AllocationSize(size) => out.u64(*size),
            Self::Unknown(unknown) => out.bytes(unknown.data),
        }
    }

    fn decode_data(context: UnknownContext<'a>) -> Result<Self, DecodeError> {
        let data = context.data;
        Ok(match context.name {
            name::DURABLE_REQUEST => Self::DurableRequest,
            name::DURABLE_RECONNECT => Self::DurableReconnect(FileId::from_bytes(data)?),
            name::DURABLE_REQUEST_V2 => Self::DurableRequestV2(DurableRequestV2::from_bytes(data)?),
            name::DURABLE_RECONNECT_V2 => {
                Self::DurableReconnectV2(DurableReconnectV2::from_bytes(data)?)
            }
            // The versions differ only in their length.
            name::LEASE if data.len() >= LeaseV2::LEN => Self::LeaseV2(LeaseV2::from_bytes(data)?),
            name::LEASE => Self::Lease(Lease::from_bytes(data)?),
            name::MAXIMAL_ACCESS if data.is_empty() => Self::MaximalAccess(None),
            name::MAXIMAL_ACCESS => Self::MaximalAccess(Some(FileTime::from_bytes(data)?)),
            name::ALLOCATION_SIZE => Self::AllocationSize(u64::from_bytes(data)?),
            name::TIMEWARP_TOKEN => Self::TimewarpToken(FileTime::from_bytes(data)?),
            name::QUERY_ON_DISK_ID => Self::QueryOnDiskId,
            _ => Self::Unknown(context),
        })
    }
}

/// A context of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseContext<'a> {
    /// SMB2_CREATE_DURABLE_HANDLE_RESPONSE.
    Durable,
    /// SMB2_CREATE_DURABLE_HANDLE_RESPONSE_V2.
    DurableV2(DurableGrantV2),
    /// SMB2_CREATE_RESPONSE_LEASE.
    Lease(Lease),
    /// SMB2_CREATE_RESPONSE_LEASE_V2.
    LeaseV2(LeaseV2),
    /// SMB2_CREATE_QUERY_MAXIMAL_ACCESS_RESPONSE.
    MaximalAccess {
        /// QueryStatus: status of the query.
        query_status: Status,
        /// MaximalAccess.
        access: AccessMask,
    },
    /// SMB2_CREATE_QUERY_ON_DISK_ID.
    OnDiskId {
        /// DiskFileId.
        disk_file_id: u64,
        /// VolumeId.
        volume_id: u64,
    },
    /// Any other context.
    Unknown(UnknownContext<'a>),
}

impl<'a> Context<'a> for ResponseContext<'a> {
    fn name(&self) -> &'a [u8] {
        match self {
            Self::Durable => name::DURABLE_REQUEST,
            Self::DurableV2(_) => name::DURABLE_REQUEST_V2,
            Self::Lease(_) | Self::LeaseV2(_) => name::LEASE,
            Self::MaximalAccess { .. } => name::MAXIMAL_ACCESS,
            Self::OnDiskId { .. } => name::QUERY_ON_DISK_ID,
            Self::Unknown(unknown) => unknown.name,
        }
    }

    fn encode_data(&self, out: &mut Writer<'_>) {
        match self {
            Self::Durable => out.zeros(8),
            Self::DurableV2(grant) => grant.encode(out),
            Self::Lease(lease) => lease.encode(out),
            Self::LeaseV2(lease) => lease.encode(out),
            Self::MaximalAccess {
                query_status,
                access,
            } => {
                query_status.encode(out);
                access.encode(out);
            }
            Self::OnDiskId {
                disk_file_id,
                volume_id,
            } => {
                out.u64(*disk_file_id);
                out.u64(*volume_id);
                out.zeros(16);
            }
            Self::Unknown(unknown) => out.bytes(unknown.data),
        }
    }

    fn decode_data(context: UnknownContext<'a>) -> Result<Self, DecodeError> {
        let data = context.data;
        let mut reader = Reader::new(data);
        Ok(match context.name {
            name::DURABLE_REQUEST => Self::Durable,
            name::DURABLE_REQUEST_V2 => Self::DurableV2(DurableGrantV2::from_bytes(data)?),
            name::LEASE if data.len() >= LeaseV2::LEN => Self::LeaseV2(LeaseV2::from_bytes(data)?),
            name::LEASE => Self::Lease(Lease::from_bytes(data)?),
            name::MAXIMAL_ACCESS => Self::MaximalAccess {
                query_status: Status::decode(&mut reader)?,
                access: AccessMask::decode(&mut reader)?,
            },
            name::QUERY_ON_DISK_ID => Self::OnDiskId {
                disk_file_id: reader.u64()?,
                volume_id: reader.u64()?,
            },
            _ => Self::Unknown(context),
        })
    }
}

/// Decodes a member of the list.
fn decode_member<'a, C: Context<'a>>(member: &'a [u8]) -> Result<C, DecodeError> {
    let mut reader = Reader::new(member);
    reader.skip(4)?;
    let (name_at, name_len) = (reader.u16()?, reader.u16()?);
    reader.skip(2)?;
    let (data_at, data_len) = (reader.u16()?, reader.u32()?);
    C::decode_data(UnknownContext {
        name: reader.buffer("Name", name_at.into(), name_len.into())?,
        data: reader.buffer("Data", data_at.into(), data_len)?,
    })
}

/// Appends a context, without a link to the next.
fn encode_member<'a, C: Context<'a>>(context: &C, out: &mut Writer<'_>) {
    let start = out.position();
    let name = context.name();
    out.u32(0);
    out.u16(LINKED.least as u16);
    out.u16(length16(name.len()));
    out.u16(0);
    let data_field = out.position();
    out.zeros(6);
    out.bytes(name);
    let name_end = out.position();
    out.pad_from(start, 8);
    let data_at = out.position();
    context.encode_data(out);
    let data_len = out.position() - data_at;
    if data_len == 0 {
        return out.truncate(name_end);
    }
    out.patch_u16(data_field, length16(data_at - start));
    out.patch_u32(data_field + 2, length32(data_len));
}

/// CreateContexts: a peer's bytes, or the caller's contexts.
#[derive(Clone, Copy)]
pub struct Contexts<'a, C> {
    source: Source<'a, C>,
}

#[derive(Clone, Copy)]
enum Source<'a, C> {
    Values(&'a [C]),
    /// Each context is complete.
    Bytes(&'a [u8]),
}

impl<'a, C> From<&'a [C]> for Contexts<'a, C> {
    fn from(contexts: &'a [C]) -> Self {
        let source = Source::Values(contexts);
        Self { source }
    }
}

impl<C> Default for Contexts<'_, C> {
    fn default() -> Self {
        Self::from(&[][..])
    }
}

impl<'a, C: Context<'a>> Contexts<'a, C> {
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        for member in LINKED.members(bytes) {
            decode_member::<C>(member?)?;
        }
        let source = Source::Bytes(bytes);
        Ok(Self { source })
    }

    /// Returns whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        match self.source {
            Source::Values(contexts) => contexts.is_empty(),
            Source::Bytes(bytes) => bytes.is_empty(),
        }
    }

    /// Iterates over the contexts.
    pub fn iter(self) -> impl Iterator<Item = C> + 'a
    where
        C: 'a,
    {
        let (contexts, members): (&[C], Chain<'a>) = match self.source {
            Source::Values(contexts) => (contexts, LINKED.members(&[])),
            Source::Bytes(bytes) => (&[], LINKED.members(bytes)),
        };
        let members = members.filter_map(|member| decode_member(member.ok()?).ok());
        contexts.iter().copied().chain(members)
    }

    /// Appends the contexts at `at` bytes from the header, and writes their offset and length to
    /// the field at `field` of the buffer.
    pub(super) fn encode_at(self, at: usize, field: usize, out: &mut Writer<'_>) {
        let start = out.position();
        let mut last = None;
        for context in self.iter() {
            if let Some(last) = last {
                LINKED.link(out, last);
            }
            last = Some(out.position());
            encode_member(&context, out);
        }
        out.patch_u32(field, length32(at));
        out.patch_u32(field + 4, length32(out.position() - start));
    }
}

impl<'a, C: Context<'a> + 'a> PartialEq for Contexts<'a, C> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, C: Context<'a> + 'a> Eq for Contexts<'a, C> {}

impl<'a, C: Context<'a> + 'a> fmt::Debug for Contexts<'a, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
