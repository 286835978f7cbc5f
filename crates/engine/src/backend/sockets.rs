//! Simulated clients over sockets: readiness by epoll, nanosecond waits, a spin before due moments,
//! and adaptive spinning for replies before sleeping (`adaptive_spin`).
//!
//! With a single connection the worker blocks in `recv` itself and saves one system call for each
//! exchange.

mod recovery;
mod wait;

use crate::backend::adaptive_spin::AdaptiveSpin;
use crate::backend::connection::{ClientConnection, ConnectedClient, Link, ReceiveMode};
use crate::backend::{Backend, BackendError, ConnectionCounts, ConnectionEvent, WaitLimit};
use filestone_host::clock::Clock;
use filestone_host::connect::Dial;
use filestone_host::processors;
use filestone_measure::measure::LossReasons;
use filestone_measure::measure::stamps::StampedCall;
use filestone_plan::plan::{OnLost, Plan};
use filestone_protocol::client::Client;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::language::WorkType;
use filestone_workload::operation::SlotId;
use filestone_workload::time::Timestamp;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// Interval between checks of time-outs and lost connections.
const SCAN_NANOS: u64 = 20_000_000;
/// Time-out of a blocking `recv`, so that the clock is read.
const RECEIVE_TIMEOUT: Duration = Duration::from_millis(10);
/// A blocking `recv` is used only if nothing is due for this long: the kernel rounds its time-out
/// up to ticks, to 20 ms at 100 ticks per second.
const RECEIVE_MARGIN_NANOS: u64 = 25_000_000;
// Two ticks, and the wake-up after them.
const _: () = assert!(RECEIVE_MARGIN_NANOS as u128 > 2 * RECEIVE_TIMEOUT.as_nanos());
/// Receive buffer of a worker, shared by all of its connections.
const BUFFER_LEN: usize = 1 << 20;
/// Most first connections that are established at the same time.
const CONNECTING_MAX: usize = 256;
/// Ready connections returned by the kernel at a time.
const EVENTS_MAX: usize = 256;
/// Time limit for logging off from a server.
const LOG_OFF_MAX: Duration = Duration::from_secs(2);

/// Options that all sockets of one worker share.
#[derive(Debug, Clone)]
pub struct SocketOptions {
    /// Address and options for connecting.
    pub dial: Dial,
    /// The run's table that contains the file data: in most runs two periods of the pattern.
    pub pattern: Arc<[u8]>,
    /// Whether to spin instead of sleeping.
    pub busy_poll: bool,
    /// Longest time of reconnection attempts after a disconnect, in nanoseconds.
    pub reconnect_nanos: u64,
    /// Action when that time has passed.
    pub on_lost: OnLost,
}

impl SocketOptions {
    /// Creates the options of a plan for connections to `dial`.
    pub fn of(plan: &Plan, dial: Dial, pattern: Arc<[u8]>) -> Self {
        Self {
            dial,
            pattern,
            busy_poll: plan.busy_poll,
            reconnect_nanos: plan.reconnect_ns,
            on_lost: plan.on_lost(),
        }
    }
}

