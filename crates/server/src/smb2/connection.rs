//! SMB state of one connection: sessions, trees, opens, waiting requests.

use std::collections::BTreeMap;
use std::time::Duration;

use filestone_protection::{Preauth, SessionKeys};
use filestone_wire::smb2::negotiate::{Cipher, SigningAlgorithm};
use filestone_wire::smb2::spnego::Mechanism;
use filestone_wire::smb2::{AccessMask, Capabilities, Dialect, FileId, SecurityMode, Status};
use rustc_hash::FxHashMap;

use super::connection_id::{ConnectionId, RoutedEvent, Waiter};
use super::names::NamePattern;
use super::window::Window;
use crate::tree::InodeNumber;
use filestone_protection::ntlm::Acceptor;

/// Largest number of waiting requests of one connection.
pub const WAITING_MAX: usize = 512;
/// Largest size of the stored frames of these requests, in bytes.
pub const KEPT_MAX: usize = 8 << 20;

/// Result of NEGOTIATE.
#[derive(Debug, Clone)]
pub struct NegotiatedState {
    pub dialect: Dialect,
    pub cipher: Option<Cipher>,
    pub signing: SigningAlgorithm,
    /// Values that client and server sent, which VALIDATE_NEGOTIATE_INFO requests again.
    pub client_guid: [u8; 16],
    pub client_capabilities: Capabilities,
    pub client_security_mode: SecurityMode,
    pub capabilities: Capabilities,
    pub security_mode: SecurityMode,
}

impl NegotiatedState {
    /// Returns whether a request may use more than one credit.
    pub fn has_large_mtu(&self) -> bool {
        self.capabilities.contains(Capabilities::LARGE_MTU)
    }
}

/// User of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUser {
    /// The first authentication is in progress.
    Unknown,
    User,
    Guest,
    Anonymous,
}

/// An authentication in progress.
#[derive(Debug, Default)]
pub struct Authenticating {
    pub acceptor: Acceptor,
    /// DER of the offered mechanisms; empty if the client uses NTLM without SPNEGO.
    pub mech_types: Vec<u8>,
    pub is_raw: bool,
    /// Whether the client's optimistic token was for another mechanism, so that the client has to
    /// restart.
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
    /// Whether the user has to reauthenticate before any other request.
    pub is_expired: bool,
    /// Whether the client has sent encrypted messages: notifications to it are then encrypted, too.
    pub has_sealed: bool,
    /// Number of encryptions, for the nonce, which must not be reused.
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

/// Share of a tree connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// The exported directory.
    Export,
    /// IPC$, without pipes.
    Pipes,
}

/// Position of a listing.
#[derive(Debug, Clone)]
pub struct Search {
    pub pattern: NamePattern,
    pub cookie: u64,
    /// Whether an entry was found, so that no further entries mean the end rather than an error.
    pub has_found: bool,
}

/// An open file or directory of a client.
#[derive(Debug)]
pub struct Open {
    pub tree_id: u32,
    pub number: InodeNumber,
    pub is_directory: bool,
    pub access: AccessMask,
    /// Path at the time of the open, with backslashes.
    pub path: Box<str>,
    pub search: Option<Box<Search>>,
    /// CurrentByteOffset and Mode, which clients set and query, without other effects.
    pub position: u64,
    pub mode: u32,
    /// Whether times that were set explicitly are kept on a write (MS-FSCC, section 2.4.7).
    pub keeps_write_time: bool,
}

/// State that the messages of a compound hand on to related ones.
#[derive(Debug, Clone, Copy)]
pub struct ChainState {
    pub session_id: u64,
    pub tree_id: u32,
    /// File of the previous message, or the status if there is none.
    pub file: Result<FileId, Status>,
    pub is_first: bool,
    /// Whether related messages have no session or tree to refer to.
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

/// Event that a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// A change of the locks of this file, for this open.
    Lock { number: InodeNumber, open: u64 },
    /// The end of a break, or this deadline, in nanoseconds since the server's start.
    Break { number: InodeNumber, until: u64 },
    /// An event that never occurs.
    Nothing,
}

/// A waiting request, with the messages after it in its compound.
#[derive(Debug)]
pub struct Waiting {
    pub message_id: u64,
    pub session_id: u64,
    /// The messages from the request on, decrypted.
    pub messages: Vec<u8>,
    pub chain: ChainState,
    pub is_encrypted: bool,
    pub waits_for: WaitingFor,
}

/// State of one connection.
#[derive(Debug)]
pub struct SmbConnection {
    pub place: ConnectionId,
    pub agreed: Option<Box<NegotiatedState>>,
    /// SMB1's NEGOTIATE was answered with the wildcard: the client sends an SMB2 NEGOTIATE next.
    pub has_wildcard: bool,
    pub window: Window,
    pub preauth: Box<Preauth>,
    pub sessions: FxHashMap<u64, Session>,
    pub waiting: BTreeMap<u64, Waiting>,
    pub last_async_id: u64,
    /// AsyncIds of requests that wait for a lock of a closed open.
    pub orphans: Vec<u64>,
    /// Whether the orphans are being answered.
    pub is_answering_orphans: bool,
    pub outbox: Vec<RoutedEvent>,
}

impl SmbConnection {
    /// Creates the state of a new connection.
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

    /// Returns whether a session is established.
    pub fn has_session(&self) -> bool {
        self.sessions.values().any(Session::is_valid)
    }

    /// Returns the earliest deadline of a request that waits for a break, since the server's start.
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

/// The offered mechanisms: only NTLMSSP.
pub const MECHANISMS: &[Mechanism<'static>] = &[Mechanism::NTLMSSP];
