//! Jobs of many hosts: filestone built with MPI, started by the launchers of Open MPI and MPICH,
//! with ranks on one host and on hosts that are network namespaces, and with ranks that die or
//! stop.

use super::Interop;
use crate::process::{self, Folder};
use crate::scenario::{self, Bed};
use crate::tool::{Needed, install};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Programs that both MPI families need.
const NEEDED: &Needed = &[
    ("/usr/lib/*/lib/libclang.so", "libclang-dev"),
    ("/usr/sbin/ip", "iproute2"),
];
/// Programs that the thorough scenarios need.
const FOR_THOROUGH: &Needed = &[
    ("/usr/bin/nfs-ls", "libnfs-utils"),
    ("/usr/bin/curl", "curl"),
    ("/usr/sbin/slurmctld", "slurmctld"),
    ("/usr/sbin/slurmd", "slurmd"),
    ("/usr/bin/srun", "slurm-client"),
    ("/usr/sbin/munged", "munge"),
    (
        "/usr/lib/*/slurm-wlm/mpi_pmix.so",
        "slurm-wlm-basic-plugins",
    ),
];

/// An MPI implementation, with the Debian names of its programs.
struct Family {
    name: &'static str,
    needed: &'static Needed,
    compiler: &'static str,
    /// A setting without effect on the build, so that Cargo keeps the artifacts for the two
    /// families' headers separate: it does not track `MPICC`.
    apart: &'static str,
    /// Scenarios: those of all families, and those of this one.
    sheet: &'static str,
    /// Variables of the scenarios, which describe them.
    variables: &'static [(&'static str, &'static str)],
}

const FAMILIES: [Family; 2] = [
    Family {
        name: "Open MPI",
        needed: &[
            ("/usr/bin/mpicc.openmpi", "libopenmpi-dev"),
            ("/usr/bin/mpirun.openmpi", "openmpi-bin"),
        ],
        compiler: "/usr/bin/mpicc.openmpi",
        apart: "profile.dev.package.mpi-sys.codegen-units=2",
        sheet: concat!(
            include_str!("sheets/mpi.toml"),
            include_str!("sheets/mpi_openmpi.toml")
        ),
        variables: &[
            ("family", "Open MPI"),
            (
                "launcher",
                "/usr/bin/mpirun.openmpi --allow-run-as-root --oversubscribe",
            ),
            (
                "hosts",
                "--host 10.77.0.1:1,10.77.0.2:1 --mca oob_tcp_if_include 10.77.0.0/24 --mca \
                 btl_tcp_if_include 10.77.0.0/24 --mca btl tcp,self --mca plm_rsh_agent",
            ),
            ("survives", "--enable-recovery"),
            ("slurm", "--mpi=pmix"),
        ],
    },
    Family {
        name: "MPICH",
        needed: &[
            ("/usr/bin/mpicc.mpich", "libmpich-dev"),
            ("/usr/bin/mpirun.mpich", "mpich"),
        ],
        compiler: "/usr/bin/mpicc.mpich",
        apart: "profile.dev.package.mpi-sys.codegen-units=3",
        sheet: concat!(
            include_str!("sheets/mpi.toml"),
            include_str!("sheets/mpi_mpich.toml")
        ),
        variables: &[
            ("family", "MPICH"),
            ("launcher", "/usr/bin/mpirun.mpich"),
            (
                "hosts",
                "-hosts 10.77.0.1,10.77.0.2 -launcher ssh -launcher-exec",
            ),
            ("slurm", "--mpi=pmi2"),
        ],
    },
];

/// Builds filestone for both families, and runs the scenarios of each in separate namespaces.
pub fn run(options: &Interop) -> Result<bool> {
    install(NEEDED)?;
    if options.thorough {
        install(FOR_THOROUGH)?;
    }
    let mut is_good = true;
    for (number, family) in FAMILIES.iter().enumerate() {
        install(family.needed)?;
        let begun = Instant::now();
        let folder = Folder::new("interop-mpi")?;
        let filestone = build(family, &folder.path)?;
        let (name, seconds) = (family.name, begun.elapsed().as_secs_f64());
        println!("{name}: built in {seconds:.0} s");
        is_good &= super::second_half(&filestone, number)?;
    }
    Ok(is_good)
}

/// Runs the scenarios of a family.
pub fn inside(options: &Interop, mut bed: Bed) -> Result<bool> {
    let family = FAMILIES
        .get(options.family)
        .context("there is no such family")?;
    for (name, value) in family.variables {
        bed.define(name, value);
    }
    scenario::run(family.sheet, &[], &bed, options.selection())
}

/// Builds filestone with this family's headers, and copies it into `folder`.
///
/// Cargo unifies the features of dependencies over everything built together. With the whole
/// workspace and one of its tests, they are those of CI's tests, so that their libraries are
/// reused: only what depends on MPI is compiled.
fn build(family: &Family, folder: &Path) -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--workspace"])
        .args(["--bin", "filestone", "--test", "job"])
        .args(["--features", "filestone-cli/mpi,xtask/chores"])
        .args(["--config", family.apart])
        .env("MPICC", family.compiler)
        .current_dir(crate::root())
        .status()
        .context("cargo did not start")?;
    let name = family.name;
    ensure!(status.success(), "filestone does not build with {name}");
    let built = folder.join("filestone");
    let target = process::target_folder()?;
    std::fs::copy(target.join("debug/filestone"), &built)?;
    Ok(built)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sheet_can_be_read() {
        for family in &FAMILIES {
            scenario::check_sheet(family.sheet, &[]);
        }
    }
}
