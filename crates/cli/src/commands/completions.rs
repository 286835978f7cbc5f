//! `filestone completions`: a script for a shell.

use crate::error::Error;
use crate::options::CompletionsOptions;
use crate::{Exit, console};

/// Prints the script.
pub fn run(options: &CompletionsOptions) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(
        options.shell,
        &mut crate::command(),
        "filestone",
        &mut script,
    );
    console::result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
