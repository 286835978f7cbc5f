//! Rules in tables.

use filestone_workload::threshold::Threshold;

/// A rule of a table.
#[derive(Debug, Clone, Copy)]
pub struct Rule<J> {
    /// Id of the rule and of its section in the reference.
    pub id: &'static str,
    /// Threshold of its figure, if it has one.
    pub threshold: Option<Threshold>,
    /// Earlier rules: if one of them applies, this rule would only report its consequence.
    pub unless: &'static [&'static str],
    /// Function that applies the rule.
    pub judge: J,
}

impl<J> Rule<J> {
    /// Returns the threshold of its figure; 0 without one.
    pub fn figure(&self) -> f64 {
        self.threshold.map_or(0.0, |threshold| threshold.figure)
    }
}

/// Returns a rule without a figure.
pub const fn rule<J: Copy>(id: &'static str, judge: J) -> Rule<J> {
    Rule {
        id,
        threshold: None,
        unless: &[],
        judge,
    }
}

/// Returns a rule with the threshold of its figure.
pub const fn figure<J: Copy>(
    id: &'static str,
    figure: f64,
    unit: &'static str,
    judge: J,
) -> Rule<J> {
    Rule {
        id,
        threshold: Some(Threshold { figure, unit }),
        unless: &[],
        judge,
    }
}

/// Sets the rules that take precedence over a rule.
pub const fn unless<J: Copy>(unless: &'static [&'static str], rule: Rule<J>) -> Rule<J> {
    Rule { unless, ..rule }
}
