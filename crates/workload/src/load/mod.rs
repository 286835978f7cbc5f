//! Loads: compiled load files.
//!
//! A load file is a list of the operations of one client of a file server, line by line; the format
//! is known from dbench, tbench and smbtorture. A [`Compiler`] takes its lines, from any source,
//! and creates a [`Load`]: checked, compact, and shared by all clients. A [`Script`] is the
//! iteration of one client over it. A [`LoadAction`] describes the operation of a line, and a layer
//! (the local file system, bare TCP, NFSv3) executes it.
//!
//! The grammar, generation by generation, is in `docs/reference/load-file.md`.

pub mod action;
mod action_numbers;
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
pub mod verb;
pub mod wildcard;
mod work;

pub use action::LoadAction;
pub use compiled::{Load, StepView, Steps};
pub use data::{DataTable, LineData, PatternPlaces};
pub use diagnostic::{ERRORS_KEPT, LoadError, LoadErrors};
pub use expected::{ActionStatus, Cause, Expected, Mismatch};
pub use generation::Generation;
pub use names::{CLIENTS, MARKER};
pub use parse::{Compiler, LONGEST_LINE};
pub use safety::is_left_out_of_reading;
pub use script::{Line, Peek, Script, ScriptAction, ScriptError};
pub use work::{Lines, LoadWork};
