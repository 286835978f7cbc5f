//! Servers that refuse, answer wrongly, hang up or fall silent in the middle of a
//! load: an answer is an answer, and what is none costs this client.

use super::bench::{Bench, DATA};
use crate::support::replays::nfs;
use filestone_engine::replay::{TreeCleanup, WorkDir};
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{ActionStatus, Generation, LoadAction};
use std::time::Duration;

fn faulty(rules: &[&str]) -> Bench {
    faulty_within(rules, Duration::from_secs(20))
}

fn faulty_within(rules: &[&str], timeout: Duration) -> Bench {
    Bench::with(
        Generation::Cifs,
        |options| {
            options.faults = rules
                .iter()
                .map(|rule| rule.parse().expect("a fault"))
                .collect();
        },
        |options| {
            options.timeout = timeout;
            options.reconnect = Duration::from_millis(50);
        },
    )
}

/// A call that nothing else needs.
const PATHCONF: LoadAction<'static> = LoadAction::PathConfiguration {
    path: b"clients/client0",
};

/// What is said of a call that this fault happens to.
fn lost(rule: &str) -> String {
    lost_at(&faulty(&[rule]), rule)
}

fn lost_at(bench: &Bench, rule: &str) -> String {
    let mut client = bench.client(0);
    let lost = client.execute(PATHCONF, DATA).expect_err(rule);
    let address = bench.server.address().to_string();
    assert!(lost.starts_with(&address), "{lost}");
    assert!(lost.contains("PATHCONF"), "{lost}");
    lost
}

#[test]
fn a_full_disk_in_the_middle_is_an_answer_and_the_client_goes_on() {
    let bench = Bench::with(
        Generation::Cifs,
        |options| options.memory_limit = 16 << 20,
        |_| {},
    );
    let mut client = bench.client(0);
    let file = "clients/client0/file";
    assert_eq!(client.open(file, Disposition::Create, 1), ActionStatus::Ok);
    assert_eq!(client.write_x(1, 0, 64 << 20), nfs(28));
    assert_eq!(client.query(file), ActionStatus::Ok);
    assert_eq!(
        client.close(1),
        ActionStatus::Ok,
        "what was taken is committed"
    );
    bench.end();
}

#[test]
fn silence_is_waited_for_until_the_timeout() {
    let rule = "drop,proc=pathconf";
    let bench = faulty_within(&[rule], Duration::from_secs(1));
    let what = lost_at(&bench, rule);
    assert!(what.contains("no answer within 1s"), "{what}");
}

#[test]
fn a_connection_that_is_closed_in_the_middle_is_named() {
    let what = lost("disconnect,proc=pathconf");
    assert!(what.contains("closed the connection"), "{what}");
}

#[test]
fn a_reply_that_is_cut_short_is_not_believed() {
    let what = lost("truncate,proc=pathconf");
    assert!(what.contains("cannot be decoded"), "{what}");
}

#[test]
fn a_record_longer_than_any_reply_is_refused_before_it_is_taken() {
    let what = lost("oversize,proc=pathconf");
    assert!(what.contains("over the limit"), "{what}");
}

#[test]
fn a_reply_that_nobody_asked_for_is_passed_over() {
    let bench = faulty(&["unasked,proc=pathconf"]);
    let mut client = bench.client(0);
    for _ in 0..3 {
        assert_eq!(client.status(PATHCONF), ActionStatus::Ok);
    }
}

#[test]
fn one_clients_end_is_not_that_of_another() {
    let bench = faulty(&["disconnect,proc=readlink"]);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    let path = b"clients/client0";
    let lost = client.execute(LoadAction::ReadLink { path }, DATA);
    assert!(lost.is_err(), "{lost:?}");
    assert_eq!(other.query("clients/client1"), ActionStatus::Ok);
    bench.end();
}

#[test]
fn a_tree_that_cannot_be_removed_is_said_to() {
    let bench = faulty(&["error=NFS3ERR_ACCES,proc=remove"]);
    let mut client = bench.client(0);
    client.create("clients/client0/file");
    client.clean_up();
    let left = bench.site.release(TreeCleanup::Remove);
    let left = left.expect_err("it is not removed").to_string();
    assert!(left.starts_with("/export/clients: "), "{left}");
    assert!(left.contains("NFS3ERR_ACCES (13)"), "{left}");
}
