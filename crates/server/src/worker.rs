//! A worker thread: waits for sockets, answers received calls, and sends the replies.
//!
//! For each connection that is ready: receive the available data into the thread's one large
//! buffer, answer all complete records in it, send all replies with one call. Sockets are
//! registered edge-triggered for both directions from the start, so the kernel's list does not
//! change when a reply does not fit into a socket or when it does again.
//!
//! This module does not interpret calls.

mod accept;
pub mod connection;
mod datagram;
mod held;
pub mod mailbox;
mod smb;
mod stream;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::reply::ReplySink;
use crate::responder::Responder;

use self::connection::{Connection, ListenerProtocol};
use self::held::{DelayQueue, Destination, DueReply};
use self::mailbox::Mailbox;
use self::smb::Timers;

/// The shared receive buffer. A larger one does not fit into the CPU's cache.
const RECEIVE_BUFFER: usize = 256 << 10;
const EVENTS: usize = 256;

/// Tokens that are not connections: the index of a socket, with one of the top bits set.
const MAILBOX: u64 = 1 << 63;
const LISTENER: u64 = 1 << 62;
const DATAGRAM: u64 = 1 << 61;

/// Sockets of one worker from its start.
#[derive(Debug, Default)]
pub struct WorkerSockets {
    pub listeners: Vec<(OwnedFd, ListenerProtocol)>,
    pub datagrams: Vec<(OwnedFd, ListenerProtocol)>,
    /// Bound address of each datagram socket.
    pub datagram_addresses: Vec<SocketAddr>,
}

/// A serving thread.
#[derive(Debug)]
pub struct ServerWorker {
    index: usize,
    epoll: Epoll,
    mailboxes: Arc<[Mailbox]>,
    sockets: WorkerSockets,
    responder: Responder,
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    serial: u32,
    /// Connections that used up their rounds and may have more data.
    again: VecDeque<u64>,
    held: DelayQueue,
    receive: Vec<u8>,
    spare_inputs: Vec<Vec<u8>>,
    #[expect(
        clippy::vec_box,
        reason = "a sink moves between here and a connection by its box"
    )]
    spare_sinks: Vec<Box<ReplySink>>,
    next_mailbox: usize,
    /// Time since the start at which accepting continues.
    accept_again: Option<Duration>,
    alarms: Timers,
    /// Longest time without progress of an incomplete record.
    patience: Duration,
    /// Time since the start of the next check of incomplete records; `None` while there are none.
    look_again: Option<Duration>,
}

/// Whether a connection is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Close,
}

impl ServerWorker {
    pub fn new(
        index: usize,
        mailboxes: Arc<[Mailbox]>,
        sockets: WorkerSockets,
        responder: Responder,
        patience: Duration,
    ) -> io::Result<Self> {
        let worker = Self {
            index,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            mailboxes,
            sockets,
            responder,
            slots: Vec::new(),
            free: Vec::new(),
            serial: 0,
            again: VecDeque::new(),
            held: DelayQueue::default(),
            receive: vec![0; RECEIVE_BUFFER],
            spare_inputs: Vec::new(),
            spare_sinks: Vec::new(),
            next_mailbox: 0,
            accept_again: None,
            alarms: Timers::default(),
            patience,
            look_again: None,
        };
        if let Some(mailbox) = worker.mailboxes.get(index) {
            worker.watch(&mailbox.event, MAILBOX, EpollFlags::EPOLLIN)?;
        }
        for (token, (listener, _)) in (LISTENER..).zip(&worker.sockets.listeners) {
            worker.watch(listener, token, EpollFlags::EPOLLIN)?;
        }
        for (token, (datagram, _)) in (DATAGRAM..).zip(&worker.sockets.datagrams) {
            worker.watch(datagram, token, EpollFlags::EPOLLIN)?;
        }
        Ok(worker)
    }

