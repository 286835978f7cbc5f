//! `filestone run`: a plan from a file.

use crate::Exit;
use crate::carry_out::carry_out;
use crate::error::Error;
use crate::options::RunOptions;
use crate::{planning, record_file};

/// Reads the plan and runs it; `--mark` may change the length of its intervals.
pub fn run(options: &RunOptions) -> Result<Exit, Error> {
    let mut plan = record_file::read_plan(&options.plan)?;
    if options.report.mark.is_some() {
        plan.interval_ns = planning::interval(options.report.mark);
    }
    carry_out(&plan, &options.report)
}
