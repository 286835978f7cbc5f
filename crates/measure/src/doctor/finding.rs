//! Findings of the rules.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// Severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Remedy {
    /// Description.
    pub what: String,
    /// Command line, if there is one.
    pub command: Option<String>,
}

/// Finding of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

/// Result of a rule, before the name of the rule is added.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RuleResult {
    pub level: FindingLevel,
    pub found: String,
    pub consequence: Option<String>,
    pub fix: Option<Remedy>,
}

impl RuleResult {
    /// Creates a result with level `ok`.
    pub fn ok(found: impl Into<String>) -> Self {
        Self {
            level: FindingLevel::Ok,
            found: found.into(),
            consequence: None,
            fix: None,
        }
    }

    /// Creates a result with this level and effect on measurements.
    pub fn at(
        level: FindingLevel,
        found: impl Into<String>,
        consequence: impl Into<String>,
    ) -> Self {
        Self {
            level,
            consequence: Some(consequence.into()),
            ..Self::ok(found)
        }
    }

    /// Creates a note.
    pub fn note(found: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self::at(FindingLevel::Note, found, consequence)
    }

    /// Creates a warning.
    pub fn warning(found: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self::at(FindingLevel::Warning, found, consequence)
    }

    /// Creates a problem.
    pub fn problem(found: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self::at(FindingLevel::Problem, found, consequence)
    }

    /// Adds a remedy.
    pub fn fix(mut self, what: impl Into<String>) -> Self {
        self.fix = Some(Remedy {
            what: what.into(),
            command: None,
        });
        self
    }

    /// Adds a remedy with a command line.
    pub fn run(mut self, what: impl Into<String>, command: impl Into<String>) -> Self {
        self.fix = Some(Remedy {
            what: what.into(),
            command: Some(command.into()),
        });
        self
    }
}
