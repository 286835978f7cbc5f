//! A place on a server that is started again, or asks for patience, in the middle: it is claimed
//! and left all the same.

use super::bench::{Client, options, target};
use crate::support::live::serve;
use crate::support::relay::{Relay, Seen, cut_at};
use filestone_engine::protocols::nfs3::replay::remove_left_over;
use filestone_engine::protocols::nfs3::replay::{Nfs3Options, Nfs3Site};
use filestone_engine::replay::{TreeCleanup, WorkDir};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_plan::plan::{LeftoverPolicy, NfsTarget};
use filestone_server::Running;
use filestone_wire::nfs3::Procedure;
use filestone_workload::load::{ActionStatus, Generation, LoadAction};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(20);

fn claim_within(target: &NfsTarget, timeout: Duration) -> Result<Nfs3Site, RunError> {
    let options = Nfs3Options {
        timeout,
        reconnect: TIMEOUT,
        ..options(Generation::Nfs)
    };
    Nfs3Site::claim(target, None, options, &AtomicBool::new(false))
}

fn claim(target: &NfsTarget) -> Result<Nfs3Site, RunError> {
    claim_within(target, TIMEOUT)
}

fn through(server: &Running, relay: &Relay) -> NfsTarget {
    NfsTarget {
        port: Some(relay.address().port()),
        ..target(server)
    }
}

fn nothing_is_left(server: &Running) -> bool {
    let left = remove_left_over(&target(server), None, TIMEOUT, LeftoverPolicy::Remove);
    left.expect("the server is there").is_none()
}

fn client(site: &Nfs3Site, number: u32) -> Client {
    Client::connect(site, number, TIMEOUT)
}

#[test]
fn a_place_is_claimed_whichever_reply_is_lost() {
    let is_claiming = |seen: Seen| {
        let procedures = [
            Procedure::Mkdir,
            Procedure::Create,
            Procedure::Write,
            Procedure::Read,
        ];
        seen.nfs().is_some_and(|one| procedures.contains(&one))
    };
    for which in 1..=4 {
        let server = serve(|_| {});
        let relay = Relay::to(server.address(), cut_at(which, 3, is_claiming));
        let site = claim(&through(&server, &relay)).expect("it is free");
        let seen: Vec<Seen> = relay
            .answered()
            .into_iter()
            .filter(|s| is_claiming(*s))
            .collect();
        assert_eq!(seen.len(), 5, "one was sent twice: {seen:?}");
        let (first, second) = (seen[which as usize - 1], seen[which as usize]);
        assert_eq!(first, second, "with the same transaction ID");
        site.release(TreeCleanup::Remove)
            .expect("it can be removed");
        assert!(nothing_is_left(&server));
    }
}

#[test]
fn a_claim_that_is_cut_off_is_named_and_can_be_removed() {
    let is_create = |seen: Seen| seen.nfs() == Some(Procedure::Create);
    let server = serve(|_| {});
    // The marker is made, and can be neither written nor removed again.
    let relay = Relay::to(server.address(), cut_at(1, u32::MAX, is_create));
    let options = Nfs3Options {
        reconnect: Duration::from_millis(100),
        ..options(Generation::Nfs)
    };
    let stop = AtomicBool::new(false);
    let error = Nfs3Site::claim(&through(&server, &relay), None, options, &stop);
    let error = error.expect_err("it is cut off");
    assert_eq!(error.category(), ErrorCategory::Target);
    let help = error.help().unwrap_or_default();
    assert!(
        help.contains("/export/clients could not be removed"),
        "{help}"
    );
    // Whether that run lives cannot be seen: it is removed only on request.
    let remove = |policy| remove_left_over(&target(&server), None, TIMEOUT, policy);
    let refusal = remove(LeftoverPolicy::RemoveIfOver).expect_err("it may be in use");
    assert!(
        refusal.to_string().contains("left over, or in use"),
        "{refusal}"
    );
    assert!(
        remove(LeftoverPolicy::Remove)
            .expect("on request")
            .is_some()
    );
    assert!(nothing_is_left(&server));
}

#[test]
fn what_is_somebodys_does_not_become_ours_by_a_lost_reply() {
    let server = serve(|_| {});
    let site = claim(&target(&server)).expect("it is free");
    let is_mkdir = |seen: Seen| seen.nfs() == Some(Procedure::Mkdir);
    let relay = Relay::to(server.address(), cut_at(1, 0, is_mkdir));
    let error = claim(&through(&server, &relay)).expect_err("it is claimed");
    assert!(
        error.to_string().contains("another run is using it"),
        "{error}"
    );
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
}

