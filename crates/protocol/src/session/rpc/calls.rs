//! Calls of one connection: slots, generations and timeouts.

use super::{Retransmission, RpcEvent, RpcOptions};
use filestone_plan::plan::TransportKind;
use filestone_wire::rpc::ReplyBody;
use filestone_workload::time::Timestamp;

/// A call in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcCall<T> {
    /// The slot.
    pub slot: u32,
    /// The call's transaction id.
    pub xid: u32,
    /// The owner's data for the call.
    pub tag: T,
}

/// A completed call, answered or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcExchange<T> {
    /// The slot of the call.
    pub slot: u32,
    /// The owner's data for the call.
    pub tag: T,
    /// Time when a connection could take the call, if the connection was down; otherwise
    /// [`Timestamp::ZERO`].
    pub usable: Timestamp,
    /// Time when the call was first handed to the operating system.
    pub sent: Timestamp,
    /// Number of retransmissions.
    pub retransmissions: u32,
    /// Bytes sent for the call in all transmissions, record marks included.
    pub bytes_sent: u32,
    /// Bytes of the reply, record marks included.
    pub bytes_received: u32,
}

/// State of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The slot has no call.
    Idle,
    /// The call waits for a connection.
    Waiting,
    /// The call is in the output, in the operating system or sent.
    Sent,
}

/// A call in flight: only the fields that every reply touches, so that a batch of slots fits into
/// the processor's L1 cache together with the data the kernel needs.
#[derive(Debug, Clone, Copy)]
struct Slot<T> {
    /// The xid of the call in the slot, or of its last one.
    xid: u32,
    bytes_sent: u32,
    state: State,
    tag: T,
}

/// Fields used only by calls that waited for a connection or may be sent again.
#[derive(Debug, Clone, Copy, Default)]
struct Recovery {
    /// Time when a connection could take the call, if the connection was down.
    usable: Timestamp,
    /// Time of the next retransmission, over UDP.
    deadline: Timestamp,
    /// Pause before the transmission after that, in nanoseconds.
    pause_nanos: u64,
    retransmissions: u32,
    /// Whether the call was sent over a lost connection and goes out again over the next one.
    is_taken_back: bool,
}

#[derive(Debug)]
pub(super) struct OutstandingCalls<T> {
    slots: Box<[Slot<T>]>,
    /// Time when each slot's call was handed to the operating system. Kept apart from the slots
    /// because a batch of calls is stamped at once.
    sent: Box<[Timestamp]>,
    recoveries: Box<[Recovery]>,
    /// Whether any call since the start needed recovery.
    pub has_recoveries: bool,
    /// Mask of the xid's low bits, which hold the slot.
    slot_mask: u32,
    /// Slots whose calls are in the output and not stamped yet, in order.
    pub queued: Vec<u32>,
    pub is_connected: bool,
    /// Lower bound of all deadlines.
    pub next_deadline: Timestamp,
    pub in_flight: u32,
    pub replies: u64,
    pub late_replies: u64,
    timeout_nanos: u64,
    is_datagram: bool,
    retransmission: Retransmission,
}

impl<T: Copy> OutstandingCalls<T> {
    pub fn new(options: &RpcOptions, tag: T) -> Self {
        let slots = options.slots.max(1);
        let slot_bits = u32::BITS - (slots - 1).leading_zeros();
        let slot_mask = ((1u64 << slot_bits) - 1) as u32;
        let idle = |slot| Slot {
            xid: options.first_xid & !slot_mask | slot,
            bytes_sent: 0,
            state: State::Idle,
            tag,
        };
        Self {
            slots: (0..slots).map(idle).collect(),
            sent: vec![Timestamp::ZERO; slots as usize].into_boxed_slice(),
            recoveries: vec![Recovery::default(); slots as usize].into_boxed_slice(),
            has_recoveries: false,
            slot_mask,
            queued: Vec::with_capacity(slots as usize),
            is_connected: false,
            next_deadline: Timestamp::MAX,
            in_flight: 0,
            replies: 0,
            late_replies: 0,
            timeout_nanos: options.timeout_nanos,
            is_datagram: options.transport == TransportKind::Udp,
            retransmission: options.retransmission,
        }
    }

    /// Returns the next generation of the slot; the slot bits stay.
    #[inline]
    fn next_xid(&self, xid: u32) -> u32 {
        xid.wrapping_add(self.slot_mask.wrapping_add(1))
    }

