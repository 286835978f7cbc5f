//! Setup from a connection to a tree, in a new session (MS-SMB2, sections 3.2.4.2 and 3.2.5.2 to
//! 3.2.5.5) or in that of the client's other connections.

use super::channels::{BindableSession, Channels, SetupRole};
use super::connect_options::{
    ConnectError, ConnectOptions, MultichannelUnavailable, Result, SetupStep, refused,
};
use super::link::SmbCallHandle;
use super::negotiate::{negotiate, validate};
use super::negotiated::Negotiated;
use super::protection_policy::{encrypts, protects, signs};
use super::requests::Tree;
use super::session_setup::{SessionSetupKind, set_up};
use crate::session::smb2::{
    ChannelSequence, Established, KeyUse, NegotiatedSummary, SmbTransferLimits,
};
use filestone_wire::smb2::session_setup::SessionFlags;
use filestone_wire::smb2::tree_connect::{ShareFlags, ShareType};
use filestone_wire::smb2::{Dialect, Status};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Polling interval of a connection that waits for another one to create the session, in
/// nanoseconds.
const LOOK_NANOS: u64 = 1_000_000;

/// Connection setup: the options of one connection and the negotiated result.
#[derive(Debug)]
pub struct ConnectionSetup {
    /// The options.
    pub terms: ConnectOptions,
    /// Negotiated parameters of the current connection, once known.
    negotiated: Mutex<Option<Arc<Negotiated>>>,
    /// State shared with the client's other connections.
    channels: Arc<Channels>,
    /// Index of this connection among them.
    channel: u32,
    /// The last negotiated dialect.
    dialect: AtomicU16,
    /// Size limits of the server for that connection.
    limits: Mutex<SmbTransferLimits>,
}

impl ConnectionSetup {
    /// Creates the setup of a client's first connection, before the first attempt.
    pub fn new(terms: ConnectOptions) -> Self {
        Self {
            terms,
            negotiated: Mutex::new(None),
            channels: Arc::default(),
            channel: 0,
            dialect: AtomicU16::new(0),
            limits: Mutex::default(),
        }
    }

    /// Creates the setup of another connection of the same client.
    pub fn of_channel(&self, channel: u32, salt: [u8; 32]) -> Self {
        Self {
            terms: ConnectOptions {
                salt,
                ..self.terms.clone()
            },
            negotiated: Mutex::new(None),
            channels: Arc::clone(&self.channels),
            channel,
            dialect: AtomicU16::new(0),
            limits: Mutex::default(),
        }
    }

    /// Returns the index among the client's connections.
    pub const fn channel(&self) -> u32 {
        self.channel
    }

    /// Records the loss of the connection, and of the session if it was the last one.
    pub fn mark_lost(&self) {
        self.channels.mark_lost(self.channel);
        *self.noted() = None;
    }

    /// Returns the dialect of the current connection, or of the last one.
    pub fn dialect(&self) -> Dialect {
        Dialect(self.dialect.load(Ordering::Relaxed))
    }

