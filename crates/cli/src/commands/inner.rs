//! Command line behind `--`, which `ab` and `sweep` measure.

use crate::error::Error;
use crate::execution::Measurement;
use crate::options::run_report::RunReportOptions;
use crate::options::{CommandLine, FilestoneCommand};
use crate::{ExitStatus, usage};
use clap::Parser;

/// Result of parsing the words behind `--`.
#[derive(Debug)]
pub enum WrappedCommand {
    /// A command.
    Read(Box<FilestoneCommand>),
    /// Help was requested and printed.
    Shown(ExitStatus),
}

/// Returns the words of a command line without `filestone`.
pub fn words(words: &[String]) -> Vec<String> {
    let words = words.iter().skip_while(|word| *word == "filestone");
    words.cloned().collect()
}

/// Parses a command line.
pub fn read(words: &[String]) -> Result<WrappedCommand, Error> {
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    let line = std::iter::once("filestone").chain(borrowed.iter().copied());
    match CommandLine::try_parse_from(line) {
        Ok(CommandLine {
            command: Some(command),
            ..
        }) => Ok(WrappedCommand::Read(Box::new(command))),
        Ok(CommandLine { command: None, .. }) => Err(Error::usage("nothing stands behind --")),
        Err(error) => {
            usage::explain(&error, borrowed.first().copied(), &borrowed).map(WrappedCommand::Shown)
        }
    }
}

/// Returns the measurement of a command; `words` is its command line.
pub fn measurement<'command>(
    command: &'command FilestoneCommand,
    words: &[String],
) -> Result<Measurement<'command>, Error> {
    match command {
        FilestoneCommand::Probe(own) => super::probe::measurement(own),
        FilestoneCommand::Mix(own) => super::mix::measurement(own),
        FilestoneCommand::Replay(own) => super::replay::measurement(own),
        FilestoneCommand::Fleet(own) => super::fleet::measurement(own),
        FilestoneCommand::Run(own) => super::run::measurement(own),
        _ => Err(
            Error::usage(format!("{}: this measures nothing", words.join(" ")))
                .with_help("behind -- stands a command line of probe, mix, replay, fleet or run"),
        ),
    }
}

/// Returns the output options of a command's runs; `None` for a command without any.
pub fn report_options(command: &mut FilestoneCommand) -> Option<&mut RunReportOptions> {
    match command {
        FilestoneCommand::Probe(own) => Some(&mut own.report),
        FilestoneCommand::Mix(own) => Some(&mut own.report),
        FilestoneCommand::Replay(own) => Some(&mut own.report),
        FilestoneCommand::Fleet(own) => Some(&mut own.report),
        FilestoneCommand::Run(own) => Some(&mut own.report),
        _ => None,
    }
}
