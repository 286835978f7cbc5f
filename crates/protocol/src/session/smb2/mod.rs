//! SMB2 and SMB3 over one connection, without I/O.
//!
//! | file | what is in it |
//! |---|---|
//! | `connection` | which response answers which request, and what protects messages |
//! | `chain` | what goes out together |
//! | `limits` | what a server takes at once |
//! | `slots`, `pending_requests`, `credits` | what is under way, and by which number; permission to send |
//! | `template` | requests that go out again and again |
//! | `mechanism` | how a user proves who he is |

mod chain;
mod connection;
mod credits;
mod limits;
mod mechanism;
mod pending_requests;
mod slots;
mod template;

pub use filestone_protection::{
    DecryptBuffer, DecryptError, KeyError, KeyMaterial, OpeningKey, Preauth, SealingKey,
    SessionKeys, SigningKey, ntlm,
};

pub use chain::{BYTES_OF_CREDIT, CompoundRequest, KeyUse, PARTS_MAX, Part, Scope};
pub use connection::{
    ChannelSequence, Established, NegotiatedSummary, OutgoingCompound, Smb2Options, Smb2Session,
    SmbStreamError,
};
pub use limits::Limits;
pub use mechanism::{Mechanism, MechanismError, Mechanisms};
pub use slots::{CompoundResponse, Exchange};
pub use template::Template;

#[cfg(test)]
mod tests;
