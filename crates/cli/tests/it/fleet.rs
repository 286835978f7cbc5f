//! `filestone fleet`: the example is a plan, plans are run on the built-in server, and what is wrong with
//! one is told with its line.

use crate::support::{Scratch, done, filestone, record_of, text};

#[test]
fn the_example_is_a_plan_of_500_clients() {
    let example = text(&done(&["fleet", "--example"]).stdout);
    let scratch = Scratch::new();
    let path = scratch.file("plan.toml", &example);
    let plan = text(&done(&["fleet", &path, "nfs:", "--dry-run"]).stdout);
    let plan: filestone_model::Plan = serde_json::from_str(&plan).expect("a plan");
    assert_eq!(plan.clients, 500);
    assert_eq!(plan.targets().count(), 1);
}

#[test]
fn a_plan_is_run_and_repeated_from_its_record() {
    let scratch = Scratch::new();
    let path = scratch.file(
        "plan.toml",
        "target = \"nfs:\"\nduration = 30\nseed = 3\n[[group]]\nname = \"both\"\ncount = 3\n\
         direction = \"both\"\nquiesce_files = 2\nfile_size = \"64K\"\n",
    );
    let output = done(&["fleet", &path, "--as", "json"]);
    let record = record_of(&output);
    let fleet = record.fleet.as_ref().expect("it is a fleet");
    let counters = &fleet.groups[0].counters;
    assert_eq!((counters.files_written, counters.files_read), (6, 6));
    assert_eq!(counters.checksum_errors + counters.failures, 0);
    // 16 writes and 16 reads for each file.
    assert_eq!(record.totals.ledger.ok, 6 * 32);
    let stored = scratch.name("run.json");
    std::fs::write(&stored, &output.stdout).expect("it is ours");
    let again = record_of(&done(&["run", &stored, "--as", "json"]));
    assert_eq!(again.totals.ledger.ok, 6 * 32);
    let report = text(&done(&["report", &stored]).stdout);
    assert!(report.contains("both: 3 stopped"), "{report}");
}

#[test]
fn what_is_wrong_with_a_plan_is_told_with_its_line() {
    let scratch = Scratch::new();
    let path = scratch.file("plan.toml", "[[group]]\ncount = 1\nwrite_sise = 4096\n");
    let output = filestone(&["fleet", &path, "nfs:"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("plan.toml:3: \"write_sise\" is no key of a group"),
        "{told}"
    );
    assert!(told.contains("did you mean write_size?"), "{told}");
}
