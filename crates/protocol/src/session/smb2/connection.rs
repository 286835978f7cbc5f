//! One connection of SMB2, without I/O: which response answers which request, and what every
//! message needs whatever it says (MS-SMB2, sections 3.2.4.1 and 3.2.5.1).

use super::chain::{BYTES_OF_CREDIT, CompoundRequest, KeyUse, PARTS_MAX, Scope};
use super::credits::Credits;
use super::limits::Limits;
use super::pending_requests::SentRequest;
use super::slots::{CancelRoute, CompoundResponse, OtherSession, Slots};
use super::template::{RequestContext, RequestFields, Template};
use super::{DecryptBuffer, OpeningKey, SessionKeys};
use filestone_wire::record::RecordError;
use filestone_wire::smb2::close::CloseFlags;
use filestone_wire::smb2::codec::{Decode, DecodeError, Encode, Writer};
use filestone_wire::smb2::compound::{Message, Messages};
use filestone_wire::smb2::frame::{FrameAssembler, FrameMark};
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::oplock_break::{Acknowledgment, LeaseAcknowledgment, Notification};
use filestone_wire::smb2::transform::{Encrypted, TRANSFORM_HEADER_LEN};
use filestone_wire::smb2::{
    Command, Dialect, FileId, Header, HeaderFlags, LeaseFlags, ProtocolId, Route, Status, close,
    create,
};
use filestone_workload::output::{DataRange, Output, WriteData};
use filestone_workload::time::Timestamp;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// What came in is not SMB2, or not what a server of it sends. The stream cannot be taken up
/// again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SmbStreamError {
    /// It is no frame.
    #[error("sent what is no frame of SMB: {0}")]
    Frame(#[from] RecordError),
    /// What is in a frame is no message.
    #[error("sent what is no message of SMB2: {0}")]
    Message(#[from] DecodeError),
    /// A frame has nothing in it, or a message of another kind.
    #[error("sent {0}")]
    Unexpected(&'static str),
    /// It is encrypted, and not by the session's key.
    #[error(
        "sent an encrypted message that was forged: it cannot be decrypted with the key of its session"
    )]
    Forged,
    /// It grants too few credits for a request, and nothing is under way that could bring more.
    #[error("grants too few credits: a request takes {needed}, and {at_hand} are at hand")]
    NoCredits {
        /// What the request takes.
        needed: u32,
        /// What the server has granted.
        at_hand: u32,
    },
}

/// What was agreed upon when a connection was made.
#[derive(Debug, Clone)]
pub struct Established {
    /// SessionId.
    pub session_id: u64,
    /// TreeId.
    pub tree_id: u32,
    /// Keys, unless nobody was authenticated.
    pub keys: Option<Arc<SessionKeys>>,
    /// Whether requests are signed.
    pub signs: bool,
    /// Whether they are encrypted.
    pub encrypts: bool,
    /// Whether a request may take more than one credit.
    pub large_mtu: bool,
    /// Whether CreditCharge is a field: from 2.1 on.
    pub charges: bool,
    /// What the server takes at once.
    pub limits: Limits,
    /// What a record says of it.
    pub agreed: NegotiatedSummary,
    /// What its keys are derived from, for whoever is to read a capture of it; none where the
    /// connection is a further channel of a session.
    pub session_key: Option<[u8; 16]>,
    /// What all channels of the session say in their requests.
    pub sequence: ChannelSequence,
}

/// Session.ChannelSequence (section 3.2.1.3): how many channels of a session were lost while it
/// lived on. Servers know by it a request that was sent before another one was given up.
#[derive(Debug, Clone, Default)]
pub struct ChannelSequence(Arc<AtomicU16>);

impl ChannelSequence {
    /// One more channel is lost.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// As a request says it.
    pub fn number(&self) -> u16 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a record says of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NegotiatedSummary {
    /// The dialect.
    pub dialect: Dialect,
    /// By what messages are encrypted.
    pub cipher: Option<Cipher>,
    /// By what they are signed.
    pub signing: Option<SigningAlgorithm>,
    /// Whether the user is a guest.
    pub is_guest: bool,
    /// Whether there is no user.
    pub is_anonymous: bool,
}

/// What a connection is made of.
#[derive(Debug, Clone, Copy)]
pub struct Smb2Options {
    /// Chains in flight at most.
    pub slots: u32,
    /// How long one may stay unanswered.
    pub timeout_nanos: u64,
    /// The largest frame taken.
    pub frame_max: usize,
    /// Whether a chain goes out as a compound; else request by request.
    pub compounds: bool,
    /// Which channel of its session it is, from 0 on.
    pub channel: u16,
}

/// Bits of a nonce's number that are a channel's own: the others say which channel it is.
const NONCE_BITS: u32 = 48;

/// A chain as it is to go out.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingCompound<'a> {
    /// Its requests.
    pub chain: &'a CompoundRequest,
    /// Their bodies, one after the other.
    pub bodies: &'a [u8],
    /// What a WRITE at its end sends.
    pub data: DataRange,
    /// Where that is from.
    pub source: &'a WriteData,
    /// The pattern.
    pub pattern: &'a [u8],
}

