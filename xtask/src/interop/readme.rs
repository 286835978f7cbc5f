//! The README's commands, as they stand there, one after the other.
//!
//! They are for people in front of a server of theirs: here it is nfs-ganesha, and what would
//! take minutes is told to take a second.

use super::checks::{Bed, Situation};
use crate::{process, tidy};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// No single command takes longer.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// What a terminal has that nobody has made wider.
const COLUMNS: usize = 80;

/// All of them.
pub const SITUATIONS: &[Situation] = &[("the README's commands", the_commands)];

/// What the README has for a server, and what it is here.
const SERVER: (&str, &str) = ("nfs://server/export", "nfs://127.0.0.1/export");

fn the_commands(bed: &Bed) -> Result<String> {
    let page = std::fs::read_to_string(tidy::root()?.join("README.md"))?;
    let folder = bed.folder.join("readme");
    std::fs::create_dir(&folder)?;
    let commands = commands(&page);
    if commands.len() < 8 {
        bail!("only {} commands were found", commands.len());
    }
    let mut wrong = Vec::new();
    for command in &commands {
        let output = in_a_shell(bed, &folder, &shortened(command))?;
        if !is_as_it_should(command, output.status.code()) {
            let said = String::from_utf8_lossy(&output.stderr);
            wrong.push(format!("`{command}`: {}: {}", output.status, said.trim()));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        if let Some(line) = said.lines().find(|line| line.chars().count() > COLUMNS) {
            wrong.push(format!("`{command}`: wider than {COLUMNS} columns: {line}"));
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(format!("{} measured, in {COLUMNS} columns", commands.len()))
}

/// Those about a server, from the blocks of code; without what comes out of a pipe, which is
/// about another machine.
fn commands(page: &str) -> Vec<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with("filestone ") && line.contains(SERVER.0))
        .collect()
}

/// Whether a command may end so. What doctor has to say of a server on this host is a warning.
fn is_as_it_should(command: &str, code: Option<i32>) -> bool {
    code == Some(0) || code == Some(1) && is_doctor(command)
}

fn is_doctor(command: &str) -> bool {
    command.starts_with("filestone doctor ")
}

/// The same with the server that is here, and in little time.
fn shortened(command: &str) -> String {
    let command = command.split(" #").next().unwrap_or(command).trim();
    let more = if command.contains("--curve") {
        "--points 2 --peak 500 --point-duration 1s --point-warm-up 2s"
    } else if command.contains("--slo") {
        "--search-time 5s"
    } else if command.contains(" -d ") || command.contains(" --duration ") || is_doctor(command) {
        ""
    } else {
        "-d 1s"
    };
    format!("{} {more}", command.replace(SERVER.0, SERVER.1))
}

fn in_a_shell(bed: &Bed, folder: &Path, command: &str) -> Result<std::process::Output> {
    // Whatever the file is called that is tried, this is its name in the README.
    let programs = bed.folder.join("programs");
    if !programs.exists() {
        std::fs::create_dir(&programs)?;
        std::os::unix::fs::symlink(&bed.filestone, programs.join("filestone"))?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(folder)
        .env("COLUMNS", COLUMNS.to_string())
        .env("PATH", format!("{}:{path}", programs.display()));
    process::run(&mut shell, &[], &bed.folder, COMMAND_LIMIT).with_context(|| command.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_as_they_are_and_made_short() {
        let page = "filestone probe null nfs://server/export\n\n    filestone demo\n    \
                    filestone probe null nfs://server/export   # the path to it\n";
        let found = commands(page);
        assert_eq!(found.len(), 1);
        assert_eq!(
            shortened(found[0]),
            "filestone probe null nfs://127.0.0.1/export -d 1s"
        );
        let doctor = "filestone doctor nfs://server/export # what will spoil it";
        assert_eq!(
            shortened(doctor).trim(),
            "filestone doctor nfs://127.0.0.1/export"
        );
        assert!(is_as_it_should(doctor, Some(1)) && !is_as_it_should(doctor, Some(2)));
        assert!(!is_as_it_should(found[0], Some(1)));
    }
}
