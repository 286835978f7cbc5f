//! Packages: a static program, packages for Debian and RPM, an image, the source, a list of the
//! program's libraries, and checksums. The same commit gives the same bytes, wherever it is built.
//!
//! Made with Debian's tools, which install in seconds; compiling cargo-deb and cargo-generate-rpm
//! would take minutes.

mod archive;
mod check;
mod content;
mod crates;
mod deb;
mod depends;
mod files;
mod image;
mod notices;
mod program;
mod rpm;
mod sbom;

use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use filestone_interop::process::Folder;
use filestone_interop::tool;
use program::Variant;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maintainer of the packages.
const MAINTAINER: &str = "filestone maintainers <maintainers@filestone.example>";
/// Summary line of the packages.
const SUMMARY: &str = "benchmark for NFS, SMB, TCP and local file servers";
/// Description of the packages.
const DESCRIPTION: &str = "filestone puts load on file servers and reports response times and throughput \
    with their intervals. It speaks NFSv3 and SMB2/3 from user space and needs neither root nor a mount.";
const HOMEPAGE: &str = env!("CARGO_PKG_REPOSITORY");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of `cargo xtask dist`.
#[derive(Debug, Clone, Args)]
pub struct Dist {
    /// Cargo's profile for programs
    #[arg(long, default_value = "dist")]
    pub profile: String,
    /// Processor that the packages are for
    #[arg(long, value_enum, default_value_t = Machine::host())]
    pub target: Machine,
    /// Make or check only these [default: all but mpi, which needs Open MPI]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub only: Vec<Kind>,
    /// Directory of the packages, to write or to check them [default: packages in Cargo's target directory]
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Package this program, built already, in .deb and .rpm
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub program: Option<PathBuf>,
    /// Install, run and remove the packages that are there, in a Debian root made for it; needs root
    #[arg(long)]
    pub check: bool,
}

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Machine {
    /// 64-bit x86
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit ARM
    #[value(name = "aarch64")]
    Aarch64,
}

impl Machine {
    const fn host() -> Self {
        if cfg!(target_arch = "aarch64") {
            Self::Aarch64
        } else {
            Self::X86_64
        }
    }

    const fn is_host(self) -> bool {
        matches!(
            (self, Self::host()),
            (Self::X86_64, Self::X86_64) | (Self::Aarch64, Self::Aarch64)
        )
    }

    /// Returns the architecture name of Rust and RPM.
    const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Returns the architecture name of Debian and images.
    const fn debian_name(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    const fn cross_compiler(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux-gnu-gcc",
            Self::Aarch64 => "aarch64-linux-gnu-gcc",
        }
    }

    /// Returns the name of a binutils program for this architecture.
    fn tool(self, name: &str) -> String {
        if self.is_host() {
            name.into()
        } else {
            format!("{}-linux-gnu-{name}", self.name())
        }
    }
}

/// A package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A static program, with man pages and completions, as .tar.gz
    Static,
    /// Debian's package
    Deb,
    /// The package of Fedora, RHEL and SUSE
    Rpm,
    /// An OCI image with the static program
    Image,
    /// The source, as .tar.gz
    Source,
    /// The program's libraries, as CycloneDX
    Sbom,
    /// Debian's package filestone-mpi, with Open MPI
    Mpi,
}

/// Programs that making a package needs, and the Debian packages that contain them.
const TO_MAKE: &[(Kind, &str, &str)] = &[
    (Kind::Static, "/usr/bin/musl-gcc", "musl-tools"),
    (Kind::Image, "/usr/bin/musl-gcc", "musl-tools"),
    (Kind::Rpm, "/usr/bin/rpmbuild", "rpm"),
    (Kind::Mpi, "/usr/bin/mpicc.openmpi", "libopenmpi-dev"),
    (Kind::Mpi, "/usr/lib/*/lib/libclang.so", "libclang-dev"),
];
/// Programs that checking a package needs, and the Debian packages that contain them.
const TO_CHECK: &[(Kind, &str, &str)] = &[
    (Kind::Deb, "/usr/bin/mmdebstrap", "mmdebstrap"),
    (Kind::Mpi, "/usr/bin/mmdebstrap", "mmdebstrap"),
    (Kind::Rpm, "/usr/bin/mmdebstrap", "mmdebstrap"),
    (Kind::Rpm, "/usr/bin/rpm", "rpm"),
    (Kind::Image, "/usr/bin/umoci", "umoci"),
];

/// Installs missing programs if run as root on Debian; elsewhere the command that misses a program
/// reports it.
fn install(kinds: &[Kind], needed: &[(Kind, &'static str, &'static str)]) -> Result<()> {
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/apt-get").is_file() {
        return Ok(());
    }
    let needed = needed.iter().filter(|(kind, ..)| kinds.contains(kind));
    let needed: Vec<_> = needed.map(|(_, file, package)| (*file, *package)).collect();
    tool::install(&needed)
}

impl Kind {
    const USUAL: [Self; 6] = [
        Self::Static,
        Self::Deb,
        Self::Rpm,
        Self::Image,
        Self::Source,
        Self::Sbom,
    ];

