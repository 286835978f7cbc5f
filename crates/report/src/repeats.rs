//! Summary of repeated runs: each figure over all runs, in contrast to the interval within one run.

use super::document::Document;
use super::document::table::{Column, Table};
use super::parts::heading::what_was_measured;
use super::parts::known::{percent_text, value_within};
use crate::JsonSchema;
use crate::quantity::{load_text, time_within};
use filestone_measure::comparison::ComparedRun;
use filestone_measure::comparison::repeats::{
    RepeatPlan, RepeatedFigure, headline_of, repeated, repeats_best,
};
use filestone_measure::figure::AveragedFigure;
use filestone_measure::measure::RunRecord;
use filestone_measure::sweep::PointTally;
use filestone_plan::gate::GateFigure;
use filestone_plan::plan::Plan;
use filestone_workload::statistics::CONFIDENCE;
use filestone_workload::text::counted;
use serde::{Deserialize, Serialize};

/// Format version of [`RepeatsDocument`]; increased when the shape changes.
const FORMAT: u32 = 1;
/// A figure with a larger relative half-width is printed as the ends of its interval.
const HARDLY: f64 = 0.5;

/// Repeated runs of one job, or of several that ran in turn.
#[derive(Debug)]
pub struct Repeats {
    /// Runs of each job.
    pub series: Vec<JobRuns>,
    /// Job of each complete run, in the order of time.
    pub order: Vec<usize>,
    /// Reason why no more runs were made.
    pub end: RepeatsEnd,
    wanted: RepeatPlan,
}

/// Complete runs of one job.
#[derive(Debug)]
pub struct JobRuns {
    plan: Plan,
    what: String,
    /// Results of the runs; the headline figure decides when there are enough.
    tally: PointTally,
}

/// Reason why no more runs were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatsEnd {
    /// The requested or permitted number of runs was made.
    All,
    /// The headline figure reached the requested precision.
    Enough,
    /// Interrupted by ^C.
    Interrupted,
    /// A run failed or lost its target.
    Failed,
}

impl RepeatsEnd {
    /// Returns the end of a heading that says how the runs ended.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::All | Self::Enough => "",
            Self::Interrupted => ", then interrupted",
            Self::Failed => ", then one that failed",
        }
    }
}

impl Repeats {
    /// Creates the series of these plans, without runs.
    pub fn new<'plan>(plans: impl Iterator<Item = &'plan Plan>, wanted: &RepeatPlan) -> Self {
        let series = plans.map(|plan| JobRuns {
            plan: plan.clone(),
            what: String::new(),
            tally: PointTally::new(GateFigure::OfOperations(headline_of(plan))),
        });
        Self {
            series: series.collect(),
            order: vec![],
            end: RepeatsEnd::All,
            wanted: *wanted,
        }
    }

    /// Whether all headline figures have the requested precision.
    pub fn are_enough(&self) -> bool {
        let mut series = self.series.iter();
        self.wanted.until.is_some() && series.all(|series| series.tally.is_enough(&self.wanted))
    }

    /// Returns the expected number of runs of each job.
    pub fn expected_runs(&self) -> u32 {
        let series = self.series.iter();
        let expected = series.map(|series| series.tally.expected_runs(&self.wanted));
        expected.max().unwrap_or(self.wanted.most)
    }
}

impl JobRuns {
    /// Counts a complete run.
    pub fn add(&mut self, record: &RunRecord) {
        if self.what.is_empty() {
            self.what = what_was_measured(record);
        }
        self.tally.add(&ComparedRun::from(record));
    }

    fn figures(&self) -> Vec<RepeatedFigure> {
        repeated(self.tally.side())
    }

    fn headline(&self) -> Option<AveragedFigure> {
        let headline = headline_of(&self.plan);
        let known = self.tally.value(&GateFigure::OfOperations(headline));
        known.filter(|known| known.runs > 1)
    }
}

/// Formats a run as one line: `24,950/s, p50 31.2 µs`.
pub fn line(record: &RunRecord) -> String {
    let totals = &record.totals;
    let load = totals.achieved_load_ops_per_s;
    let p50 = totals.response_time_ns.p50 as f64;
    format!(
        "{}/s, p50 {}",
        load_text(load, load / 1e3),
        time_within(p50, 0.0)
    )
}

/// Returns the whole report.
pub fn report(repeats: &Repeats) -> Document {
    let parts = repeats
        .series
        .iter()
        .filter(|series| series.tally.runs() > 0);
    Document::joined(parts.map(|series| of_series(repeats, series)))
}

