//! Named figures for checks and comparisons of runs, and their accuracy from a single run.
//!
//! [`figure`](filestone_workload::figure) is the list. [`accuracy`] computes the 95 % interval of
//! each from the batches of the run, or returns why it has none; the headline figures are stored in
//! the record.

pub mod accuracy;
pub mod headline;
mod of_record;

pub use accuracy::{BatchMeans, FigureEstimate, IntervalUnavailable};
pub use filestone_workload::figure::{
    FigureUnit, ImprovementDirection, Quantity, RunFigure, Statistic, TimeKind,
};
pub use headline::{with_figures, with_headline};
