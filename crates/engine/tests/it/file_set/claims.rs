//! Whose a set is, and who works in it.

use super::bench::{Bench, plan, refusal};
use crate::support::live::serve;
use filestone_engine::protocols::BuiltIn;
use filestone_engine::{Job, Protocols};
use filestone_host::control::{NoObserver, RunContext};
use filestone_host::error::RunError;
use filestone_plan::plan::{
    LeftoverPolicy, MixCount, MixPlan, NfsTarget, Plan, TargetPlan, WorkloadPlan,
};
use filestone_server::Running;
use filestone_setup::workspace::marker::ProcessIdentity;
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const MARKER: &str = "made-by-filestone";

#[test]
fn what_was_not_made_by_us_is_not_touched() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    bench.make_directory("", "set");
    bench.write("set", "precious", b"data");
    let plan = plan(4, "1K");
    let (what, help) = refusal(&bench.prepare(&plan, 1).expect_err("it is foreign"));
    assert_eq!(
        what,
        "/export/set: was not made by filestone: nothing has been touched"
    );
    assert!(help.contains("another name"), "{help}");
    for text in [
        &b""[..],
        b"This directory was made by filestone, a benchmark.",
    ] {
        bench.write("set", MARKER, text);
        refusal(&bench.prepare(&plan, 1).expect_err("it is foreign"));
    }
    assert_eq!(bench.names("set"), [MARKER, "precious"]);
    let file = super::bench::plan(4, "1K");
    let file = filestone_plan::plan::FileSetPlan {
        name: "file".into(),
        ..file
    };
    let (what, _) = refusal(&bench.prepare(&file, 1).expect_err("a file"));
    assert!(what.starts_with("/export/file: is no directory"), "{what}");
}

#[test]
fn a_marker_without_a_recipe_is_not_that_of_a_set() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    bench.make_directory("", "set");
    bench.write("set", "client0000", b"data");
    // What a replay writes, of a process that has ended: numbers are below 2^22.
    let marker = b"made by filestone 0\nhost: here\nprocess: 4294967295\ngiven up\n";
    for name in [MARKER, ".filestone"] {
        bench.write("set", name, marker);
        let (what, _) = refusal(&bench.prepare(&plan(4, "1K"), 1).expect_err("no set"));
        assert!(what.contains("was not made by filestone"), "{what}");
    }
    assert_eq!(bench.names("set"), [".filestone", "client0000", MARKER]);
    assert_eq!(bench.text(&format!("set/{MARKER}")), marker);
}

#[test]
fn a_set_whose_first_marker_was_cut_off_is_made_anew() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    bench.make_directory("", "set");
    bench.write("set", MARKER, b"");
    let set = bench.prepare(&plan(4, "1K"), 1).expect("nothing is in it");
    assert_eq!(set.record.found, 0);
    assert_eq!(bench.names("set"), ["client0000", MARKER]);
}

#[test]
fn two_runs_do_not_share_a_set() {
    let server = serve(|_| {});
    let bench = Bench::new(&server);
    let set = bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    for other in [plan(4, "1K"), plan(5, "1K")] {
        let (what, help) = refusal(&bench.prepare(&other, 1).expect_err("in use"));
        let expected = "/export/set: another run is using this file set (process ";
        assert!(what.starts_with(expected), "{what}");
        assert!(help.contains("wait for its end"), "{help}");
    }
    set.release(&bench.session).expect("it can be given up");
    bench.prepare(&plan(4, "1K"), 1).expect("it is free");
}

/// The marker with another owner.
fn owned_by(bench: &mut Bench, process: &str, host: &str) {
    let text = String::from_utf8(bench.text(&format!("set/{MARKER}"))).expect("text");
    let lines = text.lines().filter(|line| *line != "given up");
    let lines = lines.map(|line| match line.split_once(": ") {
        Some(("process", _)) => format!("process: {process}"),
        Some(("host", _)) if !host.is_empty() => format!("host: {host}"),
        _ => line.to_string(),
    });
    let text: Vec<String> = lines.collect();
    bench.write("set", MARKER, text.join("\n").as_bytes());
}

