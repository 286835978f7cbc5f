//! `filestone probe`: one operation, repeated; the successor of nct.

use crate::carry_out::carry_out;
use crate::error::Error;
use crate::options::ProbeOptions;
use crate::planning::{self, Surroundings};
use crate::render::json;
use crate::{Exit, console};

/// Plans and runs, or prints the plan.
pub fn run(options: &ProbeOptions) -> Result<Exit, Error> {
    let plan = planning::probe(options, &Surroundings::here())?;
    if options.dry_run {
        console::result(&json::document(&plan)?)?;
        return Ok(Exit::Done);
    }
    carry_out(&plan, &options.report)
}
