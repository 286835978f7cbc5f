//! Checks packages as a user receives them: installed in a Debian root, run in an empty root, and
//! removed.
//!
//! Only chroot(8) separates them from this machine: the root made for the check has neither /proc
//! nor the libraries of this machine, and the image's user does not exist on this machine.

use super::{Kind, Machine, VERSION, files, image};
use anyhow::{Context, Result, bail, ensure};
use filestone_interop::process::Folder;
use filestone_interop::tool;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Debian release of the root for the installed packages.
const DEBIAN: &str = "bookworm";
/// Largest permitted size of the static program in bytes.
const STATIC_LIMIT: u64 = 15_000_000;
/// Arguments of a run without a server.
const RUN: [&str; 4] = ["probe", "null", "--count", "1000"];
/// A file of the administrator in a directory of the package.
const FOREIGN: &str = "usr/share/filestone/loads/site.load";
/// Paths that package managers write during any installation.
const BOOKS: [&str; 3] = ["var/lib/dpkg", "var/lib/rpm", "var/log"];
/// Files that every installation must have.
const INSTALLED: [&str; 8] = [
    "usr/share/man/man1/filestone.1.gz",
    "usr/share/man/man1/filestone-probe.1.gz",
    "usr/share/bash-completion/completions/filestone",
    "usr/share/fish/vendor_completions.d/filestone.fish",
    "usr/share/filestone/loads/mail.load",
    "usr/share/filestone/grafana/filestone.json",
    "usr/share/filestone/cluster/mpijob.yaml",
    "usr/bin/filestone",
];

/// Checks the packages that are in `folder`.
pub fn run(folder: &Path, machine: Machine, kinds: &[Kind]) -> Result<bool> {
    if !rustix::process::geteuid().is_root() {
        bail!(
            "dist: this user may not change the root directory of a process\nhelp: run `sudo -E cargo xtask dist --check`, or as root in a container"
        );
    }
    sums(folder)?;
    let work = Folder::new("dist-check")?;
    let mut debian = None;
    for kind in kinds {
        let file = folder.join(kind.file_name(machine));
        ensure!(
            file.is_file(),
            "{}: is not there\nhelp: `cargo xtask dist` makes it",
            file.display()
        );
        let begun = std::time::Instant::now();
        match kind {
            Kind::Static => static_program(&file, &work.path)?,
            Kind::Deb | Kind::Mpi => {
                in_debian(&file, *kind, debian_root(&mut debian, &work.path)?)?
            }
            Kind::Rpm => rpm(&file, debian_root(&mut debian, &work.path)?)?,
            Kind::Image => unpacked_image(&file, &work.path)?,
            Kind::Source => source(&file, &work.path)?,
            Kind::Sbom => list(&file)?,
        }
        println!(
            "ok  {:5.1} s  {}",
            begun.elapsed().as_secs_f64(),
            file.display()
        );
    }
    Ok(true)
}

/// Verifies the checksums of the packages.
fn sums(folder: &Path) -> Result<()> {
    let is_there = folder.join("SHA256SUMS").is_file();
    ensure!(
        is_there,
        "{}: has no packages\nhelp: `cargo xtask dist` makes them",
        folder.display()
    );
    tool::run(
        Command::new("sha256sum")
            .args(["--check", "--quiet", "SHA256SUMS"])
            .current_dir(folder),
    )
}

/// Returns a Debian root that contains only essential packages; made on the first call.
fn debian_root<'a>(root: &'a mut Option<PathBuf>, work: &Path) -> Result<&'a Path> {
    let made = match root.take() {
        Some(made) => made,
        None => {
            let path = work.join("debian");
            println!("making a root of Debian {DEBIAN}");
            tool::run(
                Command::new("mmdebstrap")
                    .args(["--quiet", "--variant=essential", DEBIAN])
                    .arg(&path),
            )?;
            path
        }
    };
    Ok(root.insert(made))
}

/// Runs a command in another root, as root or as another user.
fn inside(root: &Path, user: Option<&str>, command: &[&str]) -> Result<Output> {
    let mut chroot = Command::new("chroot");
    if let Some(user) = user {
        chroot
            .arg(format!("--userspec={user}:{user}"))
            .arg("--groups=");
    }
    chroot
        .arg(root)
        .args(command)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    tool::outcome(&mut chroot)
}

