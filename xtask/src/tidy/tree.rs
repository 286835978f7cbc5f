//! The text files of the project.

use super::source::{Levels, levels, without_tests};
use anyhow::{Result, anyhow};
use proc_macro2::TokenStream;
use regex_lite::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages of developers, which are not installed.
const TOOLS: [&str; 3] = ["benches", "tests/interop", "xtask"];

/// A text file.
pub struct File {
    /// Path relative to the root, with `/`.
    pub path: String,
    pub text: String,
    /// For Rust, its tokens; otherwise empty.
    pub tokens: Levels,
    /// The tokens without test modules.
    pub code: Levels,
    /// Whether the whole file is test code.
    pub is_test: bool,
}

/// All files that are, or are about to be, under version control.
pub struct Tree {
    pub root: PathBuf,
    pub files: Vec<File>,
}

impl File {
    pub fn new(path: String, text: String) -> Result<Self> {
        let tokens = if path.ends_with(".rs") {
            let tokens = text.parse();
            tokens.map_err(|error| anyhow!("{path}: not Rust: {error}"))?
        } else {
            TokenStream::new()
        };
        Ok(Self {
            is_test: path.contains("/tests/") || path.ends_with("_tests.rs"),
            path,
            text,
            code: levels(without_tests(tokens.clone())),
            tokens: levels(tokens),
        })
    }
}

impl Tree {
    /// Reads the files. Outside a repository (an unpacked archive), reads every file that is not a
    /// build product.
    pub fn load() -> Result<Self> {
        let root = filestone_interop::root();
        let paths = listed(&root).map_or_else(|| walked(&root), Ok)?;
        let mut files = Vec::new();
        for path in paths {
            // Files that were removed or are not text do not matter to tidy.
            let Ok(text) = std::fs::read_to_string(root.join(&path)) else {
                continue;
            };
            files.push(File::new(path, text)?);
        }
        mark_test_modules(&mut files);
        Ok(Self { root, files })
    }

    /// Returns the file at `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns the Rust sources below `folder`.
    pub fn sources(&self, folder: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.starts_with(folder) && file.path.ends_with(".rs"))
    }

    /// Returns the folders of the workspace's crates.
    pub fn crates(&self) -> Vec<String> {
        self.files
            .iter()
            .filter_map(|file| file.path.strip_suffix("/Cargo.toml"))
            .filter(|folder| folder.starts_with("crates/") || TOOLS.contains(folder))
            .map(str::to_owned)
            .collect()
    }
}

/// Marks test modules: `#[cfg(test)] mod name;` declares a file of test code; one with a `#[path]`
/// is recognized by its name, `…_tests.rs`.
fn mark_test_modules(files: &mut [File]) {
    let declared = r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);";
    let declared = Regex::new(declared).expect("a valid pattern");
    let mut modules = Vec::new();
    for file in files.iter() {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or_default();
        let folder = match name {
            "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
            _ => file.path.trim_end_matches(".rs").to_owned(),
        };
        for found in declared.captures_iter(&file.text) {
            modules.push(format!("{folder}/{}.rs", &found[1]));
            modules.push(format!("{folder}/{}/", &found[1]));
        }
    }
    for file in files {
        file.is_test |= modules.iter().any(|module| file.path.starts_with(module));
    }
}

fn listed(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let mut paths: Vec<String> = names.lines().map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

fn walked(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    folders.push(path);
                }
            } else if let Ok(relative) = path.strip_prefix(root) {
                paths.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    paths.sort();
    Ok(paths)
}
