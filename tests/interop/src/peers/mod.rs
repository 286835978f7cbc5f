//! filestone against foreign peers: nfs-ganesha, Linux's servers and client, Samba, or Prometheus,
//! in a separate network.
//!
//! The server, the port mapper and this program run in new network, mount and process namespaces.
//! So ports 111 and 2049 cannot conflict with other programs, and when the first process of the
//! namespace ends, the kernel ends all others.

mod addresses;
mod browser;
mod checks;
mod fixture;
mod ganesha;
mod kernel;
mod mpi;
mod readme;
mod samba;
mod smb;

use crate::process::{self, Folder};
use crate::scenario::{self, Bed, Code, Selection};
use crate::tool::{self, Needed, install};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// NFS port of nfs-ganesha.
const NFS_PORT: u16 = 2049;
/// MOUNT port of nfs-ganesha.
const MOUNT_PORT: u16 = 20_048;

/// Options of `cargo xtask interop`.
#[derive(Debug, Clone, Args)]
pub struct Interop {
    /// The peer of the tests
    #[arg(value_enum, default_value_t = Peer::Ganesha)]
    pub peer: Peer,
    /// Operations per run, and MAC-VLANs of the addresses
    #[arg(long, default_value_t = 50)]
    pub count: u32,
    /// Every dialect of SMB with every protection where the kernel mounts the built-in share, and all
    /// checks; the report of an hour; the curve and the objective of a queue that is known; jobs of many
    /// hosts that Slurm starts, with a rank killed, stopped or slowed in each phase
    #[arg(long)]
    pub thorough: bool,
    /// Only the scenarios whose names hold this
    #[arg(long)]
    pub only: Option<String>,
    /// Save pictures of the live page in this folder
    #[arg(long)]
    pub pictures: Option<PathBuf>,
    /// The filestone to test; set by this program for its own second half
    #[arg(long, hide = true)]
    pub inside: Option<PathBuf>,
    /// The MPI implementation; set by this program, too
    #[arg(long, hide = true, default_value_t = 0)]
    pub family: usize,
}

impl Interop {
    fn selection(&self) -> Selection<'_> {
        Selection {
            only: self.only.as_deref(),
            is_thorough: self.thorough,
        }
    }
}

/// A foreign peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// nfs-ganesha, and dbench with its loads
    Ganesha,
    /// Linux's servers and clients of NFS and SMB, in a machine under QEMU
    Kernel,
    /// Chromium, that looks at the live page
    Browser,
    /// Samba, in every configuration that a client must cope with
    Samba,
    /// Prometheus, which scrapes a run and evaluates the queries of the dashboard
    Prometheus,
    /// Jobs of many hosts: Open MPI and MPICH
    Mpi,
    /// Another host, for the addresses of a fleet
    Addresses,
}

