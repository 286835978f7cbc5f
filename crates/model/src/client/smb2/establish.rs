//! From a connection to a tree: NEGOTIATE, SESSION_SETUP and TREE_CONNECT (MS-SMB2, sections
//! 3.2.4.2 and 3.2.5.2 to 3.2.5.5), or to the session and the tree of another connection.

use super::channels::{Channels, Shared, Turn};
use super::link::{Decoded, Fault, Link, Responses, one};
use super::negotiated::Negotiated;
use super::requests::Tree;
use crate::client::desk::{Failure, Results, Step};
use crate::load::Cause;
use crate::session::smb2::{
    Agreed, ChannelSequence, Established, Limits, Mechanism, MechanismError, Mechanisms, Preauth,
    Protects, Scope, SessionKeys,
};
use filestone_wire::smb2::codec::{Array, Decode, Encode, Text};
use filestone_wire::smb2::ioctl::{
    self, ControlCode, ValidateNegotiateRequest, ValidateNegotiateResponse,
};
use filestone_wire::smb2::negotiate::{
    self, Cipher, Context, Contexts, HashAlgorithm, SigningAlgorithm,
};
use filestone_wire::smb2::session_setup::{self, SessionFlags, SetupFlags};
use filestone_wire::smb2::spnego::{self, NegTokenInit, NegTokenResp, TokenError};
use filestone_wire::smb2::tree_connect::{ShareFlags, ShareType};
use filestone_wire::smb2::{
    Capabilities, Command, Dialect, FileId, HeaderFlags, SecurityMode, Status,
};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rounds of SESSION_SETUP at most: NTLM takes two.
const ROUNDS_MAX: usize = 8;
/// How long a connection waits before it looks again whether another one has made the session.
const LOOK_NANOS: u64 = 1_000_000;

/// Whether messages are signed, or encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// If the server wants it.
    #[default]
    IfAsked,
    /// In any case: a server without it is refused.
    Required,
    /// Not: a server that wants it is refused.
    Off,
}

/// What a client wants of a connection.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Dialects that are offered, the oldest first.
    pub dialects: Vec<Dialect>,
    /// Ciphers that are offered, the preferred one first.
    pub ciphers: Vec<Cipher>,
    /// ClientGuid.
    pub client_guid: [u8; 16],
    /// Salt of pre-authentication integrity.
    pub salt: [u8; 32],
    /// Whether messages are signed.
    pub signing: Protection,
    /// Whether they are encrypted.
    pub encryption: Protection,
    /// How users prove who they are.
    pub mechanisms: Arc<dyn Mechanisms>,
    /// `\\server\share`.
    pub share: String,
    /// The server's name, for NEGOTIATE.
    pub server: String,
    /// Connections of its session.
    pub channels: u32,
}

impl Terms {
    /// All dialects, the oldest first.
    pub const DIALECTS: [Dialect; 5] = [
        Dialect::SMB_2_0_2,
        Dialect::SMB_2_1,
        Dialect::SMB_3_0,
        Dialect::SMB_3_0_2,
        Dialect::SMB_3_1_1,
    ];

    fn capabilities(&self) -> Capabilities {
        let offers_3 = self
            .dialects
            .iter()
            .any(|dialect| dialect.0 >= Dialect::SMB_3_0.0);
        let mut capabilities = Capabilities::LARGE_MTU.with(Capabilities::LEASING);
        if offers_3 && self.encryption != Protection::Off {
            capabilities = capabilities.with(Capabilities::ENCRYPTION);
        }
        if offers_3 && self.channels > 1 {
            capabilities = capabilities.with(Capabilities::MULTI_CHANNEL);
        }
        capabilities
    }

    fn security_mode(&self) -> SecurityMode {
        match self.signing {
            Protection::Required => SecurityMode::SIGNING_REQUIRED,
            Protection::IfAsked | Protection::Off => SecurityMode::SIGNING_ENABLED,
        }
    }
}

/// At which step there is no way on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupStep {
    /// NEGOTIATE.
    Negotiate,
    /// SESSION_SETUP.
    SessionSetup,
    /// TREE_CONNECT.
    TreeConnect,
    /// SESSION_SETUP that binds a connection to the session of another.
    Bind,
    /// LOGOFF.
    LogOff,
    /// FSCTL_VALIDATE_NEGOTIATE_INFO.
    Validate,
}

