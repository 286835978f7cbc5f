//! The binary from outside: help, messages and exit codes. Nothing here needs a
//! server; what does is in `loopback`.

use crate::support::{Scratch, command, filestone, text};
use std::process::Stdio;

#[test]
fn help_of_every_command() {
    let mut all = String::new();
    for command in [
        vec!["--help"],
        vec!["probe", "--help"],
        vec!["demo", "--help"],
        vec!["replay", "-h"],
        vec!["run", "--help"],
        vec!["check", "--help"],
        vec!["serve", "--help"],
        vec!["calibrate", "--help"],
        vec!["doctor", "-h"],
        vec!["compare", "--help"],
        vec!["explain", "--help"],
        vec!["ab", "--help"],
        vec!["sweep", "--help"],
        vec!["ladder", "--help"],
        vec!["history", "--help"],
        vec!["report", "--help"],
        vec!["compat", "--help"],
        vec!["completions", "--help"],
    ] {
        let output = filestone(&command);
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty());
        all.push_str(&format!(
            "$ filestone {}\n{}\n",
            command.join(" "),
            text(&output.stdout)
        ));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_short_help_of_mix_has_the_load_first_and_is_short() {
    let output = command(&["mix", "-h"]).env("COLUMNS", "80").output();
    let shown = text(&output.expect("the binary was built").stdout);
    let groups: Vec<&str> = shown
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with(' '))
        .collect();
    assert_eq!(groups[2], "Load:", "{groups:?}");
    assert!(shown.lines().count() <= 60, "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}

#[test]
fn the_long_version_has_the_build_and_the_short_one_is_a_line() {
    let long = text(&filestone(&["--version"]).stdout);
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(
        lines[0],
        format!("filestone {}", env!("CARGO_PKG_VERSION")),
        "{long}"
    );
    let names: Vec<&str> = lines[1..]
        .iter()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        names,
        ["commit", "profile", "target", "features", "MPI"],
        "{long}"
    );
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.split_whitespace().count() >= 2),
        "{long}"
    );
    let short = text(&filestone(&["-V"]).stdout);
    assert_eq!(short.lines().count(), 1, "{short}");
}

#[test]
fn without_arguments_it_shows_two_commands_to_try() {
    let output = filestone(&[]);
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output.stdout);
    assert!(shown.contains("filestone demo"), "{shown}");
    assert!(
        shown.contains("filestone probe getattr nfs://SERVER/EXPORT"),
        "{shown}"
    );
}

#[test]
fn usage_errors_go_to_standard_error_and_exit_with_2() {
    for (arguments, expected) in [
        (
            vec!["probe", "null", "--offered", "0"],
            "error: --offered 0: the offered load must be more than 0 operations per second\n\
             help: filestone probe --help lists what there is\n",
        ),
        (
            vec!["probe", "gettattr"],
            "error: OP gettattr: expected null, getattr,",
        ),
        (
            vec!["report", "/nowhere"],
            "error: /nowhere: no such file or directory (2)\n",
        ),
        (
            vec!["probe", "null", "--fail-on-caveat=rain"],
            "error: --fail-on-caveat=rain: there is no such caveat\nhelp: the caveats are ",
        ),
        (
            vec!["probe", "null", "-o", "/dev/null"],
            "error: --output /dev/null: this is not a directory\n\
             help: name a new or an empty directory\n",
        ),
    ] {
        let output = filestone(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(output.stdout.is_empty());
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_this_hosts_fault() {
    let output = filestone(&["probe", "null", "-o", "/proc/filestone"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("error: /proc/filestone: "));
}

#[test]
fn a_dry_run_prints_a_plan_that_run_takes() {
    let output = filestone(&[
        "probe",
        "read",
        "server:/export/file",
        "--seed",
        "1",
        "--dry-run",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let plan = text(&output.stdout);
    assert!(plan.contains("\"operation\": \"read\""), "{plan}");
    assert!(plan.contains("\"host\": \"server\""), "{plan}");
}

#[test]
fn nct_ends_with_ncts_exit_codes_and_shows_ncts_help() {
    let output = filestone(&["compat", "nct", "-x"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(text(&output.stderr).starts_with("error: -x: nct has no such option\n"));
    let output = filestone(&["compat", "nct", "-h"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).starts_with("usage: nct [-v] [-d duration]"));
    let output = filestone(&["compat", "nct", "read", "-h"]);
    assert!(text(&output.stdout).starts_with("usage: nct read"));
}

#[test]
fn the_schema_of_the_record_is_published() {
    let output = filestone(&["schema", "doctor"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("\"consequence\""));
    for (document, key) in [("ab", "\"order\""), ("repeats", "\"within_run\"")] {
        let output = filestone(&["schema", document]);
        assert!(text(&output.stdout).contains(key), "{document}");
    }
    let output = filestone(&["schema", "compare"]);
    assert!(text(&output.stdout).contains("\"change_low\""));
    let output = filestone(&["schema"]);
    assert_eq!(output.status.code(), Some(0));
    let schema = text(&output.stdout);
    for key in [
        "achieved_load_ops_per_s",
        "response_time_ns",
        "client_cpu_ns_per_op",
    ] {
        assert!(schema.contains(key), "{key}");
    }
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = filestone(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("probe"), "{shell}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn check_says_all_that_is_wrong_and_still_shows_what_is_right() {
    let scratch = Scratch::new();
    let wrong = scratch.file(
        "wrong.load",
        "Mkdir \"/clients\" NT_STATUS_OK\nClose 7 NT_STATUS_OK\nRmdir \"/clients\" SUCESS\n",
    );
    let output = filestone(&["check", &wrong, "untar"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains(&format!("error: {wrong}:2:7: ")),
        "{errors}"
    );
    assert!(
        errors.contains(&format!("error: {wrong}:3:18: ")),
        "{errors}"
    );
    assert!(errors.contains("help: "), "{errors}");
    let shown = text(&output.stdout);
    assert!(shown.starts_with("untar: "), "{shown}");
}

#[test]
fn check_as_json_is_a_list_of_loads() {
    let output = filestone(&["check", "mail", "database", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let loads: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let names: Vec<&str> = loads
        .as_array()
        .expect("it is a list")
        .iter()
        .filter_map(|load| load["load"].as_str())
        .collect();
    assert_eq!(names, ["mail", "database"]);
    assert!(loads[0]["contents"]["cut_off"].is_null());
}
