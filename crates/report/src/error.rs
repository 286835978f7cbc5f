//! Errors of reports, and the form of error messages.

/// Error returned when a report cannot be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportError {
    /// The records do not contain the requested report.
    Unavailable {
        /// The report, and what is missing.
        message: String,
        /// The available reports.
        help: Option<String>,
    },
    /// A bug.
    Internal(String),
}

impl ReportError {
    /// Creates an error for a report that the records do not contain.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::Unavailable {
            message: message.into(),
            help: None,
        }
    }
}

/// Formats error numbers of the operating system in filestone's style; removes `internal error: `,
/// which the label of the message states.
pub fn error_text(text: &str) -> String {
    let text = text.strip_prefix("internal error: ").unwrap_or(text);
    text.replace("(os error ", "(")
}
