//! SMB2 connection, without I/O: matches responses to requests, and applies the processing common
//! to all messages (MS-SMB2, sections 3.2.4.1 and 3.2.5.1).

mod received;

use super::chain::{BYTES_OF_CREDIT, CompoundRequest, KeyUse, PARTS_MAX, Scope};
use super::credits::Credits;
use super::limits::SmbTransferLimits;
use super::pending_requests::SentRequest;
use super::slots::{CancelRoute, CompoundResponse, OtherSession, Slots};
use super::template::{HeaderContext, RequestFields, Template};
use super::{DecryptBuffer, SessionKeys};
use filestone_wire::record::RecordError;
use filestone_wire::smb2::close::CloseFlags;
use filestone_wire::smb2::codec::{Decode, DecodeError, Encode, Writer};
use filestone_wire::smb2::frame::{FrameAssembler, FrameMark};
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::oplock_break::Acknowledgment;
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN};
use filestone_wire::smb2::{
    Command, Dialect, FileId, Header, HeaderFlags, ProtocolId, Route, Status, close,
};
use filestone_workload::output::{DataRange, Output, WriteData};
use filestone_workload::time::Timestamp;
use received::Taking;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// The received data is not SMB2, or not valid from a server. The stream cannot be resynchronized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SmbStreamError {
    /// The framing is invalid.
    #[error("sent what is no frame of SMB: {0}")]
    Frame(#[from] RecordError),
    /// The content of a frame is not a valid message.
    #[error("sent what is no message of SMB2: {0}")]
    Message(#[from] DecodeError),
    /// A frame is empty, or contains a message of another kind.
    #[error("sent {0}")]
    Unexpected(&'static str),
    /// A message is encrypted, but not with the session's key.
    #[error(
        "sent an encrypted message that was forged: it cannot be decrypted with the key of its session"
    )]
    Forged,
    /// The server grants too few credits for a request, and no outstanding request could bring
    /// more.
    #[error("grants too few credits: a request takes {needed}, and {at_hand} are at hand")]
    NoCredits {
        /// Credits that the request needs.
        needed: u32,
        /// Credits that the server has granted.
        at_hand: u32,
    },
}

/// Negotiated properties of a connection.
#[derive(Debug, Clone)]
pub struct Established {
    /// SessionId.
    pub session_id: u64,
    /// TreeId.
    pub tree_id: u32,
    /// Session keys, unless the session is unauthenticated.
    pub keys: Option<Arc<SessionKeys>>,
    /// Whether requests are signed.
    pub signs: bool,
    /// Whether requests are encrypted.
    pub encrypts: bool,
    /// Whether a request may use more than one credit.
    pub large_mtu: bool,
    /// Whether the CreditCharge field exists: from dialect 2.1 on.
    pub charges: bool,
    /// Transfer size limits of the server.
    pub limits: SmbTransferLimits,
    /// Negotiated parameters for the run record.
    pub agreed: NegotiatedSummary,
    /// The session key, from which the other keys are derived; needed to decrypt a capture. `None`
    /// if the connection is a further channel of a session.
    pub session_key: Option<[u8; 16]>,
    /// ChannelSequence, shared by the requests of all channels of the session.
    pub sequence: ChannelSequence,
}

/// Session.ChannelSequence (section 3.2.1.3): number of channels of a session that were lost while
/// the session lived. Servers use it to recognize a request that was sent before another one was
/// aborted.
#[derive(Debug, Clone, Default)]
pub struct ChannelSequence(Arc<AtomicU16>);