/// All simulated clients of one worker, each with its socket.
pub struct Sockets<C> {
    clock: Clock,
    options: SocketOptions,
    connections: Vec<ClientConnection<C>>,
    /// Connections with something to send.
    dirty: Vec<u32>,
    /// Connections that are not up and are tried again.
    down: Vec<u32>,
    /// Connections that are established during the run, with their times, in order of time.
    later: VecDeque<(Timestamp, u32)>,
    /// Number of connections that are not tried again.
    given_up: usize,
    /// Connections of lost clients that are up again but have not received a reply yet.
    recovering: Vec<u32>,
    /// Connections that are up for the first time and have not completed their setup yet.
    becoming: Vec<u32>,
    changes: Vec<ConnectionEvent>,
    /// Whether lost clients are given up, regardless of the option.
    gives_up: bool,
    /// Present if there is more than one connection.
    epoll: Option<OwnedFd>,
    /// Connections that the kernel reported as ready; the next one to handle is last.
    ready: Vec<(u32, epoll::EventFlags)>,
    /// Whether this kernel lacks epoll_pwait2.
    lacks_pwait2: bool,
    buffer: Box<[u8]>,
    /// The last reading of the clock.
    recent: Timestamp,
    /// Completions and the error of an early send.
    early: CompletionBatch,
    early_error: Option<BackendError>,
    /// Whether the clock has been read since the last wait.
    is_fresh: bool,
    looking: AdaptiveSpin,
    next_scan: Timestamp,
    /// Timers of clients: no client's time-out is before its entry here. An entry that differs from
    /// its connection's `timer` is stale.
    timers: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Late replies of all clients.
    late_replies: u64,
    reconnections: u64,
    unusable_nanos: u64,
    /// Reasons of disconnects.
    losses: LossReasons,
    /// The connection that was lost last, with its number of calls in flight.
    last_loss: Option<(u32, u32)>,
}

fn system(what: &'static str) -> impl FnOnce(Errno) -> BackendError {
    move |error| BackendError::System {
        what,
        source: error.into(),
    }
}

pub(crate) fn timespec(nanos: u64) -> Timespec {
    Timespec {
        tv_sec: (nanos / 1_000_000_000) as i64,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    }
}

/// Sets the client's timer to the moment that it requests. Called after everything that may have
/// made that moment earlier.
#[inline]
fn set_timer<C: Client>(
    timers: &mut BinaryHeap<Reverse<(Timestamp, u32)>>,
    connection: &mut ClientConnection<C>,
    index: u32,
) {
    let due = connection.client.poll_timeout();
    if due < connection.timer {
        set_timer_at(timers, connection, index, due);
    }
}

#[cold]
fn set_timer_at<C>(
    timers: &mut BinaryHeap<Reverse<(Timestamp, u32)>>,
    connection: &mut ClientConnection<C>,
    index: u32,
    due: Timestamp,
) {
    connection.timer = due;
    if due < Timestamp::MAX {
        timers.push(Reverse((due, index)));
    }
}

impl<C: Client> Sockets<C> {
    /// Returns a backend of connected clients, in the order of tickets.
    pub fn new(
        clock: Clock,
        options: SocketOptions,
        clients: Vec<ConnectedClient<C>>,
    ) -> Result<Self, BackendError> {
        let epoll = match clients.len() {
            0 | 1 => None,
            _ => Some(
                epoll::create(epoll::CreateFlags::CLOEXEC)
                    .map_err(system("make an epoll instance"))?,
            ),
        };
        let mut sockets = Self {
            clock,
            options,
            dirty: Vec::with_capacity(clients.len()),
            down: Vec::new(),
            later: VecDeque::new(),
            given_up: 0,
            recovering: Vec::new(),
            becoming: Vec::new(),
            changes: Vec::new(),
            gives_up: false,
            timers: BinaryHeap::with_capacity(clients.len()),
            connections: clients.into_iter().map(ClientConnection::new).collect(),
            epoll,
            ready: Vec::with_capacity(EVENTS_MAX),
            lacks_pwait2: false,
            buffer: vec![0; BUFFER_LEN].into_boxed_slice(),
            recent: Timestamp::ZERO,
            early: CompletionBatch::default(),
            early_error: None,
            is_fresh: false,
            looking: AdaptiveSpin::default(),
            next_scan: Timestamp::ZERO,
            late_replies: 0,
            reconnections: 0,
            unusable_nanos: 0,
            losses: LossReasons::default(),
            last_loss: None,
        };
        for index in 0..sockets.connections.len() {
            sockets.watch(index)?;
            let connection = &mut sockets.connections[index];
            if let Link::Down(moment) = connection.link {
                sockets.later.push_back((moment, index as u32));
                continue;
            }
            connection
                .client
                .connected(Timestamp::ZERO, &mut connection.output);
        }
        sockets.later.make_contiguous().sort_unstable();
        Ok(sockets)
    }