fn of_series(repeats: &Repeats, series: &JobRuns) -> Document {
    let (runs, figures) = (series.tally.runs(), series.figures());
    let heading = format!(
        "{}: {}{}",
        series.what,
        counted(runs as u64, "run"),
        repeats.end.text()
    );
    let document = Document::default().prose([heading]);
    if figures.is_empty() {
        return document.prose(["One run does not show what runs differ by."]);
    }
    let known = series.headline().zip(repeats.wanted.until);
    let known = known.filter(|_| repeats.end != RepeatsEnd::Enough);
    document
        .tables([table(&figures)])
        .paragraphs([method(series, &figures)])
        .prose(known.map(|(headline, share)| not_enough(&headline, share)))
}

fn table(figures: &[RepeatedFigure]) -> Table {
    let mut table = Table::new([
        Column::text("figure"),
        Column::figure("median"),
        Column::figure("mean of runs, 95 %"),
        Column::figure("runs differ by").gives_way(2),
        Column::figure("within a run").gives_way(1),
    ]);
    // Figures of single kinds of operations are only in the document.
    for known in figures
        .iter()
        .filter(|known| known.figure.operation.is_none())
    {
        let mean = known.over_runs.value;
        // A figure with a wide interval still has one digit.
        let half_width = mean * known.half_width().min(HARDLY);
        let unit = known.over_runs.name.unit();
        let shown = |value: f64| value_within(unit, value, half_width);
        let interval = match known.over_runs.interval {
            Some((low, high)) if known.half_width() > HARDLY => {
                let ends = [low, high].map(|end| value_within(unit, end, end * HARDLY));
                ends.join(" to ")
            }
            _ => format!("{} ± {}", shown(mean), percent(known.half_width())),
        };
        let within = known
            .within_run
            .map(|share| format!("± {}", percent(share)));
        table.row([
            known.figure.to_string(),
            shown(known.median),
            interval,
            percent(known.deviation()),
            within.unwrap_or_else(|| "–".into()),
        ]);
    }
    table
}

/// Formats a share in percent, rounded to its meaningful resolution.
pub(super) fn percent(share: f64) -> String {
    percent_text(100.0 * share)
}

fn method(series: &JobRuns, figures: &[RepeatedFigure]) -> String {
    let mut text = String::from(
        "Over runs: their geometric mean with its 95 % interval, and by what single runs differ \
         (standard deviation). Within a run: the 95 % interval that a run has of itself, which \
         does not show what changes only between runs.",
    );
    if let Some(best) = repeats_best(figures, &series.plan) {
        text.push_str(&format!(
            " {0} repeats best: compare by it (--decide-by {0}).",
            best.figure
        ));
    }
    text
}

fn not_enough(headline: &AveragedFigure, share: f64) -> String {
    const MANY: u32 = 10_000;
    let needed = headline.runs_until(share, MANY);
    let many = if needed < MANY { "about" } else { "more than" };
    format!(
        "{} is known within {}, not within {}: {many} {needed} runs would do.",
        headline.name,
        percent(headline.share().unwrap_or(0.0)),
        percent(share)
    )
}

/// `repeats.json`: summary of repeated runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepeatsDocument {
    /// Format version of this document.
    pub format: u32,
    /// Reason why no more runs were made.
    pub end: RepeatsEnd,
    /// Maximum number of runs of each job.
    pub runs_max: u32,
    /// Requested relative precision of the headline figure.
    pub until: Option<f64>,
    /// Pause between two runs, in nanoseconds.
    pub pause_ns: u64,
    /// Seed of the order; run k of a job uses this seed plus k − 1.
    pub seed: u64,
    /// Job of each run, in the order of time, counted from 1.
    pub order: Vec<usize>,
    /// Confidence level of the intervals, as a probability.
    pub confidence: f64,
    /// Jobs that ran in turn.
    pub series: Vec<SeriesDocument>,
}

/// Complete runs of one job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeriesDocument {
    /// Description of the job.
    pub what: String,
    /// Number of complete runs.
    pub runs: usize,
    /// The figure that `until` applies to.
    pub headline: String,
    /// The figure with the smallest spread between runs.
    pub repeats_best: Option<String>,
    /// Figures over the runs.
    pub figures: Vec<RepeatedFigureDocument>,
}

