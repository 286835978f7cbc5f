//! Maps values to positions on an axis, and selects the values that are labelled.

use super::AxisQuantity;
use filestone_workload::text::{thousands, time_text};

/// Largest over smallest value above which a time axis is logarithmic.
const LINEAR_RATIO_MAX: f64 = 20.0;
/// Approximate number of labels on a linear axis.
const TICKS: f64 = 6.0;
/// Maximum number of decades of a logarithmic axis; smaller values are drawn at its end.
const DECADES_MAX: i32 = 8;
/// Maximum number of decades with labels at 2 and 5.
const DECADES_WITH_2_AND_5: f64 = 3.0;
/// A time that is shorter than any exchange, so that 0 has a logarithm.
const TIME_MIN: f64 = 1e-9;
/// Maximum number of nines of a percentile; no run has enough operations for more.
const NINES_MAX: i32 = 12;
/// The same maximum as a value of the axis.
const PERCENTILE_MAX: f64 = 1e12;

/// Scale of an axis, with its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    quantity: AxisQuantity,
    is_logarithmic: bool,
    low: f64,
    high: f64,
    step: f64,
}

/// A tick of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Position on the axis, from 0 to 1.
    pub place: f64,
    /// Label, if there is one.
    pub text: Option<String>,
}

impl Scale {
    /// Returns an axis that contains all these values; `None` if there are none, or only 0.
    pub fn of(quantity: AxisQuantity, values: impl Iterator<Item = f64>) -> Option<Self> {
        let is_signed = quantity == AxisQuantity::Elapsed;
        let values = values.filter(|value| value.is_finite() && (*value > 0.0 || is_signed));
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if high <= 0.0 {
            return None;
        }
        let is_far = high / low > LINEAR_RATIO_MAX;
        Some(match quantity {
            AxisQuantity::Time if is_far => Self::logarithmic(quantity, low.max(TIME_MIN), high),
            AxisQuantity::Ratio => Self::logarithmic(quantity, low, high),
            AxisQuantity::Load | AxisQuantity::Time => Self::from_nothing(quantity, high),
            AxisQuantity::Elapsed => Self {
                quantity,
                is_logarithmic: false,
                low: low.min(0.0),
                high,
                step: round_step((high - low.min(0.0)) / (TICKS + 2.0)),
            },
            AxisQuantity::Near => Self::around(low, high),
            AxisQuantity::Percentile => Self {
                quantity,
                is_logarithmic: true,
                low: 1.0,
                high: high.clamp(10.0, PERCENTILE_MAX),
                step: 10.0,
            },
            AxisQuantity::Name => Self {
                quantity,
                is_logarithmic: false,
                low: 0.0,
                high,
                step: 1.0,
            },
        })
    }

    fn from_nothing(quantity: AxisQuantity, high: f64) -> Self {
        let step = round_step(high / TICKS);
        Self {
            quantity,
            is_logarithmic: false,
            low: 0.0,
            high: (high / step - 1e-9).ceil() * step,
            step,
        }
    }

    /// Returns an axis around values that are close to each other; equal ones are in the middle.
    fn around(low: f64, high: f64) -> Self {
        let step = round_step((high - low).max(0.01 * high) / TICKS);
        Self {
            quantity: AxisQuantity::Near,
            is_logarithmic: false,
            low: ((low / step).floor() - 1.0).max(0.0) * step,
            high: ((high / step).ceil() + 1.0) * step,
            step,
        }
    }

    /// Returns a logarithmic axis whose ends are 1, 2 or 5 times a power of ten.
    fn logarithmic(quantity: AxisQuantity, low: f64, high: f64) -> Self {
        let high = round_step(high);
        let low = round_step_below(low.max(high / 10_f64.powi(DECADES_MAX)));
        Self {
            quantity,
            is_logarithmic: true,
            // A single value has an axis, too.
            low: if low < high { low } else { low / 10.0 },
            high,
            step: 10.0,
        }
    }