/// Why a session has no more than one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OneChannel {
    /// The dialect has no more.
    #[error("the server chose dialect {0}, in which a session has one connection")]
    Dialect(Dialect),
    /// The server offers no more.
    #[error("the server offers one connection for a session (no multichannel)")]
    Server,
    /// A guest's session has no key that would prove whose it is.
    #[error("the server lets this user in as a guest, whose session has one connection")]
    Guest,
}

/// Why there is no connection to a share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotEstablished {
    /// The client cannot go on: the driver knows why.
    #[error("the connection was lost")]
    Lost,
    /// The connection is gone, and there may be another one.
    #[error("the connection was lost")]
    Reset,
    /// The server says no.
    #[error("{step:?} was answered {status}")]
    Refused {
        /// To what.
        step: SetupStep,
        /// How.
        status: Status,
    },
    /// The dialect is none of those that were offered.
    #[error("the server chose dialect {0}, which was not offered")]
    Dialect(Dialect),
    /// It takes no transfers.
    #[error("the server says that it takes {what} of {bytes} bytes at most")]
    Limits {
        /// Of what.
        what: &'static str,
        /// Bytes.
        bytes: u32,
    },
    /// What it wants, or does not offer, does not go with what was asked for.
    #[error("{0}")]
    Terms(&'static str),
    /// A session has no more than one connection, and more were asked for.
    #[error("{0}, and --connections-per-client asks for more")]
    OneChannel(OneChannel),
    /// Its token cannot be read.
    #[error("the server's token of SPNEGO: {0}")]
    Token(TokenError),
    /// The mechanism cannot go on.
    #[error("authentication: {0}")]
    Mechanism(MechanismError),
    /// Keys cannot be made.
    #[error("keys of the session: {0}")]
    Keys(String),
    /// The last response of SESSION_SETUP is not signed as it has to be.
    #[error(
        "the server's signature of the session does not verify: it does not know the password, or \
         messages are changed on the way"
    )]
    Forged,
    /// It asks for no proof of who the user is, and does not call him a guest either.
    #[error("the server lets the user in without asking for a proof, and not as a guest")]
    Unproven,
    /// The share is no directory.
    #[error("the share is no disk: {0}")]
    Share(ShareType),
    /// What was negotiated was changed on the way.
    #[error(
        "what was negotiated is not what the server says that it was: messages are changed on the way"
    )]
    Changed,
}

impl NotEstablished {
    /// As what became of an operation.
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Lost => Failure::Lost,
            Self::Reset => Failure::Reset,
            Self::Refused { status, .. } => status.into(),
            _ => Failure::refused(Cause::Other),
        }
    }
}

