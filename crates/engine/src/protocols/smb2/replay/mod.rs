//! A load on a share: its verbs as requests of SMB2.
//!
//! | file | what is in it |
//! |---|---|
//! | `site` | the place on the share: claimed, left as it was found |
//! | `socket_clients` | its clients, over sockets |
//!
//! What a client does is the model's (`filestone_protocol::client::smb2`).

mod site;
mod socket_clients;

pub use site::ShareSite;
pub use socket_clients::OverSockets;
