//! How the ancestors' programs end: errors in our words, exit codes in theirs.

use crate::error::Error;
use crate::{ExitStatus, console};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_measure::measure::validity::{self, succeeded_in_nothing};

/// Why a command line is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLineError {
    /// One line, in the original's words where it has some.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The original's exit code.
    pub code: u8,
}

impl CommandLineError {
    /// Tells it, and ends with the original's exit code.
    pub fn tell(self) -> ExitStatus {
        let error = Error {
            help: self.help,
            ..Error::usage(self.message)
        };
        refuse(&error, self.code)
    }
}

/// Prints what was asked for instead of a run.
pub fn show(text: &str) -> Result<ExitStatus, Error> {
    console::result(text)?;
    Ok(ExitStatus::Done)
}

/// How a run ends whose original has one exit code for failures, and none for a run that does not
/// count.
pub fn exit_of(record: &RunRecord, failure: u8) -> ExitStatus {
    match record.end {
        _ if succeeded_in_nothing(record) => ExitStatus::DoesNotCount,
        RunOutcome::Interrupted => ExitStatus::Interrupted,
        RunOutcome::TargetLost { .. } => ExitStatus::Code(failure),
        RunOutcome::Finished if !validity::counts(record) => ExitStatus::DoesNotCount,
        RunOutcome::Finished => ExitStatus::Done,
    }
}

/// Tells an error in our words and ends with the original's exit code.
pub fn refuse(error: &Error, code: u8) -> ExitStatus {
    console::error(error);
    ExitStatus::Code(code)
}
