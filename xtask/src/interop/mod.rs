//! filestone against a server that is not ours: nfs-ganesha, in a network of
//! its own.
//!
//! The server, the port mapper and this program run in new network, mount and
//! process namespaces. So ports 111 and 2049 cannot collide with anybody's, and
//! when the first process of the namespace ends, the kernel ends all others.

mod checks;
mod fixture;
mod ganesha;
mod loads;
mod mixes;

use crate::process::{self, Folder};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Options of `cargo xtask interop`.
#[derive(Debug, Clone, Args)]
pub struct Interop {
    /// Operations per run
    #[arg(long, default_value_t = 50)]
    pub count: u32,
    /// Also print the load that NULL and GETATTR achieve
    #[arg(long)]
    pub figures: bool,
    /// Only the situations whose names hold this
    #[arg(long)]
    pub only: Option<String>,
    /// The filestone to test; set by this program for its own second half
    #[arg(long, hide = true)]
    pub inside: Option<PathBuf>,
}

/// Programs, and the Debian packages they are in.
const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/ganesha.nfsd", "nfs-ganesha"),
    ("/usr/lib/*/ganesha/libfsalvfs.so", "nfs-ganesha-vfs"),
    ("/usr/lib/*/ganesha/libfsalmem.so", "nfs-ganesha-mem"),
    ("/usr/sbin/rpcbind", "rpcbind"),
    ("/usr/bin/dbus-daemon", "dbus"),
    ("/usr/sbin/rpc.statd", "nfs-common"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
    ("/usr/bin/dbench", "dbench"),
];

/// Runs every check; whether all went well.
pub fn run(options: &Interop) -> Result<bool> {
    match &options.inside {
        None => outside(options),
        Some(filestone) => inside(options, filestone.clone()),
    }
}

/// Installs what is missing and starts the second half in its own namespaces.
fn outside(options: &Interop) -> Result<bool> {
    if !rustix::process::geteuid().is_root() {
        bail!(
            "interop: this user may not make network namespaces\nhelp: run `sudo -E cargo xtask interop`, or as root in a container"
        );
    }
    install(NEEDED)?;
    let filestone = process::build_filestone()?;
    let mut command = Command::new("unshare");
    command.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    // The shell is the first process of the namespace: one that ignores ^C, so
    // that the program below it can clean up, and whose end ends the rest.
    command
        .args(["--", "sh", "-c", "\"$@\"; exit $?", "interop"])
        .arg(std::env::current_exe()?)
        .arg("interop")
        .arg(format!("--count={}", options.count))
        .args(options.figures.then_some("--figures"))
        .args(options.only.as_ref().map(|only| format!("--only={only}")))
        .arg("--inside")
        .arg(filestone);
    let status = command.status().context("unshare did not start")?;
    Ok(status.success())
}

/// Whether a file of that name, with at most one `*` for a folder, is there.
fn is_there(pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return std::path::Path::new(pattern).exists();
    };
    std::fs::read_dir(before)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.path().join(after.trim_start_matches('/')).exists())
}

/// Installs the packages of programs that are not there.
pub fn install(needed: &[(&str, &'static str)]) -> Result<()> {
    let mut missing: Vec<&str> = needed
        .iter()
        .filter(|(file, _)| !is_there(file))
        .map(|(_, package)| *package)
        .collect();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    for arguments in [
        vec!["update", "-q"],
        [
            vec!["install", "-q", "-y", "--no-install-recommends"],
            missing.clone(),
        ]
        .concat(),
    ] {
        let status = Command::new("apt-get")
            .args(&arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
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

/// The second half, alone in its namespaces.
fn inside(options: &Interop, filestone: PathBuf) -> Result<bool> {
    let start = Instant::now();
    let folder = Folder::new("interop")?;
    let server = ganesha::Ganesha::start(&folder.path)?;
    println!(
        "nfs-ganesha {} is up after {:.1} s",
        server.version,
        start.elapsed().as_secs_f64()
    );
    fixture::make("/export")?;
    fixture::make("/mem")?;
    let bed = checks::Bed {
        filestone,
        folder: folder.path.clone(),
        count: options.count,
    };
    let mut is_good = options.only.is_some() || checks::procedures(&bed)?;
    let all = [checks::SITUATIONS, loads::SITUATIONS, mixes::SITUATIONS];
    for situations in all {
        let wanted = situations.iter().copied().filter(|(name, _)| {
            let only = options.only.as_ref();
            only.is_none_or(|only| name.contains(only.as_str()))
        });
        is_good &= checks::situations(&bed, &wanted.collect::<Vec<_>>())?;
    }
    if options.figures {
        checks::figures(&bed)?;
    }
    if !is_good {
        eprintln!("what nfs-ganesha said last:\n{}", server.last_words());
    }
    is_good &= checks::server_stops(&bed, server)?;
    println!("interop: {:.1} s", start.elapsed().as_secs_f64());
    Ok(is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_behind_a_folder_that_varies() {
        assert!(is_there("/proc/*/status"));
        assert!(!is_there("/proc/*/no-such-file"));
        assert!(is_there("/proc"));
    }
}
