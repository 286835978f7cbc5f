//! What a comparison takes from the record of a run.

use crate::cost::CostRecord;
use crate::measure::figures::headline::HEADLINE;
use crate::measure::figures::{BatchMeans, Quantity, RunFigure};
use crate::measure::run_record::{Host, IntervalRecord, RunRecord, Target, Tool, Totals};
use crate::measure::validity::{self, Validity};
use crate::measure::{Caveat, FigureRecord, Role};
use filestone_plan::plan::Plan;
use filestone_workload::statistics::Estimate;

/// What a comparison takes from the record of a run: it leaves out what is long.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// Shape of the record.
    pub format: u32,
    /// Method of measurement.
    pub method: u32,
    /// What made the record.
    pub tool: Tool,
    /// When the measured window began, RFC 3339, UTC.
    pub started_at: String,
    /// What was to be done.
    pub plan: Plan,
    /// Where the load came from.
    pub host: Host,
    /// What the load went to.
    pub target: Target,
    /// Length of the measured window in nanoseconds.
    pub window_ns: u64,
    /// Sums over the window.
    pub totals: Totals,
    /// Reasons to doubt it.
    pub caveats: Vec<Caveat>,
    /// The verdict on it; records of older versions have none.
    pub validity: Option<Validity>,
    /// What its operations cost, where that was read.
    pub cost: Option<CostRecord>,
    /// Periods of the run; read only if [`Self::lacks`] says so.
    pub intervals: Vec<IntervalRecord>,
}

/// A figure of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunValue {
    /// Which.
    pub figure: RunFigure,
    /// Its value.
    pub value: f64,
    /// The value with what the run alone knows of its error, if it was long enough for that.
    pub own: Option<Estimate>,
}

impl From<&RunRecord> for ComparedRun {
    /// Without the intervals: a record of this version keeps its headline figures.
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
            intervals: vec![],
        }
    }
}

impl ComparedRun {
    /// Whether it takes the intervals to know how well these figures are known.
    pub fn lacks(&self, judged: &[RunFigure]) -> bool {
        let is_kept = |figure: &RunFigure| {
            let kept = self.totals.figures.iter();
            kept.filter_map(figure_of).any(|kept| kept == *figure)
        };
        self.totals.figures.is_empty() || !judged.iter().all(is_kept)
    }

    /// The headline figures and the judged ones, as far as there are any. Of one kind of operation
    /// alone the figures are those of the run, and only named if they are judged.
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

    /// What the run knows of a figure: as the record keeps it, or from its intervals.
    fn own(&self, figure: &RunFigure, stretches: &BatchMeans<'_>) -> Option<Estimate> {
        let mut kept = self.totals.figures.iter();
        let kept = kept.find(|record| figure_of(record) == Some(*figure));
        let of_record = |record: &FigureRecord| Estimate {
            value: record.value,
            standard_error: record.standard_error,
            freedom: record.freedom,
        };
        let found = || stretches.accuracy(figure).ok().map(|found| found.estimate);
        kept.map(of_record).or_else(found)
    }

    /// Why its numbers do not count, with figures; `None` if they do.
    pub fn does_not_count(&self) -> Option<String> {
        let reasons: Vec<String> = validity::reasons_of(&self.caveats).collect();
        if reasons.is_empty() {
            let is_said = self.validity == Some(Validity::DoesNotCount);
            return is_said.then(|| "its record says so".into());
        }
        Some(reasons.join("; "))
    }

    /// What tells it from all others, in however many files it is: no two begin in the same
    /// millisecond with the same chance.
    pub fn identity(&self) -> (&str, u64) {
        (&self.started_at, self.plan.seed)
    }

    /// Operations that were sent and did not end well.
    pub fn errors(&self) -> u64 {
        let errors = RunFigure::of_all(Quantity::Errors);
        let stretches = BatchMeans::of_parts(&self.totals, &[], 0);
        stretches.value(&errors).unwrap_or(0.0) as u64
    }
}

/// What costs came to; of the readings behind them there are many.
fn without_readings(cost: &CostRecord) -> CostRecord {
    CostRecord {
        sources: vec![],
        figures: cost.figures.clone(),
        wire: cost.wire.clone(),
        calls: cost.calls,
    }
}

/// Which figure it is; `None` of one that this version does not know.
fn figure_of(record: &FigureRecord) -> Option<RunFigure> {
    record.name.parse().ok()
}
