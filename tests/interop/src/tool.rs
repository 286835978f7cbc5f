//! Programs of the system.

use crate::interrupted;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

/// Programs, and the Debian packages that contain them.
pub type Needed = [(&'static str, &'static str)];

/// Programs, and the Debian packages that contain them, where their names differ.
const PACKAGES: &Needed = &[
    ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    ("aarch64-linux-gnu-strip", "binutils-aarch64-linux-gnu"),
    ("chroot", "coreutils"),
    ("dpkg-deb", "dpkg"),
    ("mpicc.openmpi", "libopenmpi-dev libclang-dev"),
    ("musl-gcc", "musl-tools"),
    ("readelf", "binutils"),
    ("rpmbuild", "rpm"),
    ("strip", "binutils"),
];

/// Runs a program to its end and returns its output, whatever its exit status.
pub fn outcome(command: &mut Command) -> Result<Output> {
    interrupted::check()?;
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    interrupted::check()?;
    match output {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(missing(&name)),
        other => other.with_context(|| format!("{name} did not start")),
    }
}

/// Runs a program that must succeed. Returns its standard output.
pub fn text(command: &mut Command) -> Result<String> {
    let output = outcome(command)?;
    if !output.status.success() {
        let name = command.get_program().to_string_lossy();
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{name} ended with {}: {}", output.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program that must succeed.
pub fn run(command: &mut Command) -> Result<()> {
    text(command).map(drop)
}

/// Fails unless this program can be started.
pub fn need(name: &str) -> Result<()> {
    // Some programs return an error for --version; only the start matters.
    outcome(Command::new(name).arg("--version")).map(drop)
}

fn missing(name: &str) -> anyhow::Error {
    let package = PACKAGES.iter().find(|(program, _)| *program == name);
    let package = package.map_or(name, |(_, package)| package);
    anyhow::anyhow!("{name} is not installed\nhelp: on Debian, `apt-get install {package}`")
}

/// Whether a file with this name exists; the name may contain one `*` for a folder.
fn exists(pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return Path::new(pattern).exists();
    };
    std::fs::read_dir(before)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.path().join(after.trim_start_matches('/')).exists())
}

/// Directory of apt's package lists: if two processes update them at the same time, one fails
/// without waiting.
const LISTS: &str = "/var/lib/apt/lists";

/// Installs the packages of missing programs.
pub fn install(needed: &Needed) -> Result<()> {
    let mut missing: Vec<&str> = needed
        .iter()
        .filter(|(file, _)| !exists(file))
        .map(|(_, package)| *package)
        .collect();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    // One xtask at a time, until the file is closed.
    let lists = File::open(LISTS).ok();
    if let Some(lists) = &lists {
        lists.lock().context(LISTS)?;
    }
    for arguments in [
        vec!["update", "-q"],
        [
            vec!["install", "-q", "-y", "--no-install-recommends"],
            missing.clone(),
        ]
        .concat(),
    ] {
        let status = Command::new("apt-get")
            // Another program may be installing packages.
            .args(["-o", "DPkg::Lock::Timeout=300"])
            .args(&arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            // In the single-user runlevel, invoke-rc.d(8) does not start services of a new package.
            .env("RUNLEVEL", "1")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            bail!(
                "`apt-get {}` failed\nhelp: the packages {} are Debian's; elsewhere, install what they hold",
                arguments.join(" "),
                missing.join(" ")
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let error = need("no-such-program").expect_err("it is not there");
        assert!(
            error
                .to_string()
                .contains("apt-get install no-such-program")
        );
        assert!(missing("musl-gcc").to_string().ends_with("musl-tools`"));
    }

    #[test]
    fn a_program_that_fails_is_named_with_what_it_says() {
        let error = text(Command::new("sh").args(["-c", "echo no room >&2; exit 3"]));
        let error = error.expect_err("exit code 3").to_string();
        assert!(error.contains("sh") && error.contains("no room"), "{error}");
    }

    #[test]
    fn a_program_is_found_behind_a_folder_that_varies() {
        assert!(exists("/proc/*/status"));
        assert!(!exists("/proc/*/no-such-file"));
        assert!(exists("/proc"));
    }
}
