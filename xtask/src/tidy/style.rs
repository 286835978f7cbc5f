//! Style rules: habits that make a function hard to call or to read.

use super::Findings;
use super::source::{is_mark, is_word, line, matches_in, split};
use super::tree::Tree;
use proc_macro2::{Delimiter, TokenTree};

pub fn no_tuple_parameters(tree: &Tree, findings: &mut Findings) {
    for file in tree.sources("").filter(|file| !file.is_test) {
        for tokens in &file.code {
            for at in tuples_in(tokens) {
                findings.report(
                    format_args!("{}:{at}", file.path),
                    "a parameter is a tuple: what its parts are stands nowhere",
                    "give each part a parameter of its own, or a struct with names",
                );
            }
        }
    }
}

pub fn no_match_on_bool(tree: &Tree, findings: &mut Findings) {
    for file in tree.sources("").filter(|file| !file.is_test) {
        for tokens in &file.code {
            for (at, patterns) in matches_in(tokens) {
                if patterns
                    .iter()
                    .any(|pattern| matches!(pattern.as_str(), "true" | "false"))
                {
                    findings.report(
                        format_args!("{}:{at}", file.path),
                        "a match on a bool",
                        "write if and else",
                    );
                }
            }
        }
    }
}

/// Returns the lines of functions with a tuple as a parameter.
fn tuples_in(tokens: &[TokenTree]) -> Vec<usize> {
    let functions = tokens.iter().enumerate();
    let functions = functions.filter(|(_, token)| is_word(token, "fn"));
    let with_tuple = functions.filter(|(at, _)| {
        // The parameters are outside of the angle brackets of generic ones.
        let signature = split(&tokens[at + 1..])[0];
        let mut depth = 0;
        let parameters = signature.iter().enumerate().find_map(|(at, token)| {
            let is_arrow = at > 0 && is_mark(&signature[at - 1], '-');
            depth += i32::from(is_mark(token, '<'));
            depth -= i32::from(is_mark(token, '>') && !is_arrow);
            parenthesized(Some(token)).filter(|_| depth == 0)
        });
        parameters.is_some_and(|parameters| split(&parameters).into_iter().any(is_tuple))
    });
    with_tuple.map(|(_, token)| line(token)).collect()
}

fn parenthesized(token: Option<&TokenTree>) -> Option<Vec<TokenTree>> {
    match token? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    }
}

/// Whether a parameter is a tuple: `(a, b): (A, B)` and `ab: (A, B)`, but not `unit: ()`.
fn is_tuple(parameter: &[TokenTree]) -> bool {
    let is_filled = |token| parenthesized(token).is_some_and(|inner| !inner.is_empty());
    let kind = parameter.iter().skip_while(|token| !is_mark(token, ':'));
    let mut kind = kind.skip(1).skip_while(|token| is_mark(token, '&'));
    is_filled(parameter.first()) || is_filled(kind.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::levels;

    #[test]
    fn tuples_among_parameters_are_found() {
        let has_tuple = |signature: &str| {
            let tokens = levels(signature.parse().expect("tokens"));
            tokens.iter().any(|tokens| !tuples_in(tokens).is_empty())
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
