//! Common parts of the ancestor programs that replay load files: the default load file, pacing,
//! output and exit code.

use super::ending::{self, refuse};
use crate::error::Error;
use crate::execution::interruption;
use crate::execution::live::{Live, RowStream};
use crate::execution::{CalibrationMode, LoadedPlan, measure};
use crate::inputs::loads::Named;
use crate::planning::replay::LOAD_DEFAULT;
use crate::{ExitStatus, console};
use filestone_measure::measure::run_record::RunOutcome;
use filestone_measure::measure::{RunRecord, validity};
use filestone_plan::plan::Pacing;
use filestone_report::rows::ProgressRow;
use std::path::Path;

/// Path of the load file for dbench 1 and 2 and for smbtorture.
const LOAD_FILE_HERE: &str = "client.txt";
/// Path of the load file for dbench 4.0.
const LOAD_FILE_DEFAULT: &str = "/usr/share/dbench/client.txt";

/// Returns the load file: the requested one, or the ancestors' default. Versions 1 and 2 of dbench
/// used the working directory, like smbtorture, 4.0 its installation directory; a default is
/// reported in a note.
pub fn load_name(asked: Option<&str>) -> String {
    if let Some(name) = asked {
        return name.into();
    }
    let (name, what) = default_load(&|name| Path::new(name).is_file());
    if let Some(what) = what {
        console::note(&what);
    }
    name.into()
}

/// Returns the default load file, and a note about it.
fn default_load(is_there: &dyn Fn(&str) -> bool) -> (&'static str, Option<String>) {
    if is_there(LOAD_FILE_HERE) {
        let what = format!("replaying {LOAD_FILE_HERE} of the working directory");
        return (LOAD_FILE_HERE, Some(what));
    }
    if is_there(LOAD_FILE_DEFAULT) {
        return (LOAD_FILE_DEFAULT, None);
    }
    let what = format!(
        "neither {LOAD_FILE_HERE} nor {LOAD_FILE_DEFAULT} is there; replaying filestone's own \
         load {LOAD_DEFAULT}"
    );
    (LOAD_DEFAULT, Some(what))
}

/// Returns the pacing: a rate in bytes per second and client, otherwise time stamps, if there are
/// any.
pub fn pacing(rate: Option<f64>, loads: &[Named]) -> Pacing {
    match rate {
        Some(bytes_per_s) => Pacing::Rate { bytes_per_s },
        None if loads.iter().any(|named| named.has_stamps) => Pacing::Stamps { speed: 1.0 },
        None => Pacing::Closed,
    }
}

/// Output format of a run, and the exit code of a failure.
pub struct OutputStyle<'run> {
    /// Formats a row per second.
    pub rows: ProgressRow,
    /// Text before the first row, once everything is ready.
    pub released: String,
    /// Formats the report at the end, or the error.
    pub report: &'run dyn Fn(Result<&RunRecord, &Error>) -> String,
    /// Exit code of the original for failures.
    pub failure: u8,
}

/// Runs a job with the output of an ancestor.
pub fn execute(job: &LoadedPlan, form: OutputStyle<'_>) -> Result<ExitStatus, Error> {
    let stop = interruption::stop_flag()?;
    let mut live = Live::with_progress(&stop, form.rows, RowStream::Output).released(form.released);
    let measured = measure(job, CalibrationMode::Omit, &stop, &mut live);
    console::result(&(form.report)(measured.as_ref()))?;
    let record = match measured {
        Ok(record) => record,
        Err(error) => return Ok(refuse(&error, form.failure)),
    };
    console::caveats(&record);
    if !has_throughput(&record) {
        console::note(&format!("no Throughput: {}", why_not(&record)));
    }
    Ok(exit_of(&record, form.failure))
}

/// Whether the `Throughput` line is printed. Scripts take it for a result, so the run must be
/// complete, with all its clients, and at least one operation must have succeeded.
pub fn has_throughput(record: &RunRecord) -> bool {
    // Any exit code of the original will do, because it is not used.
    exit_of(record, 1) == ExitStatus::Done && record.window_ns > 0
}

/// Returns the reason why a run has no throughput.
pub fn why_not(record: &RunRecord) -> String {
    let clients = record.replay.iter().flat_map(|replay| &replay.clients);
    let lost: Vec<&str> = clients.filter_map(|one| one.lost.as_deref()).collect();
    let reasons = validity::reasons(record).join("; ");
    match (&record.end, lost.first()) {
        (RunOutcome::Interrupted, _) => "interrupted".into(),
        (_, Some(why)) => format!("clients lost: {}, the first at {why}", lost.len()),
        (RunOutcome::TargetLost { .. }, None) => "the server was lost".into(),
        (RunOutcome::Finished, None) if reasons.is_empty() => "nothing was measured".into(),
        (RunOutcome::Finished, None) => reasons,
    }
}

/// Returns the exit code; the originals fail if one of their clients does.
fn exit_of(record: &RunRecord, failure: u8) -> ExitStatus {
    let mut clients = record.replay.iter().flat_map(|replay| &replay.clients);
    match ending::exit_of(record, failure) {
        ExitStatus::Done if clients.any(|client| client.lost.is_some()) => {
            ExitStatus::Code(failure)
        }
        exit => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::measure::Caveat;
    use filestone_report::fixtures;

    #[test]
    fn a_lost_client_is_a_failure() {
        assert_eq!(exit_of(&fixtures::replayed(), 1), ExitStatus::Done);
        let lost = fixtures::replayed_with_mismatches();
        assert_eq!(exit_of(&lost, 1), ExitStatus::Code(1));
        let mut nothing = fixtures::replayed();
        nothing.totals.ledger.failed += nothing.totals.ledger.ok;
        nothing.totals.ledger.ok = 0;
        assert_eq!(exit_of(&nothing, 1), ExitStatus::DoesNotCount);
    }

    #[test]
    fn a_run_without_a_throughput_says_why() {
        let mut late = fixtures::replayed();
        late.caveats = vec![Caveat::MixInvalid {
            deviation_percent: 12.0,
        }];
        assert!(!has_throughput(&late));
        assert_eq!(why_not(&late), "the mix is off by 12.0 %");
        let mut nothing = fixtures::replayed();
        nothing.totals.ledger.failed += nothing.totals.ledger.ok;
        nothing.totals.ledger.ok = 0;
        assert_eq!(why_not(&nothing), "nothing succeeded");
        let mut short = fixtures::replayed();
        short.window_ns = 0;
        assert!(!has_throughput(&short));
        assert_eq!(why_not(&short), "nothing was measured");
    }

    #[test]
    fn a_load_in_the_working_directory_is_found_and_said() {
        let found = |there: &[&str]| default_load(&|name| there.contains(&name));
        let (name, what) = found(&[LOAD_FILE_HERE, LOAD_FILE_DEFAULT]);
        assert_eq!(name, "client.txt");
        assert!(what.is_some_and(|what| what.contains("working directory")));
        assert_eq!(found(&[LOAD_FILE_DEFAULT]), (LOAD_FILE_DEFAULT, None));
        let (name, what) = found(&[]);
        assert_eq!(name, LOAD_DEFAULT);
        assert!(what.is_some_and(|what| what.contains("filestone's own load")));
    }
}
