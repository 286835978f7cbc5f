//! The chains of a connection that are under way: which message answers which request of which.

use super::SessionKeys;
use super::chain::{CompoundRequest, PARTS_MAX};
use super::pending_requests::{Owner, PendingRequests, Place, SentRequest};
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::compound::{self, Message};
use filestone_wire::smb2::{Command, FileId, HEADER_LEN, Header};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

/// What of a chain's responses is kept together at most: more than a server may send for one.
const COLLECTED_MAX: usize = 32 << 20;
/// A slot keeps no more room than this for responses that came apart.
const RETAINED: usize = 128 << 10;

/// What is open for nobody, and waits to be closed, at most.
const ORPHANS_MAX: usize = 4096;

/// Bytes of a FileId, and where it stands in the response to a CREATE (MS-SMB2, section 2.2.14).
const FILE_ID_LEN: usize = 16;
const CREATED_AT: usize = 64;

/// Where a FileId stands in the request (sections 2.2.15 to 2.2.39).
const fn file_id_at(command: Command) -> usize {
    match command {
        Command::Read | Command::Write | Command::SetInfo => 16,
        Command::QueryInfo => 24,
        _ => 8,
    }
}

/// A chain that is over, answered or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exchange {
    /// When it was handed to the operating system.
    pub sent: Timestamp,
    /// Requests in it.
    pub calls: u32,
    /// Bytes of it, with the mark of the frame.
    pub bytes_sent: u32,
    /// Bytes of its responses, likewise.
    pub bytes_received: u32,
}

/// What came in for a chain.
#[derive(Debug)]
pub struct CompoundResponse<'a> {
    /// Where the chain was.
    pub slot: u32,
    /// Its responses: one message, or all of a compound.
    pub bytes: &'a [u8],
    /// The header of the one that came last.
    pub header: &'a Header,
    /// What it took.
    pub exchange: Exchange,
    /// Whether every signature is there that has to be, and right.
    pub is_genuine: bool,
    /// Whether the next request of the chain is to be put out, which goes alone: nothing else is
    /// here yet.
    pub wants_next: bool,
}

/// By what a server knows an operation that it has said it is at work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CancelRoute {
    pub async_id: u64,
    pub message_id: u64,
}

/// A session other than the connection's own, of which a chain is.
#[derive(Debug, Clone)]
pub(super) struct OtherSession {
    pub session_id: u64,
    pub keys: Arc<SessionKeys>,
    /// Whether its messages are signed.
    pub signs: bool,
}

/// A request that a response was found to answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Where its chain is, if that waits for it.
    pub slot: Option<u32>,
    part: usize,
    pub charge: u16,
    /// Whether it opens what nobody will close, since nobody waits for it.
    pub leaves_open: bool,
}

#[derive(Debug, Default)]
struct Slot {
    /// MessageIds of its requests that are not answered.
    ids: [Option<u64>; PARTS_MAX],
    /// What its first request to be answered asynchronously is known by.
    pending: Option<CancelRoute>,
    exchange: Exchange,
    deadline: Option<Timestamp>,
    foreign: Option<OtherSession>,
    /// Whether it is to be cancelled once it is pending.
    is_cancelled: bool,
    /// Requests of the chain, and how many of them have been put out.
    parts: usize,
    put: usize,
    /// Responses, of a chain of several requests.
    collected: Vec<u8>,
    /// Where the last of them begins.
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
    /// What is open for nobody, and is to be closed.
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

    /// Nothing is under way any more.
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

    /// Which request of the chain in a slot is to be put out next.
    pub fn next_part(&self, slot: u32) -> usize {
        let own = self.slots.get(slot as usize);
        own.map_or(0, |own| if own.put < own.parts { own.put } else { 0 })
    }

    /// Writes the file that the first response in a slot has opened into the body of a request
    /// that says "the file of the one before".
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

    /// The session of the chain in a slot, if that is not the connection's own.
    pub fn foreign(&self, slot: u32) -> Option<&OtherSession> {
        self.slots.get(slot as usize)?.foreign.as_ref()
    }

    /// The keys of a session that is not the connection's own.
    pub fn keys_of_session(&self, session_id: u64) -> Option<&SessionKeys> {
        let mut others = self.slots.iter().filter_map(|slot| slot.foreign.as_ref());
        let other = others.find(|other| other.session_id == session_id)?;
        Some(&other.keys)
    }

    /// A request of the chain in this slot goes out.
    pub fn sending(&mut self, slot: u32, part: usize, taken: SentRequest) {
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        if part == 0 {
            own.forget();
            own.exchange = Exchange::default();
        }
        own.put = part + 1;
        if let Some(id) = own.ids.get_mut(part) {
            *id = Some(taken.message_id);
        }
        let place = Place::of(slot, part as u8, taken);
        self.places.insert(taken.message_id, place);
    }

