//! Errors of load files: position, description and expected value.

use std::fmt;

/// Maximum number of errors of one file that are stored; further ones are only counted.
pub const ERRORS_KEPT: usize = 1_000;

/// An error of a load file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// Line in the file, from 1; 0 for the whole file.
    pub line: u32,
    /// Column of the first wrong byte, from 1.
    pub column: u32,
    /// Description of the error with the wrong value.
    pub message: String,
    /// The expected value, or an advice.
    pub help: Option<String>,
}

/// The errors of a load file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadErrors {
    /// Name of the file.
    pub name: String,
    /// The first errors, in the order of the lines.
    pub errors: Vec<LoadError>,
    /// Number of further errors.
    pub more: u64,
}

impl fmt::Display for LoadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.errors.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            write!(f, "{}:", self.name)?;
            if error.line > 0 {
                write!(f, "{}:{}:", error.line, error.column)?;
            }
            write!(f, " {}", error.message)?;
            if let Some(help) = &error.help {
                write!(f, "\nhelp: {help}")?;
            }
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadErrors {}

/// Collects errors while a file is read.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    errors: Vec<LoadError>,
    more: u64,
    hopeless: bool,
}

impl Diagnostics {
    /// Adds an error.
    pub(super) fn add(&mut self, error: LoadError) {
        if self.hopeless || self.errors.len() >= ERRORS_KEPT {
            self.more += u64::from(!self.hopeless);
        } else {
            self.errors.push(error);
        }
    }

    /// Adds an error that makes all others meaningless.
    pub(super) fn abort(&mut self, error: LoadError) {
        if !self.hopeless {
            self.errors = vec![error];
            self.more = 0;
            self.hopeless = true;
        }
    }

    /// Whether reading can stop because of a fatal error.
    pub(super) fn is_hopeless(&self) -> bool {
        self.hopeless
    }

    /// Returns the number of errors.
    pub(super) fn count(&self) -> u64 {
        self.errors.len() as u64 + self.more
    }

    /// Returns the errors of the file with that name; `None` if there are none.
    pub(super) fn finish(mut self, name: &str) -> Option<LoadErrors> {
        // Some errors are only known at the end of a loop.
        self.errors.sort_by_key(|error| (error.line, error.column));
        (!self.errors.is_empty()).then(|| LoadErrors {
            name: name.to_owned(),
            errors: self.errors,
            more: self.more,
        })
    }
}

/// Returns bytes of a load file for a message: truncated and made printable.
pub(super) fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let cut = bytes.get(..SHOWN).unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(cut).escape_debug().to_string();
    if cut.len() < bytes.len() {
        text.push('…');
    }
    text
}

/// Returns the candidate that is most similar to `word`, if one is similar enough.
pub fn suggestion<'a>(
    word: &[u8],
    candidates: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    const LONGEST: usize = 48;
    if word.len() > LONGEST {
        return None;
    }
    let begins = |candidate: &&str| {
        let begin = candidate.as_bytes().get(..word.len());
        begin.is_some_and(|begin| word.len() > 3 && begin.eq_ignore_ascii_case(word))
    };
    if let Some(abbreviated) = candidates.clone().find(begins) {
        return Some(abbreviated);
    }
    let (distance, best) = candidates
        .map(|candidate| (edit_distance(word, candidate.as_bytes()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    let alike = if word.len() < 4 {
        1
    } else {
        (word.len() / 3).max(2)
    };
    (distance <= alike && distance < word.len()).then_some(best)
}

/// Returns Levenshtein's distance, case-insensitively.
fn edit_distance(left: &[u8], right: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, a) in left.iter().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(right) {
            let exchanged = diagonal + usize::from(!a.eq_ignore_ascii_case(b));
            diagonal = *cell;
            *cell = exchanged.min(diagonal + 1).min(before + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_guessed_only_when_it_is_near() {
        let verbs = ["ReadX", "WriteX", "READ3", "QUERY_PATH_INFORMATION"];
        let guess = |word: &str| suggestion(word.as_bytes(), verbs.into_iter());
        assert_eq!(guess("redx"), Some("ReadX"));
        assert_eq!(guess("READX3"), Some("ReadX"));
        assert_eq!(guess("QUERY_PATH_INFO"), Some("QUERY_PATH_INFORMATION"));
        assert_eq!(guess("Banana"), None);
        assert_eq!(guess(""), None);
    }

    #[test]
    fn the_first_thousand_are_kept_and_the_rest_is_counted() {
        let mut diagnostics = Diagnostics::default();
        for line in 0..1_500 {
            diagnostics.add(LoadError {
                line,
                column: 1,
                message: "wrong".to_owned(),
                help: None,
            });
        }
        let errors = diagnostics.finish("a.load").expect("there are some");
        assert_eq!((errors.errors.len(), errors.more), (1_000, 500));
        assert!(errors.to_string().ends_with("and 500 more"));
    }
}
