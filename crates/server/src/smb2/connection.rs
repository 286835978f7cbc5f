//! One connection, as far as SMB keeps anything of it: sessions, trees, opens, what waits.

use std::collections::BTreeMap;
use std::time::Duration;

use filestone_protection::{Preauth, SessionKeys};
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::spnego::Mechanism;
use filestone_wire::smb2::{AccessMask, Capabilities, Dialect, FileId, SecurityMode, Status};
use rustc_hash::FxHashMap;

use super::connection_id::{ConnectionId, RoutedEvent, Waiter};
use super::names::Pattern;
use super::window::Window;
use crate::tree::InodeNumber;
use filestone_protection::ntlm::Acceptor;

/// Requests of one connection that may wait at once.
pub const WAITING_MAX: usize = 512;
/// Bytes of what is kept of frames for them.
pub const KEPT_MAX: usize = 8 << 20;

/// What was agreed upon in NEGOTIATE.
#[derive(Debug, Clone)]
pub struct NegotiatedState {
    pub dialect: Dialect,
    pub cipher: Option<Cipher>,
    pub signing: SigningAlgorithm,
    /// What the client and the server said of themselves, which VALIDATE_NEGOTIATE_INFO asks for
    /// once more.
    pub client_guid: [u8; 16],
    pub client_capabilities: Capabilities,
    pub client_security_mode: SecurityMode,
    pub capabilities: Capabilities,
    pub security_mode: SecurityMode,
}

impl NegotiatedState {
    /// Whether a request may take more than one credit.
    pub fn has_large_mtu(&self) -> bool {
        self.capabilities.contains(Capabilities::LARGE_MTU)
    }
}

/// Whom a session is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUser {
    /// Authentication is under way for the first time.
    Unknown,
    User,
    Guest,
    Anonymous,
}

/// An authentication that is under way.
#[derive(Debug, Default)]
pub struct Authenticating {
    pub acceptor: Acceptor,
    /// DER of the mechanisms offered; empty if the client speaks NTLM without SPNEGO.
    pub mech_types: Vec<u8>,
    pub is_raw: bool,
    /// Whether the client's own token was for another mechanism, so that it has to begin again.
    pub has_restarted: bool,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    pub standing: SessionUser,
    pub user: String,
    pub authenticating: Option<Box<Authenticating>>,
    pub preauth: Box<Preauth>,
    pub keys: Option<Box<SessionKeys>>,
    pub must_sign: bool,
    pub must_encrypt: bool,
    /// Whether its user has to authenticate again before anything else is done.
    pub is_expired: bool,
    /// Whether the client has encrypted something: what comes to it unasked is encrypted, too.
    pub has_sealed: bool,
    /// Encryptions so far, none of which may come twice.
    pub nonce: u64,
    pub trees: FxHashMap<u32, Share>,
    pub last_tree: u32,
    pub opens: FxHashMap<u64, Open>,
}

impl Session {
    pub fn new(preauth: &Preauth) -> Self {
        Self {
            standing: SessionUser::Unknown,
            user: String::new(),
            authenticating: None,
            preauth: Box::new(preauth.clone()),
            keys: None,
            must_sign: false,
            must_encrypt: false,
            is_expired: false,
            has_sealed: false,
            nonce: 0,
            trees: FxHashMap::default(),
            last_tree: 0,
            opens: FxHashMap::default(),
        }
    }

    pub fn is_valid(&self) -> bool {
        self.standing != SessionUser::Unknown
    }
}

/// What a tree is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// The exported directory.
    Export,
    /// IPC$: there are no pipes in it.
    Pipes,
}

/// How far a listing is.
#[derive(Debug, Clone)]
pub struct Search {
    pub pattern: Pattern,
    pub cookie: u64,
    /// Whether an entry has been found, so that there being no more is the end and not a failure.
    pub has_found: bool,
}

/// A file or a directory that a client has open.
#[derive(Debug)]
pub struct Open {
    pub tree_id: u32,
    pub number: InodeNumber,
    pub is_directory: bool,
    pub access: AccessMask,
    /// The path as it was opened, with backslashes.
    pub path: Box<str>,
    pub search: Option<Box<Search>>,
    /// CurrentByteOffset and Mode, which clients set and ask for, and nothing else looks at.
    pub position: u64,
    pub mode: u32,
    /// Times that were set by hand and stay what writing would change (MS-FSCC, section 2.4.7).
    pub keeps_write_time: bool,
}

/// What the messages of a compound hand on to related ones.
#[derive(Debug, Clone, Copy)]
pub struct ChainState {
    pub session_id: u64,
    pub tree_id: u32,
    /// The file that the one before was about, or why there is none.
    pub file: Result<FileId, Status>,
    pub is_first: bool,
    /// Whether there is no session or no tree that related ones could be about.
    pub is_broken: bool,
}

impl Default for ChainState {
    fn default() -> Self {
        Self {
            session_id: 0,
            tree_id: 0,
            file: Err(Status::INVALID_HANDLE),
            is_first: true,
            is_broken: false,
        }
    }
}

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// A change of this file, for this open: its lock.
    Lock { number: InodeNumber, open: u64 },
    /// The end of a break, by that time at the latest, since the server's start, in nanoseconds.
    Break { number: InodeNumber, until: u64 },
    /// Nothing that will ever come.
    Nothing,
}

/// A request that waits, with what follows it in its compound.
#[derive(Debug)]
pub struct Waiting {
    pub message_id: u64,
    pub session_id: u64,
    /// The messages from it on, as they were before they were encrypted.
    pub messages: Vec<u8>,
    pub chain: ChainState,
    pub is_encrypted: bool,
    pub waits_for: WaitingFor,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    pub place: ConnectionId,
    pub agreed: Option<Box<NegotiatedState>>,
    /// SMB1's NEGOTIATE was answered with the wildcard: the real one is to come.
    pub has_wildcard: bool,
    pub window: Window,
    pub preauth: Box<Preauth>,
    pub sessions: FxHashMap<u64, Session>,
    pub waiting: BTreeMap<u64, Waiting>,
    pub last_async_id: u64,
    /// Of requests that wait for a lock of an open that was closed.
    pub orphans: Vec<u64>,
    /// Whether these are being answered.
    pub is_answering_orphans: bool,
    pub outbox: Vec<RoutedEvent>,
}

impl Connection {
    /// A connection on which nothing has been said.
    pub fn new(place: ConnectionId, credits: u16) -> Self {
        Self {
            place,
            agreed: None,
            has_wildcard: false,
            window: Window::new(credits),
            preauth: Box::default(),
            sessions: FxHashMap::default(),
            waiting: BTreeMap::new(),
            last_async_id: 0,
            orphans: Vec::new(),
            is_answering_orphans: false,
            outbox: Vec::new(),
        }
    }

    /// Whether somebody has been let in.
    pub fn has_session(&self) -> bool {
        self.sessions.values().any(Session::is_valid)
    }

    /// When a request that waits for a break has done so for too long, since the server's start.
    pub fn next_deadline(&self) -> Option<Duration> {
        let waiting = self.waiting.values();
        let deadlines = waiting.filter_map(|waiting| match waiting.waits_for {
            WaitingFor::Break { until, .. } => Some(until),
            WaitingFor::Lock { .. } | WaitingFor::Nothing => None,
        });
        deadlines.min().map(Duration::from_nanos)
    }

    pub fn waiter(&self, async_id: u64) -> Waiter {
        Waiter {
            place: self.place,
            async_id,
        }
    }
}

/// NTLMSSP is the one mechanism that is offered.
pub const MECHANISMS: &[Mechanism<'static>] = &[Mechanism::NTLMSSP];
