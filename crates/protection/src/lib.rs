//! NTLM authentication (MS-NLMP), and protection of SMB messages: keys, signatures and encryption
//! (MS-SMB2, section 3.1.4), for clients and servers, without I/O and without random numbers.
//!
//! | file | content |
//! |---|---|
//! | `keys` | derivation of the keys of a session |
//! | `names` | user names in upper case, as input of the key derivation |
//! | `ntlm` | NTLMv2, both sides |
//! | `preauth` | pre-authentication integrity of 3.1.1, an input of its keys |
//! | `signing` | signatures |
//! | `sealing` | encryption |

#![forbid(unsafe_code)]

mod keys;
#[cfg(test)]
mod known_answers;
mod names;
pub mod ntlm;
mod preauth;
mod sealing;
mod signing;

pub use keys::{KeyError, KeyMaterial, SessionKeys};
pub use names::upcased;
pub use preauth::Preauth;
pub use sealing::{DecryptBuffer, DecryptError, OpeningKey, SealingKey};
pub use signing::SigningKey;
