//! `filestone sweep` and `filestone ladder`: runs at every point, in rounds and in random order,
//! until each point has the requested precision; runs that an earlier invocation left in the
//! directory count.

use super::caveat_summary::CaveatSummary;
use super::live::RowStream;
use super::output_directory::{OnExistingDirectory, OutputDirectory};
use super::rounds::{Rounds, RoundsEnd, StopRule};
use super::sweep_directory;
use super::verdict::FailingCaveats;
use super::views::RunObservers;
use super::{CalibrationMode, LoadedPlan, interruption};
use crate::ExitStatus;
use crate::console::{self, StdoutState};
use crate::error::Error;
use crate::inputs::record_file;
use crate::options::live::LiveOptions;
use crate::options::sweep::SweepFormat;
use filestone_measure::comparison::ComparedRun;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_measure::measure::RunRecord;
use filestone_measure::sweep::name_of_point;
use filestone_plan::plan::Plan;
use filestone_report::document::page::PageWidth;
use filestone_report::repeats::RepeatsEnd;
use filestone_report::sweep::study::preview;
use filestone_report::sweep::{self as report, SweepReport, SweptPoint, script};
use filestone_report::{html, json, picture as drawing};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Approximate time for connections, mounts and the record of a run, in nanoseconds.
const AROUND_A_RUN: u64 = 100_000_000;

/// A planned sweep or ladder, and how it is run and shown.
#[derive(Debug)]
pub struct PlannedSweep<'run> {
    /// The sweep without runs.
    pub swept: SweepReport,
    /// Job of each point.
    pub jobs: Vec<LoadedPlan>,
    /// `--output`.
    pub output: Option<&'run Path>,
    /// Requested seed of all points.
    pub seed: Option<u64>,
    /// Whether the plans are shown instead of measured.
    pub dry_run: bool,
    /// Format of the result.
    pub format: SweepFormat,
    /// Live views of the runs.
    pub live: &'run LiveOptions,
    /// Whether filestone is calibrated before the first run of each point.
    pub calibration: CalibrationMode,
    /// Notes that are printed before the first run.
    pub notes: Vec<String>,
    /// Interval of one row, in nanoseconds of the run.
    pub mark: Option<u64>,
    /// Destination of the rows.
    pub rows: RowStream,
    /// Caveats that count as failure.
    pub failing: FailingCaveats,
}

/// A point whose plan is only shown.
#[derive(Serialize)]
struct ShownPoint<'run> {
    point: String,
    plan: &'run Plan,
}

/// Measures all points, or shows their plans.
pub fn execute(mut planned: PlannedSweep<'_>) -> Result<ExitStatus, Error> {
    let (output, kind) = (planned.output, planned.swept.kind);
    let earlier = output.map(|path| sweep_directory::earlier(path, kind));
    let earlier = earlier.transpose()?.flatten();
    let place = Place {
        noun: kind.noun(),
        path: output,
    };
    let own = planned.jobs.first().map_or(0, |job| job.plan.seed);
    planned.set_seed(place.seed(own, planned.seed, earlier.as_ref())?);
    let PlannedSweep {
        mut swept, jobs, ..
    } = planned;
    if planned.dry_run {
        return if swept.is_study() && planned.format == SweepFormat::Text {
            show_study(&swept, &jobs)
        } else {
            show_points(&swept, &jobs)
        };
    }
    let _held = place.claim(&swept, earlier.as_ref())?;
    if let Some(path) = output {
        sweep_directory::write_plan(path, &swept)?;
    }
    planned.notes.iter().for_each(|note| console::note(note));
    let stop = interruption::stop_flag()?;
    let views = RunObservers::open(planned.live, jobs.iter().map(|job| &job.plan))?;
    let places = places(&swept, output);
    let wanted = swept.wanted;
    let rounds = Rounds {
        jobs: &jobs,
        wanted: &wanted,
        seed: swept.seed,
        calibration: planned.calibration,
        places: &places,
        existing: OnExistingDirectory::Resume,
        mark: planned.mark,
        rows: planned.rows,
        failing: &planned.failing,
        stop: &stop,
        views: &views,
    };
    let mut points = Points {
        swept: &mut swept,
        caveats: CaveatSummary::default(),
    };
    let ended = rounds.run(&mut points);
    let caveats = points.caveats;
    let exit = finish(&mut swept, ended, &caveats, output, planned.format);
    if !swept.order.is_empty() {
        views.offer(|| html::of_sweep(&swept));
    }
    views.close(output, &stop);
    exit
}

