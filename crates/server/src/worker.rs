//! One thread: it waits for sockets, answers what has come, and sends the replies.
//!
//! For each connection that is ready: receive what there is into the thread's one big buffer,
//! answer all whole records in it, send all replies with one call. Sockets are watched
//! edge-triggered for both directions from the start, so nothing needs to be changed in the
//! kernel's list when a reply does not fit into a socket or when it does again.
//!
//! What a call means is not known here.

pub mod connection;
mod datagram;
mod held;
pub mod mailbox;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};

use crate::dispatch::Transport;
use crate::reply::ReplySink;
use crate::responder::{Outcome, Responder};

use self::connection::{Connection, Piece, Received};
use self::held::{Destination, HeldReplies};
use self::mailbox::Mailbox;

/// The shared receive buffer. Larger ones fall out of the processor's cache.
const RECEIVE_BUFFER: usize = 256 << 10;
/// Replies are sent when there are so many bytes of them, even if more calls are waiting.
const SEND_AT: usize = 1 << 20;
/// A connection with more unsent bytes is not served until they are gone.
const OUTPUT_MAX: usize = 4 << 20;
/// How often one connection is looked into before the others have their turn.
const ROUNDS: usize = 8;
/// Buffers kept for the next connection that needs one, and how large they may be.
const SPARES: usize = 16;
const SPARE_MAX: usize = 2 << 20;
/// How long no connection is accepted after the descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const EVENTS: usize = 256;

/// Tokens of what is not a connection: the index of a socket with a bit on top.
const MAILBOX: u64 = 1 << 63;
const LISTENER: u64 = 1 << 62;
const DATAGRAM: u64 = 1 << 61;

/// The sockets one worker has from the start.
#[derive(Debug, Default)]
pub struct WorkerSockets {
    pub listeners: Vec<OwnedFd>,
    pub datagrams: Vec<OwnedFd>,
}

/// A serving thread.
#[derive(Debug)]
pub struct Worker {
    index: usize,
    epoll: OwnedFd,
    mailboxes: Arc<[Mailbox]>,
    sockets: WorkerSockets,
    responder: Responder,
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    serial: u32,
    /// Connections that had their rounds and may have more.
    again: VecDeque<u64>,
    held: HeldReplies,
    receive: Vec<u8>,
    spare_inputs: Vec<Vec<u8>>,
    #[expect(
        clippy::vec_box,
        reason = "a sink moves between here and a connection by its box"
    )]
    spare_sinks: Vec<Box<ReplySink>>,
    next_mailbox: usize,
    /// When, since the start, connections are accepted again.
    accept_again: Option<Duration>,
}

/// Whether a connection lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Close,
}

/// Why answering stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// No whole record is left; so many bytes are needed for the next.
    NeedsMore(usize),
    /// The peer takes no more replies.
    OutputFull,
    /// The connection is to be closed.
    Broken,
}

impl Worker {
    pub fn new(
        index: usize,
        mailboxes: Arc<[Mailbox]>,
        sockets: WorkerSockets,
        responder: Responder,
    ) -> io::Result<Self> {
        let worker = Self {
            index,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            mailboxes,
            sockets,
            responder,
            slots: Vec::new(),
            free: Vec::new(),
            serial: 0,
            again: VecDeque::new(),
            held: HeldReplies::default(),
            receive: vec![0; RECEIVE_BUFFER],
            spare_inputs: Vec::new(),
            spare_sinks: Vec::new(),
            next_mailbox: 0,
            accept_again: None,
        };
        if let Some(mailbox) = worker.mailboxes.get(index) {
            worker.watch(&mailbox.event, MAILBOX, epoll::EventFlags::IN)?;
        }
        for (token, listener) in (LISTENER..).zip(&worker.sockets.listeners) {
            worker.watch(listener, token, epoll::EventFlags::IN)?;
        }
        for (token, datagram) in (DATAGRAM..).zip(&worker.sockets.datagrams) {
            worker.watch(datagram, token, epoll::EventFlags::IN)?;
        }
        Ok(worker)
    }

