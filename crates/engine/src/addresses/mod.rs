//! The addresses of this host, as its kernel lists them, and changes of them.
//!
//! What is to be changed is decided in [`filestone_measure::addresses`]; here it is asked of the kernel, by
//! rtnetlink (RFC 3549; rtnetlink(7)).

mod execute;
mod listing;
mod netlink;

pub use execute::execute;
pub(crate) use listing::interfaces;
pub use listing::list;
pub(crate) use netlink::Netlink;

use crate::error::{AreaError, ErrorCategory};
use filestone_measure::addresses::{AddressChange, AddressObstacle};
use std::io;

/// The kernel did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum NetlinkError {
    /// Something is missing, or in the way.
    #[error("{0}")]
    Obstacle(#[from] AddressObstacle),
    /// It could not be asked.
    #[error("cannot {what}: {source}")]
    Socket {
        /// What was tried.
        what: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// What it says cannot be read.
    #[error("what the kernel says of this host's {what} cannot be read: {why}")]
    Unreadable {
        /// Of what.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// This process may not.
    #[error("this process may not change the addresses of this host ({change})")]
    NotAllowed {
        /// What was tried.
        change: Box<AddressChange>,
    },
    /// It refused a change.
    #[error("{change}: {source}")]
    Refused {
        /// What was tried.
        change: Box<AddressChange>,
        /// What it said.
        source: io::Error,
    },
}

impl AreaError for NetlinkError {
    fn category(&self) -> ErrorCategory {
        match self {
            NetlinkError::Obstacle(obstacle) if obstacle.is_usage() => ErrorCategory::Usage,
            _ => ErrorCategory::Environment,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            NetlinkError::Obstacle(obstacle) => Some(obstacle.help()),
            NetlinkError::NotAllowed { .. } => Some(
                "run it as root, or with CAP_NET_ADMIN; MAC-VLANs are also set up in /proc/sys"
                    .into(),
            ),
            NetlinkError::Refused { .. } => {
                Some("`filestone fleet addresses down` removes what was made up to there".into())
            }
            NetlinkError::Socket { .. } | NetlinkError::Unreadable { .. } => None,
        }
    }
}
