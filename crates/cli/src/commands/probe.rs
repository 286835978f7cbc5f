//! `filestone probe`: one repeated operation; the successor of nct.

use crate::ExitStatus;
use crate::error::Error;
use crate::execution::{CalibrationMode, LoadedPlan, Measurement, Presentation};
use crate::inputs::credentials::DefaultCredentials;
use crate::options::probe::ProbeOptions;
use crate::planning::cost::with_cost;
use crate::planning::gates::{expecting, with_gates};
use crate::planning::{self, Environment};
use filestone_report::document::page::Detail;

/// Plans the probe and runs it.
pub fn run(options: &ProbeOptions) -> Result<ExitStatus, Error> {
    measurement(options)?.execute()
}

/// Returns the measurement and its output options.
pub fn measurement(options: &ProbeOptions) -> Result<Measurement<'_>, Error> {
    let credentials = DefaultCredentials::read(&options.share.access)?;
    let plan = planning::probe(options, &credentials, &Environment::here())?;
    let plan = with_cost(plan, &options.report.cost)?;
    let plan = with_gates(plan, &options.report.gates)?;
    let plan = expecting(plan, &options.expect)?;
    let show = Presentation {
        report: &options.report,
        calibration: CalibrationMode::unless(options.calibration.no_calibrate),
        detail: if options.verbose {
            Detail::Clients
        } else {
            Detail::Whole
        },
    };
    Ok(Measurement {
        notes: vec![],
        jobs: LoadedPlan::with_credentials(
            vec![LoadedPlan::new(plan)?],
            &credentials,
            &options.report,
        )?,
        show,
    })
}
