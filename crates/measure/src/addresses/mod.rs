//! Additional addresses of this host that clients connect from, created and removed by `filestone
//! fleet addresses`.
//!
//! Pure functions: they take a listing of the host's configuration and return the changes. No state
//! is kept elsewhere. Each object carries a mark in the kernel from the moment it is created, so
//! that exactly the objects of filestone can be found and removed, also after a crash:
//!
//! | object | mark |
//! |---|---|
//! | a MAC-VLAN, with its address and its routes | its group (IFLA_GROUP) |
//! | another address | its protocol (IFA_PROTO, since Linux 5.18) |
//! | a route, a rule | its protocol (rtm_protocol, FRA_PROTOCOL) |

pub mod advice;
mod change;
mod group;
mod listing;
mod make;
mod network;
mod obstacle;
mod owned;
mod remove;

pub use change::{AddressChange, AddressItem};
pub use group::{AddressGroup, AddressMethod, MacVlanMode};
pub use listing::{AddressListing, ListedAddress, ListedLink, ListedRoute, ListedRule, MacVlanOf};
pub use make::{MacVlanNaming, to_make};
pub use network::Network;
pub use obstacle::AddressObstacle;
pub use owned::{OwnedAddresses, OwnedAliases, OwnedMacVlan};
pub use remove::to_remove;

/// Group of filestone's MAC-VLANs: `file` in ASCII.
pub const LINK_GROUP: u32 = 0x6669_6c65;
/// Protocol number of filestone's addresses, routes and rules, used by no routing daemon.
pub const PROTOCOL: u8 = 102;
/// First routing table of MAC-VLANs: number n has this table plus n.
pub const TABLE_FIRST: u32 = 0x6669_0000;
/// Priority of filestone's rules, before that of the main table (32766).
pub const RULE_PRIORITY: u32 = 30_000;
/// Routing table of local addresses.
pub const LOCAL_TABLE: u32 = 255;
/// Maximum number of MAC-VLANs.
pub const MAC_VLANS_MAX: u32 = 10_000;
/// Maximum number of aliases.
pub const ALIASES_MAX: u32 = 65_536;

#[cfg(test)]
mod tests;
