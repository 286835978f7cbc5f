//! SMB as a worker calls it.

use std::sync::{Arc, Mutex, RwLock};

use filestone_protection::DecryptBuffer;
use filestone_wire::smb2::{Command, Status};

use super::connection::Connection;
use super::connection_id::{ConnectionEvent, ConnectionId};
use super::exchange::Shared;
use super::frames::{self, CloseConnection, Envelope, FaultAction, Frames, Moment};
use super::metadata::file_time;
use super::options::SmbOptions;
use super::random;
use crate::counters::Tally;
use crate::reply::ReplySink;
use crate::tree::inode::Timestamp;
use crate::tree::{Identity, InodeNumber, Tree};

/// The share over a tree.
#[derive(Debug)]
pub struct SmbService {
    shared: Shared,
}

/// A frame out of its envelope.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'m> {
    pub envelope: Envelope,
    pub messages: &'m [u8],
}

/// What a thread brings with it.
pub struct RequestContext<'m> {
    pub tally: &'m Tally,
    pub moment: Moment,
    /// Memory to verify signatures in, which is used again and again.
    pub room: &'m mut Vec<u8>,
}

impl SmbService {
    pub fn new(tree: Arc<RwLock<Tree>>, options: SmbOptions, now: Timestamp) -> Self {
        let (root, (uid, gid)) = {
            let tree = tree
                .read()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let root = tree.walk(b"export").unwrap_or(InodeNumber::ROOT);
            (root, tree.owner())
        };
        let mut guid = [0; 16];
        // Any number does: it only tells this server from others.
        let _: Result<(), Status> = random::fill(&mut guid);
        Self {
            shared: Shared {
                tree,
                hub: Mutex::default(),
                options,
                root,
                identity: Identity::unchecked(uid, gid),
                guid,
                start: file_time(now),
            },
        }
    }

    /// Begins a connection.
    pub fn connect(&self, place: ConnectionId) -> Connection {
        Connection::new(place, self.shared.options.credits)
    }

    /// Takes a frame out of its envelope; what was encrypted is in `opened` then.
    pub fn open(
        &self,
        connection: &Connection,
        frame: &[u8],
        opened: &mut DecryptBuffer,
    ) -> Result<Envelope, CloseConnection> {
        frames::open(connection, frame, opened)
    }

    /// What the first message of a frame asks.
    pub fn command_of(messages: &[u8]) -> Option<Command> {
        frames::command_of(messages)
    }

    /// Answers the messages of a frame, with a frame in `sink` or with nothing.
    pub fn answer(
        &self,
        connection: &mut Connection,
        incoming: Incoming<'_>,
        whim: FaultAction,
        means: RequestContext<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        self.frames(connection, means)
            .answer(incoming.envelope, incoming.messages, whim, sink)
    }

    /// Takes in what another connection has to tell this one.
    pub fn notice(
        &self,
        connection: &mut Connection,
        notice: ConnectionEvent,
        means: RequestContext<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        self.frames(connection, means).notice(notice, sink)
    }

    /// Tries those again that have waited for a break as long as one may take.
    pub fn retry_overdue(
        &self,
        connection: &mut Connection,
        means: RequestContext<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        self.frames(connection, means).retry_overdue(sink)
    }

    /// Gives up all that a connection has: it is closed.
    pub fn end(&self, connection: &mut Connection, means: RequestContext<'_>) {
        self.frames(connection, means).end();
    }

    fn frames<'x>(
        &'x self,
        connection: &'x mut Connection,
        means: RequestContext<'x>,
    ) -> Frames<'x> {
        Frames {
            shared: &self.shared,
            connection,
            tally: means.tally,
            moment: means.moment,
            room: means.room,
        }
    }
}
