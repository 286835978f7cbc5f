//! What on this host, or at a target, will spoil a measurement: rules over gathered facts.
//!
//! ```text
//!   engine gathers facts ──▶ rules, a table ──▶ findings ──▶ cli shows them
//! ```
//!
//! A rule is a pure function of the facts. Where the fact that it is about is not known, it
//! finds nothing, and its id stands among what is unknown. A host that measures well gives no
//! warning: what is worth knowing and spoils nothing is a note.

pub mod facts;
mod finding;
mod rules;
#[cfg(test)]
mod tests;

pub use finding::{Finding, FindingLevel, Remedy};
pub use rules::{DoctorRule, RULES};

use facts::Facts;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The shape of [`Diagnosis`]; it rises when that changes.
pub const FORMAT: u32 = 1;

/// What was found, and what it was found from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Diagnosis {
    /// The shape of this document.
    pub format: u32,
    /// The target, in the words of the command line, if there was one.
    pub target: Option<String>,
    /// In the order of the rules.
    pub findings: Vec<Finding>,
    /// Ids of rules about this host that the host does not tell enough for.
    pub unknown: Vec<String>,
    /// All that was gathered.
    pub facts: Facts,
}

impl Diagnosis {
    /// What all rules find in these facts.
    pub fn of(facts: Facts) -> Self {
        let (mut findings, mut unknown) = (Vec::new(), Vec::new());
        for rule in RULES {
            match rule.evaluate(&facts) {
                Some(finding) => findings.push(finding),
                None if rule.is_of_host() => unknown.push(rule.id.to_string()),
                None => {}
            }
        }
        Self {
            format: FORMAT,
            target: facts.target.as_ref().map(|target| target.name.clone()),
            findings,
            unknown,
            facts,
        }
    }

    /// The worst level of all findings.
    pub fn worst(&self) -> FindingLevel {
        let levels = self.findings.iter().map(|finding| finding.level);
        levels.max().unwrap_or(FindingLevel::Ok)
    }
}
