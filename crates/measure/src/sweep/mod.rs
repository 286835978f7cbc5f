//! Sweeps: the same measurement over values of one or two options.
//!
//! A sweep consists of many runs. [`comparison`](crate::comparison) combines repeated runs. This
//! module defines the points ([`parameter`], with the syntax of lists and ranges), the results of
//! the runs of a point and when there are enough of them ([`tally`]), and the knee of a figure over
//! the points ([`knee`]).
//!
//! A ladder is a sweep over its rungs ([`Rung`]), operations from the emptiest call to those that
//! change a directory, with the difference from one rung to the next ([`RungPair`]).

mod difference;
pub mod knee;
pub mod parameter;
pub mod read_study;
mod rung;
mod steps;
pub mod tally;
mod totals;
pub mod value_kind;

pub use crate::comparison::sample::{LADDER_FIGURES, TOTALS};
pub use difference::{RungPair, difference, difference_of_steps};
pub use knee::{KneeInput, SweepKnee};
pub use parameter::{SweepParameter, SweepValue, name_of_point, points};
pub use rung::{RUNGS, Rung};
pub use tally::PointTally;
pub use value_kind::ValueKind;
