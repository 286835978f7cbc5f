//! Bottlenecks of a run, found by rules over the figures of its record:
//!
//! ```text
//!   record ──▶ evidence ──▶ rules, a table ──▶ limits, each a sentence with its figures
//! ```
//!
//! A rule reports only what its figures support. Without an applicable rule, the missing information
//! is reported instead; a run that is too short is reported as such.

mod evidence;
mod generator;
mod rules;

pub use generator::{GeneratorPart, busy_percent};
pub use rules::LIMIT_RULES;

use crate::JsonSchema;
use crate::measure::RunRecord;
use evidence::Evidence;
use serde::Serialize;

/// Format version of [`Explanation`], incremented with each change of its format.
pub const FORMAT: u32 = 1;

/// Bottlenecks of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Format version of this document.
    pub format: u32,
    /// Result: bottlenecks found, inconclusive, or too short.
    pub outcome: ExplanationOutcome,
    /// Bottlenecks, most severe first.
    pub limits: Vec<Limit>,
    /// Missing information, if the result is not conclusive.
    pub missing: Option<String>,
}

/// Result of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExplanationOutcome {
    /// At least one bottleneck was found.
    #[serde(rename = "told")]
    Known,
    /// The run was long enough, but no rule applies.
    #[serde(rename = "cannot-tell")]
    Inconclusive,
    /// The run was too short for an explanation.
    TooShort,
}

/// A bottleneck of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// Name of the rule, such as `slots`.
    pub id: String,
    /// Description with its evidence; continues "limited by".
    pub sentence: String,
    /// Figures in the sentence.
    pub evidence: Vec<EvidenceFigure>,
    /// Change that would reveal more.
    pub suggestion: String,
    /// Page that explains the rule.
    pub page: String,
}

/// A figure that supports a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceFigure {
    /// Name with unit.
    pub name: String,
    /// Value of the figure.
    pub value: f64,
}

/// Returns the bottlenecks of the run of a record.
pub fn explain(record: &RunRecord) -> Explanation {
    let evidence = Evidence::of(record);
    if let Some(why) = evidence.too_short() {
        return Explanation::without(ExplanationOutcome::TooShort, why);
    }
    let mut limits: Vec<Limit> = Vec::new();
    for rule in LIMIT_RULES {
        let is_told = |id: &&str| limits.iter().any(|limit| limit.id == *id);
        if rule.unless.iter().any(is_told) {
            continue;
        }
        limits.extend(rule.evaluate(&evidence));
    }
    if limits.is_empty() {
        return Explanation::without(ExplanationOutcome::Inconclusive, evidence.missing());
    }
    Explanation {
        format: FORMAT,
        outcome: ExplanationOutcome::Known,
        limits,
        missing: None,
    }
}

impl Explanation {
    fn without(outcome: ExplanationOutcome, missing: String) -> Self {
        Self {
            format: FORMAT,
            outcome,
            limits: vec![],
            missing: Some(missing),
        }
    }
}
