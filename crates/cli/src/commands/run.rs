//! `filestone run`: runs a plan from a file, or several in turn.

use crate::ExitStatus;
use crate::error::Error;
use crate::execution::{CalibrationMode, LoadedPlan, Measurement, Presentation};
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::{loads, record_file};
use crate::options::RunOptions;
use crate::planning;
use crate::planning::cost::with_cost;
use crate::planning::gates::with_gates;
use filestone_report::document::page::Detail;

/// Reads the plans and runs them; `--report-interval` may change the length of their intervals.
pub fn run(options: &RunOptions) -> Result<ExitStatus, Error> {
    measurement(options)?.execute()
}

/// Returns the measurement and its output options.
pub fn measurement(options: &RunOptions) -> Result<Measurement<'_>, Error> {
    let credentials = DefaultCredentials::read(&options.password)?;
    let mut jobs = Vec::new();
    for mut plan in record_file::read_plans(&options.plan)? {
        if options.report.report_interval.is_some() {
            plan = planning::with_intervals(plan, options.report.report_interval);
        }
        let job = LoadedPlan::new(with_gates(
            with_cost(plan, &options.report.cost)?,
            &options.report.gates,
        )?)?;
        loads::refuse(&job.plan, &job.loads)?;
        jobs.push(job);
    }
    let jobs = LoadedPlan::with_credentials(jobs, &credentials, &options.report)?;
    let show = Presentation {
        report: &options.report,
        calibration: CalibrationMode::unless(options.calibration.no_calibrate),
        detail: Detail::Whole,
    };
    Ok(Measurement {
        notes: vec![],
        jobs,
        show,
    })
}
