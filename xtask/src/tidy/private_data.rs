//! Rules about data that must not be in a published file.
//!
//! The words to find are split here, so that this file does not break its own rules.

use super::Findings;
use super::tree::{File, Tree};

/// Folders that exist on one machine only.
const PRIVATE_PLACES: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
];

/// Settings that make a build use a registry other than crates.io.
const REGISTRIES: &[&str] = &[
    concat!("index", "-url"),
    concat!("registry ", "= \"http"),
    concat!("registry ", "= \"sparse"),
    concat!("[source", "."),
    concat!("[regis", "tries"),
    concat!("replace", "-with"),
];

const COPYLEFT: &[&str] = &[
    concat!("GNU GENERAL ", "PUBLIC LICENSE"),
    concat!("GNU General ", "Public License"),
    concat!("GNU Lesser ", "General Public"),
    concat!("GNU Affero ", "General Public"),
    concat!("SPDX-License-Identifier: ", "GPL"),
    concat!("SPDX-License-Identifier: ", "LGPL"),
];

/// Reports lines that contain one of the phrases.
pub fn search<'t>(
    files: impl IntoIterator<Item = &'t File>,
    findings: &mut Findings,
    phrases: &[&str],
    what: &str,
    help: &str,
) {
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(phrase) = phrases.iter().find(|phrase| line.contains(**phrase)) {
                findings.report(
                    format_args!("{}:{}", file.path, index + 1),
                    format!("\"{phrase}\" {what}"),
                    help,
                );
            }
        }
    }
}

pub fn no_private_places(tree: &Tree, findings: &mut Findings) {
    search(
        &tree.files,
        findings,
        PRIVATE_PLACES,
        "is a folder of one machine",
        "use a relative path, or one that exists everywhere",
    );
    search(
        &tree.files,
        findings,
        REGISTRIES,
        "names a package registry",
        "settings of one machine belong into that machine's own cargo configuration",
    );
}

pub fn no_copyleft(tree: &Tree, findings: &mut Findings) {
    search(
        &tree.files,
        findings,
        COPYLEFT,
        "is text of another licence than MIT OR Apache-2.0",
        "write it anew from the standard; code of the ancestors is not copied",
    );
}
