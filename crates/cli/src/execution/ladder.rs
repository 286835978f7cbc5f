//! `filestone ladder`: runs of every rung, like those of the points of a sweep: in rounds, in
//! random order, and stored in the same way.

use super::caveat_summary::CaveatSummary;
use super::live::RowStream;
use super::output_directory::OnExistingDirectory;
use super::rounds::{Rounds, RoundsEnd};
use super::sweep::{Found, Place, Points, places, show_points};
use super::verdict::FailingCaveats;
use super::views::RunObservers;
use super::{Calibration, Job, interruption, ladder_directory};
use crate::ExitStatus;
use crate::console;
use crate::error::Error;
use crate::options::ladder::{LadderFormat, LadderOptions};
use crate::report::ladder::{self as report, Ladder, document, picture, rungs};
use crate::report::parts::page::Page;
use crate::report::{html, json, picture as drawing};
use filestone_measure::comparison::repeats::RepeatPlan;

/// A planned rung.
#[derive(Debug)]
pub struct PlannedRung {
    /// Name of the rung.
    pub name: &'static str,
    /// Probe of the rung.
    pub job: Job,
}

/// Measures all rungs, or prints their plans.
pub fn execute(planned: Vec<PlannedRung>, options: &LadderOptions) -> Result<ExitStatus, Error> {
    let output = options.output.as_deref();
    let place = Place {
        noun: "ladder",
        path: output,
    };
    let earlier = output.map(ladder_directory::earlier).transpose()?.flatten();
    let own = planned.first().map_or(0, |rung| rung.job.plan.seed);
    let asked = options.load.generator.seed;
    let seed = place.seed(own, asked, earlier.as_ref().map(|it| &it.swept))?;
    let (mut ladder, jobs) = begun(planned, &options.rounds.plan_by_default(), seed);
    if options.dry_run {
        return show_points(&ladder.swept, &jobs);
    }
    let _held = place.claim(&ladder.swept, earlier.as_ref().map(|it| &it.swept))?;
    if let Some(path) = output {
        ladder_directory::write_plan(path, &ladder)?;
    }
    let stop = interruption::stop_flag()?;
    let views = RunObservers::open(&options.live, jobs.iter().map(|job| &job.plan))?;
    let places = places(&ladder.swept, output);
    let wanted = ladder.swept.wanted;
    let rounds = Rounds {
        jobs: &jobs,
        wanted: &wanted,
        seed,
        calibration: Calibration::unless(options.calibration.no_calibrate),
        places: &places,
        existing: OnExistingDirectory::Resume,
        mark: None,
        rows: RowStream::Error,
        failing: &FailingCaveats::None,
        stop: &stop,
        views: &views,
    };
    let tallies = &mut ladder.tallies;
    let mut points = Points {
        swept: &mut ladder.swept,
        caveats: CaveatSummary::default(),
        also: &mut |rung, record| {
            if let Some(tally) = tallies.get_mut(rung) {
                tally.add(record);
            }
        },
    };
    let ended = rounds.run(&mut points);
    let caveats = points.caveats;
    let exit = finish(&mut ladder, ended, &caveats, options);
    if !ladder.swept.order.is_empty() {
        views.offer(|| html::of_ladder(&ladder));
    }
    views.close(output, &stop);
    exit
}

/// Returns the ladder without runs, and the job of each rung.
fn begun(planned: Vec<PlannedRung>, wanted: &RepeatPlan, seed: u64) -> (Ladder, Vec<Job>) {
    let (mut plans, mut jobs) = (vec![], vec![]);
    for PlannedRung { name, mut job } in planned {
        job.plan.seed = seed;
        plans.push((name.to_owned(), job.plan.clone()));
        jobs.push(job);
    }
    (Ladder::begun(rungs(plans), *wanted, seed), jobs)
}

/// Formats a ladder in the requested format.
pub fn render(ladder: &Ladder, format: LadderFormat, page: Page) -> Result<String, Error> {
    Ok(match format {
        LadderFormat::Text => report::text(ladder, page),
        LadderFormat::Json => json::document(&document::of(ladder))?,
        LadderFormat::Csv => document::csv(ladder),
        LadderFormat::Svg => drawing::render(&picture::picture(ladder)),
        LadderFormat::Html => html::of_ladder(ladder)?,
    })
}

/// Stores and prints the result.
fn finish(
    ladder: &mut Ladder,
    mut ended: RoundsEnd,
    caveats: &CaveatSummary,
    options: &LadderOptions,
) -> Result<ExitStatus, Error> {
    let output = options.output.as_deref();
    (ladder.swept.end, ladder.swept.order) = (Some(ended.end), std::mem::take(&mut ended.order));
    let kept = output.map_or(Ok(()), |path| ladder_directory::write_found(path, ladder));
    let found = Found {
        swept: &ladder.swept,
        ended,
        caveats,
        output,
        kept,
    };
    found.tell(|| render(ladder, options.format, console::page()))
}