    #[inline]
    pub fn start(&mut self, index: u32, tag: T) -> Option<u32> {
        let slot = *self.slots.get(index as usize)?;
        let xid = self.next_xid(slot.xid);
        self.slots[index as usize] = Slot {
            xid,
            bytes_sent: 0,
            state: State::Waiting,
            tag,
        };
        if self.has_recoveries {
            self.recoveries[index as usize] = Recovery::default();
        }
        self.is_connected.then_some(xid)
    }

    #[inline]
    pub fn restart(&mut self, index: u32) -> Option<u32> {
        let xid = self.next_xid(self.slots.get(index as usize)?.xid);
        let slot = &mut self.slots[index as usize];
        slot.xid = xid;
        slot.state = State::Sent;
        Some(xid)
    }

    #[inline]
    pub fn enqueued(&mut self, index: u32, bytes: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.bytes_sent = slot.bytes_sent.saturating_add(bytes);
            slot.state = State::Sent;
            self.queued.push(index);
        }
    }

    #[inline]
    pub fn transmitted(&mut self, now: Timestamp) {
        if self.queued.is_empty() {
            return;
        }
        for index in &self.queued {
            self.sent[*index as usize] = now;
        }
        let mut pause_nanos = self.timeout_nanos;
        if self.is_datagram {
            pause_nanos = self.retransmission.first_nanos.min(pause_nanos);
        }
        let deadline = now.after_nanos(pause_nanos);
        if self.is_datagram {
            for index in &self.queued {
                let recovery = &mut self.recoveries[*index as usize];
                recovery.pause_nanos = pause_nanos;
                recovery.deadline = deadline;
            }
        }
        self.in_flight += self.queued.len() as u32;
        self.next_deadline = self.next_deadline.min(deadline);
        self.queued.clear();
    }

    /// Returns the slot that waits for a reply with this xid.
    #[inline]
    fn slot_of(&self, xid: u32) -> Option<usize> {
        let index = (xid & self.slot_mask) as usize;
        let slot = self.slots.get(index)?;
        (slot.xid == xid && slot.state == State::Sent).then_some(index)
    }

    /// Returns the call that waits for a reply with this xid.
    #[inline]
    pub fn under_way(&self, xid: u32) -> Option<RpcCall<T>> {
        self.slot_of(xid).map(|index| self.call(index))
    }

    #[inline]
    fn call(&self, index: usize) -> RpcCall<T> {
        let Slot { xid, tag, .. } = self.slots[index];
        RpcCall {
            slot: index as u32,
            xid,
            tag,
        }
    }

    /// Handles a reply with this xid.
    #[inline(always)]
    pub fn answered<'a>(
        &mut self,
        xid: u32,
        results: Result<&'a [u8], ReplyBody>,
        received: usize,
    ) -> RpcEvent<'a, T> {
        self.replies += 1;
        let Some(exchange) = self.end(xid, received) else {
            self.late_replies += 1;
            return RpcEvent::Late;
        };
        RpcEvent::Reply { exchange, results }
    }

    /// Ends the call with this xid.
    #[inline(always)]
    pub fn end(&mut self, xid: u32, received: usize) -> Option<RpcExchange<T>> {
        let index = self.slot_of(xid)?;
        let bytes_received = received.min(u32::MAX as usize) as u32;
        Some(RpcExchange {
            bytes_received,
            ..self.free(index)
        })
    }

    /// Ends the call with this xid and counts the reply, where no call needed recovery.
    #[inline(always)]
    pub fn end_plain(&mut self, xid: u32, received: usize) -> Option<RpcExchange<T>> {
        let index = self.slot_of(xid)?;
        self.replies += 1;
        self.in_flight = self.in_flight.saturating_sub(1);
        let slot = &mut self.slots[index];
        slot.state = State::Idle;
        Some(RpcExchange {
            slot: index as u32,
            tag: slot.tag,
            usable: Timestamp::ZERO,
            sent: self.sent[index],
            retransmissions: 0,
            bytes_sent: slot.bytes_sent,
            bytes_received: received as u32,
        })
    }

    /// Frees a slot.
    #[inline(always)]
    fn free(&mut self, index: usize) -> RpcExchange<T> {
        let slot = &mut self.slots[index];
        if slot.state == State::Sent {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        slot.state = State::Idle;
        let (mut usable, mut retransmissions) = (Timestamp::ZERO, 0);
        if self.has_recoveries {
            let recovery = &self.recoveries[index];
            (usable, retransmissions) = (recovery.usable, recovery.retransmissions);
        }
        RpcExchange {
            slot: index as u32,
            tag: slot.tag,
            usable,
            sent: self.sent[index],
            retransmissions,
            bytes_sent: slot.bytes_sent,
            bytes_received: 0,
        }
    }

    /// Frees all slots in this state.
    fn free_all(&mut self, state: State, mut give_up: impl FnMut(RpcExchange<T>)) {
        for index in 0..self.slots.len() {
            if self.slots[index].state == state {
                give_up(self.free(index));
            }
        }
    }

    pub fn cancel(&mut self, index: u32) {
        let is_queued = self.queued.contains(&index);
        self.queued.retain(|queued| *queued != index);
        if let Some(slot) = self.slots.get_mut(index as usize) {
            if slot.state == State::Sent && !is_queued {
                self.in_flight = self.in_flight.saturating_sub(1);
            }
            slot.state = State::Idle;
        }
    }

    pub fn handle_timeout(
        &mut self,
        now: Timestamp,
        mut give_up: impl FnMut(RpcExchange<T>),
        mut resend: impl FnMut(RpcCall<T>) -> u32,
    ) {
        if now < self.next_deadline {
            return;
        }
        // A queued call has not been sent, so it cannot be late.
        let mut next = Timestamp::MAX;
        for index in 0..self.slots.len() {
            if self.slots[index].state != State::Sent || self.queued.contains(&(index as u32)) {
                continue;
            }
            let end = self.sent[index].after_nanos(self.timeout_nanos);
            if now >= end {
                give_up(self.free(index));
                continue;
            }
            if self.is_datagram {
                if now >= self.recoveries[index].deadline {
                    let bytes = resend(self.call(index));
                    self.resent(index, bytes, now);
                }
                next = next.min(self.recoveries[index].deadline);
            }
            next = next.min(end);
        }
        self.next_deadline = next;
    }

    /// Records a retransmitted datagram: the pause before the next retransmission doubles.
    fn resent(&mut self, index: usize, bytes: u32, now: Timestamp) {
        self.has_recoveries = true;
        let slot = &mut self.slots[index];
        slot.bytes_sent = slot.bytes_sent.saturating_add(bytes);
        let recovery = &mut self.recoveries[index];
        recovery.retransmissions += 1;
        recovery.pause_nanos = recovery
            .pause_nanos
            .saturating_mul(2)
            .min(self.retransmission.max_nanos);
        recovery.deadline = now.after_nanos(recovery.pause_nanos);
    }

    pub fn connected(&mut self, now: Timestamp, mut send: impl FnMut(RpcCall<T>) -> u32) {
        self.is_connected = true;
        for index in 0..self.slots.len() {
            if self.slots[index].state == State::Waiting {
                self.has_recoveries = true;
                let recovery = &mut self.recoveries[index];
                recovery.usable = now;
                recovery.retransmissions += u32::from(recovery.is_taken_back);
                recovery.is_taken_back = false;
                let bytes = send(self.call(index));
                self.enqueued(index as u32, bytes);
            }
        }
    }

    pub fn disconnected(&mut self, give_up: impl FnMut(RpcExchange<T>)) {
        self.is_connected = false;
        self.take_back_queued();
        self.free_all(State::Sent, give_up);
    }

    pub fn take_back(&mut self) {
        self.is_connected = false;
        self.take_back_queued();
        for (slot, recovery) in self.slots.iter_mut().zip(&mut self.recoveries) {
            if slot.state == State::Sent {
                slot.state = State::Waiting;
                recovery.is_taken_back = true;
                self.has_recoveries = true;
            }
        }
        self.in_flight = 0;
    }

    pub fn abort(&mut self, give_up: impl FnMut(RpcExchange<T>)) {
        self.take_back_queued();
        self.free_all(State::Waiting, give_up);
    }

    /// Takes back the calls that were never handed to the operating system: they wait for a
    /// connection.
    fn take_back_queued(&mut self) {
        for index in self.queued.drain(..) {
            let slot = &mut self.slots[index as usize];
            slot.state = State::Waiting;
            slot.bytes_sent = 0;
        }
    }
}
