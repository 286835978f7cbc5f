//! The libraries in the program, as CycloneDX 1.5: versions, licences, checksums and dependencies.

use super::crates::{Graph, Library, graph, sources};
use super::{HOMEPAGE, Release, SUMMARY, VERSION, files};
use anyhow::{Context, Result};
use filestone_interop::tool;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Writes the list.
pub fn make(release: &Release, file: &Path) -> Result<()> {
    let graph = graph(release)?;
    let lock = std::fs::read_to_string(release.root.join("Cargo.lock"))?;
    let checksums = checksums(&lock)?;
    let program = graph.keys().find(|library| library.name == "filestone-cli");
    let program = program.context("cargo tree does not list filestone-cli")?;
    let others = graph.keys().filter(|library| *library != program);
    let mut components: Vec<Value> = others
        .map(|library| component(library, &checksums))
        .collect();
    components.extend(not_of_cargo(release, &graph)?);
    let dependencies: Vec<Value> = graph
        .iter()
        .map(|(library, needs)| dependency(library, needs))
        .collect();
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release.timestamp(),
            "component": {
                "type": "application",
                "bom-ref": program.url(),
                "name": "filestone",
                "version": VERSION,
                "description": SUMMARY,
                "purl": program.url(),
                "licenses": [{"expression": program.licence}],
                "externalReferences": [{"type": "vcs", "url": HOMEPAGE}],
                "properties": [
                    {"name": "commit", "value": release.commit.as_deref().unwrap_or("not recorded")},
                ],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    files::write(file, serde_json::to_string_pretty(&list)? + "\n")
}

fn component(library: &Library, checksums: &BTreeMap<(String, String), String>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": library.url(),
        "name": library.name,
        "version": library.version,
        "purl": library.url(),
        "licenses": [{"expression": library.licence}],
    });
    if let Some(sum) = checksums.get(&(library.name.clone(), library.version.clone())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

fn dependency(library: &Library, needs: &BTreeSet<Library>) -> Value {
    let needs: Vec<String> = needs.iter().map(Library::url).collect();
    json!({"ref": library.url(), "dependsOn": needs})
}

/// Returns entries for the C library in aws-lc-sys, Rust's standard library, and musl.
fn not_of_cargo(release: &Release, graph: &Graph) -> Result<Vec<Value>> {
    let wrapper = graph.keys().find(|library| library.name == "aws-lc-sys");
    let wrapper = wrapper.context("filestone does not need aws-lc-sys any more")?;
    let source = sources(release)?
        .into_iter()
        .find(|source| source.name == wrapper.name);
    let folder = source.context("Cargo has no source of aws-lc-sys")?.folder;
    let header = folder.join("aws-lc/include/openssl/base.h");
    let header = std::fs::read_to_string(&header)
        .with_context(|| format!("{}: cannot be read", header.display()))?;
    let version = header.split("AWSLC_VERSION_NUMBER_STRING \"").nth(1);
    let version = version.and_then(|rest| rest.split('"').next());
    let version = version.context("the header of AWS-LC has no version")?;
    let rust = tool::text(Command::new("rustc").arg("--version"))?;
    let rust = rust
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_string();
    Ok(vec![
        json!({
            "type": "library",
            "bom-ref": "aws-lc",
            "name": "aws-lc",
            "version": version,
            "purl": format!("pkg:github/aws/aws-lc@v{version}"),
            "licenses": [{"expression": wrapper.licence}],
        }),
        json!({
            "type": "library",
            "bom-ref": "rust-std",
            "name": "rust-std",
            "version": rust,
            "purl": format!("pkg:github/rust-lang/rust@{rust}"),
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
        }),
        json!({
            "type": "library",
            "bom-ref": "musl",
            "name": "musl",
            "description": "C library of the static program, as Rust brings it",
            "purl": "pkg:generic/musl",
            "licenses": [{"expression": "MIT"}],
        }),
    ])
}

/// Checksums of crates, by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = lock.parse()?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let all = packages.into_iter().flatten().filter_map(|package| {
        let field = |name| Some(package.get(name)?.as_str()?.to_owned());
        Some(((field("name")?, field("version")?), field("checksum")?))
    });
    Ok(all.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_the_lock_file_have_checksums_and_members_have_none() {
        let lock = "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        let expected = (("a".to_owned(), "1.0.0".to_owned()), "ab".to_owned());
        assert_eq!(
            checksums(lock).expect("a lock file"),
            BTreeMap::from([expected])
        );
    }
}
