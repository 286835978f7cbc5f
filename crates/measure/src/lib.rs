//! The run record and the results computed from it: figures, checks, costs, comparisons.
//!
//! Nothing here opens a socket, reads a clock, spawns a thread, touches a file
//! or draws an unseeded random number; `clippy.toml` enforces it.

#![forbid(unsafe_code)]

pub mod addresses;
pub mod comparison;
pub mod cost;
pub mod doctor;
pub mod explanation;
pub mod history;
pub mod ladder;
pub mod measure;
pub mod sweep;
