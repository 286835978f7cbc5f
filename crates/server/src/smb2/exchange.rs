//! Context of a command while it is processed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use filestone_wire::smb2::codec::{DecodeError, Encode, Writer};
use filestone_wire::smb2::{FileId, FileTime, Header, HeaderFlags, Status};

use super::connection::{
    ChainState, KEPT_MAX, Open, Session, Share, SmbConnection, WAITING_MAX, WaitingFor,
};
use super::connection_id::Waiter;
use super::open_table::{Awaited, GlobalOpenTable};
use super::options::SmbOptions;
use crate::reply::ReplySink;
use crate::tree::inode::UnixNanoseconds;
use crate::tree::{Identity, InodeNumber, Tree};

/// Time to wait for the acknowledgement of a break (section 3.3.6.1), in nanoseconds.
const BREAK_TIMEOUT: u64 = 35_000_000_000;

/// State shared by all connections.
#[derive(Debug)]
pub struct SmbSharedState {
    pub tree: Arc<RwLock<Tree>>,
    pub open_table: Mutex<GlobalOpenTable>,
    pub options: SmbOptions,
    /// Root directory of the share.
    pub root: InodeNumber,
    /// Identity of all users of the share: the owner of the tree, with all rights. Users of SMB
    /// have no uid here.
    pub identity: Identity<'static>,
    pub guid: [u8; 16],
    pub start: FileTime,
}

impl SmbSharedState {
    pub fn open_table(&self) -> MutexGuard<'_, GlobalOpenTable> {
        self.open_table
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the tree for reading. Lock the open_table first if both are needed.
    pub fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why a command has no regular response body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandFailure {
    /// The command failed.
    Status(Status),
    /// The command failed, with error data.
    WithData(Status, Vec<u8>),
    /// The command waits, and is registered with the event that ends the wait.
    Wait(WaitingFor),
    /// No response is sent.
    Silent,
    /// The connection must be closed.
    Hangup,
}

impl From<Status> for CommandFailure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// A body that cannot be decoded is an invalid parameter (section 3.3.5.2.6).
impl From<DecodeError> for CommandFailure {
    fn from(_: DecodeError) -> Self {
        Self::Status(Status::INVALID_PARAMETER)
    }
}

/// Status of a response whose body has been written, or the reason why there is none.
pub type Answered = Result<Status, CommandFailure>;

/// A message that is being processed.
#[derive(Debug)]
pub struct Exchange<'x> {
    pub shared: &'x SmbSharedState,
    pub connection: &'x mut SmbConnection,
    pub header: Header,
    pub chain: ChainState,
    /// Arrival time, for times of files.
    pub now: UnixNanoseconds,
    /// Arrival time since the server's start.
    pub since_start: Duration,
    /// AsyncId of a request that has waited.
    pub resumed: Option<u64>,
    /// Whether a fault makes listings restart and never end.
    pub loops: bool,
    /// Whether data may be sent without copying: they are neither signed nor encrypted.
    pub may_splice: bool,
}

impl Exchange<'_> {
    /// Returns the session of the message, established or not.
    pub fn session(&mut self) -> Result<&mut Session, Status> {
        let session = self.connection.sessions.get_mut(&self.chain.session_id);
        session.ok_or(Status::USER_SESSION_DELETED)
    }

    /// Returns the share of the message's tree.
    pub fn share(&mut self) -> Result<Share, Status> {
        let tree_id = self.chain.tree_id;
        let share = self.session()?.trees.get(&tree_id);
        share.copied().ok_or(Status::NETWORK_NAME_DELETED)
    }

    /// Returns the open of the message and its number.
    pub fn open(&mut self, asked: FileId) -> Result<(u64, &mut Open), Status> {
        let is_related = self.header.flags.contains(HeaderFlags::RELATED);
        let file_id = if asked == FileId::OF_PREVIOUS && is_related {
            self.chain.file?
        } else {
            asked
        };
        let tree_id = self.chain.tree_id;
        self.chain.file = Ok(file_id);
        let open = self.session()?.opens.get_mut(&file_id.volatile);
        let open =
            open.filter(|open| open.tree_id == tree_id && file_id.persistent == file_id.volatile);
        let open = open.ok_or(Status::FILE_CLOSED)?;
        Ok((file_id.volatile, open))
    }

    /// Returns the event that this request has waited for.
    fn waited_for(&self) -> Option<WaitingFor> {
        let waited = self.connection.waiting.get(&self.resumed?);
        waited.map(|waiting| waiting.waits_for)
    }

    /// Makes this request wait until other opens have acknowledged the break of their cached state.
    /// A request that is retried does not wait again.
    pub fn wait_for_break(
        &mut self,
        open_table: &mut GlobalOpenTable,
        number: InodeNumber,
    ) -> CommandFailure {
        let until = match self.waited_for() {
            Some(WaitingFor::Break { until, .. }) => until,
            _ => self.since_start.as_nanos() as u64 + BREAK_TIMEOUT,
        };
        let waiter = self.waiter();
        match waiter.and_then(|waiter| open_table.wait(number, Awaited::Break, waiter)) {
            Ok(()) => CommandFailure::Wait(WaitingFor::Break { number, until }),
            Err(status) => status.into(),
        }
    }

    /// Treats the break as acknowledged if this request has waited for the longest permitted time.
    pub fn give_up_overdue(&self, open_table: &mut GlobalOpenTable) {
        let now = self.since_start.as_nanos() as u64;
        if let Some(WaitingFor::Break { number, until }) = self.waited_for()
            && until <= now
        {
            open_table.give_up_breaks(number);
        }
    }

    /// Returns the identification of this request for the event that wakes it.
    pub fn waiter(&mut self) -> Result<Waiter, Status> {
        let waiting = &self.connection.waiting;
        let kept: usize = waiting.values().map(|one| one.messages.len()).sum();
        if self.resumed.is_none() && (waiting.len() >= WAITING_MAX || kept >= KEPT_MAX) {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let next = self.connection.last_async_id + 1;
        Ok(self.connection.waiter(self.resumed.unwrap_or(next)))
    }
}

/// Appends a body.
pub fn put(sink: &mut ReplySink, body: &impl Encode) -> Answered {
    body.encode(&mut Writer::new(sink.bytes_mut()));
    Ok(Status::SUCCESS)
}
