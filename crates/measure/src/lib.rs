//! The run record and the results computed from it: figures, checks, costs, comparisons.
//!
//! This crate does not open sockets, read clocks, spawn threads or access files (`clippy.toml`
//! enforces it). Its random numbers are seeded.

#![forbid(unsafe_code)]

#[cfg(not(feature = "schema"))]
use filestone_no_schema::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub mod addresses;
pub mod comparison;
pub mod cost;
pub mod doctor;
pub mod explanation;
pub mod figure;
pub mod history;
pub mod measure;
pub mod rule;
pub mod sweep;
