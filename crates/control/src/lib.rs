//! Arrival processes, the search for a load, jobs of several hosts, and queues with known answers.
//!
//! Nothing here opens a socket, reads a clock, spawns a thread, touches a file
//! or draws an unseeded random number; `clippy.toml` enforces it.

#![forbid(unsafe_code)]

pub mod arrivals;
pub mod job;
pub mod load_control;
pub mod queueing;
