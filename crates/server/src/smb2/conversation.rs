//! Whole conversations without sockets: frames of two connections in, frames out. For tests that
//! send messages which no client sends.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use filestone_protection::DecryptBuffer;

use super::connection::SmbConnection;
use super::connection_id::{ConnectionId, RoutedEvent};
use super::frames::{CloseConnection, Envelope, FaultAction, Moment, SessionEnd, open};
use super::options::{SmbOptions, User};
use super::service::SmbService;
use crate::counters::ThreadCounters;
use crate::reply::ReplySink;
use crate::tree::InitialTree;

/// Password of the one user, "anna", of a server without guests.
pub const PASSWORD: &str = "mellon";

/// A server, and two connections to it.
#[derive(Debug)]
pub struct SmbConversation {
    service: SmbService,
    connections: [Option<SmbConnection>; 2],
    tally: ThreadCounters,
    opened: DecryptBuffer,
    room: Vec<u8>,
    frames: u64,
    session_end: Option<SessionEnd>,
}

impl SmbConversation {
    /// Creates a server with or without guests, and with little memory.
    pub fn new(has_guests: bool) -> Self {
        let tree = InitialTree {
            file_size: 1 << 20,
            small_file_count: 3,
            small_file_size: 4096,
            ..InitialTree::default()
        };
        let tree = Arc::new(RwLock::new(tree.plant(1, 1 << 20, false, 0)));
        let mut options = SmbOptions::default();
        if !has_guests {
            options.users.push(User {
                name: "anna".into(),
                password: PASSWORD.into(),
            });
        }
        let service = SmbService::new(tree, options, 0);
        let connections =
            [0, 1].map(|token| Some(service.connect(ConnectionId { worker: 0, token })));
        Self {
            service,
            connections,
            tally: ThreadCounters::default(),
            opened: DecryptBuffer::default(),
            room: Vec::new(),
            frames: 0,
            session_end: None,
        }
    }

    /// Ends the session of the next frame before the server answers it.
    pub fn end_session(&mut self, end: SessionEnd) {
        self.session_end = Some(end);
    }

    /// Closes one of the connections and creates another one in its place.
    pub fn connect_again(&mut self, second: bool) {
        let index = usize::from(second);
        let place = ConnectionId {
            worker: 0,
            token: index as u64,
        };
        let made = Some(self.service.connect(place));
        let Some(Some(mut lost)) = self
            .connections
            .get_mut(index)
            .map(|own| std::mem::replace(own, made))
        else {
            return;
        };
        let moment = moment(self.frames);
        let service = &self.service;
        service
            .frames(&mut lost, &self.tally, moment, &mut self.room)
            .end();
        self.deliver(std::mem::take(&mut lost.outbox));
    }

    /// Processes a frame of one of the connections, without its mark; returns the frames sent to it
    /// in reply, with marks. `None` once the server has disconnected.
    pub fn frame(&mut self, second: bool, frame: &[u8]) -> Option<Vec<u8>> {
        let index = usize::from(second);
        let mut connection = self.connections.get_mut(index)?.take()?;
        self.frames += 1;
        let mut sink = ReplySink::default();
        let answered = self.answer(&mut connection, frame, &mut sink);
        if answered.is_err() {
            let moment = moment(self.frames);
            let service = &self.service;
            service
                .frames(&mut connection, &self.tally, moment, &mut self.room)
                .end();
        }
        let letters = std::mem::take(&mut connection.outbox);
        if answered.is_ok() {
            self.connections[index] = Some(connection);
        }
        self.deliver(letters);
        answered.ok().map(|()| sink.to_vec())
    }

    fn answer(
        &mut self,
        connection: &mut SmbConnection,
        frame: &[u8],
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        let envelope = open(connection, frame, &mut self.opened)?;
        let messages = match envelope {
            Envelope::Sealed(_) => self.opened.messages(),
            Envelope::Plain | Envelope::Smb1 => frame,
        };
        let fault_action = FaultAction {
            session_end: self.session_end.take(),
            ..FaultAction::default()
        };
        let moment = moment(self.frames);
        self.service
            .frames(connection, &self.tally, moment, &mut self.room)
            .answer(envelope, messages, fault_action, sink)
    }

    /// Delivers events between connections, and the events that result from them.
    fn deliver(&mut self, mut letters: Vec<RoutedEvent>) {
        while let Some(RoutedEvent { to, notice }) = letters.pop() {
            let connection = self.connections.get_mut(to.token as usize);
            let Some(connection) = connection.and_then(Option::as_mut) else {
                continue;
            };
            let mut sink = ReplySink::default();
            let service = &self.service;
            let moment = moment(self.frames);
            let mut frames = service.frames(connection, &self.tally, moment, &mut self.room);
            // The output is for the client of that connection, which may or may not read it.
            let _ = frames.notice(notice, &mut sink);
            letters.append(&mut connection.outbox);
        }
    }
}

/// Every frame takes a second.
fn moment(frames: u64) -> Moment {
    Moment {
        now: frames * 1_000_000_000,
        since_start: Duration::from_secs(frames),
    }
}