impl From<TokenError> for NotEstablished {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl From<MechanismError> for NotEstablished {
    fn from(error: MechanismError) -> Self {
        Self::Mechanism(error)
    }
}

type Result<T> = std::result::Result<T, NotEstablished>;

fn refused(step: SetupStep) -> impl Fn(Failure) -> NotEstablished {
    move |failure| match failure {
        Failure::Answered(crate::load::Status::Failed(status)) => NotEstablished::Refused {
            step,
            status: Status(status.number),
        },
        Failure::Reset => NotEstablished::Reset,
        Failure::Answered(_) | Failure::Lost => NotEstablished::Lost,
    }
}

/// A session.
#[derive(Debug, Clone)]
pub struct SetUp {
    /// SessionId.
    pub session_id: u64,
    /// Its keys, unless nobody was authenticated.
    pub keys: Option<Arc<SessionKeys>>,
    flags: SessionFlags,
    session_key: Option<[u8; 16]>,
}

impl SetUp {
    /// Messages of this session, before it is the connection's.
    pub fn scope(&self, tree_id: u32, protects: Protects) -> Scope {
        Scope::Other {
            session_id: self.session_id,
            tree_id,
            keys: self.keys.clone(),
            protects,
        }
    }
}

/// The way of one connection of a client to a share.
#[derive(Debug)]
pub struct Way {
    /// What it wants.
    pub terms: Terms,
    /// What its connection as it is now has come to, once it has.
    negotiated: Mutex<Option<Arc<Negotiated>>>,
    /// What it shares with the client's other connections.
    channels: Arc<Channels>,
    /// Which of them it is.
    channel: u32,
    /// The dialect that was spoken last.
    dialect: AtomicU16,
}

impl Way {
    /// That of a client's first connection, which was not gone yet.
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            negotiated: Mutex::new(None),
            channels: Arc::default(),
            channel: 0,
            dialect: AtomicU16::new(0),
        }
    }

    /// That of another connection of the same client.
    pub fn of_channel(&self, channel: u32, salt: [u8; 32]) -> Self {
        Self {
            terms: Terms {
                salt,
                ..self.terms.clone()
            },
            negotiated: Mutex::new(None),
            channels: Arc::clone(&self.channels),
            channel,
            dialect: AtomicU16::new(0),
        }
    }

    /// Which of the client's connections it is.
    pub const fn channel(&self) -> u32 {
        self.channel
    }

    /// The connection is gone, and the session with it if it was the last one.
    pub fn lose(&self) {
        self.channels.lose(self.channel);
        *self.noted() = None;
    }

    /// The dialect that is spoken, or was before its connection was lost.
    pub fn dialect(&self) -> Dialect {
        Dialect(self.dialect.load(Ordering::Relaxed))
    }

    /// Comes to a session as a connection does, with nobody on the other side.
    #[cfg(test)]
    pub(super) fn make_of_tests(&self) {
        let shared = super::channels::tests::session();
        self.note(&shared.negotiated);
        self.channels.made(self.channel, shared);
    }

    /// What its connection has come to.
    fn note(&self, negotiated: &Arc<Negotiated>) {
        self.dialect.store(negotiated.dialect.0, Ordering::Relaxed);
        *self.noted() = Some(Arc::clone(negotiated));
    }

    /// How often the session was gone: by which those who have something open see that it is, too.
    pub fn losses(&self) -> u32 {
        self.channels.losses()
    }

    fn noted(&self) -> MutexGuard<'_, Option<Arc<Negotiated>>> {
        // All slots of a client are on one thread, and nothing can panic while it is held.
        self.negotiated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs on once more over a connection that has been established, or is about to be, and off
/// again.
pub async fn log_on_and_off(link: Link, way: &Way) -> Result<()> {
    let terms = &way.terms;
    // The first request may wait for the next connection: what was agreed upon for that counts.
    let negotiated = || way.noted().clone().ok_or(NotEstablished::Reset);
    let (session, negotiated) = set_up(link, terms, Entry::Beside, negotiated).await?;
    let protects = protects(terms, &negotiated, &session)?;
    let logged_off = link.log_off(session.scope(0, protects)).await;
    logged_off.map_err(refused(SetupStep::LogOff))
}

/// What the keys of a session are used for.
fn protects(terms: &Terms, negotiated: &Negotiated, session: &SetUp) -> Result<Protects> {
    let signs = signs(terms, negotiated, session)?;
    Ok(if encrypts(terms, negotiated, session, false)? {
        Protects::Encrypts
    } else if signs {
        Protects::Signs
    } else {
        Protects::Nothing
    })
}

/// A tree on the terms, over a connection that is new: in a session of its own, or in that of the
/// client's other connections.
pub async fn establish(link: Link, way: &Way) -> Result<Established> {
    loop {
        let turn = match way.terms.channels {
            0 | 1 => Turn::Make,
            _ => way.channels.turn(way.channel),
        };
        match turn {
            Turn::Make => {
                let made = make(link, way).await?;
                let established = made.established.clone();
                way.channels.made(way.channel, made);
                return Ok(established);
            }
            Turn::Bind(session) => return bind(link, way, &session).await,
            Turn::Wait => link
                .pause(LOOK_NANOS)
                .await
                .map_err(refused(SetupStep::Bind))?,
        }
    }
}

