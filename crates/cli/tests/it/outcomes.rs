//! What a run comes to, from outside: one in which nothing succeeded is no success, and what
//! cannot be done as it was asked is refused with a reason that is true.

use crate::support::{Running, Scratch, command, filestone, record_of, serve, text};
use filestone_measure::measure::{Caveat, GateOutcome};
use std::io::{BufRead as _, BufReader};
use std::process::{ChildStdout, Output};

/// Every time a directory is made or there already: never what this load expects.
const NOTHING_SUCCEEDS: &str = "Mkdir \"\\clients\\client1\" NT_STATUS_ACCESS_DENIED\n";

fn assert_refused(output: &Output, expected: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn a_probe_in_which_nothing_succeeded_exits_with_3_whatever_it_is_called() {
    let (_server, address, _out) = serve(&[
        "--fault",
        "error=NFS3ERR_IO,proc=fsstat",
        "--fault",
        "error=NFS3ERR_IO,proc=read",
    ]);
    let (_, port) = address.rsplit_once(':').expect("a port");
    let target = format!("nfs://{address}/export");
    let file = "127.0.0.1:/export/file";
    let probe = ["probe", "fsstat", &target, "--count", "5", "--no-calibrate"];
    for arguments in [
        probe.to_vec(),
        vec!["compat", "nct", "-d", "1", "-p", port, "read", file],
    ] {
        let output = filestone(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(said.contains("NFS3ERR_IO"), "{said}");
    }
    let scratch = Scratch::new();
    let dry = [probe.as_slice(), &["--dry-run"]].concat();
    let plan = scratch.file("plan.json", &text(&filestone(&dry).stdout));
    let output = filestone(&["run", &plan, "--no-calibrate"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

#[test]
fn a_replay_in_which_nothing_succeeded_exits_with_3_whatever_it_is_called() {
    let scratch = Scratch::new();
    let load = scratch.file("nothing.load", NOTHING_SUCCEEDS);
    let directory = scratch.path().display().to_string();
    let local = scratch.local();
    for arguments in [
        vec!["replay", &load, "--layer", &local, "--run-once"],
        vec![
            "compat", "dbench", "-D", &directory, "-c", &load, "-t", "1", "1",
        ],
    ] {
        let output = filestone(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(said.contains("ended otherwise than expected"), "{said}");
        let shown = text(&output.stdout);
        assert!(!shown.contains("Throughput"), "{shown}");
    }
}

#[test]
fn failures_that_are_expected_keep_no_run_from_counting() {
    let (_server, address, _out) = serve(&["--fault", "error=NFS3ERR_IO,proc=fsstat"]);
    let target = format!("nfs://{address}/export");
    let probe = |expect: &str| {
        let rest = ["--count", "50", "--no-calibrate", "--fail-if", "errors"];
        let words = [&["probe", "fsstat", &target, "--expect", expect], &rest[..]].concat();
        filestone(&words)
    };
    let output = probe("NFS3ERR_STALE,nfs3err_io");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("50 failed"), "{shown}");
    assert!(shown.starts_with("verdict         counts"), "{shown}");
    let output = probe("NFS3ERR_STALE");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("verdict         does not count ("),
        "{shown}"
    );
    let said = probe("NFS3ERR_NOSUCH");
    assert_refused(&said, "error: --expect NFS3ERR_NOSUCH: ");
}

#[test]
fn a_fleet_whose_commits_fail_does_not_count() {
    let (_server, address, _out) = serve(&["--fault", "error=NFS3ERR_NOSPC,proc=commit"]);
    let scratch = Scratch::new();
    let path = scratch.file(
        "plan.toml",
        "duration = 1\nseed = 3\n[[group]]\nname = \"writers\"\ncount = 2\n\
         direction = \"write\"\nfile_size = \"4K\"\n",
    );
    let target = format!("nfs://{address}/export");
    let fleet = ["fleet", &path, &target, "--fail-if", "errors"];
    let output = filestone(&[&fleet[..], &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let record = record_of(&output);
    let of_commit = record.caveats.iter().any(|caveat| match caveat {
        Caveat::UnexpectedOutcomes { outcomes, .. } => outcomes[0].outcome == "NFS3ERR_NOSPC (28)",
        _ => false,
    });
    assert!(of_commit, "{:?}", record.caveats);
    assert_eq!(record.gates[0].outcome, GateOutcome::Fails);
    let expecting = filestone(&[&fleet[..], &["--expect", "NFS3ERR_NOSPC"]].concat());
    assert_eq!(
        expecting.status.code(),
        Some(0),
        "{}",
        text(&expecting.stderr)
    );
}

#[test]
fn a_processor_that_is_not_there_is_no_place_to_bind_a_thread_to() {
    for arguments in [
        vec!["probe", "null", "--pin", "1023", "--no-calibrate"],
        vec!["replay", "--run-once", "--pin", "1023"],
        vec!["mix", "--pin", "1023", "--no-calibrate"],
    ] {
        let output = filestone(&arguments);
        assert_refused(
            &output,
            "error: --pin 1023: there is no such processor for this process\n\
             help: it may run on 0",
        );
    }
    let local = filestone(&["mix", "--layer", "local:/tmp", "--pin", "0"]);
    assert_refused(&local, "error: --pin with --layer local: ");
}

#[test]
fn a_directory_that_takes_no_files_is_not_said_to_be_missing() {
    let expected = "error: /proc: no directory can be made in it\nhelp: use a directory of a";
    assert_refused(&filestone(&["replay", "--layer", "local:/proc"]), expected);
    let output = filestone(&["compat", "dbench", "-D", "/proc", "-t", "1", "1"]);
    let said = text(&output.stderr);
    assert!(said.contains(expected), "{said}");
    let expected = "error: /nowhere: there is no such directory\n";
    assert_refused(
        &filestone(&["replay", "--layer", "local:/nowhere"]),
        expected,
    );
}

#[test]
fn a_directory_hides_neither_a_load_nor_a_mix_of_our_own() {
    let scratch = Scratch::new();
    for name in ["build", "sfs3", "nhfsstone", "other"] {
        std::fs::create_dir(scratch.path().join(name)).expect("a directory");
    }
    let in_scratch = |arguments: &[&str]| {
        let mut command = command(arguments);
        let output = command.current_dir(scratch.path()).output();
        output.expect("the binary was built")
    };
    for arguments in [
        ["check", "build"].as_slice(),
        &["check", "nhfsstone"],
        &["replay", "build", "--dry-run"],
        &["mix", "--mix", "nhfsstone", "--dry-run"],
    ] {
        let output = in_scratch(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    for (name, arguments) in [
        ("build/", ["check", "build/"].as_slice()),
        ("./build", &["replay", "./build"]),
        ("other", &["replay", "other"]),
    ] {
        let expected = format!("error: {name}: this is a directory, and a load is a file\nhelp: ");
        assert_refused(&in_scratch(arguments), &expected);
    }
    let expected = "error: ./nhfsstone: this is a directory, and a mix is a file\nhelp: ";
    assert_refused(&in_scratch(&["mix", "--mix", "./nhfsstone"]), expected);
}

#[test]
fn the_help_and_the_page_agree_on_how_long_it_takes_to_calibrate() {
    let help = text(&filestone(&["probe", "--help"]).stdout);
    let page = include_str!("../../../../docs/reference/probe.md");
    for said in [help, page.to_lowercase()] {
        assert!(said.contains("half a second"), "{said}");
    }
}

/// A server of SMB, the URL of its share, and its output for later.
fn serve_share(more: &[&str]) -> (Running, String, BufReader<ChildStdout>) {
    let (server, _, mut out) = serve(&[&["--smb-port", "0"], more].concat());
    let share = loop {
        let mut line = String::new();
        out.read_line(&mut line).expect("it is printed");
        if let Some((_, address)) = line.split_once("filestone probe echo ") {
            break address.trim().to_owned();
        }
        assert!(!line.is_empty(), "no share");
    };
    (server, share, out)
}

#[test]
fn preparing_waits_for_an_answer_as_long_as_asked() {
    let (_server, address, _out) = serve(&["--fault", "drop,proc=getattr"]);
    let (_other, share, _rest) = serve_share(&["--fault", "drop,proc=create"]);
    for target in [format!("nfs://{address}/export/files"), share] {
        let probe = ["probe", "getattr", &target, "--no-calibrate"];
        let output = filestone(&[&probe[..], &["--timeout", "321ms"]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("no answer within 321ms"), "{said}");
    }
}

#[test]
fn output_that_cannot_be_written_ends_printing_and_not_the_clean_up() {
    let (_server, share, _out) = serve_share(&[]);
    let scratch = Scratch::new();
    let local = scratch.local();
    for target in [&local, &share] {
        let full = std::fs::File::create("/dev/full").expect("it is there");
        let ended = command(&[
            "replay", "office", "--layer", target, "-c", "4", "-d", "60s",
        ])
        .stdout(full)
        .output()
        .expect("the binary was built");
        let said = text(&ended.stderr);
        assert!(said.contains("no space left on device"), "{said}");
        assert_eq!(ended.status.code(), Some(4), "{said}");
        assert!(!said.contains("could not be removed"), "{said}");
    }
    assert!(scratch.is_empty());
    // A reader that has seen enough is no error, and the next run finds nothing left over.
    for target in [&local, &share] {
        let mut running = command(&[
            "replay", "office", "--layer", target, "-c", "4", "-d", "60s",
        ])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the binary was built");
        drop(running.stdout.take());
        let ended = running.wait().expect("it is our child");
        assert_eq!(ended.code(), Some(0));
        let again = filestone(&[
            "replay",
            "office",
            "--layer",
            target,
            "-c",
            "1",
            "--run-once",
        ]);
        assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    }
    assert!(scratch.is_empty());
}
