//! The figures that a run is judged and compared by, each under a name, and how well each is
//! known from the run alone.
//!
//! [`name`] is the list. [`accuracy`] finds the 95 % interval of any of them from the run's
//! stretches, or says why it has none; the headline ones stand in the record.

pub mod accuracy;
pub mod headline;
pub mod name;

pub use accuracy::{Accuracy, NoInterval, Stretches};
pub use headline::{headline, with_figures};
pub use name::{Direction, FigureUnit, Quantity, RunFigure, Statistic, Timed};
