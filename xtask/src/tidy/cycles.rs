//! No cycles between sibling modules: each module counts with all its submodules, and two siblings
//! must not use each other, directly or indirectly. A module and its submodules may use each other.

use super::Findings;
use super::source::{Levels, block, is_mark, is_word, split};
use super::tree::Tree;
use proc_macro2::TokenTree;
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module: the names from its crate's root to it.
type Path = Vec<String>;

/// The modules of one crate, and their uses.
struct Modules {
    /// File of each module.
    files: BTreeMap<Path, String>,
    /// Pairs of a module and the path that it uses.
    uses: Vec<(Path, Path)>,
}

pub fn no_module_cycles(tree: &Tree, findings: &mut Findings) {
    for folder in tree.crates() {
        let modules = Modules::of(tree, &format!("{folder}/src/"));
        for circle in modules.circles() {
            findings.report(
                folder.as_str(),
                format!("modules in a circle: {}", circle.join(" -> ")),
                "move what both need into a module of its own, below both",
            );
        }
    }
}

impl Modules {
    fn of(tree: &Tree, folder: &str) -> Self {
        let sources = || tree.sources(folder).filter(|file| !file.is_test);
        let files: BTreeMap<Path, String> = sources()
            .map(|file| (module_of(&file.path[folder.len()..]), file.path.clone()))
            .collect();
        let mut uses = Vec::new();
        for file in sources() {
            let user = module_of(&file.path[folder.len()..]);
            for named in paths_in(&file.code, &user) {
                uses.push((user.clone(), longest_module(&files, named)));
            }
        }
        Self { files, uses }
    }

    /// Returns the edges between sibling modules, by their parent module.
    fn between_siblings(&self) -> BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> {
        let mut levels: BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (user, used) in &self.uses {
            let shared = user.iter().zip(used).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (user.get(shared), used.get(shared)) {
                let level = levels.entry(user[..shared].to_vec()).or_default();
                level.entry(from.clone()).or_default().insert(to.clone());
            }
        }
        levels
    }

    /// Returns one cycle for each module that contains any, with the files that cause it.
    fn circles(&self) -> Vec<Vec<String>> {
        let levels = self.between_siblings();
        let found = levels.iter().filter_map(|(level, edges)| {
            let circle = circle_in(edges)?;
            let pairs = circle.iter().zip(circle.iter().cycle().skip(1));
            Some(pairs.map(|(from, to)| self.tie(level, from, to)).collect())
        });
        found.collect()
    }

    /// Describes an edge as `a (file that names b)`.
    fn tie(&self, level: &[String], from: &str, to: &str) -> String {
        let below = |path: &Path, name: &str| {
            path.starts_with(level) && path.get(level.len()).is_some_and(|part| part == name)
        };
        let user = self
            .uses
            .iter()
            .find(|(user, used)| below(user, from) && below(used, to));
        let file = user.and_then(|(user, _)| self.files.get(user));
        let file = file.map_or("?", String::as_str);
        format!("{from} ({file} names {to})")
    }
}

/// Returns the path of the module in a file below `src`.
fn module_of(file: &str) -> Path {
    let stem = file.trim_end_matches(".rs");
    let mut parts: Path = stem.split('/').map(str::to_owned).collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

/// Returns the longest prefix of a path that is a module.
fn longest_module(files: &BTreeMap<Path, String>, mut path: Path) -> Path {
    while !path.is_empty() && !files.contains_key(&path) {
        path.pop();
    }
    path
}

/// Returns the paths in the code that start with `crate::` or `super::`, with groups expanded.
/// `$crate` in a macro is the same crate.
fn paths_in(code: &Levels, module: &[String]) -> Vec<Path> {
    let mut found = Vec::new();
    for tokens in code {
        let mut rest = tokens.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            let mut base = if is_word(first, "crate") {
                &[]
            } else if is_word(first, "super") {
                &module[..module.len().saturating_sub(1)]
            } else {
                continue;
            };
            let Some(mut path) = after_colons(rest) else {
                continue;
            };
            while let [next, further @ ..] = path
                && is_word(next, "super")
                && let Some(further) = after_colons(further)
            {
                base = &base[..base.len().saturating_sub(1)];
                path = further;
            }
            expand(path, base.to_vec(), &mut found);
            rest = path;
        }
    }
    found
}

/// Returns the tokens after `::`.
fn after_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [one, other, rest @ ..] if is_mark(one, ':') && is_mark(other, ':') => Some(rest),
        _ => None,
    }
}

/// Expands the tokens after a path into its paths: one, or those of a group in braces.
fn expand(tokens: &[TokenTree], mut path: Path, found: &mut Vec<Path>) {
    match tokens {
        [group, ..] if let Some(group) = block(group) => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            for part in split(&inner) {
                expand(part, path.clone(), found);
            }
        }
        [TokenTree::Ident(name), rest @ ..] => {
            path.push(name.to_string());
            match after_colons(rest) {
                Some(rest) => expand(rest, path, found),
                None => found.push(path),
            }
        }
        _ => found.push(path),
    }
}

/// Returns the shortest cycle, if any.
fn circle_in(edges: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let circles = edges.keys().filter_map(|start| way_back(edges, start));
    circles.min_by_key(Vec::len)
}

/// Returns the shortest path from a module back to itself.
fn way_back(edges: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut ways = std::collections::VecDeque::from([vec![start.to_owned()]]);
    while let Some(way) = ways.pop_front() {
        let last = way.last()?;
        for next in edges.get(last).into_iter().flatten() {
            if next == start {
                return Some(way);
            }
            if seen.insert(next.clone()) {
                let mut longer = way.clone();
                longer.push(next.clone());
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;
    use std::path::PathBuf;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files = files.iter().map(|(path, text)| {
            let file = File::new(format!("crates/a/src/{path}"), (*text).into());
            file.expect("tokens")
        });
        let tree = Tree {
            root: PathBuf::new(),
            files: files.collect(),
        };
        Modules::of(&tree, "crates/a/src/").circles()
    }

    #[test]
    fn two_modules_that_use_each_other_are_a_circle() {
        let one_way = [("lib.rs", ""), ("a.rs", "use crate::b::X;"), ("b.rs", "")];
        assert!(circles(&one_way).is_empty());
        let back = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b::X;"),
            ("b/mod.rs", ""),
            ("b/c.rs", "fn f() { super::super::a::g() }"),
        ];
        let found = circles(&back);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0][1].contains("b/c.rs names a"), "{found:?}");
    }

    #[test]
    fn a_module_and_what_is_in_it_may_use_each_other() {
        let nested = [
            ("lib.rs", ""),
            ("a.rs", "use crate::a::b::X; mod b;"),
            ("a/b.rs", "use super::Y; use crate::a::Z;"),
        ];
        assert!(circles(&nested).is_empty());
    }

    #[test]
    fn groups_are_taken_apart() {
        let grouped = [
            ("lib.rs", ""),
            ("a.rs", "use crate::{c, b::{self, X}};"),
            ("b.rs", "use super::a::Y;"),
            ("c.rs", ""),
        ];
        assert_eq!(circles(&grouped).len(), 1);
    }
}
