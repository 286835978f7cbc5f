//! Authentication mechanism as a session uses it: tokens in and out.

use std::fmt::Debug;

/// Error of an authentication mechanism.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MechanismError(pub String);

/// The client's side of one authentication, in raw tokens of its mechanism; `wire::smb2::spnego`
/// wraps them.
pub trait AuthMechanism: Send {
    /// Returns the first token.
    fn first(&mut self) -> Result<Vec<u8>, MechanismError>;

    /// Returns the token that answers the server's.
    fn next(&mut self, challenge: &[u8]) -> Result<Vec<u8>, MechanismError>;

    /// Returns the key from which the session keys are derived, once the last token is made. `None`
    /// for an unauthenticated session.
    fn session_key(&self) -> Option<[u8; 16]>;

    /// Returns mechListMIC: the signature of the DER of MechTypeList (RFC 4178, section 5), once
    /// the last token is made. `None` without a session key.
    fn mic(&mut self, mech_types: &[u8]) -> Result<Option<Vec<u8>>, MechanismError>;
}

/// Creates one authentication exchange per session for a user.
pub trait Mechanisms: Send + Sync + Debug {
    /// Begins an authentication.
    fn start(&self) -> Box<dyn AuthMechanism>;

    /// Returns whether the authentication is anonymous, so that there will be no key.
    fn is_anonymous(&self) -> bool {
        false
    }
}
