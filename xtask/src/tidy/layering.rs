//! Protocols stay in their own modules: other modules do not name them.

use super::Findings;
use super::source::line;
use super::tree::Tree;
use proc_macro2::TokenTree;

/// Words in names that belong to a protocol, without versions.
const PROTOCOLS: &[&str] = &["nfs", "nlm", "smb", "tbench"];

/// Paths of the protocols' modules.
const PROTOCOL_MODULES: &[&str] = &[
    "crates/wire/",
    "crates/protection/",
    "crates/protocol/src/client/",
    "crates/protocol/src/session/",
    "crates/engine/src/protocols/",
    "crates/setup/src/nfs3/",
    "crates/setup/src/smb2/",
    "crates/server/",
    // The languages of load files and of counters, which contain protocol names.
    "crates/workload/src/load/",
    "crates/plan/src/mix/",
    // Protocol options and names on command lines, and the command lines of the ancestors.
    "crates/cli/src/options/",
    "crates/cli/src/planning/",
    "crates/cli/src/compat/",
    // Tools of the workspace, which test and measure protocols.
    "benches/",
    "tests/interop/",
    "xtask/",
    "fuzz/",
];

/// Files that may register each protocol in a line or two.
const REGISTRIES: &[&str] = &[
    "crates/workload/src/kind.rs",
    "crates/workload/src/failure.rs",
    "crates/plan/src/plan.rs",
    // The modules of protocols.
    "crates/setup/src/lib.rs",
    // Example plans for tests.
    "crates/plan/src/examples.rs",
    // Status names that users expect.
    "crates/plan/src/plan/expected.rs",
    "crates/plan/src/plan/target.rs",
    "crates/plan/src/plan/target/smb.rs",
    // The built-in servers, and the program's commands.
    "crates/cli/src/built_in.rs",
    "crates/cli/src/commands/serve.rs",
    "crates/cli/src/lib.rs",
    "crates/cli/src/manual.rs",
    // The tables of nhfsstone, which use the names of NFS version 2.
    "crates/report/src/nhfsstone.rs",
];

pub fn protocol_layering(tree: &Tree, findings: &mut Findings) {
    let outside = tree.sources("").filter(|file| {
        let is_protocol_module = PROTOCOL_MODULES
            .iter()
            .any(|module| file.path.starts_with(module));
        !file.is_test && !is_protocol_module && !REGISTRIES.contains(&file.path.as_str())
    });
    for file in outside {
        for tokens in &file.code {
            for token in tokens {
                if let TokenTree::Ident(name) = token
                    && names_a_protocol(&name.to_string())
                {
                    findings.report(
                        format_args!("{}:{}", file.path, line(token)),
                        format!("{name} names a protocol, in a file that is no protocol's"),
                        "ask the target, the kind or the status instead; what only one protocol has \
                         belongs into its module (ARCHITECTURE.md, \"Where to add what\")",
                    );
                }
            }
        }
    }
}

/// Flags of netlink messages (netlink(7)), unrelated to NLM.
const NETLINK_FLAGS: &str = "NLM_F_";

fn names_a_protocol(name: &str) -> bool {
    !name.starts_with(NETLINK_FLAGS) && words(name).any(|word| is_protocol(&word))
}

/// Returns the words of a name in snake case, camel case or capitals, in lower case.
fn words(name: &str) -> impl Iterator<Item = String> {
    let is_capitals = !name.contains(char::is_lowercase);
    let mut spaced = String::new();
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && !is_capitals) {
            spaced.push(' ');
        }
        spaced.extend(c.to_lowercase().filter(|c| *c != '_'));
    }
    let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
    words.into_iter()
}

/// Whether a word is a protocol: `nfs`, `nfs3` and `nfsv2`, but not `nfsstat`.
fn is_protocol(word: &str) -> bool {
    let unnumbered = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = if unnumbered == word {
        word
    } else {
        unnumbered.trim_end_matches('v')
    };
    PROTOCOLS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_found_in_names_of_every_form() {
        for name in [
            "nfs3",
            "NfsTarget",
            "OpenNfs3",
            "enable_nlm",
            "PROCEDURES_OF_NFSV2",
            "Smb2Client",
            "NFS",
            "tbench_port",
        ] {
            assert!(names_a_protocol(name), "{name}");
        }
        for name in [
            "nfsstat",
            "netbench_scale",
            "nhfsstone",
            "assembled",
            "a",
            "NLM_F_ACK",
        ] {
            assert!(!names_a_protocol(name), "{name}");
        }
    }
}
