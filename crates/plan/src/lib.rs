//! The plan of a run, with its file sets, mixes, fleets and gates.
//!
//! This crate does not open sockets, read clocks, spawn threads or access files (`clippy.toml`
//! enforces it). Its random numbers are seeded.

#![forbid(unsafe_code)]

#[cfg(not(feature = "schema"))]
use filestone_no_schema::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub mod file_set;
pub mod fleet;
pub mod gate;
pub mod made;
pub mod mix;
pub mod plan;

#[cfg(any(test, feature = "examples"))]
pub mod examples;

pub use plan::Plan;
