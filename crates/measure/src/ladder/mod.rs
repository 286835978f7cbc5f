//! Ladders: times and costs of operations, from the emptiest call to those that change a directory,
//! and the difference from one rung to the next.
//!
//! A ladder is a sweep over its rungs, so order, repeats and directory are those of
//! [`sweep`](crate::sweep). This module defines the rungs ([`rung`]), the figures of each rung
//! ([`figure`]), and the results of its runs, also in comparison with another rung ([`tally`]).

pub mod figure;
pub mod rung;
pub mod tally;
mod value;

pub use figure::LadderFigure;
pub use rung::{RUNGS, Rung};
pub use tally::{LadderValue, RungPair, RungTally, difference, difference_of_steps};
pub use value::RungValue;
