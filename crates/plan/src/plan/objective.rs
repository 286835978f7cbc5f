//! Text syntax of objectives: `p99<2ms`, `p99.9 < 500us`, `mean<=1.5ms`.

use super::mix::{Figure, Objective};
use core::fmt;
use core::str::FromStr;

/// Units of a bound and their nanoseconds. A unit that is the end of another one comes after it.
const UNITS: [(&str, f64); 5] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
];
/// Maximum bound: response times beyond ten minutes are not distinguished.
const BOUND_MAX_NS: f64 = 600e9;

/// Error returned when a text is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// The text has no comparison.
    #[error(
        "\"{text}\" compares nothing with a bound; write a figure, < and a time, such as p99<2ms"
    )]
    NoComparison {
        /// The text.
        text: String,
    },
    /// The name is not that of a figure.
    #[error(
        "no figure is called \"{figure}\"; there are mean and percentiles such as p50 and p99.9"
    )]
    Figure {
        /// The name.
        figure: String,
    },
    /// The percentile is outside the measurable range.
    #[error("p{percentile} is no percentile; it must lie above 0 and below 100")]
    Percentile {
        /// The percentile.
        percentile: String,
    },
    /// The bound has no unit.
    #[error("the bound \"{bound}\" has no unit; write {bound}ms, or us, ns, s")]
    NoUnit {
        /// The bound.
        bound: String,
    },
    /// The bound is not a time.
    #[error("the bound \"{bound}\" is no time; write a number and its unit, such as 2ms or 500us")]
    Bound {
        /// The bound.
        bound: String,
    },
    /// The bound is out of range.
    #[error(
        "the bound \"{bound}\" is out of range; it must be at least 1 ns and at most ten minutes"
    )]
    OutOfRange {
        /// The bound.
        bound: String,
    },
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let Some((figure, bound)) = text.split_once('<') else {
            return Err(ObjectiveError::NoComparison {
                text: text.trim().into(),
            });
        };
        // Response times are whole nanoseconds and far from the bound, so "below" and "at most"
        // give the same load.
        let bound = bound.strip_prefix('=').unwrap_or(bound);
        Ok(Self {
            figure: parse_figure(figure.trim())?,
            below_ns: parse_bound(bound.trim())?,
        })
    }
}

fn parse_figure(figure: &str) -> Result<Figure, ObjectiveError> {
    if figure == "mean" {
        return Ok(Figure::Mean);
    }
    let unknown = || ObjectiveError::Figure {
        figure: figure.into(),
    };
    let digits = figure.strip_prefix('p').ok_or_else(unknown)?;
    let percentile = parse_decimal(digits).ok_or_else(unknown)?;
    if percentile <= 0.0 || percentile >= 100.0 {
        return Err(ObjectiveError::Percentile {
            percentile: digits.into(),
        });
    }
    Ok(Figure::Quantile {
        quantile: percentile / 100.0,
    })
}

fn parse_bound(bound: &str) -> Result<u64, ObjectiveError> {
    let wrong = || ObjectiveError::Bound {
        bound: bound.into(),
    };
    if parse_decimal(bound).is_some() {
        return Err(ObjectiveError::NoUnit {
            bound: bound.into(),
        });
    }
    let units = UNITS.iter();
    let (number, nanos) = units
        .filter_map(|(unit, nanos)| Some((bound.strip_suffix(unit)?, *nanos)))
        .find_map(|(number, nanos)| Some((parse_decimal(number.trim_end())?, nanos)))
        .ok_or_else(wrong)?;
    let bound_ns = (number * nanos).round();
    if !(1.0..=BOUND_MAX_NS).contains(&bound_ns) {
        return Err(ObjectiveError::OutOfRange {
            bound: bound.into(),
        });
    }
    Ok(bound_ns as u64)
}

/// Parses digits with at most one point: no sign, no exponent, no infinity.
fn parse_decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let has_digit = text.bytes().any(|b| b.is_ascii_digit());
    if is_plain && has_digit {
        text.parse().ok()
    } else {
        None
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, nanos) = match self.below_ns {
            1_000_000_000.. => ("s", 1e9),
            1_000_000.. => ("ms", 1e6),
            1_000.. => ("us", 1e3),
            _ => ("ns", 1.0),
        };
        write!(f, "{}<{}{unit}", self.figure, self.below_ns as f64 / nanos)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Mean => f.write_str("mean"),
            // Rounds, so that the percentile is printed as it was written.
            Figure::Quantile { quantile } => {
                write!(f, "p{}", (quantile * 1e11).round() / 1e9)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_read_as_they_are_written() {
        for (text, shown, quantile, below_ns) in [
            ("p99<2ms", "p99<2ms", Some(0.99), 2_000_000),
            ("p99.9 < 500us", "p99.9<500us", Some(0.999), 500_000),
            ("p99.99<1.5 µs", "p99.99<1.5us", Some(0.9999), 1500),
            ("p50<=0.25s", "p50<250ms", Some(0.5), 250_000_000),
            (" mean<1ms ", "mean<1ms", None, 1_000_000),
            ("mean<800ns", "mean<800ns", None, 800),
            ("mean<600s", "mean<600s", None, 600_000_000_000),
        ] {
            let objective: Objective = text.parse().expect(text);
            let figure = quantile.map_or(Figure::Mean, |quantile| Figure::Quantile { quantile });
            match (objective.figure, figure) {
                (Figure::Quantile { quantile: read }, Figure::Quantile { quantile }) => {
                    assert!((read - quantile).abs() < 1e-12, "{text}: {read}");
                }
                (read, figure) => assert_eq!(read, figure, "{text}"),
            }
            assert_eq!(objective.below_ns, below_ns, "{text}");
            assert_eq!(objective.to_string(), shown);
            assert_eq!(shown.parse(), Ok(objective));
        }
    }

    #[test]
    fn what_is_no_objective_is_refused_with_what_was_expected() {
        for (text, message) in [
            ("", "compares nothing"),
            ("p99", "such as p99<2ms"),
            ("p99>2ms", "compares nothing"),
            ("p99<2", "write 2ms, or us, ns, s"),
            ("p99<", "the bound \"\" is no time"),
            ("p99<ms", "is no time"),
            ("p99<2min", "is no time"),
            ("p99<-2ms", "is no time"),
            ("p99<1e3ms", "is no time"),
            ("p99<0ms", "out of range"),
            ("p99<0.1ns", "out of range"),
            ("p99<601s", "out of range"),
            ("p99<<2ms", "is no time"),
            ("p100<2ms", "must lie above 0 and below 100"),
            ("p0<2ms", "must lie above 0"),
            ("pinf<2ms", "no figure is called \"pinf\""),
            ("median<2ms", "no figure is called \"median\""),
            ("P99<2ms", "no figure is called \"P99\""),
            ("<2ms", "no figure is called \"\""),
        ] {
            let error = text.parse::<Objective>().expect_err(text);
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
    }
}
