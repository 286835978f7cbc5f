//! Source of a load file: a word on the command line names a file or a built-in load. Also formats
//! the errors of reading it.

use crate::error::{Error, reason};
use filestone_host::load_file::{self, LoadFileError};
use filestone_workload::load::diagnostic::suggestion;
use filestone_workload::load::{Load, LoadErrors};
use filestone_workload::text::thousands;
use std::io;
use std::path::{Path, PathBuf};

/// A load of `loads/`, which the program contains.
#[derive(Debug, PartialEq, Eq)]
pub struct BuiltInLoad {
    /// Name; the file is `loads/NAME.load`.
    pub name: &'static str,
    /// The file, compressed by the build script.
    gzip: &'static [u8],
}

macro_rules! built_in_loads {
    ($($name:literal)*) => {
        &[$(BuiltInLoad {
            name: $name,
            gzip: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".load.gz")),
        }),*]
    };
}

/// All built-in loads, in the order of the documentation.
const BUILT_IN: &[BuiltInLoad] = built_in_loads!("office" "build" "untar" "mail" "database");

/// Source of a load file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadSource {
    /// A load file.
    File(PathBuf),
    /// A built-in load.
    BuiltIn(&'static BuiltInLoad),
}

/// Interprets a word as a path if there is a file of that name, or if it looks like a path (`/` or
/// `.`); otherwise as the name of a built-in load. A directory is not a load file and does not hide
/// a built-in load.
pub fn load_source(word: &Path) -> Result<LoadSource, Error> {
    let Some(text) = word.to_str() else {
        return Ok(LoadSource::File(word.into()));
    };
    let is_there = word.exists();
    if text.contains(['/', '.']) || (is_there && !word.is_dir()) {
        return Ok(LoadSource::File(word.into()));
    }
    match BUILT_IN.iter().find(|load| load.name == text) {
        Some(load) => Ok(LoadSource::BuiltIn(load)),
        None if is_there => Ok(LoadSource::File(word.into())),
        None => Err(
            Error::usage(format!("{text}: no such file, and no such load of our own"))
                .with_help(advice(text)),
        ),
    }
}

fn advice(text: &str) -> String {
    let names: Vec<&str> = BUILT_IN.iter().map(|load| load.name).collect();
    match suggestion(text.as_bytes(), names.iter().copied()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("our own loads are {}", names.join(", ")),
    }
}

/// Reads and compiles a load file; returns all its errors.
pub fn read_load(source: &LoadSource) -> Result<Load, Vec<Error>> {
    let load = match source {
        LoadSource::File(path) => load_file::read(path),
        LoadSource::BuiltIn(load) => load_file::read_gzip(load.name, load.gzip),
    };
    load.map_err(|error| match error {
        LoadFileError::Wrong(errors) => in_our_form(&errors),
        error @ (LoadFileError::Unreadable { .. }
        | LoadFileError::Damaged { .. }
        | LoadFileError::TooLong { .. }) => vec![unreadable(&error)],
    })
}

/// Returns the error of a file without a line number.
fn unreadable(error: &LoadFileError) -> Error {
    let (what, help) = match error {
        LoadFileError::Unreadable { name, source }
            if source.kind() == io::ErrorKind::IsADirectory =>
        {
            let last = Path::new(name).file_name().unwrap_or_default();
            (
                format!("{name}: this is a directory, and a load is a file"),
                Some(advice(&last.to_string_lossy())),
            )
        }
        LoadFileError::Unreadable { name, source } => (format!("{name}: {}", reason(source)), None),
        error => (error.to_string(), None),
    };
    Error {
        category: error.category(),
        message: what,
        help,
    }
}

/// Converts errors to `FILE:LINE:COLUMN: message`, one each.
fn in_our_form(errors: &LoadErrors) -> Vec<Error> {
    let name = &errors.name;
    let mut said: Vec<Error> = errors
        .errors
        .iter()
        .map(|error| {
            let place = match error.line {
                0 => name.clone(),
                line => format!("{name}:{line}:{}", error.column),
            };
            Error {
                help: error.help.clone(),
                ..Error::usage(format!("{place}: {}", error.message))
            }
        })
        .collect();
    if errors.more > 0 {
        said.push(Error::usage(format!(
            "{name}: {} more errors like these",
            thousands(errors.more)
        )));
    }
    said
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
        for load in BUILT_IN {
            assert_eq!(of(load.name), Ok(LoadSource::BuiltIn(load)));
        }
        assert!(of("Office").is_err());
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
    fn every_published_load_is_built_in() {
        let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../loads");
        let files = std::fs::read_dir(published).expect("the loads of this checkout");
        let files = files.map(|file| file.expect("a file").path());
        let mut count = 0;
        for file in files.filter(|file| file.extension().is_some_and(|end| end == "load")) {
            let name = file.file_stem().expect("a name").as_ref();
            let source = load_source(name).expect("the name of a load");
            let built_in = read_load(&source).expect("our own loads are right");
            let plain =
                read_load(&LoadSource::File(file.clone())).expect("our own loads are right");
            assert!(built_in.operations() > 0, "{name:?}");
            assert_eq!(built_in.operations(), plain.operations(), "{name:?}");
            count += 1;
        }
        assert_eq!(count, BUILT_IN.len());
    }

    #[test]
    fn a_directory_is_said_to_be_one() {
        let errors = read_load(&LoadSource::File("src".into())).expect_err("a directory");
        let error = errors.first().expect("an error");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(
            error.message,
            "src: this is a directory, and a load is a file"
        );
        let help = error.help.as_deref();
        assert!(help.is_some_and(|help| help.starts_with("our own loads are ")));
    }

    #[test]
    fn a_file_that_is_not_there_is_the_user_s_mistake() {
        let source = LoadSource::File("/nowhere/a.load".into());
        let errors = read_load(&source).expect_err("there is no such file");
        let expected = Error::usage("/nowhere/a.load: no such file or directory (2)");
        assert_eq!(errors, [expected]);
    }

    #[test]
    fn all_that_is_wrong_is_said_with_its_place() {
        let text = "Rmdir \"/clients/client1/b\" OK\nUnlink \"/clients/client1/a\" 0x6 SUCESS\n";
        let errors = load_file::read_text("a.load", text).expect_err("both lines are wrong");
        let errors = in_our_form(&errors);
        let places: Vec<Option<&str>> = errors
            .iter()
            .map(|error| error.message.split(": ").next())
            .collect();
        assert_eq!(places, [Some("a.load:1:28"), Some("a.load:2:33")]);
        assert!(errors.iter().all(|error| error.exit_code() == 2));
    }
}
