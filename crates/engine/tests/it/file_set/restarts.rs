//! Servers that are started again, or have no room left, while a set is made, given up or
//! removed.

use super::bench::{Bench, plan};
use crate::support::live::{serve, status_of};
use crate::support::relay::{Fate, Relay, Seen};
use filestone_host::error::RunError;
use filestone_server::Running;
use filestone_wire::nfs3::{Procedure, Status};
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Cuts all connections at every so many replies of NFS, from the first change on.
fn cut_often(every: u64) -> impl FnMut(Seen) -> Fate + Send + 'static {
    let (mut count, mut has_begun) = (0, false);
    move |seen| {
        has_begun |= seen.nfs() == Some(Procedure::Mkdir);
        count += u64::from(has_begun && seen.nfs().is_some());
        match has_begun && count % every == 0 {
            true => Fate::Cut((count % 3) as u32),
            false => Fate::Pass,
        }
    }
}

#[test]
fn a_set_is_made_and_removed_whichever_replies_are_lost() {
    for every in [7, 11, 13, 17, 29, 64] {
        let server = serve(|_| {});
        let relay = Relay::to(server.address(), cut_often(every));
        let bench = Bench::through(relay.address().port(), 20);
        let plan = plan(8, "100K");
        let mut set = bench.prepare(&plan, 2).expect("it is made");
        let all = set.record.files + set.record.other_objects;
        assert_eq!(set.record.made, all, "every {every}");
        set.release(&bench.session).expect("it can be given up");
        let mut direct = Bench::new(&server);
        let again = direct.prepare(&plan, 2).expect("it is whole");
        assert_eq!((again.record.found, again.record.made), (all, 0));
        again.release(&direct.session).expect("it can be given up");
        let mut found = bench.prepare(&plan, 2).expect("it is there");
        found
            .remove(&bench.session, &GO_ON)
            .expect("it can be removed");
        assert_eq!(direct.find("set"), None);
        // The first one has nothing left to remove.
        assert!(set.remove(&direct.session, &GO_ON).is_err());
    }
}

#[test]
fn a_server_that_takes_connections_and_drops_them_is_given_up() {
    let server = serve(|_| {});
    let is_commit = |seen: Seen| seen.nfs() == Some(Procedure::Commit);
    let relay = Relay::to(server.address(), move |seen| match is_commit(seen) {
        true => Fate::Cut(u32::MAX),
        false => Fate::Pass,
    });
    let error = Bench::through(relay.address().port(), 1)
        .prepare(&plan(4, "1K"), 1)
        .expect_err("it never comes back");
    let what = error.to_string();
    assert!(what.contains("it was tried again for 1s"), "{what}");
}

/// Takes the last room of a server.
fn fill(bench: &mut Bench) {
    bench.make_directory("", "full");
    for number in 0.. {
        if !bench.try_make_directory("full", &format!("{number}")) {
            return;
        }
    }
}

fn is_full(error: &RunError) -> bool {
    status_of(error) == Some(Status::NOSPC)
}

fn small_server() -> Running {
    serve(|options| options.memory_limit = 4 << 20)
}

#[test]
fn nothing_new_is_needed_to_give_a_set_up_take_it_over_and_remove_it() {
    let server = small_server();
    let mut bench = Bench::new(&server);
    let plan = plan(20, "1K");
    let set = bench.prepare(&plan, 1).expect("there is room");
    fill(&mut bench);
    set.release(&bench.session).expect("that needs no room");
    let text = String::from_utf8(bench.text("set/made-by-filestone")).expect("text");
    assert!(text.contains("given up\n"), "{text}");
    let mut set = bench.prepare(&plan, 1).expect("it is whole");
    set.remove(&bench.session, &GO_ON)
        .expect("that needs no room");
    assert_eq!(bench.find("set"), None);
}

#[test]
fn a_set_that_filled_its_server_is_cleared_by_a_smaller_one() {
    let server = small_server();
    let mut bench = Bench::new(&server);
    let error = bench
        .prepare(&plan(100, "128K"), 1)
        .expect_err("it is full");
    assert!(is_full(&error), "{error}");
    fill(&mut bench);
    let mut small = plan(10, "1K");
    small.spare_names_per_client = 1;
    let mut set = bench.prepare(&small, 1).expect("there is room then");
    let text = String::from_utf8(bench.text("set/made-by-filestone")).expect("text");
    assert!(text.contains("recipe: 10 files of each client\n"), "{text}");
    set.remove(&bench.session, &GO_ON)
        .expect("it can be removed");
    assert_eq!(bench.find("set"), None);
}

#[test]
fn what_somebody_added_to_a_marker_does_not_outlive_it() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let plan = plan(4, "1K");
    let set = bench.prepare(&plan, 1).expect("it is made");
    let text = bench.text("set/made-by-filestone");
    bench.write(
        "set",
        "made-by-filestone",
        &[&text[..], b"given up\n"].concat(),
    );
    let error = set.release(&bench.session);
    error.expect("it is not ours any more, and left alone");
    let again = bench.prepare(&plan, 1).expect("it was given up by hand");
    again.release(&bench.session).expect("it can be given up");
    let third = bench.prepare(&plan, 1).expect("it was given up");
    let text = String::from_utf8(bench.text("set/made-by-filestone")).expect("text");
    assert!(!text.contains("given up"), "{text}");
    third.release(&bench.session).expect("it can be given up");
}