/// Files, directories and a link in the tree of client 0.
fn make_tree(site: &Nfs3Site) {
    let mut client = client(site, 0);
    for path in ["clients/client0", "clients/client0/d"] {
        client.mkdir(path);
    }
    for path in [
        "clients/client0/a",
        "clients/client0/d/b",
        "clients/client0/d/c",
    ] {
        assert_eq!(client.create(path), ActionStatus::Ok);
    }
}

#[test]
fn a_place_is_cleaned_up_whichever_reply_is_lost() {
    let mut which = 1;
    loop {
        let server = serve(|_| {});
        let is_armed = Arc::new(AtomicBool::new(false));
        let arm = Arc::clone(&is_armed);
        let is_counted = move |seen: Seen| seen.nfs().is_some() && is_armed.load(Ordering::Relaxed);
        let relay = Relay::to(server.address(), cut_at(which, 2, is_counted));
        let site = claim(&through(&server, &relay)).expect("it is free");
        make_tree(&site);
        let mut cleaner = client(&site, 0);
        let before = relay.answered().len() as u64;
        arm.store(true, Ordering::Relaxed);
        cleaner.clean_up();
        site.release(TreeCleanup::Remove)
            .expect("it can be removed");
        assert!(nothing_is_left(&server), "reply {which}");
        if relay.answered().len() as u64 - before < which {
            break;
        }
        which += 1;
    }
    assert!(which > 15, "{which}");
}

const PATIENT: &str = "mkdir+create+write+lookup+remove+rmdir+readdirplus";

#[test]
fn patience_is_had_where_a_place_is_claimed_and_left() {
    let fault = format!("error=NFS3ERR_JUKEBOX,proc={PATIENT},p=0.2");
    let server = serve(|options| options.faults = vec![fault.parse().expect("a fault")]);
    let site = claim(&target(&server)).expect("it is free in the end");
    make_tree(&site);
    let mut cleaner = client(&site, 0);
    cleaner.clean_up();
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
    assert!(nothing_is_left(&server));
}

#[test]
fn patience_ends_with_the_time_that_a_call_may_take_or_with_the_run() {
    let fault = "error=NFS3ERR_JUKEBOX,proc=mkdir";
    let server = serve(|options| options.faults = vec![fault.parse().expect("a fault")]);
    let error = claim_within(&target(&server), Duration::from_millis(150)).expect_err("never");
    assert!(
        error.to_string().contains("NFS3ERR_JUKEBOX (10008)"),
        "{error}"
    );
    let fault = "error=NFS3ERR_JUKEBOX,proc=pathconf";
    let server = serve(|options| options.faults = vec![fault.parse().expect("a fault")]);
    let site = claim_within(&target(&server), Duration::from_secs(3600)).expect("it is free");
    let mut client = client(&site, 0);
    let action = LoadAction::PathConfiguration { path: b"clients" };
    client.stop_after(1, action);
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
}

#[test]
fn silence_ends_with_the_run_too_and_leaves_no_torn_connection() {
    let fault = "drop,proc=pathconf";
    let server = serve(|options| options.faults = vec![fault.parse().expect("a fault")]);
    let site = claim_within(&target(&server), Duration::from_secs(3600)).expect("it is free");
    let mut client = client(&site, 0);
    let action = LoadAction::PathConfiguration { path: b"clients" };
    client.stop_after(0, action);
    assert_eq!(client.create("clients/file"), ActionStatus::Ok);
    site.release(TreeCleanup::Remove)
        .expect("it can be removed");
}

#[test]
fn a_full_server_can_be_told_that_trees_were_kept() {
    let server = serve(|options| options.memory_limit = 4 << 20);
    let site = claim(&target(&server)).expect("it is free");
    let mut client = client(&site, 0);
    client.mkdir("clients/client0");
    let mut number = 0;
    while client.create(&format!("clients/client0/{number}")) == ActionStatus::Ok {
        number += 1;
    }
    site.release(TreeCleanup::Keep).expect("that needs no room");
    let error = claim(&target(&server)).expect_err("it is there");
    assert!(
        error.to_string().contains("was left over by process"),
        "{error}"
    );
    let policy = LeftoverPolicy::RemoveIfOver;
    let removed = remove_left_over(&target(&server), None, TIMEOUT, policy);
    assert!(removed.expect("it can be removed").is_some());
}
