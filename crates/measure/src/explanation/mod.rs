//! What limited a run, from its record: rules over its figures.
//!
//! ```text
//!   record ──▶ evidence ──▶ rules, a table ──▶ limits, each a sentence with its figures
//! ```
//!
//! A rule says nothing that its figures do not carry. Where none of them holds, what is missing is
//! said instead; of a run too short to judge, nothing but that.

mod evidence;
mod generator;
mod rules;

pub use generator::{GeneratorPart, busy_percent};
pub use rules::{LIMIT_RULES, LimitRule};

use crate::measure::RunRecord;
use evidence::Evidence;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The shape of [`Explanation`]; it rises when that changes.
pub const FORMAT: u32 = 1;

/// What limited a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Explanation {
    /// The shape of this document.
    pub format: u32,
    /// Whether it could be told.
    pub outcome: ExplanationOutcome,
    /// What limited it, the gravest first.
    pub limits: Vec<Limit>,
    /// What is missing, where it could not be told.
    pub missing: Option<String>,
}

/// Whether it could be told what limited a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExplanationOutcome {
    /// There is at least one limit.
    #[serde(rename = "told")]
    Known,
    /// The run was long enough, and no rule holds.
    #[serde(rename = "cannot-tell")]
    Inconclusive,
    /// The run was too short to judge.
    TooShort,
}

/// One thing that limited a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Limit {
    /// The rule's name, such as `slots`.
    pub id: String,
    /// What it was, with its evidence; it goes on from "limited by".
    pub sentence: String,
    /// The figures in the sentence.
    pub evidence: Vec<EvidenceFigure>,
    /// What to change to learn more.
    pub suggestion: String,
    /// Where the rule is explained.
    pub page: String,
}

/// A figure that a sentence rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EvidenceFigure {
    /// What it is, with its unit.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// What limited the run of a record.
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
