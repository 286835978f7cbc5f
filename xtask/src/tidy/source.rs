//! Tokens of Rust sources. A check that needs more than names and brackets belongs into clippy.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens between each pair of brackets, and those outside of all.
pub type Levels = Vec<Vec<TokenTree>>;

pub fn levels(tokens: TokenStream) -> Levels {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let groups = tokens.iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let below: Levels = groups.flat_map(levels).collect();
    [vec![tokens], below].concat()
}

/// Returns the tokens without the items of tests: `#[cfg(test)]` with everything up to the next
/// block or semicolon.
pub fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut is_skipping = false;
    for token in tokens {
        if is_skipping {
            is_skipping = !is_mark(&token, ';') && block(&token).is_none();
            continue;
        }
        match token {
            TokenTree::Group(group) if is_of_tests(&group) => {
                kept.pop();
                is_skipping = true;
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_tests(group.stream()));
                inner.set_span(group.span());
                kept.push(inner.into());
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn is_of_tests(group: &Group) -> bool {
    let text = || group.stream().to_string().replace(' ', "");
    group.delimiter() == Delimiter::Bracket && text() == "cfg(test)"
}

pub fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name == word)
}

pub fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == mark)
}

/// Returns the content of a block in braces.
pub fn block(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Returns the line of a token, from 1.
pub fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// Splits tokens at commas, except within angle brackets. The `>` of an arrow closes nothing.
pub fn split(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        let is_arrow = at > 0 && (is_mark(&tokens[at - 1], '-') || is_mark(&tokens[at - 1], '='));
        if is_mark(token, '<') {
            depth += 1;
        } else if is_mark(token, '>') && !is_arrow {
            depth -= 1;
        } else if is_mark(token, ',') && depth == 0 {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// Returns the line of each `match` of these tokens, and the text of its patterns outside of
/// brackets.
pub fn matches_in(tokens: &[TokenTree]) -> Vec<(usize, Vec<String>)> {
    let matches = tokens.iter().enumerate();
    let matches = matches.filter(|(_, token)| is_word(token, "match"));
    let found = matches.filter_map(|(at, token)| {
        let body = tokens[at..].iter().find_map(block)?;
        let body: Vec<TokenTree> = body.stream().into_iter().collect();
        Some((line(token), patterns_of(&body)))
    });
    found.collect()
}

/// Returns the patterns of a match's body: the text before each `=>`, up to the previous arm.
fn patterns_of(body: &[TokenTree]) -> Vec<String> {
    let mut text = String::new();
    for (at, token) in body.iter().enumerate() {
        match token {
            TokenTree::Group(_) => {
                // A block ends its arm, with or without a comma; the braces of a pattern do not.
                let next = body.get(at + 1);
                let is_pattern = next.is_some_and(|next| {
                    is_mark(next, '=') || is_mark(next, '|') || is_word(next, "if")
                });
                if block(token).is_some() && !is_pattern {
                    text.push(',');
                }
            }
            TokenTree::Ident(name) => text += &format!(" {name}"),
            other => text += &other.to_string(),
        }
    }
    let mut parts: Vec<&str> = text.split("=>").collect();
    parts.pop();
    parts
        .iter()
        .map(|part| part.rsplit_once(',').map_or(*part, |(_, pattern)| pattern))
        .map(|pattern| pattern.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_tests_are_removed_and_what_follows_them_stays() {
        let source =
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() { #[cfg(test)] d(); }\n";
        let left = without_tests(source.parse().expect("tokens")).to_string();
        assert!(left.contains("fn a") && left.contains("fn c"), "{left}");
        assert!(!left.contains('b') && !left.contains('d'), "{left}");
    }
}