    /// Requests kernel timestamps for a sample of the calls of the first connection.
    pub fn stamp(&mut self) {
        if let Some(connection) = self.connections.first_mut() {
            connection.stamp();
        }
    }

    /// Returns the connections, in the order of tickets.
    pub fn connections_mut(&mut self) -> impl Iterator<Item = &mut ClientConnection<C>> {
        self.connections.iter_mut()
    }

    /// After a run: logs off the client of each connection that is up, and waits for the
    /// completions. The results do not matter any more.
    pub fn log_off(&mut self) {
        let (now, mut left) = (self.read_clock(), 0_usize);
        for index in 0..self.connections.len() {
            let connection = &mut self.connections[index];
            let is_up = matches!(connection.link, Link::Up(_));
            if is_up && connection.client.log_off(now, &mut connection.output) {
                left += 1;
                self.mark_dirty(index);
            }
        }
        let (until, mut completed) = (now.after(LOG_OFF_MAX), CompletionBatch::default());
        while left > 0 && self.read_clock() < until {
            if self.wait(WaitLimit::sharp(until), &mut completed).is_err() {
                return;
            }
            left = left.saturating_sub(completed.iter().count());
            completed.clear();
        }
    }

    /// Starts the run: from now on moments count from this clock's epoch.
    pub fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Returns the name of the mechanism that waits for completions, for the record.
    pub fn driver(&self) -> &'static str {
        if self.epoll.is_some() {
            "epoll"
        } else {
            "recv"
        }
    }

    /// Reads the clock.
    #[inline]
    fn read_clock(&mut self) -> Timestamp {
        self.recent = self.clock.now();
        self.recent
    }

    /// Registers a connected socket with epoll.
    fn watch(&self, index: usize) -> Result<(), BackendError> {
        let Link::Up(socket) = &self.connections[index].link else {
            return Ok(());
        };
        match &self.epoll {
            Some(epoll) => epoll::add(
                epoll,
                socket,
                epoll::EventData::new_u64(index as u64),
                epoll::EventFlags::IN,
            )
            .map_err(system("watch a socket")),
            None => rustix::net::sockopt::set_socket_timeout(
                socket,
                rustix::net::sockopt::Timeout::Recv,
                Some(RECEIVE_TIMEOUT),
            )
            .map_err(system("set a socket's time-out")),
        }
    }

    /// Enables or disables the wake-up when a connection can send again.
    fn watch_room(&self, index: usize, wanted: bool) -> Result<(), BackendError> {
        let (Some(epoll), Link::Up(socket)) = (&self.epoll, &self.connections[index].link) else {
            return Ok(());
        };
        let flags = if wanted {
            epoll::EventFlags::IN | epoll::EventFlags::OUT
        } else {
            epoll::EventFlags::IN
        };
        epoll::modify(
            epoll,
            socket,
            epoll::EventData::new_u64(index as u64),
            flags,
        )
        .map_err(system("watch a socket"))
    }

    /// Sends the output of all connections, with one system call each.
    #[inline]
    fn flush(&mut self, completed: &mut CompletionBatch) -> Result<(), BackendError> {
        if self.dirty.is_empty() {
            return Ok(());
        }
        self.is_fresh = true;
        let mut dirty = std::mem::take(&mut self.dirty);
        for index in dirty.drain(..) {
            let now = self.read_clock();
            let connection = &mut self.connections[index as usize];
            connection.is_dirty = false;
            let was_blocked = connection.is_blocked;
            let sent = connection.send(&self.options.pattern, now);
            set_timer(&mut self.timers, connection, index);
            match sent {
                Ok(()) if connection.is_blocked != was_blocked => {
                    let is_blocked = connection.is_blocked;
                    self.watch_room(index as usize, is_blocked)?;
                }
                Ok(()) => {}
                Err(loss) => self.mark_lost(index as usize, loss, completed)?,
            }
        }
        // Only `mark_lost` could have added connections here in the meantime, and it does not.
        self.dirty = dirty;
        Ok(())
    }

    /// Handles a ready connection.
    fn attend(
        &mut self,
        index: usize,
        flags: epoll::EventFlags,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        if flags.contains(epoll::EventFlags::OUT) {
            self.mark_dirty(index);
        }
        if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR)
        {
            self.receive(index, ReceiveMode::None, completed)?;
        }
        Ok(())
    }

    #[inline]
    fn receive(
        &mut self,
        index: usize,
        waiting: ReceiveMode,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let Some(connection) = self.connections.get_mut(index) else {
            return Ok(());
        };
        let transport = self.options.dial.transport;
        let late_before = connection.client.late_replies();
        let received =
            connection.receive(transport, waiting, &self.clock, &mut self.buffer, completed);
        self.late_replies += connection.client.late_replies() - late_before;
        match received {
            Ok(Some(moment)) => {
                self.recent = moment;
                let answers = connection.client.answer(&mut connection.output);
                set_timer(&mut self.timers, connection, index as u32);
                if answers {
                    self.mark_dirty(index);
                }
                self.send_on_sibling(index);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(loss) => self.mark_lost(index, loss, completed),
        }
    }

    /// Sends the output of the client's other connection.
    #[inline]
    fn send_on_sibling(&mut self, index: usize) {
        let Some(other) = self.connections[index].client.hands_over() else {
            return;
        };
        let Some(connection) = self.connections.get_mut(other as usize) else {
            return;
        };
        let answers = connection.client.answer(&mut connection.output);
        set_timer(&mut self.timers, connection, other);
        if answers {
            self.mark_dirty(other as usize);
        }
    }

    /// Repeats the operations of slots that use this connection.
    #[inline]
    fn repeat_over(&mut self, index: u32, slots: &[u32]) {
        let connection = &mut self.connections[index as usize];
        connection.client.repeat(slots, &mut connection.output);
        if !connection.is_dirty && matches!(connection.link, Link::Up(_)) {
            connection.is_dirty = true;
            self.dirty.push(index);
        }
    }

    #[inline]
    fn mark_dirty(&mut self, index: usize) {
        if let Some(connection) = self.connections.get_mut(index)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push(index as u32);
        }
    }
}

