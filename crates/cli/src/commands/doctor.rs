//! `filestone doctor`: checks this host, and optionally a target, for conditions that spoil a
//! measurement.

use crate::error::{Error, exit_code_of};
use crate::execution::interruption;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::doctor::DoctorOptions;
use crate::options::run_report::DocumentFormat;
use crate::planning::{self, Environment};
use crate::{ExitStatus, console, protocols};
use filestone_engine::doctor::examine;
use filestone_host::control::{NoObserver, RunContext};
use filestone_measure::doctor::{Diagnosis, FindingLevel};
use filestone_report::{doctor, json};
use std::sync::atomic::Ordering;

/// Runs the checks and prints the findings.
pub fn run(options: &DoctorOptions) -> Result<ExitStatus, Error> {
    let credentials = DefaultCredentials::read(&options.share.access)?;
    let contact = planning::doctor::contact(options, &credentials, &Environment::here())?;
    let stop = interruption::stop_flag()?;
    let mut unobserved = NoObserver;
    let mut context = RunContext::new(&stop, &mut unobserved);
    let examination = examine(contact.as_ref(), protocols::known(), &mut context);
    let diagnosis = Diagnosis::of(examination.facts);
    console::result(&match options.format {
        DocumentFormat::Text => doctor::text(&diagnosis, console::page()),
        DocumentFormat::Json => json::document(&diagnosis)?,
    })?;
    if stop.load(Ordering::Relaxed) {
        console::note("interrupted: not all was looked at");
    }
    Ok(match examination.failure {
        _ if stop.load(Ordering::Relaxed) => ExitStatus::Interrupted,
        Some(error) => ExitStatus::Code(exit_code_of(error.category())),
        None if diagnosis.worst() >= FindingLevel::Warning => ExitStatus::CaveatFailure,
        None => ExitStatus::Done,
    })
}
