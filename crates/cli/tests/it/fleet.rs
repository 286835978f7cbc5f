//! `filestone fleet`: the example is a plan, plans are run on the built-in server, and what is wrong with
//! one is told with its line.

use crate::support::{Running, Scratch, command, done, filestone, record_of, serve, text};
use filestone_measure::measure::Caveat;
use std::time::{Duration, Instant};

#[test]
fn the_example_is_a_plan_of_500_clients() {
    let example = text(&done(&["fleet", "--example"]).stdout);
    let scratch = Scratch::new();
    let path = scratch.file("plan.toml", &example);
    let plan = text(&done(&["fleet", &path, "nfs:", "--dry-run"]).stdout);
    let plan: filestone_plan::Plan = serde_json::from_str(&plan).expect("a plan");
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
    let output = done(&["fleet", &path, "--format", "json"]);
    let record = record_of(&output);
    let fleet = record.fleet.as_ref().expect("it is a fleet");
    let counters = &fleet.groups[0].counters;
    assert_eq!((counters.files_written, counters.files_read), (6, 6));
    assert_eq!(counters.checksum_errors + counters.failures, 0);
    // 16 writes and 16 reads for each file.
    assert_eq!(record.totals.ledger.ok, 6 * 32);
    let stored = scratch.name("run.json");
    std::fs::write(&stored, &output.stdout).expect("it is ours");
    let again = record_of(&done(&["run", &stored, "--format", "json"]));
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
        told.contains("plan.toml:3: \"write_sise\" is not a key of a group"),
        "{told}"
    );
    assert!(told.contains("did you mean write_size?"), "{told}");
}

#[test]
fn addresses_are_planned_without_privileges_and_nothing_is_changed() {
    // TEST-NET-2 (RFC 5737): no host has any of it.
    let output = done(&["fleet", "addresses", "up", "198.51.100.0/24", "--dry-run"]);
    assert_eq!(
        text(&output.stdout),
        "ip route add local 198.51.100.0/24 dev lo table 255 proto 102\n"
    );
    let told = text(&output.stderr);
    assert!(
        told.contains("servers need a route to 198.51.100.0/24 by way of this host"),
        "{told}"
    );
    let told = text(&done(&["fleet", "addresses", "up", "127.1.0.0/16"]).stderr);
    assert!(told.contains("nothing is to be made"), "{told}");
    let shown = text(&done(&["fleet", "addresses", "show", "--format", "json"]).stdout);
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert!(
        shown["routes"].is_array() && shown["warnings"].is_array(),
        "{shown}"
    );
}