impl ChannelSequence {
    /// Counts another lost channel.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the value for a request header.
    #[inline]
    pub fn number(&self) -> u16 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Negotiated session parameters for the run record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NegotiatedSummary {
    /// The dialect.
    pub dialect: Dialect,
    /// Cipher of encrypted messages.
    pub cipher: Option<Cipher>,
    /// Signing algorithm.
    pub signing: Option<SigningAlgorithm>,
    /// Whether the user is a guest.
    pub is_guest: bool,
    /// Whether the session is anonymous.
    pub is_anonymous: bool,
}

/// Options of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Smb2Options {
    /// Maximum number of chains in flight.
    pub slots: u32,
    /// Time limit for a response, in nanoseconds.
    pub timeout_nanos: u64,
    /// Maximum length of an accepted frame, in bytes.
    pub frame_max: usize,
    /// Whether a chain is sent as a compound; otherwise request by request.
    pub compounds: bool,
    /// Index of the channel within its session, from 0 on.
    pub channel: u16,
}

/// Bits of a nonce's number that count within a channel: the bits above hold the channel index.
const NONCE_BITS: u32 = 48;

/// A chain ready to be sent.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingCompound<'a> {
    /// The requests.
    pub chain: &'a CompoundRequest,
    /// Concatenated bodies of the requests.
    pub bodies: &'a [u8],
    /// Data range of the WRITE at the end.
    pub data: DataRange,
    /// Source of the data.
    pub source: &'a WriteData,
    /// The pattern.
    pub pattern: &'a [u8],
}

/// State of one SMB2 connection.
#[derive(Debug)]
pub struct Smb2Session {
    slots: Slots,
    credits: Credits,
    options: Smb2Options,
    /// Whether chains are sent as compounds: switched off if the server grants too few credits.
    compounds: bool,
    assembler: FrameAssembler,
    /// Length of the last frame, with its mark.
    frame_len: usize,
    established: Option<Established>,
    /// Nonce counter, unique per key: the channels of a session share one key, and a lost channel
    /// may rejoin its session, so the counter is never reset.
    nonce: u64,
    /// Buffer of the last decrypted message.
    plain: DecryptBuffer,
    /// Scratch space for signatures.
    room: Vec<u8>,
    /// Pending acknowledgements of breaks.
    acknowledgements: Vec<Acknowledgment>,
    /// Pending cancellations.
    cancels: Vec<CancelRoute>,
    /// Number of breaks received.
    pub breaks: u64,
    /// Number of messages with a missing or wrong signature.
    pub forged: u64,
}

impl Smb2Session {
    /// Creates a connection that is not connected.
    pub fn new(options: Smb2Options) -> Self {
        Self {
            slots: Slots::new(options.slots),
            credits: Credits::new(Self::wanted(&options)),
            options,
            compounds: options.compounds,
            assembler: FrameAssembler::new(options.frame_max),
            frame_len: 0,
            established: None,
            nonce: u64::from(options.channel) << NONCE_BITS,
            plain: DecryptBuffer::default(),
            room: Vec::new(),
            acknowledgements: Vec::new(),
            cancels: Vec::new(),
            breaks: 0,
            forged: 0,
        }
    }

    /// Returns the number of useful credits: for a chain in each slot, with transfers of 1 MiB, and
    /// for the longest frame.
    fn wanted(options: &Smb2Options) -> u32 {
        let of_frame = options.frame_max as u64 / u64::from(BYTES_OF_CREDIT);
        let one_chain = (of_frame as u32).saturating_add(PARTS_MAX as u32);
        let slots = options.slots.saturating_mul(PARTS_MAX as u32 + 16);
        slots.max(one_chain).max(64)
    }

    /// Resets the state after a disconnect. The owner ends the outstanding chains.
    pub fn reset(&mut self) {
        self.slots.clear();
        self.credits = Credits::new(Self::wanted(&self.options));
        self.compounds = self.options.compounds;
        self.assembler = FrameAssembler::new(self.options.frame_max);
        self.established = None;
        self.acknowledgements.clear();
        self.cancels.clear();
    }

    /// Applies the negotiated properties to all further requests.
    pub fn establish(&mut self, established: Established) {
        self.established = Some(established);
    }

    /// Returns the negotiated properties.
    pub fn established(&self) -> Option<&Established> {
        self.established.as_ref()
    }

