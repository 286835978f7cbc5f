//! Replays a load on a share: verbs as SMB2 requests.
//!
//! | file | what is in it |
//! |---|---|
//! | `site` | the directory on the share: claimed, and restored at the end |
//! | `socket_clients` | the clients, over sockets |
//!
//! The client itself is in `filestone_protocol::client::smb2`.

mod site;
mod socket_clients;

pub use site::ShareSite;
pub use socket_clients::OverSockets;
