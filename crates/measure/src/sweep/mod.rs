//! Sweeps: the same measurement over values of one or two options.
//!
//! A sweep is many runs. What runs of the same come to is [`comparison`](crate::comparison)'s; here is
//! which points there are ([`parameter`], with the language of lists and ranges), what the runs of a
//! point come to and when they are enough ([`tally`]), and where a figure bends over the points
//! ([`knee`]).

pub mod knee;
pub mod parameter;
mod steps;
pub mod tally;
pub mod totals;
pub mod value_kind;

pub use knee::{KneeInput, SweepKnee};
pub use parameter::{SweepParameter, SweepValue, name_of_point, points};
pub use tally::{PointFigure, PointTally, PointValue};
pub use totals::{PointTotal, RunLevelFigure, TOTALS};
pub use value_kind::ValueKind;