#[test]
fn the_set_of_a_run_that_died_is_taken_over() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let set = bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    set.release(&bench.session).expect("it can be given up");
    // Numbers of processes are below 2^22.
    owned_by(&mut bench, "4294967295", "");
    bench.write("set", "made-by-filestone.next", b"");
    let set = bench.prepare(&plan(4, "1K"), 1).expect("its run is over");
    assert_eq!(set.record.made, 0);
    assert_eq!(bench.names("set"), ["client0000", MARKER]);
}

#[test]
fn the_set_of_a_run_on_another_host_is_left_to_it() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let set = bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    set.release(&bench.session).expect("it can be given up");
    owned_by(&mut bench, "7", "elsewhere.invalid");
    let (what, help) = refusal(&bench.prepare(&plan(4, "1K"), 1).expect_err("in use"));
    assert!(what.contains("process 7 on elsewhere.invalid"), "{what}");
    assert!(help.contains("given up"), "{help}");
    let text = String::from_utf8(bench.text(&format!("set/{MARKER}"))).expect("text");
    bench.write("set", MARKER, format!("{text}\ngiven up\n").as_bytes());
    bench.prepare(&plan(4, "1K"), 1).expect("it was given up");
}

#[test]
fn the_user_may_say_that_the_run_on_another_host_is_over() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let set = bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    set.release(&bench.session).expect("it can be given up");
    owned_by(&mut bench, "7", "elsewhere.invalid");
    bench.left_over = LeftoverPolicy::Remove;
    let set = bench.prepare(&plan(4, "1K"), 1).expect("the user says so");
    assert_eq!(set.record.found, 0, "it was removed first");
    assert!(set.record.made > 0);
}

/// A process of another host, which owns the set.
fn elsewhere() -> ProcessIdentity {
    ProcessIdentity {
        host: "elsewhere.invalid".into(),
        process: 7,
        began: None,
    }
}

/// Does with what process 7 of another host has left what that would have done.
fn reclaim(server: &Running, removes: bool, stop: &AtomicBool) -> Result<(), RunError> {
    let mix = MixPlan {
        remove_set: removes,
        ..MixPlan::new("test", MixCount::of(&[(OpKind::GetAttr, 1)]), plan(4, "1K"))
    };
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    let plan = Plan::new("mix", target, WorkloadPlan::Mix(Box::new(mix)), 1);
    let job = Job {
        built_in: BuiltIn {
            nfs3: Some(server.address()),
            ..BuiltIn::default()
        },
        ..Job::new(&plan)
    };
    let (limit, protocols) = (Duration::from_secs(60), Protocols::default());
    let mut observer = NoObserver;
    let context = &mut RunContext::new(stop, &mut observer);
    filestone_engine::reclaim(&job, &protocols, &elsewhere(), limit, context)
}

#[test]
fn the_set_of_a_process_that_is_known_to_be_over_is_removed_or_given_up() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    for removes in [true, false] {
        // Also of a job that was stopped, which still cleans up.
        for stop in [false, true].map(AtomicBool::new) {
            bench.prepare(&plan(4, "1K"), 2).expect("it is made");
            owned_by(&mut bench, "7", "elsewhere.invalid");
            // It ended when it was about to take the set over.
            let text = bench.text(&format!("set/{MARKER}"));
            bench.write("set", "made-by-filestone.next", &text);
            reclaim(&server, removes, &stop).expect("its process is over");
            assert_eq!(bench.find("set").is_none(), removes);
            let set = bench.prepare(&plan(4, "1K"), 2).expect("it is free");
            assert_eq!(set.record.made == 0, !removes);
            set.release(&bench.session).expect("it can be given up");
        }
    }
}

#[test]
fn what_a_process_left_between_two_calls_is_removed() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    for markers in [&[][..], &[MARKER], &["made-by-filestone.next"]] {
        bench.make_directory("", "set");
        for marker in markers {
            bench.write("set", marker, b"");
        }
        reclaim(&server, false, &AtomicBool::new(false)).expect("nothing is in it");
        assert_eq!(bench.find("set"), None, "{markers:?}");
    }
    reclaim(&server, true, &AtomicBool::new(false)).expect("nothing is there");
}

