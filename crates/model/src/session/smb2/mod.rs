//! SMB2 and SMB3 over one connection, without I/O.
//!
//! | file | what is in it |
//! |---|---|
//! | `connection` | which response answers which request, and what protects messages |
//! | `chain` | what goes out together |
//! | `slots`, `credits` | what is under way; permission to send |
//! | `keys`, `signing`, `sealing`, `preauth` | cryptography |
//! | `mechanism` | how a user proves who he is |

mod chain;
mod connection;
mod credits;
mod keys;
#[cfg(test)]
mod known_answers;
mod mechanism;
mod preauth;
mod sealing;
mod signing;
mod slots;

pub use chain::{Chain, PARTS_MAX, Part, Protects, Scope};
pub use connection::{
    Agreed, ChannelSequence, Established, Limits, NotSmb, Sending, Smb2Options, Smb2Session,
};
pub use keys::{KeyError, KeyMaterial, SessionKeys};
pub use mechanism::{Mechanism, MechanismError, Mechanisms};
pub use preauth::Preauth;
pub use sealing::{Forged, Opened, Opener, Sealer};
pub use signing::Signer;
pub use slots::{Answered, Exchange};

#[cfg(test)]
mod tests;
