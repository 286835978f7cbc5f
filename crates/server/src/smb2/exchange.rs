//! What a command has at hand while it is answered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use filestone_wire::smb2::codec::{DecodeError, Encode, Writer};
use filestone_wire::smb2::{FileId, FileTime, Header, HeaderFlags, Status};

use super::connection::{
    ChainState, Connection, KEPT_MAX, Open, Session, Share, WAITING_MAX, WaitingFor,
};
use super::connection_id::Waiter;
use super::open_table::{Awaited, GlobalOpenTable};
use super::options::SmbOptions;
use crate::reply::ReplySink;
use crate::tree::inode::Timestamp;
use crate::tree::{Identity, InodeNumber, Tree};

/// How long the answer to a break is waited for (section 3.3.6.1), in nanoseconds.
const BREAK_TIMEOUT: u64 = 35_000_000_000;

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    pub tree: Arc<RwLock<Tree>>,
    pub hub: Mutex<GlobalOpenTable>,
    pub options: SmbOptions,
    /// The directory that the share is.
    pub root: InodeNumber,
    /// As which all of its users work: the owner of the tree, with all rights. No user of SMB has a
    /// uid here.
    pub identity: Identity<'static>,
    pub guid: [u8; 16],
    pub start: FileTime,
}

impl Shared {
    pub fn hub(&self) -> MutexGuard<'_, GlobalOpenTable> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be asked for after the hub, where both are needed.
    pub fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a command has no body of its own to answer with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It failed.
    Status(Status),
    /// It failed, and says this about it.
    WithData(Status, Vec<u8>),
    /// It waits, and has said so to whoever ends that.
    Wait(WaitingFor),
    /// Nothing is answered.
    Silent,
    /// The connection is to be closed.
    Hangup,
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// A body that cannot be read is a parameter that is not valid (section 3.3.5.2.6).
impl From<DecodeError> for Failure {
    fn from(_: DecodeError) -> Self {
        Self::Status(Status::INVALID_PARAMETER)
    }
}

/// The status of a response whose body has been written, or why there is none.
pub type Answered = Result<Status, Failure>;

/// A message that is being answered.
#[derive(Debug)]
pub struct Exchange<'x> {
    pub shared: &'x Shared,
    pub connection: &'x mut Connection,
    pub header: Header,
    pub chain: ChainState,
    /// When it came, for times of files.
    pub now: Timestamp,
    /// And since the server's start.
    pub since_start: Duration,
    /// The AsyncId of a request that has waited.
    pub resumed: Option<u64>,
    /// Whether a listing begins anew and does not end, as a fault has it.
    pub loops: bool,
    /// Whether data may be sent from where they lie: nobody signs or encrypts them.
    pub may_splice: bool,
}

impl Exchange<'_> {
    /// The message's session, established or not.
    pub fn session(&mut self) -> Result<&mut Session, Status> {
        let session = self.connection.sessions.get_mut(&self.chain.session_id);
        session.ok_or(Status::USER_SESSION_DELETED)
    }

    /// What the message's tree is connected to.
    pub fn share(&mut self) -> Result<Share, Status> {
        let tree_id = self.chain.tree_id;
        let share = self.session()?.trees.get(&tree_id);
        share.copied().ok_or(Status::NETWORK_NAME_DELETED)
    }

    /// The open that a message means; its number.
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

    /// What this request has waited for.
    fn waited_for(&self) -> Option<WaitingFor> {
        let waited = self.connection.waiting.get(&self.resumed?);
        waited.map(|waiting| waiting.waits_for)
    }

    /// Has this request wait until what others cache of a file has been given up. One that is
    /// tried again waits no longer for that.
    pub fn wait_for_break(&mut self, hub: &mut GlobalOpenTable, number: InodeNumber) -> Failure {
        let until = match self.waited_for() {
            Some(WaitingFor::Break { until, .. }) => until,
            _ => self.since_start.as_nanos() as u64 + BREAK_TIMEOUT,
        };
        let waiter = self.waiter();
        match waiter.and_then(|waiter| hub.wait(number, Awaited::Break, waiter)) {
            Ok(()) => Failure::Wait(WaitingFor::Break { number, until }),
            Err(status) => status.into(),
        }
    }

    /// Takes for given up what this request has waited for as long as it may.
    pub fn give_up_overdue(&self, hub: &mut GlobalOpenTable) {
        let now = self.since_start.as_nanos() as u64;
        if let Some(WaitingFor::Break { number, until }) = self.waited_for()
            && until <= now
        {
            hub.give_up_breaks(number);
        }
    }

    /// This request among those that wait, for whoever is to wake it.
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
