//! `filestone mix` and nhfsstone's own command line, from outside, for a moment each: what
//! must hold of every run is checked, numbers are not. Looking for loads is in
//! `steered`.

use crate::support::{
    DELAYING, Running, Scratch, done_in_time, filestone, filestone_reading, in_time, record_of,
    serve, text,
};
use filestone_measure::measure::run_record::RunOutcome;
use filestone_measure::measure::{Caveat, RunRecord, Validity};
use filestone_workload::operation::OpKind;
use std::io::{BufRead, BufReader, Read};
use std::process::Output;

/// What makes a run short; the rest is as everybody gets it.
const BRIEF: [&str; 7] = ["--warm-up", "0", "--no-calibrate", "-c", "2", "--seed", "7"];

/// A short mix, with the record on standard output.
fn mix(more: &[&str]) -> Output {
    filestone(&[&["mix", "--format", "json"], &BRIEF[..], more].concat())
}

/// It on a server whose delay hides those of a host that other tests share, and that it counts.
fn recorded(more: &[&str]) -> RunRecord {
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    record_of(&in_time(|| mix(&[&[target.as_str()], more].concat())))
}

/// It of so few operations that chance decides whether they are the mix: nothing else keeps it from counting.
fn recorded_few(more: &[&str]) -> RunRecord {
    of_few(&mix(more))
}

fn of_few(output: &Output) -> RunRecord {
    let (code, said) = (output.status.code(), text(&output.stderr));
    let record = record_of(output);
    let decisive = record.caveats.iter();
    let mut decisive = decisive.filter(|caveat| caveat.leaves() == Validity::DoesNotCount);
    let is_the_mix = decisive.all(|caveat| matches!(caveat, Caveat::MixInvalid { .. }));
    assert!(is_the_mix && matches!(code, Some(0 | 3)), "{said}");
    record
}

fn kinds_of(record: &RunRecord) -> Vec<(OpKind, u64)> {
    let mix = record.mix.as_ref().expect("a mix");
    let rows = mix.operations.iter();
    rows.map(|row| (row.operation, row.count)).collect()
}

fn is_refused(output: &Output, words: &[&str]) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: "), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn the_default_mix_comes_out_in_its_shares_without_an_error() {
    let record = recorded(&["--count", "2000", "--offered", "4k"]);
    assert_eq!(record.end, RunOutcome::Finished);
    let ledger = &record.totals.ledger;
    assert_eq!((ledger.ok, ledger.scheduled), (2000, 2000));
    let mix = record.mix.as_ref().expect("a mix");
    assert!(mix.deviation_percent < 2.0, "{}", mix.deviation_percent);
    for row in &mix.operations {
        let off = (row.actual_percent - row.expected_percent).abs();
        assert!(off < 0.5, "{row:?}");
    }
    assert_eq!(mix.file_set.paths, ["/export/filestone-set"]);
    assert_eq!(mix.file_set.files, 80);
    assert!(mix.file_set.made > 80 && !mix.file_set.removed);
}

#[test]
fn every_mix_of_our_own_runs() {
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    let few = [&target, "--count", "200", "--arrivals", "closed"];
    for name in filestone_plan::mix::names() {
        let record = recorded_few(&[&["--mix", name], &few[..]].concat());
        assert_eq!(record.totals.ledger.ok, 200, "{}", name);
    }
    let list = filestone(&["mix", "--list"]);
    assert_eq!(list.status.code(), Some(0));
    for name in filestone_plan::mix::names() {
        assert!(text(&list.stdout).contains(name));
    }
}

const NFSSTAT: &str = "\
Server nfs v3:
null         getattr      setattr      lookup       access       readlink
4         0% 40       40% 0         0% 40       40% 0         0% 0         0%
read         write        create       mkdir        symlink      mknod
20       20% 0         0% 0         0% 0         0% 0         0% 0         0%
remove       rmdir        rename       link         readdir      readdirplus
0         0% 0         0% 0         0% 0         0% 0         0% 0         0%
fsstat       fsinfo       pathconf     commit
0         0% 0         0% 0         0% 0         0%
";

