//! Replaying a load: one thread per client, one layer under each.

pub mod layer;
pub mod site;
pub mod tcp;

pub use layer::{Layer, LayerLost, Reply};
pub use site::{Site, Trees};
pub use tcp::{TcpOptions, TcpSite};
