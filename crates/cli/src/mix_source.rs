//! Which mix a word on the command line means: one of our own, a file, or standard
//! input; and what is said if it cannot be read.

use crate::error::{Error, reason};
use filestone_engine::Guilt;
use filestone_model::load::diagnostic::suggestion;
use filestone_model::mix::Mix;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A mix is a page of text; more than this is something else.
const TEXT_MAX: u64 = 4 << 20;
/// What standard input is called.
const STANDARD_INPUT: &str = "-";

/// Reads the mix that `word` means: the name of a mix of our own, then a file.
pub fn read(word: &str) -> Result<Mix, Error> {
    if word == STANDARD_INPUT {
        return parse("standard input", io::stdin().lock());
    }
    if let Some(mix) = built_in(word) {
        return Ok(mix);
    }
    let path = Path::new(word);
    if !looks_like_a_path(word) && !path.exists() {
        return Err(
            Error::usage(format!("{word}: no such file, and no such mix of our own"))
                .with_help(advice(word)),
        );
    }
    read_file(path)
}

/// Reads the mix in a file.
pub fn read_file(path: &Path) -> Result<Mix, Error> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    parse(&name, file)
}

/// Names of the mixes of our own, and their sources.
pub fn own() -> Vec<(&'static str, &'static str)> {
    vec![("nhfsstone", "nhfsstone 1.22")]
}

/// A mix of our own.
pub fn built_in(word: &str) -> Option<Mix> {
    stand_in::named(word)
}

/// Whether a word can only be meant as a file.
fn looks_like_a_path(word: &str) -> bool {
    word.contains(['/', '.'])
}

fn parse(name: &str, from: impl Read) -> Result<Mix, Error> {
    let mut bytes = Vec::new();
    let read = from.take(TEXT_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > TEXT_MAX {
        return Err(Error::usage(format!(
            "{name}: this is longer than 4 MiB, and so no mix"
        )));
    }
    let text = String::from_utf8_lossy(&bytes);
    stand_in::parse(name, &text)
}

fn unreadable(name: &str, error: &io::Error) -> Error {
    Error {
        guilt: Guilt::Usage,
        ..Error::environment(format!("{name}: {}", reason(error)))
    }
}

fn advice(word: &str) -> String {
    let names = stand_in::names();
    match suggestion(word.as_bytes(), names.iter().copied()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("our own mixes are {}", names.join(", ")),
    }
}

mod stand_in {
    use super::*;
    use filestone_model::operation::OpKind;
    use filestone_model::plan::MixCount;

    pub fn names() -> Vec<&'static str> {
        vec!["nhfsstone"]
    }

    pub fn named(word: &str) -> Option<Mix> {
        (word == "nhfsstone").then(|| Mix {
            name: word.into(),
            counts: [
                (OpKind::GetAttr, 13),
                (OpKind::Lookup, 34),
                (OpKind::Read, 22),
            ]
            .map(|(operation, count)| MixCount { operation, count })
            .to_vec(),
            left_out: vec![],
        })
    }

    pub fn parse(name: &str, _text: &str) -> Result<Mix, Error> {
        Err(Error::usage(format!("{name}: cannot be read yet")))
    }
}
