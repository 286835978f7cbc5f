//! Debian's package.

use super::content::{self, ZshFolder};
use super::{DESCRIPTION, HOMEPAGE, MAINTAINER, Release, SUMMARY, VERSION, depends, files};
use anyhow::Result;
use filestone_interop::tool;
use std::path::Path;
use std::process::Command;

/// Debian's architecture-independent text of the Apache licence.
const APACHE: &str = "/usr/share/common-licenses/Apache-2.0";

/// Makes filestone, or filestone-mpi, which is installed in its place.
pub fn make(release: &Release, program: &Path, is_mpi: bool, file: &Path) -> Result<()> {
    let package = if is_mpi { "filestone-mpi" } else { "filestone" };
    let root = release.work.path.join(format!("{package}-deb"));
    content::install(release, program, &root, package, ZshFolder::Debian)?;
    let documents = root.join("usr/share/doc").join(package);
    files::write(&documents.join("copyright"), copyright(release)?)?;
    let log = documents.join("changelog.Debian");
    files::write(&log, changelog(release, package)?)?;
    super::archive::gzip(&log)?;
    let (mut sums, mut size) = (String::new(), 0);
    for path in files::files(&root)? {
        // Debian Policy counts in whole kibibytes.
        size += std::fs::metadata(&path)?.len().div_ceil(1024);
        let sum = tool::text(
            Command::new("md5sum")
                .arg(path.strip_prefix(&root)?)
                .current_dir(&root),
        )?;
        sums.push_str(&sum);
    }
    files::write(&root.join("DEBIAN/md5sums"), sums)?;
    let control = control(release, package, &depends::of(program)?, size);
    files::write(&root.join("DEBIAN/control"), control)?;
    files::settle(release, &root)?;
    tool::run(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Zxz", "--build"])
            .args([&root, file])
            .env("SOURCE_DATE_EPOCH", release.time.to_string())
            // With several threads the bytes depend on the number of threads.
            .env("DPKG_DEB_THREADS_MAX", "1"),
    )
}

fn control(release: &Release, package: &str, depends: &str, size: u64) -> String {
    let instead = match package {
        "filestone" => String::new(),
        _ => format!(
            "Provides: filestone (= {VERSION}-1)\nConflicts: filestone\nReplaces: filestone\n"
        ),
    };
    let (summary, more) = match package {
        "filestone" => (SUMMARY.to_string(), ""),
        _ => (
            format!("{SUMMARY}, with MPI"),
            "\n .\n This program makes one run on many hosts, started by mpirun or srun (Open MPI).",
        ),
    };
    format!(
        "Package: {package}\nVersion: {VERSION}-1\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {size}\nDepends: {depends}\n{instead}Section: utils\nPriority: optional\n\
         Homepage: {HOMEPAGE}\nDescription: {summary}\n{}{more}\n",
        release.machine.debian_name(),
        wrapped(DESCRIPTION),
    )
}

/// Wraps a paragraph into lines of a description.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        if lines
            .last()
            .is_some_and(|line| line.len() + word.len() > 75)
        {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}

fn changelog(release: &Release, package: &str) -> Result<String> {
    let date = format!("--date=@{}", release.time);
    let date = tool::text(Command::new("date").args(["--utc", "--rfc-email", &date]))?;
    Ok(format!(
        "{package} ({VERSION}-1) unstable; urgency=medium\n\n  * Version {VERSION}; changelog.gz lists its changes.\n\n -- {MAINTAINER}  {}\n",
        date.trim()
    ))
}

fn copyright(release: &Release) -> Result<String> {
    let mit = std::fs::read_to_string(release.root.join("LICENSE-MIT"))?;
    // The title and the copyright line have separate fields.
    let mit = mit
        .lines()
        .skip_while(|line| !line.starts_with("Permission"));
    let mit = mit.map(|line| {
        if line.is_empty() {
            " .".into()
        } else {
            format!(" {line}")
        }
    });
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nSource: {HOMEPAGE}\n\n\
         Files: *\nCopyright: The filestone authors\nLicense: Expat or Apache-2.0\n\
         Comment: Libraries in the program have notices of their own, in third-party-notices.gz.\n\n\
         License: Expat\n{}\n\nLicense: Apache-2.0\n On Debian systems the text of this licence is in {APACHE}.\n",
        mit.collect::<Vec<String>>().join("\n"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_lines_that_begin_with_a_space_and_are_short() {
        let text = wrapped(DESCRIPTION);
        assert!(
            text.lines()
                .all(|line| line.starts_with(' ') && line.len() <= 80),
            "{text}"
        );
        assert_eq!(
            text.split_whitespace().count(),
            DESCRIPTION.split_whitespace().count()
        );
    }
}
