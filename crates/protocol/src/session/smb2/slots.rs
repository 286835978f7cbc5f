//! Outstanding chains of a connection: finds the chain and the request that a message answers.

use super::SessionKeys;
use super::chain::{CompoundRequest, PARTS_MAX};
use super::pending_requests::{PendingRequests, RequestOrigin, ResponseRecipient, SentRequest};
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::compound::{self, Message};
use filestone_wire::smb2::{Command, FileId, HEADER_LEN, Header};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// Maximum bytes collected of a chain's responses: more than a server may send for one.
const COLLECTED_MAX: usize = 32 << 20;
/// Maximum buffer that a slot retains for responses collected one by one.
const RETAINED: usize = 128 << 10;

/// Maximum number of abandoned open files that wait to be closed.
const ORPHANS_MAX: usize = 4096;

/// Length of a FileId, and its offset in the response to a CREATE (MS-SMB2, section 2.2.14).
const FILE_ID_LEN: usize = 16;
const CREATED_AT: usize = 64;

/// Returns the offset of the FileId in the request (sections 2.2.15 to 2.2.39).
const fn file_id_at(command: Command) -> usize {
    match command {
        Command::Read | Command::Write | Command::SetInfo => 16,
        Command::QueryInfo => 24,
        _ => 8,
    }
}

/// A completed chain, answered or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompletedCompound {
    /// Time when it was handed to the operating system.
    pub sent: Timestamp,
    /// Number of requests.
    pub calls: u32,
    /// Bytes of the requests, with the mark of the frame.
    pub bytes_sent: u32,
    /// Bytes of the responses, with the mark of the frame.
    pub bytes_received: u32,
}

/// Response to a chain.
#[derive(Debug)]
pub struct CompoundResponse<'a> {
    /// The slot of the chain.
    pub slot: u32,
    /// The responses: one message, or all of a compound.
    pub bytes: &'a [u8],
    /// The header of the last response.
    pub header: &'a Header,
    /// Time and size of the exchange.
    pub exchange: CompletedCompound,
    /// Whether all required signatures are present and correct.
    pub is_genuine: bool,
    /// Whether the next request of the chain must be sent; used for request-by-request sending,
    /// before all responses are complete.
    pub wants_next: bool,
}

/// Identifiers of a pending operation in a CANCEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CancelRoute {
    pub async_id: u64,
    pub message_id: u64,
}

/// A session of a chain that differs from the connection's session.
#[derive(Debug, Clone)]
pub(super) struct OtherSession {
    pub session_id: u64,
    pub keys: Arc<SessionKeys>,
    /// Whether its messages are signed.
    pub signs: bool,
}

/// The request that a response answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatchedRequest {
    /// The slot of its chain, if the chain still waits.
    pub slot: Option<u32>,
    part: usize,
    pub charge: u16,
    /// Whether it opens a file that no chain will close, because no chain waits for the response.
    pub leaves_open: bool,
}

#[derive(Debug, Default)]
struct Slot {
    /// MessageIds of its unanswered requests.
    ids: [Option<u64>; PARTS_MAX],
    /// Identifiers of its first request that was answered asynchronously.
    pending: Option<CancelRoute>,
    exchange: CompletedCompound,
    deadline: Option<Timestamp>,
    foreign: Option<OtherSession>,
    /// Whether it must be cancelled once it is pending.
    is_cancelled: bool,
    /// Number of requests in the chain, and number of them sent.
    parts: usize,
    put: usize,
    /// Collected responses of a chain of several requests.
    collected: Vec<u8>,
    /// Start of the last collected response.
    last: Option<usize>,
    is_forged: bool,
}

/// The chains of one connection.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Box<[Slot]>,
    places: PendingRequests,
    /// Slots whose chains are in the output and not stamped yet.
    queued: Vec<u32>,
    in_flight: u32,
    next_deadline: Timestamp,
    /// Abandoned open files that must be closed.
    orphans: Vec<FileId>,
    pub replies: u64,
    pub late_replies: u64,
}

