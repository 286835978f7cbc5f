//! Units of the numbers in gates, and the arithmetic of units.

use filestone_workload::figure::FigureUnit;
use filestone_workload::quantity;
use std::fmt;

/// An arithmetic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl Arithmetic {
    /// Returns the result for two numbers.
    pub fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
        }
    }
}

/// Dimension of a number: exponents of bytes and of time. Operations are dimensionless counts.
///
/// Numbers are in bytes and nanoseconds, and quotients by time are per second, as figures are in
/// records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dimension {
    bytes: i32,
    time: i32,
}

impl Dimension {
    /// Dimension of counts and shares.
    pub const NUMBER: Self = Self { bytes: 0, time: 0 };
    /// Dimension of operations per second.
    pub const RATE: Self = Self { bytes: 0, time: -1 };
    /// Dimension of times.
    pub const TIME: Self = Self { bytes: 0, time: 1 };
    /// Dimension of amounts of data.
    pub const BYTES: Self = Self { bytes: 1, time: 0 };
    /// Dimension of amounts of data per second.
    pub(super) const BYTES_PER_TIME: Self = Self { bytes: 1, time: -1 };

    /// Returns the dimension of a figure.
    pub const fn of(unit: FigureUnit) -> Self {
        match unit {
            FigureUnit::OperationsPerSecond => Self::RATE,
            FigureUnit::BytesPerSecond => Self::BYTES_PER_TIME,
            FigureUnit::Operations | FigureUnit::Share | FigureUnit::Number => Self::NUMBER,
            FigureUnit::Nanoseconds => Self::TIME,
            FigureUnit::Bytes => Self::BYTES,
        }
    }

    /// Parses a number with its unit, such as `2ms`, `10k/s`, `1.5MiB`, `2 %`.
    pub(super) fn read(text: &str) -> Option<(f64, Self)> {
        if let Some(amount) = text.strip_suffix("/s") {
            let amount = amount.trim_end_matches("operations").trim_end();
            let count = quantity::per_second(amount).map(|rate| (rate, Self::RATE));
            let bytes = || Some((quantity::bytes(amount).ok()? as f64, Self::BYTES_PER_TIME));
            return count.or_else(bytes);
        }
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim_end().parse().ok()?;
            return Some((percent / 100.0, Self::NUMBER));
        }
        if let Ok(number) = text.parse() {
            return Some((number, Self::NUMBER));
        }
        let time = quantity::duration(text).map(|nanos| (nanos as f64, Self::TIME));
        let bytes = || quantity::bytes(text).map(|bytes| (bytes as f64, Self::BYTES));
        time.or_else(|_| bytes()).ok()
    }

    /// Returns the dimension of a product or a quotient, and the divisor that scales the product or
    /// quotient of the numbers.
    pub(super) fn calculated(self, how: Arithmetic, by: Self) -> (Self, f64) {
        let (sign, scale) = match how {
            Arithmetic::Add | Arithmetic::Subtract => return (self, 1.0),
            Arithmetic::Multiply => (1, by.scale()),
            Arithmetic::Divide => (-1, 1.0 / by.scale()),
        };
        let result = Self {
            bytes: self.bytes + sign * by.bytes,
            time: self.time + sign * by.time,
        };
        (result, self.scale() * scale / result.scale())
    }

    /// Returns the number of units of this dimension in one unit of bytes and seconds.
    fn scale(self) -> f64 {
        1e9_f64.powi(self.time.max(0))
    }

    /// Returns the unit as in records; `None` for plain numbers.
    pub fn unit(self) -> Option<String> {
        Some(match self {
            Self::NUMBER => return None,
            Self::RATE => FigureUnit::OperationsPerSecond.name().into(),
            Self::BYTES_PER_TIME => FigureUnit::BytesPerSecond.name().into(),
            Self::TIME => FigureUnit::Nanoseconds.name().into(),
            Self::BYTES => FigureUnit::Bytes.name().into(),
            Self { bytes, time } if time > 0 => format!("bytes^{bytes} ns^{time}"),
            Self { bytes, time } => format!("bytes^{bytes} s^{time}"),
        })
    }

    /// Returns an example of a number in this unit.
    pub(super) const fn example(self) -> Option<&'static str> {
        Some(match self {
            Self::NUMBER => "0 or 2%",
            Self::RATE => "20000/s",
            Self::BYTES_PER_TIME => "100MiB/s",
            Self::TIME => "2ms",
            Self::BYTES => "64KiB",
            Self { .. } => return None,
        })
    }
}

impl fmt::Display for Dimension {
    /// Writes a description of a number in this unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.unit()) {
            (Self::NUMBER, _) => f.write_str("a number"),
            (Self::RATE, _) => f.write_str("operations per second"),
            (Self::BYTES_PER_TIME, _) => f.write_str("bytes per second"),
            (Self::TIME, _) => f.write_str("a time"),
            (Self::BYTES, _) => f.write_str("a number of bytes"),
            (_, unit) => write!(f, "in {}", unit.unwrap_or_default()),
        }
    }
}
