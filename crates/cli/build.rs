//! The built-in loads, pages of docs/ and schemas, compressed, and the build's commit, profile and target for
//! `filestone --version`.
//!
//! The commit is that of `FILESTONE_COMMIT`, if it is set; of the archive that the source came in; or of the
//! git checkout, for optimized builds alone, so that a commit does not make debug builds compile again.

use flate2::Compression;
use flate2::read::GzEncoder;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

/// What `git archive` replaces by the hash, as .gitattributes asks it to.
const ARCHIVE_COMMIT: &str = "commit.txt";
/// Folder of the built-in loads.
const LOADS: &str = "../../loads";
/// Folder of the pages and schemas.
const DOCS: &str = "../../docs";
/// What the program is made of.
const SOURCES: [&str; 5] = [
    "../../crates",
    DOCS,
    LOADS,
    "../../Cargo.toml",
    "../../Cargo.lock",
];
/// Characters of a hash that are shown.
const HASH_LENGTH: usize = 12;

fn main() -> io::Result<()> {
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    compress(Path::new(LOADS), Path::new(&out))?;
    compress(Path::new(DOCS), &Path::new(&out).join("docs"))?;
    println!("cargo::rerun-if-env-changed=FILESTONE_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ARCHIVE_COMMIT}");
    let profile = profile();
    let is_optimized = env::var("PROFILE").is_ok_and(|family| family == "release");
    let commit = env::var("FILESTONE_COMMIT")
        .ok()
        .or_else(commit_of_archive)
        .or_else(|| is_optimized.then(commit_of_checkout).flatten());
    if let Some(commit) = commit.filter(|commit| !commit.is_empty()) {
        println!("cargo::rustc-env=FILESTONE_BUILD_COMMIT={commit}");
    }
    println!("cargo::rustc-env=FILESTONE_BUILD_PROFILE={profile}");
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=FILESTONE_BUILD_TARGET={target}");
    Ok(())
}

/// Writes each file NAME below `from` as NAME.gz below `to`, in the same folders.
fn compress(from: &Path, to: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", from.display());
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let packed = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            compress(&path, &packed)?;
            continue;
        }
        let file = fs::File::create(packed.with_added_extension("gz"))?;
        let mut encoder = GzEncoder::new(fs::File::open(&path)?, Compression::best());
        io::copy(&mut encoder, &mut BufWriter::new(file))?;
    }
    Ok(())
}

/// The profile's name. `PROFILE` has only that of its family; the output folder is
/// `TARGET_DIR[/TARGET]/PROFILE/build/PACKAGE/out`.
fn profile() -> String {
    let out = env::var("OUT_DIR").unwrap_or_default();
    let folder = Path::new(&out).ancestors().nth(3).and_then(Path::file_name);
    folder.map_or_else(
        || env::var("PROFILE").unwrap_or_default(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The commit that an archive of the source was made of.
fn commit_of_archive() -> Option<String> {
    let text = std::fs::read_to_string(ARCHIVE_COMMIT).ok()?;
    let hash = text.lines().last()?.trim();
    let is_hash = hash.len() >= HASH_LENGTH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| hash[..HASH_LENGTH].to_string())
}

/// The commit of the git checkout, with `-dirty` if the sources differ from it; none without git.
fn commit_of_checkout() -> Option<String> {
    // The commits of another repository that contains this tree are not those of filestone.
    if git(&["rev-parse", "--show-prefix"])? != "crates/cli/" {
        return None;
    }
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    // Without it Cargo would not see that there is another commit.
    if !Path::new(&log).is_file() {
        return None;
    }
    let hash = git(&["rev-parse", &format!("--short={HASH_LENGTH}"), "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changes = git(&[&status[..], &SOURCES[..]].concat())?;
    for watched in SOURCES.iter().chain([&log.as_str()]) {
        println!("cargo::rerun-if-changed={watched}");
    }
    Some(if changes.is_empty() {
        hash
    } else {
        format!("{hash}-dirty")
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let is_good = output.status.success();
    is_good.then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