impl PlannedSweep<'_> {
    fn set_seed(&mut self, seed: u64) {
        self.swept.seed = seed;
        for (point, job) in self.swept.points.iter_mut().zip(&mut self.jobs) {
            job.plan.seed = seed;
            point.plan.seed = seed;
        }
    }
}

/// Directory of a sweep.
#[derive(Debug, Clone, Copy)]
struct Place<'run> {
    /// Noun for the sweep in messages.
    noun: &'static str,
    /// `--output`.
    path: Option<&'run Path>,
}

impl Place<'_> {
    /// Returns the seed of all points: that of the earlier invocation, if there was one.
    fn seed(
        self,
        own: u64,
        asked: Option<u64>,
        earlier: Option<&SweepReport>,
    ) -> Result<u64, Error> {
        match (earlier.map(|earlier| earlier.seed), asked) {
            (Some(earlier), Some(seed)) if earlier != seed => {
                Err(self.another(&format!("its seed is {earlier}, and not {seed}")))
            }
            (Some(seed), _) | (None, Some(seed)) => Ok(seed),
            (None, None) => Ok(own),
        }
    }

    /// Checks before the first run that the directory is free or belongs to this sweep. This
    /// process owns it until the value is dropped.
    fn claim(
        self,
        swept: &SweepReport,
        earlier: Option<&SweepReport>,
    ) -> Result<Option<OutputDirectory>, Error> {
        let existing = match earlier {
            None => OnExistingDirectory::Refuse,
            Some(earlier) => match difference(swept, earlier) {
                Some(why) => return Err(self.another(&why)),
                None => OnExistingDirectory::Earlier,
            },
        };
        let held = self.path.map(|path| OutputDirectory::claim(path, existing));
        held.transpose()
    }

    fn another(self, why: &str) -> Error {
        let path = self.path.unwrap_or(Path::new("")).display();
        let noun = self.noun;
        Error::usage(format!("--output {path}: this is another {noun}: {why}")).with_help(
            "nothing was overwritten and nothing was sent; name a new or an empty directory",
        )
    }
}

/// Prints the steps of the study and its expected duration.
fn show_study(swept: &SweepReport, jobs: &[LoadedPlan]) -> Result<ExitStatus, Error> {
    let text = preview::report(swept, expected_ns(jobs, &swept.wanted)).text(console::page());
    console::result(&text)?;
    Ok(ExitStatus::Done)
}

/// Returns the planned duration of all runs, in nanoseconds; the window of a run that ends after a
/// count is not included.
fn expected_ns(jobs: &[LoadedPlan], wanted: &RepeatPlan) -> u64 {
    let of_run = |job: &LoadedPlan| {
        let idle = job.plan.cost.as_ref().map_or(0, |cost| cost.idle_ns);
        let window = job.plan.duration_ns.unwrap_or(0);
        idle + job.plan.warm_up_ns + window + wanted.pause_ns + AROUND_A_RUN
    };
    let round: u64 = jobs.iter().map(of_run).sum();
    round.saturating_mul(wanted.most.into())
}

/// Prints the points with their plans.
fn show_points(swept: &SweepReport, jobs: &[LoadedPlan]) -> Result<ExitStatus, Error> {
    let points = jobs.iter().enumerate().map(|(number, job)| ShownPoint {
        point: swept.name(number),
        plan: &job.plan,
    });
    let points: Vec<ShownPoint<'_>> = points.collect();
    console::result(&json::document(&points)?)?;
    Ok(ExitStatus::Done)
}

/// Describes how a sweep differs from an earlier one, apart from the number of runs.
fn difference(swept: &SweepReport, earlier: &SweepReport) -> Option<String> {
    if swept.points.len() != earlier.points.len() {
        let counts = [earlier, swept].map(|sweep| sweep.points.len());
        return Some(format!(
            "it has {} points, and not {}",
            counts[0], counts[1]
        ));
    }
    let mut both = swept.points.iter().zip(&earlier.points);
    let (point, earlier) = both.find(|(point, earlier)| !is_same(point, earlier))?;
    let name = |sweep: &SweptPoint| name_of_point(&swept.parameters, &sweep.values);
    let (point, earlier) = (name(point), name(earlier));
    Some(if point == earlier {
        format!("its point {point} has another plan")
    } else {
        format!("its point {earlier} is not {point}")
    })
}

fn is_same(point: &SweptPoint, earlier: &SweptPoint) -> bool {
    let is_as_kept = record_file::as_kept(&point.plan).is_some_and(|plan| plan == earlier.plan);
    let texts = |point: &SweptPoint| -> Vec<String> {
        point
            .values
            .iter()
            .map(|value| value.text.clone())
            .collect()
    };
    is_as_kept && texts(point) == texts(earlier)
}