/// A session, and a tree of it.
async fn make(link: Link, way: &Way) -> Result<Shared> {
    let terms = &way.terms;
    let negotiated = Arc::new(negotiate(link, terms).await?);
    way.note(&negotiated);
    let entry = Entry::After(way.channels.previous());
    let (session, _) = set_up(link, terms, entry, || Ok(Arc::clone(&negotiated))).await?;
    if terms.channels > 1 && session.keys.is_none() {
        return Err(NotEstablished::OneChannel(OneChannel::Guest));
    }
    let protects = match protects(terms, &negotiated, &session)? {
        // In 3.1.1 a TREE_CONNECT is signed in any case (section 3.2.4.1.1).
        Protects::Nothing if negotiated.dialect == Dialect::SMB_3_1_1 && session.keys.is_some() => {
            Protects::Signs
        }
        protects => protects,
    };
    let signs = signs(terms, &negotiated, &session)?;
    let mut encrypts = protects == Protects::Encrypts;
    let connected = link.tree_connect(&terms.share, session.scope(0, protects));
    let Tree { tree_id, share } = connected.await.map_err(refused(SetupStep::TreeConnect))?;
    if share.share_type != ShareType::DISK {
        return Err(NotEstablished::Share(share.share_type));
    }
    let share_encrypts = share.share_flags.contains(ShareFlags::ENCRYPT_DATA);
    encrypts |= self::encrypts(terms, &negotiated, &session, share_encrypts)?;
    let is_old = negotiated.dialect.0 < Dialect::SMB_3_1_1.0;
    let offered_3 = terms
        .dialects
        .iter()
        .any(|dialect| dialect.0 >= Dialect::SMB_3_0.0);
    if is_old && offered_3 && session.keys.is_some() {
        let protects = if encrypts {
            Protects::Encrypts
        } else {
            Protects::Signs
        };
        validate(link, terms, &negotiated, session.scope(tree_id, protects)).await?;
    }
    let established = Established {
        session_id: session.session_id,
        tree_id,
        signs,
        encrypts,
        large_mtu: negotiated.is_large_mtu(),
        charges: negotiated.dialect.0 > Dialect::SMB_2_0_2.0,
        limits: negotiated.limits,
        agreed: Agreed {
            dialect: negotiated.dialect,
            cipher: negotiated.cipher.filter(|_| encrypts),
            signing: signs.then_some(negotiated.signing),
            is_guest: session.flags.contains(SessionFlags::IS_GUEST),
            is_anonymous: session.flags.contains(SessionFlags::IS_NULL),
        },
        session_key: session.session_key,
        keys: session.keys,
        sequence: ChannelSequence::default(),
    };
    Ok(Shared {
        established,
        negotiated,
    })
}

/// One more connection of a session (section 3.2.5.3.3), by an authentication of its own: it has a
/// key of its own to sign with, and all else of the session's.
async fn bind(link: Link, way: &Way, session: &Arc<Shared>) -> Result<Established> {
    let (of_session, own) = (&session.negotiated, &session.established);
    // Only the dialect of the session is offered (section 3.2.4.2.2.2).
    let terms = Terms {
        dialects: vec![of_session.dialect],
        ..way.terms.clone()
    };
    let negotiated = Arc::new(negotiate(link, &terms).await?);
    way.note(&negotiated);
    if !negotiated.is_same(of_session) {
        return Err(NotEstablished::Terms(
            "the server agrees to other terms for one more connection than for the session",
        ));
    }
    let bound = set_up(link, &terms, Entry::Bind(own), || {
        Ok(Arc::clone(&negotiated))
    })
    .await;
    let gone = NotEstablished::Refused {
        step: SetupStep::Bind,
        status: Status::USER_SESSION_DELETED,
    };
    if bound.as_ref().err() == Some(&gone) {
        way.channels.forget(session);
    }
    let (bound, _) = bound?;
    if negotiated.dialect.0 < Dialect::SMB_3_1_1.0 {
        let protects = if own.encrypts {
            Protects::Encrypts
        } else {
            Protects::Signs
        };
        let scope = bound.scope(own.tree_id, protects);
        validate(link, &terms, &negotiated, scope).await?;
    }
    if !way.channels.bound(way.channel, session) {
        return Err(NotEstablished::Reset);
    }
    Ok(Established {
        keys: bound.keys,
        large_mtu: negotiated.is_large_mtu(),
        limits: negotiated.limits,
        session_key: None,
        ..own.clone()
    })
}

