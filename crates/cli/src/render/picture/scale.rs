//! From values to places on an axis, and which values get a number there.

use super::Quantity;
use crate::quantity::{grouped, time_text};

/// Largest over smallest value above which a time axis is logarithmic.
const LINEAR_RATIO_MAX: f64 = 20.0;
/// Numbers on a linear axis, about.
const TICKS: f64 = 6.0;
/// Decades of a logarithmic axis at most: values below are drawn at its end.
const DECADES_MAX: i32 = 8;
/// A time that is shorter than any exchange, so that 0 has a logarithm.
const TIME_MIN: f64 = 1e-9;

/// An axis that knows its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    quantity: Quantity,
    is_logarithmic: bool,
    low: f64,
    high: f64,
    step: f64,
}

/// A number on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where on the axis, from 0 to 1.
    pub place: f64,
    /// The number, if it is written.
    pub text: Option<String>,
}

impl Scale {
    /// An axis on which all these values have a place; `None` if there is none, or only 0.
    pub fn of(quantity: Quantity, values: impl Iterator<Item = f64>) -> Option<Self> {
        let values = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if high <= 0.0 {
            return None;
        }
        let is_logarithmic = quantity == Quantity::Time && high / low > LINEAR_RATIO_MAX;
        if !is_logarithmic {
            let step = round_step(high / TICKS);
            return Some(Self {
                quantity,
                is_logarithmic,
                low: 0.0,
                high: (high / step).ceil() * step,
                step,
            });
        }
        let last = high.log10().ceil() as i32;
        let first = (low.max(TIME_MIN).log10().floor() as i32).max(last - DECADES_MAX);
        Some(Self {
            quantity,
            is_logarithmic,
            low: 10_f64.powi(first.min(last - 1)),
            high: 10_f64.powi(last),
            step: 10.0,
        })
    }

    /// Where a value is, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let place = if self.is_logarithmic {
            let value = value.max(self.low);
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        place.clamp(0.0, 1.0)
    }

    /// The lines of the grid.
    pub fn ticks(&self) -> Vec<Tick> {
        let mut ticks = Vec::new();
        if self.is_logarithmic {
            let decades = (self.high / self.low).log10().round() as i32;
            for decade in 0..=decades {
                let base = self.low * 10_f64.powi(decade);
                for factor in 1..=if decade < decades { 9 } else { 1 } {
                    let value = base * f64::from(factor);
                    ticks.push(Tick {
                        place: self.place(value),
                        text: matches!(factor, 1).then(|| self.text(value)),
                    });
                }
            }
            return ticks;
        }
        let count = ((self.high - self.low) / self.step).round() as u32;
        for index in 0..=count {
            let value = self.low + self.step * f64::from(index);
            ticks.push(Tick {
                place: self.place(value),
                text: Some(self.text(value)),
            });
        }
        ticks
    }

    /// A value as its axis writes it.
    pub fn text(&self, value: f64) -> String {
        match self.quantity {
            Quantity::Load if self.step < 1.0 => format!("{value:.2}"),
            Quantity::Load => grouped(value.round() as u64),
            Quantity::Time if value <= 0.0 => "0".into(),
            Quantity::Time => time_text(value * 1e9 * (1.0 + 1e-12)),
        }
    }

    /// Whether equal distances are equal ratios.
    pub const fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }
}

/// 1, 2 or 5 times a power of ten, not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_nothing_and_ends_at_a_round_number() {
        let scale = Scale::of(Quantity::Load, [9_340.0, 100.0].into_iter()).expect("values");
        let texts: Vec<String> = scale
            .ticks()
            .into_iter()
            .filter_map(|tick| tick.text)
            .collect();
        assert_eq!(texts, ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]);
        assert_eq!(scale.place(5_000.0), 0.5);
        assert_eq!(scale.place(20_000.0), 1.0);
    }

    #[test]
    fn times_that_lie_far_apart_get_decades() {
        let scale = Scale::of(Quantity::Time, [0.0002, 0.03].into_iter()).expect("values");
        assert!(scale.is_logarithmic());
        let texts: Vec<String> = scale
            .ticks()
            .into_iter()
            .filter_map(|tick| tick.text)
            .collect();
        assert_eq!(texts, ["100 µs", "1.00 ms", "10.0 ms", "100 ms"]);
        assert!((scale.place(0.001) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(scale.place(0.0), 0.0);
    }

    #[test]
    fn what_cannot_be_drawn_has_no_axis() {
        assert_eq!(Scale::of(Quantity::Time, [0.0, f64::NAN].into_iter()), None);
        assert_eq!(Scale::of(Quantity::Load, std::iter::empty()), None);
        let wide = Scale::of(Quantity::Time, [1e-300, 1e300].into_iter()).expect("values");
        assert!(wide.ticks().len() < 100);
    }
}
