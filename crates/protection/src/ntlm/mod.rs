//! NTLMv2 (MS-NLMP) without I/O and without random numbers: both sides of an authentication, and
//! the resulting shared key. LM and NTLMv1 are refused.
//!
//! | file | content |
//! |---|---|
//! | `initiator` | the client: NEGOTIATE_MESSAGE and AUTHENTICATE_MESSAGE |
//! | `acceptor` | the server: CHALLENGE_MESSAGE, and verification of a client's password |
//! | `messages` | fields and AV_PAIRs of the messages |
//! | `keys` | NTOWFv2, HMAC-MD5, RC4 and the signatures of a session |

mod acceptor;
mod initiator;
mod keys;
mod messages;

pub use acceptor::{Acceptor, AuthIdentity, Authentication};
pub use initiator::{ChallengeError, Initiator, RandomInput};
pub use keys::{AuthenticationResult, KEY_LEN, SigningSide};
pub use messages::{BadToken, is_message};

#[cfg(test)]
mod tests;
