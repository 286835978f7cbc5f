//! The impure half of filestone: threads, sockets, clocks and the worker loop.
//!
//! It never prints: the `cli` crate writes all output for people. The result of a run is a
//! [`RunRecord`](filestone_measure::measure::RunRecord).

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
