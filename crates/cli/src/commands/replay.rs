//! `filestone replay`: executes the lines of load files, on one layer or on several in turn; the
//! successor of dbench and tbench.

use crate::ExitStatus;
use crate::error::Error;
use crate::execution::{CalibrationMode, LoadedPlan, Measurement, Presentation};
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::loads;
use crate::options::replay::ReplayOptions;
use crate::planning;
use crate::planning::Environment;
use crate::planning::cost::with_cost;
use crate::planning::gates::with_gates;
use crate::planning::replay::LOAD_DEFAULT;
use filestone_report::document::page::Detail;

/// Reads the load files, plans the replays and runs them.
pub fn run(options: &ReplayOptions) -> Result<ExitStatus, Error> {
    measurement(options)?.execute()
}

/// Returns the measurement and its output options.
pub fn measurement(options: &ReplayOptions) -> Result<Measurement<'_>, Error> {
    let loads = loads::list(options.loads.as_deref().unwrap_or(LOAD_DEFAULT))?;
    let credentials = DefaultCredentials::read(&options.share.access)?;
    let plans = planning::replay::plans(options, &loads, &credentials, &Environment::here())?;
    // With several layers, costs are counted only on those that have any.
    let is_one_of_several = plans.len() > 1;
    let plans = plans.into_iter().map(|plan| {
        let cost = &options.report.cost;
        let has_none = is_one_of_several && plan.target.is_directory() && !cost.reads_server();
        let plan = if has_none {
            plan
        } else {
            with_cost(plan, cost)?
        };
        with_gates(plan, &options.report.gates)
    });
    let jobs = LoadedPlan::replays(plans.collect::<Result<_, _>>()?, &loads)?;
    let jobs = LoadedPlan::with_credentials(jobs, &credentials, &options.report)?;
    let show = Presentation {
        report: &options.report,
        calibration: CalibrationMode::Omit,
        detail: match (jobs.len(), options.per_client_results, options.verbose) {
            (_, true, _) => Detail::Clients,
            (0 | 1, ..) | (_, _, true) => Detail::Whole,
            _ => Detail::Brief,
        },
    };
    Ok(Measurement {
        notes: vec![],
        jobs,
        show,
    })
}