    /// Returns the number of chains in flight.
    pub fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    /// Returns the number of responses received.
    pub fn replies(&self) -> u64 {
        self.slots.replies
    }

    /// Returns the number of responses to aborted or unknown requests.
    pub fn late_replies(&self) -> u64 {
        self.slots.late_replies
    }

    /// Returns the maximum payload of a request with the credits available now: at least the
    /// payload of one credit, which every request uses.
    pub fn affordable(&self) -> u32 {
        let credits = match &self.established {
            Some(established) if established.large_mtu => self.credits.available().max(1),
            _ => 1,
        };
        credits.saturating_mul(BYTES_OF_CREDIT)
    }

    /// Returns the available credits.
    pub const fn credits(&self) -> u32 {
        self.credits.available()
    }

    /// Returns the MessageId of the next request, for code that continues the connection without
    /// its session.
    pub const fn next_message_id(&self) -> u64 {
        self.credits.next_id()
    }

    fn charge_of(&self, payload_charge: u16) -> u16 {
        match &self.established {
            Some(established) if established.large_mtu => payload_charge,
            _ => 1,
        }
    }

    /// Returns the requests of a chain that go out next, together.
    fn next_parts(&self, slot: u32, chain: &CompoundRequest) -> Range<usize> {
        let first = self.slots.next_part(slot);
        let together = self.compounds || chain.is_apart;
        let last = if together {
            chain.len() as usize
        } else {
            first + 1
        };
        first..last
    }

    /// Returns whether the credits suffice for a chain. Falls back to sending request by request if
    /// the server never grants enough for a compound.
    pub fn can_send(&mut self, slot: u32, chain: &CompoundRequest) -> Result<bool, SmbStreamError> {
        let mut needed = self.needed(slot, chain);
        if self.credits.has(needed) {
            return Ok(true);
        }
        if !self.credits.is_dry() {
            return Ok(false);
        }
        self.compounds = false;
        needed = self.needed(slot, chain);
        let at_hand = self.credits.available();
        if self.credits.has(needed) {
            Ok(true)
        } else {
            Err(SmbStreamError::NoCredits { needed, at_hand })
        }
    }

    /// Returns the credits needed for the requests of a chain that go out next.
    fn needed(&self, slot: u32, chain: &CompoundRequest) -> u32 {
        let now = self.next_parts(slot, chain);
        let going = chain.parts().get(now).unwrap_or_default().iter();
        let charges = going.map(|part| u32::from(self.charge_of(part.charge())));
        charges.sum()
    }

    /// Appends a chain to the output, after [`Smb2Session::can_send`]; returns its length with its
    /// data. Messages are also copied to `sent` if the chain requests it.
    pub fn put(
        &mut self,
        slot: u32,
        sending: &OutgoingCompound<'_>,
        out: &mut Output,
        sent: &mut Vec<u8>,
    ) -> u32 {
        let chain = sending.chain;
        let protection = self.protection(chain);
        let now = self.next_parts(slot, chain);
        sent.clear();
        let len = if chain.is_apart {
            now.map(|part| {
                let alone = part..part + 1;
                self.put_frame(slot, alone, sending, &protection, out, sent)
            })
            .fold(0, u32::saturating_add)
        } else {
            self.put_frame(slot, now, sending, &protection, out, sent)
        };
        let foreign = protection.foreign(&chain.scope);
        self.slots.put(slot, chain, len, foreign);
        len
    }

    /// Stores the only request of a chain in `template`, for [`Smb2Session::put_again`]. Returns
    /// whether the chain is suitable.
    pub fn keep(&self, chain: &CompoundRequest, bodies: &[u8], template: &mut Template) -> bool {
        let [part] = chain.parts() else {
            return false;
        };
        if !Template::is_reusable_for(chain) {
            return false;
        }
        let protection = self.protection(chain);
        template.charge = self.charge_of(part.charge());
        let manner = HeaderContext {
            session_id: protection.session_id,
            tree_id: protection.tree_id,
            charge: if self.charges() { template.charge } else { 0 },
            signs: protection.signs,
            encrypts: protection.encrypts,
        };
        template.set_request(part.command, bodies, &manner);
        true
    }

