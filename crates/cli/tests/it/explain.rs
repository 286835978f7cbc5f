//! `filestone explain`, and the paragraph that reports end with.

use crate::support::{Scratch, done, filestone, text};
use filestone_measure::explanation::LIMIT_RULES;
use serde_json::Value;

#[test]
fn a_closed_loop_is_limited_by_its_slots_or_by_the_tool_itself() {
    let scratch = Scratch::new();
    let result = scratch.name("result");
    let measured = [
        "probe",
        "null",
        "-j",
        "4",
        "-d",
        "1100ms",
        "--no-calibrate",
        "-o",
        &result,
    ];
    let measured = done(&measured);
    let report = text(&measured.stdout);
    let last = report.trim_end().rsplit("\n\n").next().unwrap_or_default();
    assert!(last.starts_with("Limited by "), "{report}");

    let said = filestone(&["explain", &result]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    assert!(text(&said.stdout).contains("filestone help explain#"));

    let json = filestone(&["explain", &result, &result, "--format", "json"]);
    let found: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(found.as_array().map(Vec::len), Some(2));
    assert_eq!(found[0]["outcome"], "told");
    assert!(found[0]["limits"][0]["evidence"][0]["value"].is_number());
}

#[test]
fn of_a_run_too_short_reports_say_nothing_and_explain_says_why() {
    let scratch = Scratch::new();
    let result = scratch.name("result");
    let measured = [
        "probe",
        "null",
        "-d",
        "100ms",
        "--no-calibrate",
        "-o",
        &result,
    ];
    let report = text(&filestone(&measured).stdout);
    assert!(!report.contains("imited"), "{report}");
    let said = text(&filestone(&["explain", &result]).stdout);
    assert!(
        said.contains("Too short to say what limited it: "),
        "{said}"
    );
}

#[test]
fn what_is_no_record_is_refused() {
    let scratch = Scratch::new();
    for path in [scratch.name("nothing"), scratch.name(".")] {
        let refused = filestone(&["explain", &path]);
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{path}: {}",
            text(&refused.stderr)
        );
    }
}

#[test]
fn every_rule_has_a_row_and_a_section_in_the_reference() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/explain.md"
    );
    let page = std::fs::read_to_string(page).expect("the page is there");
    let sections = page.lines().filter_map(|line| line.strip_prefix("### "));
    let ids: Vec<&str> = LIMIT_RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(sections.collect::<Vec<_>>(), ids);
    for rule in LIMIT_RULES {
        let id = rule.id;
        let row = format!("| [{id}](#{id}) | ");
        let row = page.lines().find(|line| line.starts_with(&row));
        let row = row.unwrap_or_else(|| panic!("no row {id}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let from = rule.threshold.map_or_else(String::new, |threshold| {
            format!("{} {}", threshold.figure, threshold.unit)
        });
        let shown = cells[2].trim_start_matches("below ");
        assert_eq!(shown, from, "{id}");
        assert_eq!(cells[3], rule.unless.join(", "), "{id}");
    }
}
