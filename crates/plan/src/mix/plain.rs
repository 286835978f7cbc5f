//! filestone's mix format: an operation and its count or share per line, as text or as TOML.
//!
//! `read 18`, `read 22.5%` and `read = 18` have the same form. The TOML elements `[mix]`, `name`
//! and `about` are also accepted; everything else is an error.

use super::error::MixError;
use super::line::{MixLine, Word};
use super::name::{NameMapping, Version, meaning, procedure};
use crate::plan::MixCount;
use filestone_workload::load::diagnostic::suggestion;
use filestone_workload::operation::OpKind;
use std::collections::BTreeMap;

/// Maximum number of decimals: one part in 10⁹ is executed once in a week.
const DECIMALS_MAX: usize = 9;

/// Allowed rounding error of shares in percent, which must sum to 100.
const PERCENT_OFF: u128 = 1;

/// Content of a file in filestone's mix format.
#[derive(Debug, Default)]
pub(super) struct MixText {
    pub(super) name: Option<String>,
    pub(super) about: Option<String>,
    pub(super) counts: Vec<MixCount>,
}

/// A count or a share.
#[derive(Debug, Clone, Copy)]
struct Value<'a> {
    digits: u64,
    decimals: u32,
    is_percent: bool,
    word: Word<'a>,
}

