//! Create contexts of one open: an oplock or a lease, and a durable handle (MS-SMB2, sections
//! 2.2.13.2.3 to 2.2.13.2.12).

use filestone_wire::smb2::create::{
    DurableFlags, DurableReconnectV2, DurableRequestV2, Lease, LeaseV2, RequestContext,
};
use filestone_wire::smb2::{FileId, LeaseFlags, LeaseKey, LeaseState, OplockLevel};

/// Read, write and handle caching.
const LEASED: LeaseState = LeaseState::READ_CACHING
    .with(LeaseState::WRITE_CACHING)
    .with(LeaseState::HANDLE_CACHING);

/// Oplock or lease that a client requests, to be notified before others change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Oplock {
    /// No oplock and no lease.
    #[default]
    None,
    /// A batch oplock.
    Batch,
    /// A lease with read, write and handle caching, with this key.
    Lease(LeaseKey),
    /// A lease of version 2, in the 3.x dialects.
    LeaseV2(LeaseKey),
}

/// Identifier of a durable handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurableHandleId {
    /// Version 1: only the FileId.
    V1,
    /// Version 2, in the 3.x dialects: also the CreateGuid.
    V2([u8; 16]),
}

/// Create contexts of one open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenContexts {
    /// The oplock, or the lease.
    pub oplock: Oplock,
    /// The durable handle to request, if any.
    pub durability: Option<DurableHandleId>,
    /// The FileId of the durable handle to reclaim.
    pub reclaims: Option<FileId>,
}

impl OpenContexts {
    /// No create contexts.
    pub const NOTHING: Self = Self {
        oplock: Oplock::None,
        durability: None,
        reclaims: None,
    };

    /// Returns the oplock level for CREATE.
    pub(super) const fn level(&self) -> OplockLevel {
        match self.oplock {
            Oplock::None => OplockLevel::NONE,
            Oplock::Batch => OplockLevel::BATCH,
            Oplock::Lease(_) | Oplock::LeaseV2(_) => OplockLevel::LEASE,
        }
    }

    /// Returns the create contexts for CREATE.
    pub(super) fn contexts(&self) -> [Option<RequestContext<'static>>; 2] {
        [self.durable(), self.lease()]
    }

    fn durable(&self) -> Option<RequestContext<'static>> {
        let flags = DurableFlags::NONE;
        Some(match (self.durability?, self.reclaims) {
            (DurableHandleId::V1, None) => RequestContext::DurableRequest,
            (DurableHandleId::V1, Some(file_id)) => RequestContext::DurableReconnect(file_id),
            (DurableHandleId::V2(create_guid), None) => {
                RequestContext::DurableRequestV2(DurableRequestV2 {
                    // The server chooses the timeout.
                    timeout: 0,
                    flags,
                    create_guid,
                })
            }
            (DurableHandleId::V2(create_guid), Some(file_id)) => {
                RequestContext::DurableReconnectV2(DurableReconnectV2 {
                    file_id,
                    create_guid,
                    flags,
                })
            }
        })
    }

    fn lease(&self) -> Option<RequestContext<'static>> {
        let flags = LeaseFlags::NONE;
        match self.oplock {
            Oplock::None | Oplock::Batch => None,
            Oplock::Lease(key) => Some(RequestContext::Lease(Lease {
                key,
                state: LEASED,
                flags,
                duration: 0,
            })),
            // No parent key: directories are not cached. The epoch is that of a new lease: for an
            // existing lease the server uses its own value (section 3.3.5.9.11).
            Oplock::LeaseV2(key) => Some(RequestContext::LeaseV2(LeaseV2 {
                key,
                state: LEASED,
                flags,
                duration: 0,
                parent_key: [0; 16],
                epoch: 0,
            })),
        }
    }
}
