//! Splitting of a line into words.

/// A word of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineToken<'a> {
    /// Text without quotes.
    pub(super) text: &'a [u8],
    /// Column of the first byte, from 1.
    pub(super) column: u32,
    /// Whether the word was in quotes.
    pub(super) is_quoted: bool,
}

impl LineToken<'_> {
    /// Whether it is written as a name: quoted, or with a leading slash.
    pub(super) fn is_name(&self) -> bool {
        self.is_quoted || matches!(self.text.first(), Some(b'/' | b'\\'))
    }
}

/// Error in the quotes of a line, with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadQuotes {
    pub(super) column: u32,
    pub(super) what: &'static str,
}

/// Maximum number of words of a line.
pub(super) const MOST_WORDS: usize = 16;

/// The words of one line.
#[derive(Debug)]
pub(super) struct Words<'a> {
    words: [LineToken<'a>; MOST_WORDS],
    count: usize,
    /// Whether there were more words than fit.
    pub(super) is_cut: bool,
}

impl<'a> Words<'a> {
    /// Returns the words.
    pub(super) fn all(&self) -> &[LineToken<'a>] {
        self.words.get(..self.count).unwrap_or_default()
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Splits a line at its blanks. With `quotes`, a word that begins with a double quote extends to
/// the next one.
pub(super) fn words(line: &[u8], quotes: bool) -> Result<Words<'_>, BadQuotes> {
    let nothing = LineToken {
        text: &[],
        column: 0,
        is_quoted: false,
    };
    let mut found = Words {
        words: [nothing; MOST_WORDS],
        count: 0,
        is_cut: false,
    };
    let mut at = 0;
    while let Some(rest) = line.get(at..) {
        let Some(skipped) = rest.iter().position(|byte| !is_blank(*byte)) else {
            break;
        };
        at += skipped;
        let rest = rest.get(skipped..).unwrap_or_default();
        let column = at as u32 + 1;
        let (text, taken, is_quoted) = match rest.split_first() {
            Some((b'"', quoted)) if quotes => {
                let end = end_of_quotes(quoted, column)?;
                (quoted.get(..end).unwrap_or_default(), end + 2, true)
            }
            _ => {
                let end = rest.iter().position(|byte| is_blank(*byte));
                let end = end.unwrap_or(rest.len());
                (rest.get(..end).unwrap_or_default(), end, false)
            }
        };
        at += taken;
        match found.words.get_mut(found.count) {
            Some(word) => {
                *word = LineToken {
                    text,
                    column,
                    is_quoted,
                };
                found.count += 1;
            }
            None => found.is_cut = true,
        }
    }
    Ok(found)
}

fn end_of_quotes(quoted: &[u8], column: u32) -> Result<usize, BadQuotes> {
    let Some(end) = quoted.iter().position(|byte| *byte == b'"') else {
        return Err(BadQuotes {
            column,
            what: "a double quote is not closed",
        });
    };
    match quoted.get(end + 1) {
        Some(byte) if !is_blank(*byte) => Err(BadQuotes {
            column: column + end as u32 + 2,
            what: "a closing quote is not followed by a blank",
        }),
        _ => Ok(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str, quotes: bool) -> Vec<(String, u32)> {
        let words = words(line.as_bytes(), quotes).expect("the quotes are right");
        let text = |word: &LineToken<'_>| String::from_utf8_lossy(word.text).into_owned();
        words
            .all()
            .iter()
            .map(|word| (text(word), word.column))
            .collect()
    }

    #[test]
    fn blanks_separate_and_quotes_protect() {
        assert_eq!(
            cut("Rename \"a b\"\t\"c\" 0x0", true),
            [
                ("Rename".into(), 1),
                ("a b".into(), 8),
                ("c".into(), 14),
                ("0x0".into(), 18)
            ]
        );
        assert_eq!(cut("F \\FILLER\"*", false).len(), 2);
        assert_eq!(cut("F \\FILLER\"*", true).len(), 2);
        assert_eq!(cut("  ", true), []);
        assert_eq!(cut("\"\"", true), [(String::new(), 1)]);
    }

    #[test]
    fn quotes_must_be_closed_and_followed_by_a_blank() {
        assert_eq!(
            words(b"Unlink \"a b", true).err().map(|bad| bad.column),
            Some(8)
        );
        assert_eq!(
            words(b"Unlink \"a\"b", true).err().map(|bad| bad.column),
            Some(11)
        );
    }

    #[test]
    fn too_many_words_are_not_kept() {
        let line = "w ".repeat(1_000);
        let words = words(line.as_bytes(), true).expect("no quotes");
        assert!(words.is_cut);
        assert_eq!(words.all().len(), MOST_WORDS);
    }
}