    /// Returns the server's size limits for the current connection, or for the last one.
    pub fn limits(&self) -> SmbTransferLimits {
        // No code that holds the lock can panic.
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins a session as a connection does, without a server.
    #[cfg(test)]
    pub(super) fn make_of_tests(&self) {
        let shared = super::channels::tests::session();
        self.note(&shared.negotiated);
        self.channels.made(self.channel, shared);
    }

    /// Stores the negotiated parameters of its connection.
    fn note(&self, negotiated: &Arc<Negotiated>) {
        self.dialect.store(negotiated.dialect.0, Ordering::Relaxed);
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = negotiated.limits;
        *self.noted() = Some(Arc::clone(negotiated));
    }

    /// Returns the number of lost sessions, from which holders of open files see that these are
    /// lost, too.
    #[inline]
    pub fn losses(&self) -> u32 {
        self.channels.losses()
    }

    fn noted(&self) -> MutexGuard<'_, Option<Arc<Negotiated>>> {
        // All slots of a client are on one thread, and no code that holds the lock can panic.
        self.negotiated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets up an additional session over a connection that is established, or being established, and
/// logs off again.
pub async fn log_on_and_off(link: SmbCallHandle, way: &ConnectionSetup) -> Result<()> {
    let terms = &way.terms;
    // The first request may wait for the next connection: then the parameters of that connection
    // count.
    let negotiated = || way.noted().clone().ok_or(ConnectError::Reset);
    let (session, negotiated) =
        set_up(link, terms, SessionSetupKind::Additional, negotiated).await?;
    let protects = protects(terms, &negotiated, &session)?;
    let logged_off = link.log_off(session.scope(0, protects)).await;
    logged_off.map_err(refused(SetupStep::LogOff))
}

/// Connects to the tree over a new connection: in a new session, or in that of the client's other
/// connections.
pub async fn establish(link: SmbCallHandle, way: &ConnectionSetup) -> Result<Established> {
    loop {
        let turn = match way.terms.channels {
            0 | 1 => SetupRole::Create,
            _ => way.channels.turn(way.channel),
        };
        match turn {
            SetupRole::Create => {
                let made = make(link, way).await?;
                let established = made.established.clone();
                way.channels.made(way.channel, made);
                return Ok(established);
            }
            SetupRole::Bind(session) => return bind(link, way, &session).await,
            SetupRole::Wait => link
                .pause(LOOK_NANOS)
                .await
                .map_err(refused(SetupStep::Bind))?,
        }
    }
}

/// Creates a session, and connects to a tree.
async fn make(link: SmbCallHandle, way: &ConnectionSetup) -> Result<BindableSession> {
    let terms = &way.terms;
    let negotiated = Arc::new(negotiate(link, terms).await?);
    way.note(&negotiated);
    let entry = SessionSetupKind::Reconnect(way.channels.previous());
    let (session, _) = set_up(link, terms, entry, || Ok(Arc::clone(&negotiated))).await?;
    if terms.channels > 1 && session.keys.is_none() {
        return Err(ConnectError::OneChannel(MultichannelUnavailable::Guest));
    }
    let protects = match protects(terms, &negotiated, &session)? {
        // In 3.1.1 a TREE_CONNECT is always signed (section 3.2.4.1.1).
        KeyUse::Nothing if negotiated.dialect == Dialect::SMB_3_1_1 && session.keys.is_some() => {
            KeyUse::Signs
        }
        protects => protects,
    };
    let signs = signs(terms, &negotiated, &session)?;
    let mut is_encrypted = protects == KeyUse::Encrypts;
    let connected = link.tree_connect(&terms.share, session.scope(0, protects));
    let Tree { tree_id, share } = connected.await.map_err(refused(SetupStep::TreeConnect))?;
    if share.share_type != ShareType::DISK {
        return Err(ConnectError::Share(share.share_type));
    }
    let share_encrypts = share.share_flags.contains(ShareFlags::ENCRYPT_DATA);
    is_encrypted |= encrypts(terms, &negotiated, &session, share_encrypts)?;
    let is_old = negotiated.dialect.0 < Dialect::SMB_3_1_1.0;
    let offered_3 = terms
        .dialects
        .iter()
        .any(|dialect| dialect.0 >= Dialect::SMB_3_0.0);
    if is_old && offered_3 && session.keys.is_some() {
        let protects = if is_encrypted {
            KeyUse::Encrypts
        } else {
            KeyUse::Signs
        };
        validate(link, terms, &negotiated, session.scope(tree_id, protects)).await?;
    }
    let established = Established {
        session_id: session.session_id,
        tree_id,
        signs,
        encrypts: is_encrypted,
        large_mtu: negotiated.is_large_mtu(),
        charges: negotiated.dialect.0 > Dialect::SMB_2_0_2.0,
        limits: negotiated.limits,
        agreed: NegotiatedSummary {
            dialect: negotiated.dialect,
            cipher: negotiated.cipher.filter(|_| is_encrypted),
            signing: signs.then_some(negotiated.signing),
            is_guest: session.flags.contains(SessionFlags::IS_GUEST),
            is_anonymous: session.flags.contains(SessionFlags::IS_NULL),
        },
        session_key: session.session_key,
        keys: session.keys,
        sequence: ChannelSequence::default(),
    };
    Ok(BindableSession {
        established,
        negotiated,
    })
}

/// Binds a further connection to a session (section 3.2.5.3.3), with a separate authentication: it
/// gets a separate signing key, and shares everything else with the session.
async fn bind(
    link: SmbCallHandle,
    way: &ConnectionSetup,
    session: &Arc<BindableSession>,
) -> Result<Established> {
    let (of_session, own) = (&session.negotiated, &session.established);
    // Only the dialect of the session is offered (section 3.2.4.2.2.2).
    let terms = ConnectOptions {
        dialects: vec![of_session.dialect],
        ..way.terms.clone()
    };
    let negotiated = Arc::new(negotiate(link, &terms).await?);
    way.note(&negotiated);
    if !negotiated.is_same(of_session) {
        return Err(ConnectError::Terms(
            "the server agrees to other terms for one more connection than for the session",
        ));
    }
    let bound = set_up(link, &terms, SessionSetupKind::Bind(own), || {
        Ok(Arc::clone(&negotiated))
    })
    .await;
    let gone = ConnectError::Refused {
        step: SetupStep::Bind,
        status: Status::USER_SESSION_DELETED,
    };
    if bound.as_ref().err() == Some(&gone) {
        way.channels.forget(session);
    }
    let (bound, _) = bound?;
    if negotiated.dialect.0 < Dialect::SMB_3_1_1.0 {
        let protects = if own.encrypts {
            KeyUse::Encrypts
        } else {
            KeyUse::Signs
        };
        let scope = bound.scope(own.tree_id, protects);
        validate(link, &terms, &negotiated, scope).await?;
    }
    if !way.channels.bound(way.channel, session) {
        return Err(ConnectError::Reset);
    }
    Ok(Established {
        keys: bound.keys,
        large_mtu: negotiated.is_large_mtu(),
        limits: negotiated.limits,
        session_key: None,
        ..own.clone()
    })
}
