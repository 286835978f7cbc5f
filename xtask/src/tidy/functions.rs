//! Limit of the length of functions, as a ratchet: short ones may not grow beyond it; longer ones
//! are listed, and the list may only shrink.

use super::Findings;
use super::source::{Levels, block, is_mark, is_word, line};
use super::tree::Tree;
use proc_macro2::TokenTree;
use std::collections::{BTreeMap, BTreeSet};

/// Lines from `fn` to the closing brace.
const LIMIT: usize = 70;
/// Lines of code without tests; a file with more deserves a review.
const FILE_LIMIT: usize = 600;
/// The list of longer functions: one `path function lines` per line.
const KNOWN: &str = "xtask/long-functions.txt";

/// Returns the functions: name, first line and length in lines.
fn lengths(code: &Levels) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for tokens in code {
        for (at, token) in tokens.iter().enumerate() {
            // A type `fn(…)` has no name; a method without a body ends with `;`.
            if let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
                && is_word(token, "fn")
                && let end = tokens[at..]
                    .iter()
                    .find(|token| is_mark(token, ';') || block(token).is_some())
                && let Some(body) = end.and_then(block)
            {
                let last = body.span_close().start().line;
                found.push((name.to_string(), line(token), last - line(token) + 1));
            }
        }
    }
    found
}

fn known(tree: &Tree) -> BTreeMap<(String, String), usize> {
    let text = tree.file(KNOWN).map_or("", |file| file.text.as_str());
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut parts = line.split_whitespace();
            let key = (parts.next()?.to_owned(), parts.next()?.to_owned());
            Some((key, parts.next()?.parse().ok()?))
        })
        .collect()
}

pub fn function_length(tree: &Tree, findings: &mut Findings) {
    let mut known = known(tree);
    for file in tree.sources("").filter(|file| !file.is_test) {
        let text: Vec<&str> = file.text.lines().collect();
        let spans = file.code.iter().flatten().map(TokenTree::span);
        let lines: BTreeSet<usize> = spans
            .flat_map(|span| [span.start().line, span.end().line])
            .collect();
        // A comment of documentation is an attribute, and thus a token.
        let is_code = |index: usize| {
            !text
                .get(index - 1)
                .is_some_and(|line| line.trim_start().starts_with("//"))
        };
        let lines = lines.into_iter().filter(|line| is_code(*line)).count();
        if lines > FILE_LIMIT {
            findings.note(format!(
                "{}: {lines} lines of code; a state machine may be that long",
                file.path
            ));
        }
        for (name, line, length) in lengths(&file.code) {
            let listed = known.remove(&(file.path.clone(), name.clone()));
            if length > listed.unwrap_or(0).max(LIMIT) {
                findings.report(
                    format_args!("{}:{line}", file.path),
                    format!(
                        "fn {name} has {length} lines, more than {}",
                        listed.unwrap_or(LIMIT)
                    ),
                    "cut it where a thought ends; the list of longer ones may only shrink",
                );
            } else if listed.is_some_and(|listed| length < listed) {
                findings.report(
                    KNOWN,
                    format!("{} {name} now has {length} lines", file.path),
                    "well done; lower its entry, or remove it if it is within the limit",
                );
            }
        }
    }
    for ((path, name), _) in known {
        findings.report(
            KNOWN,
            format!("{path} has no fn {name}"),
            "remove the entry",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::levels;

    #[test]
    fn a_function_is_measured_from_its_name_to_its_last_brace() {
        let code =
            "trait T { fn a(&self); }\nfn b<F: Fn() -> [u8; 2]>(\n  f: F,\n) -> u8\n{\n  { }\n}\n";
        let code = levels(code.parse().expect("tokens"));
        assert_eq!(lengths(&code), [("b".to_owned(), 2, 6)]);
    }
}
