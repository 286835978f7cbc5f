//! Servers that are full, cannot do all, tell less than others, answer wrongly or not at all,
//! and users that have seen enough.

use super::bench::{ALL, Bench, plan};
use crate::support::live::{serve, status_of};
use filestone_host::control::{NoObserver, Observer};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_server::Running;
use filestone_wire::nfs3::Status;
use filestone_workload::operation::OpKind;
use std::sync::atomic::{AtomicBool, Ordering};

fn faulty(rules: &[&str]) -> Running {
    serve(|options| {
        let rules = rules.iter().map(|rule| rule.parse().expect("a fault"));
        options.faults = rules.collect();
    })
}

#[test]
fn a_full_disk_is_named_and_what_was_made_is_kept() {
    let server = serve(|options| options.memory_limit = 4 << 20);
    let mut bench = Bench::new(&server);
    let plan = plan(100, "128K");
    let error = bench.prepare(&plan, 1).expect_err("it is full");
    assert_eq!(status_of(&error), Some(Status::NOSPC), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("/export/set/client0000/files0/")
    );
    assert!(error.help().unwrap_or_default().contains("full"));
    assert!(bench.names("set").contains(&"made-by-filestone".into()));
    // It was given up: a smaller one can take its place.
    let mut small = super::bench::plan(10, "1K");
    small.spare_names_per_client = 1;
    let mut set = bench.prepare(&small, 1).expect("there is room");
    set.remove(&bench.session, &AtomicBool::new(false))
        .expect("it is removed");
}

#[test]
fn a_procedure_that_the_server_has_not_is_only_missed_if_the_mix_needs_it() {
    for (procedure, kind) in [
        ("mknod", OpKind::MkNod),
        ("link", OpKind::Link),
        ("symlink", OpKind::SymLink),
    ] {
        let server = faulty(&[&format!("error=NFS3ERR_NOTSUPP,proc={procedure}")]);
        let bench = Bench::new(&server);
        let error = bench
            .prepare_for(&plan(2, "1K"), 1, &[kind])
            .expect_err("it is not supported");
        assert_eq!(error.category(), ErrorCategory::Target, "{error:?}");
        let (what, help) = (error.to_string(), error.help());
        assert!(what.contains("does not support"), "{what}");
        assert_eq!(help, Some(format!("take {procedure} out of the mix")));
        let others = [OpKind::Read, OpKind::Create, OpKind::RmDir];
        let set = bench.prepare_for(&plan(2, "1K"), 1, &others);
        set.expect("nothing needs it");
    }
}

#[test]
fn a_server_without_readdirplus_is_listed_name_by_name() {
    let server = faulty(&["error=NFS3ERR_NOTSUPP,proc=readdirplus"]);
    let bench = Bench::new(&server);
    let plan = plan(50, "nhfsstone");
    let set = bench.prepare(&plan, 2).expect("it is made");
    let made = set.record.made;
    set.release(&bench.session).expect("it can be given up");
    let mut again = bench.prepare(&plan, 2).expect("it is there");
    assert_eq!((again.record.found, again.record.made), (made, 0));
    again
        .remove(&bench.session, &AtomicBool::new(false))
        .expect("it is removed");
}

#[test]
fn refusals_name_the_path() {
    for (rule, path) in [
        ("error=NFS3ERR_ROFS,proc=mkdir", "/export/set: MKDIR"),
        (
            "error=NFS3ERR_ACCES,proc=symlink",
            "/export/set/client0000/sym/",
        ),
        (
            "error=NFS3ERR_IO,proc=commit",
            "/export/set/client0000/files0/",
        ),
    ] {
        let server = faulty(&[rule]);
        let error = Bench::new(&server)
            .prepare(&plan(4, "1K"), 1)
            .expect_err(rule);
        assert!(error.to_string().starts_with(path), "{error}");
    }
}

