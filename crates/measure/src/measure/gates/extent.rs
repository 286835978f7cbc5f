//! Values with intervals, and calculations with them.

use crate::measure::gate_record::{GateOutcome, GateValue};
use filestone_plan::gate::{Arithmetic, Relation};

/// A value and its confidence interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueWithInterval {
    /// Value in the run.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Reason why the interval is missing, if the value should have one.
    pub unknown: Option<String>,
}

impl ValueWithInterval {
    /// Creates an exact value.
    pub const fn exactly(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
            unknown: None,
        }
    }

    /// Creates a value from a count.
    pub const fn counted(count: u64) -> Self {
        Self::exactly(count as f64)
    }

    /// Calculates with two values and divides the result by a positive scale. Returns the reason if
    /// the result is not finite.
    ///
    /// The ends of the interval are the extreme results for any two numbers within the two
    /// intervals.
    pub fn calculated(self, how: Arithmetic, by: Self, scale: f64) -> Result<Self, String> {
        let of = |left, right| how.of(left, right) / scale;
        let value = of(self.value, by.value);
        if !value.is_finite() {
            let divides = how == Arithmetic::Divide && by.value == 0.0;
            let why = if divides {
                "it divides by 0"
            } else {
                "a number in it is too large"
            };
            return Err(why.into());
        }
        let [a, b, c, d] = [
            of(self.low, by.low),
            of(self.low, by.high),
            of(self.high, by.low),
            of(self.high, by.high),
        ];
        let ends = [a, b, c, d];
        // Division by an interval that contains 0 can give any number.
        let is_open = how == Arithmetic::Divide && by.low <= 0.0 && by.high >= 0.0;
        let is_open = is_open || ends.iter().any(|end| end.is_nan());
        let (low, high) = if is_open {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)))
        };
        Ok(Self {
            value,
            low,
            high,
            unknown: self.unknown.or(by.unknown),
        })
    }

    /// Compares two values: the condition is met by all numbers within the intervals, by no number,
    /// or by some.
    pub fn compared(&self, relation: Relation, limit: &Self) -> GateOutcome {
        let is_below = self.high < limit.low;
        let is_at_most = self.high <= limit.low;
        let is_above = self.low > limit.high;
        let is_at_least = self.low >= limit.high;
        let (is_met, is_excluded) = match relation {
            Relation::Below => (is_below, is_at_least),
            Relation::AtMost => (is_at_most, is_above),
            Relation::Above => (is_above, is_at_most),
            Relation::AtLeast => (is_at_least, is_below),
            Relation::Equal => (is_at_most && is_at_least, is_below || is_above),
            Relation::Unequal => (is_below || is_above, is_at_most && is_at_least),
        };
        match (is_met, is_excluded) {
            (true, _) => GateOutcome::Fails,
            (false, true) => GateOutcome::Passes,
            (false, false) => GateOutcome::Inconclusive,
        }
    }

    /// Converts the value for a record.
    pub fn as_record(&self) -> GateValue {
        let is_interval = self.low < self.high;
        let end = |end: f64| Some(end).filter(|end| is_interval && end.is_finite());
        GateValue {
            value: self.value,
            low: end(self.low),
            high: end(self.high),
        }
    }
}