#[test]
fn a_mix_may_be_what_nfsstat_printed_in_a_file_or_on_standard_input() {
    let scratch = Scratch::new();
    let file = scratch.file("nfsstat.txt", NFSSTAT);
    let of_file = recorded(&["--mix", &file, "--count", "1040"]);
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    let arguments = [
        &["mix", &target, "--format", "json"],
        &["--mix", "-", "--count", "1040"],
        &BRIEF[..],
    ];
    let of_input = in_time(|| filestone_reading(&arguments.concat(), NFSSTAT));
    let of_input = record_of(&of_input);
    let expected = [
        (OpKind::Null, 4),
        (OpKind::GetAttr, 40),
        (OpKind::Lookup, 40),
        (OpKind::Read, 20),
    ];
    for record in [of_file, of_input] {
        let (counts, ledger) = (kinds_of(&record), &record.totals.ledger);
        assert_eq!(ledger.ok, 1040);
        for ((operation, count), (expected, share)) in counts.iter().zip(expected) {
            assert_eq!(*operation, expected);
            // Each of the two clients may be in the middle of its deck.
            assert!(count.abs_diff(10 * share) <= 12, "{counts:?}");
        }
    }
}

#[test]
fn check_reads_what_nfsstat_printed_as_the_mix_does() {
    let scratch = Scratch::new();
    let file = scratch.file("nfsstat.txt", NFSSTAT);
    let of_file = text(&filestone(&["check", &file]).stdout);
    let of_input = filestone_reading(&["check", "-"], NFSSTAT);
    assert_eq!(
        of_input.status.code(),
        Some(0),
        "{}",
        text(&of_input.stderr)
    );
    let table = |page: &str| page.lines().skip(1).map(String::from).collect::<Vec<_>>();
    assert_eq!(table(&text(&of_input.stdout)), table(&of_file));
    assert!(of_file.contains("getattr"), "{of_file}");
    is_refused(
        &filestone_reading(&["check", "-"], "nothing of the kind\n"),
        &["standard input:1:", "is not a count or a share"],
    );
}

#[test]
fn what_is_wrong_with_a_mix_file_is_told_with_its_place() {
    let scratch = Scratch::new();
    let file = scratch.file("wrong.mix", "read 18\nwrit 3\n");
    is_refused(
        &mix(&["--mix", &file]),
        &["wrong.mix:2:1: ", "help: did you mean write?"],
    );
    let cut = scratch.file("cut.txt", "Server nfs:\ncalls badcalls\n100 0\n");
    is_refused(
        &mix(&["--mix", &cut]),
        &["cut.txt:", "unexpected EOF after 'calls'"],
    );
    is_refused(
        &mix(&["--mix", "sfs2009"]),
        &["no such mix of our own", "sfs2008"],
    );
}

#[test]
fn a_plan_of_a_mix_can_be_printed_and_run() {
    let scratch = Scratch::new();
    let arguments = [
        &["mix", "--count", "300", "--dry-run"],
        &BRIEF[..5],
        &["--seed", "5"],
    ];
    let planned = filestone(&arguments.concat());
    assert_eq!(planned.status.code(), Some(0), "{}", text(&planned.stderr));
    let plan = scratch.file("plan.json", &text(&planned.stdout));
    let run = || filestone(&["run", &plan, "--format", "json", "--no-calibrate"]);
    let (one, other) = (record_of(&run()), record_of(&run()));
    assert_eq!((one.plan.seed, one.totals.ledger.ok), (5, 300));
    assert_eq!(kinds_of(&one), kinds_of(&other));
}

#[test]
fn the_set_stays_for_the_next_run_and_goes_when_asked_to() {
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    let found = |more: &[&str]| {
        let few = [target.as_str(), "--arrivals", "closed", "--count", "100"];
        let record = recorded_few(&[&few[..], more].concat());
        record.mix.expect("a mix").file_set
    };
    let first = found(&[]);
    assert_eq!(first.found, 0);
    let again = found(&["--remove-file-set"]);
    assert!(again.found >= again.files && again.removed, "{again:?}");
    assert_eq!(found(&[]).found, 0, "nothing was left");
}