/// NEGOTIATE, on these terms.
pub async fn negotiate(link: Link, terms: &Terms) -> Result<Negotiated> {
    let negotiated = ask_to_negotiate(link, terms).await;
    let mut negotiated = negotiated.map_err(refused(SetupStep::Negotiate))??;
    let requires_signing = negotiated
        .security_mode
        .contains(SecurityMode::SIGNING_REQUIRED);
    if requires_signing && terms.signing == Protection::Off {
        return Err(NotEstablished::Terms(
            "the server wants all messages signed, and --sign off is given",
        ));
    }
    if !terms.dialects.contains(&negotiated.dialect) {
        return Err(NotEstablished::Dialect(negotiated.dialect));
    }
    if terms.channels > 1 {
        has_channels(&negotiated).map_err(NotEstablished::OneChannel)?;
    }
    for (what, bytes) in [
        ("reads", negotiated.limits.read),
        ("writes", negotiated.limits.write),
        ("requests", negotiated.limits.transact),
    ] {
        // What every server takes (section 3.3.5.4).
        if bytes < 4096 {
            return Err(NotEstablished::Limits { what, bytes });
        }
    }
    let is_3_0 = [Dialect::SMB_3_0, Dialect::SMB_3_0_2].contains(&negotiated.dialect);
    if is_3_0 && negotiated.capabilities.contains(Capabilities::ENCRYPTION) {
        negotiated.cipher = Some(Cipher::AES_128_CCM);
    }
    Ok(negotiated)
}

/// Whether a session can have several connections.
fn has_channels(negotiated: &Negotiated) -> std::result::Result<(), OneChannel> {
    if negotiated.dialect.0 < Dialect::SMB_3_0.0 {
        return Err(OneChannel::Dialect(negotiated.dialect));
    }
    let offers = negotiated
        .capabilities
        .contains(Capabilities::MULTI_CHANNEL);
    if offers {
        Ok(())
    } else {
        Err(OneChannel::Server)
    }
}

async fn ask_to_negotiate(link: Link, terms: &Terms) -> Step<Result<Negotiated>> {
    let algorithms = [
        SigningAlgorithm::AES_GMAC,
        SigningAlgorithm::AES_CMAC,
        SigningAlgorithm::HMAC_SHA256,
    ];
    let contexts = [
        Context::PreauthIntegrity {
            hash_algorithms: Array::from(&[HashAlgorithm::SHA_512][..]),
            salt: &terms.salt,
        },
        Context::Encryption(Array::from(&terms.ciphers[..])),
        Context::Signing(Array::from(&algorithms[..])),
        Context::Netname(Text::from(terms.server.as_str())),
    ];
    let is_3_1_1 = terms.dialects.contains(&Dialect::SMB_3_1_1);
    let contexts = if is_3_1_1 { &contexts[..] } else { &[] };
    let request = negotiate::Request {
        security_mode: terms.security_mode(),
        capabilities: terms.capabilities(),
        client_guid: terms.client_guid,
        dialects: Array::from(&terms.dialects[..]),
        contexts: Contexts::from(contexts),
    };
    let asked = link.send(
        |chaining| {
            let chaining = chaining.of(Scope::Connection).kept();
            chaining.request(Command::Negotiate, 0, &request).chain()
        },
        |results| {
            let message = results.bytes.to_vec();
            Ok(negotiated(results)?.map(|negotiated| negotiated.map(|it| (it, message))))
        },
    );
    Ok(asked.await?.map(|(mut negotiated, response)| {
        link.with_sent(|request| negotiated.preauth.add(request));
        negotiated.preauth.add(&response);
        negotiated
    }))
}

fn negotiated(results: Results<'_>) -> Decoded<Result<Negotiated>> {
    one(
        results,
        Command::Negotiate,
        |response: negotiate::Response<'_>| {
            let mut negotiated = Negotiated {
                dialect: response.dialect,
                capabilities: response.capabilities,
                security_mode: response.security_mode,
                server_guid: response.server_guid,
                limits: Limits {
                    read: response.max_read_size,
                    write: response.max_write_size,
                    transact: response.max_transact_size,
                },
                cipher: None,
                signing: if response.dialect.0 >= Dialect::SMB_3_0.0 {
                    SigningAlgorithm::AES_CMAC
                } else {
                    SigningAlgorithm::HMAC_SHA256
                },
                preauth: Preauth::default(),
            };
            if response.dialect != Dialect::SMB_3_1_1 {
                return Ok(negotiated);
            }
            let mut has_preauth = false;
            for context in response.contexts.iter() {
                match context {
                    Context::PreauthIntegrity {
                        hash_algorithms, ..
                    } => {
                        has_preauth = hash_algorithms.iter().eq([HashAlgorithm::SHA_512]);
                    }
                    Context::Encryption(ciphers) => {
                        negotiated.cipher = ciphers.iter().next().filter(|cipher| cipher.0 != 0);
                    }
                    Context::Signing(algorithms) => {
                        let chosen = algorithms.iter().next();
                        negotiated.signing = chosen.unwrap_or(negotiated.signing);
                    }
                    _ => {}
                }
            }
            if has_preauth {
                Ok(negotiated)
            } else {
                Err(NotEstablished::Terms(
                    "the server chose dialect 3.1.1 and no hash for pre-authentication integrity",
                ))
            }
        },
    )
}

