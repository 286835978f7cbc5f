//! The licences of all libraries in the program: most require that their text is distributed with
//! it.

use super::crates::{graph, sources};
use super::{Release, files};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prefixes of licence file names.
const NAMES: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];

/// Returns each distinct text once, after the libraries that use it.
pub fn text(release: &Release) -> Result<String> {
    let graph = graph(release)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources(release)? {
        let library = graph
            .keys()
            .find(|library| library.name == source.name && library.version == source.version);
        // The licences of this project's own crates are separate files in the package.
        let Some(library) = library.filter(|_| !source.folder.starts_with(&release.root)) else {
            continue;
        };
        for file in licence_files(&source.folder)? {
            let bytes = std::fs::read(&file)
                .with_context(|| format!("{}: cannot be read", file.display()))?;
            let text = String::from_utf8_lossy(&bytes).trim().replace("\r\n", "\n");
            let users = texts.entry(text).or_default();
            users.push(format!(
                "{} {} ({})",
                source.name, source.version, library.licence
            ));
        }
    }
    let mut all = String::from("Licences of the libraries that are part of filestone.\n");
    let mut parts: Vec<(Vec<String>, String)> = texts
        .into_iter()
        .map(|(text, users)| (users, text))
        .collect();
    parts.sort();
    for (mut users, text) in parts {
        users.dedup();
        all.push_str(&format!(
            "\n{}\n\n{}\n\n{text}\n",
            "=".repeat(78),
            users.join("\n")
        ));
    }
    Ok(all)
}

/// Returns the licence files in a library's directory, and in that of the C library within it.
fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let c_library = folder.join("aws-lc");
    let mut found = Vec::new();
    for folder in [folder, &c_library]
        .into_iter()
        .filter(|folder| folder.is_dir())
    {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .to_uppercase();
            if path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin)) {
                found.push(path);
            } else if path.is_dir() && name == "LICENSES" {
                found.extend(files::files(&path)?);
            }
        }
    }
    found.sort();
    Ok(found)
}
