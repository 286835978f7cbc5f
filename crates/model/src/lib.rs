//! The pure half of filestone: what is asked, when it is asked, one simulated
//! client per protocol, and the statistics of what came back.
//!
//! Nothing here opens a socket, reads a clock, spawns a thread, touches a file
//! or draws an unseeded random number. Bytes and moments come in as arguments,
//! so everything runs in virtual time too. `clippy.toml` in this crate holds
//! that, not good will.

#![forbid(unsafe_code)]

pub mod addresses;
pub mod arrivals;
pub mod client;
pub mod comparison;
pub mod completions;
pub mod cost;
pub mod doctor;
pub mod emptying;
pub mod explanation;
pub mod failure;
pub mod figure;
pub mod file_set;
pub mod fleet;
pub mod fleet_control;
pub mod gate;
pub mod history;
pub mod job;
pub mod kind;
pub mod ladder;
pub mod language;
pub mod load;
pub mod load_control;
pub mod made;
pub mod measure;
pub mod mix;
pub mod numbering;
pub mod operation;
pub mod output;
pub mod page_guard;
pub mod password;
pub mod payload;
pub mod plan;
pub mod quantity;
pub mod queueing;
pub mod random;
pub mod session;
pub mod statistics;
pub mod sweep;
pub mod text;
pub mod threshold;
pub mod time;
pub mod workload;

pub use completions::CompletionBatch;
pub use failure::Failure;
pub use kind::OpKind;
pub use operation::{Completion, Operation, Outcome, SlotId};
pub use plan::Plan;
pub use time::Timestamp;
