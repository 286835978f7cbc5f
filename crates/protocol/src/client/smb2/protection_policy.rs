//! Signing and encryption: the decision for a connection, from the options and the answers of the
//! server (MS-SMB2, sections 3.2.4.1.1, 3.2.4.1.8 and 3.2.5.3.1).

use super::connect_options::{ConnectError, ConnectOptions, Result};
use super::negotiated::{EstablishedSession, Negotiated};
use crate::session::smb2::KeyUse;
use filestone_plan::plan::SmbProtection;
use filestone_wire::smb2::session_setup::SessionFlags;
use filestone_wire::smb2::{Capabilities, Dialect, SecurityMode};

/// Returns the capabilities for NEGOTIATE.
pub(super) fn capabilities(terms: &ConnectOptions) -> Capabilities {
    let offers_3 = terms
        .dialects
        .iter()
        .any(|dialect| dialect.0 >= Dialect::SMB_3_0.0);
    let mut capabilities = Capabilities::LARGE_MTU.with(Capabilities::LEASING);
    if offers_3 && terms.encryption != SmbProtection::Off {
        capabilities = capabilities.with(Capabilities::ENCRYPTION);
    }
    if offers_3 && terms.channels > 1 {
        capabilities = capabilities.with(Capabilities::MULTI_CHANNEL);
    }
    capabilities
}

/// Returns the security mode for NEGOTIATE and SESSION_SETUP.
pub(super) fn security_mode(terms: &ConnectOptions) -> SecurityMode {
    match terms.signing {
        SmbProtection::Required => SecurityMode::SIGNING_REQUIRED,
        SmbProtection::IfRequired | SmbProtection::Off => SecurityMode::SIGNING_ENABLED,
    }
}

/// Returns an error if the server requires signatures and the options exclude them.
pub(super) fn accepts_signing(terms: &ConnectOptions, negotiated: &Negotiated) -> Result<()> {
    if requires_signing(negotiated) && terms.signing == SmbProtection::Off {
        return Err(ConnectError::Terms(
            "the server wants all messages signed, and --sign off is given",
        ));
    }
    Ok(())
}

fn requires_signing(negotiated: &Negotiated) -> bool {
    let mode = negotiated.security_mode;
    mode.contains(SecurityMode::SIGNING_REQUIRED)
}

/// Returns the use of a session's keys.
pub(super) fn protects(
    terms: &ConnectOptions,
    negotiated: &Negotiated,
    session: &EstablishedSession,
) -> Result<KeyUse> {
    let signs = signs(terms, negotiated, session)?;
    Ok(if encrypts(terms, negotiated, session, false)? {
        KeyUse::Encrypts
    } else if signs {
        KeyUse::Signs
    } else {
        KeyUse::Nothing
    })
}

/// Returns whether messages are signed.
pub(super) fn signs(
    terms: &ConnectOptions,
    negotiated: &Negotiated,
    session: &EstablishedSession,
) -> Result<bool> {
    let is_wanted = requires_signing(negotiated);
    match (terms.signing, &session.keys) {
        (SmbProtection::Required, None) => Err(ConnectError::Terms(
            "the server lets this user in as a guest, whose messages cannot be signed, and --sign is \
             given",
        )),
        (SmbProtection::Required, Some(_)) => Ok(true),
        (SmbProtection::IfRequired, keys) => Ok(is_wanted && keys.is_some()),
        (SmbProtection::Off, _) => Ok(false),
    }
}

/// Returns whether messages are encrypted.
pub(super) fn encrypts(
    terms: &ConnectOptions,
    negotiated: &Negotiated,
    session: &EstablishedSession,
    share_wants_it: bool,
) -> Result<bool> {
    let is_wanted = share_wants_it || session.flags.contains(SessionFlags::ENCRYPT_DATA);
    let sealer = session.keys.as_ref().and_then(|keys| keys.sealer.as_ref());
    match (terms.encryption, sealer) {
        (SmbProtection::Off, _) if is_wanted => Err(ConnectError::Terms(
            "the server wants all messages encrypted, and --encrypt off is given",
        )),
        (SmbProtection::Off, _) => Ok(false),
        (SmbProtection::IfRequired, _) if !is_wanted => Ok(false),
        (_, Some(_)) => Ok(true),
        (_, None) if session.keys.is_none() => Err(ConnectError::Terms(
            "the server lets this user in as a guest, whose messages cannot be encrypted",
        )),
        (_, None) if negotiated.dialect.0 < Dialect::SMB_3_0.0 => Err(ConnectError::Terms(
            "encryption needs dialect 3.0 or later, and the server chose an older one",
        )),
        (_, None) => Err(ConnectError::Terms(
            "the server has no cipher in common with this client",
        )),
    }
}
