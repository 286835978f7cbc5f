//! How a user proves who he is, as far as a session is concerned: tokens in and out.

use std::fmt::Debug;

/// A mechanism could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MechanismError(pub String);

/// The client's side of one authentication, in raw tokens of its mechanism: what stands around
/// them is `wire::smb2::spnego`.
pub trait Mechanism: Send {
    /// The token to begin with.
    fn first(&mut self) -> Result<Vec<u8>, MechanismError>;

    /// The token that answers the server's.
    fn next(&mut self, challenge: &[u8]) -> Result<Vec<u8>, MechanismError>;

    /// What keys are derived from, once the last token is made. None if nobody was authenticated.
    fn session_key(&self) -> Option<[u8; 16]>;

    /// mechListMIC: the signature of the DER of MechTypeList (RFC 4178, section 5), once the last
    /// token is made. None without a session key.
    fn mic(&mut self, mech_types: &[u8]) -> Result<Option<Vec<u8>>, MechanismError>;
}

/// A mechanism with a user, of which each session has an authentication of its own.
pub trait Mechanisms: Send + Sync + Debug {
    /// Begins an authentication.
    fn start(&self) -> Box<dyn Mechanism>;

    /// Whether it is nobody who authenticates, so that there will be no key.
    fn is_anonymous(&self) -> bool {
        false
    }
}
