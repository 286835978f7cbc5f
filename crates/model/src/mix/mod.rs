//! Operation mixes: where they are read from, which ones are built in, and what one client
//! draws from them.
//!
//! A mix is a count per procedure of NFSv3. Shares are exact: nothing is rounded to a percent,
//! so an operation of 0.01 % is asked once in ten thousand.

pub mod counters;
mod error;
pub mod feedback;
mod kernel;
mod line;
mod name;
mod section;

pub use counters::{Counters, Mount};
pub use error::MixError;

use crate::plan::{LeftOut, MixCount};

/// A mix, read or built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    /// What it is called: the name of a mix of our own, or that of a file.
    pub name: String,
    /// How often each procedure is asked; those that are never asked may be missing.
    pub counts: Vec<MixCount>,
    /// What its source counted and NFSv3 has nothing like.
    pub left_out: Vec<LeftOut>,
}
