//! A load on an NFSv3 server: NFS verbs as they are written, CIFS verbs lowered
//! to the calls that Samba would need of such a server.
//!
//! | file | what is in it |
//! |---|---|
//! | `site` | the place on the server: claimed, left as it was found |
//! | `layer` | which verb becomes what; paths to handles |
//! | `verbs`, `lowering` | the verbs of NFS, those of CIFS |
//! | `transfer` | file data in pieces of the server's size |
//! | `names`, `open_files` | what a client remembers |
//! | `locks` | NLM |
//!
//! docs/reference/lowering.md has the table of what each verb becomes.

mod layer;
mod locks;
mod lowering;
mod names;
mod open_files;
mod options;
mod site;
mod transfer;
mod verbs;

pub use layer::Nfs3Layer;
pub use options::Nfs3Options;
pub(crate) use site::remove_left_over_until;
pub use site::{Nfs3Site, remove_left_over};