impl Slots {
    pub fn new(slots: u32) -> Self {
        let slots = slots.max(1) as usize;
        Self {
            slots: (0..slots).map(|_| Slot::default()).collect(),
            places: PendingRequests::new(slots * PARTS_MAX * 2),
            queued: Vec::with_capacity(slots),
            in_flight: 0,
            next_deadline: Timestamp::MAX,
            orphans: Vec::new(),
            replies: 0,
            late_replies: 0,
        }
    }

    /// Drops all outstanding chains.
    pub fn clear(&mut self) {
        for slot in &mut self.slots {
            slot.forget();
        }
        self.places.clear();
        self.queued.clear();
        self.orphans.clear();
        self.in_flight = 0;
        self.next_deadline = Timestamp::MAX;
    }

    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub fn next_deadline(&self) -> Timestamp {
        self.next_deadline
    }

    /// Returns the index of the next request to send of the chain in a slot.
    pub fn next_part(&self, slot: u32) -> usize {
        let own = self.slots.get(slot as usize);
        own.map_or(0, |own| if own.put < own.parts { own.put } else { 0 })
    }

    /// Writes the FileId that the first response in a slot returned into the body of a request that
    /// refers to "the file of the one before".
    pub fn name_file(&self, slot: u32, command: Command, body: &mut [u8]) {
        let first = self
            .slots
            .get(slot as usize)
            .map(|own| own.collected.as_slice());
        let created = first.and_then(|first| first.get(HEADER_LEN + CREATED_AT..));
        let place = body.get_mut(file_id_at(command)..);
        if let Some(file_id) = created.and_then(|bytes| bytes.first_chunk::<FILE_ID_LEN>())
            && let Some(place) = place.and_then(|bytes| bytes.first_chunk_mut::<FILE_ID_LEN>())
            && place.iter().all(|byte| *byte == u8::MAX)
        {
            *place = *file_id;
        }
    }

    /// Returns the session of the chain in a slot, if it differs from the connection's session.
    pub fn foreign(&self, slot: u32) -> Option<&OtherSession> {
        self.slots.get(slot as usize)?.foreign.as_ref()
    }

    /// Returns the keys of a session other than the connection's.
    pub fn keys_of_session(&self, session_id: u64) -> Option<&SessionKeys> {
        let mut others = self.slots.iter().filter_map(|slot| slot.foreign.as_ref());
        let other = others.find(|other| other.session_id == session_id)?;
        Some(&other.keys)
    }

    /// Records that a request of the chain in this slot is sent.
    pub fn sending(&mut self, slot: u32, part: usize, taken: SentRequest) {
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        if part == 0 {
            own.forget();
            own.exchange = CompletedCompound::default();
        }
        own.put = part + 1;
        if let Some(id) = own.ids.get_mut(part) {
            *id = Some(taken.message_id);
        }
        let place = RequestOrigin::of(slot, part as u8, taken);
        self.places.insert(taken.message_id, place);
    }

    /// Records that a message without a waiting slot is sent.
    pub fn aside(&mut self, message_id: u64) {
        let place = RequestOrigin {
            owner: ResponseRecipient::Aside,
            part: 0,
            charge: 1,
            stays_open: false,
        };
        self.places.insert(message_id, place);
    }

    /// Records that the chain in this slot, of `len` bytes, is in the output.
    pub fn put(
        &mut self,
        slot: u32,
        chain: &CompoundRequest,
        len: u32,
        foreign: Option<OtherSession>,
    ) {
        if let Some(own) = self.slots.get_mut(slot as usize) {
            own.parts = chain.len() as usize;
            own.is_cancelled = chain.is_cancelled;
            own.exchange.calls += own.ids.iter().flatten().count() as u32;
            own.exchange.bytes_sent = own.exchange.bytes_sent.saturating_add(len);
            own.foreign = foreign;
            self.in_flight += 1;
            self.queued.push(slot);
        }
    }

