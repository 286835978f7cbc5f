//! Records of format 1, written by a former version, are read and reported with the present names.

use crate::support::{Scratch, filestone, text};
use std::path::Path;
use std::process::Command;

/// Keys, roles and caveats that only format 1 has.
const FORMER: &[&str] = &[
    "face",
    "freedom",
    "stretches",
    "unusable_ns",
    "long_listings",
    "listing_excess_bytes_max",
    "waited_percent",
    "longest_waited_percent",
    "spun_ns",
    "want_percent",
    "got_percent",
    "off_by_percent",
    "held_ops_per_s",
    "broken_ops_per_s",
    "tried",
    "response_time_at_most",
    "companion",
    "few-above-quantile",
    "outlasted",
];

fn unpacked(name: &str) -> String {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/records");
    let packed = records.join(format!("format-1-{name}.json.gz"));
    let output = Command::new("gzip").arg("-dc").arg(packed).output();
    text(&output.expect("gzip").stdout)
}

#[test]
fn records_of_format_1_are_read() {
    let scratch = Scratch::new();
    let mut found = Vec::new();
    for name in ["probe", "mix", "fleet", "objective"] {
        let old = unpacked(name);
        assert!(old.starts_with("{\"format\":1,"), "{name}");
        let path = scratch.file(name, &old);
        let output = filestone(&["report", &path, "--format", "json"]);
        let new = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let value: serde_json::Value = serde_json::from_str(&new).expect("JSON");
        assert_eq!(value["format"], 2, "{name}");
        for former in FORMER {
            let quoted = format!("\"{former}\"");
            assert!(!new.contains(&quoted), "{name}: {former}");
            found.extend(old.contains(&quoted).then_some(*former));
        }
        let again = scratch.file("again", &new);
        for form in ["json", "text", "csv", "html"] {
            let [old, new] = [&path, &again].map(|path| {
                let output = filestone(&["report", path, "--format", form]);
                assert_eq!(output.status.code(), Some(0), "{name}: {form}");
                output.stdout
            });
            assert!(old == new, "{name}: {form}");
        }
    }
    found.sort_unstable();
    found.dedup();
    assert!(found.len() > 12, "the stored records have {found:?}");
}
