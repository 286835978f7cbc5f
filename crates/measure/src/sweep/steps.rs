//! Syntax of lists and ranges: `512,4K,8K`, `512..64K:x2`, `1..8192:+64`, `1..64:log7`.

use super::value_kind::ValueKind;

/// Maximum number of values of one parameter; more are a mistake.
pub(super) const VALUES_MAX: usize = 4096;

/// Item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// A value as written.
    Word(String),
    /// The numbers of a range.
    Numbers {
        numbers: Vec<f64>,
        /// Whether each number is a multiple of the previous one.
        are_ratios: bool,
    },
}

/// Steps from one end of a range to the other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Steps {
    /// Number of values at equal distances.
    Count(usize),
    /// Distance between values.
    Distance(f64),
    /// Ratio of each value to the previous one.
    Factor(f64),
    /// Number of values at equal ratios.
    Ratios(usize),
}

/// The two ends of a range.
#[derive(Debug, Clone, Copy)]
struct Ends {
    first: f64,
    last: f64,
}

const STEPS_EXPECTED: &str = "expected :16 (values at equal distances), :+512 (each 512 more), :x2 (each \
                              twice the one before) or :log16 (values at equal ratios)";

/// Parses one item of a list.
pub(super) fn item(text: &str, kind: ValueKind) -> Result<Item, String> {
    let word = || Ok(Item::Word(text.into()));
    let Some((first, rest)) = text.split_once("..") else {
        return word();
    };
    let (last, steps) = match rest.split_once(':') {
        Some((last, steps)) => (last, Some(steps)),
        None => (rest, None),
    };
    // Text that is not a range of numbers may be a word of the option.
    let (Some(first), Some(last)) = (kind.number(first), kind.number(last)) else {
        return word();
    };
    if first >= last {
        return Err(format!(
            "{text}: the first value of a range must be less than its last"
        ));
    }
    let steps = steps.map_or(Ok(Steps::Factor(2.0)), |steps| read(steps, kind))?;
    let ends = Ends { first, last };
    Ok(Item::Numbers {
        numbers: numbers(ends, steps).map_err(|why| format!("{text}: {why}"))?,
        are_ratios: matches!(steps, Steps::Factor(_) | Steps::Ratios(_)),
    })
}

fn read(text: &str, kind: ValueKind) -> Result<Steps, String> {
    let expected = || format!(":{text}: {STEPS_EXPECTED}");
    let count = |text: &str| -> Option<usize> {
        text.parse()
            .ok()
            .filter(|count| (2..=VALUES_MAX).contains(count))
    };
    let steps = if let Some(distance) = text.strip_prefix('+') {
        let distance = kind.number(distance).filter(|distance| *distance > 0.0);
        distance.map(Steps::Distance)
    } else if let Some(factor) = text.strip_prefix('x') {
        let factor = factor.parse().ok();
        factor
            .filter(|factor: &f64| factor.is_finite() && *factor > 1.0)
            .map(Steps::Factor)
    } else if let Some(ratios) = text.strip_prefix("log") {
        count(ratios).map(Steps::Ratios)
    } else {
        count(text).map(Steps::Count)
    };
    steps.ok_or_else(expected)
}

/// Returns the values, including both ends, whether or not the steps reach the last exactly.
fn numbers(ends: Ends, steps: Steps) -> Result<Vec<f64>, String> {
    let Ends { first, last } = ends;
    let are_ratios = matches!(steps, Steps::Factor(_) | Steps::Ratios(_));
    if are_ratios && first <= 0.0 {
        return Err("there are no ratios from 0 on".into());
    }
    let share = |step: usize, count: usize| step as f64 / (count - 1) as f64;
    let mut numbers = match steps {
        Steps::Count(count) => (0..count)
            .map(|step| first + (last - first) * share(step, count))
            .collect(),
        Steps::Ratios(count) => (0..count)
            .map(|step| first * (last / first).powf(share(step, count)))
            .collect(),
        Steps::Distance(distance) => until(last, |step| first + distance * step)?,
        Steps::Factor(factor) => until(last, |step| first * factor.powf(step))?,
    };
    // Rounding must neither lose the end nor add it twice.
    let near = |number: &f64| (number - last).abs() <= 1e-9 * last.abs();
    if numbers.last().is_some_and(near) {
        numbers.pop();
    }
    numbers.push(last);
    Ok(numbers)
}

/// Returns the values of these steps up to `last`.
fn until(last: f64, value: impl Fn(f64) -> f64) -> Result<Vec<f64>, String> {
    let values = (0..=VALUES_MAX as u32).map(|step| value(step.into()));
    let values: Vec<f64> = values.take_while(|value| *value <= last).collect();
    if values.len() > VALUES_MAX {
        return Err(format!("more than {VALUES_MAX} values"));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str, kind: ValueKind) -> Vec<f64> {
        match item(text, kind) {
            Ok(Item::Numbers { numbers, .. }) => numbers
                .iter()
                .map(|number| (number * 1000.0).round() / 1000.0)
                .collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn ranges_have_both_ends_and_the_steps_between() {
        use ValueKind::{Bytes, Number, Rate, Time};
        for (text, kind, numbers) in [
            ("512..4K:x2", Bytes, vec![512.0, 1024.0, 2048.0, 4096.0]),
            ("512..4K", Bytes, vec![512.0, 1024.0, 2048.0, 4096.0]),
            ("1..10:x3", Number, vec![1.0, 3.0, 9.0, 10.0]),
            ("0..10:+4", Number, vec![0.0, 4.0, 8.0, 10.0]),
            ("1K..3K:+1K", Bytes, vec![1024.0, 2048.0, 3072.0]),
            ("0..1:5", Number, vec![0.0, 0.25, 0.5, 0.75, 1.0]),
            ("1..1000:log4", Number, vec![1.0, 10.0, 100.0, 1000.0]),
            ("1k..2k:2", Rate, vec![1000.0, 2000.0]),
            ("1ms..4ms:x2", Time, vec![1e6, 2e6, 4e6]),
        ] {
            assert_eq!(range(text, kind), numbers, "{text}");
        }
    }

    #[test]
    fn what_is_no_range_of_numbers_is_a_word() {
        for text in ["tcp", "10..20Mbit/s", "..", "a..b", "3.1.1"] {
            assert_eq!(item(text, ValueKind::Number), Ok(Item::Word(text.into())));
        }
    }

    #[test]
    fn ranges_that_cannot_be_say_why() {
        for (text, why) in [
            ("5..5", "must be less than its last"),
            ("9..5:3", "must be less than its last"),
            ("0..8:x2", "no ratios from 0 on"),
            ("0..8:log3", "no ratios from 0 on"),
            ("1..8:x1", "expected :16"),
            ("1..8:xinf", "expected :16"),
            ("1..8:1", "expected :16"),
            ("1..8:+0", "expected :16"),
            ("1..8:", "expected :16"),
            ("1..8:5000", "expected :16"),
            ("1..1000000:+1", "more than 4096 values"),
        ] {
            let error = item(text, ValueKind::Number).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
