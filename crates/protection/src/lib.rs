//! Authentication by NTLM (MS-NLMP), and the protection of SMB's messages: keys, signatures and
//! encryption (MS-SMB2, section 3.1.4), for clients and for servers, without I/O and without random
//! numbers.
//!
//! | file | what is in it |
//! |---|---|
//! | `keys` | what the keys of a session are derived from, and those keys |
//! | `names` | names of users in capitals, of which keys are derived |
//! | `ntlm` | NTLMv2, both sides |
//! | `preauth` | pre-authentication integrity of 3.1.1, on which its keys depend |
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
