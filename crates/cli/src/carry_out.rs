//! From a plan to its report: start the built-in server if nothing else is to be
//! measured, run, write the directory, print, warn, choose the exit code.

use crate::console::{self, Reader};
use crate::error::Error;
use crate::interruption;
use crate::live::{Live, RowStream};
use crate::options::{RunFormat, RunReportOptions};
use crate::output_directory::{Existing, OutputDirectory};
use crate::planning::Surroundings;
use crate::render::rows::Columns;
use crate::render::{json, text};
use crate::{Exit, built_in};
use filestone_engine::calibrate::{Effort, calibrate};
use filestone_engine::run::Observer;
use filestone_model::measure::run_record::{Headroom, RunEnd};
use filestone_model::measure::{Caveat, RunRecord};
use filestone_model::plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs `plan` and shows what came out as `report` says; a dry run shows the plan.
pub fn carry_out(plan: &Plan, report: &RunReportOptions) -> Result<Exit, Error> {
    if report.dry_run {
        console::result(&json::document(plan)?)?;
        return Ok(Exit::Done);
    }
    let failing = FailingCaveats::parse(report.fail_on_caveat.as_deref())?;
    let directory = match &report.output {
        Some(path) => Some(OutputDirectory::claim(path, Existing::Refuse)?),
        None => None,
    };
    let stop = interruption::stop_flag()?;
    let stream = match report.format {
        RunFormat::Text => RowStream::Output,
        RunFormat::Json => RowStream::Error,
    };
    let live = match report.mark {
        Some(nanos) if nanos > 0 => Live::with_rows(&stop, Columns::WithPercentiles, stream),
        _ => Live::with_bar(&stop, plan),
    };
    let mut live = live.kept(directory.is_some());
    let calibration = if report.no_calibrate {
        Calibration::Omit
    } else {
        Calibration::First
    };
    let record = measure(plan, calibration, &stop, &mut live);
    live.finish();
    let record = match (record, &directory) {
        (Ok(record), _) => record,
        (Err(error), None) => return Err(error),
        (Err(error), Some(directory)) => {
            directory.abandon();
            return Err(error);
        }
    };
    let kept = match &directory {
        Some(directory) => directory.write(&record, "png"),
        None => Ok(()),
    };
    let printed = match report.format {
        RunFormat::Text => text::render(&record),
        RunFormat::Json => json::render(&record)?,
    };
    let shown = console::result(&printed);
    record.caveats.iter().for_each(console::caveat);
    if let Err(error) = kept {
        // The numbers must not be lost with the directory.
        if error.is_record_lost && report.format == RunFormat::Text {
            console::result(&json::render(&record)?)?;
        }
        return Err(error.error);
    }
    match (shown?, exit_of(&record, &failing)) {
        // It was not ^C that ended this run, but a reader who had seen enough.
        (Reader::Gone, Exit::Interrupted) => Ok(Exit::Done),
        (_, exit) => Ok(exit),
    }
}

/// Whether the tool's own ceiling is measured before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calibration {
    /// Under a second, then the run.
    First,
    /// The record has no headroom.
    Omit,
}

/// Runs `plan`, against the built-in server if it names no host.
pub fn measure(
    plan: &Plan,
    calibration: Calibration,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, Error> {
    let headroom = match calibration {
        Calibration::First => {
            observer.preparing("measuring what filestone itself can do here");
            headroom(stop)?
        }
        Calibration::Omit => None,
    };
    let server = match plan.target.is_built_in() {
        true => Some(built_in::start_for_measurement(
            Surroundings::here().processors,
        )?),
        false => None,
    };
    let address = server.as_ref().map(|server| server.address());
    let mut record = filestone_engine::run::run(plan, address, stop, observer)?;
    record.headroom = headroom;
    Ok(record)
}

/// The tool's own ceiling, against a server of its own that is gone before the run.
/// Nothing if somebody interrupted it.
fn headroom(stop: &AtomicBool) -> Result<Option<Headroom>, Error> {
    let server = built_in::start_for_measurement(Surroundings::here().processors)?;
    let calibration = calibrate(server.address(), Effort::Quick, stop)?;
    server.stop();
    Ok((!stop.load(Ordering::Relaxed)).then_some(calibration.headroom))
}

/// The exit code that a record deserves, the gravest reason first.
pub fn exit_of(record: &RunRecord, failing: &FailingCaveats) -> Exit {
    if record.caveats.iter().any(Caveat::is_fatal) || record.totals.ledger.missing() != 0 {
        return Exit::OutOfBalance;
    }
    match record.end {
        RunEnd::TargetLost { .. } => Exit::TargetLost,
        RunEnd::Interrupted => Exit::Interrupted,
        RunEnd::Finished if record.caveats.iter().any(|caveat| failing.contains(caveat)) => {
            Exit::Doubtful
        }
        RunEnd::Finished => Exit::Done,
    }
}

/// Caveats that the user asked to treat as failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailingCaveats {
    /// None.
    None,
    /// All.
    Any,
    /// Those of these kinds, by their names in the record.
    Kinds(Vec<String>),
}

