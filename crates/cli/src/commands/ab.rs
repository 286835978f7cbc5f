//! `filestone ab`: two servers, or two settings of one, measured in turn.

use crate::error::Error;
use crate::execution::{Measurement, ab};
use crate::options::ab::AbOptions;
use crate::options::{Command, CommandLine};
use crate::{Exit, usage};
use clap::Parser;

/// Reads what is measured, and measures it of both in turn.
pub fn run(options: &AbOptions) -> Result<Exit, Error> {
    let words = words(options);
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    let line = std::iter::once("filestone").chain(borrowed.iter().copied());
    match CommandLine::try_parse_from(line) {
        Ok(line) => match line.command {
            Some(Command::Probe(own)) => execute(super::probe::measurement(&own), options),
            Some(Command::Mix(own)) => execute(super::mix::measurement(&own), options),
            Some(Command::Replay(own)) => execute(super::replay::measurement(&own), options),
            Some(Command::Run(own)) => execute(super::run::measurement(&own), options),
            _ => Err(
                Error::usage(format!("{}: this measures nothing", borrowed.join(" ")))
                    .with_help("behind -- stands a command line of probe, mix, replay or run"),
            ),
        },
        Err(error) => usage::explain(&error, borrowed.first().copied(), &borrowed),
    }
}

fn execute(measured: Result<Measurement<'_>, Error>, options: &AbOptions) -> Result<Exit, Error> {
    ab::execute(&measured?, options)
}

/// What is measured, with the target if it stands apart.
fn words(options: &AbOptions) -> Vec<String> {
    let words = options.words.iter();
    let words = words.skip_while(|word| *word == "filestone");
    words.chain(&options.target).cloned().collect()
}
