//! Loads: what a load file says, compiled.
//!
//! A load file is a list of what one client of a file server did, line by line;
//! dbench, tbench and smbtorture made the form known. A [`Compiler`] takes its
//! lines, from wherever they come, and makes a [`Load`]: checked, compact, and
//! shared by all clients. A [`Script`] is one client's walk through it. What the
//! lines do is not decided here: an [`Action`] says what is asked, and a layer
//! (the local file system, bare TCP, NFSv3) carries it out.
//!
//! The grammar, generation by generation, is in `docs/reference/load-file.md`.

pub mod action;
mod build_action;
mod code;
pub mod compiled;
pub mod created;
mod data;
pub mod diagnostic;
pub mod expected;
mod generation;
mod names;
mod number;
mod parse;
mod random_string;
pub mod refusals;
mod safety;
pub mod script;
pub mod statistics;
mod status;
pub mod synthetic;
pub mod verb;
pub mod wildcard;
mod work;

pub use action::Action;
pub use compiled::{Load, StepView, Steps};
pub use data::{DataTable, LineData, PatternPlaces};
pub use diagnostic::{ERRORS_KEPT, LoadError, LoadErrors};
pub use expected::{Cause, Expected, Mismatch, Status};
pub use generation::Generation;
pub use names::{CLIENTS, MARKER};
pub use parse::{Compiler, LONGEST_LINE};
pub use safety::is_left_out_of_reading;
pub use script::{Line, Next, Peek, Script, ScriptError};
pub use synthetic::SyntheticLoad;
pub use work::{Lines, LoadWork};
