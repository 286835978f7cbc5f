//! Text syntax of the rates of a fleet's clients.

use crate::plan::{RatePlan, RateUnit, ValueRange};

const EXPECTED: &str =
    "expected a rate such as 100Mbit/s, 10..20Mbit/s or 100ops/s (k, M and G are powers of 1000)";

/// Parses `100Mbit/s`, `10..20 Mbit/s`, `100ops/s`.
pub fn rate(text: &str) -> Result<RatePlan, String> {
    let expected = || EXPECTED.to_string();
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace();
    let end = text.find(|c| !is_number(c)).ok_or_else(expected)?;
    let (numbers, unit) = text.split_at(end);
    let (unit, factor) = match unit.trim() {
        "bit/s" => (RateUnit::BitsPerS, 1.0),
        "kbit/s" | "Kbit/s" => (RateUnit::BitsPerS, 1e3),
        "Mbit/s" => (RateUnit::BitsPerS, 1e6),
        "Gbit/s" => (RateUnit::BitsPerS, 1e9),
        "ops/s" | "op/s" | "/s" => (RateUnit::OperationsPerS, 1.0),
        "kops/s" | "k/s" => (RateUnit::OperationsPerS, 1e3),
        _ => return Err(expected()),
    };
    let number = |text: &str| -> Result<f64, String> {
        let number: f64 = text.trim().parse().map_err(|_| expected())?;
        Ok(number * factor)
    };
    let (min, max) = numbers.split_once("..").unwrap_or((numbers, numbers));
    let per_s = ValueRange {
        min: number(min)?,
        max: number(max)?,
    };
    if per_s.min <= 0.0 {
        return Err("a rate must be more than 0".into());
    }
    if per_s.min > per_s.max {
        return Err("the least rate is greater than the greatest".into());
    }
    Ok(RatePlan { unit, per_s })
}

/// Returns a rate as text.
pub fn text(rate: RatePlan) -> String {
    let ValueRange { min, max } = rate.per_s;
    let (unit, name) = match rate.unit {
        RateUnit::OperationsPerS => (1.0, "ops/s"),
        RateUnit::BitsPerS if min >= 1e9 => (1e9, "Gbit/s"),
        RateUnit::BitsPerS if min >= 1e6 => (1e6, "Mbit/s"),
        RateUnit::BitsPerS if min >= 1e3 => (1e3, "kbit/s"),
        RateUnit::BitsPerS => (1.0, "bit/s"),
    };
    let (min, max) = (min / unit, max / unit);
    if min >= max {
        return format!("{min}{name}");
    }
    format!("{min}..{max}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, unit, min, max) in [
            ("100Mbit/s", RateUnit::BitsPerS, 1e8, 1e8),
            ("1.5..2 Gbit/s", RateUnit::BitsPerS, 1.5e9, 2e9),
            ("100 ops/s", RateUnit::OperationsPerS, 100.0, 100.0),
        ] {
            let per_s = ValueRange { min, max };
            assert_eq!(rate(text), Ok(RatePlan { unit, per_s }), "{text}");
        }
        for text in [
            "100",
            "Mbit/s",
            "0 ops/s",
            "2..1 ops/s",
            "1...2 ops/s",
            "1 MB/s",
        ] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