impl<C: Client> Backend for Sockets<C> {
    type Language = C::Language;

    #[inline]
    fn now(&mut self) -> Timestamp {
        self.read_clock()
    }

    #[inline]
    fn recent(&self) -> Timestamp {
        self.recent
    }

    #[inline]
    fn submit(
        &mut self,
        ticket: SlotId,
        work: <C::Language as WorkType>::WorkItem<'_>,
        now: Timestamp,
    ) {
        let carriers = self.connections[ticket.client as usize].client.carriers();
        let carrier = carriers.of(ticket);
        let index = carrier as usize;
        let connection = &mut self.connections[index];
        connection
            .client
            .submit(ticket, work, &mut connection.output);
        connection.client.end_at_once(now, &mut self.early);
        if !matches!(connection.link, Link::Up(_)) {
            // Nothing will be sent, so the timer must be set here.
            set_timer(&mut self.timers, connection, carrier);
        } else if !connection.is_dirty {
            connection.is_dirty = true;
            self.dirty.push(carrier);
        }
        self.send_on_sibling(index);
    }

    #[inline]
    fn repeat(&mut self, client: u32, slots: &[u32]) {
        let carriers = self.connections[client as usize].client.carriers();
        if carriers.is_itself() {
            return self.repeat_over(client, slots);
        }
        for slot in slots {
            let ticket = SlotId {
                client,
                slot: *slot,
            };
            self.repeat_over(carriers.of(ticket), core::slice::from_ref(slot));
        }
    }