#[test]
fn a_server_that_goes_away_leaves_a_record_and_exit_code_3() {
    let (server, address, _out) = serve(&[]);
    let target = format!("nfs://{address}/export");
    let arguments = [
        "mix",
        &target,
        "-d",
        "60",
        "-m",
        "100ms",
        "--reconnect",
        "200ms",
    ];
    let mut run = Running::start(&[&arguments[..], &["--format", "json"], &BRIEF[..]].concat());
    let mut rows = BufReader::new(run.err());
    for _ in 0..4 {
        rows.read_line(&mut String::new()).expect("a row");
    }
    drop(server);
    let mut document = String::new();
    run.out().read_to_string(&mut document).expect("a record");
    let record: RunRecord = serde_json::from_str(&document).expect("a whole record");
    assert_eq!(record.check(), Ok(()));
    assert!(
        matches!(record.end, RunOutcome::TargetLost { .. }),
        "{:?}",
        record.end
    );
    assert!(record.totals.ledger.ok > 0);
    let is_marked = |caveat: &Caveat| matches!(caveat, Caveat::FileSetStillClaimed { .. });
    assert!(record.caveats.iter().any(is_marked), "{:?}", record.caveats);
    assert_eq!(run.exit_code(), Some(3));
}

#[test]
fn a_directory_that_is_not_on_nfs_is_refused_at_once() {
    let scratch = Scratch::new();
    let output = mix(&["--layer", &scratch.local(), "-d", "60"]);
    is_refused(&output, &["and not on NFS", "help: ", "--no-feedback"]);
    assert_eq!(entries(&scratch), 0);
}

fn entries(scratch: &Scratch) -> usize {
    std::fs::read_dir(scratch.path())
        .expect("it is there")
        .count()
}

#[test]
fn without_feedback_any_directory_will_do_and_the_record_says_what_was_not_seen() {
    let scratch = Scratch::new();
    let on = [
        "--layer",
        &scratch.local(),
        "--no-feedback",
        "--count",
        "200",
    ];
    let brief = ["--warm-up", "0", "-c", "2", "--arrivals", "closed"];
    let arguments = [&["mix", "--format", "json"], &brief[..], &on[..]].concat();
    let output = filestone(&[&arguments[..], &["--remove-file-set"]].concat());
    let record = of_few(&output);
    assert!(record.mix.as_ref().is_some_and(|mix| mix.wire.is_none()));
    let is_unseen = |caveat: &Caveat| matches!(caveat, Caveat::NotSeenOnTheWire { .. });
    assert!(record.caveats.iter().any(is_unseen), "{:?}", record.caveats);
    assert_eq!(entries(&scratch), 0, "--remove-file-set leaves nothing");
}

/// A /proc that says that `directory` is on NFS, and whose counters stand still.
fn recorded_proc(scratch: &Scratch, directory: &str) -> String {
    for directory in ["mnt", "proc/self", "proc/net/rpc"] {
        std::fs::create_dir_all(scratch.path().join(directory)).expect("a directory");
    }
    let mnt = std::fs::canonicalize(scratch.path().join(directory)).expect("it is there");
    let mounts = format!(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         90 22 0:40 / {} rw shared:5 - nfs server:/export rw,vers=3\n",
        mnt.display()
    );
    scratch.file("proc/self/mountinfo", &mounts);
    let calls = ["0"; 22].join(" ");
    let counters = format!("net 0 0 0 0\nrpc 0 0 0\nproc3 22 {calls}\n");
    scratch.file("proc/net/rpc/nfs", &counters);
    scratch.name("proc")
}

