//! Replays a load on an NFSv3 server: NFS verbs directly, CIFS verbs lowered to the calls that
//! Samba would need.
//!
//! | file | what is in it |
//! |---|---|
//! | `site` | the directory on the server: claimed, and restored at the end |
//! | `socket_clients` | the clients, over sockets |
//! | `connection` | a client's connection, as the common worker uses it |
//!
//! The client itself is in `filestone_protocol::client::nfs3::load`. docs/reference/lowering.md
//! lists the calls of each verb.

mod connection;
mod options;
mod site;
mod socket_clients;

pub use connection::why_lost;
pub use options::Nfs3Options;
pub(crate) use site::remove_left_over_until;
pub use site::{Nfs3Site, remove_left_over};
pub use socket_clients::SocketClients;
