//! Addresses of this host that clients connect from, beyond those that it has: what `filestone fleet
//! addresses` makes and removes.
//!
//! Pure: a listing of what the host has comes in as an argument, and what is to be changed comes out.
//! Nothing is remembered elsewhere. What was made carries a mark in the kernel itself from the very
//! moment that it is there, so that all of it is found and removed, also after a crash, and nothing
//! else:
//!
//! | what | mark |
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

/// The group of our MAC-VLANs, whose name is `file` in ASCII.
pub const LINK_GROUP: u32 = 0x6669_6c65;
/// The protocol of our addresses, routes and rules: one that no routing daemon has.
pub const PROTOCOL: u8 = 102;
/// Tables of routes of MAC-VLANs begin here: number n of them has this one plus n.
pub const TABLE_FIRST: u32 = 0x6669_0000;
/// Where our rules stand: before that of the main table, which is 32766.
pub const RULE_PRIORITY: u32 = 30_000;
/// The table of addresses of this host.
pub const LOCAL_TABLE: u32 = 255;
/// MAC-VLANs at most.
pub const MAC_VLANS_MAX: u32 = 10_000;
/// Aliases at most.
pub const ALIASES_MAX: u32 = 65_536;

#[cfg(test)]
mod tests;