#[test]
fn with_counters_of_a_recorded_proc_what_was_asked_stands_beside_what_was_seen() {
    let scratch = Scratch::new();
    let proc = recorded_proc(&scratch, "mnt");
    let on = format!("local:{}", scratch.name("mnt"));
    let arguments = [
        "--layer",
        &on,
        "--proc",
        &proc,
        "-d",
        "500ms",
        "--offered",
        "200",
    ];
    let brief = ["--warm-up", "0", "-c", "2", "--format", "json"];
    let output = filestone(&[&["mix"], &arguments[..], &brief[..]].concat());
    // Nothing was seen on the wire, so that it is another mix.
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let record = record_of(&output);
    let wire = record.mix.and_then(|mix| mix.wire).expect("what was seen");
    assert!(wire.source.contains("net/rpc/nfs"), "{}", wire.source);
    assert!(wire.operations.iter().any(|row| row.asked > 0));
    assert_eq!(wire.calls, 0);
}

#[test]
fn a_set_that_is_not_ours_is_never_touched() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("filestone-set")).expect("a directory");
    let theirs = scratch.file("filestone-set/theirs", "a letter");
    for more in [&[][..], &["--remove-file-set"]] {
        let arguments = [
            "--layer",
            &scratch.local(),
            "--no-feedback",
            "--count",
            "10",
        ];
        let arguments = [&["mix", "--warm-up", "0"], &arguments[..], more].concat();
        is_refused(
            &filestone(&arguments),
            &["was not made by filestone", "--file-set"],
        );
        assert_eq!(
            std::fs::read_to_string(&theirs).expect("it stays"),
            "a letter"
        );
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (arguments, word) in [
        (
            &["--arrivals", "closed", "--offered", "10"][..],
            "--arrivals closed",
        ),
        (&["--curve", "--offered", "10"], "--curve"),
        (&["--curve", "--slo", "p99<1ms"], "--slo"),
        (&["--slo", "p99>1ms"], "p99<2ms"),
        (&["a:/x", "b:/x"], "different servers"),
        (&["--layer", "local:/tmp", "--curve"], "--layer local:"),
        (&["--points", "3"], "--curve"),
        (&["--mix", "sfs2008", "--mount", "/mnt"], "--mount"),
    ] {
        let arguments = [&["mix"], arguments].concat();
        is_refused(&filestone(&arguments), &[word]);
    }
}

#[test]
fn nhfsstones_own_command_line_gives_its_line_its_table_and_its_exit_code() {
    let (_server, address, _out) = serve(&DELAYING);
    let target = format!("nfs://{address}/export");
    let run = ["-v", "-c", "300", "-l", "600", "-p", "2", &target];
    let output = done_in_time(&[&["compat", "nhfsstone"], &run[..]].concat());
    let shown = text(&output.stdout);
    let lines: Vec<&str> = shown.lines().collect();
    for row in ["op        want ", "getattr", "wrcache", "fsstat"] {
        let row_is_there = lines.iter().any(|line| line.starts_with(row));
        assert!(row_is_there, "{row}: {shown}");
    }
    // The table comes first, as nhfsstone printed it.
    let last = lines.last().copied().unwrap_or_default();
    let words: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(
        words.get(1..4),
        Some(&["sec", "300", "calls"][..]),
        "{shown}"
    );
    assert_eq!(words.last(), Some(&"msec/call"), "{shown}");
}

#[test]
fn what_nhfsstone_would_not_do_ends_with_its_exit_code() {
    let scratch = Scratch::new();
    let missing = scratch.name("missing");
    for (arguments, words) in [
        (&["-z"][..], "-z: "),
        (&["-l"], "a value is missing"),
        (&["-c", "ten"], "illegal calls value ten"),
        (&["-m", &missing], "missing: no such file"),
        (&[&scratch.name("")], "and not on NFS"),
        (&["s:/a", "/mnt"], "some directories are mounted"),
    ] {
        let output = filestone(&[&["compat", "nhfsstone"], arguments].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.starts_with("error: ") && said.contains(words),
            "{said}"
        );
    }
    let help = filestone(&["compat", "nhfsstone", "-h"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).starts_with("usage: nhfsstone"));
}
