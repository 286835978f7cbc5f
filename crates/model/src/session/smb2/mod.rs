//! SMB2 and SMB3 over one connection, without I/O.
//!
//! | file | what is in it |
//! |---|---|
//! | `connection` | which response answers which request, and what protects messages |
//! | `chain` | what goes out together |
//! | `slots`, `places`, `credits` | what is under way, and by which number; permission to send |
//! | `template` | requests that go out again and again |
//! | `mechanism` | how a user proves who he is |

mod chain;
mod connection;
mod credits;
mod mechanism;
mod places;
mod slots;
mod template;

pub use filestone_protection::{
    Forged, KeyError, KeyMaterial, Opened, Opener, Preauth, Sealer, SessionKeys, Signer,
};

pub use chain::{Chain, PARTS_MAX, Part, Protects, Scope};
pub use connection::{
    Agreed, ChannelSequence, Established, Limits, NotSmb, Sending, Smb2Options, Smb2Session,
};
pub use mechanism::{Mechanism, MechanismError, Mechanisms};
pub use slots::{Answered, Exchange};
pub use template::Template;

#[cfg(test)]
mod tests;
