//! `filestone completions`: a completion script for a shell.

use crate::error::Error;
use crate::options::CompletionsOptions;
use crate::{ExitStatus, console, topics};
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

/// Prints the script.
pub fn run(options: &CompletionsOptions) -> Result<ExitStatus, Error> {
    console::result(&String::from_utf8_lossy(&script(options.shell)))?;
    Ok(ExitStatus::Done)
}

/// Returns the script for a shell; it completes commands and topics behind `help`.
pub fn script(shell: Shell) -> Vec<u8> {
    let command = crate::command();
    let commands = command
        .get_subcommands()
        .map(|one| one.get_name().to_string());
    let topics = topics::names().map(String::from);
    let mut words: Vec<String> = commands.chain(topics).collect();
    words.sort_unstable();
    words.dedup();
    let words = PossibleValuesParser::new(words);
    let with_words = |help: clap::Command| help.mut_arg("words", |arg| arg.value_parser(words));
    let mut command = command.mut_subcommand("help", with_words);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "filestone", &mut script);
    script
}
