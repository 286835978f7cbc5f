//! Findings of the rules.

use crate::JsonSchema;
use filestone_workload::text::printable;
use serde::Serialize;

/// Severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// As expected.
    Ok,
    /// Worth knowing, but harmless by itself.
    Note,
    /// Figures will be wrong, or will measure something other than intended.
    Warning,
    /// A measurement is not possible in this state.
    Problem,
}

impl FindingLevel {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// Remedy for a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// Description.
    pub what: String,
    /// Command line, if there is one.
    pub command: Option<String>,
}

/// Finding of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Name of the rule, such as `frequency-governor`.
    pub id: String,
    /// Severity.
    pub level: FindingLevel,
    /// Observation, with units.
    pub found: String,
    /// Effect on measurements; absent with level `ok`.
    pub consequence: Option<String>,
    /// Remedy, if there is one.
    pub fix: Option<Remedy>,
    /// Page that explains the finding.
    pub page: String,
}

/// Results of rules. The id and the page are added by the rule.
impl Finding {
    /// Creates a finding with level `ok`.
    pub(super) fn ok(found: impl AsRef<str>) -> Self {
        Self {
            id: String::new(),
            level: FindingLevel::Ok,
            found: printable(found.as_ref()),
            consequence: None,
            fix: None,
            page: String::new(),
        }
    }

    /// Creates a finding with this level and effect on measurements.
    pub(super) fn at(
        level: FindingLevel,
        found: impl AsRef<str>,
        consequence: impl AsRef<str>,
    ) -> Self {
        Self {
            level,
            consequence: Some(printable(consequence.as_ref())),
            ..Self::ok(found)
        }
    }

    /// Creates a note.
    pub(super) fn note(found: impl AsRef<str>, consequence: impl AsRef<str>) -> Self {
        Self::at(FindingLevel::Note, found, consequence)
    }

    /// Creates a warning.
    pub(super) fn warning(found: impl AsRef<str>, consequence: impl AsRef<str>) -> Self {
        Self::at(FindingLevel::Warning, found, consequence)
    }

    /// Creates a problem.
    pub(super) fn problem(found: impl AsRef<str>, consequence: impl AsRef<str>) -> Self {
        Self::at(FindingLevel::Problem, found, consequence)
    }

    /// Adds a remedy.
    pub(super) fn fix(mut self, what: impl AsRef<str>) -> Self {
        self.fix = Some(Remedy {
            what: printable(what.as_ref()),
            command: None,
        });
        self
    }

    /// Adds a remedy with a command line.
    pub(super) fn run(mut self, what: impl AsRef<str>, command: impl AsRef<str>) -> Self {
        self.fix = Some(Remedy {
            what: printable(what.as_ref()),
            command: Some(printable(command.as_ref())),
        });
        self
    }
}