/// A figure over runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepeatedFigureDocument {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure.
    pub unit: &'static str,
    /// Number of runs that have the figure.
    pub runs: usize,
    /// Median of the runs.
    pub median: f64,
    /// Geometric mean of the runs.
    pub mean: f64,
    /// Lower end of the interval of the geometric mean.
    pub low: f64,
    /// Upper end of the interval of the geometric mean.
    pub high: f64,
    /// Standard deviation of the logarithms of single runs.
    pub deviation: f64,
    /// Relative half-width of the interval within one run: the median of the runs.
    pub within_run: Option<f64>,
}

/// Returns the document.
pub fn document(repeats: &Repeats) -> RepeatsDocument {
    RepeatsDocument {
        format: FORMAT,
        end: repeats.end,
        runs_max: repeats.wanted.most,
        until: repeats.wanted.until,
        pause_ns: repeats.wanted.pause_ns,
        seed: repeats.series.first().map_or(0, |series| series.plan.seed),
        order: repeats.order.iter().map(|thing| thing + 1).collect(),
        confidence: CONFIDENCE,
        series: repeats.series.iter().map(series_document).collect(),
    }
}

fn series_document(series: &JobRuns) -> SeriesDocument {
    let figures = series.figures();
    let best = repeats_best(&figures, &series.plan);
    SeriesDocument {
        what: series.what.clone(),
        runs: series.tally.runs(),
        headline: headline_of(&series.plan).to_string(),
        repeats_best: best.map(|best| best.figure.to_string()),
        figures: figures.iter().map(figure_document).collect(),
    }
}

fn figure_document(known: &RepeatedFigure) -> RepeatedFigureDocument {
    RepeatedFigureDocument {
        name: known.figure.to_string(),
        unit: known.figure.quantity.unit().name(),
        runs: known.over_runs.runs,
        median: known.median,
        mean: known.over_runs.value,
        low: known.over_runs.low().unwrap_or(known.over_runs.value),
        high: known.over_runs.high().unwrap_or(known.over_runs.value),
        deviation: known.deviation(),
        within_run: known.within_run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;

    /// Creates repeats whose runs achieve these loads, in operations per second.
    fn repeats(loads: &[f64], until: Option<f64>) -> Repeats {
        let wanted = RepeatPlan {
            most: 8,
            until,
            pause_ns: 0,
        };
        let record = fixtures::in_stretches();
        let mut repeats = Repeats::new(std::iter::once(&record.plan), &wanted);
        for load in loads {
            let mut run = record.clone();
            let factor = load / record.totals.achieved_load_ops_per_s;
            run.totals.achieved_load_ops_per_s = *load;
            run.totals.client_cpu_ns_per_op /= factor;
            let times = &mut run.totals.response_time_ns;
            times.p50 = (times.p50 as f64 * (1.0 + (factor - 1.0) / 10.0)) as u64;
            repeats.series[0].add(&run);
            repeats.order.push(0);
        }
        repeats
    }

    #[test]
    fn runs_of_one_thing() {
        let repeats = repeats(&[990.0, 1010.0, 1000.0, 980.0, 1040.0], None);
        insta::assert_snapshot!(report(&repeats).text(PageWidth::default()));
        let document = document(&repeats);
        assert_eq!(document.series[0].runs, 5);
        let best = document.series[0].repeats_best.as_deref();
        assert_eq!(best, Some("response_time.p50"));
        assert_eq!(document.order, [1; 5]);
    }

    #[test]
    fn too_few_runs_say_how_many_it_takes() {
        let mut repeats = repeats(&[990.0, 1010.0, 1000.0], Some(0.01));
        repeats.end = RepeatsEnd::Interrupted;
        assert!(!repeats.are_enough());
        insta::assert_snapshot!(report(&repeats).text(PageWidth::default()));
    }

    #[test]
    fn one_run_says_that_it_is_alone() {
        let mut repeats = repeats(&[990.0], None);
        repeats.end = RepeatsEnd::Failed;
        insta::assert_snapshot!(report(&repeats).text(PageWidth::default()));
    }

    #[test]
    fn it_is_enough_when_the_headline_is_known() {
        let loads = [1000.0, 1001.0, 999.0, 1000.0, 1000.0];
        assert!(repeats(&loads, Some(0.01)).are_enough());
        assert!(!repeats(&loads, Some(0.0001)).are_enough());
        assert!(!repeats(&loads, None).are_enough());
        assert_eq!(repeats(&loads, Some(0.01)).expected_runs(), 5);
        assert_eq!(repeats(&loads[..1], Some(0.01)).expected_runs(), 5);
    }
}
