//! Errors and exit codes of the ancestor programs: messages in filestone's words, exit codes of the
//! originals.

use crate::error::Error;
use crate::{ExitStatus, console};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_measure::measure::validity::{self, succeeded_in_nothing};

/// Error of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLineError {
    /// Message of one line, in the original's words if it has a message.
    pub message: String,
    /// Remedy.
    pub help: Option<String>,
    /// The original's exit code.
    pub code: u8,
}

impl CommandLineError {
    /// Prints the error and ends with the original's exit code.
    pub fn tell(self) -> ExitStatus {
        let error = Error {
            help: self.help,
            ..Error::usage(self.message)
        };
        refuse(&error, self.code)
    }
}

/// Prints the requested text instead of running.
pub fn show(text: &str) -> Result<ExitStatus, Error> {
    console::result(text)?;
    Ok(ExitStatus::Done)
}

/// Returns the exit code of a run for an original with a single exit code for failures, and none
/// for a run that does not count.
pub fn exit_of(record: &RunRecord, failure: u8) -> ExitStatus {
    match record.end {
        _ if succeeded_in_nothing(record) => ExitStatus::DoesNotCount,
        RunOutcome::Interrupted => ExitStatus::Interrupted,
        RunOutcome::TargetLost { .. } => ExitStatus::Code(failure),
        RunOutcome::Finished if !validity::counts(record) => ExitStatus::DoesNotCount,
        RunOutcome::Finished => ExitStatus::Done,
    }
}

/// Prints an error in filestone's words and ends with the original's exit code.
pub fn refuse(error: &Error, code: u8) -> ExitStatus {
    console::error(error);
    ExitStatus::Code(code)
}