    /// Returns the position of a value, from 0 to 1. The first of several names is at the top.
    pub fn place(&self, value: f64) -> f64 {
        let place = if self.is_logarithmic {
            let value = value.max(self.low);
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let place = place.clamp(0.0, 1.0);
        match self.quantity {
            AxisQuantity::Name => 1.0 - place,
            _ => place,
        }
    }

    /// Returns the lines of the grid.
    pub fn ticks(&self) -> Vec<Tick> {
        match self.quantity {
            AxisQuantity::Percentile => self.nines(),
            AxisQuantity::Name => vec![],
            _ if self.is_logarithmic => self.decades(),
            _ => self.steps(),
        }
    }

    fn steps(&self) -> Vec<Tick> {
        let first = (self.low / self.step).ceil() as i64;
        let last = (self.high / self.step + 1e-9).floor() as i64;
        // A step is a sixth of the axis, so there are few.
        let values = (first..=last).map(|index| self.step * index as f64);
        values.map(|value| self.tick(value, true)).collect()
    }

    fn decades(&self) -> Vec<Tick> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let is_near = (self.high / self.low).log10() <= DECADES_WITH_2_AND_5;
        let mut ticks = Vec::new();
        for decade in first..=last {
            for factor in 1..=9_u8 {
                let value = f64::from(factor) * 10_f64.powi(decade);
                let within = self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9);
                if within.contains(&value) {
                    let is_written = factor == 1 || (is_near && matches!(factor, 2 | 5));
                    ticks.push(self.tick(value, is_written));
                }
            }
        }
        ticks
    }

    /// Returns ticks at 0 %, 50 %, 90 %, 99 %, 99.9 % and so on.
    fn nines(&self) -> Vec<Tick> {
        let nines = (1..=NINES_MAX).map(|nines| 10_f64.powi(nines));
        [1.0, 2.0]
            .into_iter()
            .chain(nines)
            .filter(|value| *value <= self.high * (1.0 + 1e-9))
            .map(|value| self.tick(value, true))
            .collect()
    }

    fn tick(&self, value: f64, is_written: bool) -> Tick {
        Tick {
            place: self.place(value),
            text: is_written.then(|| self.text(value)),
        }
    }

    /// Formats a value like the labels of its axis.
    pub fn text(&self, value: f64) -> String {
        match self.quantity {
            AxisQuantity::Load | AxisQuantity::Elapsed | AxisQuantity::Near => self.number(value),
            AxisQuantity::Ratio if value < 1.0 => {
                format!("{value:.4}").trim_end_matches('0').into()
            }
            AxisQuantity::Ratio => self.number(value),
            AxisQuantity::Time if value <= 0.0 => "0".into(),
            AxisQuantity::Time => trimmed(&time_text(value * 1e9 * (1.0 + 1e-12))),
            AxisQuantity::Percentile => percentile_text(value),
            AxisQuantity::Name => String::new(),
        }
    }

    fn number(&self, value: f64) -> String {
        let is_whole = self.step >= 1.0 || value == 0.0;
        if is_whole {
            let sign = if value <= -0.5 { "−" } else { "" };
            return format!("{sign}{}", thousands(value.abs().round() as u64));
        }
        // As many decimals as the step has, within reason.
        let decimals = (-self.step.log10().floor()).clamp(1.0, 6.0) as usize;
        format!("{value:.decimals$}").replace('-', "−")
    }

    /// Returns the first and the last value of the axis.
    pub const fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Whether equal distances are equal ratios.
    pub const fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }
}

/// Shortens a round number: `10.0 ms` becomes `10 ms`.
fn trimmed(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text.into(),
    }
}

/// Formats the percentile of a value 1/(1−p): `99.9 %`.
fn percentile_text(value: f64) -> String {
    let percent = 100.0 - 100.0 / value.max(1.0);
    let nines = value.max(1.0).log10().round() as i32;
    let decimals = (nines - 2).clamp(0, 10) as usize;
    format!("{percent:.decimals$} %")
}