    /// Appends a stored request for a slot to the output, with another offset if one is given.
    /// Returns whether the credits sufficed. Invalid after a reconnect.
    #[inline]
    pub fn put_again(
        &mut self,
        slot: u32,
        template: &Template,
        offset: Option<u64>,
        out: &mut Output,
    ) -> bool {
        if !self.credits.has(template.charge.into()) {
            return false;
        }
        let Some(own) = &self.established else {
            return false;
        };
        let taken = self.credits.take(template.charge);
        let frame = out.bytes.len();
        let message_id = taken.message_id;
        let numbers = RequestFields {
            message_id,
            credits: taken.requested,
            sequence: own.sequence.number(),
            offset,
        };
        let start = template.append(numbers, &mut out.bytes);
        if template.signs || template.encrypts {
            let protection = self.own_protection(None, false);
            self.sign(&protection, start, &mut out.bytes);
            if protection.encrypts {
                self.seal(&protection, frame + 4, &mut out.bytes);
            }
        }
        let taken = SentRequest {
            message_id,
            charge: template.charge,
            stays_open: false,
        };
        self.slots.put_alone(slot, taken, template.len());
        true
    }

    /// Returns the time when the current or last chain of a slot was handed to the operating
    /// system.
    pub fn sent(&self, slot: u32) -> Option<Timestamp> {
        self.slots.sent(slot)
    }

    /// Appends the frame of these requests of a chain, with the data at its end; returns its
    /// length.
    fn put_frame(
        &mut self,
        slot: u32,
        parts: Range<usize>,
        sending: &OutgoingCompound<'_>,
        protection: &Protection,
        out: &mut Output,
        sent: &mut Vec<u8>,
    ) -> u32 {
        let frame = FrameMark::open(&mut out.bytes);
        if protection.encrypts {
            out.bytes.resize(frame + 4 + TRANSFORM_HEADER_LEN, 0);
        }
        let first = out.bytes.len();
        let last = self.put_messages(slot, parts, sending, protection, out);
        let OutgoingCompound {
            chain,
            data,
            source,
            pattern,
            ..
        } = *sending;
        let spliced = source.put(data, pattern, protection.is_plain(), out);
        if let Some(last) = last {
            self.sign(protection, last, &mut out.bytes);
        }
        if chain.keeps_sent {
            sent.extend_from_slice(out.bytes.get(first..).unwrap_or_default());
        }
        if protection.encrypts {
            self.seal(protection, frame + 4, &mut out.bytes);
        }
        FrameMark::close(&mut out.bytes, frame, spliced);
        u32::try_from(out.bytes.len() - frame + spliced).unwrap_or(u32::MAX)
    }

