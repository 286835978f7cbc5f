//! What is counted and timed, and what is made of it: sample → ledger and
//! histograms → interval → run record. Every report is a function of the record.

pub mod assembly;
pub mod caveat;
pub mod connections_record;
pub mod curve_doubts;
pub mod curve_record;
pub mod distribution;
pub mod figure_record;
pub mod figures;
pub mod hysteresis;
pub mod interval;
pub mod knee;
pub mod ledger;
mod mismatches;
pub mod mix_figures;
pub mod mix_record;
pub mod overall_response_time;
pub mod processors;
pub mod quantile_interval;
pub mod recorder;
pub mod replay_record;
pub mod rows;
pub mod run_record;
pub mod sample;
pub mod shortfall;
pub mod verdict;
pub mod warm_up;

pub use assembly::Assembly;
pub use caveat::Caveat;
pub use connections_record::ConnectionsRecord;
pub use curve_record::{CurveRecord, ObjectiveRecord};
pub use distribution::{Digits, Distribution, DistributionRecord};
pub use figure_record::FigureRecord;
pub use figures::RunFigure;
pub use interval::{IntervalBuffer, TickCounts};
pub use ledger::Ledger;
pub use mismatches::{Mismatches, Unexpected};
pub use mix_record::MixRecord;
pub use processors::ProcessorsRecord;
pub use quantile_interval::QuantileInterval;
pub use recorder::Recorder;
pub use replay_record::ReplayRecord;
pub use run_record::RunRecord;
pub use sample::{Role, Sample};
pub use shortfall::Shortfall;
