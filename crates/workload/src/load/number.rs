//! Numbers of load files: C's notation, random numbers (`*`), numbers relative to the previous line
//! (`+`), and time stamps.

use crate::random::{Generator, RngExt};
use std::time::Duration;

/// A number in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Number {
    /// A constant.
    Literal(u64),
    /// `*` and its modifiers: a random number of 63 bits, modified from left to right.
    Random(Vec<Modifier>),
    /// `+n`: the number at this position in the previous line, plus n.
    Previous(u64),
    /// `+child`: the number at this position in the previous line, plus the client's number.
    PreviousAndClient,
    /// `+num_children`: the number at this position in the previous line, plus the number of
    /// clients.
    PreviousAndClients,
    /// Text with random strings in it, which evaluates to one of the others.
    Text(Box<[u8]>),
    /// A path with random strings, whose handle is the number.
    Path(Box<[u8]>),
}

/// A modifier of a random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modifier {
    /// `/y`: rounds down to a multiple of y.
    Align(u64),
    /// `%y`: remainder of a division by y.
    Modulo(u64),
    /// `+y`: adds y.
    Add(u64),
}

/// Reason why a text is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberError {
    /// The text is not in C's notation, or is an invalid expression.
    Malformed,
    /// The number has more than 64 bits.
    TooLarge,
    /// The text has `/0` or `%0`.
    DivisionByZero,
}

impl NumberError {
    /// Returns a description that follows the number.
    pub(super) const fn what(self) -> &'static str {
        match self {
            NumberError::Malformed => "is not a number",
            NumberError::TooLarge => "does not fit into 64 bits",
            NumberError::DivisionByZero => "divides by zero",
        }
    }
}

/// Context for the evaluation of a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct EvalContext {
    /// Number at this position in the previous line.
    pub(super) previous: u64,
    /// Number of the client, from 0.
    pub(super) client: u32,
    /// Number of clients.
    pub(super) clients: u32,
}

impl Number {
    /// Parses a number of any form except `Text`.
    pub(super) fn parse(text: &[u8]) -> Result<Number, NumberError> {
        match text.split_first() {
            Some((b'*', rest)) => qualifiers(rest).map(Number::Random),
            Some((b'+', b"child")) => Ok(Number::PreviousAndClient),
            // The second spelling is the one in the documentation.
            Some((b'+', b"num_children" | b"num_childred")) => Ok(Number::PreviousAndClients),
            Some((b'+', rest)) => match rest.split_first() {
                Some((b'-', digits)) => c_number(digits).map(u64::wrapping_neg),
                _ => c_number(rest),
            }
            .map(Number::Previous),
            _ => c_number(text).map(Number::Literal),
        }
    }

    /// Evaluates the number. `None` for a `Text` or a `Path`.
    pub(super) fn evaluate(&self, around: &EvalContext, random: &mut Generator) -> Option<u64> {
        let more = match self {
            Number::Literal(value) => return Some(*value),
            Number::Random(qualifiers) => {
                let drawn = random.random::<u64>() >> 1;
                return Some(qualifiers.iter().fold(drawn, |value, q| q.apply(value)));
            }
            Number::Text(_) | Number::Path(_) => return None,
            Number::Previous(more) => *more,
            Number::PreviousAndClient => u64::from(around.client),
            Number::PreviousAndClients => u64::from(around.clients),
        };
        Some(around.previous.wrapping_add(more))
    }
}

impl Modifier {
    fn apply(self, value: u64) -> u64 {
        match self {
            Modifier::Align(y) => value - value.checked_rem(y).unwrap_or(0),
            Modifier::Modulo(y) => value.checked_rem(y).unwrap_or(value),
            Modifier::Add(y) => value.wrapping_add(y),
        }
    }
}

fn qualifiers(text: &[u8]) -> Result<Vec<Modifier>, NumberError> {
    let mut rest = text;
    let mut found = Vec::new();
    while let Some((sign, after)) = rest.split_first() {
        let end = after
            .iter()
            .position(|byte| matches!(byte, b'/' | b'%' | b'+'))
            .unwrap_or(after.len());
        let (digits, next) = after.split_at(end);
        let value = c_number(digits)?;
        found.push(match (sign, value) {
            (b'/' | b'%', 0) => return Err(NumberError::DivisionByZero),
            (b'/', _) => Modifier::Align(value),
            (b'%', _) => Modifier::Modulo(value),
            (b'+', _) => Modifier::Add(value),
            _ => return Err(NumberError::Malformed),
        });
        rest = next;
    }
    Ok(found)
}

/// Parses a number in C's notation: 0x…, 0… (octal), or decimal.
pub(super) fn c_number(text: &[u8]) -> Result<u64, NumberError> {
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, digits),
        digits => (10, digits),
    };
    if digits.is_empty() {
        return Err(NumberError::Malformed);
    }
    let mut value: u64 = 0;
    let mut fits = true;
    for byte in digits {
        let digit = char::from(*byte)
            .to_digit(radix)
            .ok_or(NumberError::Malformed)?;
        let next = value
            .checked_mul(u64::from(radix))
            .and_then(|value| value.checked_add(u64::from(digit)));
        fits &= next.is_some();
        value = next.unwrap_or(value);
    }
    if fits {
        Ok(value)
    } else {
        Err(NumberError::TooLarge)
    }
}

