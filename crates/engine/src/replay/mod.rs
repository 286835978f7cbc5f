//! Replaying a load: one thread per client, one layer under each.

pub mod layer;
pub mod local;
pub mod site;

pub use layer::{Layer, LayerLost, Reply};
pub use local::{LocalLayer, LocalOptions, LocalSite};
pub use site::{Site, Trees};
