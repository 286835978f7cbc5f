//! What is asked for beside one open: an oplock or a lease, and whether the handle is to outlive its
//! connection (MS-SMB2, sections 2.2.13.2.3 to 2.2.13.2.12).

use filestone_wire::smb2::create::{
    DurableFlags, DurableReconnectV2, DurableRequestV2, Lease, LeaseV2, RequestContext,
};
use filestone_wire::smb2::{FileId, LeaseFlags, LeaseKey, LeaseState, OplockLevel};

/// To read, to write, and to keep handles.
const LEASED: LeaseState = LeaseState::READ_CACHING
    .with(LeaseState::WRITE_CACHING)
    .with(LeaseState::HANDLE_CACHING);

/// What a client asks to be told before others change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Oplock {
    /// Nothing.
    #[default]
    None,
    /// A batch oplock.
    Batch,
    /// A lease to read, write and keep handles, by this key.
    Lease(LeaseKey),
    /// The same of version 2, in the 3.x dialects.
    LeaseV2(LeaseKey),
}

/// By what a server knows a handle that outlives its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurableHandleId {
    /// Version 1: by its FileId alone.
    V1,
    /// Version 2, in the 3.x dialects: by its CreateGuid, too.
    V2([u8; 16]),
}

/// What is asked for with one open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenContexts {
    /// The oplock, or the lease.
    pub oplock: Oplock,
    /// Whether the handle is to outlive its connection.
    pub durability: Option<DurableHandleId>,
    /// The handle that is taken up again, of one that has outlived it.
    pub reclaims: Option<FileId>,
}

impl OpenContexts {
    /// Nothing.
    pub const NOTHING: Self = Self {
        oplock: Oplock::None,
        durability: None,
        reclaims: None,
    };

    /// As CREATE has it.
    pub(super) const fn level(&self) -> OplockLevel {
        match self.oplock {
            Oplock::None => OplockLevel::NONE,
            Oplock::Batch => OplockLevel::BATCH,
            Oplock::Lease(_) | Oplock::LeaseV2(_) => OplockLevel::LEASE,
        }
    }

    /// The contexts that CREATE has for it.
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
                    // As long as the server thinks right.
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
            // No parent key: nothing is kept of directories. The epoch is that of a lease that the
            // client does not have yet: of one that the server has, it knows better (section
            // 3.3.5.9.11).
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
