//! Arrival processes, load controllers and jobs of several hosts.
//!
//! This crate does not open sockets, read clocks, spawn threads or access files (`clippy.toml`
//! enforces it). Its random numbers are seeded.

#![forbid(unsafe_code)]

pub mod arrivals;
pub mod job;
pub mod load_control;
