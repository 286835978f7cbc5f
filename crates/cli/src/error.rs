//! Error messages and their exit codes.
//!
//! An error states where, what, the value, the expected value and the remedy: one line that begins
//! with `error: `, and one that begins with `help: ` if there is a next step. Command lines to
//! paste follow, one per line.

use filestone_host::error::{ErrorCategory, RunError};
use filestone_report::error::{ReportError, error_text};
use std::io;
use std::path::Path;

/// Error of a run or a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// Cause of the error, which determines the exit code.
    pub category: ErrorCategory,
    /// Message of one line: where, what, the value and the expected value.
    pub message: String,
    /// Remedy.
    pub help: Option<String>,
}

impl Error {
    /// Creates an error for a request that is not possible.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Usage, what)
    }

    /// Creates an error for a target that could not be measured.
    pub fn target(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Target, what)
    }

    /// Creates an error for a failure of this host.
    pub fn environment(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Environment, what)
    }

    /// Creates an error for a bug.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Internal, what)
            .with_help("please report this with the command line")
    }

    fn of(category: ErrorCategory, what: impl Into<String>) -> Self {
        Self {
            category,
            message: what.into(),
            help: None,
        }
    }

    /// Creates an error for a file of this host that cannot be read or written.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self::environment(format!("{}: {}", path.display(), reason(error)))
    }

    /// Adds a remedy to the error.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the exit code of the error.
    pub fn exit_code(&self) -> u8 {
        exit_code_of(self.category)
    }
}

/// Returns 2, 3, 4 or 70: see `filestone --help`.
pub fn exit_code_of(category: ErrorCategory) -> u8 {
    match category {
        ErrorCategory::Usage => 2,
        ErrorCategory::Target => 3,
        ErrorCategory::Environment => 4,
        ErrorCategory::Internal => 70,
        ErrorCategory::Interruption => 130,
    }
}

/// Formats an operating system error in filestone's style: `no space left on device (28)`.
pub fn reason(error: &io::Error) -> String {
    // The message of std when bytes are read as text; errors of libraries carry their own.
    if error.kind() == io::ErrorKind::InvalidData && error.get_ref().is_none() {
        return "not a text file (UTF-8)".to_owned();
    }
    let text = error.to_string();
    let text = error_text(&text);
    // `TCP` keeps its case, `Address already in use` does not.
    if text.chars().nth(1).is_some_and(char::is_uppercase) {
        text
    } else {
        first_lower(&text)
    }
}

/// Converts the first letter to lower case, as in the middle of a sentence.
pub fn first_lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter();
    first.flat_map(char::to_lowercase).chain(letters).collect()
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Self {
            category: error.category(),
            message: error_text(&error.to_string()),
            help: error.help(),
        }
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Unavailable { message, help } => Self {
                help,
                ..Self::usage(message)
            },
            ReportError::Internal(message) => Self::internal(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_in_lower_case_with_its_number() {
        assert_eq!(
            reason(&io::Error::from_raw_os_error(28)),
            "no space left on device (28)"
        );
        assert_eq!(reason(&io::Error::other("Odd")), "odd");
        assert_eq!(
            reason(&io::Error::other(
                "TCP 0.0.0.0:7003: Address in use (os error 98)"
            )),
            "TCP 0.0.0.0:7003: Address in use (98)"
        );
    }
}
