//! Licences and banned crates among all dependencies: those rules of `deny.toml`, checked against
//! the output of `cargo metadata`, so that CI does not need cargo-deny; the check `lock-file` has
//! sources. `cargo deny check` also checks advisories, duplicate versions and wildcards.

use super::Findings;
use super::tree::Tree;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const RULES: &str = "deny.toml";

pub fn licences(tree: &Tree, findings: &mut Findings) {
    if let Err(error) = check(tree, findings) {
        findings.report(
            RULES,
            format!("{error:#}"),
            "correct it, then run tidy again",
        );
    }
}

fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let text = tree.file(RULES).map_or("", |file| file.text.as_str());
    let rules: toml::Table = text.parse()?;
    let targets = rules.get("graph").and_then(|graph| graph.get("targets"));
    let mut packages = BTreeSet::new();
    let mut dependents = BTreeSet::new();
    for target in names(targets) {
        let graph = metadata(&tree.root, target)?;
        dependents.extend(banned(&rules, &graph));
        packages.extend(used(&graph));
    }
    for package in &packages {
        let name = &package.name;
        if let Some(message) = wrong_licence(&rules, name, package.licence.as_deref()) {
            findings.report(
                name,
                message,
                "use another crate: filestone is under MIT or Apache-2.0",
            );
        }
    }
    for (name, dependent) in dependents {
        findings.report(
            dependent,
            format!("depends on {name}"),
            format!("{RULES} gives the reason against it, and the crates that may"),
        );
    }
    Ok(())
}

/// Returns what `cargo metadata` lists for a target.
fn metadata(root: &Path, target: &str) -> Result<Value> {
    let output = Command::new("cargo")
        .args("metadata --format-version 1 --locked --all-features".split(' '))
        .args(["--filter-platform", target])
        .current_dir(root)
        .output()
        .context("cargo did not start")?;
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.lines().last().unwrap_or_default();
    ensure!(output.status.success(), "cargo metadata: {message}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A package that filestone depends on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: Option<String>,
    licence: Option<String>,
}

/// Returns the packages in a dependency graph.
fn used(graph: &Value) -> BTreeSet<Package> {
    let ids: BTreeSet<_> = list(&graph["resolve"]["nodes"])
        .map(|node| text(&node["id"]))
        .collect();
    list(&graph["packages"])
        .filter(|package| ids.contains(&text(&package["id"])))
        .map(|package| Package {
            name: text(&package["name"]).unwrap_or_default(),
            version: text(&package["version"]),
            licence: text(&package["license"]),
        })
        .collect()
}

fn names(list: Option<&toml::Value>) -> impl Iterator<Item = &str> {
    let list = list.and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(toml::Value::as_str)
}

/// Returns the reason if the licence of a package is not permitted.
fn wrong_licence(rules: &toml::Table, name: &str, licence: Option<&str>) -> Option<String> {
    let rules = rules.get("licenses");
    let exceptions = rules.and_then(|rules| rules.get("exceptions")?.as_array());
    let exception = exceptions
        .into_iter()
        .flatten()
        .find(|entry| entry.get("crate").and_then(toml::Value::as_str) == Some(name));
    let allowed: Vec<&str> = names(rules.and_then(|rules| rules.get("allow")))
        .chain(names(exception.and_then(|entry| entry.get("allow"))))
        .collect();
    let Some(licence) = licence else {
        return Some("names no licence".to_owned());
    };
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        return Some(format!(
            "has the licence {licence}, which is not an SPDX expression"
        ));
    };
    let is_allowed = expression.evaluate(|required| {
        required
            .license
            .id()
            .is_some_and(|id| allowed.contains(&id.name))
    });
    (!is_allowed).then(|| format!("has the licence {licence}"))
}

/// Returns banned crates with the packages that depend on them without being listed as wrappers.
fn banned(rules: &toml::Table, graph: &Value) -> BTreeSet<(String, String)> {
    let package_names: BTreeMap<_, _> = list(&graph["packages"])
        .map(|package| {
            (
                text(&package["id"]),
                text(&package["name"]).unwrap_or_default(),
            )
        })
        .collect();
    let name = |id: &Value| package_names.get(&text(id)).cloned().unwrap_or_default();
    let entries = rules
        .get("bans")
        .and_then(|bans| bans.get("deny")?.as_array());
    let mut found = BTreeSet::new();
    for entry in entries.into_iter().flatten() {
        let Some(banned) = entry.get("crate").and_then(toml::Value::as_str) else {
            continue;
        };
        let wrappers: Vec<&str> = names(entry.get("wrappers")).collect();
        for node in list(&graph["resolve"]["nodes"]) {
            let dependent = name(&node["id"]);
            let depends = list(&node["deps"]).any(|dependency| name(&dependency["pkg"]) == banned);
            if depends && !wrappers.contains(&dependent.as_str()) {
                found.insert((banned.to_owned(), dependent));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> toml::Table {
        let text = "[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n\
                    exceptions = [{ crate = \"driver\", allow = [\"MPL-2.0\"] }]\n\
                    [bans]\ndeny = [{ crate = \"tokio\", wrappers = [\"live\"] }]\n";
        text.parse().expect("a table")
    }

    #[test]
    fn one_permitted_alternative_suffices() {
        let wrong = |name, licence| wrong_licence(&rules(), name, licence);
        assert_eq!(wrong("a", Some("MIT OR GPL-3.0-only")), None);
        assert_eq!(wrong("a", Some("MIT/Apache-2.0")), None);
        assert_eq!(wrong("driver", Some("MPL-2.0")), None);
        assert!(wrong("a", Some("MIT AND GPL-3.0-only")).is_some());
        assert!(wrong("a", Some("MPL-2.0")).is_some());
        assert!(wrong("a", None).is_some());
    }

    #[test]
    fn only_listed_crates_depend_on_a_banned_one() {
        let package = |name: &str| serde_json::json!({ "id": name, "name": name });
        let node = |name: &str, dependency: &str| serde_json::json!({ "id": name, "deps": [{ "pkg": dependency }] });
        let graph = serde_json::json!({
            "packages": [package("live"), package("engine"), package("tokio"), package("other")],
            "resolve": { "nodes": [
                node("live", "tokio"), node("engine", "tokio"), node("tokio", "other"),
            ] },
        });
        let expected = BTreeSet::from([("tokio".to_owned(), "engine".to_owned())]);
        assert_eq!(banned(&rules(), &graph), expected);
    }
}
