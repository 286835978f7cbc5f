//! The run itself: threads, sockets, and the worker loop.
//!
//! Inputs are a plan and the context of a run; the output is a
//! [`RunRecord`](filestone_measure::measure::RunRecord). `filestone_setup` prepares the objects on
//! servers, `filestone_host` reads facts about this host. Nothing here prints: the `cli` crate writes
//! all output for people.

#![forbid(unsafe_code)]

pub mod backend;
pub mod calibrate;
pub mod doctor;
pub mod protocols;
pub mod replay;
pub mod run;
mod threads;
mod time;
pub mod worker;

pub use protocols::{Job, Protocol, Protocols, reclaim, run};