    fn watch(&self, socket: &OwnedFd, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            socket,
            epoll::EventData::new_u64(token),
            flags,
        )?)
    }

    /// Serves until the mailbox says stop.
    pub fn run(mut self) {
        if self.responder.has_faults() {
            // Delays are to be as long as asked, not up to 50 µs longer.
            let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        }
        let mut events = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; EVENTS];
        while !self.is_stopping() {
            let timeout = self.timeout();
            let count = match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
                Ok(count) => count,
                // A signal. Nothing else can be wrong with a list of our own.
                Err(_) => continue,
            };
            self.stand_still_while_frozen();
            self.responder.refresh_clock();
            for event in events.iter().take(count) {
                self.handle_event(event.data.u64(), event.flags);
            }
            self.serve_again();
            self.send_due();
            self.resume_accepting();
        }
    }

    fn is_stopping(&self) -> bool {
        self.mailboxes
            .get(self.index)
            .is_none_or(Mailbox::is_stopping)
    }

    fn timeout(&self) -> Option<Timespec> {
        if !self.again.is_empty() {
            return Timespec::try_from(Duration::ZERO).ok();
        }
        let due = [self.held.next_due(), self.accept_again]
            .into_iter()
            .flatten()
            .min()?;
        Timespec::try_from(due.saturating_sub(self.responder.since_start())).ok()
    }

    /// A freeze is of the whole server: nothing but the mailbox is looked at.
    fn stand_still_while_frozen(&self) {
        while let Some(rest) = self.responder.frozen_for() {
            let Some(mailbox) = self.mailboxes.get(self.index) else {
                return;
            };
            if mailbox.is_stopping() {
                return;
            }
            // Connections that arrive meanwhile make the mailbox ring on and on, which must not
            // keep the processor busy: a short nap is taken then.
            let nap = rest.min(Duration::from_millis(1));
            let timeout = Timespec::try_from(rest).ok();
            let mut watched = [PollFd::new(&mailbox.event, PollFlags::IN)];
            if poll(&mut watched, timeout.as_ref()).is_ok_and(|count| count > 0) {
                std::thread::sleep(nap);
            }
        }
    }

    fn handle_event(&mut self, token: u64, flags: epoll::EventFlags) {
        if token & MAILBOX != 0 {
            self.collect_mail();
        } else if token & LISTENER != 0 {
            self.accept((token & !LISTENER) as usize);
        } else if token & DATAGRAM != 0 {
            self.serve_datagrams((token & !DATAGRAM) as usize);
        } else {
            self.with_connection(token, |worker, connection| {
                if flags.intersects(!epoll::EventFlags::OUT) {
                    connection.is_readable = true;
                }
                // After the peer's end, a short read does not mean that there is no more to see.
                let until_end = flags.intersects(
                    epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR,
                );
                worker.drive(token, connection, until_end)
            });
        }
    }

    /// Does something with a connection, unless it is gone, and closes it if that is its fate.
    fn with_connection(
        &mut self,
        token: u64,
        act: impl FnOnce(&mut Self, &mut Connection) -> Fate,
    ) {
        let index = token as u32;
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return;
        };
        let Some(mut connection) = slot.take_if(|c| c.serial == (token >> 32) as u32) else {
            return;
        };
        let fate = act(self, &mut connection);
        if fate == Fate::Keep {
            if let Some(slot) = self.slots.get_mut(index as usize) {
                *slot = Some(connection);
            }
        } else {
            self.free.push(index);
            self.accept_again = self.accept_again.map(|_| Duration::ZERO);
        }
    }

    /// Serves one connection: first what is left from before, then what is in the socket.
    fn drive(&mut self, token: u64, connection: &mut Connection, until_end: bool) -> Fate {
        let mut sink = self.take_sink(connection);
        let fate = self.drive_rounds(token, connection, &mut sink, until_end);
        self.put_sink(connection, sink);
        fate
    }

    fn drive_rounds(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
        until_end: bool,
    ) -> Fate {
        for _ in 0..ROUNDS {
            if self.send(connection, sink).is_err() {
                return Fate::Close;
            }
            if sink.len() > OUTPUT_MAX {
                // Goes on when the socket reports room again.
                return Fate::Keep;
            }
            if connection.is_ending || !connection.is_readable {
                let is_done = connection.is_ending && sink.is_empty();
                return if is_done { Fate::Close } else { Fate::Keep };
            }
            match self.receive_and_answer(token, connection, sink, until_end) {
                Ok(Fate::Keep) => {}
                Ok(Fate::Close) => {
                    // What was answered before the fault in the stream still belongs to the peer.
                    let _ = self.send(connection, sink);
                    return Fate::Close;
                }
                Err(_) => return Fate::Close,
            }
        }
        if self.send(connection, sink).is_err() {
            return Fate::Close;
        }
        self.again.push_back(token);
        Fate::Keep
    }

    /// One look into the socket, or one go at the input that had to wait.
    fn receive_and_answer(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
        until_end: bool,
    ) -> io::Result<Fate> {
        if connection.is_stalled() {
            return Ok(self.answer_input(token, connection, sink));
        }
        let mut buffer = std::mem::take(&mut self.receive);
        let result = self.receive_into(token, connection, sink, until_end, &mut buffer);
        self.receive = buffer;
        result
    }

    fn receive_into(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
        until_end: bool,
        buffer: &mut [u8],
    ) -> io::Result<Fate> {
        let came = if connection.skip > 0 {
            connection.receive_nothing(buffer)?
        } else if connection.input.is_empty() {
            connection.receive(buffer)?
        } else {
            connection.receive_more()?
        };
        let Received::Bytes { count, is_all } = came else {
            connection.is_readable = false;
            connection.is_ending |= came == Received::End;
            return Ok(Fate::Keep);
        };
        if is_all && !until_end {
            connection.is_readable = false;
        }
        self.responder.tally.count_received(count);
        if connection.skip > 0 {
            return Ok(Fate::Keep);
        }
        if !connection.input.is_empty() {
            return Ok(self.answer_input(token, connection, sink));
        }
        let bytes = buffer.get(..count).unwrap_or_default();
        let (used, stop) = self.answer_records(token, connection, bytes, sink);
        let rest = bytes.get(used..).unwrap_or_default();
        if !rest.is_empty() {
            connection.input = self.spare_inputs.pop().unwrap_or_default();
            connection.input.extend_from_slice(rest);
        }
        Ok(self.settle(connection, stop))
    }

    /// Answers what is whole in the connection's own input.
    fn answer_input(
        &mut self,
        token: u64,
        connection: &mut Connection,
        sink: &mut ReplySink,
    ) -> Fate {
        let mut input = std::mem::take(&mut connection.input);
        let (used, stop) = if connection.is_cut {
            connection.is_cut = false;
            let call = input.get(crate::reply::MARK_LEN..).unwrap_or_default();
            let stop = self.answer_one(token, connection, call, sink);
            (input.len(), stop.unwrap_or(Stop::NeedsMore(0)))
        } else {
            self.answer_records(token, connection, &input, sink)
        };
        if used >= input.len() {
            self.keep_spare(input);
        } else {
            input.drain(..used);
            connection.input = input;
        }
        self.settle(connection, stop)
    }

    fn keep_spare(&mut self, mut input: Vec<u8>) {
        if self.spare_inputs.len() < SPARES && input.capacity() <= SPARE_MAX {
            input.clear();
            self.spare_inputs.push(input);
        }
    }

    /// Notes why answering stopped.
    fn settle(&mut self, connection: &mut Connection, stop: Stop) -> Fate {
        match stop {
            Stop::NeedsMore(needed) => {
                connection.needed = needed;
                self.cut_discarded_data(connection);
                Fate::Keep
            }
            Stop::OutputFull => {
                connection.needed = 0;
                connection.is_readable = true;
                Fate::Keep
            }
            Stop::Broken => {
                self.responder.tally.count_refused();
                Fate::Close
            }
        }
    }

    /// If the record that is coming is a WRITE whose data nobody wants, keeps its head and lets
    /// the rest be skipped.
    fn cut_discarded_data(&self, connection: &mut Connection) {
        let mark = crate::reply::MARK_LEN;
        let is_whole_record = connection
            .input
            .first()
            .is_some_and(|byte| byte & 0x80 != 0);
        let Some(call) = connection.input.get(mark..) else {
            return;
        };
        if !is_whole_record || connection.has_fragments() {
            return;
        }
        if let Some(head) = self.responder.service().sufficient_len(call) {
            connection.skip = connection.needed.saturating_sub(connection.input.len());
            connection.is_cut = connection.skip > 0;
            if connection.is_cut {
                connection.input.truncate(mark + head);
            }
        }
    }

    /// Answers the whole records at the front of `bytes`; says how many bytes they took.
    fn answer_records(
        &mut self,
        token: u64,
        connection: &mut Connection,
        bytes: &[u8],
        sink: &mut ReplySink,
    ) -> (usize, Stop) {
        let mut position = 0;
        loop {
            let rest = bytes.get(position..).unwrap_or_default();
            let (used, stop) = match connection.next_piece(rest) {
                Piece::Record { call, used } => {
                    (used, self.answer_one(token, connection, call, sink))
                }
                Piece::Collected { call, used } => {
                    (used, self.answer_one(token, connection, &call, sink))
                }
                Piece::PutAside { used } => (used, None),
                Piece::Partial { needed } => return (position, Stop::NeedsMore(needed)),
                Piece::Broken => return (position, Stop::Broken),
            };
            position += used;
            if let Some(stop) = stop {
                return (position, stop);
            }
        }
    }

    #[inline]
    fn answer_one(
        &mut self,
        token: u64,
        connection: &mut Connection,
        call: &[u8],
        sink: &mut ReplySink,
    ) -> Option<Stop> {
        match self.responder.respond(call, Transport::Tcp, None, sink) {
            Outcome::Answered => {}
            Outcome::Later(due, reply) => {
                self.held.hold(due, Destination::Connection(token), reply);
            }
            Outcome::Disconnect => return Some(Stop::Broken),
        }
        if sink.len() < SEND_AT {
            return None;
        }
        if self.send(connection, sink).is_err() {
            return Some(Stop::Broken);
        }
        (sink.len() > OUTPUT_MAX).then_some(Stop::OutputFull)
    }

    #[inline]
    fn send(&self, connection: &Connection, sink: &mut ReplySink) -> io::Result<()> {
        let sent = connection.send(sink)?;
        self.responder.tally.count_sent(sent);
        Ok(())
    }

    fn take_sink(&mut self, connection: &mut Connection) -> Box<ReplySink> {
        connection
            .output
            .take()
            .or_else(|| self.spare_sinks.pop())
            .unwrap_or_default()
    }

    fn put_sink(&mut self, connection: &mut Connection, sink: Box<ReplySink>) {
        if !sink.is_empty() {
            connection.output = Some(sink);
        } else if self.spare_sinks.len() < SPARES && sink.capacity() <= SPARE_MAX {
            self.spare_sinks.push(sink);
        }
    }

    /// Gives those another turn that had more to say.
    fn serve_again(&mut self) {
        for _ in 0..self.again.len() {
            let Some(token) = self.again.pop_front() else {
                return;
            };
            self.with_connection(token, |worker, connection| {
                worker.drive(token, connection, true)
            });
        }
    }

    /// Sends the replies whose time has come.
    fn send_due(&mut self) {
        if self.held.next_due().is_none() {
            return;
        }
        let now = self.responder.since_start();
        while let Some((destination, mut reply)) = self.held.take_due(now) {
            match destination {
                Destination::Connection(token) => {
                    self.with_connection(token, |worker, connection| {
                        let mut sink = worker.take_sink(connection);
                        sink.append(&mut reply);
                        let sent = worker.send(connection, &mut sink);
                        worker.put_sink(connection, sink);
                        if sent.is_ok() {
                            Fate::Keep
                        } else {
                            Fate::Close
                        }
                    });
                }
                Destination::Datagram(index, peer) => self.send_datagrams(index, peer, &reply),
            }
        }
    }

    fn collect_mail(&mut self) {
        let Some(mailbox) = self.mailboxes.get(self.index) else {
            return;
        };
        for socket in mailbox.collect() {
            self.adopt(socket);
        }
    }

    /// Accepts all who wait, and deals them to the threads in turn.
    fn accept(&mut self, index: usize) {
        while let Some(listener) = self.sockets.listeners.get(index) {
            match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.hand_over(socket),
                Err(Errno::AGAIN) => return,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    return self.pause_accepting();
                }
                // The one who waited has given up; the next may not have.
                Err(_) => {}
            }
        }
    }

    fn hand_over(&mut self, socket: OwnedFd) {
        self.responder.tally.count_connection();
        let target = self.next_mailbox % self.mailboxes.len();
        self.next_mailbox = target + 1;
        match self.mailboxes.get(target) {
            Some(mailbox) if target != self.index => mailbox.deliver(socket),
            _ => self.adopt(socket),
        }
    }

    /// Makes a connection one of this thread's.
    fn adopt(&mut self, socket: OwnedFd) {
        // Replies leave in batches of our own making; the kernel must not wait for more.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        self.serial = (self.serial + 1) & (u32::MAX >> 3);
        let token = u64::from(self.serial) << 32 | u64::from(index);
        let flags = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::ET;
        if self.watch(&socket, token, flags).is_err() {
            self.free.push(index);
            return;
        }
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = Some(Box::new(Connection::new(socket, self.serial)));
        }
    }

    /// Without descriptors, those who wait have to; watching for them would spin.
    fn pause_accepting(&mut self) {
        if self.accept_again.is_none() {
            for listener in &self.sockets.listeners {
                let _ = epoll::delete(&self.epoll, listener);
            }
        }
        self.accept_again = Some(self.responder.since_start() + ACCEPT_PAUSE);
    }

    fn resume_accepting(&mut self) {
        let Some(when) = self.accept_again else {
            return;
        };
        if when > self.responder.since_start() {
            return;
        }
        self.accept_again = None;
        for (token, listener) in (LISTENER..).zip(&self.sockets.listeners) {
            let _ = self.watch(listener, token, epoll::EventFlags::IN);
        }
    }

    /// Answers a datagram; the replies are left in `sink`.
    fn answer_datagram(
        &mut self,
        index: usize,
        peer: SocketAddr,
        call: &[u8],
        sink: &mut ReplySink,
    ) {
        match self
            .responder
            .respond(call, Transport::Udp, Some(peer), sink)
        {
            // There is no connection to close.
            Outcome::Answered | Outcome::Disconnect => {}
            Outcome::Later(due, reply) => {
                self.held
                    .hold(due, Destination::Datagram(index, peer), reply);
            }
        }
    }
}
