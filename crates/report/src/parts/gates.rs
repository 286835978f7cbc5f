//! Results of a run's gates, one line each, at the end of its report.

use super::known::for_two_digits;
use crate::document::page::Fact;
use crate::document::{Block, Document};
use crate::quantity::{resolution, without_zeros};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::gate_record::{GateOutcome, GateRecord, GateValue};
use filestone_plan::gate::Expression;
use filestone_workload::text::{thousands, time_unit};

/// Label of a failed gate.
pub const FAILS: &str = "gate fails";
/// Column of the gate, behind its result.
const INDENT: usize = 18;
/// Digits of a run's figure without an interval.
const DIGITS: i32 = 4;
/// Digits of an exact number.
const DIGITS_EXACT: i32 = 6;

/// Returns the gates with their figures, below the rest of a report; empty if there are none.
pub fn section(record: &RunRecord) -> Document {
    if record.gates.is_empty() {
        return Document::default();
    }
    let facts = facts(record).into_iter();
    Document::default().blank().push(Block::Facts {
        indent: INDENT,
        facts: facts.map(|(name, value)| (name.into(), value)).collect(),
    })
}

/// Returns the result of each gate, its figure with its interval, and its limit.
pub fn facts(record: &RunRecord) -> Vec<Fact> {
    let strict = record.plan.gates.strict;
    let fact = |gate: &GateRecord| {
        let name = match gate.outcome {
            outcome if outcome.is_failure(strict) => FAILS,
            GateOutcome::Passes => "gate passes",
            GateOutcome::Fails | GateOutcome::Inconclusive => "gate cannot tell",
        };
        (name, format!("{}: {}", gate.gate, found(gate, strict)))
    };
    record.gates.iter().map(fact).collect()
}

fn found(gate: &GateRecord, strict: bool) -> String {
    let unit = gate.unit.as_deref();
    let condition = gate.gate.condition();
    let sides = gate.value.as_ref().zip(gate.limit.as_ref());
    let figures = sides.map(|(value, limit)| {
        let value = with_ends(value, &condition.value, unit);
        format!(
            "{value}, limit {}",
            with_ends(limit, &condition.limit, unit)
        )
    });
    let text = match (figures, &gate.reason) {
        (Some(figures), None) => figures,
        (Some(figures), Some(reason)) => format!("{figures}; judged by its value, as {reason}"),
        (None, reason) => reason.clone().unwrap_or_default(),
    };
    if gate.outcome == GateOutcome::Inconclusive && strict {
        return format!("{text}; it cannot be told");
    }
    text
}

/// Formats a figure with its interval, all in the unit that suits the figure.
fn with_ends(side: &GateValue, expression: &Expression, unit: Option<&str>) -> String {
    let (scale, unit) = match unit {
        Some("ns") => time_unit(side.value.abs()),
        Some("bytes/s") => (1e6, "MB/s"),
        unit => (1.0, unit.unwrap_or_default()),
    };
    let ends = [side.low, side.high].into_iter().flatten();
    let half_width = ends.map(|end| (end - side.value).abs()).reduce(f64::max);
    let text = |number: f64| match half_width {
        Some(half_width) => within(number / scale, half_width / scale),
        None if expression.figures().is_empty() => digits(number / scale, DIGITS_EXACT),
        None => digits(number / scale, DIGITS),
    };
    let value = format!("{} {unit}", text(side.value));
    let value = value.trim_end();
    match (side.low.map(text), side.high.map(text)) {
        (None, None) => value.into(),
        (Some(low), Some(high)) => format!("{value} ({low} to {high})"),
        (Some(low), None) => format!("{value} ({low} or more)"),
        (None, Some(high)) => format!("{value} ({high} or less)"),
    }
}

/// Formats a number with its significant digits, but at least two.
fn within(number: f64, half_width: f64) -> String {
    let unit = resolution(half_width.min(for_two_digits(number.abs())));
    let decimals = (-unit.log10() + 1e-9).floor().clamp(0.0, 9.0) as usize;
    let rounded = if unit > 0.0 {
        (number / unit).round() * unit
    } else {
        number
    };
    match decimals {
        0 => signed(rounded),
        _ => without_zeros(&format!("{rounded:.decimals$}")).into(),
    }
}

fn signed(whole: f64) -> String {
    let sign = if whole < 0.0 { "-" } else { "" };
    format!("{sign}{}", thousands(whole.abs().round() as u64))
}

/// Formats a number with this many digits, and all of a whole number.
fn digits(value: f64, shown: i32) -> String {
    let before = value.abs().max(1e-9).log10().floor() as i32 + 1;
    if before >= shown || value.fract() == 0.0 {
        return signed(value);
    }
    let decimals = (shown - before).clamp(0, 9) as usize;
    without_zeros(&format!("{value:.decimals$}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_digits_that_its_interval_supports() {
        let text = |value: f64, ends: Option<[f64; 2]>, gate: &str| {
            let gate: filestone_plan::gate::Gate = gate.parse().expect(gate);
            let condition = gate.condition();
            let side = GateValue {
                value,
                low: ends.map(|[low, _]| low),
                high: ends.map(|[_, high]| high),
            };
            let unit = condition.dimension.unit();
            with_ends(&side, &condition.value, unit.as_deref())
        };
        let p99 = "response_time.p99 > 2ms";
        for (value, ends, gate, shown) in [
            (
                2.3124e6,
                Some([2.2213e6, 2.4312e6]),
                p99,
                "2.31 ms (2.22 to 2.43)",
            ),
            (
                4.083e6,
                Some([3.656e6, 6.066e6]),
                p99,
                "4.1 ms (3.7 to 6.1)",
            ),
            (4.083_12e6, None, p99, "4.083 ms"),
            (
                142_152.3,
                Some([4463.0, 279_841.0]),
                "achieved < 1/s",
                "140,000 operations/s (4,500 to 280,000)",
            ),
            (
                4897.2,
                Some([4850.0, 4944.4]),
                "achieved < 1/s",
                "4,900 operations/s (4,850 to 4,940)",
            ),
            (
                4897.21,
                Some([4897.0, 4897.4]),
                "achieved < 1/s",
                "4897.21 operations/s (4897 to 4897.4)",
            ),
            (0.0, Some([0.0, 0.0]), "goodput < 1MB/s", "0 MB/s (0 to 0)"),
            (500.01, None, "500.01/s < achieved", "500.01 operations/s"),
        ] {
            assert_eq!(text(value, ends, gate), shown);
        }
    }
}
