//! `filestone history` from outside.

use crate::support::{Scratch, done, filestone, text};
use serde_json::{Value, json};

/// Twelve records of which the last six are half as fast, in a directory.
fn nights(scratch: &Scratch) -> String {
    let result = scratch.name("one");
    let measured = [
        "probe",
        "null",
        "-d",
        "100ms",
        "--no-calibrate",
        "-o",
        &result,
    ];
    done(&measured);
    let record = std::fs::read_to_string(scratch.path().join("one/run.json")).expect("a record");
    let mut record: Value = serde_json::from_str(&record).expect("JSON");
    let nightly = scratch.path().join("nightly");
    for night in 0..12 {
        record["started_at"] = json!(format!("2026-01-{:02}T03:00:00Z", night + 1));
        let level = if night < 6 { 1000.0 } else { 500.0 };
        record["totals"]["achieved_load_ops_per_s"] = json!(level + f64::from(night % 3));
        let folder = nightly.join(format!("commit{}", 20 - night));
        std::fs::create_dir_all(&folder).expect("a directory");
        std::fs::write(folder.join("run.json"), record.to_string()).expect("a file");
    }
    nightly.display().to_string()
}

#[test]
fn a_change_for_the_worse_is_found_and_is_the_exit_code() {
    let scratch = Scratch::new();
    let nightly = nights(&scratch);
    let of = |more: &[&str]| {
        let command = ["history", &nightly, "--figure", "achieved"];
        filestone(&[&command[..], more].concat())
    };
    let shown = of(&[]);
    assert_eq!(shown.status.code(), Some(1), "{}", text(&shown.stderr));
    let page = text(&shown.stdout);
    assert!(
        page.starts_with("achieved of 12 runs: worse since 2026-01-07"),
        "{page}"
    );
    let found: Value = serde_json::from_slice(&of(&["--format", "json"]).stdout).expect("JSON");
    assert_eq!(found["changes"][0]["at"], 6);
    assert_eq!(found["changes"][0]["is_worse"], true);
    assert_eq!(found["runs"][0]["label"], "commit20");
    assert!(text(&of(&["--format", "svg"]).stdout).starts_with("<svg "));
    assert_eq!(text(&of(&["--format", "csv"]).stdout).lines().count(), 13);
}

#[test]
fn a_record_that_cannot_be_read_is_left_out_with_a_note_unless_it_was_named() {
    let scratch = Scratch::new();
    let nightly = nights(&scratch);
    let cut = format!("{nightly}/commit9/run.json");
    std::fs::write(&cut, "{\"format\": 1,").expect("a file");
    let shown = filestone(&["history", &nightly, "--figure", "achieved"]);
    assert_eq!(shown.status.code(), Some(1), "{}", text(&shown.stderr));
    let page = text(&shown.stdout);
    assert!(page.starts_with("achieved of 11 runs: worse "), "{page}");
    assert!(page.contains("1 record left out:"), "{page}");
    let named = filestone(&["history", &nightly, &cut]);
    assert_eq!(named.status.code(), Some(2), "{}", text(&named.stdout));
}

#[test]
fn misuse_is_refused_with_a_suggestion() {
    let scratch = Scratch::new();
    let empty = scratch.name(".");
    let none = filestone(&["history", &empty]);
    assert_eq!(none.status.code(), Some(2));
    let misspelt = filestone(&["history", &empty, "--figure", "achived"]);
    assert_eq!(misspelt.status.code(), Some(2));
    let said = text(&misspelt.stderr);
    assert!(said.contains("did you mean achieved?"), "{said}");
}
