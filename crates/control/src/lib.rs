//! Arrival processes, load controllers, jobs of several hosts, and queues with known results.
//!
//! Nothing here opens a socket, reads a clock, spawns a thread, touches a file or uses an unseeded
//! random number; `clippy.toml` enforces it.

#![forbid(unsafe_code)]

pub mod arrivals;
pub mod job;
pub mod load_control;
pub mod queueing;
