//! Command line of nhfsstone, parsed like nhfsstone 1.22.
//!
//! Options come first; letters may be grouped, and a value is the next word or the text behind its
//! letter (`-l 30`, `-vl 30`, `-l30`). The first word that does not begin with `-` is a directory,
//! and so are all that follow. Values must be digits; nhfsstone ignored text behind the digits,
//! which is rejected here, like values that made it divide by zero, and `-c 0` and `-t 0`, which it
//! took for 5000 calls.

use crate::compat::ending::CommandLineError;
use crate::compat::getopt::{Argument, OptionOrder, OptionSpec, ProgramSyntax};
use crate::options::target::{self, ParsedTarget};
use filestone_plan::plan::limits::CLIENTS_MAX;
use filestone_report::nhfsstone::PROCEDURES_OF_NFSV2;
use filestone_workload::operation::OpKind;
use std::path::PathBuf;

/// nhfsstone, with its help.
pub const PROGRAM: ProgramSyntax = ProgramSyntax {
    name: "nhfsstone",
    usage: &[
        "nhfsstone [-v] [[-t secs] | [-c calls]] [-l load] [-p nprocs]\n                 \
         [-m mixfile] [dir]...",
    ],
    arguments: &[Argument {
        name: "dir",
        help: "where files are made, on a mounted server; or nfs://server/path or server:/path, \
               without a mount (default: .)",
    }],
    notes: "",
    options: "
-c calls    calls to make, of all processes together (default: 5000)
-h, --help  print this help
-l load     calls per second, of all processes together (default: 30)
-m mixfile  nfsstat's output, whose mix is generated (default: a mix of its own)
-p nprocs   processes, each with its own files (default: 7)
-T opnum
-t secs     make as many calls as are due in that time; -c comes before it
-v          print a table of the operations, too
",
    order: OptionOrder::First,
};

/// nhfsstone's exit code for all errors except a run that does not count.
const FAILURE: u8 = 1;

const CALLS_DEFAULT: u64 = 5000;
const LOAD_DEFAULT: u64 = 30;
const PROCESSES_DEFAULT: u32 = 7;
/// Largest `-c`, `-l` and `-t`, so that products fit 64 bits; also the maximum of nhfsstone's ints.
const NUMBER_MAX: u64 = i32::MAX as u64;

/// Action that the command line requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NhfsstoneRequest {
    /// Print help (`-h` or `--help`, which nhfsstone does not have).
    Help,
    /// Generate a load.
    Run(NhfsstoneRun),
}

/// A load and its target directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NhfsstoneRun {
    /// Number of calls of all processes together: `-c`, or else `-t` times `-l`.
    pub calls: u64,
    /// Calls per second (`-l`) of all processes together; at least 1.
    pub load: u64,
    /// Clients (`-p`), each with its own files; at least 1.
    pub processes: u32,
    /// Mix file (`-m`); `None` for nhfsstone's own mix.
    pub mix_file: Option<PathBuf>,
    /// The only operation (`-T`).
    pub only: Option<OpKind>,
    /// Target directories: process i uses directory i modulo their number. Never empty, and all of
    /// one kind.
    pub directories: Vec<TargetDirectory>,
    /// `-v`.
    pub is_verbose: bool,
}

/// Directory for the files of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetDirectory {
    /// A directory of this host where a server is mounted.
    Mounted(PathBuf),
    /// A directory of a server without a mount, which nhfsstone did not support.
    Server(ParsedTarget),
}

/// Options as given.
#[derive(Default)]
struct Options {
    calls: Option<u64>,
    seconds: Option<u64>,
    load: Option<u64>,
    processes: Option<u32>,
    mix_file: Option<PathBuf>,
    only: Option<OpKind>,
    is_verbose: bool,
    is_help: bool,
}

/// Parses a command line without the program's name.
pub fn parse(arguments: &[String]) -> Result<NhfsstoneRequest, CommandLineError> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    let mut directories = Vec::new();
    while let Some(word) = rest.next() {
        match word.strip_prefix('-') {
            Some("-help") => options.is_help = true,
            Some("-") => break,
            Some(letters) => options.cluster(letters, &mut rest)?,
            None => {
                directories.push(word.as_str());
                break;
            }
        }
    }
    if options.is_help {
        return Ok(NhfsstoneRequest::Help);
    }
    directories.extend(rest.map(String::as_str));
    options.run(&directories).map(NhfsstoneRequest::Run)
}

/// Whether the text behind the letter of an option is its value: not if all its letters are further
/// options, whose values follow as separate words.
fn is_value(behind: &str) -> bool {
    let has_option = |letter: char| PROGRAM.known().any(|known| known.short == Some(letter));
    !behind.chars().all(has_option)
}

fn refusal(what: impl Into<String>, help: impl Into<String>) -> CommandLineError {
    CommandLineError {
        message: what.into(),
        help: Some(help.into()),
        code: FAILURE,
    }
}