impl FailingCaveats {
    /// Reads the value of `--fail-on-caveat`.
    pub fn parse(text: Option<&str>) -> Result<Self, Error> {
        let text = match text {
            None => return Ok(Self::None),
            Some("any") => return Ok(Self::Any),
            Some(text) => text,
        };
        let known = caveat_names();
        let kinds: Vec<String> = text
            .split(',')
            .map(|kind| kind.trim().to_string())
            .collect();
        match kinds.iter().find(|kind| !known.contains(kind)) {
            None => Ok(Self::Kinds(kinds)),
            Some(kind) => Err(Error::usage(format!(
                "--fail-on-caveat={kind}: there is no such caveat"
            ))
            .with_help(format!("the caveats are {}", known.join(", ")))),
        }
    }

    fn contains(&self, caveat: &Caveat) -> bool {
        match self {
            Self::None => false,
            Self::Any => true,
            Self::Kinds(kinds) => caveat_name(caveat).is_some_and(|name| kinds.contains(&name)),
        }
    }
}

/// The name that the record gives a caveat.
fn caveat_name(caveat: &Caveat) -> Option<String> {
    let value = serde_json::to_value(caveat).ok()?;
    Some(value.get("caveat")?.as_str()?.to_string())
}

/// The names of all caveats, from the schema of the record, so that none is forgotten.
fn caveat_names() -> Vec<String> {
    let schema = schemars::schema_for!(Caveat);
    let variants = schema.get("oneOf").and_then(|variants| variants.as_array());
    variants
        .into_iter()
        .flatten()
        .filter_map(|variant| variant.pointer("/properties/caveat/const"))
        .filter_map(|name| name.as_str().map(String::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::canned;

    #[test]
    fn every_caveat_can_be_named() {
        let names = caveat_names();
        assert!(names.contains(&"debug-build".to_string()), "{names:?}");
        assert!(names.len() >= 15, "{names:?}");
        let error = FailingCaveats::parse(Some("debug-build,rain")).expect_err("no caveat");
        assert_eq!(error.what, "--fail-on-caveat=rain: there is no such caveat");
    }

    #[test]
    fn the_gravest_reason_decides_the_exit_code() {
        let failing = FailingCaveats::Any;
        let mut record = canned::with_errors();
        assert_eq!(exit_of(&record, &FailingCaveats::None).code(), 0);
        assert_eq!(exit_of(&record, &failing).code(), 1);
        let kinds = FailingCaveats::parse(Some("debug-build")).expect("a caveat");
        assert_eq!(exit_of(&record, &kinds).code(), 0);
        record.end = RunEnd::Interrupted;
        assert_eq!(exit_of(&record, &failing).code(), 130);
        record.end = RunEnd::TargetLost {
            message: "gone".into(),
        };
        assert_eq!(exit_of(&record, &failing).code(), 3);
        record.totals.ledger.ok += 1;
        assert_eq!(exit_of(&record, &failing).code(), 70);
    }

    #[test]
    fn chance_in_poisson_arrivals_is_not_held_against_anybody() {
        use filestone_model::measure::caveat::find;
        use filestone_model::plan::ArrivalsPlan;
        let is_below = |record: &RunRecord| {
            find(record)
                .iter()
                .any(|caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. }))
        };
        // 800 came due in 2 s, where 820 were to be expected, and all were done.
        let mut record = canned::interrupted();
        record.end = RunEnd::Finished;
        record.totals.offered_load_ops_per_s = Some(410.0);
        record.plan.arrivals = ArrivalsPlan::Constant {
            offered_load_ops_per_s: 410.0,
        };
        assert!(is_below(&record));
        record.plan.arrivals = ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 410.0,
        };
        assert!(!is_below(&record));
        record.totals.ledger.scheduled += 100;
        assert!(is_below(&record));
    }
}