/// Programs for nfs-ganesha.
const FOR_GANESHA: &Needed = &[
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

/// Programs for Prometheus.
const FOR_PROMETHEUS: &Needed = &[
    ("/usr/bin/prometheus", "prometheus"),
    ("/usr/bin/curl", "curl"),
    ("/usr/bin/jq", "jq"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];

/// Programs for network namespaces.
const FOR_ADDRESSES: &Needed = &[
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];

/// Runs every check. Returns whether all passed.
pub fn run(options: &Interop) -> Result<bool> {
    match &options.inside {
        None => outside(options),
        Some(filestone) => inside(options, filestone.clone()),
    }
}

/// Installs missing programs and starts the second half in separate namespaces.
fn outside(options: &Interop) -> Result<bool> {
    if !rustix::process::geteuid().is_root() {
        bail!(
            "interop: this user may not make network namespaces\nhelp: run `sudo -E cargo xtask interop`, or as root in a container"
        );
    }
    match options.peer {
        Peer::Ganesha => install(FOR_GANESHA)?,
        Peer::Browser => install(browser::NEEDED)?,
        Peer::Kernel => kernel::prepare()?,
        Peer::Samba => {
            install(crate::samba::NEEDED)?;
            install(samba::NEEDED)?;
        }
        Peer::Prometheus => install(FOR_PROMETHEUS)?,
        Peer::Addresses => install(FOR_ADDRESSES)?,
        Peer::Mpi => return mpi::run(options),
    }
    second_half(&process::build_filestone("release")?, 0)
}

/// Runs the second half, with the options of this one, in separate namespaces.
fn second_half(filestone: &Path, family: usize) -> Result<bool> {
    let mut command = Command::new("unshare");
    command.args("--net --mount --pid --fork --kill-child --mount-proc".split(' '));
    // The shell is the first process of the namespace: it ignores ^C, so that the program below it
    // can clean up, and its end ends the rest.
    command
        .args(["--", "sh", "-c", "\"$@\"; exit $?", "interop"])
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .arg(format!("--family={family}"))
        .arg("--inside")
        .arg(filestone);
    let status = process::run_other_half(&mut command)?;
    Ok(status.success())
}

/// Runs the checks in the new namespaces.
fn inside(options: &Interop, filestone: PathBuf) -> Result<bool> {
    let start = Instant::now();
    let folder = Folder::new("interop")?;
    let mut bed = Bed::new(filestone, &folder.path, options.count);
    bed.define("root", crate::root().display());
    succeed("ip", &["link", "set", "lo", "up"])?;
    let is_good = match options.peer {
        Peer::Ganesha => against_ganesha(options, &mut bed, start)?,
        Peer::Browser => browser::run(&bed, options)?,
        Peer::Kernel => kernel::run(options, bed, start)?,
        Peer::Samba => samba::run(options.selection(), bed, start)?,
        Peer::Prometheus => scenario::run(PROMETHEUS, &[], &bed, options.selection())?,
        Peer::Addresses => addresses::run(options.selection(), bed)?,
        Peer::Mpi => mpi::inside(options, bed)?,
    };
    println!("interop: {:.1} s", start.elapsed().as_secs_f64());
    Ok(is_good)
}

/// Scenarios against nfs-ganesha.
const GANESHA: &str = include_str!("sheets/ganesha.toml");
const GANESHA_LAST: &str = include_str!("sheets/ganesha_last.toml");
/// Scenarios with Prometheus.
const PROMETHEUS: &str = include_str!("sheets/prometheus.toml");
const GANESHA_CODES: &[Code<Bed>] = &[("the README's commands", readme::the_commands)];

fn against_ganesha(options: &Interop, bed: &mut Bed, start: Instant) -> Result<bool> {
    let server = ganesha::Ganesha::start(&bed.folder)?;
    println!(
        "nfs-ganesha {} is up after {:.1} s",
        server.version,
        start.elapsed().as_secs_f64()
    );
    for export in ganesha::EXPORTS {
        fixture::make(ganesha::HOST, export)?;
    }
    bed.define("ganesha", server.id());
    let mut is_good = options.only.is_some() || checks::procedures(bed, checks::WAYS)?;
    is_good &= scenario::run(GANESHA, GANESHA_CODES, bed, options.selection())?;
    if !is_good {
        eprintln!("what nfs-ganesha said last:\n{}", server.final_output());
    }
    Ok(is_good & scenario::run(GANESHA_LAST, &[], bed, Selection::default())?)
}

/// Runs a program that must succeed.
fn succeed(program: &str, arguments: &[&str]) -> Result<()> {
    let done = tool::run(Command::new(program).args(arguments));
    done.with_context(|| arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<B>(codes: &[Code<B>]) -> Vec<&'static str> {
        codes.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn every_sheet_can_be_read_and_its_functions_exist() {
        scenario::check_sheet(GANESHA, &names(GANESHA_CODES));
        scenario::check_sheet(GANESHA_LAST, &[]);
        scenario::check_sheet(addresses::SHEET, &[]);
        scenario::check_sheet(PROMETHEUS, &[]);
        scenario::check_sheet(kernel::SHEET, &[]);
        scenario::check_sheet(samba::SHEET, &names(samba::CODES));
    }
}
