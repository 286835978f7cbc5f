//! `filestone ladder`: operations in order of cost, with the difference of each to the one before.

use super::probe;
use crate::ExitStatus;
use crate::console;
use crate::error::Error;
use crate::execution::live::RowStream;
use crate::execution::sweep::{self, PlannedSweep};
use crate::execution::verdict::FailingCaveats;
use crate::execution::{CalibrationMode, LoadedPlan};
use crate::options::ladder::LadderOptions;
use crate::planning::ladder::{echo_of, probe_of};
use filestone_measure::sweep::Rung;
use filestone_report::sweep::ladder::{begun, rungs_of};

/// Name of the rung that is not an operation.
const ECHO: &str = "echo";

/// Plans every rung, then measures all of them.
pub fn run(options: &LadderOptions) -> Result<ExitStatus, Error> {
    let rungs = options.rungs();
    let read: Vec<_> = rungs.iter().map(|rung| probe_of(options, rung)).collect();
    let (mut planned, mut left_out) = (echo(options)?, vec![]);
    for (rung, probe) in rungs.iter().zip(&read) {
        match probe::measurement(probe) {
            Ok(measured) => {
                let jobs = measured.jobs.into_iter();
                planned.extend(jobs.map(|job| (rung.name, job)));
            }
            Err(error) => left_out.push((rung.name, error)),
        }
    }
    // An error of one rung does not concern the others; but a rung that was named is required.
    let is_wrong = planned.is_empty() || !options.rungs.is_empty();
    for (name, error) in left_out {
        if is_wrong {
            let what = format!("{name}: {}", error.message);
            return Err(Error {
                message: what,
                ..error
            });
        }
        console::note(&format!("{name}: left out: {}", error.message));
    }
    let plans = planned.iter();
    let plans = plans.map(|(name, job)| ((*name).to_owned(), job.plan.clone()));
    sweep::execute(PlannedSweep {
        swept: begun(rungs_of(plans), options.rounds.plan_by_default(), 0),
        jobs: planned.into_iter().map(|(_, job)| job).collect(),
        output: options.output.as_deref(),
        seed: options.load.generator.seed,
        dry_run: options.dry_run,
        format: options.format.into(),
        live: &options.live,
        calibration: CalibrationMode::unless(options.calibration.no_calibrate),
        notes: vec![],
        mark: None,
        rows: RowStream::Error,
        failing: FailingCaveats::None,
    })
}

/// Returns the lowest rung, if there is a server for it.
fn echo(options: &LadderOptions) -> Result<Vec<(&'static str, LoadedPlan)>, Error> {
    let (Some(address), Some(null)) = (&options.echo, Rung::named("null")) else {
        return Ok(vec![]);
    };
    let null = probe_of(options, null);
    let planned = probe::measurement(&null)?.jobs.into_iter().map(|job| {
        let plan = echo_of(job.plan, address)?;
        Ok((ECHO, LoadedPlan::new(plan)?))
    });
    planned.collect()
}
