//! SMB service for workers.

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

/// A share over a tree.
#[derive(Debug)]
pub struct SmbService {
    shared: Shared,
}

/// A decrypted frame.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'m> {
    pub envelope: Envelope,
    pub messages: &'m [u8],
}

/// Context that a thread provides.
pub struct RequestContext<'m> {
    pub tally: &'m Tally,
    pub moment: Moment,
    /// Buffer for verifying signatures, reused.
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
        // Any number suffices: it only distinguishes this server from others.
        let _: Result<(), Status> = random::fill(&mut guid);
        Self {
            shared: Shared {
                tree,
                open_table: Mutex::default(),
                options,
                root,
                identity: Identity::unchecked(uid, gid),
                guid,
                start: file_time(now),
            },
        }
    }

    /// Creates the state of a connection.
    pub fn connect(&self, place: ConnectionId) -> Connection {
        Connection::new(place, self.shared.options.credits)
    }

    /// Decrypts a frame or returns its plain messages; `opened` contains decrypted messages.
    pub fn open(
        &self,
        connection: &Connection,
        frame: &[u8],
        opened: &mut DecryptBuffer,
    ) -> Result<Envelope, CloseConnection> {
        frames::open(connection, frame, opened)
    }

    /// Returns the command of the first message of a frame.
    pub fn command_of(messages: &[u8]) -> Option<Command> {
        frames::command_of(messages)
    }

    /// Processes the messages of a frame; appends a frame to `sink`, or nothing.
    pub fn answer(
        &self,
        connection: &mut Connection,
        incoming: Incoming<'_>,
        fault_action: FaultAction,
        means: RequestContext<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        self.frames(connection, means).answer(
            incoming.envelope,
            incoming.messages,
            fault_action,
            sink,
        )
    }

    /// Processes an event from another connection.
    pub fn notice(
        &self,
        connection: &mut Connection,
        notice: ConnectionEvent,
        means: RequestContext<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        self.frames(connection, means).notice(notice, sink)
    }

    /// Retries the requests that have waited the longest permitted time for a break.
    pub fn retry_overdue(
        &self,
        connection: &mut Connection,
        means: RequestContext<'_>,
        sink: &mut ReplySink,
    ) -> Result<(), CloseConnection> {
        self.frames(connection, means).retry_overdue(sink)
    }

    /// Releases all state of a closed connection.
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