/// One message of SESSION_SETUP, and the response to it.
struct Round {
    session_id: u64,
    /// Whether there is another one.
    goes_on: bool,
    flags: SessionFlags,
    token: Vec<u8>,
    request: Vec<u8>,
    /// The response, and whether it is signed.
    message: Vec<u8>,
    is_signed: bool,
}

impl Round {
    /// Whether a response that is not the last one is not known to be another's: one that binds is
    /// signed with the session's key, if at all.
    fn is_of_session(&self, binds_to: Option<&Established>) -> Result<()> {
        let keys = binds_to.and_then(|own| own.keys.as_ref());
        let is_forged = |keys: &Arc<SessionKeys>| {
            self.is_signed && !keys.signer.verify(&self.message, &mut Vec::new())
        };
        if keys.is_some_and(is_forged) {
            return Err(NotEstablished::Forged);
        }
        Ok(())
    }
}

/// For what a connection sets a session up.
#[derive(Debug, Clone, Copy)]
enum Entry<'s> {
    /// To be bound to this one.
    Bind(&'s Established),
    /// In place of one that is gone, if there was one: the server ends what it still has of it
    /// (section 3.3.5.5.3), which lets go of what was open there, or keeps it to be taken up again.
    After(u64),
    /// Beside its own.
    Beside,
}

/// SESSION_SETUP, in as many rounds as it takes; with what the connection came to, which
/// `negotiated` is asked for once the first of them is answered. It makes a session, or binds the
/// connection to one.
async fn set_up(
    link: Link,
    terms: &Terms,
    entry: Entry<'_>,
    negotiated: impl Fn() -> Result<Arc<Negotiated>>,
) -> Result<(SetUp, Arc<Negotiated>)> {
    let (binds_to, previous) = match entry {
        Entry::Bind(own) => (Some(own), 0),
        Entry::After(previous) => (None, previous),
        Entry::Beside => (None, 0),
    };
    let mut mechanism = terms.mechanisms.begin();
    let mechanisms = [spnego::Mechanism::NTLMSSP];
    let mut token = Vec::new();
    NegTokenInit::encode(&mechanisms, Some(&mechanism.first()?), &mut token);
    let mut hashed = None;
    let mut session_id = 0;
    let step = match binds_to {
        Some(_) => SetupStep::Bind,
        None => SetupStep::SessionSetup,
    };
    for _ in 0..ROUNDS_MAX {
        let scope = scope_of_setup(session_id, binds_to);
        let round = round(link, terms, scope, previous, &token);
        let round = round.await.map_err(refused(step))?;
        session_id = round.session_id;
        let (negotiated, mut preauth) = match hashed.take() {
            Some(hashed) => hashed,
            None => {
                let negotiated = negotiated()?;
                let preauth = negotiated.preauth.clone();
                (negotiated, preauth)
            }
        };
        preauth.add(&round.request);
        if !round.goes_on {
            let session = match binds_to {
                Some(own) => bound(own, &negotiated, &*mechanism, &round, &preauth)?,
                None => finished(terms, &negotiated, &*mechanism, &round, &preauth)?,
            };
            return Ok((session, negotiated));
        }
        round.is_of_session(binds_to)?;
        preauth.add(&round.message);
        hashed = Some((negotiated, preauth));
        let theirs = NegTokenResp::from_bytes(&round.token)?;
        let own = mechanism.next(theirs.response_token.unwrap_or_default())?;
        let mut types = Vec::new();
        spnego::encode_mech_types(&mechanisms, &mut types);
        let mic = mechanism.mic(&types)?;
        token.clear();
        let response = NegTokenResp {
            response_token: Some(&own),
            mech_list_mic: mic.as_deref(),
            ..NegTokenResp::default()
        };
        response.encode(&mut token);
    }
    Err(NotEstablished::Terms("the authentication comes to no end"))
}