    /// Returns the file name of the package.
    fn file_name(self, machine: Machine) -> String {
        let (name, debian) = (machine.name(), machine.debian_name());
        match self {
            Self::Static => format!("filestone-{VERSION}-{name}-linux-musl.tar.gz"),
            Self::Deb => format!("filestone_{VERSION}-1_{debian}.deb"),
            Self::Mpi => format!("filestone-mpi_{VERSION}-1_{debian}.deb"),
            Self::Rpm => format!("filestone-{VERSION}-1.{name}.rpm"),
            Self::Image => format!("filestone-{VERSION}-{name}-oci.tar"),
            Self::Source => format!("filestone-{VERSION}-source.tar.gz"),
            Self::Sbom => format!("filestone-{VERSION}-{name}.cdx.json"),
        }
    }
}

/// Data that all packages of a release share.
pub struct Release {
    /// Path of the source.
    root: PathBuf,
    machine: Machine,
    profile: String,
    /// Time of the commit in seconds; all files in a package have this time.
    time: u64,
    /// Commit ID; `None` outside a git checkout.
    commit: Option<String>,
    /// Directory for incomplete packages.
    work: Folder,
}

impl Release {
    fn new(options: &Dist, output: &Path) -> Result<Self> {
        let root = filestone_interop::root();
        let git = |arguments: &[&str]| {
            let text = tool::text(Command::new("git").args(arguments).current_dir(&root))?;
            anyhow::Ok(text.trim().to_string())
        };
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => git(&["log", "-1", "--format=%ct"]).map_err(|error| {
                anyhow!("the time of the commit is not known: {error:#}\nhelp: outside a git checkout, set SOURCE_DATE_EPOCH to seconds since 1970")
            })?,
        };
        Ok(Self {
            machine: options.target,
            profile: options.profile.clone(),
            time: time
                .parse()
                .with_context(|| format!("SOURCE_DATE_EPOCH {time}"))?,
            commit: git(&[
                "describe",
                "--always",
                "--exclude=*",
                "--abbrev=12",
                "--dirty",
            ])
            .ok(),
            work: Folder::within(output, "dist")?,
            root,
        })
    }

    /// Returns the directory of the profile in Cargo's target directory.
    fn profile_folder(&self) -> &str {
        if self.profile == "dev" {
            "debug"
        } else {
            &self.profile
        }
    }

    /// Returns the time of the commit in RFC 3339 format.
    fn timestamp(&self) -> String {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(self.time);
        humantime::format_rfc3339_seconds(time).to_string()
    }

    /// Makes a package as a complete file in the working directory.
    fn make(&self, kind: Kind, programs: &mut Programs<'_>) -> Result<PathBuf> {
        let file = self.work.path.join(kind.file_name(self.machine));
        match kind {
            Kind::Static => archive::program(self, &programs.of(self, Variant::Static)?, &file)?,
            Kind::Deb => deb::make(self, &programs.of(self, Variant::Dynamic)?, false, &file)?,
            Kind::Mpi => deb::make(self, &programs.of(self, Variant::Mpi)?, true, &file)?,
            Kind::Rpm => rpm::make(self, &programs.of(self, Variant::Dynamic)?, &file)?,
            Kind::Image => image::make(self, &programs.of(self, Variant::Static)?, &file)?,
            Kind::Source => archive::source(self, &file)?,
            Kind::Sbom => sbom::make(self, &file)?,
        }
        Ok(file)
    }
}

/// Programs, each built at most once.
struct Programs<'a> {
    built: Vec<(Variant, PathBuf)>,
    /// A dynamic program that is already built.
    given: Option<&'a Path>,
}

impl Programs<'_> {
    fn of(&mut self, release: &Release, variant: Variant) -> Result<PathBuf> {
        if let Some((_, program)) = self.built.iter().find(|(built, _)| *built == variant) {
            return Ok(program.clone());
        }
        let given = self.given.filter(|_| variant == Variant::Dynamic);
        let program = program::build(release, variant, given)?;
        self.built.push((variant, program.clone()));
        Ok(program)
    }
}

/// Makes packages, or checks existing ones.
pub fn run(options: &Dist) -> Result<bool> {
    let output = match &options.output {
        Some(output) => output.clone(),
        None => filestone_interop::process::target_folder()?.join("packages"),
    };
    let kinds = if options.only.is_empty() {
        &Kind::USUAL[..]
    } else {
        &options.only
    };
    install(kinds, if options.check { TO_CHECK } else { TO_MAKE })?;
    if options.check {
        return check::run(&output, options.target, kinds);
    }
    std::fs::create_dir_all(&output)
        .with_context(|| format!("{}: cannot be made", output.display()))?;
    let output = output.canonicalize()?;
    let release = Release::new(options, &output)?;
    let commit = release.commit.as_deref().unwrap_or_default();
    if commit.ends_with("-dirty") {
        println!(
            "note: {commit}: programs have changes that are not committed; the source has not"
        );
    }
    let mut programs = Programs {
        built: Vec::new(),
        given: options.program.as_deref(),
    };
    for kind in kinds {
        let made = release.make(*kind, &mut programs)?;
        let name = kind.file_name(release.machine);
        let place = output.join(&name);
        std::fs::rename(made, &place)
            .with_context(|| format!("{}: cannot be written", place.display()))?;
        let size = std::fs::metadata(&place)?.len() as f64 / 1e6;
        println!("{size:6.1} MB  {}", place.display());
    }
    archive::checksums(&output)?;
    Ok(true)
}
