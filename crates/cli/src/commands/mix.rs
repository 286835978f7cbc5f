//! `filestone mix`: operations sampled from a mix, at an offered load, on a file set that filestone
//! creates; the successor of nhfsstone.

use crate::error::Error;
use crate::execution::{CalibrationMode, LoadedPlan, Measurement, Presentation};
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::mix_source;
use crate::options::mix::MixOptions;
use crate::planning::Environment;
use crate::planning::cost::with_cost;
use crate::planning::gates::{expecting, with_gates};
use crate::{ExitStatus, console, planning};
use filestone_plan::mix;
use filestone_report::document::page::Detail;
use filestone_report::mixes;

/// Reads the mix, plans the run and executes it.
pub fn run(options: &MixOptions) -> Result<ExitStatus, Error> {
    if options.mix.list {
        console::result(&mixes::list().text(console::page()))?;
        return Ok(ExitStatus::Done);
    }
    measurement(options)?.execute()
}

/// Returns the measurement and its output options.
pub fn measurement(options: &MixOptions) -> Result<Measurement<'_>, Error> {
    let word = options.mix.mix.as_deref().unwrap_or(mix::DEFAULT);
    let mix = mix_source::read(word, options.mix.mount.as_deref())?;
    let mut notes = match mix::built_in(word) {
        Some(_) => vec![],
        None => mix.notes.clone(),
    };
    let credentials = DefaultCredentials::read(&options.share.access)?;
    let plan = planning::mix::plan(options, mix, &credentials, &Environment::here())?;
    notes.extend(planning::mix::missing_note(&plan));
    let plan = with_cost(plan, &options.report.cost)?;
    let plan = with_gates(plan, &options.report.gates)?;
    let plan = expecting(plan, &options.expect)?;
    let calibration = match options.target.layer {
        // The capacity of the event loop does not apply to system calls.
        Some(_) => CalibrationMode::Omit,
        None => CalibrationMode::unless(options.calibration.no_calibrate),
    };
    let show = Presentation {
        report: &options.report,
        calibration,
        detail: if options.verbose {
            Detail::Clients
        } else {
            Detail::Whole
        },
    };
    Ok(Measurement {
        notes,
        jobs: LoadedPlan::with_credentials(
            vec![LoadedPlan::new(plan)?],
            &credentials,
            &options.report,
        )?,
        show,
    })
}
