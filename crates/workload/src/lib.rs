//! Operations, load files and data patterns, and the counting and timing of operations.
//!
//! This crate does not open sockets, read clocks, spawn threads or access files (`clippy.toml`
//! enforces it). Its random numbers are seeded.

#![forbid(unsafe_code)]

#[cfg(not(feature = "schema"))]
use filestone_no_schema::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub mod choice;
pub mod completions;
pub mod emptying;
pub mod failure;
pub mod figure;
pub mod kind;
pub mod language;
pub mod load;
pub mod numbering;
pub mod operation;
pub mod output;
pub mod page_guard;
pub mod password;
pub mod payload;
pub mod quantity;
pub mod random;
pub mod recording;
pub mod statistics;
pub mod text;
pub mod threshold;
pub mod time;

pub use completions::CompletionBatch;
pub use failure::Failure;
pub use kind::OpKind;
pub use operation::{Completion, Operation, Outcome, SlotId};
pub use time::Timestamp;