#[test]
fn addresses_that_cannot_be_are_refused_before_anything_is_changed() {
    for (words, code, expected) in [
        (&["10.0.0"][..], 2, "\"10.0.0\": expected an address"),
        (
            &["10.9.0.1", "--aliases=none7"],
            2,
            "none7: this host has no such interface",
        ),
        (
            &["10.9.0.1", "--mac-vlans=lo"],
            2,
            "lo: MAC-VLANs are made on an Ethernet interface",
        ),
        (&["10.9.0.1", "--gateway=10.9.0.2"], 2, "--mac-vlans"),
        (
            &["10.9.0.1", "--mac-vlans=lo", "--name=a7"],
            2,
            "--name a7: expected a letter",
        ),
    ] {
        let words = [&["fleet", "addresses", "up"], words].concat();
        let output = filestone(&words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn sources_that_are_not_this_hosts_are_told_with_the_command_that_makes_them() {
    let output = filestone(&[
        "fleet",
        "--writers=3",
        "--source=198.51.100.1-198.51.100.9",
        "nfs:",
    ]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(
        told.contains("3 of the 3 addresses that clients connect from"),
        "{told}"
    );
    assert!(
        told.contains("`filestone fleet addresses up 198.51.100.1-198.51.100.3`"),
        "{told}"
    );
}

/// A fleet of two groups on the built-in server, which runs until it is dropped, and its socket.
fn controlled(scratch: &Scratch) -> (Running, String) {
    let plan = "target = \"nfs:\"\nduration = 600\nseed = 3\n\
        [[group]]\nname = \"writers\"\ncount = 4\nfile_size = \"64K\"\nrate = \"200ops/s\"\n\
        [[group]]\nname = \"readers\"\ncount = 4\ndirection = \"read\"\nreads = \"writers\"\n";
    let path = scratch.file("plan.toml", plan);
    let socket = scratch.name("ctl");
    let fleet = Running::start(&["fleet", &path, "--ctl", &socket, "--format", "json"]);
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let output = filestone(&[
            "fleet", "ctl", "--socket", &socket, "list", "--format", "json",
        ]);
        let told = text(&output.stdout);
        if output.status.success() && told.contains("\"running\"") {
            return (fleet, socket);
        }
        assert!(Instant::now() < end, "{told}{}", text(&output.stderr));
    }
}

fn ctl(socket: &str, words: &[&str]) -> std::process::Output {
    let line = [&["fleet", "ctl", "--socket", socket], words].concat();
    filestone(&line)
}

#[test]
fn a_fleet_is_changed_while_it_runs_and_its_record_says_so() {
    let scratch = Scratch::new();
    let (mut fleet, socket) = controlled(&scratch);
    let mut out = fleet.out();
    let told = |words: &[&str]| {
        let output = ctl(&socket, words);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let dry = told(&["set", "writers[0..1]", "rate=50ops/s", "--dry-run"]);
    assert!(
        dry.contains("rate: 200ops/s -> 50ops/s, 2 clients"),
        "{dry}"
    );
    told(&["set", "writers[0..1]", "rate=50ops/s"]);
    told(&["quiesce", "readers"]);
    told(&["stop", "writers/3"]);
    told(&["start", "writers/3"]);
    let shown = told(&["show", "writers/0"]);
    assert!(shown.contains("50ops/s"), "{shown}");
    let listed = told(&["list", "--clients", "*/3"]);
    assert!(
        listed.contains("writers/3") && listed.contains("readers/3"),
        "{listed}"
    );
    fleet.interrupt();
    let mut record = String::new();
    std::io::Read::read_to_string(&mut out, &mut record).expect("it is text");
    assert_eq!(fleet.exit_code(), Some(130));
    assert!(!std::path::Path::new(&socket).exists());
    let record: filestone_measure::measure::RunRecord =
        serde_json::from_str(&record).expect("a record");
    let generations: Vec<u32> = record
        .intervals
        .iter()
        .filter_map(|interval| interval.settings)
        .map(|settings| settings.generation)
        .collect();
    assert_eq!(generations.len(), record.intervals.len());
    assert!(generations.is_sorted() && generations.last() == Some(&4));
    let changed = record.caveats.iter();
    assert!(changed.map(Caveat::id).any(|id| id == "settings-changed"));
    let changes = record.fleet.expect("a fleet").changes;
    let kinds: Vec<&str> = changes.iter().map(|change| change.action.name()).collect();
    assert_eq!(kinds, ["set", "quiesce", "stop", "start"]);
    assert_eq!(changes[0].settings[0].to, "50ops/s");
    assert_eq!((changes[0].number, changes[1].clients), (1, 4));
}

#[test]
fn what_cannot_be_changed_or_asked_is_told() {
    let scratch = Scratch::new();
    let (_fleet, socket) = controlled(&scratch);
    for (words, wanted) in [
        (
            &["set", "writers", "count=9"][..],
            "count cannot be changed while clients run",
        ),
        (
            &["set", "writers", "rate=5MB"],
            "rate: \"5MB\": expected a rate such as",
        ),
        (&["set", "writers", "rat=5"], "did you mean rate?"),
        (&["stop", "writer"], "did you mean writers?"),
        (&["stop", "x*"], "no client has a name like \"x*\""),
        (
            &["start", "writers[3..9]"],
            "the clients of \"writers\" are 0 to 3",
        ),
    ] {
        let output = ctl(&socket, words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(wanted), "{told}");
    }
    let nowhere = scratch.name("nowhere");
    let output = ctl(&nowhere, &["list"]);
    assert_eq!(output.status.code(), Some(4));
    let output = command(&["fleet", "ctl", "list"])
        .env("XDG_RUNTIME_DIR", scratch.path())
        .output()
        .expect("the binary was built");
    assert!(text(&output.stderr).contains("no fleet of this user runs"));
}

#[test]
fn a_cookbook_that_loses_its_server_shows_the_row_and_what_it_came_to() {
    let (server, address, _out) = serve(&[]);
    let target = format!("nfs://{address}/export");
    let scratch = Scratch::new();
    // Fleets of other tests have their sockets elsewhere.
    let run = |words: &[&str]| {
        let mut command = command(words);
        command.env("XDG_RUNTIME_DIR", scratch.path());
        command.output().expect("the binary was built")
    };
    let output = std::thread::scope(|scope| {
        // It gives its server up before it is told to change its sizes.
        let cookbook = scope.spawn(|| run(&["fleet", "cookbook", &target, "-d", "15s"]));
        let end = Instant::now() + Duration::from_secs(60);
        let is_running = || {
            let listed = run(&["fleet", "ctl", "list", "--format", "json"]);
            text(&listed.stdout).contains("\"running\"")
        };
        while !is_running() && Instant::now() < end && !cookbook.is_finished() {}
        drop(server);
        cookbook.join().expect("it ends")
    });
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(!told.contains("error: "), "{told}");
    // Where lines end depends on the reasons.
    let shown = text(&output.stdout).replace('\n', " ");
    assert!(
        shown.contains("2 clients: does not count (") && shown.contains("the target was lost"),
        "{shown}{told}"
    );
}
