//! A load on an NFSv3 server: NFS verbs as they are written, CIFS verbs lowered
//! to the calls that Samba would need of such a server.
//!
//! | file | what is in it |
//! |---|---|
//! | `site` | the place on the server: claimed, left as it was found |
//! | `socket_clients` | its clients, over sockets |
//! | `connection` | one of them, as the worker of any load sees it |
//!
//! What a client does is the model's (`filestone_protocol::client::nfs3::load`).
//! docs/reference/lowering.md has the table of what each verb becomes.

mod connection;
mod options;
mod site;
mod socket_clients;

pub use connection::why_lost;
pub use options::Nfs3Options;
pub(crate) use site::remove_left_over_until;
pub use site::{Nfs3Site, remove_left_over};
pub use socket_clients::SocketClients;
