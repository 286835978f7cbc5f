//! Errors in a mix file or in the kernel's counters: position, description and expected value.
//!
//! The wording is nhfsstone's where it had one; line, column and help are additions in the form of
//! [`LoadError`](filestone_workload::load::LoadError).

use std::fmt;

/// Error returned when a text is not a mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixError {
    /// Name of the file.
    pub file: String,
    /// Line in the file, from 1; 0 for the whole file.
    pub line: u32,
    /// Column of the first wrong byte, from 1.
    pub column: u32,
    /// Description of the error with the wrong value.
    pub message: String,
    /// The expected value, or an advice.
    pub help: Option<String>,
}

impl MixError {
    /// Creates an error at a position, for a file whose name is added later.
    pub(super) fn at(line: u32, column: u32, what: impl Into<String>) -> MixError {
        MixError {
            file: String::new(),
            line,
            column,
            message: what.into(),
            help: None,
        }
    }

    /// Creates an error about the file as a whole.
    pub(super) fn whole(what: impl Into<String>) -> MixError {
        MixError::at(0, 0, what)
    }

    /// Adds a help text.
    pub(super) fn help(mut self, help: impl Into<String>) -> MixError {
        self.help = Some(help.into());
        self
    }

    /// Sets the name of the file.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> MixError {
        file.clone_into(&mut self.file);
        self
    }
}

impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        write!(f, " {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for MixError {}
