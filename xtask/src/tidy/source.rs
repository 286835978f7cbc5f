//! A minimal lexer of Rust for the checks: a copy of a source with blank comments, strings and
//! characters, and the location of its tests.
//!
//! This is not a parser. A check that needs more than brackets and words belongs into clippy.

/// Returns the text with comments, string and character literals replaced by spaces. Lines and
/// columns do not move.
pub fn blank(text: &str) -> String {
    let mut lexer = Lexer {
        rest: text,
        out: String::with_capacity(text.len()),
    };
    while let Some(first) = lexer.rest.chars().next() {
        match first {
            '/' if lexer.rest.starts_with("//") => {
                let len = lexer.rest.find('\n').unwrap_or(lexer.rest.len());
                lexer.hide(len);
            }
            '/' if lexer.rest.starts_with("/*") => lexer.block_comment(),
            '"' => lexer.string(0),
            'r' | 'b' | 'c' if lexer.literal_prefix().is_some() => lexer.prefixed_literal(),
            '\'' => lexer.quote(),
            other if other.is_alphanumeric() || other == '_' => {
                let word = |c: char| c.is_alphanumeric() || c == '_';
                let len = lexer.rest.find(|c| !word(c)).unwrap_or(lexer.rest.len());
                lexer.keep(len);
            }
            other => lexer.keep(other.len_utf8()),
        }
    }
    lexer.out
}

struct Lexer<'a> {
    rest: &'a str,
    out: String,
}

impl Lexer<'_> {
    fn keep(&mut self, len: usize) {
        let (kept, rest) = self.rest.split_at(len);
        self.out.push_str(kept);
        self.rest = rest;
    }

    fn hide(&mut self, len: usize) {
        let (hidden, rest) = self.rest.split_at(len);
        for c in hidden.chars() {
            self.out.push(if c == '\n' { '\n' } else { ' ' });
        }
        self.rest = rest;
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        let mut at = 0;
        while at < self.rest.len() {
            let rest = &self.rest[at..];
            if rest.starts_with("/*") {
                depth += 1;
                at += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        self.hide(at);
    }

    /// Returns the length of `r#`, `b`, `br##`, … before a quote, and its number of hashes.
    fn literal_prefix(&self) -> Option<(usize, usize)> {
        let letters = self.rest.find(|c| !matches!(c, 'r' | 'b' | 'c'))?;
        let hashes = self.rest[letters..].find(|c| c != '#')?;
        let is_quoted = self.rest[letters + hashes..].starts_with('"');
        let is_byte = letters == 1 && hashes == 0 && self.rest.starts_with("b'");
        ((is_quoted && letters <= 2) || is_byte).then_some((letters + hashes, hashes))
    }

    fn prefixed_literal(&mut self) {
        let Some((len, hashes)) = self.literal_prefix() else {
            return;
        };
        let is_raw = self.rest[..len].contains('r');
        self.hide(len);
        if self.rest.starts_with('\'') {
            self.quote();
        } else if is_raw {
            let end = format!("\"{}", "#".repeat(hashes));
            let len = self.rest[1..]
                .find(&end)
                .map_or(self.rest.len(), |at| 1 + at + end.len());
            self.hide(len);
        } else {
            self.string(0);
        }
    }

    fn string(&mut self, start: usize) {
        let mut is_escaped = false;
        let end = self.rest[start + 1..].char_indices().find(|(_, c)| {
            let is_end = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_end
        });
        let len = end.map_or(self.rest.len(), |(at, _)| start + 1 + at + 1);
        self.hide(len);
    }

    /// Handles a character literal, or the tick of a lifetime.
    fn quote(&mut self) {
        let mut chars = self.rest[1..].chars();
        let first = chars.next();
        let len = match first {
            Some('\\') => self.rest[2..].find('\'').map(|at| {
                // `'\''` has its quote escaped.
                if at == 0 || &self.rest[2..3] == "'" {
                    4
                } else {
                    2 + at + 1
                }
            }),
            Some(c) if chars.next() == Some('\'') => Some(1 + c.len_utf8() + 1),
            _ => None,
        };
        match len {
            Some(len) => self.hide(len.min(self.rest.len())),
            None => self.keep(1),
        }
    }
}

/// Returns the index of the bracket that closes the one at `open`.
pub fn closing(blanked: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in blanked[open..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the blanked text with `#[cfg(test)]` modules and items blank as well.
pub fn without_tests(blanked: &str) -> String {
    let mut out = blanked.to_owned();
    let mut from = 0;
    while let Some(at) = out[from..].find("#[cfg(test)]").map(|at| from + at) {
        let end = match out[at..].find(['{', ';']) {
            Some(found) if out[at + found..].starts_with('{') => {
                closing(&out, at + found).unwrap_or(out.len() - 1)
            }
            Some(found) => at + found,
            None => out.len() - 1,
        };
        let hidden: String = out[at..=end]
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        out.replace_range(at..=end, &hidden);
        from = at + hidden.len();
    }
    out
}

/// Returns the indices of `word` as a separate word.
pub fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| {
            !text[..*at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word)
        })
}

/// Returns the line number of index `at`, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_become_blank_and_nothing_moves() {
        let source = "a(\"x{\\\"\", 'y', '\\'', b'{', r#\"}\"#) /* { /* */ } */ 'life // }\n{";
        let blanked = blank(source);
        assert_eq!(blanked.len(), source.len());
        let brackets: String = blanked.chars().filter(|c| "{}()[]".contains(*c)).collect();
        assert_eq!(brackets, "(){");
        assert!(blanked.contains("'life"));
    }

    #[test]
    fn a_test_module_is_blanked_and_what_follows_it_stays() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}\n";
        let left = without_tests(source);
        assert!(left.contains("fn a") && left.contains("fn c") && !left.contains("fn b"));
    }

    #[test]
    fn a_word_is_not_found_inside_another() {
        assert_eq!(words("fn fnord fn", "fn").count(), 2);
    }
}
