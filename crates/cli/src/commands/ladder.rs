//! `filestone ladder`: operations from the emptiest on, and what each adds to the one before.

use super::probe;
use crate::ExitStatus;
use crate::console;
use crate::error::Error;
use crate::execution::Job;
use crate::execution::ladder::{self, PlannedRung};
use crate::options::ladder::LadderOptions;
use crate::planning::ladder::{echo_of, probe_of};
use filestone_measure::ladder::Rung;

/// What the rung is called that no operation is.
const ECHO: &str = "echo";

/// Plans every rung, then measures them all.
pub fn run(options: &LadderOptions) -> Result<ExitStatus, Error> {
    let rungs = options.rungs();
    let read: Vec<_> = rungs.iter().map(|rung| probe_of(options, rung)).collect();
    let (mut planned, mut left_out) = (echo(options)?, vec![]);
    for (rung, probe) in rungs.iter().zip(&read) {
        match probe::measurement(probe) {
            Ok(measured) => {
                let jobs = measured.jobs.into_iter();
                planned.extend(jobs.map(|job| PlannedRung {
                    name: rung.name,
                    job,
                }));
            }
            Err(error) => left_out.push((rung.name, error)),
        }
    }
    // What is wrong with one rung is not wrong with all; but one that was named is wanted.
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
    ladder::execute(planned, options)
}

/// The rung below all others, if there is a server for it.
fn echo(options: &LadderOptions) -> Result<Vec<PlannedRung>, Error> {
    let (Some(address), Some(null)) = (&options.echo, Rung::named("null")) else {
        return Ok(vec![]);
    };
    let null = probe_of(options, null);
    let planned = probe::measurement(&null)?.jobs.into_iter().map(|job| {
        let plan = echo_of(job.plan, address)?;
        Ok(PlannedRung {
            name: ECHO,
            job: Job::new(plan)?,
        })
    });
    planned.collect()
}
