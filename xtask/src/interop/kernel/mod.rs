//! filestone against Linux's servers for NFS and SMB, and its clients for both.
//!
//! All run in one machine under QEMU, made from Debian's packages. It is emulated, so that this
//! test runs wherever QEMU does and independent of the host's kernel configuration. It tests
//! correctness; its speed has no significance.

mod guest;
mod image;
mod ksmbd;
mod mounts;
mod scenarios;

use super::{Interop, Needed, checks, fixture, install};
use crate::process;
use anyhow::Result;
use guest::{GUEST, Guest};
use image::Image;
use std::path::PathBuf;
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

/// Environment of a scenario: filestone here, and the guest.
pub struct Ground {
    pub bed: checks::Bed,
    pub guest: Guest,
}

/// Installs missing programs, and makes the guest's image where a network is available.
pub fn prepare() -> Result<()> {
    install(NEEDED)?;
    Image::find_or_make(&folder()?)?;
    Ok(())
}

/// Returns the folder of the image.
fn folder() -> Result<PathBuf> {
    Ok(process::target_folder()?.join("interop-kernel"))
}

/// Runs every check. Returns whether all passed.
pub fn run(options: &Interop, bed: checks::Bed, start: Instant) -> Result<bool> {
    let only = options.only.as_deref();
    let guest = Guest::start(&Image::within(&folder()?), &bed.folder)?;
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
    let ground = Ground { bed, guest };
    is_good &= ksmbd::run(&ground, only)?;
    is_good &= mounts::run(&ground, only, options.thorough)?;
    is_good &= checks::scenarios(&ground, scenarios::ALL, only)?;
    if !is_good {
        eprintln!("what the guest said last:\n{}", ground.guest.final_output());
    }
    Ok(is_good)
}