    /// Appends the messages of these requests of a chain and signs all but the last; returns the
    /// start of the last.
    fn put_messages(
        &mut self,
        slot: u32,
        parts: Range<usize>,
        sending: &OutgoingCompound<'_>,
        protection: &Protection,
        out: &mut Output,
    ) -> Option<usize> {
        let OutgoingCompound { chain, bodies, .. } = *sending;
        let before = parts.start.checked_sub(1);
        let before = before.and_then(|last| chain.parts().get(last));
        let (mut from, mut last) = (before.map_or(0, |part| part.end as usize), None);
        // Later requests name the file that the first request of a compound opens.
        let is_later = before.is_some() && !chain.is_apart;
        let first = parts.start;
        let going = chain.parts().get(parts).unwrap_or_default();
        let stays_open = chain.is_apart || !going.iter().any(|part| part.command == Command::Close);
        for (index, part) in (first..).zip(going) {
            if let Some(last) = last {
                filestone_wire::smb2::compound::link(&mut out.bytes, last);
                self.sign(protection, last, &mut out.bytes);
            }
            let start = out.bytes.len();
            let charge = self.charge_of(part.charge());
            let taken = self.credits.take(charge);
            let sent = SentRequest {
                message_id: taken.message_id,
                charge,
                stays_open: stays_open && part.command == Command::Create,
            };
            self.slots.sending(slot, index, sent);
            let header = Header {
                credit_charge: if self.charges() { charge } else { 0 },
                credits: taken.requested,
                flags: protection.flags(last.is_some()),
                status: protection.status(),
                route: Route::Sync {
                    process_id: 0xfeff,
                    tree_id: protection.tree_id,
                },
                session_id: protection.session_id,
                ..Header::request(part.command, taken.message_id)
            };
            header.encode(&mut Writer::new(&mut out.bytes));
            let end = part.end as usize;
            let body = out.bytes.len();
            out.bytes
                .extend_from_slice(bodies.get(from..end).unwrap_or_default());
            if is_later {
                self.slots
                    .name_file(slot, part.command, &mut out.bytes[body..]);
            }
            (from, last) = (end, Some(start));
        }
        last
    }

    fn charges(&self) -> bool {
        self.established.as_ref().is_some_and(|own| own.charges)
    }

    /// Returns protection, session and tree of a chain's messages.
    fn protection(&self, chain: &CompoundRequest) -> Protection {
        let tree_id = match &chain.scope {
            Scope::Connection => return Protection::default(),
            Scope::Other {
                session_id,
                tree_id,
                keys,
                protects,
            } => {
                return Protection {
                    session_id: *session_id,
                    tree_id: *tree_id,
                    keys: keys.clone(),
                    signs: matches!(protects, KeyUse::Signs | KeyUse::Binds) && keys.is_some(),
                    encrypts: *protects == KeyUse::Encrypts && keys.is_some(),
                    sequence: 0,
                };
            }
            Scope::Tree => None,
            Scope::OtherTree(tree_id) => Some(*tree_id),
            Scope::Session => Some(0),
        };
        self.own_protection(tree_id, chain.must_be_signed())
    }

    /// Returns the protection of messages of the connection's session, in its tree if no other is
    /// given.
    fn own_protection(&self, tree_id: Option<u32>, must_be_signed: bool) -> Protection {
        let Some(own) = &self.established else {
            return Protection::default();
        };
        let must_be_signed = must_be_signed && own.agreed.dialect == Dialect::SMB_3_1_1;
        let signs = (own.signs || must_be_signed && own.keys.is_some()) && !own.encrypts;
        // Changing the reference count of the keys costs more than the rest of an unprotected
        // message.
        let keys = own.keys.as_ref().filter(|_| signs || own.encrypts);
        Protection {
            session_id: own.session_id,
            tree_id: tree_id.unwrap_or(own.tree_id),
            keys: keys.cloned(),
            signs,
            encrypts: own.encrypts,
            sequence: own.sequence.number(),
        }
    }

    fn sign(&self, protection: &Protection, start: usize, out: &mut [u8]) {
        if let (true, Some(keys), Some(message)) =
            (protection.signs, &protection.keys, out.get_mut(start..))
        {
            keys.signer.sign(message);
        }
    }

    fn seal(&mut self, protection: &Protection, start: usize, out: &mut [u8]) {
        let keys = protection.keys.as_ref();
        if let (Some(sealer), Some(frame)) = (
            keys.and_then(|keys| keys.sealer.as_ref()),
            out.get_mut(start..),
        ) {
            self.nonce += 1;
            sealer.seal(self.nonce, protection.session_id, frame);
        }
    }

    /// Marks all messages since the last call as handed to the operating system at `now`.
    #[inline]
    pub fn transmitted(&mut self, now: Timestamp) {
        self.slots.transmitted(now, self.options.timeout_nanos);
    }

    /// Returns the earliest time when [`Smb2Session::timed_out`] can return a chain.
    pub fn poll_timeout(&self) -> Timestamp {
        self.slots.next_deadline()
    }

