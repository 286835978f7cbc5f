//! Simulated clients: sans-IO sessions and clients of NFSv3 and SMB, and the workloads that drive them.
//!
//! This crate does not open sockets, read clocks, spawn threads or access files (`clippy.toml`
//! enforces it). Its random numbers are seeded.

#![forbid(unsafe_code)]

#[cfg(not(feature = "schema"))]
use filestone_no_schema::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub mod client;
pub mod fleet_control;
pub mod session;
pub mod workload;
