//! Debian packages that a program needs, derived from the libraries and symbol versions that its
//! file requires.
//!
//! dpkg-shlibdeps only supports programs of this machine's architecture.

use anyhow::{Context, Result};
use filestone_interop::tool;
use std::path::Path;
use std::process::Command;

/// Prefixes of shared libraries, and the Debian packages that contain them.
const PACKAGES: &[(&str, &str)] = &[
    ("libc.so", "libc6"),
    ("libm.so", "libc6"),
    ("ld-linux", "libc6"),
    ("libgcc_s.so", "libgcc-s1"),
    ("libmpi.so.40", "libopenmpi3"),
];

/// Returns the value of the `Depends:` field for a program.
pub fn of(program: &Path) -> Result<String> {
    let shown = tool::text(
        Command::new("readelf")
            .args(["--wide", "-d", "-V"])
            .arg(program),
    )?;
    depends_of(&shown)
}

/// Returns the value of the `Depends:` field from the output of readelf(1).
fn depends_of(shown: &str) -> Result<String> {
    let mut packages: Vec<&str> = Vec::new();
    for library in shown
        .lines()
        .filter_map(|line| line.split("Shared library: [").nth(1))
    {
        let library = library.trim_end_matches(']');
        let known = PACKAGES
            .iter()
            .find(|(begin, _)| library.starts_with(begin));
        let (_, package) = known.with_context(|| {
            format!("{library} is in no package that is known\nhelp: add it in xtask/src/dist/depends.rs")
        })?;
        packages.push(package);
    }
    packages.sort_unstable();
    packages.dedup();
    let with_versions = packages.iter().map(|package| match *package {
        "libc6" => with_version(package, newest(shown, "GLIBC_")),
        "libgcc-s1" => with_version(package, newest(shown, "GCC_")),
        _ => (*package).to_string(),
    });
    Ok(with_versions.collect::<Vec<_>>().join(", "))
}

fn with_version(package: &str, version: Option<Vec<u32>>) -> String {
    match version {
        Some(version) => {
            let parts: Vec<String> = version.iter().map(u32::to_string).collect();
            format!("{package} (>= {})", parts.join("."))
        }
        None => package.into(),
    }
}

/// Returns the newest required symbol version with this prefix.
fn newest(shown: &str, prefix: &str) -> Option<Vec<u32>> {
    let names = shown.lines().filter_map(|line| line.split("Name: ").nth(1));
    let versions = names.filter_map(|name| name.split_whitespace().next()?.strip_prefix(prefix));
    let parts =
        versions.filter_map(|version| version.split('.').map(|part| part.parse().ok()).collect());
    parts.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = " 0x01 (NEEDED)  Shared library: [libgcc_s.so.1]
 0x01 (NEEDED)  Shared library: [libm.so.6]
 0x01 (NEEDED)  Shared library: [libc.so.6]
  0x0060:   Name: GCC_4.2.0  Flags: none  Version: 27
  0x0080:   Name: GLIBC_2.9  Flags: none  Version: 7
  0x0090:   Name: GLIBC_2.34  Flags: none  Version: 16
";

    #[test]
    fn versions_are_compared_as_numbers() {
        let depends = depends_of(SHOWN).expect("known libraries");
        assert_eq!(depends, "libc6 (>= 2.34), libgcc-s1 (>= 4.2.0)");
    }

    #[test]
    fn a_library_of_no_known_package_is_an_error() {
        let error = depends_of("(NEEDED)  Shared library: [libssl.so.3]").expect_err("unknown");
        assert!(error.to_string().contains("libssl.so.3"));
    }
}