    /// Aborts a chain that waited too long and returns its slot; sends a CANCEL for it if the
    /// server reported it as pending.
    pub fn timed_out(&mut self, now: Timestamp, out: &mut Output) -> Option<u32> {
        let (slot, cancel) = self.slots.timed_out(now)?;
        if let Some(async_id) = cancel {
            self.put_cancel(async_id, out);
        }
        Some(slot)
    }

    /// Closes an abandoned file; no slot waits for the response.
    pub fn close_aside(&mut self, file_id: FileId) {
        self.slots.add_orphan(Some(file_id));
    }

    /// Aborts the chain in a slot: responses to it count as late.
    pub fn forget(&mut self, slot: u32) {
        self.slots.forget(slot);
    }

    /// Sends CANCEL (section 3.2.4.24), which uses no credit and is never answered.
    fn put_cancel(&mut self, route: CancelRoute, out: &mut Output) {
        let header = Header {
            credits: 0,
            route: Route::Async(route.async_id),
            ..Header::request(Command::Cancel, route.message_id)
        };
        self.put_alone(header, &filestone_wire::smb2::cancel::Request {}, out);
    }

    /// Acknowledges breaks, sends pending cancellations and closes abandoned files; returns whether
    /// anything was sent.
    #[inline]
    pub fn answer(&mut self, out: &mut Output) -> bool {
        let has_some = !self.cancels.is_empty()
            || !self.acknowledgements.is_empty()
            || self.slots.has_orphan();
        has_some && self.put_answers(out)
    }

    fn put_answers(&mut self, out: &mut Output) -> bool {
        let before = out.bytes.len();
        while let Some(route) = self.cancels.pop() {
            self.put_cancel(route, out);
        }
        // The number of unanswered acknowledgements is limited by the credits.
        while self.credits.has(1)
            && let Some(acknowledgement) = self.acknowledgements.pop()
        {
            self.put_aside(Command::OplockBreak, &acknowledgement, out);
        }
        while self.credits.has(1)
            && let Some(file_id) = self.slots.take_orphan()
        {
            let flags = CloseFlags::NONE;
            self.put_aside(Command::Close, &close::Request { flags, file_id }, out);
        }
        out.bytes.len() > before
    }

    /// Sends a request whose response no slot waits for.
    fn put_aside(&mut self, command: Command, body: &impl Encode, out: &mut Output) {
        let taken = self.credits.take(1);
        self.slots.aside(taken.message_id);
        let header = Header {
            credit_charge: u16::from(self.charges()),
            credits: taken.requested,
            ..Header::request(command, taken.message_id)
        };
        let tree_id = self.established.as_ref().map_or(0, |own| own.tree_id);
        let route = Route::Sync {
            process_id: 0xfeff,
            tree_id,
        };
        self.put_alone(Header { route, ..header }, body, out);
    }

    /// Sends a message that no slot waits for.
    fn put_alone(&mut self, header: Header, body: &impl Encode, out: &mut Output) {
        let protection = self.own_protection(Some(0), false);
        let frame = FrameMark::open(&mut out.bytes);
        if protection.encrypts {
            out.bytes.resize(frame + 4 + TRANSFORM_HEADER_LEN, 0);
        }
        let start = out.bytes.len();
        let header = Header {
            flags: protection.flags(false),
            status: protection.status(),
            session_id: protection.session_id,
            ..header
        };
        let mut writer = Writer::new(&mut out.bytes);
        header.encode(&mut writer);
        body.encode(&mut writer);
        self.sign(&protection, start, &mut out.bytes);
        if protection.encrypts {
            self.seal(&protection, frame + 4, &mut out.bytes);
        }
        FrameMark::close(&mut out.bytes, frame, 0);
    }

