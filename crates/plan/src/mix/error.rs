//! What is wrong with a mix file or with the kernel's counters: where, what, what was expected.
//!
//! The wording is nhfsstone's where it had one; line, column and help are ours, in the
//! shape of [`LoadError`](filestone_workload::load::LoadError).

use std::fmt;

/// Why a text gives no mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixError {
    /// The file.
    pub file: String,
    /// Line in the file, from 1; 0 when it is about the whole file.
    pub line: u32,
    /// First byte of what is wrong, from 1.
    pub column: u32,
    /// What is wrong, with which value.
    pub message: String,
    /// What was expected, or what to do.
    pub help: Option<String>,
}

impl MixError {
    /// A problem at a place of a file whose name is added later.
    pub(super) fn at(line: u32, column: u32, what: impl Into<String>) -> MixError {
        MixError {
            file: String::new(),
            line,
            column,
            message: what.into(),
            help: None,
        }
    }

    /// A problem of the file as a whole.
    pub(super) fn whole(what: impl Into<String>) -> MixError {
        MixError::at(0, 0, what)
    }

    /// The same, with what was expected.
    pub(super) fn help(mut self, help: impl Into<String>) -> MixError {
        self.help = Some(help.into());
        self
    }

    /// The same problem, of the file of that name.
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
