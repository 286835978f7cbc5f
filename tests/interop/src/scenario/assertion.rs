//! Assertions on a JSON document, written as text.
//!
//! | assertion | meaning |
//! |---|---|
//! | `/totals/ledger/ok == /totals/ledger/scheduled` | comparison of numbers: `==`, `<`, `<=`, `>`, `>=` |
//! | `/end/reason is interrupted` | all values at the path are this text; `contains` and `ends` are similar |
//! | `. lacks leftover` | the text of the value does not contain this; `.` is the document |
//! | `/job absent` | there is no value at the path |
//! | `for /mix/operations/*: /actual_percent > 0` | holds for each value at the path, and there is one |
//!
//! A path is a JSON pointer; `*` selects all members, and `name=text` those with this value.
//! A number is calculated from left to right from numbers, paths with one value, and `sum PATH`, `len PATH` and
//! `last PATH`, joined by ` + `, ` - ` and ` * `.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

const COMPARISONS: [&str; 10] = [
    "==", "<=", ">=", "<", ">", "is", "contains", "ends", "lacks", "absent",
];

/// Checks an assertion on a document; the error contains the assertion and the values.
pub fn check(document: &Value, assertion: &str) -> Result<()> {
    if let Some(rest) = assertion.strip_prefix("for ") {
        let (path, assertion) = rest.split_once(": ").context("`for` without a colon")?;
        let all = values(document, path);
        ensure!(!all.is_empty(), "there is no {path}");
        return all
            .iter()
            .try_for_each(|one| check(one, assertion).with_context(|| format!("{path} is {one}")));
    }
    let words: Vec<&str> = assertion.split(' ').collect();
    let at = words.iter().position(|word| COMPARISONS.contains(word));
    let at = at.with_context(|| format!("`{assertion}` compares nothing"))?;
    let (left, comparison, right) = (words[..at].join(" "), words[at], words[at + 1..].join(" "));
    let holds = match comparison {
        "absent" | "is" | "contains" | "ends" | "lacks" => {
            is_text(&values(document, &left), comparison, &right)
        }
        _ => {
            let (one, other) = (number(document, &left)?, number(document, &right)?);
            match comparison {
                "==" => one == other,
                "<=" => one <= other,
                ">=" => one >= other,
                "<" => one < other,
                _ => one > other,
            }
        }
    };
    let is = |side: &str| text(document, side).unwrap_or_default();
    ensure!(holds, "not {assertion}: {} and {}", is(&left), is(&right));
    Ok(())
}

fn is_text(values: &[&Value], comparison: &str, wanted: &str) -> bool {
    let mut texts = values.iter().map(|value| plain(value));
    match comparison {
        "absent" => values.iter().all(|value| value.is_null()),
        "lacks" => texts.all(|text| !text.contains(wanted)),
        _ if values.is_empty() => false,
        "is" => texts.all(|text| text == wanted),
        "contains" => texts.all(|text| text.contains(wanted)),
        _ => texts.all(|text| text.ends_with(wanted)),
    }
}

/// Returns the values at a path.
pub fn values<'v>(document: &'v Value, path: &str) -> Vec<&'v Value> {
    let segments = path.split('/').skip(1);
    segments.fold(vec![document], |found, segment| {
        let members = found.into_iter().map(|value| members(value, segment));
        members.flatten().collect()
    })
}

fn members<'v>(value: &'v Value, segment: &str) -> Vec<&'v Value> {
    let all: Vec<&Value> = match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    };
    if segment == "*" {
        return all;
    }
    match segment.split_once('=') {
        Some((name, wanted)) => {
            let is_wanted =
                |member: &&Value| member.get(name).is_some_and(|is| plain(is) == wanted);
            all.into_iter().filter(is_wanted).collect()
        }
        None => value.pointer(&format!("/{segment}")).into_iter().collect(),
    }
}

/// Calculates a number.
fn number(document: &Value, text: &str) -> Result<f64> {
    let mut words = text.split(' ');
    let (mut total, mut operator) = (0.0, "+");
    loop {
        let word = words.next().unwrap_or_default();
        let term = match word {
            "sum" | "len" | "last" => {
                let path = words.next().unwrap_or_default();
                let found = values(document, path);
                let mut numbers = found.iter().filter_map(|value| value.as_f64());
                match word {
                    "len" => found.len() as f64,
                    "sum" => numbers.sum(),
                    _ => numbers
                        .next_back()
                        .with_context(|| format!("no number at {path}"))?,
                }
            }
            path if path.starts_with('/') => match values(document, path)[..] {
                [one] => one.as_f64().with_context(|| format!("{path} is {one}"))?,
                ref other => bail!("{path} has {} values", other.len()),
            },
            literal => literal
                .replace('_', "")
                .parse()
                .with_context(|| format!("`{literal}` is no number"))?,
        };
        match operator {
            "+" => total += term,
            "-" => total -= term,
            "*" => total *= term,
            other => bail!("`{other}` is no operator"),
        }
        match words.next() {
            Some(next) => operator = next,
            None => return Ok(total),
        }
    }
}

/// Returns the number or the values as text.
pub fn text(document: &Value, expression: &str) -> Option<String> {
    if let Ok(number) = number(document, expression) {
        let digits = if number.fract() == 0.0 { 0 } else { 2 };
        return Some(format!("{number:.digits$}"));
    }
    let texts: Vec<String> = (expression
        .starts_with('/')
        .then(|| values(document, expression)))?
    .iter()
    .map(|value| plain(value))
    .collect();
    Some(texts.join(", "))
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn assertions_hold_or_name_what_is_there() {
        let document = json!({
            "ok": 3, "end": "over", "kinds": [{"verb": "A", "count": 1}, {"verb": "B", "count": 2.5}]
        });
        for holds in [
            "/ok == 3",
            "/ok >= sum /kinds/*/count * 2 - 4",
            "len /kinds/*/count == 2",
            "last /kinds/*/count > 2",
            "/kinds/verb=A/count == 1",
            "/end is over",
            "/kinds/1/verb ends B",
            ". lacks under",
            "/kinds/verb=C absent",
            "for /kinds/*: /count > 0",
        ] {
            check(&document, holds).expect(holds);
        }
        for fails in [
            "/ok == 4",
            "/none == 0",
            "/kinds/*/count == 1",
            "/none is over",
            "/end contains x",
            ". lacks over",
            "/kinds/verb=A absent",
            "for /kinds/*: /count > 1",
            "for /none/*: /count > 1",
            "/ok",
        ] {
            check(&document, fails).expect_err(fails);
        }
        let error = check(&document, "/ok == /kinds/0/count").expect_err("3 is not 1");
        assert_eq!(error.to_string(), "not /ok == /kinds/0/count: 3 and 1");
    }
}
