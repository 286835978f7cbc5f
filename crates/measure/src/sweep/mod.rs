//! Sweeps: the same measurement over values of one or two options.
//!
//! A sweep consists of many runs. [`comparison`](crate::comparison) combines repeated runs. This
//! module defines the points ([`parameter`], with the syntax of lists and ranges), the results of
//! the runs of a point and when there are enough of them ([`tally`]), and the knee of a figure over
//! the points ([`knee`]).

pub mod knee;
pub mod parameter;
mod steps;
pub mod tally;
pub mod totals;
pub mod value_kind;

pub use knee::{KneeInput, SweepKnee};
pub use parameter::{SweepParameter, SweepValue, name_of_point, points};
pub use tally::PointTally;
pub use totals::TOTALS;
pub use value_kind::ValueKind;
