//! Splits a gate's text into tokens with their positions.

use super::TEXT_MAX;
use super::dimension::{Arithmetic, Dimension};
use super::error::{GateError, SEVERAL, TextSpan};
use super::expression::Relation;
use filestone_workload::load::diagnostic::suggestion;

/// A token of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum GateToken<'text> {
    /// A number, with its unit.
    Literal(f64, Dimension),
    /// Name of a figure.
    Name(&'text str),
    /// An arithmetic operator.
    Arithmetic(Arithmetic),
    /// A comparison operator.
    Relation(Relation),
    /// `(`
    Open,
    /// `)`
    Close,
}

/// A token and its position.
pub(super) type SpannedToken<'text> = (GateToken<'text>, TextSpan);

const UNITS: [&str; 17] = [
    "ns", "us", "ms", "s", "min", "h", "%", "KiB", "MiB", "GiB", "kB", "MB", "GB", "/s", "k/s",
    "MiB/s", "MB/s",
];

/// Operators; of two with the same start the longer one is first.
const SIGNS: [(&str, GateToken<'_>); 12] = [
    ("<=", GateToken::Relation(Relation::AtMost)),
    (">=", GateToken::Relation(Relation::AtLeast)),
    ("==", GateToken::Relation(Relation::Equal)),
    ("!=", GateToken::Relation(Relation::Unequal)),
    ("<", GateToken::Relation(Relation::Below)),
    (">", GateToken::Relation(Relation::Above)),
    ("+", GateToken::Arithmetic(Arithmetic::Add)),
    ("-", GateToken::Arithmetic(Arithmetic::Subtract)),
    ("*", GateToken::Arithmetic(Arithmetic::Multiply)),
    ("/", GateToken::Arithmetic(Arithmetic::Divide)),
    ("(", GateToken::Open),
    (")", GateToken::Close),
];

/// Splits the text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<SpannedToken<'_>>, GateError> {
    if text.len() > TEXT_MAX {
        let all = TextSpan {
            start: 0,
            end: text.len(),
        };
        let what = format!("a gate has at most {TEXT_MAX} letters");
        return Err(GateError::at(text, all, what).with_help(SEVERAL));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        if blanks > 0 {
            at += blanks;
            continue;
        }
        let (token, length) = token(text, at, rest)?;
        let place = TextSpan {
            start: at,
            end: at + length,
        };
        tokens.push((token, place));
        at += length;
    }
    Ok(tokens)
}

/// Returns the token at the start of `rest`, which is at offset `at`, and its length.
fn token<'text>(
    text: &str,
    at: usize,
    rest: &'text str,
) -> Result<(GateToken<'text>, usize), GateError> {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() || first == '.' {
        return literal(text, at, rest);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let length = end_of(rest, is_of_name);
        return Ok((GateToken::Name(&rest[..length]), length));
    }
    let mut signs = SIGNS.iter();
    if let Some((sign, token)) = signs.find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((*token, sign.len()));
    }
    let place = TextSpan {
        start: at,
        end: at + first.len_utf8(),
    };
    let (what, help) = match first {
        '&' | '|' => return Err(GateError::one_comparison(text, place)),
        '=' => ("= compares nothing".into(), "equal is =="),
        ',' => (
            "numbers have no commas".into(),
            "24,900 is 24900, and 0,5 is 0.5",
        ),
        other => (
            format!("a gate holds no {other:?}"),
            "a gate is a comparison such as read.response_time.p99 > 2ms",
        ),
    };
    Err(GateError::at(text, place, what).with_help(help))
}

fn end_of(rest: &str, belongs: fn(char) -> bool) -> usize {
    rest.find(|letter| !belongs(letter)).unwrap_or(rest.len())
}

const fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.')
}

/// Parses a number and its unit, with or without a blank between them.
fn literal<'text>(
    text: &str,
    at: usize,
    rest: &'text str,
) -> Result<(GateToken<'text>, usize), GateError> {
    let digits = end_of(rest, |letter| letter.is_ascii_digit() || letter == '.');
    let behind = &rest[digits..];
    let unit = behind.trim_start_matches(' ');
    let letters = end_of(unit, |letter| {
        letter.is_ascii_alphabetic() || matches!(letter, '%' | 'µ')
    });
    let mut length = match letters {
        0 => digits,
        letters => rest.len() - unit.len() + letters,
    };
    // `20000/s`, but not `20000/scheduled`.
    let per = rest[length..].strip_prefix("/s");
    if per.is_some_and(|next| !next.starts_with(is_of_name)) {
        length += "/s".len();
    }
    if let Some((number, dimension)) = Dimension::read(&rest[..length]) {
        return Ok((GateToken::Literal(number, dimension), length));
    }
    let place = |start, end| TextSpan {
        start: at + start,
        end: at + end,
    };
    if rest[..digits].parse::<f64>().is_err() {
        let what = format!("\"{}\" is no number", &rest[..digits]);
        return Err(GateError::at(text, place(0, digits), what));
    }
    let unit = rest[digits..length].trim_start_matches(' ');
    let unit_place = place(length - unit.len(), length);
    if matches!(unit, "and" | "or") {
        return Err(GateError::one_comparison(text, unit_place));
    }
    let help = match suggestion(unit.as_bytes(), UNITS.into_iter()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the units are {}", UNITS.join(", ")),
    };
    let what = format!("there is no unit \"{unit}\"");
    Err(GateError::at(text, unit_place, what).with_help(help))
}
