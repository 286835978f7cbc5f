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
use filestone_workload::threshold::Threshold;

/// Page that explains the rules.
const PAGE: &str = "docs/reference/explain.md";

/// A rule: its id, and the threshold of its figure.
#[derive(Debug, Clone, Copy)]
pub struct LimitRule {
    /// Id of the rule and of its section.
    pub id: &'static str,
    /// Threshold of its figure, if it has one.
    pub threshold: Option<Threshold>,
    /// Earlier rules: if one of them applies, this rule would only report its consequence.
    pub unless: &'static [&'static str],
    judge: fn(&Evidence<'_>, f64) -> Option<Told>,
}

impl LimitRule {
    /// Applies the rule; `None` if it does not apply.
    pub(super) fn evaluate(&self, evidence: &Evidence<'_>) -> Option<Limit> {
        let figure = self.threshold.map_or(0.0, |threshold| threshold.figure);
        let told = (self.judge)(evidence, figure)?;
        Some(Limit {
            id: self.id.into(),
            sentence: told.sentence,
            evidence: told.figures,
            suggestion: told.suggestion,
            page: format!("{PAGE}#{}", self.id),
        })
    }

    const fn unless(mut self, others: &'static [&'static str]) -> Self {
        self.unless = others;
        self
    }
}

/// Result of a rule, before its id is added.
struct Told {
    sentence: String,
    figures: Vec<EvidenceFigure>,
    suggestion: String,
}

impl Told {
    /// Creates a result from a sentence that continues "limited by", and a suggestion.
    fn new(sentence: String, suggestion: impl Into<String>) -> Self {
        Self {
            sentence,
            figures: vec![],
            suggestion: suggestion.into(),
        }
    }

    /// Adds a figure of the sentence.
    fn with(mut self, name: &str, value: f64) -> Self {
        self.figures.push(EvidenceFigure {
            name: name.into(),
            value,
        });
        self
    }
}

type Judge = fn(&Evidence<'_>, f64) -> Option<Told>;

const fn rule(id: &'static str, judge: Judge) -> LimitRule {
    LimitRule {
        id,
        threshold: None,
        unless: &[],
        judge,
    }
}

const fn figure(id: &'static str, figure: f64, unit: &'static str, judge: Judge) -> LimitRule {
    LimitRule {
        id,
        threshold: Some(Threshold { figure, unit }),
        unless: &[],
        judge,
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
pub const LIMIT_RULES: &[LimitRule] = &[
    rule("target-lost", failures::target_lost),
    figure("time-outs", 10.0, "% of the slots' time", failures::time_outs),
    figure("errors", 10.0, "% of the operations", failures::errors).unless(&["time-outs"]),
    figure("mismatches", 1.0, "% of the lines", failures::mismatches),
    figure("lost-clients", 5.0, "% of the clients", failures::lost_clients),
    figure("jukebox", 5.0, "% of the clients' time", failures::jukebox),
    figure("connections", 5.0, "% of the clients' time", failures::connections),
    rule("offered-load", load::offered),
    figure("rate", 98.0, "% of the rate", load::rate_of_replay),
    figure("time-stamps", 1.0, "% of the window", load::time_stamps),
    figure("did-not-run", 5.0, "% of the window", host::absent),
    rule("generator", host::generator).unless(&["did-not-run"]),
    figure("generator-late", 10.0, "% of the response time", host::late),
    figure("other-programs", 20.0, "% of the window", host::other_programs).unless(ALL_DONE),
    figure("processors", 95.0, "% of this host's processors", host::processors).unless(BEFORE_PROCESSORS),
    figure("link", LINK_FULL_PERCENT, "% of the link's speed", network::link),
    figure("retransmissions", 1.0, "% of the calls", network::retransmissions),
    figure("round-trip", 50.0, "% of the median time", network::round_trip).unless(&["generator"]),
    figure("slots", SLOTS_TAKEN_PERCENT, "% of the slots", slots::taken).unless(BEFORE_SLOTS),
    rule("server-queue", slots::queue_at_server).unless(&["slots", "did-not-run", "generator", "processors", "link"]),
    figure("turnaround", 10.0, "% of a round", slots::turnaround).unless(BEFORE_TURNAROUND),
    rule("peak-of-server", curve::peak_of_server),
    rule("peak-of-generator", curve::peak_of_generator),
    figure("loads-given", 2.0, "times the response time at the lowest load", curve::loads_given),
    figure("bend", 2.0, "times the response time at the lowest load", curve::bend).unless(&["peak-of-server"]),
    rule("objective", objective::objective),
];