    /// Records that a chain of one request, of `len` bytes, in the connection's session is sent.
    #[inline]
    pub fn put_alone(&mut self, slot: u32, taken: SentRequest, len: u32) {
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        own.forget();
        own.ids = [Some(taken.message_id), None, None, None];
        (own.parts, own.put) = (1, 1);
        own.exchange = CompletedCompound {
            calls: 1,
            bytes_sent: len,
            ..CompletedCompound::default()
        };
        self.places
            .insert(taken.message_id, RequestOrigin::of(slot, 0, taken));
        self.in_flight += 1;
        self.queued.push(slot);
    }

    /// Returns the time when the current or last chain of a slot was handed to the operating
    /// system.
    pub fn sent(&self, slot: u32) -> Option<Timestamp> {
        let sent = self.slots.get(slot as usize)?.exchange.sent;
        (sent != Timestamp::ZERO).then_some(sent)
    }

    #[inline]
    pub fn transmitted(&mut self, now: Timestamp, timeout_nanos: u64) {
        let deadline = now.after_nanos(timeout_nanos);
        for slot in self.queued.drain(..) {
            if let Some(own) = self.slots.get_mut(slot as usize) {
                if own.exchange.sent == Timestamp::ZERO {
                    own.exchange.sent = now;
                }
                own.deadline = Some(deadline);
                self.next_deadline = self.next_deadline.min(deadline);
            }
        }
    }

    /// Drops a chain whose time limit has passed; returns its slot and its identifiers for CANCEL.
    pub fn timed_out(&mut self, now: Timestamp) -> Option<(u32, Option<CancelRoute>)> {
        if now < self.next_deadline {
            return None;
        }
        let mut next = Timestamp::MAX;
        let mut over = None;
        for (index, slot) in (0..).zip(&self.slots) {
            let Some(deadline) = slot.deadline.filter(|_| slot.is_under_way()) else {
                continue;
            };
            if deadline <= now && over.is_none() {
                over = Some(index);
            } else {
                next = next.min(deadline);
            }
        }
        self.next_deadline = next;
        let slot = over?;
        Some((slot, self.forget(slot)))
    }