/// Returns the error for an invalid value, in nhfsstone's words.
fn illegal(name: &str, value: &str, expected: &str) -> CommandLineError {
    refusal(
        format!("illegal {name} value {value}"),
        format!("expected {expected}"),
    )
}

fn number(name: &str, value: &str, least: u64, most: u64) -> Result<u64, CommandLineError> {
    let is_number = value.starts_with(|first: char| first.is_ascii_digit());
    let number = value.parse().ok().filter(|_| is_number);
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let expected = format!("a whole number from {least} to {most}");
        illegal(name, value, &expected)
    })
}

impl Options {
    /// Parses one word of options such as `vl`, whose values are the next words, or `l30`.
    fn cluster<'line>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'line String>,
    ) -> Result<(), CommandLineError> {
        for (place, letter) in letters.char_indices() {
            let option = PROGRAM.known().find(|known| known.short == Some(letter));
            match option.as_ref().map(OptionSpec::takes_value) {
                Some(true) => {
                    let behind = &letters[place + letter.len_utf8()..];
                    if is_value(behind) {
                        return self.set(letter, behind);
                    }
                    let value = rest.next().ok_or_else(|| {
                        let what = format!("-{letter}: a value is missing");
                        refusal(what, "it is the word behind the option")
                    })?;
                    self.set(letter, value)?;
                }
                Some(false) if letter == 'v' => self.is_verbose = true,
                Some(false) => self.is_help = true,
                None => {
                    let what = format!("-{letter}: nhfsstone has no such option");
                    return Err(refusal(
                        what,
                        "filestone compat nhfsstone -h shows its command line",
                    ));
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, letter: char, value: &str) -> Result<(), CommandLineError> {
        match letter {
            'c' => self.calls = Some(number("calls", value, 1, NUMBER_MAX)?),
            'l' => self.load = Some(number("load", value, 1, NUMBER_MAX)?),
            'p' => self.processes = Some(number("procs", value, 1, CLIENTS_MAX.into())? as u32),
            't' => self.seconds = Some(number("time", value, 1, NUMBER_MAX)?),
            'T' => self.only = Some(test_operation(value)?),
            _ => self.mix_file = Some(value.into()),
        }
        Ok(())
    }

    fn run(self, directories: &[&str]) -> Result<NhfsstoneRun, CommandLineError> {
        let load = self.load.unwrap_or(LOAD_DEFAULT);
        let in_time = self.seconds.map(|seconds| seconds * load);
        let directories = match directories {
            [] => &["."],
            directories => directories,
        };
        let directories = directories.iter().map(|text| directory(text));
        let directories: Vec<TargetDirectory> = directories.collect::<Result<_, _>>()?;
        let is_mounted =
            |directory: &TargetDirectory| matches!(directory, TargetDirectory::Mounted(_));
        let mounted = directories.iter().filter(|one| is_mounted(one)).count();
        if mounted > 0 && mounted < directories.len() {
            return Err(refusal(
                "some directories are mounted and some are named by their server",
                "name all of them in one way: the two are measured differently",
            ));
        }
        Ok(NhfsstoneRun {
            calls: self.calls.or(in_time).unwrap_or(CALLS_DEFAULT),
            load,
            processes: self.processes.unwrap_or(PROCESSES_DEFAULT),
            mix_file: self.mix_file,
            only: self.only,
            directories,
            is_verbose: self.is_verbose,
        })
    }
}

/// Parses `-T`, the number of an NFSv2 procedure.
fn test_operation(value: &str) -> Result<OpKind, CommandLineError> {
    let last = PROCEDURES_OF_NFSV2.len() as u64 - 1;
    let place = number("test", value, 0, last)? as usize;
    match PROCEDURES_OF_NFSV2.get(place) {
        Some((_, Some(kind))) => Ok(*kind),
        Some((name, None)) => {
            let expected = format!("a procedure that NFSv3 has, too; {value} is {name}");
            Err(illegal("test", value, &expected))
        }
        None => Err(illegal("test", value, "a procedure of NFSv2")),
    }
}

/// Parses a path, unless it begins like a server: `nfs://` or `host:/`. A path of that form can be
/// given as `./host:/`.
fn directory(text: &str) -> Result<TargetDirectory, CommandLineError> {
    let host = text.split_once(":/").map(|(host, _)| host);
    if text.is_empty() {
        return Err(refusal(
            "the name of a directory is empty",
            "expected a path",
        ));
    }
    if host.is_none_or(|host| host.is_empty() || host.contains('/')) {
        return Ok(TargetDirectory::Mounted(text.into()));
    }
    let target = target::parse(text);
    let target = target.map_err(|expected| refusal(format!("{text}: {expected}"), USE_A_PATH))?;
    Ok(TargetDirectory::Server(target))
}

const USE_A_PATH: &str = "a directory of this host is named by a path such as ./a:/b";

#[cfg(test)]
mod tests;
