//! The addresses of this host, as its kernel lists them, and changes of them.
//!
//! [`filestone_measure::addresses`] decides on the changes; this module requests them from the
//! kernel by rtnetlink (RFC 3549; rtnetlink(7)).

mod execute;
mod listing;
mod message;
mod netlink;

pub use execute::execute;
pub(crate) use listing::interfaces;
pub use listing::list;
pub(crate) use message::{LINK_INDEX, RouteMessage};
pub(crate) use netlink::Netlink;

use crate::error::{AreaError, ErrorCategory};
use filestone_measure::addresses::{AddressChange, AddressObstacle};
use std::io;

/// Error returned when addresses of this host cannot be listed or changed.
#[derive(Debug, thiserror::Error)]
pub enum NetlinkError {
    /// Something is missing or gets in the way.
    #[error("{0}")]
    Obstacle(#[from] AddressObstacle),
    /// The rtnetlink socket failed.
    #[error("cannot {what}: {source}")]
    Socket {
        /// The attempted action.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A reply of the kernel cannot be decoded.
    #[error("what the kernel says of this host's {what} cannot be read: {why}")]
    Unreadable {
        /// The listed objects.
        what: &'static str,
        /// Cause.
        why: String,
    },
    /// This process lacks the permission for a change.
    #[error("this process may not change the addresses of this host ({change})")]
    NotAllowed {
        /// The change.
        change: Box<AddressChange>,
    },
    /// The kernel refused a change.
    #[error("{change}: {source}")]
    Refused {
        /// The change.
        change: Box<AddressChange>,
        /// Error of the kernel.
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
