//! `filestone probe`: one operation, repeated; the successor of nct.

use crate::Exit;
use crate::carry_out::carry_out;
use crate::error::Error;
use crate::options::ProbeOptions;
use crate::planning::{self, Surroundings};

/// Plans and runs.
pub fn run(options: &ProbeOptions) -> Result<Exit, Error> {
    let plan = planning::probe(options, &Surroundings::here())?;
    carry_out(&plan, &options.report)
}
