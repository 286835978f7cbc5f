//! Table of rules: id, threshold, rules that take precedence, and function.
//!
//! Each rule has a section in `docs/reference/explain.md`; a test of `cli` checks that.

mod curve;
mod failures;
mod host;
mod load;
mod network;
mod objective;
mod slots;

use super::evidence::Evidence;
use super::{EvidenceFigure, Limit};
use crate::measure::flow::{LINK_FULL_PERCENT, SLOTS_TAKEN_PERCENT};
use crate::rule::{Rule, figure, rule, unless};

/// Page that explains the rules.
const PAGE: &str = "docs/reference/explain.md";

/// Function of a rule, from the figures of the record and the threshold; `None` if the rule does not
/// apply.
type Judge = fn(&Evidence<'_>, f64) -> Option<Limit>;

impl Rule<Judge> {
    /// Applies the rule; `None` if it does not apply.
    pub(super) fn evaluate(&self, evidence: &Evidence<'_>) -> Option<Limit> {
        let limit = (self.judge)(evidence, self.figure())?;
        Some(Limit {
            id: self.id.into(),
            page: format!("{PAGE}#{}", self.id),
            ..limit
        })
    }
}

/// Results of rules. The id and the page are added by the rule.
impl Limit {
    /// Creates a result from a sentence that continues "limited by", and a suggestion.
    fn new(sentence: String, suggestion: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            sentence,
            evidence: vec![],
            suggestion: suggestion.into(),
            page: String::new(),
        }
    }

    /// Adds a figure of the sentence.
    fn with(mut self, name: &str, value: f64) -> Self {
        self.evidence.push(EvidenceFigure {
            name: name.into(),
            value,
        });
        self
    }
}

/// Rules that find the requested load achieved: waits of the load generator lost nothing.
const ALL_DONE: &[&str] = &["offered-load", "rate", "time-stamps"];
const BEFORE_PROCESSORS: &[&str] = &[
    "offered-load",
    "rate",
    "time-stamps",
    "did-not-run",
    "generator",
    "other-programs",
];
/// Rules that explain full slots: operations wait because of these.
const BEFORE_SLOTS: &[&str] = &[
    "time-outs",
    "rate",
    "time-stamps",
    "did-not-run",
    "generator",
    "processors",
    "link",
];
const BEFORE_TURNAROUND: &[&str] = &[
    "time-outs",
    "connections",
    "did-not-run",
    "generator",
    "other-programs",
    "processors",
    "link",
];

/// All rules, in the order of evaluation and display.
#[rustfmt::skip]
pub const LIMIT_RULES: &[Rule<Judge>] = &[
    rule("target-lost", failures::target_lost),
    figure("time-outs", 10.0, "% of the slots' time", failures::time_outs),
    unless(&["time-outs"], figure("errors", 10.0, "% of the operations", failures::errors)),
    figure("mismatches", 1.0, "% of the lines", failures::mismatches),
    figure("lost-clients", 5.0, "% of the clients", failures::lost_clients),
    figure("jukebox", 5.0, "% of the clients' time", failures::jukebox),
    figure("connections", 5.0, "% of the clients' time", failures::connections),
    rule("offered-load", load::offered),
    figure("rate", 98.0, "% of the rate", load::rate_of_replay),
    figure("time-stamps", 1.0, "% of the window", load::time_stamps),
    figure("did-not-run", 5.0, "% of the window", host::absent),
    unless(&["did-not-run"], rule("generator", host::generator)),
    figure("generator-late", 10.0, "% of the response time", host::late),
    unless(ALL_DONE, figure("other-programs", 20.0, "% of the window", host::other_programs)),
    unless(BEFORE_PROCESSORS, figure("processors", 95.0, "% of this host's processors", host::processors)),
    figure("link", LINK_FULL_PERCENT, "% of the link's speed", network::link),
    figure("retransmissions", 1.0, "% of the calls", network::retransmissions),
    unless(&["generator"], figure("round-trip", 50.0, "% of the median time", network::round_trip)),
    unless(BEFORE_SLOTS, figure("slots", SLOTS_TAKEN_PERCENT, "% of the slots", slots::taken)),
    unless(&["slots", "did-not-run", "generator", "processors", "link"], rule("server-queue", slots::queue_at_server)),
    unless(BEFORE_TURNAROUND, figure("turnaround", 10.0, "% of a round", slots::turnaround)),
    rule("peak-of-server", curve::peak_of_server),
    rule("peak-of-generator", curve::peak_of_generator),
    figure("loads-given", 2.0, "times the response time at the lowest load", curve::loads_given),
    unless(&["peak-of-server"], figure("bend", 2.0, "times the response time at the lowest load", curve::bend)),
    rule("objective", objective::objective),
];
