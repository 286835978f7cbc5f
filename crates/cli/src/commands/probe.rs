//! `filestone probe`: one repeated operation; the successor of nct.

use crate::ExitStatus;
use crate::error::Error;
use crate::execution::{Calibration, Job, Measurement, Presentation};
use crate::inputs::credentials::Credentials;
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
    let credentials = Credentials::read(&options.share.access)?;
    let plan = planning::probe(options, &credentials, &Environment::here())?;
    let plan = with_cost(plan, &options.report.cost)?;
    let plan = with_gates(plan, &options.report.gates)?;
    let plan = expecting(plan, &options.expect)?;
    let show = Presentation {
        report: &options.report,
        calibration: Calibration::unless(options.calibration.no_calibrate),
        detail: if options.verbose {
            Detail::Clients
        } else {
            Detail::Whole
        },
    };
    Ok(Measurement {
        notes: vec![],
        jobs: Job::with_credentials(vec![Job::new(plan)?], &credentials, &options.report)?,
        show,
    })
}