    /// Returns the number of bytes to receive at a time, at most `most`. For long frames, it covers
    /// the rest of the current frame and whole frames as long as the last one. A frame cut by the
    /// end of a buffer must be copied.
    #[inline]
    pub fn receive_len(&self, most: usize) -> usize {
        let (missing, frame) = (self.assembler.missing(), self.frame_len);
        if frame < LONG_FRAME {
            return most;
        }
        let whole = most.saturating_sub(missing) / frame * frame;
        match missing + whole {
            0 => most,
            len => len.min(most),
        }
    }

    /// Processes received data and passes the responses to `answered`.
    pub fn receive(
        &mut self,
        mut input: &[u8],
        mut answered: impl FnMut(CompoundResponse<'_>),
    ) -> Result<(), SmbStreamError> {
        let Self {
            slots,
            credits,
            assembler,
            frame_len,
            established,
            plain,
            room,
            acknowledgements,
            cancels,
            breaks,
            forged,
            ..
        } = self;
        let mut taking = Taking {
            slots,
            credits,
            own: established.as_ref(),
            room,
            acknowledgements,
            cancels,
            breaks,
            forged,
        };
        while let Some(frame) = assembler.next(&mut input)? {
            *frame_len = frame.len() + 4;
            match ProtocolId::of(frame) {
                Some(ProtocolId::Smb2) => {
                    taking.messages(frame, frame.len() + 4, false, &mut answered)?;
                }
                Some(ProtocolId::Transform) => {
                    let encrypted = Encrypted::from_bytes(frame)?;
                    let opener = taking.opener(&encrypted)?;
                    opener
                        .open(&encrypted, plain)
                        .map_err(|_| SmbStreamError::Forged)?;
                    taking.messages(plain.messages(), frame.len() + 4, true, &mut answered)?;
                }
                Some(ProtocolId::Smb1) => {
                    return Err(SmbStreamError::Unexpected("a message of SMB1"));
                }
                Some(ProtocolId::Compression) => {
                    return Err(SmbStreamError::Unexpected(
                        "a compressed message, which was not agreed upon",
                    ));
                }
                None if frame.is_empty() => {
                    return Err(SmbStreamError::Unexpected("a frame without a message"));
                }
                None => {
                    return Err(Header::from_bytes(frame)
                        .map_or_else(SmbStreamError::from, |_| {
                            SmbStreamError::Unexpected("a message of another protocol")
                        }));
                }
            }
        }
        Ok(())
    }
}

/// Minimum length of a long frame: copying it costs more than a separate receive call.
const LONG_FRAME: usize = 16 << 10;

/// Maximum number of pending break acknowledgements.
const ACKNOWLEDGEMENTS_MAX: usize = 4096;

/// Protection, session and tree of messages.
#[derive(Debug, Clone, Default)]
struct Protection {
    session_id: u64,
    tree_id: u32,
    keys: Option<Arc<SessionKeys>>,
    signs: bool,
    encrypts: bool,
    /// ChannelSequence.
    sequence: u16,
}

impl Protection {
    /// Returns the value in a request's header where a response has its status.
    fn status(&self) -> Status {
        Status(self.sequence.into())
    }

    fn is_plain(&self) -> bool {
        !self.signs && !self.encrypts
    }

    /// Returns the session and keys of a scope with another session.
    fn foreign(self, scope: &Scope) -> Option<OtherSession> {
        match scope {
            Scope::Other {
                protects: KeyUse::Binds,
                ..
            } => None,
            Scope::Other { .. } => Some(OtherSession {
                session_id: self.session_id,
                keys: self.keys?,
                signs: self.signs,
            }),
            Scope::Tree | Scope::OtherTree(_) | Scope::Session | Scope::Connection => None,
        }
    }

    fn flags(&self, is_related: bool) -> HeaderFlags {
        let signed = if self.signs {
            HeaderFlags::SIGNED
        } else {
            HeaderFlags::NONE
        };
        let related = if is_related {
            HeaderFlags::RELATED
        } else {
            HeaderFlags::NONE
        };
        signed.with(related)
    }
}
