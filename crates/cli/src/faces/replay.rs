//! `filestone replay`: the lines of load files, on one layer or on several in turn;
//! the successor of dbench and tbench.

use crate::Exit;
use crate::carry_out::{Calibration, Job, Presentation, carry_out};
use crate::error::Error;
use crate::loads;
use crate::planning::Surroundings;
use crate::replay_options::ReplayOptions;
use crate::replay_planning::{self, LOAD_DEFAULT};

/// Reads the loads, plans and runs.
pub fn run(options: &ReplayOptions) -> Result<Exit, Error> {
    let loads = loads::list(options.loads.as_deref().unwrap_or(LOAD_DEFAULT))?;
    let plans = replay_planning::plans(options, &loads, &Surroundings::here())?;
    let jobs = Job::replays(plans, &loads)?;
    let show = Presentation {
        report: &options.report,
        calibration: Calibration::Omit,
        per_client_results: options.per_client_results,
    };
    carry_out(&jobs, &show)
}
