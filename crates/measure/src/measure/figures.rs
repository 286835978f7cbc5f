//! The figures that a run is judged and compared by, each under a name, and how well each is
//! known from the run alone.
//!
//! [`figure`](filestone_workload::figure) is the list. [`accuracy`] finds the 95 % interval of any of them from
//! the run's stretches, or says why it has none; the headline ones stand in the record.

pub mod accuracy;
pub mod headline;
mod of_record;

pub use accuracy::{BatchMeans, FigureEstimate, IntervalUnavailable};
pub use filestone_workload::figure::{
    Direction, FigureUnit, Quantity, RunFigure, Statistic, TimeKind,
};
pub use headline::{with_figures, with_headline};