/// One connection.
#[derive(Debug)]
pub struct Smb2Session {
    slots: Slots,
    credits: Credits,
    options: Smb2Options,
    /// Whether a chain goes out as a compound: not where the server grants too few credits.
    compounds: bool,
    assembler: FrameAssembler,
    /// Bytes of the frame that came last, with its mark.
    frame_len: usize,
    established: Option<Established>,
    /// Numbers of encryptions, of which none comes twice for a key: the channels of a session have
    /// one key, and one that was lost may come back to its session, so that it is never set back.
    nonce: u64,
    /// What was decrypted last.
    plain: DecryptBuffer,
    /// Room for signatures.
    room: Vec<u8>,
    /// Acknowledgements of breaks that are to go out.
    acknowledgements: Vec<Acknowledgment>,
    /// What is to be cancelled.
    cancels: Vec<CancelRoute>,
    /// Breaks that came.
    pub breaks: u64,
    /// Messages whose signature was missing or wrong.
    pub forged: u64,
}

impl Smb2Session {
    /// One that is not connected.
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

    /// Credits that are of use: for a chain in each slot, with transfers of a mebibyte, and for the
    /// longest frame.
    fn wanted(options: &Smb2Options) -> u32 {
        let of_frame = options.frame_max as u64 / u64::from(BYTES_OF_CREDIT);
        let one_chain = (of_frame as u32).saturating_add(PARTS_MAX as u32);
        let slots = options.slots.saturating_mul(PARTS_MAX as u32 + 16);
        slots.max(one_chain).max(64)
    }

    /// Forgets the connection. What was under way on it is for the owner to end.
    pub fn reset(&mut self) {
        self.slots.clear();
        self.credits = Credits::new(Self::wanted(&self.options));
        self.compounds = self.options.compounds;
        self.assembler = FrameAssembler::new(self.options.frame_max);
        self.established = None;
        self.acknowledgements.clear();
        self.cancels.clear();
    }

    /// From now on requests go out as it was agreed upon.
    pub fn establish(&mut self, established: Established) {
        self.established = Some(established);
    }

    /// What was agreed upon.
    pub fn established(&self) -> Option<&Established> {
        self.established.as_ref()
    }

    /// Chains in flight.
    pub fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    /// Responses received.
    pub fn replies(&self) -> u64 {
        self.slots.replies
    }

    /// Responses to what was given up, or never asked.
    pub fn late_replies(&self) -> u64 {
        self.slots.late_replies
    }

    /// The most bytes that a request may move now, by the credits that are at hand: at least what
    /// one credit pays for, which every request takes.
    pub fn affordable(&self) -> u32 {
        let credits = match &self.established {
            Some(established) if established.large_mtu => self.credits.available().max(1),
            _ => 1,
        };
        credits.saturating_mul(BYTES_OF_CREDIT)
    }

    /// Credits at hand.
    pub const fn credits(&self) -> u32 {
        self.credits.available()
    }

    /// MessageId of the next request, for whoever goes on with the connection without its session.
    pub const fn next_message_id(&self) -> u64 {
        self.credits.next_id()
    }

    fn charge_of(&self, payload_charge: u16) -> u16 {
        match &self.established {
            Some(established) if established.large_mtu => payload_charge,
            _ => 1,
        }
    }

    /// Which requests of a chain go out next, together.
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

    /// Whether there are credits for a chain. Where the server never grants as many as a compound
    /// takes, requests go out one by one from then on.
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

    /// Credits for the requests of a chain that go out next.
    fn needed(&self, slot: u32, chain: &CompoundRequest) -> u32 {
        let now = self.next_parts(slot, chain);
        let going = chain.parts().get(now).unwrap_or_default().iter();
        let charges = going.map(|part| u32::from(self.charge_of(part.charge())));
        charges.sum()
    }

    /// Puts a chain out whose bodies are these, after [`Smb2Session::can_send`]; its bytes with
    /// those of its data. Messages go into `sent` if the chain wants to see them.
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

    /// Keeps the request that is all of a chain, to be put out by [`Smb2Session::put_again`]; not
    /// of every chain, which it says.
    pub fn keep(&self, chain: &CompoundRequest, bodies: &[u8], template: &mut Template) -> bool {
        let [part] = chain.parts() else {
            return false;
        };
        if !Template::is_reusable_for(chain) {
            return false;
        }
        let protection = self.protection(chain);
        template.charge = self.charge_of(part.charge());
        let manner = RequestContext {
            session_id: protection.session_id,
            tree_id: protection.tree_id,
            charge: if self.charges() { template.charge } else { 0 },
            signs: protection.signs,
            encrypts: protection.encrypts,
        };
        template.set_request(part.command, bodies, &manner);
        true
    }

