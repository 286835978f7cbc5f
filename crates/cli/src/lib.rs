//! Command line of filestone: commands, options, messages, exit codes.
//!
//! A command turns options into a [`Plan`](filestone_plan::Plan) and selects a report. This crate
//! does not measure, schedule, encode or render reports, and contains no protocol: it does not
//! depend on `filestone-wire`.

#![forbid(unsafe_code)]

mod advice;
mod built_in;
mod commands;
mod compat;
mod console;
mod error;
mod execution;
mod inputs;
mod manual;
mod options;
mod packed;
mod planning;
mod protocols;
mod terminal_view;
mod topics;
mod usage;
mod version;

pub use commands::completions::script as completion_script;
#[cfg(feature = "schema")]
pub use commands::schema::derived as derived_schemas;
pub use manual::manual;
pub use topics::of_command as topic_of_command;

use compat::dbench::command_line::DbenchProgram;

use clap::{CommandFactory, FromArgMatches};
use error::{Error, exit_code_of};
use execution::interruption;
use filestone_engine::Protocols;
use filestone_host::error::ErrorCategory;
use filestone_live::site::HtmlDocument;
use filestone_report::html;
use options::smb::password_in;
use options::{CommandLine, CompatTool, FilestoneCommand};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Exit status of a command that ended without an error, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// The command completed; numbers were measured.
    Done,
    /// Measured, but a gate fails, or with a caveat that the user asked to treat as failure; or the
    /// command looked for a warning or a regression and found one.
    CaveatFailure,
    /// Ended with ^C; the measurements up to then were reported.
    Interrupted,
    /// The run completed, but its numbers do not count.
    DoesNotCount,
    /// The target was lost during the run; the measurements up to then were reported.
    TargetLost,
    /// The record is inconsistent.
    LedgerError,
    /// Exit code of another program, for its own command line.
    Code(u8),
}

impl ExitStatus {
    fn code(self) -> u8 {
        match self {
            ExitStatus::Done => 0,
            ExitStatus::CaveatFailure => 1,
            // The code that shells report for a program ended by ^C, so that a script does not take
            // a partial run for a complete one.
            ExitStatus::Interrupted => interruption::EXIT_CODE,
            ExitStatus::DoesNotCount | ExitStatus::TargetLost => {
                exit_code_of(ErrorCategory::Target)
            }
            ExitStatus::LedgerError => exit_code_of(ErrorCategory::Internal),
            ExitStatus::Code(code) => code,
        }
    }
}

/// Returns the whole command line, for man pages and completions.
pub fn command() -> clap::Command {
    let command = CommandLine::command();
    #[cfg(feature = "mpi")]
    let command = command.version(execution::hosts::version());
    command
}

/// Returns the live page.
pub fn live_document() -> HtmlDocument {
    let (html, policy) = html::live::page();
    HtmlDocument { html, policy }
}

/// Runs the command line of this process; one of several ranks executes the parts that rank 0
/// assigns.
pub fn main() -> ExitCode {
    #[cfg(feature = "mpi")]
    if let Some(exit_code) = execution::hosts::serve_if_not_first() {
        return ExitCode::from(exit_code);
    }
    let exit_code = run(std::env::args_os());
    #[cfg(feature = "mpi")]
    execution::hosts::leave();
    ExitCode::from(exit_code)
}

/// Runs the command line of a program with additional protocols, and returns the exit code.
pub fn run_with(protocols: Protocols, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    protocols::know(protocols);
    run(arguments)
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = as_called(arguments.into_iter().collect());
    let arguments = commands::help::moved_first(arguments);
    let shown = arguments.iter().filter_map(|word| word.to_str());
    if let Some(why) = shown.into_iter().find_map(password_in) {
        // Before other code reads it and reports an error.
        let error = Error::usage(why);
        console::error(&error);
        return error.exit_code();
    }
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let asked = command_of(words);
    let parsed = command()
        .long_version(version::build_details())
        .try_get_matches_from(&arguments)
        .and_then(|matches| CommandLine::from_arg_matches(&matches));
    let ended = match parsed {
        Ok(command_line) => dispatch(command_line),
        Err(error) if error.kind() == clap::error::ErrorKind::InvalidUtf8 => {
            Err(usage::not_utf8(&arguments))
        }
        Err(error) => {
            let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
            let words = words.unwrap_or_default();
            usage::explain(&error, asked, words.get(1..).unwrap_or_default())
        }
    };
    let exit_code = match ended {
        Ok(exit) => exit.code(),
        Err(error) => {
            console::error(&error);
            error.exit_code()
        }
    };
    match console::failure() {
        // An earlier error has precedence.
        Some(error) if exit_code == 0 => {
            console::error(&error);
            error.exit_code()
        }
        _ => exit_code,
    }
}

