//! Requests that go out again and again, alike but for their numbers.

use super::chain::{CompoundRequest, Scope};
use filestone_wire::smb2::transform::TRANSFORM_HEADER_LEN;
use filestone_wire::smb2::{Command, HEADER_LEN, Header, HeaderFlags, Route};

/// Bytes of the mark of a frame.
const MARK_LEN: usize = 4;
/// Where READ and WRITE have their offset (MS-SMB2, sections 2.2.19 and 2.2.21).
const OFFSET_AT: usize = HEADER_LEN + 8;

/// One request of the connection's session as a frame, with its mark, and room for what encrypted
/// ones begin with.
#[derive(Debug, Default)]
pub struct Template {
    frame: Vec<u8>,
    /// Where its header begins.
    header_at: usize,
    pub(super) charge: u16,
    pub(super) signs: bool,
    pub(super) encrypts: bool,
}

/// What is a request's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestFields {
    pub message_id: u64,
    /// CreditRequest.
    pub credits: u16,
    /// ChannelSequence, where a response has its status.
    pub sequence: u16,
    /// Where it reads, or writes.
    pub offset: Option<u64>,
}

/// Whose the requests of a connection are, and how they are protected.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestContext {
    pub session_id: u64,
    pub tree_id: u32,
    /// CreditCharge, or 0 where it is no field.
    pub charge: u16,
    pub signs: bool,
    pub encrypts: bool,
}

impl Template {
    /// Whether a chain can go out again so: one request of the connection's session that opens
    /// nothing, and of which nothing more is wanted than its answer.
    pub(super) fn is_reusable_for(chain: &CompoundRequest) -> bool {
        let is_plain = !chain.keeps_sent && !chain.is_cancelled && !chain.must_be_signed();
        let [part] = chain.parts() else {
            return false;
        };
        let is_own = matches!(chain.scope, Scope::Tree | Scope::Session);
        is_plain && is_own && part.command != Command::Create
    }

    /// Becomes that of a request with this body, in the memory that it has.
    pub(super) fn set_request(&mut self, command: Command, body: &[u8], manner: &RequestContext) {
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

    /// Bytes of the frame.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.frame.len() as u32
    }

    /// Appends the frame with what is its own, not signed nor encrypted yet; where its header
    /// begins.
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
