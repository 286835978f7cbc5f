//! What an installation consists of: files in a directory that stands for the root of a system.

use super::files::{copy, files, write};
use super::{Release, notices, tool};
use anyhow::Result;
use clap::ValueEnum as _;
use clap_complete::Shell;
use filestone_cli::completion_script;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where distributions look for the functions of zsh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZshFolder {
    Debian,
    Rpm,
}

/// Puts everything that an installed filestone has under `root`; `package` names its directory of documents.
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
    // These are programs' input, and have their place above.
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

/// What an archive of the program holds: it is unpacked anywhere, and the program run from there.
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

/// The licences of the program and of what is linked into it.
pub fn licences(release: &Release, folder: &Path) -> Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&release.root.join(name), &folder.join(name))?;
    }
    write(&folder.join("third-party-notices"), notices::text(release)?)
}

/// Compresses manual pages and other long texts, as distributions ask for.
fn compress(folder: &Path) -> Result<()> {
    let texts = files(folder)?.into_iter().filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".1") || ["changelog", "third-party-notices"].contains(&name.as_ref())
    });
    tool::run(Command::new("gzip").args(["-9", "--no-name"]).args(texts))
}