    /// Drops the chain in a slot: responses to it are late. Returns its identifiers for CANCEL.
    pub fn forget(&mut self, slot: u32) -> Option<CancelRoute> {
        let own = self.slots.get_mut(slot as usize)?;
        if own.is_under_way() {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        for id in own.ids.iter().flatten() {
            // Its credits come back with its response.
            if let Some(place) = self.places.get_mut(*id) {
                place.owner = ResponseRecipient::Nobody;
            }
        }
        let (pending, left_open) = (own.pending, own.left_open());
        own.forget();
        self.queued.retain(|queued| *queued != slot);
        self.add_orphan(left_open);
        pending
    }

    /// Adds an abandoned open file.
    #[inline]
    pub fn add_orphan(&mut self, opened: Option<FileId>) {
        // Limits memory if a server never answers CLOSE.
        if self.orphans.len() < ORPHANS_MAX {
            self.orphans.extend(opened);
        }
    }

    /// Returns whether there is an abandoned open file.
    #[inline]
    pub fn has_orphan(&self) -> bool {
        !self.orphans.is_empty()
    }

    /// Removes and returns one abandoned open file.
    pub fn take_orphan(&mut self) -> Option<FileId> {
        self.orphans.pop()
    }

    /// Records that the server reported this request as pending. Returns its identifiers for CANCEL
    /// if the chain must be cancelled now.
    pub fn note_pending(&mut self, route: CancelRoute, len: usize) -> Option<CancelRoute> {
        let place = self.places.get_mut(route.message_id)?;
        let ResponseRecipient::Slot(slot) = place.owner else {
            return None;
        };
        let own = self.slots.get_mut(slot as usize)?;
        own.pending.get_or_insert(route);
        own.note_received(len);
        std::mem::take(&mut own.is_cancelled).then_some(route)
    }

    /// Removes and returns the request that a message answers.
    #[inline]
    pub fn find(&mut self, message_id: u64) -> Option<MatchedRequest> {
        let place = self.places.take(message_id);
        let is_late = place.is_none_or(|place| place.owner == ResponseRecipient::Nobody);
        self.late_replies += u64::from(is_late);
        let RequestOrigin {
            owner,
            part,
            charge,
            stays_open,
        } = place?;
        let slot = match owner {
            ResponseRecipient::Slot(slot) => Some(slot),
            ResponseRecipient::Nobody | ResponseRecipient::Aside => None,
        };
        Some(MatchedRequest {
            slot,
            part: part.into(),
            charge,
            leaves_open: stays_open && owner == ResponseRecipient::Nobody,
        })
    }

    /// Stores the response to a request; returns all responses if it was the last. Returns
    /// identifiers for CANCEL if it failed while other requests of the chain are pending, since
    /// these can never complete.
    #[inline]
    pub fn take(
        &mut self,
        found: MatchedRequest,
        message: &Message<'_>,
        len: usize,
        is_genuine: bool,
        answered: &mut impl FnMut(CompoundResponse<'_>),
    ) -> Option<CancelRoute> {
        let slot = found.slot?;
        let own = self.slots.get_mut(slot as usize)?;
        if let Some(id) = own.ids.get_mut(found.part) {
            *id = None;
        }
        own.note_received(len);
        own.is_forged |= !is_genuine;
        let is_last = !own.is_under_way();
        if own.parts > 1 {
            own.collect(message.bytes);
        }
        let has_failed = message.header.status.is_error();
        if !is_last {
            own.is_cancelled |= has_failed && own.pending.is_none();
            return own.pending.filter(|_| has_failed);
        }
        let wants_next = own.put < own.parts && !has_failed && is_genuine;
        own.deadline = None;
        own.pending = None;
        self.in_flight = self.in_flight.saturating_sub(1);
        self.replies += 1;
        let mut left_open = None;
        let bytes = match (wants_next, own.parts) {
            (true, _) => &[],
            (false, 0 | 1) => message.bytes,
            (false, _) => own.collected.as_slice(),
        };
        let exchange = if wants_next {
            CompletedCompound::default()
        } else {
            left_open = own.left_open();
            own.put = 0;
            own.exchange
        };
        answered(CompoundResponse {
            slot,
            bytes,
            header: &message.header,
            exchange,
            is_genuine: !own.is_forged,
            wants_next,
        });
        self.add_orphan(left_open);
        None
    }
}

impl Slot {
    #[inline]
    fn is_under_way(&self) -> bool {
        self.ids.iter().any(Option::is_some)
    }

    /// Returns the file that its first request has opened, if the CLOSE was not sent and never will
    /// be.
    #[inline]
    fn left_open(&self) -> Option<FileId> {
        if self.put == 0 || self.put >= self.parts {
            return None;
        }
        let (header, body) = self.collected.split_at_checked(HEADER_LEN)?;
        let header = Header::from_bytes(header).ok()?;
        let is_opened = header.command == Command::Create && !header.status.is_error();
        let file_id = body.get(CREATED_AT..CREATED_AT + FILE_ID_LEN)?;
        FileId::from_bytes(file_id).ok().filter(|_| is_opened)
    }

    fn note_received(&mut self, len: usize) {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.exchange.bytes_received = self.exchange.bytes_received.saturating_add(len);
    }

    /// Appends a response to the earlier ones.
    fn collect(&mut self, message: &[u8]) {
        if self.collected.len() + message.len() > COLLECTED_MAX {
            return;
        }
        if let Some(last) = self.last {
            compound::link(&mut self.collected, last);
        }
        let start = self.collected.len();
        self.collected.extend_from_slice(message);
        // It is the last one until another follows.
        compound::unlink(&mut self.collected, start);
        self.last = Some(start);
    }

    #[inline]
    fn forget(&mut self) {
        self.collected.clear();
        if self.collected.capacity() > RETAINED {
            self.collected = Vec::new();
        }
        self.ids = [None; PARTS_MAX];
        self.parts = 0;
        self.put = 0;
        self.pending = None;
        self.deadline = None;
        self.foreign = None;
        self.is_cancelled = false;
        self.last = None;
        self.is_forged = false;
    }
}
