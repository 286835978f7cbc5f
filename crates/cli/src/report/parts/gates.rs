//! What came of a run's gates, a line for each, at the end of its report.

use super::page::{Fact, Page};
use crate::quantity::{grouped, without_zeros};
use filestone_model::measure::RunRecord;
use filestone_model::measure::gate_record::{GateOutcome, GateRecord, GateValue};
use filestone_model::text::time_unit;

/// What stands before a gate that fails.
pub const FAILS: &str = "gate fails";
/// Digits of a figure with an interval that are shown.
const DIGITS: i32 = 4;
/// Digits of what is known exactly.
const DIGITS_EXACT: i32 = 6;

/// The gates with their figures, below the rest of a report; nothing if there are none.
pub fn section(record: &RunRecord, page: Page) -> String {
    if record.gates.is_empty() {
        return String::new();
    }
    format!("\n{}", page.facts(facts(record)))
}

/// What came of each gate, its figure with its interval, and its limit.
pub fn facts(record: &RunRecord) -> Vec<Fact> {
    let strict = record.plan.gates.strict;
    let fact = |gate: &GateRecord| {
        let name = match gate.outcome {
            outcome if outcome.is_failure(strict) => FAILS,
            GateOutcome::Holds => "gate holds",
            GateOutcome::Fails | GateOutcome::CannotTell => "cannot tell",
        };
        (name, format!("{}: {}", gate.gate, found(gate, strict)))
    };
    record.gates.iter().map(fact).collect()
}

fn found(gate: &GateRecord, strict: bool) -> String {
    let unit = gate.unit.as_deref();
    let sides = gate.value.as_ref().zip(gate.limit.as_ref());
    let figures = sides.map(|(value, limit)| {
        let [value, limit] = [value, limit].map(|side| with_ends(side, unit));
        format!("{value}, limit {limit}")
    });
    let text = match (figures, &gate.reason) {
        (Some(figures), None) => figures,
        (Some(figures), Some(reason)) => format!("{figures}; judged by its value, as {reason}"),
        (None, reason) => reason.clone().unwrap_or_default(),
    };
    if gate.outcome == GateOutcome::CannotTell && strict {
        return format!("{text}; it cannot be told");
    }
    text
}

/// A figure with its interval, all in the unit that the figure suggests.
fn with_ends(side: &GateValue, unit: Option<&str>) -> String {
    let (scale, unit) = match unit {
        Some("ns") => time_unit(side.value.abs()),
        Some("bytes/s") => (1e6, "MB/s"),
        unit => (1.0, unit.unwrap_or_default()),
    };
    let is_exact = side.low.is_none() && side.high.is_none();
    let shown = if is_exact { DIGITS_EXACT } else { DIGITS };
    let text = |value: f64| digits(value / scale, shown);
    let value = format!("{} {unit}", text(side.value));
    let value = value.trim_end();
    match (side.low.map(text), side.high.map(text)) {
        (None, None) => value.into(),
        (Some(low), Some(high)) => format!("{value} ({low} to {high})"),
        (Some(low), None) => format!("{value} ({low} or more)"),
        (None, Some(high)) => format!("{value} ({high} or less)"),
    }
}

/// A number with so many digits, and all of a whole one.
fn digits(value: f64, shown: i32) -> String {
    let before = value.abs().max(1e-9).log10().floor() as i32 + 1;
    if before >= shown || value.fract() == 0.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", grouped(value.abs().round() as u64));
    }
    let decimals = (shown - before).clamp(0, 9) as usize;
    without_zeros(&format!("{value:.decimals$}")).into()
}
