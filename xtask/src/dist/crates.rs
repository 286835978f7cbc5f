//! The libraries that Cargo links into the program, and their sources.
//!
//! Build-time dependencies such as macros are not included.

use super::Release;
use super::program::Variant;
use anyhow::{Context, Result};
use filestone_interop::tool;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library in the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Library {
    pub name: String,
    pub version: String,
    pub licence: String,
}

impl Library {
    /// Returns the package URL (purl) of the library.
    pub fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// Libraries and their direct dependencies.
pub type Graph = BTreeMap<Library, BTreeSet<Library>>;

/// Returns the graph of everything linked into the program, itself included.
pub fn graph(release: &Release) -> Result<Graph> {
    let target = target(release);
    let listed = tool::text(
        Command::new("cargo")
            .args([
                "tree",
                "--locked",
                "--package",
                "filestone-cli",
                "--target",
                &target,
            ])
            .args("--edges normal,no-proc-macro --prefix depth --format |{p}|{l}".split(' '))
            .current_dir(&release.root),
    )?;
    Ok(read(&listed))
}

/// Returns the target whose libraries are listed; the glibc target has the same libraries.
fn target(release: &Release) -> String {
    Variant::Static.target(release.machine)
}

/// Parses lines `DEPTH|NAME vVERSION …|LICENCE`.
fn read(listed: &str) -> Graph {
    let mut graph = Graph::new();
    // Path from the program to the library of the line.
    let mut path: Vec<Library> = Vec::new();
    for line in listed.lines() {
        let mut parts = line.split('|');
        let depth = parts
            .next()
            .and_then(|depth| depth.parse().ok())
            .unwrap_or(0);
        let mut words = parts.next().unwrap_or_default().split_whitespace();
        let name = words.next().unwrap_or_default().to_string();
        let version = words
            .next()
            .unwrap_or_default()
            .trim_start_matches('v')
            .to_string();
        let licence = parts.next().unwrap_or_default();
        // (*) marks a library whose dependencies are listed further up; "/" is the old notation for
        // "OR".
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        let library = Library {
            name,
            version,
            licence,
        };
        path.truncate(depth);
        if let Some(user) = path.last() {
            graph
                .entry(user.clone())
                .or_default()
                .insert(library.clone());
        }
        graph.entry(library.clone()).or_default();
        path.push(library);
    }
    graph
}

/// Location of a library's source.
pub struct Source {
    pub name: String,
    pub version: String,
    pub folder: PathBuf,
}

/// Returns the sources of all libraries of the workspace, as reported by Cargo.
pub fn sources(release: &Release) -> Result<Vec<Source>> {
    let told = tool::text(
        Command::new("cargo")
            .args(["metadata", "--locked", "--format-version", "1"])
            // Without this option Cargo downloads libraries for other systems.
            .args(["--filter-platform", &target(release)])
            .current_dir(&release.root),
    )?;
    let told: Value = serde_json::from_str(&told).context("cargo metadata")?;
    let packages = told["packages"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let sources = packages.map(|package| Source {
        name: text(&package["name"]),
        version: text(&package["version"]),
        folder: Path::new(&text(&package["manifest_path"]))
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default(),
    });
    Ok(sources.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, licence: &str) -> Library {
        Library {
            name: name.into(),
            version: "1.0.0".into(),
            licence: licence.into(),
        }
    }

    #[test]
    fn a_library_that_was_listed_before_is_the_same() {
        let graph = read(
            "0|cli v1.0.0 (/src)|MIT\n1|a v1.0.0|MIT/Apache-2.0\n2|b v1.0.0|MIT\n1|b v1.0.0|MIT (*)\n",
        );
        let (a, b) = (library("a", "MIT OR Apache-2.0"), library("b", "MIT"));
        assert_eq!(
            graph[&library("cli", "MIT")],
            BTreeSet::from([a.clone(), b.clone()])
        );
        assert_eq!(graph[&a], BTreeSet::from([b]));
        assert_eq!(graph.len(), 3);
    }
}
