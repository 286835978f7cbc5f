//! The command line of filestone: faces, options, reports, messages, exit codes.
//!
//! A face turns options into a [`Plan`](filestone_model::Plan) and picks a
//! report. Nothing here measures, schedules or encodes, and nothing knows a
//! protocol: this crate does not depend on `filestone-wire`.

#![forbid(unsafe_code)]

mod built_in;
mod carry_out;
mod console;
mod correction;
mod dbench_command_line;
mod error;
mod faces;
mod foreign_words;
mod getopt;
mod interruption;
mod layer_targets;
mod live;
mod load_source;
mod loads;
mod manual;
mod mix_options;
mod mix_planning;
mod mix_source;
mod mix_values;
mod nct_command_line;
mod nhfsstone_command_line;
mod option_values;
mod options;
mod output_directory;
mod planning;
mod quantity;
mod record_file;
mod render;
mod replay_options;
mod replay_planning;
mod target;
mod usage;
mod verdict;

pub use manual::manual;

use clap::{CommandFactory, FromArgMatches};
use dbench_command_line::Program;
use error::{Error, exit_code_of};
use filestone_engine::Guilt;
use options::{Ancestor, CommandLine, Face};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// How a face ended when nothing stopped it, from well to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything was done; numbers were measured.
    Done,
    /// Measured, with a caveat that the user asked to treat as failure.
    Doubtful,
    /// Somebody ended it with ^C; what there was, was reported.
    Interrupted,
    /// The run came to its end, and not one operation succeeded.
    NothingSucceeded,
    /// The target was lost in the middle; what there was, was reported.
    TargetLost,
    /// The record contradicts itself.
    OutOfBalance,
    /// Another program's exit code, for its own command line.
    Code(u8),
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Doubtful => 1,
            // What shells report of a program that ^C ended, so that a script
            // does not take half a run for a whole one.
            Exit::Interrupted => interruption::EXIT_CODE,
            Exit::NothingSucceeded | Exit::TargetLost => exit_code_of(Guilt::Target),
            Exit::OutOfBalance => exit_code_of(Guilt::Internal),
            Exit::Code(code) => code,
        }
    }
}

/// The whole command line, for man pages and completions.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = as_called(arguments.into_iter().collect());
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let face = face_of(words);
    let parsed = command()
        .try_get_matches_from(&arguments)
        .and_then(|matches| CommandLine::from_arg_matches(&matches));
    let ended = match parsed {
        Ok(command_line) => dispatch(command_line),
        Err(error) => {
            let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
            let words = words.unwrap_or_default();
            usage::explain(&error, face, words.get(1..).unwrap_or_default())
        }
    };
    match ended {
        Ok(exit) => exit.code(),
        Err(error) => {
            console::error(&error);
            error.exit_code()
        }
    }
}

/// The face that a command line names: its first word, if that is one.
fn face_of<'word>(mut words: impl Iterator<Item = &'word str>) -> Option<&'word str> {
    let first = words.next()?;
    command().find_subcommand(first).map(|_| first)
}

fn dispatch(command_line: CommandLine) -> Result<Exit, Error> {
    match command_line.face {
        None => faces::short_help(),
        Some(Face::Demo(options)) => faces::demo::run(&options),
        Some(Face::Probe(options)) => faces::probe::run(&options),
        Some(Face::Replay(options)) => faces::replay::run(&options),
        Some(Face::Mix(options)) => faces::mix::run(&options),
        Some(Face::Run(options)) => faces::run::run(&options),
        Some(Face::Check(options)) => faces::check::run(&options),
        Some(Face::Serve(options)) => faces::serve::run(&options),
        Some(Face::Calibrate(options)) => faces::calibrate::run(&options),
        Some(Face::Report(options)) => faces::report::run(&options),
        Some(Face::As(options)) => run_as(&options.ancestor),
        Some(Face::Completions(options)) => faces::completions::run(&options),
        Some(Face::Schema) => faces::schema::run(),
    }
}

fn run_as(ancestor: &Ancestor) -> Result<Exit, Error> {
    match ancestor {
        Ancestor::Nct(own) => faces::nct::run(&own.arguments),
        Ancestor::Dbench(own) => faces::dbench::run(Program::Dbench, &own.arguments),
        Ancestor::Tbench(own) => faces::dbench::run(Program::Tbench, &own.arguments),
        Ancestor::Nhfsstone(own) => faces::nhfsstone::run(&own.arguments),
        Ancestor::TbenchSrv(own) => faces::tbench_srv::run(&own.arguments),
    }
}

/// The arguments of a program that was called by an ancestor's name, as a link to
/// it may be: those of `filestone as` that ancestor.
fn as_called(mut arguments: Vec<OsString>) -> Vec<OsString> {
    const ANCESTORS: [&str; 5] = ["nct", "dbench", "tbench", "tbench_srv", "nhfsstone"];
    let called = arguments.first().map(Path::new).and_then(Path::file_name);
    let ancestor = ANCESTORS
        .iter()
        .find(|name| called.is_some_and(|called| called == **name));
    if let Some(name) = ancestor {
        arguments.splice(..1, ["filestone", "as", *name].map(OsString::from));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_with_an_ancestors_name_takes_its_command_line() {
        let called = |line: &str| {
            let words = line.split_whitespace().map(OsString::from).collect();
            let words = as_called(words);
            words
                .join(&OsString::from(" "))
                .into_string()
                .expect("text")
        };
        assert_eq!(
            called("/usr/bin/dbench -t 5 2"),
            "filestone as dbench -t 5 2"
        );
        assert_eq!(called("tbench_srv"), "filestone as tbench_srv");
        assert_eq!(called("filestone demo"), "filestone demo");
        assert_eq!(called("/dbench/filestone demo"), "/dbench/filestone demo");
    }
}
