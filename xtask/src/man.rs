//! The man pages, made from the options' own definitions.

use crate::process::Folder;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::path::Path;

/// Options of `cargo xtask man`.
#[derive(Debug, Clone, Args)]
pub struct Man {
    /// Only check that the pages in man/ are what they would be now
    #[arg(long)]
    pub check: bool,
}

/// Pages in a folder, by name.
fn pages(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{}: cannot be listed", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "1") {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            pages.insert(name, std::fs::read_to_string(&path)?);
        }
    }
    Ok(pages)
}

/// Writes the pages, or says which are not current.
pub fn run(options: &Man) -> Result<bool> {
    let new = Folder::new("man")?;
    clap_mangen::generate_to(filestone_cli::manual(), &new.path)?;
    let new = pages(&new.path)?;
    if new.is_empty() {
        bail!("man: the command line gave no page");
    }
    let folder = crate::tidy::root()?.join("man");
    let old = if folder.is_dir() {
        pages(&folder)?
    } else {
        BTreeMap::new()
    };
    let stale: Vec<&String> = new
        .keys()
        .chain(old.keys().filter(|name| !new.contains_key(*name)))
        .filter(|name| new.get(*name) != old.get(*name))
        .collect();
    if options.check {
        for name in &stale {
            eprintln!(
                "error: man/{name}: is not what the options say now\nhelp: run `cargo xtask man` and commit the result"
            );
        }
        return Ok(stale.is_empty());
    }
    std::fs::create_dir_all(&folder)?;
    for name in stale {
        let path = folder.join(name);
        match new.get(name) {
            Some(page) => std::fs::write(&path, page)?,
            None => std::fs::remove_file(&path)?,
        }
        println!("man/{name}");
    }
    Ok(true)
}