/// Maximum time stamp: about thirty years.
const LATEST_STAMP_SECONDS: u64 = 1_000_000_000;

/// Parses a time stamp: seconds with a fraction, exact to the nanosecond.
pub(super) fn stamp(text: &[u8]) -> Option<Duration> {
    let mut parts = text.splitn(2, |byte| *byte == b'.');
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next();
    let digits = |text: &[u8], most: usize| -> Option<u64> {
        let mut value: u64 = 0;
        for byte in text {
            byte.is_ascii_digit().then_some(())?;
        }
        for place in 0..most {
            let digit = text.get(place).map_or(0, |byte| u64::from(byte - b'0'));
            value = value.checked_mul(10)?.checked_add(digit)?;
        }
        Some(value)
    };
    if whole.is_empty() && fraction.is_none_or(<[u8]>::is_empty) {
        return None;
    }
    let seconds = digits(whole, whole.len())?;
    let nanoseconds = digits(fraction.unwrap_or_default(), 9)?;
    (seconds <= LATEST_STAMP_SECONDS).then(|| Duration::new(seconds, nanoseconds as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, stream};

    fn parsed(text: &str) -> Result<Number, NumberError> {
        Number::parse(text.as_bytes())
    }

    #[test]
    fn numbers_are_written_as_in_c() {
        assert_eq!(parsed("65536"), Ok(Number::Literal(65_536)));
        assert_eq!(parsed("0x10"), Ok(Number::Literal(16)));
        assert_eq!(parsed("010"), Ok(Number::Literal(8)));
        assert_eq!(parsed("0"), Ok(Number::Literal(0)));
        assert_eq!(parsed("0xffffffffffffffff"), Ok(Number::Literal(u64::MAX)));
        assert_eq!(parsed("0x10000000000000000"), Err(NumberError::TooLarge));
        assert_eq!(parsed("08"), Err(NumberError::Malformed));
        assert_eq!(parsed("0x"), Err(NumberError::Malformed));
        assert_eq!(parsed(""), Err(NumberError::Malformed));
        assert_eq!(parsed("12k"), Err(NumberError::Malformed));
    }

    #[test]
    fn qualifiers_of_random_numbers_apply_from_left_to_right() {
        let mut random = stream(1, RandomStream::Script, 0);
        let around = EvalContext {
            previous: 0,
            client: 0,
            clients: 1,
        };
        let aligned = parsed("*%0x10000000/4096").expect("it is a number");
        let range = parsed("*%100+25").expect("it is a number");
        for _ in 0..1_000 {
            let value = aligned.evaluate(&around, &mut random).expect("a value");
            assert!(value < 0x1000_0000 && value.is_multiple_of(4_096));
            let value = range.evaluate(&around, &mut random).expect("a value");
            assert!((25..125).contains(&value));
        }
        assert_eq!(parsed("*/0"), Err(NumberError::DivisionByZero));
        assert_eq!(parsed("*%0x0"), Err(NumberError::DivisionByZero));
        assert_eq!(parsed("*+0"), Ok(Number::Random(vec![Modifier::Add(0)])));
        assert_eq!(parsed("*-5"), Err(NumberError::Malformed));
    }

    #[test]
    fn plus_goes_on_from_the_line_before() {
        let mut random = stream(1, RandomStream::Script, 0);
        let around = EvalContext {
            previous: 100,
            client: 3,
            clients: 8,
        };
        for (text, value) in [
            ("+28", 128),
            ("+-28", 72),
            ("+0x10", 116),
            ("+child", 103),
            ("+num_children", 108),
            ("+num_childred", 108),
        ] {
            let number = parsed(text).expect("it is a number");
            assert_eq!(number.evaluate(&around, &mut random), Some(value), "{text}");
        }
        assert_eq!(parsed("+"), Err(NumberError::Malformed));
    }

    #[test]
    fn stamps_are_exact_and_zero_is_one() {
        assert_eq!(stamp(b"0"), Some(Duration::ZERO));
        assert_eq!(stamp(b"0.000"), Some(Duration::ZERO));
        assert_eq!(
            stamp(b"4.742382"),
            Some(Duration::from_nanos(4_742_382_000))
        );
        assert_eq!(
            stamp(b"1.0000000019"),
            Some(Duration::from_nanos(1_000_000_001))
        );
        assert_eq!(stamp(b"1."), Some(Duration::from_secs(1)));
        assert_eq!(stamp(b"1.x"), None);
        assert_eq!(stamp(b"1.0000000000x"), None);
        assert_eq!(stamp(b"."), None);
        assert_eq!(stamp(b"9999999999999999999999"), None);
    }
}
