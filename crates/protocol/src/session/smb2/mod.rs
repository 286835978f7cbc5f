//! SMB2 and SMB3 over one connection, without I/O.
//!
//! | file | content |
//! |---|---|
//! | `connection` | matching of responses to requests, protection of messages |
//! | `chain` | requests sent together |
//! | `limits` | request size limits |
//! | `slots`, `pending_requests`, `credits` | outstanding requests and their MessageIds; permission to send |
//! | `template` | requests that are sent repeatedly |
//! | `mechanism` | authentication of a user |

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

pub use chain::{BYTES_OF_CREDIT, CompoundPart, CompoundRequest, KeyUse, PARTS_MAX, Scope};
pub use connection::{
    ChannelSequence, Established, NegotiatedSummary, OutgoingCompound, Smb2Options, Smb2Session,
    SmbStreamError,
};
pub use limits::SmbTransferLimits;
pub use mechanism::{AuthMechanism, MechanismError, Mechanisms};
pub use slots::{CompletedCompound, CompoundResponse};
pub use template::Template;

#[cfg(test)]
mod tests;
