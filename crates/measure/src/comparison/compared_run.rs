//! The part of a run record that a comparison uses.

use crate::cost::CostRecord;
use crate::measure::figures::headline::HEADLINE;
use crate::measure::figures::{BatchMeans, IntervalUnavailable, Quantity, RunFigure};
use crate::measure::run_record::{Host, IntervalRecord, RunRecord, Target, Tool, Totals};
use crate::measure::stamps::StampsRecord;
use crate::measure::validity::{self, Validity};
use crate::measure::{Caveat, FigureRecord};
use filestone_plan::plan::Plan;
use filestone_workload::recording::Role;
use filestone_workload::statistics::Estimate;

/// The part of a run record that a comparison uses, without the long parts.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// Format version of the record.
    pub format: u32,
    /// Method of measurement.
    pub method: u32,
    /// Program that wrote the record.
    pub tool: Tool,
    /// Start of the measured window, RFC 3339, UTC.
    pub started_at: String,
    /// Plan of the run.
    pub plan: Plan,
    /// Host of the load generator.
    pub host: Host,
    /// Target of the load.
    pub target: Target,
    /// Length of the measured window in nanoseconds.
    pub window_ns: u64,
    /// Totals of the window.
    pub totals: Totals,
    /// Caveats of the run.
    pub caveats: Vec<Caveat>,
    /// Validity of the run; absent in records of older versions.
    pub validity: Option<Validity>,
    /// Cost per operation, if it was measured.
    pub cost: Option<CostRecord>,
    /// Times of calls by kernel timestamps, if there were any.
    pub stamps: Option<StampsRecord>,
    /// Intervals of the run; read only if [`Self::lacks`] requires them.
    pub intervals: Vec<IntervalRecord>,
}

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunValue {
    /// The figure.
    pub figure: RunFigure,
    /// Value of the figure.
    pub value: f64,
    /// Value with the error estimated from this run alone.
    pub own: Result<Estimate, IntervalUnavailable>,
}

impl From<&RunRecord> for ComparedRun {
    /// Leaves out the intervals: a record of this version contains its headline figures.
    fn from(record: &RunRecord) -> Self {
        Self {
            format: record.format,
            method: record.method,
            tool: record.tool.clone(),
            started_at: record.started_at.clone(),
            plan: record.plan.clone(),
            host: record.host.clone(),
            target: record.target.clone(),
            window_ns: record.window_ns,
            totals: record.totals.clone(),
            caveats: record.caveats.clone(),
            validity: record.validity,
            cost: record.cost.as_ref().map(without_readings),
            stamps: record.stamps,
            intervals: vec![],
        }
    }
}

impl ComparedRun {
    /// Returns whether the intervals are needed to compute the accuracy of these figures.
    pub fn lacks(&self, judged: &[RunFigure]) -> bool {
        let is_kept = |figure: &RunFigure| {
            let kept = self.totals.figures.iter();
            kept.filter_map(figure_of).any(|kept| kept == *figure)
        };
        self.totals.figures.is_empty() || !judged.iter().all(is_kept)
    }

    /// Returns the headline figures and the judged ones, where available. With one kind of
    /// operation, its figures equal those of the run and are only included if they are judged.
    pub fn figures(&self, judged: &[RunFigure]) -> Vec<RunValue> {
        let stretches = BatchMeans::of_parts(&self.totals, &self.intervals, self.plan.interval_ns);
        let stretches = stretches.in_window(self.window_ns);
        let kinds = self.totals.kinds.iter();
        let measured = kinds.filter(|kind| kind.role == Role::Measured).count();
        let is_shown = |figure: &RunFigure| {
            let is_headline = HEADLINE.contains(&figure.quantity);
            is_headline && (measured > 1 || figure.operation.is_none())
        };
        let all = self.totals.figures().into_iter();
        let wanted = all.filter(|figure| judged.contains(figure) || is_shown(figure));
        let of_run = |figure: RunFigure| {
            Some(RunValue {
                figure,
                value: stretches.value(&figure)?,
                own: self.own(&figure, &stretches),
            })
        };
        wanted.filter_map(of_run).collect()
    }

    /// Returns the run's estimate of a figure, from the record or else from its intervals.
    fn own(
        &self,
        figure: &RunFigure,
        stretches: &BatchMeans<'_>,
    ) -> Result<Estimate, IntervalUnavailable> {
        let mut kept = self.totals.figures.iter();
        let kept = kept.find(|record| figure_of(record) == Some(*figure));
        let of_record = |record: &FigureRecord| Estimate {
            value: record.value,
            standard_error: record.standard_error,
            freedom: record.degrees_of_freedom,
        };
        match kept {
            Some(record) => Ok(of_record(record)),
            None if !self.intervals.is_empty() => Ok(stretches.accuracy(figure)?.estimate),
            None => Err(self.recorded_without_end(figure)),
        }
    }

    /// Returns why the record has no interval with two ends for a figure.
    fn recorded_without_end(&self, figure: &RunFigure) -> IntervalUnavailable {
        let mut open = self.totals.open_figures.iter();
        let open = open.find(|open| open.name.parse().ok() == Some(*figure));
        open.map_or(IntervalUnavailable::NotRecorded, |open| {
            IntervalUnavailable::TooFewAbove {
                low: open.low as u64,
            }
        })
    }

    /// Returns why the run is invalid, with figures; `None` if it is valid.
    pub fn does_not_count(&self) -> Option<String> {
        let reasons: Vec<String> = validity::reasons_of(&self.caveats).collect();
        if reasons.is_empty() {
            let is_said = self.validity == Some(Validity::DoesNotCount);
            return is_said.then(|| "its record says so".into());
        }
        Some(reasons.join("; "))
    }

    /// Returns an identity of the run, equal in all files that contain it: no two runs start in the
    /// same millisecond with the same seed.
    pub fn identity(&self) -> (&str, u64) {
        (&self.started_at, self.plan.seed)
    }

    /// Returns the number of operations that were sent and failed.
    pub fn errors(&self) -> u64 {
        let errors = RunFigure::of_all(Quantity::Errors);
        let stretches = BatchMeans::of_parts(&self.totals, &[], 0);
        stretches.value(&errors).unwrap_or(0.0) as u64
    }
}

/// Returns a cost record without its many readings.
fn without_readings(cost: &CostRecord) -> CostRecord {
    CostRecord {
        sources: vec![],
        figures: cost.figures.clone(),
        wire: cost.wire.clone(),
        calls: cost.calls,
    }
}

/// Returns the figure of a record; `None` if this version does not know it.
fn figure_of(record: &FigureRecord) -> Option<RunFigure> {
    record.name.parse().ok()
}
