//! `filestone sweep`: the same measurement over the values of one or two options.

use super::inner::{self, Inner};
use crate::Exit;
use crate::error::Error;
use crate::execution::sweep::{self, Sweep, SweepPoint};
use crate::execution::{Measurement, refuse_own, refuse_steered};
use crate::options::Command;
use crate::options::sweep::SweepOptions;
use crate::planning::sweep::{line_of_point, parameters};
use filestone_model::sweep::{name_of_point, points};

/// Plans every point, then measures them all.
pub fn run(options: &SweepOptions) -> Result<Exit, Error> {
    let words = inner::words(&options.words);
    let parameters = parameters(&options.over, &words)?;
    let points = points(&parameters).map_err(|why| Error::usage(format!("--over: {why}")))?;
    let mut read: Vec<(String, Vec<String>, Box<Command>)> = vec![];
    for point in &points {
        let name = name_of_point(&parameters, point);
        let line = line_of_point(&words, &parameters, point);
        match inner::read(&line).map_err(|error| of_point(&name, error))? {
            Inner::Shown(exit) => return Ok(exit),
            Inner::Read(mut command) => {
                if let Some(report) = inner::report_options(&mut command) {
                    refuse_own(report, "sweep")?;
                    // Plans that are only shown need no password.
                    report.dry_run = options.dry_run;
                }
                read.push((name, line, command));
            }
        }
    }
    let mut planned = vec![];
    for ((name, line, command), values) in read.iter().zip(points) {
        let measured = inner::measurement(command, line).map_err(|error| of_point(name, error))?;
        refuse_several(&measured)?;
        refuse_steered(&measured.jobs, "sweep")?;
        planned.push(SweepPoint { values, measured });
    }
    sweep::execute(
        Sweep {
            command: words,
            parameters,
            points: planned,
        },
        options,
    )
}

fn of_point(name: &str, error: Error) -> Error {
    Error {
        what: format!("point {name}: {}", error.what),
        ..error
    }
}

fn refuse_several(measured: &Measurement<'_>) -> Result<(), Error> {
    match measured.jobs.as_slice() {
        [_] => Ok(()),
        several => Err(Error::usage(format!(
            "sweep: a point is one run, and this is {} of them, one for each layer",
            several.len()
        ))
        .with_help("--over on=local:,nfs: goes over layers")),
    }
}
