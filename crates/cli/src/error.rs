//! What is said when something goes wrong, and with which exit code.
//!
//! An error answers where, what, with which value, what was expected and what to
//! do: one line that begins with `error: `, and one that begins with `help: ` if
//! there is a next step. Command lines to be pasted stand below it, each in a line of its own.

use filestone_engine::{ErrorCategory, RunError};
use std::io;
use std::path::Path;

/// A run or a command that could not do what was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// Whose fault it is: what decides the exit code.
    pub category: ErrorCategory,
    /// One line: where, what, which value, what was expected.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Error {
    /// The user asked for something that cannot be.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Usage, what)
    }

    /// The target could not be measured.
    pub fn target(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Target, what)
    }

    /// This host refused something.
    pub fn environment(what: impl Into<String>) -> Self {
        Self::of(ErrorCategory::Environment, what)
    }

    /// A bug.
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

    /// A file of this host that cannot be read or written.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self::environment(format!("{}: {}", path.display(), reason(error)))
    }

    /// The same error with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The exit code that stands for it.
    pub fn exit_code(&self) -> u8 {
        exit_code_of(self.category)
    }
}

/// 2, 3, 4 and 70: see `filestone --help`.
pub fn exit_code_of(category: ErrorCategory) -> u8 {
    match category {
        ErrorCategory::Usage => 2,
        ErrorCategory::Target => 3,
        ErrorCategory::Environment => 4,
        ErrorCategory::Internal => 70,
        ErrorCategory::Interruption => 130,
    }
}

/// `no space left on device (28)`: the operating system's words, as we write them.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = in_our_form(&text);
    // `TCP` keeps its case, `Address already in use` does not.
    if text.chars().nth(1).is_some_and(char::is_uppercase) {
        text
    } else {
        first_lower(&text)
    }
}

/// The same text, with a first letter as in the middle of a sentence.
pub fn first_lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter();
    first.flat_map(char::to_lowercase).chain(letters).collect()
}

/// Numbers of the operating system's errors as we write them; that an error is
/// internal is said by its label.
pub fn in_our_form(text: &str) -> String {
    let text = text.strip_prefix("internal error: ").unwrap_or(text);
    text.replace("(os error ", "(")
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Self {
            category: error.category(),
            message: in_our_form(&error.to_string()),
            help: error.help(),
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
