//! Rules over gathered facts, which find conditions of this host or a target that spoil
//! measurements:
//!
//! ```text
//!   engine gathers facts ──▶ rules, a table ──▶ findings ──▶ cli shows them
//! ```
//!
//! A rule is a pure function of the facts. A rule whose fact is unknown has no finding, and its id is
//! listed as unknown. A host that measures well gives no warning; harmless observations are notes.

pub mod facts;
mod finding;
mod rules;
#[cfg(test)]
mod tests;

pub use finding::{Finding, FindingLevel, Remedy};
pub use rules::RULES;

use crate::JsonSchema;
use facts::Facts;
use serde::Serialize;

/// Format version of [`Diagnosis`], incremented with each change of its format.
pub const FORMAT: u32 = 1;

/// Findings, and the facts behind them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Format version of this document.
    pub format: u32,
    /// Target as on the command line, if there was one.
    pub target: Option<String>,
    /// Findings in the order of the rules.
    pub findings: Vec<Finding>,
    /// Ids of rules about this host whose facts are unknown.
    pub unknown: Vec<String>,
    /// Facts that the findings are based on.
    pub facts: Facts,
}

impl Diagnosis {
    /// Applies all rules to these facts.
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

    /// Returns the highest level of all findings.
    pub fn worst(&self) -> FindingLevel {
        let levels = self.findings.iter().map(|finding| finding.level);
        levels.max().unwrap_or(FindingLevel::Ok)
    }
}