/// Returns the command that a command line names: its first word, if that is one.
fn command_of<'word>(mut words: impl Iterator<Item = &'word str>) -> Option<&'word str> {
    let first = words.next()?;
    command().find_subcommand(first).map(|_| first)
}

fn dispatch(command_line: CommandLine) -> Result<ExitStatus, Error> {
    #[cfg(feature = "mpi")]
    execution::hosts::follow(&command_line.hosts)?;
    match command_line.command {
        None => commands::short_help(),
        Some(FilestoneCommand::Demo(options)) => commands::demo::run(&options),
        Some(FilestoneCommand::Probe(options)) => commands::probe::run(&options),
        Some(FilestoneCommand::Replay(options)) => commands::replay::run(&options),
        Some(FilestoneCommand::Mix(options)) => commands::mix::run(&options),
        Some(FilestoneCommand::Fleet(options)) => commands::fleet::run(&options),
        Some(FilestoneCommand::Run(options)) => commands::run::run(&options),
        Some(FilestoneCommand::Check(options)) => commands::check::run(&options),
        Some(FilestoneCommand::Serve(options)) => commands::serve::run(&options),
        Some(FilestoneCommand::Calibrate(options)) => commands::calibrate::run(&options),
        Some(FilestoneCommand::Doctor(options)) => commands::doctor::run(&options),
        Some(FilestoneCommand::Compare(options)) => commands::compare::run(&options),
        Some(FilestoneCommand::Explain(options)) => commands::explain::run(&options),
        Some(FilestoneCommand::Ab(options)) => commands::ab::run(&options),
        Some(FilestoneCommand::Sweep(options)) => commands::sweep::run(&options),
        Some(FilestoneCommand::Ladder(options)) => commands::ladder::run(&options),
        Some(FilestoneCommand::History(options)) => commands::history::run(&options),
        Some(FilestoneCommand::Merge(options)) => commands::merge::run(&options),
        Some(FilestoneCommand::Report(options)) => commands::report::run(&options),
        Some(FilestoneCommand::Compat(options)) => run_compat(&options.ancestor),
        Some(FilestoneCommand::Completions(options)) => commands::completions::run(&options),
        Some(FilestoneCommand::Schema(options)) => commands::schema::run(&options),
        Some(FilestoneCommand::Help(options)) => commands::help::run(&options),
    }
}

fn run_compat(ancestor: &CompatTool) -> Result<ExitStatus, Error> {
    match ancestor {
        CompatTool::Nct(own) => compat::nct::run(&own.arguments),
        CompatTool::Dbench(own) => compat::dbench::run(DbenchProgram::Dbench, &own.arguments),
        CompatTool::Tbench(own) => compat::dbench::run(DbenchProgram::Tbench, &own.arguments),
        CompatTool::Nhfsstone(own) => compat::nhfsstone::run(&own.arguments),
        CompatTool::Smbtorture(own) => compat::smbtorture::run(&own.arguments),
        CompatTool::TbenchSrv(own) => compat::tbench_srv::run(&own.arguments),
    }
}

/// Converts the arguments of a program called by an ancestor's name, for example through a link, to
/// those of `filestone compat` and that ancestor.
fn as_called(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let called = arguments.first().map(Path::new).and_then(Path::file_name);
    let ancestor = compat::NAMES
        .iter()
        .find(|name| called.is_some_and(|called| called == **name));
    if let Some(name) = ancestor {
        arguments.splice(..1, ["filestone", "compat", *name].map(OsString::from));
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
            "filestone compat dbench -t 5 2"
        );
        assert_eq!(called("tbench_srv"), "filestone compat tbench_srv");
        assert_eq!(called("filestone demo"), "filestone demo");
        assert_eq!(called("/dbench/filestone demo"), "/dbench/filestone demo");
    }
}
