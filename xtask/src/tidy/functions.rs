//! Limit of the length of functions, as a ratchet: short ones may not grow beyond it; longer ones
//! are listed, and the list may only shrink.

use super::Findings;
use super::source::{closing, line_of, words};
use super::tree::Tree;
use std::collections::BTreeMap;

/// Lines from `fn` to the closing brace.
const LIMIT: usize = 70;
/// Lines of code without tests; a file with more deserves a review.
const FILE_LIMIT: usize = 600;
/// The list of longer functions: one `path function lines` per line.
const KNOWN: &str = "xtask/long-functions.txt";

/// Returns the functions of the text: name, first line and length in lines.
fn lengths(code: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for at in words(code, "fn") {
        let name: String = code[at + 2..]
            .trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        // A type `fn(…)` has no name; a method without a body ends with `;`.
        let Some(end) = signature_end(&code[at..]).map(|end| at + end) else {
            continue;
        };
        if name.is_empty() || !code[end..].starts_with('{') {
            continue;
        }
        if let Some(close) = closing(code, end) {
            let first = line_of(code, at);
            found.push((name, first, line_of(code, close) - first + 1));
        }
    }
    found
}

/// Returns the index of the `{` or `;` that ends the signature.
fn signature_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        (depth == 0 && matches!(c, '{' | ';')).then_some(at)
    })
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
        let code = file.code();
        let lines = code.lines().filter(|line| !line.trim().is_empty()).count();
        if lines > FILE_LIMIT {
            findings.note(format!(
                "{}: {lines} lines of code; a state machine may be that long",
                file.path
            ));
        }
        for (name, line, length) in lengths(&code) {
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

    #[test]
    fn a_function_is_measured_from_its_name_to_its_last_brace() {
        let code =
            "trait T { fn a(&self); }\nfn b<F: Fn() -> [u8; 2]>(\n  f: F,\n) -> u8\n{\n  { }\n}\n";
        assert_eq!(lengths(code), [("b".to_owned(), 2, 6)]);
    }
}
