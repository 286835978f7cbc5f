//! Loads: what a load file says, compiled.
//!
//! A load file is a list of what one client of a file server did, line by line;
//! dbench, tbench and smbtorture made the form known. A [`Load`] is such a file
//! compiled: checked, compact, and shared by all clients. A [`Script`] is one
//! client's walk through it. What the lines do is not decided here: an
//! [`Action`] says what is asked, and a layer (the local file system, bare TCP,
//! NFSv3) carries it out.
//!
//! The grammar, generation by generation, is in `docs/reference/load-file.md`.

pub mod action;
pub mod census;
pub mod compiled;
pub mod expected;
pub mod made;
pub mod refusals;
pub mod script;
pub mod wildcard;

pub use action::Action;
pub use compiled::{Generation, Load};
pub use expected::{Cause, Expected, Mismatch, Status};
pub use made::Made;
pub use script::{Line, Next, Script, ScriptError};