    /// A message that no slot waits for goes out.
    pub fn aside(&mut self, message_id: u64) {
        let place = Place {
            owner: Owner::Aside,
            part: 0,
            charge: 1,
            stays_open: false,
        };
        self.places.insert(message_id, place);
    }

    /// The chain in this slot, of so many bytes, is in the output.
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

    /// A request that is all of its chain goes out, of so many bytes, in the connection's own
    /// session.
    #[inline]
    pub fn put_alone(&mut self, slot: u32, taken: SentRequest, len: u32) {
        let Some(own) = self.slots.get_mut(slot as usize) else {
            return;
        };
        own.forget();
        own.ids = [Some(taken.message_id), None, None, None];
        (own.parts, own.put) = (1, 1);
        own.exchange = Exchange {
            calls: 1,
            bytes_sent: len,
            ..Exchange::default()
        };
        self.places
            .insert(taken.message_id, Place::of(slot, 0, taken));
        self.in_flight += 1;
        self.queued.push(slot);
    }

    /// When what is in a slot, or was last, was handed to the operating system.
    pub fn sent(&self, slot: u32) -> Option<Timestamp> {
        let sent = self.slots.get(slot as usize)?.exchange.sent;
        (sent != Timestamp::ZERO).then_some(sent)
    }

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

    /// A chain whose time is over, which is forgotten with that, and what CANCEL names it by.
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

    /// Forgets the chain in a slot: what comes for it is late. What CANCEL names it by.
    pub fn forget(&mut self, slot: u32) -> Option<CancelRoute> {
        let own = self.slots.get_mut(slot as usize)?;
        if own.is_under_way() {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        for id in own.ids.iter().flatten() {
            // Its credits come back with its response.
            if let Some(place) = self.places.get_mut(*id) {
                place.owner = Owner::Nobody;
            }
        }
        let (pending, left_open) = (own.pending, own.left_open());
        own.forget();
        self.queued.retain(|queued| *queued != slot);
        self.add_orphan(left_open);
        pending
    }

    /// What is open for nobody from now on.
    pub fn add_orphan(&mut self, opened: Option<FileId>) {
        // A server that closes none of them is not owed memory without end.
        if self.orphans.len() < ORPHANS_MAX {
            self.orphans.extend(opened);
        }
    }

    /// One of those.
    pub fn take_orphan(&mut self) -> Option<FileId> {
        self.orphans.pop()
    }

    /// The server is at work on this request, and will answer it later; what CANCEL names it by
    /// if it is to be cancelled now.
    pub fn note_pending(&mut self, route: CancelRoute, len: usize) -> Option<CancelRoute> {
        let place = self.places.get_mut(route.message_id)?;
        let Owner::Slot(slot) = place.owner else {
            return None;
        };
        let own = self.slots.get_mut(slot as usize)?;
        own.pending.get_or_insert(route);
        own.note_received(len);
        std::mem::take(&mut own.is_cancelled).then_some(route)
    }

    /// The request that a message answers, which is not waited for any more.
    #[inline]
    pub fn find(&mut self, message_id: u64) -> Option<Found> {
        let place = self.places.take(message_id);
        let is_late = place.is_none_or(|place| place.owner == Owner::Nobody);
        self.late_replies += u64::from(is_late);
        let Place {
            owner,
            part,
            charge,
            stays_open,
        } = place?;
        let slot = match owner {
            Owner::Slot(slot) => Some(slot),
            Owner::Nobody | Owner::Aside => None,
        };
        Some(Found {
            slot,
            part: part.into(),
            charge,
            leaves_open: stays_open && owner == Owner::Nobody,
        })
    }

    /// Takes the response to a request; hands the responses out if it was the last. If it failed and
    /// others are pending, these wait for what will not come: what CANCEL names them by.
    #[inline]
    pub fn take(
        &mut self,
        found: Found,
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
            Exchange::default()
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
    fn is_under_way(&self) -> bool {
        self.ids.iter().any(Option::is_some)
    }

    /// What its first request has opened, if what closes it has not gone out and never will.
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

    /// Adds a response to those that came before.
    fn collect(&mut self, message: &[u8]) {
        if self.collected.len() + message.len() > COLLECTED_MAX {
            return;
        }
        if let Some(last) = self.last {
            compound::link(&mut self.collected, last);
        }
        let start = self.collected.len();
        self.collected.extend_from_slice(message);
        // It is the last one as long as none follows.
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
