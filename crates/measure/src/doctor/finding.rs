//! What a rule finds.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// How much a finding matters, from not at all to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// As it should be.
    Ok,
    /// Worth knowing; it spoils nothing by itself.
    Note,
    /// Figures will be wrong, or will be of something else than meant.
    Warning,
    /// It cannot be measured so.
    Problem,
}

impl FindingLevel {
    /// Its name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What to do about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Remedy {
    /// In words.
    pub what: String,
    /// The command line, where there is one.
    pub command: Option<String>,
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Finding {
    /// The rule's name, such as `frequency-governor`.
    pub id: String,
    /// How much it matters.
    pub level: FindingLevel,
    /// What was found, with its units.
    pub found: String,
    /// What it does to measurements; nothing if all is well.
    pub consequence: Option<String>,
    /// What to do about it, if something can be done.
    pub fix: Option<Remedy>,
    /// Where it is explained.
    pub page: String,
}

/// What a rule makes of the facts, before it has its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RuleResult {
    pub level: FindingLevel,
    pub found: String,
    pub consequence: Option<String>,
    pub fix: Option<Remedy>,
}

impl RuleResult {
    /// All is well.
    pub fn ok(found: impl Into<String>) -> Self {
        Self {
            level: FindingLevel::Ok,
            found: found.into(),
            consequence: None,
            fix: None,
        }
    }

    /// At this level, with what it does to measurements.
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

    /// It is worth knowing.
    pub fn note(found: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self::at(FindingLevel::Note, found, consequence)
    }

    /// It makes figures wrong.
    pub fn warning(found: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self::at(FindingLevel::Warning, found, consequence)
    }

    /// It cannot be measured so.
    pub fn problem(found: impl Into<String>, consequence: impl Into<String>) -> Self {
        Self::at(FindingLevel::Problem, found, consequence)
    }

    /// With what to do about it.
    pub fn fix(mut self, what: impl Into<String>) -> Self {
        self.fix = Some(Remedy {
            what: what.into(),
            command: None,
        });
        self
    }

    /// With the command line that does it.
    pub fn run(mut self, what: impl Into<String>, command: impl Into<String>) -> Self {
        self.fix = Some(Remedy {
            what: what.into(),
            command: Some(command.into()),
        });
        self
    }
}
