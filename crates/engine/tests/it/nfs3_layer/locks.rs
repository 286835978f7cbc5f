//! Byte-range locks through the lock manager.

use super::bench::{Bench, Client};
use crate::support::replays::{nfs, nlm};
use filestone_workload::load::action::Disposition;
use filestone_workload::load::{ActionStatus, Cause, Generation, LoadAction};

const FILE: &[u8] = b"clients/client0/file";
const DENIED: ActionStatus = nlm(1);

fn bench(generation: Generation) -> Bench {
    Bench::with(generation, |_| {}, |options| options.enable_nlm = true)
}

fn lock(client: &mut Client, offset: u64, len: u64) -> ActionStatus {
    let path = FILE;
    client.status(LoadAction::Lock4 { path, offset, len })
}

fn unlock(client: &mut Client, offset: u64, len: u64) -> ActionStatus {
    let path = FILE;
    client.status(LoadAction::Unlock4 { path, offset, len })
}

fn test(client: &mut Client, offset: u64, len: u64) -> ActionStatus {
    let path = FILE;
    client.status(LoadAction::Test4 { path, offset, len })
}

#[test]
fn what_one_client_has_locked_another_is_denied() {
    let bench = bench(Generation::Nfs);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    client.create("clients/client0/file");
    assert_eq!(lock(&mut client, 0, 100), ActionStatus::Ok);
    assert_eq!(lock(&mut client, 0, 100), ActionStatus::Ok, "one's own");
    assert_eq!(lock(&mut other, 99, 1), DENIED);
    assert_eq!(test(&mut other, 0, 0), DENIED);
    assert_eq!(test(&mut other, 100, 0), ActionStatus::Ok);
    assert_eq!(unlock(&mut client, 50, 50), ActionStatus::Ok);
    assert_eq!(lock(&mut other, 99, 1), ActionStatus::Ok);
    assert_eq!(lock(&mut other, 49, 1), DENIED);
    bench.end();
}

#[test]
fn locks_end_with_the_pass() {
    let bench = bench(Generation::Nfs);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    client.create("clients/client0/file");
    assert_eq!(lock(&mut client, 0, 0), ActionStatus::Ok);
    assert_eq!(test(&mut other, 0, 1), DENIED);
    client.end_pass();
    assert_eq!(test(&mut other, 0, 1), ActionStatus::Ok);
    bench.end();
}

#[test]
fn locks_of_an_open_file_go_with_it() {
    let bench = bench(Generation::Cifs);
    let (mut client, mut other) = (bench.client(0), bench.client(1));
    let path = "clients/client0/file";
    assert_eq!(client.open(path, Disposition::Create, 1), ActionStatus::Ok);
    assert_eq!(other.open(path, Disposition::Open, 2), ActionStatus::Ok);
    let (offset, len) = (10, 10);
    let of = |handle| LoadAction::LockX {
        handle,
        offset,
        len,
    };
    let reply = client.reply(of(1));
    assert_eq!((reply.status, reply.calls), (ActionStatus::Ok, 1));
    assert_eq!(other.status(of(2)), DENIED);
    assert_eq!(client.close(1), ActionStatus::Ok);
    assert_eq!(other.status(of(2)), ActionStatus::Ok);
    let unlock = LoadAction::UnlockX {
        handle: 2,
        offset,
        len,
    };
    assert_eq!(other.status(unlock), ActionStatus::Ok);
    bench.end();
}

#[test]
fn a_file_that_is_gone_cannot_be_locked() {
    let bench = bench(Generation::Nfs);
    let mut client = bench.client(0);
    client.create("clients/client0/file");
    assert_eq!(test(&mut client, 0, 0), ActionStatus::Ok);
    let mut other = bench.client(1);
    let path = FILE;
    assert_eq!(other.status(LoadAction::Remove { path }), ActionStatus::Ok);
    assert_eq!(test(&mut client, 0, 0), nlm(7), "NLM4_STALE_FH");
    assert_eq!(test(&mut client, 0, 0), nfs(2), "it is looked up again");
    bench.end();
}

#[test]
fn without_the_lock_manager_the_locks_of_nfs_loads_are_refused() {
    let bench = Bench::new(Generation::Nfs);
    let mut client = bench.client(0);
    client.create("clients/client0/file");
    assert_eq!(lock(&mut client, 0, 0), ActionStatus::Refused(Cause::Other));
    bench.end();
}