#[test]
fn answers_that_are_none_are_errors() {
    // COMMIT is only called with many calls in flight.
    for (rule, expected) in [
        (
            "truncate,proc=commit",
            "COMMIT /export/set/client0000/files0/",
        ),
        ("disconnect,proc=commit", "closed the connection"),
        ("oversize,proc=commit", "over the limit"),
        ("drop,proc=commit", "no answer within 1s"),
        ("truncate,proc=readdirplus", "cannot be decoded"),
        ("truncate,proc=write", "cannot be decoded"),
    ] {
        let server = faulty(&[rule]);
        let error = Bench::within(&server, 1)
            .prepare(&plan(4, "1K"), 1)
            .expect_err(rule);
        assert!(error.to_string().contains(expected), "{rule}: {error}");
    }
}

#[test]
fn a_server_that_asks_for_patience_is_asked_again() {
    let every = "mkdir+create+symlink+link+mknod+write+commit+setattr+remove+rmdir+lookup+rename";
    let server = faulty(&[&format!("error=NFS3ERR_JUKEBOX,proc={every},p=0.2")]);
    let bench = Bench::new(&server);
    let plan = plan(30, "1K");
    let mut set = bench.prepare(&plan, 2).expect("it is made in the end");
    let all = set.record.files + set.record.other_objects;
    assert_eq!((set.record.found, set.record.made), (0, all));
    set.remove(&bench.session, &AtomicBool::new(false))
        .expect("it is removed in the end");
}

#[test]
fn patience_ends_with_the_time_that_a_call_may_take() {
    let server = faulty(&["error=NFS3ERR_JUKEBOX,proc=commit"]);
    let error = Bench::within(&server, 1)
        .prepare(&plan(4, "1K"), 1)
        .expect_err("never");
    assert_eq!(status_of(&error), Some(Status::JUKEBOX), "{error}");
}

#[test]
fn replies_that_nobody_asked_for_are_passed_over() {
    let server = faulty(&["unasked"]);
    let set = Bench::new(&server).prepare(&plan(40, "nhfsstone"), 1);
    set.expect("it is made");
}

/// Stops the run when so many things have been told.
struct Impatient<'a> {
    stop: &'a AtomicBool,
    told: Vec<String>,
    after: usize,
}

impl Observer for Impatient<'_> {
    fn preparing(&mut self, what: &str) {
        self.told.push(what.into());
        if self.told.len() >= self.after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_run_that_is_stopped_leaves_what_the_next_one_completes() {
    // Slow enough that there is something to tell.
    let server = faulty(&["delay=20ms,proc=create"]);
    let bench = Bench::new(&server);
    let stop = AtomicBool::new(false);
    let mut observer = Impatient {
        stop: &stop,
        told: Vec::new(),
        after: 2,
    };
    let roots = [("/export".to_string(), bench.root)];
    let plan = plan(3000, "1K");
    let stopped = bench.prepare_in(&roots, &plan, (1, ALL), (&stop, &mut observer));
    let error = stopped.expect_err("it is stopped");
    assert!(matches!(error, RunError::Interrupted), "{error}");
    assert_eq!(observer.told[0], "checking the file set in /export/set");
    let progress = &observer.told[1];
    assert!(
        progress.starts_with("populating /export/set: "),
        "{progress}"
    );
    assert!(progress.ends_with(" of 3,000 files"), "{progress}");
    let set = bench.prepare(&plan, 1).expect("it is completed");
    assert!(
        set.record.found > 8 && set.record.made > 0,
        "{:?}",
        set.record
    );
    let all = set.record.files + set.record.other_objects;
    assert_eq!(set.record.found + set.record.made, all);
}

#[test]
fn a_run_that_was_stopped_before_it_began_makes_nothing() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let roots = [("/export".to_string(), bench.root)];
    let stop = AtomicBool::new(true);
    let set = bench.prepare_in(&roots, &plan(4, "1K"), (1, ALL), (&stop, &mut NoObserver));
    assert!(matches!(set, Err(RunError::Interrupted)), "{set:?}");
    assert_eq!(bench.find("set"), None);
}
