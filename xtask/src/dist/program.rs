//! The packaged program: built for a target, without paths of this machine, and stripped.

use super::{Machine, Release};
use anyhow::{Context, Result, bail};
use filestone_interop::tool;
use std::path::{Path, PathBuf};
use std::process::Command;

/// C library of a program, and whether it has MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// musl, linked statically.
    Static,
    /// The system's glibc, linked dynamically.
    Dynamic,
    /// glibc and Open MPI of the system.
    Mpi,
}

impl Variant {
    /// Returns the Rust target triple.
    pub fn target(self, machine: Machine) -> String {
        let libc = match self {
            Self::Static => "musl",
            Self::Dynamic | Self::Mpi => "gnu",
        };
        format!("{}-unknown-linux-{libc}", machine.name())
    }

    /// Returns the Cargo features of the program.
    pub const fn features(self) -> &'static [&'static str] {
        match self {
            Self::Mpi => &["--features", "mpi"],
            Self::Static | Self::Dynamic => &[],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Dynamic => "dynamic",
            Self::Mpi => "mpi",
        }
    }
}

/// Links by LLD, which keeps one of several functions with the same code.
const LINKER_FLAGS: [&str; 2] = ["-Clink-arg=-fuse-ld=lld", "-Clink-arg=-Wl,--icf=all"];

/// Builds a program and strips it; `built` names one that is already built.
pub fn build(release: &Release, variant: Variant, built: Option<&Path>) -> Result<PathBuf> {
    let program = match built {
        Some(built) => built.to_owned(),
        None => compile(release, variant)?,
    };
    let stripped = release
        .work
        .path
        .join(format!("filestone-{}", variant.name()));
    tool::run(
        Command::new(release.machine.tool("strip"))
            .args(["--strip-all", "-o"])
            .args([&stripped, &program]),
    )?;
    Ok(stripped)
}

fn compile(release: &Release, variant: Variant) -> Result<PathBuf> {
    let target = variant.target(release.machine);
    let compiler = compiler(release.machine, variant);
    tool::need(compiler)?;
    require_standard_library(&target)?;
    println!("building for {target}, profile {}", release.profile);
    let folder = filestone_interop::process::target_folder()?;
    let name = target.replace('-', "_");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--quiet", "--locked", "--package", "filestone-cli"])
        .args(["--bin", "filestone", "--profile", &release.profile])
        .args(["--target", &target])
        .args(variant.features())
        .current_dir(&release.root)
        .env("CARGO_TARGET_DIR", &folder)
        .env("COMPILER_PATH", linker_folder()?)
        .env("SOURCE_DATE_EPOCH", release.time.to_string())
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(release, &folder)?)
        .env(format!("CFLAGS_{name}"), c_flags(release, &folder)?);
    if let Some(commit) = &release.commit {
        cargo.env("FILESTONE_COMMIT", commit);
    }
    match variant {
        Variant::Mpi => cargo.env("MPICC", compiler),
        // Rust includes musl itself, so a cross compiler for glibc can link it, too.
        _ if !release.machine.is_host() => cargo.env(format!("CC_{name}"), compiler).env(
            format!("CARGO_TARGET_{}_LINKER", name.to_uppercase()),
            compiler,
        ),
        _ => &mut cargo,
    };
    let status = cargo.status().context("cargo did not start")?;
    if !status.success() {
        bail!("filestone does not build for {target}; Cargo's message is above");
    }
    Ok(folder
        .join(target)
        .join(release.profile_folder())
        .join("filestone"))
}

/// Returns the C compiler for AWS-LC, which is also the linker.
const fn compiler(machine: Machine, variant: Variant) -> &'static str {
    match (variant, machine.is_host()) {
        (Variant::Mpi, _) => "mpicc.openmpi",
        (Variant::Static, true) => "musl-gcc",
        (Variant::Dynamic, true) => "cc",
        (_, false) => machine.cross_compiler(),
    }
}

fn require_standard_library(target: &str) -> Result<()> {
    let asked = ["--print", "target-libdir", "--target", target];
    let folder = tool::text(Command::new("rustc").args(asked))?;
    if !Path::new(folder.trim()).is_dir() {
        bail!(
            "Rust's standard library for {target} is not installed\nhelp: `rustup target add {target}`"
        );
    }
    Ok(())
}

/// Directories of this machine and their names in the program; if several contain a file, the last
/// one applies.
fn renamed(release: &Release, target_folder: &Path) -> Result<Vec<(PathBuf, &'static str)>> {
    let home = std::env::home_dir().context("there is no home directory")?;
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    let sysroot = tool::text(Command::new("rustc").args(["--print", "sysroot"]))?;
    Ok(vec![
        (home, "/home"),
        (cargo, "/cargo"),
        (sysroot.trim().into(), "/rust"),
        (release.root.clone(), "/filestone"),
        (target_folder.to_owned(), "/target"),
    ])
}

fn rust_flags(release: &Release, target_folder: &Path) -> Result<String> {
    let flags = renamed(release, target_folder)?;
    let flags = flags
        .iter()
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()));
    let flags: Vec<String> = flags.chain(LINKER_FLAGS.map(String::from)).collect();
    Ok(flags.join("\u{1f}"))
}

/// Returns the folder of the linker that comes with Rust. It is not named by an option, since options may change the
/// program.
fn linker_folder() -> Result<PathBuf> {
    let asked = ["--print", "target-libdir"];
    let libraries = tool::text(Command::new("rustc").args(asked))?;
    let folder = Path::new(libraries.trim())
        .with_file_name("bin")
        .join("gcc-ld");
    if !folder.is_dir() {
        let folder = folder.display();
        bail!("{folder} is missing: it contains the linker of a Rust that rustup installed");
    }
    Ok(folder)
}

fn c_flags(release: &Release, target_folder: &Path) -> Result<String> {
    let flags = renamed(release, target_folder)?;
    let flags = flags
        .iter()
        .map(|(folder, name)| format!("-ffile-prefix-map={}={name}", folder.display()));
    Ok(flags.collect::<Vec<_>>().join(" "))
}
