//! Style rules: habits that make a function hard to call or to read.

use super::Findings;
use super::source::{closing, line_of, words};
use super::sources::{match_body, patterns_of};
use super::tree::{File, Tree};

/// Returns the source files of programs in the workspace with their code, without tests.
fn code_of(tree: &Tree) -> impl Iterator<Item = (&File, String)> {
    let sources = tree.sources("").filter(|file| !file.is_test);
    sources.map(|file| (file, file.code()))
}

pub fn no_tuple_parameters(tree: &Tree, findings: &mut Findings) {
    for (file, code) in code_of(tree) {
        for at in words(&code, "fn") {
            let Some(parameters) = parameters_of(&code[at..]) else {
                continue;
            };
            if parameters.iter().any(|parameter| is_tuple(parameter)) {
                findings.report(
                    format_args!("{}:{}", file.path, line_of(&code, at)),
                    "a parameter is a tuple: what its parts are stands nowhere",
                    "give each part a parameter of its own, or a struct with names",
                );
            }
        }
    }
}

pub fn no_match_on_bool(tree: &Tree, findings: &mut Findings) {
    for (file, code) in code_of(tree) {
        for at in words(&code, "match") {
            let Some(body) = match_body(&code, at) else {
                continue;
            };
            let is_bool = |pattern: &String| matches!(pattern.as_str(), "true" | "false");
            if patterns_of(body).iter().any(is_bool) {
                findings.report(
                    format_args!("{}:{}", file.path, line_of(&code, at)),
                    "a match on a bool",
                    "write if and else",
                );
            }
        }
    }
}

/// Returns the parameters of the function whose signature starts here.
fn parameters_of(text: &str) -> Option<Vec<&str>> {
    let name_end = 2 + text[2..].find(['(', '<', '{', ';'])?;
    let open = match text[name_end..].chars().next()? {
        '<' => after_generics(text, name_end)?,
        '(' => name_end,
        _ => return None,
    };
    let close = closing(text, open)?;
    Some(split(&text[open + 1..close]))
}

/// Returns the index of the parenthesis after generic parameters.
fn after_generics(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in text[open..].char_indices() {
        match c {
            '<' => depth += 1,
            // The `>` of an arrow closes nothing.
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return Some(open + at),
            _ => {}
        }
        before = c;
    }
    None
}

/// Splits the text at commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts, mut before) = (0, 0, Vec::new(), ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts.push(&text[start..]);
    parts
}

/// Whether a parameter is a tuple: `(a, b): (A, B)` and `ab: (A, B)`, but not `unit: ()`.
fn is_tuple(parameter: &str) -> bool {
    let kind = match parameter.trim_start().strip_prefix('(') {
        Some(rest) => return !rest.starts_with(')'),
        None => parameter
            .split_once(':')
            .map_or("", |(_, kind)| kind.trim_start()),
    };
    let kind = kind.trim_start_matches('&').trim_start();
    kind.strip_prefix('(')
        .is_some_and(|rest| !rest.trim_start().starts_with(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_among_parameters_are_found() {
        let has_tuple = |signature: &str| {
            let parameters = parameters_of(signature).expect("a function");
            parameters.iter().any(|parameter| is_tuple(parameter))
        };
        assert!(has_tuple("fn f((a, b): (u8, u8)) {}"));
        assert!(has_tuple("fn f<T: Fn() -> u8>(x: u8, ab: (u8, T)) {}"));
        assert!(has_tuple("fn f(ab: &(u8, u8)) {}"));
        for plain in [
            "fn f(a: u8, g: impl Fn((u8, u8)) -> u8) {}",
            "fn f(unit: (), list: Vec<(u8, u8)>) -> (u8, u8) {}",
            "fn f(&self, (): &()) {}",
        ] {
            assert!(!has_tuple(plain), "{plain}");
        }
    }
}
