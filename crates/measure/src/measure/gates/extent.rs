//! Numbers that are known to lie between two others, and calculations with them.

use crate::measure::gate_record::{GateOutcome, GateValue};
use filestone_plan::gate::{Arithmetic, Relation};

/// A number, and where it lies.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueWithInterval {
    /// What the run came to.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Why it has no interval, of what could have one.
    pub unknown: Option<String>,
}

impl ValueWithInterval {
    /// One that is what it is.
    pub const fn exactly(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
            unknown: None,
        }
    }

    /// A count.
    pub const fn counted(count: u64) -> Self {
        Self::exactly(count as f64)
    }

    /// What is calculated from two, divided by a scale that is more than 0; or why it is nothing.
    ///
    /// The ends are the farthest that any two numbers in the two intervals give.
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
        // What is divided by something that may be 0 may be anything.
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

    /// Whether a condition is met by all that two intervals hold, by nothing in them, or neither.
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

    /// As records have it.
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
