//! Archives whose bytes depend only on their content: sorted, owned by root, with the time of the
//! commit.

use super::{Release, VERSION, content, files};
use anyhow::{Context, Result};
use filestone_interop::tool;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes a tar archive of these names in a directory.
pub fn tar(release: &Release, folder: &Path, names: &[&str], file: &Path) -> Result<()> {
    tool::run(
        tar_command(release, folder, file)
            .arg("--create")
            .args(names),
    )
}

/// Returns a `tar` command for an archive of the content of `folder`, without the names to add.
pub fn tar_command(release: &Release, folder: &Path, file: &Path) -> Command {
    let mut command = Command::new("tar");
    command
        .args("--sort=name --format=gnu --numeric-owner --owner=0 --group=0".split(' '))
        .arg(format!("--mtime=@{}", release.time))
        .arg("--directory")
        .arg(folder)
        .arg("--file")
        .arg(file);
    command
}

/// Compresses a file, which renames it.
pub fn gzip(file: &Path) -> Result<()> {
    tool::run(Command::new("gzip").args(["-9", "--no-name"]).arg(file))
}

/// Writes the static program with its documents and licences, as a .tar.gz.
pub fn program(release: &Release, program: &Path, file: &Path) -> Result<()> {
    let name = format!("filestone-{VERSION}-{}-linux-musl", release.machine.name());
    let folder = release.work.path.join(&name);
    content::portable(release, program, &folder)?;
    files::settle(release, &folder)?;
    let tarball = file.with_extension("");
    tar(release, &release.work.path, &[&name], &tarball)?;
    gzip(&tarball)
}

/// Writes the source as committed, as a .tar.gz.
pub fn source(release: &Release, file: &Path) -> Result<()> {
    let tarball = file.with_extension("");
    tool::run(
        Command::new("git")
            .args(["archive", "--format=tar", "HEAD"])
            .arg(format!("--prefix=filestone-{VERSION}/"))
            .arg(format!("--output={}", tarball.display()))
            .current_dir(&release.root),
    )?;
    gzip(&tarball)
}

/// Name of the file of checksums.
const CHECKSUMS: &str = "SHA256SUMS";

/// Writes checksums of all packages in a directory, as sha256sum(1) checks them.
pub fn checksums(folder: &Path) -> Result<()> {
    let mut lines = String::new();
    for file in files::files(folder)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_package = file.parent() == Some(folder) && name.starts_with("filestone");
        if is_package {
            let bytes =
                fs::read(&file).with_context(|| format!("{}: cannot be read", file.display()))?;
            lines.push_str(&format!("{}  {name}\n", sha256(&bytes)));
        }
    }
    files::write(&folder.join(CHECKSUMS), lines)
}

/// Returns the SHA-256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_nothing_is_the_known_one() {
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), known);
    }
}
