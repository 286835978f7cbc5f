//! Source of a mix: a word on the command line names a built-in mix, a file, or standard input.
//! Also formats the errors of reading it.

use crate::error::{Error, reason};
use filestone_host::error::ErrorCategory;
use filestone_plan::mix::{self, Mix, MixError};
use filestone_workload::load::diagnostic::suggestion;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a mix file, in bytes; a mix is about a page of text.
const TEXT_MAX: u64 = 4 << 20;
/// Name of standard input.
pub const STANDARD_INPUT: &str = "-";

/// Reads the mix that `word` names: a built-in mix, otherwise a file. `mount` selects among the
/// kernel's counters of several mounts.
pub fn read(word: &str, mount: Option<&str>) -> Result<Mix, Error> {
    if word == STANDARD_INPUT {
        return parse("standard input", io::stdin().lock(), mount);
    }
    if let Some(named) = mix::built_in(word) {
        return match mount {
            None => Ok(named.mix()),
            Some(mount) => Err(Error::usage(format!(
                "--mount {mount}: {word} is a mix of our own, and no file of counters"
            ))
            .with_help("it chooses a mount of --mix /proc/self/mountstats")),
        };
    }
    let path = Path::new(word);
    if !word.contains(['/', '.']) && !path.exists() {
        return Err(
            Error::usage(format!("{word}: no such file, and no such mix of our own"))
                .with_help(advice(word)),
        );
    }
    read_file(path, mount)
}

/// Reads the mix in a file.
pub fn read_file(path: &Path, mount: Option<&str>) -> Result<Mix, Error> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    parse(&name, file, mount)
}

fn parse(name: &str, from: impl Read, mount: Option<&str>) -> Result<Mix, Error> {
    let mut bytes = Vec::new();
    let read = from.take(TEXT_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > TEXT_MAX {
        return Err(Error::usage(format!(
            "{name}: this is longer than 4 MiB, and so no mix"
        )));
    }
    let text = String::from_utf8_lossy(&bytes);
    let mix = match mount {
        Some(mount) => mix::parse_mount(&text, name, mount),
        None => mix::parse(&text, name),
    };
    mix.map_err(in_our_form)
}

/// Formats an error as `FILE:LINE:COLUMN: message`.
fn in_our_form(error: MixError) -> Error {
    let place = match error.line {
        0 => error.file,
        line => format!("{}:{line}:{}", error.file, error.column),
    };
    Error {
        help: error.help,
        ..Error::usage(format!("{place}: {}", error.message))
    }
}

fn unreadable(name: &str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::IsADirectory {
        let what = format!("{name}: this is a directory, and a mix is a file");
        let last = Path::new(name).file_name().unwrap_or_default();
        return Error::usage(what).with_help(advice(&last.to_string_lossy()));
    }
    Error {
        category: ErrorCategory::Usage,
        ..Error::environment(format!("{name}: {}", reason(error)))
    }
}

fn advice(word: &str) -> String {
    let names = mix::names();
    match suggestion(word.as_bytes(), names.clone()) {
        Some(name) => format!("did you mean {name}?"),
        None => {
            let names: Vec<&str> = names.collect();
            format!("our own mixes are {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Mix, Error> {
        parse("mix.txt", text.as_bytes(), None)
    }

    #[test]
    fn every_mix_of_our_own_is_read_by_its_name() {
        for name in mix::names() {
            assert_eq!(read(name, None).map(|mix| mix.name), Ok(name.into()));
        }
        assert!(read(mix::DEFAULT, Some("/mnt")).is_err());
    }

    #[test]
    fn an_unknown_name_gets_a_suggestion() {
        let error = read("nhfstone", None).expect_err("misspelt");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(error.help.as_deref(), Some("did you mean nhfsstone?"));
        let error = read("nothing-of-ours", None).expect_err("no such mix");
        assert!(error.help.is_some_and(|help| help.contains(mix::DEFAULT)));
    }

    #[test]
    fn a_directory_is_said_to_be_one() {
        let error = read("src", None).expect_err("a directory");
        assert_eq!(
            error.message,
            "src: this is a directory, and a mix is a file"
        );
        assert_eq!(error.exit_code(), 2);
        assert!(error.help.is_some_and(|help| help.contains(mix::DEFAULT)));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let mix = parsed("read 18\ngetattr 82\n").expect("our own format");
        assert_eq!(mix.sum(), 100);
        let error = parsed("read 18\nraed 3\n").expect_err("misspelt");
        assert!(
            error.message.starts_with("mix.txt:2:1: "),
            "{}",
            error.message
        );
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn what_never_ends_is_no_mix() {
        let error = parse("zero", io::repeat(b' '), None).expect_err("endless");
        assert_eq!(
            error.message,
            "zero: this is longer than 4 MiB, and so no mix"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_the_users_mistake() {
        let error = read("/nowhere/mix.txt", None).expect_err("no file");
        assert_eq!(
            error.message,
            "/nowhere/mix.txt: no such file or directory (2)"
        );
        assert_eq!(error.exit_code(), 2);
    }
}
