//! The threshold of a rule.

use std::fmt;

/// A figure with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The figure.
    pub figure: f64,
    /// The unit.
    pub unit: &'static str,
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { figure, unit } = *self;
        if figure.fract() != 0.0 {
            return write!(f, "{figure} {unit}");
        }
        write!(f, "{} {unit}", crate::text::thousands(figure as u64))
    }
}