    fn watch(&self, socket: &OwnedFd, token: u64, flags: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.add(socket, EpollEvent::new(flags, token))?)
    }

    /// Serves until the mailbox contains the stop.
    pub fn run(mut self) {
        if self.responder.has_detour() {
            // Delays should be exact, not up to 50 µs longer.
            let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        }
        let mut events = [EpollEvent::empty(); EVENTS];
        while !self.is_stopping() {
            let Ok(count) = self.wait(&mut events) else {
                // A signal. No other error can occur with this process's own epoll descriptor.
                continue;
            };
            self.stand_still_while_frozen();
            self.responder.refresh_clock();
            for event in events.iter().take(count) {
                self.handle_event(event.data(), event.events());
            }
            self.serve_again();
            self.send_due();
            self.sound_alarms();
            self.close_stuck();
            self.resume_accepting();
        }
    }

    fn is_stopping(&self) -> bool {
        self.mailboxes
            .get(self.index)
            .is_none_or(Mailbox::is_stopping)
    }

    /// Waits for events or the next timeout.
    ///
    /// epoll_pwait2 would wait to the nanosecond in one call, but Linux before 5.11 and valgrind
    /// lack it. Only delayed replies need exact times.
    fn wait(&self, events: &mut [EpollEvent]) -> nix::Result<usize> {
        if !self.again.is_empty() {
            return self.epoll.wait(events, EpollTimeout::ZERO);
        }
        let Some(timeout) = self.timeout() else {
            return self.epoll.wait(events, EpollTimeout::NONE);
        };
        let mut watched = [PollFd::new(&self.epoll.0, PollFlags::IN)];
        // A signal ends it early, and an early check is harmless.
        let _ = poll(&mut watched, Some(&timeout));
        self.epoll.wait(events, EpollTimeout::ZERO)
    }

    /// Returns the time until a delayed reply is due, accepting continues, or incomplete records
    /// are checked.
    fn timeout(&self) -> Option<Timespec> {
        let alarm = self.alarms.next();
        let moments = [
            self.held.next_due(),
            self.accept_again,
            alarm,
            self.look_again,
        ];
        let due = moments.into_iter().flatten().min()?;
        let sleep_until = due.saturating_sub(self.responder.spin());
        Timespec::try_from(sleep_until.saturating_sub(self.responder.since_start())).ok()
    }

    /// Sleeps while the whole server is frozen, and reads only the mailbox.
    fn stand_still_while_frozen(&self) {
        while let Some(rest) = self.responder.frozen_for() {
            let Some(mailbox) = self.mailboxes.get(self.index) else {
                return;
            };
            if mailbox.is_stopping() {
                return;
            }
            // Connections that arrive during a freeze signal the mailbox continuously, which must
            // not use the CPU: then a short sleep.
            let nap = rest.min(Duration::from_millis(1));
            let timeout = Timespec::try_from(rest).ok();
            let mut watched = [PollFd::new(&mailbox.event, PollFlags::IN)];
            if poll(&mut watched, timeout.as_ref()).is_ok_and(|count| count > 0) {
                std::thread::sleep(nap);
            }
        }
    }

    fn handle_event(&mut self, token: u64, flags: EpollFlags) {
        if token & MAILBOX != 0 {
            self.collect_mail();
        } else if token & LISTENER != 0 {
            self.accept((token & !LISTENER) as usize);
        } else if token & DATAGRAM != 0 {
            self.serve_datagrams((token & !DATAGRAM) as usize);
        } else {
            self.with_connection(token, |worker, connection| {
                if flags.intersects(!EpollFlags::EPOLLOUT) {
                    connection.is_readable = true;
                }
                // After the peer's end, a short read does not mean that the socket is drained.
                let until_end = flags.intersects(
                    EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR,
                );
                worker.drive(token, connection, until_end)
            });
        }
    }

    /// Applies `act` to a connection, unless it is closed, and closes it if `act` says so.
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
            if let Some(smb) = &mut connection.smb {
                self.responder.end(smb);
                self.deliver_letters(smb);
            }
            self.free.push(index);
            self.accept_again = self.accept_again.map(|_| Duration::ZERO);
        }
    }

    /// Serves the connections again that had more data.
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

    /// Sends the replies that are due.
    fn send_due(&mut self) {
        if self.held.next_due().is_none() {
            return;
        }
        while let Some(DueReply {
            due,
            destination,
            mut reply,
        }) = self.held.take_due(self.responder.since_start())
        {
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
            let lateness = self.responder.since_start().saturating_sub(due);
            self.responder.tally.count_held(lateness);
        }
    }
}