/// Returns the smallest 1, 2 or 5 times a power of ten that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Returns the largest 1, 2 or 5 times a power of ten that is not above `step`.
fn round_step_below(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [10.0, 5.0, 2.0, 1.0]
        .into_iter()
        .find(|factor| factor * power <= step * (1.0 + 1e-9));
    factor.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(scale: &Scale) -> Vec<String> {
        let ticks = scale.ticks().into_iter();
        ticks.filter_map(|tick| tick.text).collect()
    }

    #[test]
    fn a_linear_axis_begins_at_nothing_and_ends_at_a_round_number() {
        let scale = Scale::of(AxisQuantity::Load, [9_340.0, 100.0].into_iter()).expect("values");
        assert_eq!(
            written(&scale),
            ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]
        );
        assert_eq!(scale.place(5_000.0), 0.5);
        assert_eq!(scale.place(20_000.0), 1.0);
        let scale = Scale::of(AxisQuantity::Load, [0.012].into_iter()).expect("a value");
        assert_eq!(
            written(&scale),
            ["0", "0.002", "0.004", "0.006", "0.008", "0.010", "0.012"]
        );
    }

    #[test]
    fn times_that_lie_far_apart_have_equal_ratios() {
        let scale = Scale::of(AxisQuantity::Time, [0.0002, 0.03].into_iter()).expect("values");
        assert!(scale.is_logarithmic());
        // From 200 µs to 50 ms: 1 ms is at log 5 / log 250 of the axis.
        assert_eq!(
            written(&scale),
            [
                "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"
            ]
        );
        assert!((scale.place(0.001) - 5_f64.ln() / 250_f64.ln()).abs() < 1e-9);
        assert_eq!(scale.place(0.0), 0.0);
        let scale = Scale::of(AxisQuantity::Time, [3e-5, 4.0].into_iter()).expect("values");
        assert_eq!(
            written(&scale),
            ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        );
    }

    #[test]
    fn each_nine_takes_the_same_room() {
        let scale = Scale::of(AxisQuantity::Percentile, [1.0, 1e4].into_iter()).expect("values");
        assert_eq!(
            written(&scale),
            ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]
        );
        let places: Vec<f64> = scale.ticks().iter().map(|tick| tick.place).collect();
        let on_paper = [0.0, 2_f64.log10() / 4.0, 0.25, 0.5, 0.75, 1.0];
        for (place, expected) in places.iter().zip(on_paper) {
            assert!((place - expected).abs() < 1e-12, "{place} for {expected}");
        }
        let single = Scale::of(AxisQuantity::Percentile, [1.0].into_iter()).expect("one sample");
        assert_eq!(written(&single), ["0 %", "50 %", "90 %"]);
    }

    #[test]
    fn elapsed_time_begins_before_the_window_if_something_is_there() {
        let scale = Scale::of(AxisQuantity::Elapsed, [-2.0, 8.0].into_iter()).expect("values");
        assert_eq!(scale.place(0.0), 0.2);
        assert_eq!(written(&scale), ["−2", "0", "2", "4", "6", "8"]);
        let scale = Scale::of(AxisQuantity::Elapsed, [0.25, 10.3].into_iter()).expect("values");
        assert_eq!((scale.place(0.0), scale.place(10.3)), (0.0, 1.0));
    }

    #[test]
    fn the_first_name_is_at_the_top() {
        let scale = Scale::of(AxisQuantity::Name, [4.0].into_iter()).expect("names");
        assert_eq!(
            [0.5, 1.5, 3.5].map(|name| scale.place(name)),
            [0.875, 0.625, 0.125]
        );
    }

    #[test]
    fn what_cannot_be_drawn_has_no_axis() {
        assert_eq!(
            Scale::of(AxisQuantity::Time, [0.0, f64::NAN].into_iter()),
            None
        );
        assert_eq!(Scale::of(AxisQuantity::Load, std::iter::empty()), None);
        let values = [1e-300, 1.0, 1e15];
        for quantity in [
            AxisQuantity::Load,
            AxisQuantity::Time,
            AxisQuantity::Elapsed,
            AxisQuantity::Percentile,
        ] {
            for high in values {
                let Some(scale) = Scale::of(quantity, [high, 1e-300].into_iter()) else {
                    continue;
                };
                let ticks = scale.ticks();
                assert!(ticks.len() < 100, "{quantity:?} {high}");
                let within = ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place));
                assert!(within, "{quantity:?} {high}: {ticks:?}");
            }
        }
    }
}
