//! Licences, sources and banned crates among all dependencies: the rules of `deny.toml`, checked
//! against the output of `cargo metadata`, so that CI does not need cargo-deny. Advisories are left
//! to `cargo deny check advisories`.

use super::Findings;
use super::tree::Tree;
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::process::Command;

const RULES: &str = "deny.toml";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub fn licences(tree: &Tree, findings: &mut Findings) {
    let text = tree.file(RULES).map_or("", |file| file.text.as_str());
    let rules: toml::Table = match text.parse() {
        Ok(rules) => rules,
        Err(error) => return findings.report(RULES, error.to_string(), "correct it"),
    };
    let output = Command::new("cargo")
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--all-features",
        ])
        .current_dir(&tree.root)
        .output();
    let listed = output
        .ok()
        .and_then(|output| serde_json::from_slice::<Value>(&output.stdout).ok());
    let Some(packages) = listed
        .as_ref()
        .and_then(|listed| listed["packages"].as_array())
    else {
        return findings.report(
            "Cargo.lock",
            "cargo metadata lists no packages",
            "run `cargo metadata --locked` to see why",
        );
    };
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        if let Some(message) = wrong_licence(&rules, name, package["license"].as_str()) {
            findings.report(
                name,
                message,
                "use another crate: filestone is under MIT or Apache-2.0",
            );
        }
        let source = package["source"].as_str();
        if source.is_some_and(|source| source != CRATES_IO) {
            findings.report(
                name,
                format!("comes from {}", source.unwrap_or_default()),
                "depend on crates.io only, so that anyone can build it",
            );
        }
    }
    for (name, dependent) in banned(&rules, packages) {
        findings.report(
            dependent,
            format!("depends on {name}"),
            format!("{RULES} says why not, and which crates may"),
        );
    }
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

/// Returns banned crates, and the packages that depend on them without an exception.
fn banned<'a>(rules: &'a toml::Table, packages: &'a [Value]) -> Vec<(&'a str, &'a str)> {
    let entries = rules
        .get("bans")
        .and_then(|bans| bans.get("deny")?.as_array());
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten() {
        let Some(banned) = entry.get("crate").and_then(toml::Value::as_str) else {
            continue;
        };
        let wrappers: Vec<&str> = names(entry.get("wrappers")).collect();
        for package in packages {
            let dependent = package["name"].as_str().unwrap_or_default();
            let is_of_workspace = package["source"].is_null();
            let mut dependencies = package["dependencies"].as_array().into_iter().flatten();
            // Optional dependencies of foreign crates may be disabled.
            let depends = dependencies.any(|dependency| {
                dependency["name"] == banned
                    && dependency["kind"].is_null()
                    && (is_of_workspace || dependency["optional"] == false)
            });
            if depends && !wrappers.contains(&dependent) {
                found.push((banned, dependent));
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
        let package = |name: &str, optional: bool| {
            serde_json::json!({
                "name": name,
                "source": CRATES_IO,
                "dependencies": [{ "name": "tokio", "kind": null, "optional": optional }],
            })
        };
        let packages = [
            package("live", false),
            package("engine", false),
            package("hyper", true),
        ];
        assert_eq!(banned(&rules(), &packages), [("tokio", "engine")]);
    }
}
