//! Runs the README's commands in order, as they are written.
//!
//! The commands are meant for a user's server: here it is nfs-ganesha, or a small Samba, and
//! commands that would take minutes are shortened to a second or less.

use crate::scenario::Bed;
use crate::{process, record};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time limit of a single command.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Default width of a terminal.
const COLUMNS: usize = 80;

/// Server URL in the README.
const SERVER: &str = "nfs://server/export";

/// A server that replaces the README's.
pub struct Place<'p> {
    /// Target URL for the commands.
    pub target: &'p str,
    /// Password of its user, for the environment.
    pub password: Option<&'p str>,
    /// Options that shorten a run with default duration, and each run of a ladder.
    pub usual: &'p str,
    pub ladder: &'p str,
    /// Largest supported READ size, used in place of the README's 128 KiB.
    pub longest: &'p str,
}

/// Runs all commands against nfs-ganesha.
pub fn the_commands(bed: &Bed) -> Result<String> {
    let place = Place {
        target: "nfs://127.0.0.1/export",
        password: None,
        usual: "-d 500ms",
        ladder: "-d 250ms",
        longest: "128K",
    };
    on(bed, &bed.folder.join("readme"), &place)
}

/// Runs the commands in a shell in a new folder, against this server.
pub fn on(bed: &Bed, folder: &Path, place: &Place<'_>) -> Result<String> {
    let page = std::fs::read_to_string(crate::root().join("README.md"))?;
    std::fs::create_dir(folder)?;
    let commands = commands(&page);
    if commands.len() < 8 {
        bail!("only {} commands were found", commands.len());
    }
    let mut wrong = Vec::new();
    for command in &commands {
        let mut shell = in_a_shell(bed, folder, &shortened(command, place))?;
        shell.envs(
            place
                .password
                .map(|password| ("FILESTONE_PASSWORD", password)),
        );
        let output = process::run(&mut shell, &[], folder, COMMAND_LIMIT)
            .with_context(|| (*command).to_owned())?;
        // On a busy host an open loop may be late.
        let is_right = is_as_it_should(command, output.status.code()) || record::is_late(&output);
        if !is_right {
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

/// Returns the commands for a server from the blocks of code; without commands behind a pipe, which
/// are about another machine.
fn commands(page: &str) -> Vec<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with("filestone ") && line.contains(SERVER))
        .collect()
}

/// Whether this exit code is acceptable. Findings of `doctor` about a server on this host are
/// warnings.
fn is_as_it_should(command: &str, code: Option<i32>) -> bool {
    code == Some(0) || code == Some(1) && is_doctor(command)
}

fn is_doctor(command: &str) -> bool {
    command.starts_with("filestone doctor ")
}

/// Returns the same command for this server, shortened.
fn shortened(command: &str, place: &Place<'_>) -> String {
    let command = command.split(" #").next().unwrap_or(command).trim();
    let more = if command.contains("--curve") {
        "--points 2 --peak 500 --point-duration 1s --point-warm-up 2s"
    } else if command.contains("--slo") {
        "--search-timeout 5s"
    } else if command.contains(" -d ") || command.contains(" --duration ") || is_doctor(command) {
        ""
    } else if command.starts_with("filestone ladder ") {
        place.ladder
    } else {
        place.usual
    };
    let command = command.replace("128K", place.longest);
    format!("{} {more}", command.replace(SERVER, place.target))
}

fn in_a_shell(bed: &Bed, folder: &Path, command: &str) -> Result<Command> {
    // The name in the README, whatever the tested file is called.
    let programs = folder.join("programs");
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
    Ok(shell)
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
        let place = Place {
            target: "smb://here/share",
            password: None,
            usual: "-d 1s",
            ladder: "-d 1ms",
            longest: "64K",
        };
        assert_eq!(
            shortened(found[0], &place),
            "filestone probe null smb://here/share -d 1s"
        );
        let doctor = "filestone doctor nfs://server/export # what will spoil it";
        assert_eq!(
            shortened(doctor, &place).trim(),
            "filestone doctor smb://here/share"
        );
        let ladder = shortened("filestone ladder nfs://server/export", &place);
        assert!(ladder.ends_with("-d 1ms"), "{ladder}");
        assert!(is_as_it_should(doctor, Some(1)) && !is_as_it_should(doctor, Some(2)));
        assert!(!is_as_it_should(found[0], Some(1)));
    }
}