/// Returns the directories of the points' runs.
fn places(swept: &SweepReport, root: Option<&Path>) -> Vec<Option<PathBuf>> {
    let points = 0..swept.points.len();
    points
        .map(|point| root.map(|root| sweep_directory::place_of(root, swept, point)))
        .collect()
}

/// Counts runs of points.
struct Points<'run> {
    swept: &'run mut SweepReport,
    /// Caveats of all runs.
    caveats: CaveatSummary,
}

impl StopRule for Points<'_> {
    fn wants_more(&self, point: usize) -> bool {
        let point = &self.swept.points[point];
        point.failed.is_none() && !point.tally.is_enough(&self.swept.wanted)
    }

    fn expected_runs(&self, point: usize) -> u32 {
        let point = &self.swept.points[point];
        match point.failed {
            Some(_) => point.tally.runs() as u32,
            None => point.tally.expected_runs(&self.swept.wanted),
        }
    }

    fn thing(&self, point: usize) -> String {
        self.swept.name(point)
    }

    /// Returns the name, such as `io-size=512, run 3 of 5`.
    fn name(&self, point: usize, round: usize) -> String {
        let name = self.swept.name(point);
        let most = self.swept.wanted.most;
        match self.swept.wanted.until {
            None => format!("{name}, run {} of {most}", round + 1),
            Some(_) => format!("{name}, run {} of {most} at most", round + 1),
        }
    }

    fn count(&mut self, point: usize, record: RunRecord) {
        self.caveats.add(&record);
        let figure = self.swept.figure.of_operations();
        let mut run = ComparedRun::from(&record);
        if run.lacks(figure.as_slice()) {
            run.intervals = record.intervals;
        }
        self.swept.count(point, &run);
    }

    fn goes_on_without(&mut self, point: usize, why: &str) -> bool {
        console::note(&format!("{}: left out: {why}", self.swept.name(point)));
        self.swept.points[point].failed = Some(why.into());
        true
    }
}

/// Formats a sweep in the requested format.
pub fn render(swept: &SweepReport, format: SweepFormat, page: PageWidth) -> Result<String, Error> {
    Ok(match format {
        SweepFormat::Text => report::report(swept).text(page),
        SweepFormat::Json => sweep_directory::document_of(swept)?,
        SweepFormat::Csv => report::csv(swept),
        SweepFormat::Gnuplot => script::script(swept),
        SweepFormat::Html => html::of_sweep(swept)?,
        SweepFormat::Svg => drawing::render(&report::drawing(swept)),
    })
}

/// Stores and prints the result, its caveats and how to continue.
fn finish(
    swept: &mut SweepReport,
    mut ended: RoundsEnd,
    caveats: &CaveatSummary,
    output: Option<&Path>,
    format: SweepFormat,
) -> Result<ExitStatus, Error> {
    (swept.end, swept.order) = (Some(ended.end), std::mem::take(&mut ended.order));
    let kept = output.map_or(Ok(()), |path| sweep_directory::write_found(path, swept));
    let shown = if swept.order.is_empty() && ended.error.is_some() {
        Ok(StdoutState::Present)
    } else {
        render(swept, format, console::page()).and_then(|text| console::result(&text))
    };
    caveats.tell();
    // A sweep without any measurement cannot be continued.
    let help = how_to_go_on(ended.end, output);
    if let Some(help) = help.filter(|_| !swept.order.is_empty()) {
        console::help(help);
    }
    if let Some(error) = ended.error {
        return Err(error);
    }
    kept?;
    match (ended.exit, shown?) {
        (ExitStatus::Interrupted, StdoutState::Gone) => Ok(ExitStatus::Done),
        (exit, _) => Ok(exit.max(nothing_measured(swept)).max(ended.worst)),
    }
}

/// Returns the help text on how to make the missing runs.
fn how_to_go_on(end: RepeatsEnd, output: Option<&Path>) -> Option<&'static str> {
    match (end, output) {
        (RepeatsEnd::All | RepeatsEnd::Enough, _) => None,
        (RepeatsEnd::Interrupted | RepeatsEnd::Failed, Some(_)) => {
            Some("the same command line goes on where this ended")
        }
        (RepeatsEnd::Interrupted | RepeatsEnd::Failed, None) => {
            Some("with --output DIR the same command line would go on where it ended")
        }
    }
}

/// Returns a failure exit code if not one point could be measured.
fn nothing_measured(swept: &SweepReport) -> ExitStatus {
    if swept.points.iter().all(|point| point.failed.is_some()) {
        ExitStatus::DoesNotCount
    } else {
        ExitStatus::Done
    }
}