/// Whose a SESSION_SETUP is: those that bind are signed with the key of the session (section
/// 3.2.4.1.1).
fn scope_of_setup(session_id: u64, binds_to: Option<&Established>) -> Scope {
    let (keys, protects) = match binds_to {
        Some(own) => (own.keys.clone(), Protects::Binds),
        None => (None, Protects::Nothing),
    };
    Scope::Other {
        session_id: binds_to.map_or(session_id, |own| own.session_id),
        tree_id: 0,
        keys,
        protects,
    }
}

async fn round(
    link: Link,
    terms: &Terms,
    scope: Scope,
    previous_session_id: u64,
    token: &[u8],
) -> Step<Round> {
    let binds = matches!(
        scope,
        Scope::Other {
            protects: Protects::Binds,
            ..
        }
    );
    let request = session_setup::Request {
        flags: if binds {
            SetupFlags::BINDING
        } else {
            SetupFlags::NONE
        },
        security_mode: terms.security_mode(),
        capabilities: Capabilities::NONE,
        channel: 0,
        previous_session_id,
        security_buffer: token,
    };
    let asked = link.send(
        |chaining| {
            let chaining = chaining.of(scope).kept();
            chaining.request(Command::SessionSetup, 0, &request).chain()
        },
        |results| {
            let header = Responses::of(results)
                .message()?
                .map(|message| message.header);
            let Some(header) = header else {
                return Err(Fault::Violation("SESSION_SETUP was not answered".into()));
            };
            one(
                results,
                Command::SessionSetup,
                |response: session_setup::Response<'_>| Round {
                    session_id: header.session_id,
                    goes_on: header.status == Status::MORE_PROCESSING_REQUIRED,
                    flags: response.session_flags,
                    token: response.security_buffer.to_vec(),
                    request: Vec::new(),
                    message: results.bytes.to_vec(),
                    is_signed: header.flags.contains(HeaderFlags::SIGNED),
                },
            )
        },
    );
    let mut round = asked.await?;
    link.with_sent(|request| round.request = request.to_vec());
    Ok(round)
}

/// The session that the last round has made.
fn finished(
    terms: &Terms,
    negotiated: &Negotiated,
    mechanism: &dyn Mechanism,
    round: &Round,
    preauth: &Preauth,
) -> Result<SetUp> {
    let is_nobody =
        round.flags.contains(SessionFlags::IS_GUEST) || round.flags.contains(SessionFlags::IS_NULL);
    let session_key = mechanism.session_key().filter(|_| !is_nobody);
    let mut session = SetUp {
        session_id: round.session_id,
        keys: None,
        flags: round.flags,
        session_key,
    };
    let Some(key) = session_key else {
        // Nobody has proved anything, neither the user nor the server.
        return if is_nobody || terms.mechanisms.is_anonymous() {
            Ok(session)
        } else {
            Err(NotEstablished::Unproven)
        };
    };
    let keys = SessionKeys::derive(&negotiated.material(&key, preauth))
        .map_err(|error| NotEstablished::Keys(error.to_string()))?;
    // In 3.x it is signed in any case (section 3.2.5.3.1).
    let has_to_be = negotiated.dialect.0 >= Dialect::SMB_3_0.0;
    let is_genuine = if round.is_signed {
        keys.signer.verify(&round.message, &mut Vec::new())
    } else {
        !has_to_be
    };
    if !is_genuine {
        return Err(NotEstablished::Forged);
    }
    session.keys = Some(Arc::new(keys));
    Ok(session)
}

