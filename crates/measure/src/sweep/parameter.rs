//! Parameter of a sweep: an option and its values.

use super::steps::{Item, VALUES_MAX, item};
use super::value_kind::ValueKind;
use crate::JsonSchema;
use filestone_workload::text::{bytes_text, time_text};
use serde::{Deserialize, Serialize};

/// Maximum number of points of a sweep.
pub const POINTS_MAX: usize = 4096;
/// Ratio of the largest to the smallest value from which a list has a logarithmic axis.
const RATIO_OF_LISTS: f64 = 16.0;

/// A value of an option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepValue {
    /// Text in the syntax of the option.
    pub text: String,
    /// Value as a number: bytes, nanoseconds, operations per second.
    pub number: Option<f64>,
}

/// An option and the values that it takes in turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepParameter {
    /// Name of the option without dashes.
    pub name: String,
    /// Syntax of its values.
    pub kind: ValueKind,
    /// Values: numbers in ascending order, names in the given order.
    pub values: Vec<SweepValue>,
    /// Whether the axis of the values is logarithmic.
    pub is_logarithmic: bool,
}

impl SweepValue {
    fn of_word(word: &str, kind: ValueKind) -> Self {
        let number = kind.number(word);
        let text = match (kind, number) {
            // Different spellings of the same number of bytes are one point.
            (ValueKind::Bytes | ValueKind::Time, Some(number)) => kind.text(number),
            _ => word.into(),
        };
        Self { text, number }
    }

    fn of_number(number: f64, kind: ValueKind) -> Self {
        let text = kind.text(number);
        let number = kind.number(&text);
        Self { text, number }
    }

    /// Formats the value for display: `4 KiB`, `5.00 ms`.
    pub fn shown(&self, kind: ValueKind) -> String {
        match (kind, self.number) {
            (ValueKind::Bytes, Some(bytes)) => bytes_text(bytes as u64),
            (ValueKind::Time, Some(nanos)) => time_text(nanos),
            _ => self.text.clone(),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.text == other.text || (self.number.is_some() && self.number == other.number)
    }
}

impl SweepParameter {
    /// Parses a list of values and ranges. Duplicates are removed.
    pub fn parse(name: &str, kind: ValueKind, text: &str) -> Result<Self, String> {
        let mut items = vec![];
        for word in text.split(',') {
            match word.trim() {
                "" => return Err("a value is missing".into()),
                word => items.push(item(word, kind)?),
            }
        }
        let has_ratios = items.iter().any(|item| {
            matches!(
                item,
                Item::Numbers {
                    are_ratios: true,
                    ..
                }
            )
        });
        let is_list = items.iter().all(|item| matches!(item, Item::Word(_)));
        let mut values: Vec<SweepValue> = vec![];
        for value in items.iter().flat_map(|item| values_of(item, kind)) {
            if !values.iter().any(|known| known.is_same(&value)) {
                values.push(value);
            }
        }
        if values.len() > VALUES_MAX {
            return Err(format!("{} values; at most {VALUES_MAX}", values.len()));
        }
        // A name among numbers makes all of them names: 3.0 and 3.1.1 are dialects.
        if values.iter().any(|value| value.number.is_none()) {
            values.iter_mut().for_each(|value| value.number = None);
        }
        // Numbers are sorted; names stay in the given order.
        values.sort_by(|one, other| {
            let number = |value: &SweepValue| value.number.unwrap_or(0.0);
            number(one).total_cmp(&number(other))
        });
        let is_logarithmic = has_ratios || (is_list && are_far_apart(&values));
        Ok(Self {
            name: name.into(),
            kind,
            values,
            is_logarithmic,
        })
    }

