//! How the ancestors' programs end: errors in our words, exit codes in theirs.

use crate::error::Error;
use crate::{Exit, console};
use filestone_model::measure::RunRecord;
use filestone_model::measure::run_record::RunOutcome;
use filestone_model::measure::validity::{self, succeeded_in_nothing};

/// Why a command line is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLineError {
    /// One line, in the original's words where it has some.
    pub what: String,
    /// What to do.
    pub help: Option<String>,
    /// The original's exit code.
    pub code: u8,
}

impl CommandLineError {
    /// Tells it, and ends with the original's exit code.
    pub fn tell(self) -> Exit {
        let error = Error {
            help: self.help,
            ..Error::usage(self.what)
        };
        refuse(&error, self.code)
    }
}

/// Prints what was asked for instead of a run.
pub fn show(text: &str) -> Result<Exit, Error> {
    console::result(text)?;
    Ok(Exit::Done)
}

/// How a run ends whose original has one exit code for failures, and none for a run that does not
/// count.
pub fn exit_of(record: &RunRecord, failure: u8) -> Exit {
    match record.end {
        _ if succeeded_in_nothing(record) => Exit::DoesNotCount,
        RunOutcome::Interrupted => Exit::Interrupted,
        RunOutcome::TargetLost { .. } => Exit::Code(failure),
        RunOutcome::Finished if !validity::counts(record) => Exit::DoesNotCount,
        RunOutcome::Finished => Exit::Done,
    }
}

/// Tells an error in our words and ends with the original's exit code.
pub fn refuse(error: &Error, code: u8) -> Exit {
    console::error(error);
    Exit::Code(code)
}
