//! The impure half of filestone: threads, sockets, clocks and the worker loop.
//!
//! It never prints: the `cli` crate writes all output for people. The result of a run is a
//! [`RunRecord`](filestone_measure::measure::RunRecord).

#![forbid(unsafe_code)]

pub mod addresses;
pub mod backend;
pub mod calibrate;
pub mod clock;
pub mod control;
pub mod control_socket;
pub mod doctor;
pub mod driver;
pub mod error;
mod exhaustion;
mod file_set;
pub mod host;
pub mod load_file;
mod processors;
pub mod protocols;
mod quota;
pub mod replay;
pub mod run;
mod threads;
mod time;
mod way;
pub mod worker;
pub mod workspace;

pub use protocols::{Job, Protocol, Protocols, reclaim, run};

pub use error::{AreaError, ErrorCategory, RunError};
