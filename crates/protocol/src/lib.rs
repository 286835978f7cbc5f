//! Simulated clients: sans-IO sessions and clients of NFSv3 and SMB, and the workloads that drive them.
//!
//! Nothing here opens a socket, reads a clock, spawns a thread, touches a file
//! or draws an unseeded random number; `clippy.toml` enforces it.

#![forbid(unsafe_code)]

pub mod client;
pub mod fleet_control;
pub mod session;
pub mod workload;
