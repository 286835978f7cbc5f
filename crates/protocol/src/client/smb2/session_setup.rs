//! SESSION_SETUP: a session, or one more connection of a session (MS-SMB2, sections 3.2.4.2.3 and
//! 3.2.5.3).

use super::connect_options::{
    ConnectError, ConnectOptions, MultichannelUnavailable, Result, SetupStep, refused,
};
use super::link::{CompoundResponses, SmbCallHandle, SmbReplyError, one};
use super::negotiated::{EstablishedSession, Negotiated};
use super::protection_policy::security_mode;
use crate::client::call_slot::ActionResult;
use crate::session::smb2::{AuthMechanism, Established, KeyUse, Preauth, Scope, SessionKeys};
use filestone_wire::smb2::session_setup::{self, SessionFlags, SetupFlags};
use filestone_wire::smb2::spnego::{self, NegTokenInit, NegTokenResp};
use filestone_wire::smb2::{Capabilities, Command, Dialect, HeaderFlags, Status};
use std::sync::Arc;

/// Maximum number of rounds: NTLM takes two.
const ROUNDS_MAX: usize = 8;

/// A SESSION_SETUP request, and its response.
struct Round {
    session_id: u64,
    /// Whether another round follows.
    goes_on: bool,
    flags: SessionFlags,
    token: Vec<u8>,
    request: Vec<u8>,
    /// The response, and whether it is signed.
    message: Vec<u8>,
    is_signed: bool,
}

impl Round {
    /// Returns whether the session is a guest or anonymous one: neither has a key.
    fn is_unowned(&self) -> bool {
        self.flags.contains(SessionFlags::IS_GUEST) || self.flags.contains(SessionFlags::IS_NULL)
    }

    /// Returns an error if a response other than the last is forged: a response to a binding
    /// request is signed with the session's key, if it is signed at all.
    fn is_of_session(&self, binds_to: Option<&Established>) -> Result<()> {
        let keys = binds_to.and_then(|own| own.keys.as_ref());
        let is_forged = |keys: &Arc<SessionKeys>| {
            self.is_signed && !keys.signer.verify(&self.message, &mut Vec::new())
        };
        if keys.is_some_and(is_forged) {
            return Err(ConnectError::Forged);
        }
        Ok(())
    }
}

/// Purpose of a session setup.
#[derive(Debug, Clone, Copy)]
pub(super) enum SessionSetupKind<'s> {
    /// Binds the connection to this session.
    Bind(&'s Established),
    /// Replaces a lost session, if the SessionId is not 0: the server ends its state (section
    /// 3.3.5.5.3) and releases the opens in it, or keeps them for a reclaim.
    Reconnect(u64),
    /// Creates an additional session on the connection.
    Additional,
}

/// Runs SESSION_SETUP in as many rounds as required, to create a session or bind the connection to
/// one. Also returns the negotiated parameters of the connection, from `negotiated`, which is
/// called after the first response.
pub(super) async fn set_up(
    link: SmbCallHandle,
    terms: &ConnectOptions,
    entry: SessionSetupKind<'_>,
    negotiated: impl Fn() -> Result<Arc<Negotiated>>,
) -> Result<(EstablishedSession, Arc<Negotiated>)> {
    let (binds_to, previous) = match entry {
        SessionSetupKind::Bind(own) => (Some(own), 0),
        SessionSetupKind::Reconnect(previous) => (None, previous),
        SessionSetupKind::Additional => (None, 0),
    };
    let mut mechanism = terms.mechanisms.start();
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
    Err(ConnectError::Terms("the authentication does not end"))
}

/// Returns the scope of a SESSION_SETUP: binding requests are signed with the key of the session
/// (section 3.2.4.1.1).
fn scope_of_setup(session_id: u64, binds_to: Option<&Established>) -> Scope {
    let (keys, protects) = match binds_to {
        Some(own) => (own.keys.clone(), KeyUse::Binds),
        None => (None, KeyUse::Nothing),
    };
    Scope::Other {
        session_id: binds_to.map_or(session_id, |own| own.session_id),
        tree_id: 0,
        keys,
        protects,
    }
}

async fn round(
    link: SmbCallHandle,
    terms: &ConnectOptions,
    scope: Scope,
    previous_session_id: u64,
    token: &[u8],
) -> ActionResult<Round> {
    let binds = matches!(
        scope,
        Scope::Other {
            protects: KeyUse::Binds,
            ..
        }
    );
    let request = session_setup::Request {
        flags: if binds {
            SetupFlags::BINDING
        } else {
            SetupFlags::NONE
        },
        security_mode: security_mode(terms),
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
            let header = CompoundResponses::of(results)
                .message()?
                .map(|message| message.header);
            let Some(header) = header else {
                return Err(SmbReplyError::Violation(
                    "SESSION_SETUP was not answered".into(),
                ));
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

/// Returns the session that the last round has created.
fn finished(
    terms: &ConnectOptions,
    negotiated: &Negotiated,
    mechanism: &dyn AuthMechanism,
    round: &Round,
    preauth: &Preauth,
) -> Result<EstablishedSession> {
    let is_nobody = round.is_unowned();
    let session_key = mechanism.session_key().filter(|_| !is_nobody);
    let mut session = EstablishedSession {
        session_id: round.session_id,
        keys: None,
        flags: round.flags,
        session_key,
    };
    let Some(key) = session_key else {
        // Neither the user nor the server was authenticated.
        return if is_nobody || terms.mechanisms.is_anonymous() {
            Ok(session)
        } else {
            Err(ConnectError::Unproven)
        };
    };
    let keys = SessionKeys::derive(&negotiated.material(&key, preauth))
        .map_err(|error| ConnectError::Keys(error.to_string()))?;
    // In 3.x the last response is always signed (section 3.2.5.3.1).
    let has_to_be = negotiated.dialect.0 >= Dialect::SMB_3_0.0;
    let is_genuine = if round.is_signed {
        keys.signer.verify(&round.message, &mut Vec::new())
    } else {
        !has_to_be
    };
    if !is_genuine {
        return Err(ConnectError::Forged);
    }
    session.keys = Some(Arc::new(keys));
    Ok(session)
}

/// Returns the session to which the last round has bound the connection.
fn bound(
    own: &Established,
    negotiated: &Negotiated,
    mechanism: &dyn AuthMechanism,
    round: &Round,
    preauth: &Preauth,
) -> Result<EstablishedSession> {
    let key = mechanism.session_key().filter(|_| !round.is_unowned());
    let (Some(key), Some(of_session)) = (key, &own.keys) else {
        return Err(ConnectError::OneChannel(MultichannelUnavailable::Guest));
    };
    let keys = of_session
        .derive_for_channel(&negotiated.material(&key, preauth))
        .map_err(|error| ConnectError::Keys(error.to_string()))?;
    // The response is signed with the new key (section 3.2.5.1.3).
    if !round.is_signed || !keys.signer.verify(&round.message, &mut Vec::new()) {
        return Err(ConnectError::Forged);
    }
    Ok(EstablishedSession {
        session_id: own.session_id,
        keys: Some(Arc::new(keys)),
        flags: round.flags,
        session_key: None,
    })
}
