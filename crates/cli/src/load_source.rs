//! Which load a word on the command line means: a file, or a load of our own.

use crate::error::Error;
use filestone_model::load::Made;
use std::path::{Path, PathBuf};

/// Where a load comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadSource {
    /// A load file.
    File(PathBuf),
    /// A load of our own, made on the spot.
    Made(Made),
}

/// A path if there is a file of that name, or if it looks like one (`/` or `.`);
/// else the name of a load of our own.
pub fn load_source(word: &Path) -> Result<LoadSource, Error> {
    let Some(text) = word.to_str() else {
        return Ok(LoadSource::File(word.into()));
    };
    if text.contains(['/', '.']) || word.exists() {
        return Ok(LoadSource::File(word.into()));
    }
    match Made::from_name(text) {
        Some(made) => Ok(LoadSource::Made(made)),
        None => Err(
            Error::usage(format!("{text}: no such file, and no such load of our own"))
                .with_help(advice(text)),
        ),
    }
}

fn advice(text: &str) -> String {
    let names: Vec<&str> = Made::ALL.iter().map(|made| made.name()).collect();
    let nearest = names
        .iter()
        .map(|name| (distance(text, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len() / 3);
    match nearest {
        Some((_, name)) => format!("did you mean {name}?"),
        None => format!("our own loads are {}", names.join(", ")),
    }
}

/// How many letters are to be changed, added or left out (Levenshtein, 1966).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (letters, letter) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = letters;
        let mut left = letters + 1;
        for (place, other) in to.iter().enumerate() {
            let above = row.get(place + 1).copied().unwrap_or(usize::MAX);
            let replaced = diagonal + usize::from(letter != *other);
            let best = replaced.min(above.saturating_add(1)).min(left + 1);
            if let Some(cell) = row.get_mut(place) {
                *cell = left;
            }
            diagonal = above;
            left = best;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> Result<LoadSource, Error> {
        load_source(Path::new(word))
    }

    #[test]
    fn what_looks_like_a_path_is_one() {
        for word in ["client.txt", "./office", "loads/mail", "Cargo.toml", "src"] {
            assert_eq!(of(word), Ok(LoadSource::File(word.into())), "{word}");
        }
    }

    #[test]
    fn a_plain_word_is_the_name_of_a_load_of_our_own() {
        assert_eq!(of("office"), Ok(LoadSource::Made(Made::Office)));
    }

    #[test]
    fn an_unknown_name_gets_a_suggestion() {
        let error = of("ofice").expect_err("there is none of that name");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(error.help.as_deref(), Some("did you mean office?"));
        let error = of("nothing-like-it").expect_err("there is none of that name");
        assert_eq!(
            error.help.as_deref(),
            Some("our own loads are office, build, untar, mail, database")
        );
    }

    #[test]
    fn distances_are_levenshtein_s() {
        for (from, to, expected) in [
            ("", "mail", 4),
            ("mail", "", 4),
            ("mail", "MAIL", 0),
            ("kitten", "sitting", 3),
            ("untra", "untar", 2),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }
}