    /// Puts a kept request out for a slot, for another offset if one is given, if there are credits
    /// for it, which it says. Not after the connection was lost that it was kept over.
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

    /// When what is in a slot, or was last, was handed to the operating system.
    pub fn sent(&self, slot: u32) -> Option<Timestamp> {
        self.slots.sent(slot)
    }

    /// Appends the frame of these requests of a chain, with the data at its end; its bytes.
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

    /// Appends the messages of these requests of a chain, all but the last of them signed; where
    /// that begins.
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
        // What the first request of a compound opens is named by those that go out after it.
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

    /// How the messages of a chain are protected, and whose they are.
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

    /// How messages of the connection's session are protected, in its tree if no other is given.
    fn own_protection(&self, tree_id: Option<u32>, must_be_signed: bool) -> Protection {
        let Some(own) = &self.established else {
            return Protection::default();
        };
        let must_be_signed = must_be_signed && own.agreed.dialect == Dialect::SMB_3_1_1;
        let signs = (own.signs || must_be_signed && own.keys.is_some()) && !own.encrypts;
        // To count who holds keys costs more than a plain message otherwise does.
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

    /// What was put out since the last time has been handed over at `now`.
    pub fn transmitted(&mut self, now: Timestamp) {
        self.slots.transmitted(now, self.options.timeout_nanos);
    }

    /// When [`Smb2Session::timed_out`] has something to say, at the earliest.
    pub fn poll_timeout(&self) -> Timestamp {
        self.slots.next_deadline()
    }

    /// A chain that has waited too long, and is given up with that; a CANCEL for it goes out if
    /// the server has said that it is at work on it.
    pub fn timed_out(&mut self, now: Timestamp, out: &mut Output) -> Option<u32> {
        let (slot, cancel) = self.slots.timed_out(now)?;
        if let Some(async_id) = cancel {
            self.put_cancel(async_id, out);
        }
        Some(slot)
    }

    /// Closes what nobody wants any more; nobody waits for that either.
    pub fn close_aside(&mut self, file_id: FileId) {
        self.slots.add_orphan(Some(file_id));
    }

    /// Gives up what is in a slot: responses to it are late.
    pub fn forget(&mut self, slot: u32) {
        self.slots.forget(slot);
    }

    /// CANCEL (section 3.2.4.24): takes no credit and is never answered.
    fn put_cancel(&mut self, route: CancelRoute, out: &mut Output) {
        let header = Header {
            credits: 0,
            route: Route::Async(route.async_id),
            ..Header::request(Command::Cancel, route.message_id)
        };
        self.put_alone(header, &filestone_wire::smb2::cancel::Request {}, out);
    }

    /// Acknowledges breaks, cancels what is to be cancelled and closes what nobody wants any more;
    /// whether there was anything.
    pub fn answer(&mut self, out: &mut Output) -> bool {
        let before = out.bytes.len();
        while let Some(route) = self.cancels.pop() {
            self.put_cancel(route, out);
        }
        // A server that answers none of them is sent no more than there are credits for.
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

    /// A request to which nobody waits for the response.
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

    /// A message that no slot waits for.
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

    /// How many bytes to receive at a time, `most` at most: of long frames, whole ones like the one
    /// that came last, and the rest of one that has begun. What is cut by the end of a buffer has to
    /// be copied.
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

    /// Takes what came in, and hands out what it answers.
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

/// From so many bytes on it costs more to copy a frame than to ask for it by itself.
const LONG_FRAME: usize = 16 << 10;

/// Breaks of which the acknowledgements wait to go out, at most.
const ACKNOWLEDGEMENTS_MAX: usize = 4096;

/// How messages are protected, and whose they are.
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
    /// What a request has where a response has its status.
    fn status(&self) -> Status {
        Status(self.sequence.into())
    }

    fn is_plain(&self) -> bool {
        !self.signs && !self.encrypts
    }

    /// Of a scope with a session of its own: that, and its keys.
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

/// What taking messages apart needs of a connection.
struct Taking<'s> {
    slots: &'s mut Slots,
    credits: &'s mut Credits,
    own: Option<&'s Established>,
    room: &'s mut Vec<u8>,
    acknowledgements: &'s mut Vec<Acknowledgment>,
    cancels: &'s mut Vec<CancelRoute>,
    breaks: &'s mut u64,
    forged: &'s mut u64,
}

impl Taking<'_> {
    /// What opens messages of the session that this one is said to be of.
    fn opener(&self, encrypted: &Encrypted<'_>) -> Result<&OpeningKey, SmbStreamError> {
        let session_id = encrypted.header.session_id;
        let own = self.own.filter(|own| own.session_id == session_id);
        let keys = match own {
            Some(own) => own.keys.as_deref(),
            None => self.slots.keys_of_session(session_id),
        };
        let opener = keys.and_then(|keys| keys.opener.as_deref());
        opener.ok_or(SmbStreamError::Forged)
    }

    #[inline]
    fn messages(
        &mut self,
        frame: &[u8],
        frame_len: usize,
        is_sealed: bool,
        answered: &mut impl FnMut(CompoundResponse<'_>),
    ) -> Result<(), SmbStreamError> {
        let mut len = frame_len;
        for message in Messages::of(frame) {
            let message = message?;
            if !message.header.is_response() {
                return Err(SmbStreamError::Unexpected(
                    "a request, which only clients send",
                ));
            }
            self.message(&message, std::mem::take(&mut len), is_sealed, answered)?;
        }
        Ok(())
    }

    #[inline]
    fn message(
        &mut self,
        message: &Message<'_>,
        len: usize,
        is_sealed: bool,
        answered: &mut impl FnMut(CompoundResponse<'_>),
    ) -> Result<(), SmbStreamError> {
        let header = &message.header;
        if header.is_unasked() {
            return self.note_break(message);
        }
        self.credits.grant(header.credits);
        if header.is_interim() {
            if let Route::Async(async_id) = header.route {
                let message_id = header.message_id;
                let route = CancelRoute {
                    async_id,
                    message_id,
                };
                self.cancels.extend(self.slots.note_pending(route, len));
            }
            return Ok(());
        }
        let Some(found) = self.slots.find(header.message_id) else {
            return Ok(());
        };
        self.credits.end(found.charge);
        let Some(slot) = found.slot else {
            // No slot has this number: what is looked at are the session's own keys.
            if found.leaves_open && (is_sealed || self.is_genuine(message, u32::MAX)) {
                self.note_orphan(message)?;
            }
            return Ok(());
        };
        let is_genuine = is_sealed || self.is_genuine(message, slot);
        if !is_genuine {
            *self.forged += 1;
        }
        let cancelled = self.slots.take(found, message, len, is_genuine, answered);
        self.cancels.extend(cancelled);
        Ok(())
    }

    /// Whether a response that is not encrypted has the signature that it has to have (section
    /// 3.2.5.1.3).
    fn is_genuine(&mut self, message: &Message<'_>, slot: u32) -> bool {
        let own = self
            .own
            .filter(|own| own.session_id == message.header.session_id);
        if own.is_some_and(|own| own.encrypts) {
            // What says that the session is gone is not of it any more.
            return message.header.status == Status::USER_SESSION_DELETED;
        }
        let is_signed = message.header.flags.contains(HeaderFlags::SIGNED);
        let foreign = self.slots.foreign(slot);
        let has_to_be = foreign.map_or(own.is_some_and(|own| own.signs), |other| other.signs);
        let keys = match foreign {
            Some(other) => Some(&*other.keys),
            None => own.and_then(|own| own.keys.as_deref()),
        };
        match (keys, is_signed) {
            (Some(keys), true) => keys.signer.verify(message.bytes, self.room),
            (None, _) => true,
            (Some(_), false) => !has_to_be || message.header.status == Status::USER_SESSION_DELETED,
        }
    }

    /// What was opened after whoever wanted it had given it up would be open until the session ends.
    fn note_orphan(&mut self, message: &Message<'_>) -> Result<(), SmbStreamError> {
        if message.header.status.is_error() {
            return Ok(());
        }
        let opened: create::Response<'_> = message.body()?;
        self.slots.add_orphan(Some(opened.file_id));
        Ok(())
    }

    /// A break of an oplock or a lease (section 3.2.5.19): given up at once.
    fn note_break(&mut self, message: &Message<'_>) -> Result<(), SmbStreamError> {
        if message.header.command != Command::OplockBreak {
            return Ok(());
        }
        *self.breaks += 1;
        let answer = match message.body()? {
            Notification::Oplock(left) => Acknowledgment::Oplock(left),
            Notification::Lease(lease) if lease.flags.contains(LeaseFlags::ACK_REQUIRED) => {
                Acknowledgment::Lease(LeaseAcknowledgment {
                    flags: LeaseFlags::NONE,
                    lease_key: lease.lease_key,
                    state: lease.new_state,
                    duration: 0,
                })
            }
            Notification::Lease(_) => return Ok(()),
        };
        // A server that sends breaks without end is not owed memory without end.
        if self.acknowledgements.len() < ACKNOWLEDGEMENTS_MAX {
            self.acknowledgements.push(answer);
        }
        Ok(())
    }
}