#[test]
fn what_is_not_that_processs_is_left_alone() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let go_on = AtomicBool::new(false);
    bench.make_directory("", "set");
    bench.write("set", "precious", b"data");
    let (what, _) = refusal(&reclaim(&server, true, &go_on).expect_err("foreign"));
    assert!(what.starts_with("/export/set: was not made"), "{what}");
    assert_eq!(bench.text("set/precious"), b"data");
    bench.remove("set", "precious");
    reclaim(&server, true, &go_on).expect("nothing is in it");
    let set = bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    // Of this process, of another one of that host, and one that is over.
    reclaim(&server, true, &go_on).expect("it is left to its run");
    owned_by(&mut bench, "8", "elsewhere.invalid");
    reclaim(&server, true, &go_on).expect("it is left to its run");
    let text = String::from_utf8(bench.text(&format!("set/{MARKER}"))).expect("text");
    assert!(text.contains("process: 8\n"), "{text}");
    bench.write("set", MARKER, format!("{text}\ngiven up\n").as_bytes());
    reclaim(&server, true, &go_on).expect("it is free for the next run");
    assert_eq!(bench.names("set"), ["client0000", MARKER]);
    drop(set);
}

#[test]
fn of_the_set_of_a_process_that_is_over_what_is_foreign_stays() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    owned_by(&mut bench, "7", "elsewhere.invalid");
    bench.write("set/client0000/files0", "precious", b"data");
    let go_on = AtomicBool::new(false);
    let (what, _) = refusal(&reclaim(&server, true, &go_on).expect_err("a foreign directory"));
    assert!(what.contains("files0: there is something in it"), "{what}");
    assert_eq!(bench.text("set/client0000/files0/precious"), b"data");
    bench.prepare(&plan(4, "1K"), 1).expect("it was given up");
}

#[test]
fn a_set_that_somebody_has_taken_over_is_not_removed() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let mut set = bench.prepare(&plan(4, "1K"), 1).expect("it is made");
    owned_by(&mut bench, "7", "elsewhere.invalid");
    let go_on = AtomicBool::new(false);
    let (what, _) = refusal(
        &set.remove(&bench.session, &go_on)
            .expect_err("a foreign directory"),
    );
    assert!(
        what.contains("does not belong to this run any more"),
        "{what}"
    );
    set.release(&bench.session).expect("nothing to give up");
    let text = String::from_utf8(bench.text(&format!("set/{MARKER}"))).expect("text");
    assert!(text.contains("elsewhere.invalid"), "{text}");
}

#[test]
fn what_somebody_has_put_into_a_set_stays() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let mut set = bench.prepare(&plan(4, "1K"), 2).expect("it is made");
    bench.write("set/client0001/files0", "precious", b"data");
    let go_on = AtomicBool::new(false);
    let (what, help) = refusal(
        &set.remove(&bench.session, &go_on)
            .expect_err("a foreign directory"),
    );
    let expected = "/export/set/client0001/files0: there is something in it";
    assert!(what.starts_with(expected), "{what}");
    assert!(help.contains("move it away"), "{help}");
    assert_eq!(bench.text("set/client0001/files0/precious"), b"data");
    // It is ours still, and nobody's now.
    let mut set = bench.prepare(&plan(4, "1K"), 2).expect("it can be mended");
    bench.remove("set/client0001/files0", "precious");
    bench.write("set", "letter.txt", b"dear");
    let (what, _) = refusal(
        &set.remove(&bench.session, &go_on)
            .expect_err("a foreign directory"),
    );
    let expected = "/export/set/letter.txt: was not made by filestone";
    assert!(what.starts_with(expected), "{what}");
    assert_eq!(bench.names("set"), ["letter.txt", MARKER]);
    bench.prepare(&plan(4, "1K"), 2).expect("it is ours still");
}

#[test]
fn a_server_that_keeps_no_data_keeps_the_marker_all_the_same() {
    let server = serve(|options| options.discard = true);
    let bench = Bench::new(&server);
    let set = bench
        .prepare(&plan(40, "nhfsstone"), 2)
        .expect("it is made");
    refusal(
        &bench
            .prepare(&plan(40, "nhfsstone"), 2)
            .expect_err("in use"),
    );
    let made = set.record.made;
    set.release(&bench.session).expect("it can be given up");
    let mut set = bench
        .prepare(&plan(40, "nhfsstone"), 2)
        .expect("it is there");
    assert_eq!((set.record.found, set.record.made), (made, 0));
    set.remove(&bench.session, &AtomicBool::new(false))
        .expect("it is removed");
}
