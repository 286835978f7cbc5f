//! `filestone fleet`: many clients that write and read files according to a plan; the successor of
//! LANforge's File-IO endpoints.

use crate::error::Error;
use crate::execution::{CalibrationMode, LoadedPlan, Measurement, Presentation};
use crate::inputs::credentials::DefaultCredentials;
use crate::options::fleet::{FleetCommand, FleetOptions};
use crate::planning::Environment;
use crate::planning::cost::with_cost;
use crate::planning::gates::{expecting, with_gates};
use crate::{ExitStatus, console, planning};
use filestone_host::control_socket::SocketChoice;
use filestone_plan::fleet::EXAMPLE;
use filestone_report::document::page::Detail;

/// Reads the plan and runs it.
pub fn run(options: &FleetOptions) -> Result<ExitStatus, Error> {
    match &options.command {
        Some(FleetCommand::Cookbook(cookbook)) => return super::cookbook::run(cookbook),
        Some(FleetCommand::Addresses(addresses)) => return super::fleet_addresses::run(addresses),
        Some(FleetCommand::Ctl(ctl)) => return super::fleet_ctl::run(ctl),
        None => {}
    }
    if options.example {
        console::result(EXAMPLE)?;
        return Ok(ExitStatus::Done);
    }
    measurement(options)?.execute()
}

/// Returns the measurement and its output options.
pub fn measurement(options: &FleetOptions) -> Result<Measurement<'_>, Error> {
    if options.command.is_some() || options.example {
        return Err(Error::usage("fleet: this is no run of a plan"));
    }
    let credentials = DefaultCredentials::read(&options.share.access)?;
    let plan = planning::fleet::plan(options, &credentials, &Environment::here())?;
    let plan = with_cost(plan, &options.report.cost)?;
    let plan = with_gates(plan, &options.report.gates)?;
    let plan = expecting(plan, &options.expect)?;
    let show = Presentation {
        report: &options.report,
        calibration: CalibrationMode::Omit,
        detail: Detail::Whole,
    };
    let job = LoadedPlan {
        control_socket: options.ctl.clone().unwrap_or(SocketChoice::Usual),
        ..LoadedPlan::new(plan)?
    };
    let jobs = LoadedPlan::with_credentials(vec![job], &credentials, &options.report)?;
    Ok(Measurement {
        notes: vec![],
        jobs,
        show,
    })
}