    #[inline]
    fn wait(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        self.flush(completed)?;
        if !self.is_fresh {
            self.read_clock();
        }
        self.is_fresh = false;
        if self.early_error.is_some() || !self.early.is_empty() {
            return self.tell_early(completed);
        }
        let before = completed.len();
        let away = self.down.len() + self.given_up + self.later.len();
        if away > 0 && away == self.connections.len() {
            // Without a connection: sleep until the next attempt.
            let now = self.read_clock();
            let sleep = self.next_scan.min(until.first()).nanos_since(now);
            std::thread::sleep(Duration::from_nanos(sleep));
        } else if self.epoll.is_none() {
            self.wait_for_one(until, completed)?;
        } else {
            self.wait_for_many(until, completed)?;
        }
        if completed.len() == before {
            self.read_clock();
        }
        if self.recent >= self.next_scan {
            self.scan(self.recent, completed)?;
        }
        Ok(())
    }

    fn send(&mut self) {
        let mut early = std::mem::take(&mut self.early);
        if let Err(error) = self.flush(&mut early) {
            self.early_error = Some(error);
        }
        self.early = early;
    }

    fn abort(&mut self, completed: &mut CompletionBatch) {
        let now = self.read_clock();
        for connection in &mut self.connections {
            connection.client.abort(now, completed);
        }
    }

    fn waited_nanos(&self) -> u64 {
        processors::waited_nanos()
    }

    fn processor_nanos(&self) -> u64 {
        processors::thread_nanos()
    }

    fn spun_nanos(&self) -> u64 {
        self.looking.spun_nanos()
    }

    fn late_replies(&self) -> u64 {
        self.late_replies
    }

    fn stamped(&self) -> Vec<StampedCall> {
        let first = self.connections.first();
        let stamping = first.and_then(|connection| connection.stamping.as_ref());
        stamping.map_or_else(Vec::new, |stamping| stamping.calls().to_vec())
    }

    #[inline]
    fn next_change(&mut self) -> Option<ConnectionEvent> {
        self.changes.pop()
    }

    fn give_up_lost(&mut self) {
        self.gives_up = true;
        self.next_scan = self.recent;
    }

    fn down_since(&self) -> Option<Timestamp> {
        let down = |connection: &ClientConnection<C>| {
            let has_begun = !connection.is_new || connection.attempts > 0;
            let is_up = matches!(connection.link, Link::Up(_));
            (has_begun && !is_up).then_some(connection.lost_at)
        };
        let since: Option<Vec<Timestamp>> = self.connections.iter().map(down).collect();
        since?.into_iter().max()
    }

    fn loss(&self) -> BackendError {
        let lost = self.last_loss.and_then(|(index, in_flight)| {
            let connection = self.connections.get(index as usize)?;
            Some((connection.loss.as_ref()?, in_flight))
        });
        let Some((loss, in_flight)) = lost else {
            return BackendError::AllLost;
        };
        let replies = self.connections.iter();
        BackendError::Lost {
            address: self.options.dial.address.to_string(),
            what: loss.to_string(),
            replies: replies.map(|connection| connection.client.replies()).sum(),
            in_flight: u64::from(in_flight),
        }
    }

    fn connection_counts(&self, end: Timestamp) -> ConnectionCounts {
        let mut counts = ConnectionCounts {
            reconnections: self.reconnections,
            unusable_nanos: self.unusable_nanos,
            lost_clients: 0,
            losses: self.losses.clone(),
        };
        for connection in &self.connections {
            if !matches!(connection.link, Link::Up(_)) {
                if !connection.is_new {
                    counts.unusable_nanos += end.nanos_since(connection.down_at);
                }
                counts.lost_clients += u64::from(connection.is_lost);
            }
        }
        counts
    }
}