/// The session, as the last round has bound the connection to it.
fn bound(
    own: &Established,
    negotiated: &Negotiated,
    mechanism: &dyn Mechanism,
    round: &Round,
    preauth: &Preauth,
) -> Result<SetUp> {
    let is_nobody =
        round.flags.contains(SessionFlags::IS_GUEST) || round.flags.contains(SessionFlags::IS_NULL);
    let key = mechanism.session_key().filter(|_| !is_nobody);
    let (Some(key), Some(of_session)) = (key, &own.keys) else {
        return Err(NotEstablished::OneChannel(OneChannel::Guest));
    };
    let keys = of_session
        .derive_for_channel(&negotiated.material(&key, preauth))
        .map_err(|error| NotEstablished::Keys(error.to_string()))?;
    // It is signed with the key that it is about (section 3.2.5.1.3).
    if !round.is_signed || !keys.signer.verify(&round.message, &mut Vec::new()) {
        return Err(NotEstablished::Forged);
    }
    Ok(SetUp {
        session_id: own.session_id,
        keys: Some(Arc::new(keys)),
        flags: round.flags,
        session_key: None,
    })
}

fn signs(terms: &Terms, negotiated: &Negotiated, session: &SetUp) -> Result<bool> {
    let is_wanted = negotiated
        .security_mode
        .contains(SecurityMode::SIGNING_REQUIRED);
    match (terms.signing, &session.keys) {
        (Protection::Required, None) => Err(NotEstablished::Terms(
            "the server lets this user in as a guest, whose messages cannot be signed, and --sign is \
             given",
        )),
        (Protection::Required, Some(_)) => Ok(true),
        (Protection::IfAsked, keys) => Ok(is_wanted && keys.is_some()),
        (Protection::Off, _) => Ok(false),
    }
}

fn encrypts(
    terms: &Terms,
    negotiated: &Negotiated,
    session: &SetUp,
    share_wants_it: bool,
) -> Result<bool> {
    let is_wanted = share_wants_it || session.flags.contains(SessionFlags::ENCRYPT_DATA);
    let sealer = session.keys.as_ref().and_then(|keys| keys.sealer.as_ref());
    match (terms.encryption, sealer) {
        (Protection::Off, _) if is_wanted => Err(NotEstablished::Terms(
            "the server wants all messages encrypted, and --encrypt off is given",
        )),
        (Protection::Off, _) => Ok(false),
        (Protection::IfAsked, _) if !is_wanted => Ok(false),
        (_, Some(_)) => Ok(true),
        (_, None) if session.keys.is_none() => Err(NotEstablished::Terms(
            "the server lets this user in as a guest, whose messages cannot be encrypted",
        )),
        (_, None) if negotiated.dialect.0 < Dialect::SMB_3_0.0 => Err(NotEstablished::Terms(
            "encryption needs dialect 3.0 or later, and the server chose an older one",
        )),
        (_, None) => Err(NotEstablished::Terms(
            "the server has no cipher in common with this client",
        )),
    }
}

/// FSCTL_VALIDATE_NEGOTIATE_INFO (section 3.2.5.5): what was said before there was a key, once
/// more.
async fn validate(link: Link, terms: &Terms, negotiated: &Negotiated, scope: Scope) -> Result<()> {
    let input = ValidateNegotiateRequest {
        capabilities: terms.capabilities(),
        guid: terms.client_guid,
        security_mode: terms.security_mode(),
        dialects: Array::from(&terms.dialects[..]),
    }
    .to_bytes();
    let request = ioctl::Request {
        control_code: ControlCode::VALIDATE_NEGOTIATE_INFO,
        file_id: FileId::OF_PREVIOUS,
        max_input_response: 0,
        max_output_response: 24,
        flags: ioctl::Request::IS_FSCTL,
        input: &input,
    };
    let asked = link.send(
        |chaining| {
            let chaining = chaining.of(scope);
            chaining.request(Command::Ioctl, 0, &request).chain()
        },
        |results| {
            one(results, Command::Ioctl, |response: ioctl::Response<'_>| {
                ValidateNegotiateResponse::from_bytes(response.output)
            })
        },
    );
    let said = match asked.await {
        Ok(said) => said.map_err(|_| NotEstablished::Changed)?,
        // A server that does not know it has still signed its answer.
        Err(Failure::Answered(_)) => return Ok(()),
        Err(failure) => return Err(refused(SetupStep::Validate)(failure)),
    };
    let is_same = said.dialect == negotiated.dialect
        && said.capabilities == negotiated.capabilities
        && said.guid == negotiated.server_guid
        && said.security_mode == negotiated.security_mode;
    if is_same {
        Ok(())
    } else {
        Err(NotEstablished::Changed)
    }
}
