//! filestone against Linux's servers for NFS and SMB, and its clients for both.
//!
//! All run in one machine under QEMU, made from Debian's packages. It is emulated, so that this
//! test runs wherever QEMU does and independent of the host's kernel configuration. It tests
//! correctness; its speed has no significance.

mod ksmbd;

use super::{Interop, checks, fixture};
use crate::guest::{GUEST, Guest, HOST};
use crate::process;
use crate::scenario::{self, Bed};
use crate::tool::{Needed, install};
use anyhow::{Result, ensure};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

const NEEDED: &Needed = &[
    ("/usr/bin/qemu-system-x86_64", "qemu-system-x86"),
    ("/usr/bin/xz", "xz-utils"),
    ("/usr/sbin/mkfs.ext4", "e2fsprogs"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
    ("/usr/bin/smbclient", "smbclient"),
];

/// Configurations for a test of all procedures.
const WAYS: &[checks::Way] = &[
    ("TCP tmpfs", GUEST, "/export", "tcp"),
    ("UDP tmpfs", GUEST, "/export", "udp"),
    ("TCP ext4", GUEST, "/ext4", "tcp"),
];

/// Scenarios against Linux's server and client.
pub const SHEET: &str = include_str!("../sheets/kernel.toml");

/// Installs missing programs, and makes the guest's image where a network is available.
pub fn prepare() -> Result<()> {
    install(NEEDED)?;
    let source = crate::root().join("tests/interop/src/peers/kernel");
    let mut command = Command::new("bash");
    command
        .arg(source.join("image.sh"))
        .arg(folder()?)
        .arg(source.join("init.sh"));
    let status = process::run_other_half(&mut command)?;
    ensure!(status.success(), "no image of a guest: {status}");
    Ok(())
}

/// Returns the folder of the image.
fn folder() -> Result<PathBuf> {
    Ok(process::target_folder()?.join("interop-kernel"))
}

/// Runs every check. Returns whether all passed.
pub fn run(options: &Interop, mut bed: Bed, start: Instant) -> Result<bool> {
    let only = options.only.as_deref();
    let image = folder()?;
    let (kernel, root) = (image.join("kernel"), image.join("initramfs"));
    let guest = Guest::start(&kernel, &root, &bed.folder)?;
    println!(
        "Linux {} is up after {:.1} s",
        guest.kernel,
        start.elapsed().as_secs_f64()
    );
    guest.bring(&bed.filestone, "filestone")?;
    for export in ["/export", "/ext4"] {
        fixture::make(GUEST, export)?;
    }
    let mut is_good = only.is_some() || checks::procedures(&bed, WAYS)?;
    bed.define("guest", GUEST);
    bed.define("host", HOST);
    bed.guest = Some(guest);
    is_good &= ksmbd::run(&bed, only)?;
    is_good &= scenario::run(SHEET, &[], &bed, options.selection())?;
    if !is_good {
        let said = bed.guest()?.final_output();
        eprintln!("what the guest said last:\n{said}");
    }
    Ok(is_good)
}
