//! Counts and times, and the results computed from them: sample → ledger and histograms → interval
//! → run record. Every report is a function of the record.

pub use filestone_workload::recording::{
    buckets, distribution, interval, ledger, quantile_interval, recorder, sample,
};
pub mod absence;
pub mod assembly;
pub mod caveat;
pub mod connections_record;
pub mod cost_totals;
pub mod costs;
pub mod curve_doubts;
pub mod curve_record;
pub mod figure_record;
pub mod figures;
pub mod fleet_monitor;
pub mod fleet_record;
pub mod flow;
pub mod gate_record;
pub mod gates;
pub mod generator_record;
pub mod host_difference;
pub mod hysteresis;
pub mod job_record;
pub mod knee;
pub mod losses;
mod mismatches;
pub mod mix_figures;
pub mod mix_record;
pub mod mount_record;
pub mod outcome_count;
pub mod overall_response_time;
pub mod processors;
mod record_check;
pub mod replay_record;
pub mod rows;
pub mod run_phase;
pub mod run_record;
pub mod short_reads;
pub mod shortfall;
pub mod stamps;
pub mod unexpected;
pub mod validity;
mod validity_record;
pub mod verdict;
pub mod warm_up;

pub use assembly::IntervalAggregator;
pub use caveat::Caveat;
pub use connections_record::ConnectionsRecord;
pub use curve_record::{CurveRecord, ObjectiveRecord};
pub use distribution::{
    Distribution, DistributionRecord, EncodedDistribution, RecordMerger, SignificantDigits,
};
pub use figure_record::{FigureRecord, OneSidedFigureRecord, RecordedInterval};
pub use figures::RunFigure;
pub use fleet_monitor::FleetMonitor;
pub use fleet_record::FleetRecord;
pub use gate_record::{GateOutcome, GateRecord, GateValue};
pub use host_difference::HostDifference;
pub use interval::{IntervalBuffer, TickCounts};
pub use job_record::JobRecord;
pub use ledger::Ledger;
pub use losses::{LossReasons, LossRecord};
pub use mismatches::{Mismatches, UnexpectedResult};
pub use mix_record::MixRecord;
pub use mount_record::MountRecord;
pub use processors::ProcessorsRecord;
pub use quantile_interval::QuantileInterval;
pub use recorder::Recorder;
pub use replay_record::ReplayRecord;
pub use run_phase::RunPhase;
pub use run_record::RunRecord;
pub use sample::{Role, Sample};
pub use short_reads::ShortReads;
pub use shortfall::Shortfall;
pub use validity::Validity;