    /// Returns whether the values are numbers, which have an axis.
    pub fn is_numeric(&self) -> bool {
        self.values.iter().all(|value| value.number.is_some())
    }
}

fn are_far_apart(values: &[SweepValue]) -> bool {
    let numbers = values.iter().map(|value| value.number.unwrap_or(0.0));
    let (low, high) = numbers.fold((f64::INFINITY, 0.0_f64), |(low, high), number| {
        (low.min(number), high.max(number))
    });
    low > 0.0 && high >= RATIO_OF_LISTS * low
}

fn values_of(item: &Item, kind: ValueKind) -> Vec<SweepValue> {
    match item {
        Item::Word(word) => vec![SweepValue::of_word(word, kind)],
        Item::Numbers { numbers, .. } => {
            let ends = [numbers.first(), numbers.last()];
            // Between integers all values are integers.
            let is_whole =
                kind.is_whole() || ends.into_iter().flatten().all(|end| end.fract() == 0.0);
            let rounded = |number: &f64| if is_whole { number.round() } else { *number };
            let values = numbers.iter().map(rounded);
            values
                .map(|number| SweepValue::of_number(number, kind))
                .collect()
        }
    }
}

/// Returns the points: every value of the first parameter with every value of the second. Points
/// with the same value of the second are adjacent.
pub fn points(parameters: &[SweepParameter]) -> Result<Vec<Vec<SweepValue>>, String> {
    let count = parameters
        .iter()
        .map(|parameter| parameter.values.len())
        .product::<usize>();
    if count > POINTS_MAX {
        return Err(format!("{count} points; a sweep has at most {POINTS_MAX}"));
    }
    let none = vec![vec![]];
    Ok(parameters
        .iter()
        .fold(none, |points: Vec<Vec<SweepValue>>, parameter| {
            let with = |value: &SweepValue| -> Vec<Vec<SweepValue>> {
                let points = points.iter().cloned();
                points
                    .map(|mut point| {
                        point.push(value.clone());
                        point
                    })
                    .collect()
            };
            parameter.values.iter().flat_map(with).collect()
        }))
}

/// Returns the name of a point: `size=512, transport=udp`.
pub fn name_of_point(parameters: &[SweepParameter], point: &[SweepValue]) -> String {
    let both = parameters.iter().zip(point);
    let both = both.map(|(parameter, value)| format!("{}={}", parameter.name, value.text));
    both.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(kind: ValueKind, text: &str) -> Vec<String> {
        let parameter = SweepParameter::parse("it", kind, text).expect(text);
        parameter
            .values
            .into_iter()
            .map(|value| value.text)
            .collect()
    }

    #[test]
    fn values_are_what_the_option_reads() {
        use ValueKind::{Bytes, Number, Rate, Time, Word};
        for (kind, text, values) in [
            (Bytes, "512,4K,4096,64kB", vec!["512", "4096", "64000"]),
            (Bytes, "1..4:log5", vec!["1", "2", "3", "4"]),
            (Number, "1..8:log4,5", vec!["1", "2", "4", "5", "8"]),
            (Number, "0.5..2:log3", vec!["0.5", "1", "2"]),
            (Rate, "1k..10k:log3", vec!["1000", "3162", "10000"]),
            (Rate, "10..20Mbit/s", vec!["10..20Mbit/s"]),
            (
                Time,
                "0,1ms..4ms:x2",
                vec!["0ns", "1000000ns", "2000000ns", "4000000ns"],
            ),
            (Word, "3.0,3.02", vec!["3.0", "3.02"]),
            (Number, "3.0,3.1.1", vec!["3.0", "3.1.1"]),
        ] {
            assert_eq!(texts(kind, text), values, "{text}");
        }
        for text in ["", "1,,2", "1,", "1..0"] {
            assert!(SweepParameter::parse("it", Number, text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_axis_is_logarithmic_where_steps_are_ratios() {
        let is_logarithmic = |text: &str| {
            let parameter = SweepParameter::parse("it", ValueKind::Number, text).expect(text);
            parameter.is_logarithmic
        };
        for text in ["1..64", "1..64:log3", "1,4,16,64", "1..2:x1.5"] {
            assert!(is_logarithmic(text), "{text}");
        }
        for text in ["1..64:8", "1..64:+4", "1,2,3", "0,100", "a,b", "7"] {
            assert!(!is_logarithmic(text), "{text}");
        }
        let dialects = SweepParameter::parse("dialect", ValueKind::Number, "3.0,3.1.1");
        assert!(!dialects.expect("names").is_numeric());
    }

    #[test]
    fn points_of_one_value_of_the_second_stand_together() {
        let parse = |text| SweepParameter::parse("it", ValueKind::Number, text).expect(text);
        let found = points(&[parse("1,2,3"), parse("tcp,udp")]).expect("six");
        let found = found.iter().map(|point| {
            let texts = point.iter().map(|value| value.text.as_str());
            texts.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(
            found.collect::<Vec<_>>(),
            ["1 tcp", "2 tcp", "3 tcp", "1 udp", "2 udp", "3 udp"]
        );
        let parameters = [parse("1,2,3"), parse("tcp,udp")];
        let [.., last] = &points(&parameters).expect("six")[..] else {
            panic!("six points");
        };
        assert_eq!(name_of_point(&parameters, last), "it=3, it=udp");
        let many = points(&[parse("1..1000:1000"), parse("1..10:10")]);
        assert!(many.is_err_and(|why| why.contains("10000 points")));
    }
}