/// Runs a command that must succeed in another root. Returns its standard output.
fn good(root: &Path, user: Option<&str>, command: &[&str]) -> Result<String> {
    let output = inside(root, user, command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`{}` ended with {}: {said}",
        command.join(" "),
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Checks that the program prints its version, measures, and reports in one line that a name cannot
/// be resolved.
fn measures(root: &Path, user: Option<&str>, program: &str) -> Result<()> {
    let version = good(root, user, &[program, "--version"])?;
    ensure!(
        version.starts_with(&format!("filestone {VERSION}\ncommit ")),
        "--version prints {version}"
    );
    let run = [&[program], &RUN[..]].concat();
    let table = good(root, user, &run)?;
    ensure!(table.contains("NULL"), "{} prints {table}", run.join(" "));
    let unknown = inside(
        root,
        user,
        &[
            program,
            "probe",
            "null",
            "nfs://no-such-host.invalid/export",
        ],
    )?;
    let said = String::from_utf8_lossy(&unknown.stderr);
    let errors = said
        .lines()
        .filter(|line| line.starts_with("error:"))
        .count();
    ensure!(
        errors == 1 && !said.contains("panicked"),
        "a name without an address: {said}"
    );
    Ok(())
}

/// Runs the program alone in an empty root: no libraries, no /proc, no /etc, no /tmp.
fn static_program(file: &Path, work: &Path) -> Result<()> {
    let root = work.join("empty");
    std::fs::create_dir_all(&root)?;
    let program = format!("filestone-{VERSION}-*/filestone");
    tool::run(
        Command::new("tar")
            .args(["--strip-components=1", "--wildcards", "--directory"])
            .arg(&root)
            .arg("-xzf")
            .args([file.as_os_str(), program.as_ref()]),
    )?;
    let size = std::fs::metadata(root.join("filestone"))?.len();
    // Other profiles than that of packages are larger.
    let version = good(&root, None, &["/filestone", "--version"])?;
    let is_package = version.lines().any(|line| line == "profile   dist");
    if is_package && size > STATIC_LIMIT {
        println!(
            "note: the static program has {:.1} MB, more than {} MB",
            size as f64 / 1e6,
            STATIC_LIMIT / 1_000_000
        );
    }
    measures(&root, None, "/filestone")
}

/// Installs, runs and removes a Debian package; it must leave no trace and keep the files of
/// others.
fn in_debian(file: &Path, kind: Kind, root: &Path) -> Result<()> {
    let package = if kind == Kind::Mpi {
        "filestone-mpi"
    } else {
        "filestone"
    };
    if kind == Kind::Mpi {
        tool::run(
            Command::new("cp")
                .arg("/etc/resolv.conf")
                .arg(root.join("etc/resolv.conf")),
        )?;
        good(
            root,
            None,
            &[
                "apt-get",
                "install",
                "-qq",
                "--no-install-recommends",
                "libopenmpi3",
            ],
        )?;
    }
    let before = listing(root)?;
    files::copy(file, &root.join("package.deb"))?;
    good(root, None, &["dpkg", "--install", "/package.deb"])?;
    std::fs::remove_file(root.join("package.deb"))?;
    is_installed(root)?;
    measures(root, None, "/usr/bin/filestone")?;
    files::write(&root.join(FOREIGN), "another's\n")?;
    good(root, None, &["dpkg", "--purge", package])?;
    nothing_but_foreign(root, &before)
}

/// Checks the RPM package with the rpm of this machine in the same root and with the libraries
/// there: `--nodeps`, because in that root only dpkg has records of them.
fn rpm(file: &Path, root: &Path) -> Result<()> {
    let before = listing(root)?;
    let manage = |arguments: &[&str]| {
        let mut command = Command::new("rpm");
        command
            .arg("--root")
            .arg(root)
            .args(["--dbpath", "/var/lib/rpm"])
            .args(arguments);
        tool::text(&mut command)
    };
    let needs = tool::text(
        Command::new("rpm")
            .args(["--query", "--requires", "--package"])
            .arg(file),
    )?;
    ensure!(
        needs.contains("libc.so.6(GLIBC_"),
        "it does not ask for glibc, but for {needs}"
    );
    let path = file.to_string_lossy();
    manage(&["--install", "--nodeps", &path])?;
    is_installed(root)?;
    measures(root, None, "/usr/bin/filestone")?;
    files::write(&root.join(FOREIGN), "another's\n")?;
    manage(&["--erase", "filestone"])?;
    nothing_but_foreign(root, &before)
}

fn is_installed(root: &Path) -> Result<()> {
    for name in INSTALLED {
        ensure!(root.join(name).is_file(), "the package has no {name}");
    }
    Ok(())
}

/// Lists all files, except the databases of package managers.
fn listing(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let listed = tool::text(Command::new("find").arg(".").current_dir(root))?;
    let paths = listed
        .lines()
        .map(|line| PathBuf::from(line.trim_start_matches("./")));
    Ok(paths
        .filter(|path| !BOOKS.iter().any(|book| path.starts_with(book)))
        .collect())
}

/// Checks that after removal only one foreign file is left, and nothing of the package.
fn nothing_but_foreign(root: &Path, before: &BTreeSet<PathBuf>) -> Result<()> {
    let foreign = root.join(FOREIGN);
    ensure!(
        foreign.is_file(),
        "/{FOREIGN} was removed, and was another's"
    );
    std::fs::remove_file(&foreign)?;
    // The directories that contain it stay with it.
    for folder in Path::new(FOREIGN).ancestors().skip(1).take(2) {
        std::fs::remove_dir(root.join(folder)).with_context(|| format!("/{}", folder.display()))?;
    }
    let after = listing(root)?;
    let left: Vec<String> = after
        .difference(before)
        .map(|path| path.display().to_string())
        .collect();
    let gone: Vec<String> = before
        .difference(&after)
        .map(|path| path.display().to_string())
        .collect();
    ensure!(left.is_empty(), "these are left: {}", left.join(" "));
    ensure!(
        gone.is_empty(),
        "these are gone, and were another's: {}",
        gone.join(" ")
    );
    Ok(())
}

fn unpack(file: &Path, folder: &Path) -> Result<()> {
    let mut command = Command::new("tar");
    tool::run(command.arg("--directory").arg(folder).arg("-xf").arg(file))
}

/// Runs the image, unpacked by umoci, as its user.
fn unpacked_image(file: &Path, work: &Path) -> Result<()> {
    let layout = work.join("image");
    std::fs::create_dir_all(&layout)?;
    unpack(file, &layout)?;
    let bundle = work.join("bundle");
    let name = format!("{}:{VERSION}", layout.display());
    tool::run(
        Command::new("umoci")
            .args(["unpack", "--image", &name])
            .arg(&bundle),
    )?;
    let config: serde_json::Value =
        serde_json::from_slice(&std::fs::read(bundle.join("config.json"))?)?;
    let user = config.pointer("/process/user/uid").map(ToString::to_string);
    ensure!(
        user.as_deref() == Some(image::USER),
        "the image's user is {user:?}"
    );
    let root = bundle.join("rootfs");
    measures(&root, Some(image::USER), "/filestone")?;
    let output = [
        "/filestone",
        "probe",
        "null",
        "--count",
        "1000",
        "--output",
        "/results/probe",
    ];
    good(&root, Some(image::USER), &output)?;
    ensure!(
        root.join("results/probe").exists(),
        "its user may not write into /results"
    );
    Ok(())
}

/// Checks that the archive names its commit and that Cargo can read it.
fn source(file: &Path, work: &Path) -> Result<()> {
    unpack(file, work)?;
    let root = work.join(format!("filestone-{VERSION}"));
    let commit = std::fs::read_to_string(root.join("crates/cli/commit.txt"))?;
    let hash = commit.lines().last().unwrap_or_default();
    let is_hash = hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    ensure!(is_hash, "crates/cli/commit.txt has no commit: {commit}");
    tool::run(
        Command::new("cargo")
            .args(["metadata", "--locked", "--no-deps", "--format-version=1"])
            .current_dir(&root),
    )
}

/// Checks the list of libraries: each entry has a version, or is musl, and has a licence.
fn list(file: &Path) -> Result<()> {
    let list: serde_json::Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let components = list["components"].as_array().context("it lists nothing")?;
    ensure!(
        components.len() > 50,
        "it lists {} libraries",
        components.len()
    );
    for component in components {
        let licence = component.pointer("/licenses/0/expression");
        let is_named =
            licence.is_some_and(|licence| licence.as_str().is_some_and(|text| !text.is_empty()));
        ensure!(is_named, "{} has no licence", component["name"]);
    }
    Ok(())
}
