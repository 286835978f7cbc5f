//! Arrival processes, load controllers, jobs of several hosts, and queues with known results.
//!
//! This crate does not open sockets, read clocks, spawn threads or access files (`clippy.toml`
//! enforces it). Its random numbers are seeded.

#![forbid(unsafe_code)]

pub mod arrivals;
pub mod job;
pub mod load_control;
pub mod queueing;