/// Parses the lines.
pub(super) fn plain(lines: &[MixLine<'_>]) -> Result<MixText, MixError> {
    let mut plain = MixText::default();
    let mut values: BTreeMap<OpKind, Value<'_>> = BTreeMap::new();
    let mut first: Option<Value<'_>> = None;
    for line in lines {
        let Some((key, rest)) = key(*line)? else {
            continue;
        };
        match key.text {
            "name" => plain.name = Some(string(&rest)?),
            "about" => plain.about = Some(string(&rest)?),
            _ => {
                let value = value(&key, rest)?;
                let first = *first.get_or_insert(value);
                if first.is_percent != value.is_percent {
                    return Err(mixed(&value, &first));
                }
                let Some(kind) = operation(&key, &value)? else {
                    continue;
                };
                if let Some(before) = values.insert(kind, value) {
                    let what = format!("{kind} is here a second time", kind = kind.name());
                    let help = format!("the first is line {}", before.word.line);
                    return Err(key.error(what).help(help));
                }
            }
        }
    }
    plain.counts = scaled(&values)?;
    Ok(plain)
}

/// Returns the word before the blank, `=` or `:`, and the rest of the line; `None` for an empty
/// line.
fn key<'a>(line: MixLine<'a>) -> Result<Option<(Word<'a>, Word<'a>)>, MixError> {
    let Some(first) = line.first_word() else {
        return Ok(None);
    };
    if first.text.starts_with('#') {
        return Ok(None);
    }
    if first.text.starts_with('[') {
        if first.text == "[mix]" {
            return Ok(None);
        }
        let what = format!("a mix has no table {}", first.shown());
        return Err(first
            .error(what)
            .help("the only table of a mix file is [mix]"));
    }
    let start = first.column as usize - 1;
    let text = line.text.get(start..).unwrap_or_default();
    let is_end = |c: char| c.is_whitespace() || c == '=' || c == ':';
    let (key, rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    let trimmed = rest.trim_start();
    let trimmed = trimmed
        .strip_prefix(['=', ':'])
        .unwrap_or(trimmed)
        .trim_start();
    let column = start + key.len() + (rest.len() - trimmed.len()) + 1;
    let key = Word { text: key, ..first };
    let rest = Word {
        line: line.number,
        column: column as u32,
        text: trimmed,
    };
    Ok(Some((key, rest)))
}

/// Parses a quoted string.
fn string(rest: &Word<'_>) -> Result<String, MixError> {
    let quoted = rest
        .text
        .strip_prefix('"')
        .and_then(|text| text.split_once('"'));
    let behind = quoted.map_or("", |(_, behind)| behind.trim_start());
    match quoted {
        Some((text, _)) if behind.is_empty() || behind.starts_with('#') => Ok(text.to_owned()),
        _ => {
            let what = format!("\"{}\" is not a string", rest.shown());
            Err(rest
                .error(what)
                .help("a name stands in quotation marks: name = \"mail server\""))
        }
    }
}

/// Returns the procedure that a key names; `None` for one of NFSv2 with the value 0.
fn operation(key: &Word<'_>, value: &Value<'_>) -> Result<Option<OpKind>, MixError> {
    match meaning(Version::V2, key.text) {
        NameMapping::Procedure(kind) => Ok(Some(kind)),
        NameMapping::Refused(_) if value.digits == 0 => Ok(None),
        NameMapping::Refused(why) => {
            let what = format!("{} cannot be asked", key.shown());
            Err(key.error(what).help(why))
        }
        NameMapping::Compound | NameMapping::Unlike => {
            let what = format!("NFSv3 has no operation \"{}\"", key.shown());
            let names = OpKind::STATELESS.iter().map(|kind| kind.name());
            let help = match suggestion(key.text.as_bytes(), names) {
                Some(name) => format!("did you mean {name}?"),
                None => "a mix file is `read 18` per line, or the output of nfsstat -s, \
                         /proc/net/rpc/nfs or /proc/self/mountstats"
                    .to_owned(),
            };
            Err(key.error(what).help(help))
        }
    }
}

/// Parses `18`, `22.5`, `22.5%`, `22.5 %`, or one of them in quotation marks.
fn value<'a>(key: &Word<'_>, rest: Word<'a>) -> Result<Value<'a>, MixError> {
    let text = rest.text.split('#').next().unwrap_or_default().trim_end();
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    let word = Word { text, ..rest };
    if text.is_empty() {
        let help = "an operation and how often it is asked, as `read 18` or `read 22.5%`";
        return match procedure(key.text) {
            Some(_) => Err(word
                .error(format!("{} has no count", key.shown()))
                .help(help)),
            None => Err(key
                .error(format!("\"{}\" is no operation and count", key.shown()))
                .help(help)),
        };
    }
    let number = text.strip_suffix('%').map(str::trim_end);
    let is_percent = number.is_some();
    let number = number.unwrap_or(text);
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    let is_number = whole.starts_with(|c: char| c.is_ascii_digit())
        && is_digits(whole)
        && is_digits(decimals)
        && !number.ends_with(['.', '_']);
    if !is_number {
        let what = format!("\"{}\" is not a count or a share", word.shown());
        return Err(word
            .error(what)
            .help("decimal digits, as 18, 22.5 or 22.5%"));
    }
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let decimals = decimals.bytes().filter(u8::is_ascii_digit).count();
    if decimals > DECIMALS_MAX {
        let what = format!("{} has more than {DECIMALS_MAX} decimals", word.shown());
        return Err(word
            .error(what)
            .help("give counts instead, which are exact"));
    }
    Ok(Value {
        digits: digits.parse().map_err(|_| too_large(&word))?,
        decimals: decimals as u32,
        is_percent,
        word,
    })
}

fn too_large(word: &Word<'_>) -> MixError {
    let what = format!("the count {} does not fit into 64 bits", word.shown());
    word.error(what)
        .help(format!("the largest is {}, decimals included", u64::MAX))
}

fn mixed(value: &Value<'_>, first: &Value<'_>) -> MixError {
    let name = |value: &Value<'_>| {
        if value.is_percent {
            "a share"
        } else {
            "a count"
        }
    };
    let what = format!(
        "{} is {}, after {}",
        value.word.shown(),
        name(value),
        name(first)
    );
    let help = format!(
        "line {} began with {}; give all of one kind",
        first.word.line,
        name(first)
    );
    value.word.error(what).help(help)
}

/// Returns whole numbers in the proportions of the values.
fn scaled(values: &BTreeMap<OpKind, Value<'_>>) -> Result<Vec<MixCount>, MixError> {
    let decimals = values
        .values()
        .map(|value| value.decimals)
        .max()
        .unwrap_or(0);
    let mut counts = Vec::new();
    let mut sum: u128 = 0;
    for (kind, value) in values {
        let count = 10u64
            .checked_pow(decimals - value.decimals)
            .and_then(|scale| value.digits.checked_mul(scale))
            .ok_or_else(|| too_large(&value.word))?;
        sum += u128::from(count);
        counts.push(MixCount {
            operation: *kind,
            count,
        });
    }
    let scale = 10u128.pow(decimals);
    let is_share = values.values().any(|value| value.is_percent);
    let hundred = (100 - PERCENT_OFF) * scale..=(100 + PERCENT_OFF) * scale;
    if is_share && sum > 0 && !hundred.contains(&sum) {
        let what = format!("the shares sum to {} %", sum as f64 / scale as f64);
        let help =
            "shares in percent sum to 100; without the % signs they are relative to each other";
        return Err(MixError::whole(what).help(help));
    }
    Ok(counts)
}
