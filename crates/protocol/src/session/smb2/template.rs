//! Templates of requests that are sent repeatedly with only their numbers changed.

use super::chain::{CompoundRequest, Scope};
use filestone_wire::smb2::transform::TRANSFORM_HEADER_LEN;
use filestone_wire::smb2::{Command, HEADER_LEN, Header, HeaderFlags, Route};

/// Length of the mark of a frame.
const MARK_LEN: usize = 4;
/// Offset of the Offset field in READ and WRITE (MS-SMB2, sections 2.2.19 and 2.2.21).
const OFFSET_AT: usize = HEADER_LEN + 8;

/// A request of the connection's session as a frame, with its mark, and space for the transform
/// header if it is encrypted.
#[derive(Debug, Default)]
pub struct Template {
    frame: Vec<u8>,
    /// Start of its header.
    header_at: usize,
    pub(super) charge: u16,
    pub(super) signs: bool,
    pub(super) encrypts: bool,
}

/// Fields that differ between requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestFields {
    pub message_id: u64,
    /// CreditRequest.
    pub credits: u16,
    /// ChannelSequence, in the position of a response's status.
    pub sequence: u16,
    /// File offset of the transfer.
    pub offset: Option<u64>,
}

/// Session, tree and protection of a connection's requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderContext {
    pub session_id: u64,
    pub tree_id: u32,
    /// CreditCharge, or 0 if the dialect has no such field.
    pub charge: u16,
    pub signs: bool,
    pub encrypts: bool,
}

impl Template {
    /// Returns whether a chain can be sent again from a template: one request of the connection's
    /// session that opens nothing and needs only its response.
    pub(super) fn is_reusable_for(chain: &CompoundRequest) -> bool {
        let is_plain = !chain.keeps_sent && !chain.is_cancelled && !chain.must_be_signed();
        let [part] = chain.parts() else {
            return false;
        };
        let is_own = matches!(chain.scope, Scope::Tree | Scope::Session);
        is_plain && is_own && part.command != Command::Create
    }

    /// Stores a request with this body, in the existing allocation.
    pub(super) fn set_request(&mut self, command: Command, body: &[u8], manner: &HeaderContext) {
        let flags = if manner.signs {
            HeaderFlags::SIGNED
        } else {
            HeaderFlags::NONE
        };
        let header = Header {
            credit_charge: manner.charge,
            flags,
            route: Route::Sync {
                process_id: 0xfeff,
                tree_id: manner.tree_id,
            },
            session_id: manner.session_id,
            ..Header::request(command, 0)
        };
        let room = if manner.encrypts {
            TRANSFORM_HEADER_LEN
        } else {
            0
        };
        (self.signs, self.encrypts) = (manner.signs, manner.encrypts);
        self.header_at = MARK_LEN + room;
        self.frame.clear();
        self.frame.resize(self.header_at, 0);
        self.frame.extend_from_slice(&header.to_array());
        self.frame.extend_from_slice(body);
        filestone_wire::smb2::frame::FrameMark::close(&mut self.frame, 0, 0);
    }

    /// Returns the length of the frame.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.frame.len() as u32
    }

    /// Appends the frame with the given fields, neither signed nor encrypted yet; returns the start
    /// of its header.
    #[inline]
    pub(super) fn append(&self, own: RequestFields, out: &mut Vec<u8>) -> usize {
        let start = out.len() + self.header_at;
        out.extend_from_slice(&self.frame);
        let Some(message) = out.get_mut(start..) else {
            return start;
        };
        if let Some(header) = message.first_chunk_mut::<HEADER_LEN>() {
            header[8..12].copy_from_slice(&u32::from(own.sequence).to_le_bytes());
            header[14..16].copy_from_slice(&own.credits.to_le_bytes());
            header[24..32].copy_from_slice(&own.message_id.to_le_bytes());
        }
        if let Some(offset) = own.offset
            && let Some(place) = message.get_mut(OFFSET_AT..OFFSET_AT + 8)
        {
            place.copy_from_slice(&offset.to_le_bytes());
        }
        start
    }
}
