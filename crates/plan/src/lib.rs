//! The plan of a run, with its file sets, mixes, fleets and gates.
//!
//! Nothing here opens a socket, reads a clock, spawns a thread, touches a file
//! or draws an unseeded random number; `clippy.toml` enforces it.

#![forbid(unsafe_code)]

pub mod file_set;
pub mod fleet;
pub mod gate;
pub mod made;
pub mod mix;
pub mod plan;

#[cfg(any(test, feature = "examples"))]
pub mod examples;

pub use plan::Plan;
