//! Content of an installation: files in a directory that represents the root of a system.

use super::files::{copy, files, write};
use super::{Release, notices};
use anyhow::Result;
use clap::ValueEnum as _;
use clap_complete::Shell;
use filestone_cli::completion_script;
use filestone_interop::tool;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Directory of zsh functions in a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZshFolder {
    Debian,
    Rpm,
}

/// Writes all files of an installation below `root`; `package` names the directory of its
/// documents.
pub fn install(
    release: &Release,
    program: &Path,
    root: &Path,
    package: &str,
    zsh: ZshFolder,
) -> Result<()> {
    let (source, share) = (&release.root, root.join("usr/share"));
    copy(program, &root.join("usr/bin/filestone"))?;
    copy(&source.join("man"), &share.join("man/man1"))?;
    compress(&share.join("man/man1"))?;
    write(
        &share.join("bash-completion/completions/filestone"),
        completion_script(Shell::Bash),
    )?;
    write(
        &share.join("fish/vendor_completions.d/filestone.fish"),
        completion_script(Shell::Fish),
    )?;
    let functions = match zsh {
        ZshFolder::Debian => "zsh/vendor-completions/_filestone",
        ZshFolder::Rpm => "zsh/site-functions/_filestone",
    };
    write(&share.join(functions), completion_script(Shell::Zsh))?;
    for (from, to) in [
        ("loads", "loads"),
        ("docs/grafana", "grafana"),
        ("docs/cluster", "cluster"),
    ] {
        copy(&source.join(from), &share.join("filestone").join(to))?;
    }
    let documents = share.join("doc").join(package);
    for name in ["README.md", "docs"] {
        copy(&source.join(name), &documents.join(name))?;
    }
    // Input of programs, which is already installed above.
    for twice in ["docs/grafana", "docs/cluster"] {
        fs::remove_dir_all(documents.join(twice))?;
    }
    copy(&source.join("CHANGELOG.md"), &documents.join("changelog"))?;
    write(
        &documents.join("third-party-notices"),
        notices::text(release)?,
    )?;
    compress(&documents)
}

/// Writes the content of an archive, which is unpacked anywhere and run from there.
pub fn portable(release: &Release, program: &Path, root: &Path) -> Result<()> {
    copy(program, &root.join("filestone"))?;
    copy(&release.root.join("man"), &root.join("man/man1"))?;
    copy(&release.root.join("loads"), &root.join("loads"))?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let name = shell
            .to_possible_value()
            .map_or_else(String::new, |value| value.get_name().into());
        write(
            &root.join("completions").join(format!("filestone.{name}")),
            completion_script(shell),
        )?;
    }
    for name in ["README.md", "CHANGELOG.md"] {
        copy(&release.root.join(name), &root.join(name))?;
    }
    licences(release, root)
}

/// Writes the licences of the program and of the libraries linked into it.
pub fn licences(release: &Release, folder: &Path) -> Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&release.root.join(name), &folder.join(name))?;
    }
    write(&folder.join("third-party-notices"), notices::text(release)?)
}

/// Compresses man pages and other long texts, as distributions require.
fn compress(folder: &Path) -> Result<()> {
    let texts = files(folder)?.into_iter().filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".1") || ["changelog", "third-party-notices"].contains(&name.as_ref())
    });
    tool::run(Command::new("gzip").args(["-9", "--no-name"]).args(texts))
}
