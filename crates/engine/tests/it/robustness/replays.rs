//! Replays on servers that go away and come back, ask for patience, or never come to an end.

use super::MS;
use crate::support::SECOND;
use crate::support::entry::replay;
use crate::support::live::serve;
use crate::support::relay::{Fate, Relay, Seen, cut_at};
use crate::support::replays::{self, load};
use filestone_engine::protocols::BuiltIn;
use filestone_host::control::{NoObserver, Observer};
use filestone_measure::measure::run_record::{IntervalRecord, RunOutcome};
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_plan::plan::{ArrivalsPlan, OnLost, Plan, WorkloadPlan};
use filestone_server::Running;
use filestone_wire::nfs3::{FileType, Procedure, Status, WccData, readdirplus, remove};
use filestone_wire::xdr::Encode;
use filestone_workload::load::Load;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One pass of one client.
fn plan(load: &Load, relay: &Relay) -> Plan {
    plan_at(load, relay.address())
}

fn plan_at(load: &Load, address: SocketAddr) -> Plan {
    let mut target = crate::support::plan(ArrivalsPlan::Closed, 1, 1).target;
    let nfs = target.nfs3_mut().expect("an NFS target");
    nfs.host = Some("127.0.0.1".into());
    nfs.port = Some(address.port());
    nfs.path = "/export".into();
    replays::plan(target, load, 1)
}

fn run_until(plan: &Plan, load: &Arc<Load>, stop: &AtomicBool) -> RunRecord {
    let loads = [Arc::clone(load)];
    let record = replay(plan, &loads, BuiltIn::default(), stop, &mut NoObserver);
    let record = record.expect("the run is made");
    super::check(&record);
    record
}

fn run(plan: &Plan, load: &Arc<Load>) -> RunRecord {
    run_until(plan, load, &AtomicBool::new(false))
}

fn left_behind(record: &RunRecord) -> Vec<&str> {
    let caveats = record.caveats.iter();
    let reasons = caveats.filter_map(|caveat| match caveat {
        Caveat::Leftover { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    reasons.collect()
}

const WRITES: &str = r#"
0.000 MKDIR3 "/clients/client1" 0x00000000
0.001 CREATE3 "/clients/client1/a" 0x00000000
0.002 WRITE3 "/clients/client1/a" 0 4096 2 0x00000000
0.003 WRITE3 "/clients/client1/a" 4096 4096 2 0x00000000
0.004 READ3 "/clients/client1/a" 0 8192 0x00000000
0.005 GETATTR3 "/clients/client1/a" 0x00000000
"#;

fn relayed(judge: impl FnMut(Seen) -> Fate + Send + 'static) -> (Running, Relay) {
    let server = serve(|_| {});
    let relay = Relay::to(server.address(), judge);
    (server, relay)
}

#[test]
fn a_replay_goes_on_over_another_connection_with_the_same_call() {
    let load = load(WRITES);
    // The first WRITE is the marker's.
    let is_write = |seen: Seen| seen.nfs() == Some(Procedure::Write);
    let (_server, relay) = relayed(cut_at(2, 3, is_write));
    let mut plan = plan(&load, &relay);
    // Of an address of its own nobody else takes a port meanwhile.
    plan.connections.sources = "127.9.1.1".parse().expect("an address");
    let record = run(&plan, &load);
    assert_eq!(record.end, RunOutcome::Finished);
    let replay = record.replay.as_ref().expect("a replay");
    assert_eq!(replay.mismatch_count, 0, "{:?}", replay.mismatches);
    let totals = &record.totals;
    assert_eq!(totals.ledger.ok, load.operations());
    assert!(totals.reconnections >= 1, "{}", totals.reconnections);
    let retransmissions: u64 = totals.kinds.iter().map(|kind| kind.retransmissions).sum();
    assert_eq!(retransmissions, totals.reconnections);
    let is_reconnected = |caveat: &Caveat| matches!(caveat, Caveat::Reconnected { .. });
    assert!(
        record.caveats.iter().any(is_reconnected),
        "{:?}",
        record.caveats
    );
    assert!(left_behind(&record).is_empty());
    let writes: Vec<Seen> = relay
        .answered()
        .into_iter()
        .filter(|s| is_write(*s))
        .collect();
    assert_eq!(writes[1], writes[2], "the same transaction ID");
    let of_call = relay.connections();
    let of_call = of_call.iter().zip(relay.peers());
    let ports: Vec<u16> = of_call
        .filter(|(calls, _)| calls.contains(&writes[1]))
        .map(|(_, peer)| peer.port())
        .collect();
    assert_eq!(ports, [ports[0]; 2], "the same port");
}

#[test]
fn a_server_that_does_not_come_back_costs_the_client_and_is_counted() {
    let load = load(WRITES);
    let is_read = |seen: Seen| seen.nfs() == Some(Procedure::Read);
    // The first READ is the marker's.
    let (_server, relay) = relayed(cut_at(2, u32::MAX, is_read));
    let mut plan = plan(&load, &relay);
    plan.reconnect_ns = 50 * MS;
    let record = run(&plan, &load);
    let RunOutcome::TargetLost { message } = &record.end else {
        unreachable!("{:?}", record.end)
    };
    let words = "the server closed the connection without an answer; it was tried again for 50ms";
    assert!(message.contains(words), "{message}");
    assert_eq!(record.totals.ledger.disconnected, 1);
    assert!(!left_behind(&record).is_empty());
}

fn answer(which: Procedure, seen: Seen, results: impl FnOnce() -> Vec<u8>) -> Fate {
    match seen.nfs() == Some(which) {
        true => Fate::Replace(results()),
        false => Fate::Pass,
    }
}

#[test]
fn patience_is_part_of_the_response_time_and_counted() {
    let load = load(WRITES);
    let mut refusals = 2;
    let (_server, relay) = relayed(move |seen| match seen.nfs() {
        Some(Procedure::Write) if refusals > 0 => {
            refusals -= 1;
            Fate::Replace(Status::JUKEBOX.0.to_be_bytes().to_vec())
        }
        _ => Fate::Pass,
    });
    // The marker takes the refusals.
    run(&plan(&load, &relay), &load);
    let mut seen_getattr = 0;
    let (_server, relay) = relayed(move |seen| {
        let is_it = seen.nfs() == Some(Procedure::Getattr);
        seen_getattr += u32::from(is_it);
        // The first is of the directory under test.
        match is_it && (2..=3).contains(&seen_getattr) {
            true => Fate::Replace(Status::JUKEBOX.0.to_be_bytes().to_vec()),
            false => Fate::Pass,
        }
    });
    let record = run(&plan(&load, &relay), &load);
    let replay = record.replay.as_ref().expect("a replay");
    assert_eq!(replay.mismatch_count, 0, "{:?}", replay.mismatches);
    assert_eq!(replay.jukebox_calls, 2);
    assert!(replay.jukebox_pauses_ns >= 300 * MS);
    assert!(record.totals.response_time_ns.max >= 300 * MS);
    let is_said = |caveat: &Caveat| matches!(caveat, Caveat::Jukebox { calls: 2, .. });
    assert!(record.caveats.iter().any(is_said), "{:?}", record.caveats);
}

#[test]
fn patience_has_an_end() {
    let load = load(WRITES);
    let mut seen_getattr = 0;
    let (_server, relay) = relayed(move |seen| {
        seen_getattr += u32::from(seen.nfs() == Some(Procedure::Getattr));
        answer(Procedure::Getattr, seen, || match seen_getattr {
            1 => directory_attributes(),
            _ => Status::JUKEBOX.0.to_be_bytes().to_vec(),
        })
    });
    let mut plan = plan(&load, &relay);
    plan.timeout_ns = 150 * MS;
    let record = run(&plan, &load);
    assert_eq!(record.end, RunOutcome::Finished);
    let replay = record.replay.as_ref().expect("a replay");
    assert_eq!(replay.mismatches.len(), 1, "{:?}", replay.mismatches);
    assert_eq!(replay.mismatches[0].got, "NFS3ERR_JUKEBOX (10008)");
}

/// What the relay answers in the place of the first GETATTR, which is of a directory.
fn directory_attributes() -> Vec<u8> {
    use filestone_wire::nfs3::getattr;
    getattr::Reply::Ok(attributes(FileType::Directory)).to_bytes()
}

fn attributes(file_type: FileType) -> filestone_wire::nfs3::Fattr3 {
    filestone_wire::nfs3::Fattr3 {
        file_type,
        mode: 0o755,
        nlink: 1,
        uid: 0,
        gid: 0,
        size: 0,
        used: 0,
        rdev: Default::default(),
        fsid: 1,
        fileid: 1,
        atime: Default::default(),
        mtime: Default::default(),
        ctime: Default::default(),
    }
}

/// A page of files of these names, of which each is the last of a page but not of the directory
/// if there is another.
fn page(names: &[String], cookie: u64, eof: bool) -> Vec<u8> {
    let entries = names.iter().map(|name| readdirplus::EntryPlus {
        fileid: 7,
        name: name.as_bytes(),
        cookie,
        name_attributes: Some(attributes(FileType::Regular)),
        name_handle: None,
    });
    readdirplus::Reply::Ok(readdirplus::ReplyOk {
        dir_attributes: None,
        cookieverf: [0; 8],
        entries: entries.collect(),
        eof,
    })
    .to_bytes()
}

fn removed() -> Vec<u8> {
    let dir_wcc = WccData::default();
    remove::Reply::Ok(dir_wcc).to_bytes()
}

const DELTREE: &str = r#"
Mkdir "\clients\client1" NT_STATUS_OK
Deltree "\clients\client1" NT_STATUS_OK
"#;

#[test]
fn a_tree_that_never_becomes_empty_ends_and_is_named() {
    let load = load(DELTREE);
    let (_server, relay) = relayed(|seen| match seen.nfs() {
        Some(Procedure::Readdirplus) => Fate::Replace(page(&["client0".into()], 1, true)),
        Some(Procedure::Remove) => Fate::Replace(removed()),
        _ => Fate::Pass,
    });
    let mut plan = plan(&load, &relay);
    plan.timeout_ns = 20 * SECOND;
    let record = run(&plan, &load);
    assert_eq!(record.end, RunOutcome::Finished);
    let replay = record.replay.as_ref().expect("a replay");
    assert_eq!(replay.mismatches[0].got, "NFS3ERR_NOTEMPTY (66)");
    let reasons = left_behind(&record);
    assert!(!reasons.is_empty());
    for reason in reasons {
        assert!(reason.contains("never becomes empty"), "{reason}");
    }
}

/// Lists other names for ever; `is_asked` is told of each page.
fn endless(mut is_asked: impl FnMut(u64) + Send + 'static) -> impl FnMut(Seen) -> Fate + Send {
    let mut pages = 0;
    move |seen| match seen.nfs() {
        Some(Procedure::Readdirplus) => {
            pages += 1;
            is_asked(pages);
            Fate::Replace(page(&[format!("name{pages}")], pages, false))
        }
        Some(Procedure::Remove) => Fate::Replace(removed()),
        _ => Fate::Pass,
    }
}

const LISTING: &str = r#"
0.000 MKDIR3 "/clients/client1" 0x00000000
0.001 READDIRPLUS3 "/clients/client1" 0x00000000
"#;

/// Its clean-up may take a second and three times as long as the run.
fn time_out_after_the_window(text: &str) {
    let load = load(text);
    let (_server, relay) = relayed(endless(|_| {}));
    let mut plan = plan(&load, &relay);
    if let WorkloadPlan::LoadFile(replay) = &mut plan.workload {
        replay.run_once = false;
    }
    // Much longer than a busy machine needs: to come to the endless listing, and for any one call.
    plan.duration_ns = Some(300 * MS);
    plan.timeout_ns = SECOND;
    let record = run(&plan, &load);
    assert_eq!(record.end, RunOutcome::Finished);
    let ledger = &record.totals.ledger;
    assert_eq!(ledger.timed_out, 1, "{ledger:?}");
    let reasons = left_behind(&record);
    assert!(!reasons.is_empty());
    for reason in reasons {
        assert!(reason.contains("was broken off"), "{reason}");
    }
}

#[test]
fn a_listing_that_goes_on_for_too_long_after_the_window_has_timed_out() {
    time_out_after_the_window(LISTING);
}

#[test]
fn a_removal_that_goes_on_for_too_long_after_the_window_has_timed_out() {
    time_out_after_the_window(DELTREE);
}

#[test]
fn a_stop_ends_what_a_server_would_never_end() {
    for text in [LISTING, DELTREE] {
        let load = load(text);
        let stop = Arc::new(AtomicBool::new(false));
        let at_work = Arc::clone(&stop);
        let (_server, relay) = relayed(endless(move |pages| {
            at_work.store(pages > 5, Ordering::Relaxed);
        }));
        let mut plan = plan(&load, &relay);
        // Its clean-up takes as long; any one call is much shorter.
        plan.timeout_ns = 2 * SECOND;
        plan.duration_ns = Some(3600 * SECOND);
        let record = run_until(&plan, &load, &stop);
        assert_eq!(record.end, RunOutcome::Interrupted);
        assert!(left_behind(&record)[0].contains("was broken off"));
    }
}

#[test]
fn a_stop_in_the_clean_up_ends_it() {
    let load = load(WRITES);
    let stop = Arc::new(AtomicBool::new(false));
    let cleaning = Arc::clone(&stop);
    let (_server, relay) = relayed(endless(move |pages| {
        if pages > 5 {
            cleaning.store(true, Ordering::Relaxed);
        }
    }));
    let mut plan = plan(&load, &relay);
    plan.timeout_ns = 3600 * SECOND;
    let record = run_until(&plan, &load, &stop);
    assert_eq!(record.end, RunOutcome::Finished);
    assert_eq!(record.totals.ledger.ok, load.operations());
    assert!(left_behind(&record)[0].contains("was broken off"));
}

const LOOKS: &str = r#"
MKDIR3 "/clients/client1" *
GETATTR3 "/clients/client1" 0x00000000
GETATTR3 "/clients/client1" 0x00000000
"#;

#[test]
fn the_reason_of_a_loss_is_the_last_that_happened() {
    let load = load(LOOKS);
    // After the loss nobody listens any more.
    let server = serve(|_| {});
    let mut restart = Stopped(Some(server));
    let mut plan = plan_at(&load, restart.address());
    plan.duration_ns = Some(60 * SECOND);
    (plan.clients, plan.reconnect_ns) = (2, 100 * MS);
    plan.interval_ns = 200 * MS;
    plan.connections.on_lost = Some(OnLost::Continue);
    plan.replay_mut().expect("a replay").run_once = false;
    let stop = AtomicBool::new(false);
    let record = replay(
        &plan,
        &[Arc::clone(&load)],
        BuiltIn::default(),
        &stop,
        &mut restart,
    )
    .expect("the run is made");
    let lost = lost_clients(&record);
    assert_eq!(lost.len(), 2);
    let words = "Connection refused (os error 111); it was tried again for 100ms";
    assert!(lost.iter().all(|lost| lost.contains(words)), "{lost:?}");
}

/// Stops a server after the first interval.
struct Stopped(Option<Running>);

impl Stopped {
    fn address(&self) -> SocketAddr {
        self.0.as_ref().expect("it runs").address()
    }
}

impl Observer for Stopped {
    fn interval(&mut self, _record: &IntervalRecord) {
        if let Some(server) = self.0.take() {
            server.stop();
        }
    }
}

/// A run of two clients by time, one of which loses its connection in the middle of it; the next
/// `refuse` connections are closed at once.
fn run_with_one_cut(on_lost: OnLost, refuse: u32) -> RunRecord {
    let load = load(LOOKS);
    let mut looks = 0;
    let (_server, relay) = relayed(move |seen| {
        looks += u32::from(seen.nfs() == Some(Procedure::Getattr));
        match looks == 300 {
            true => {
                looks += 1;
                Fate::CutOne(refuse)
            }
            false => Fate::Pass,
        }
    });
    let mut plan = plan(&load, &relay);
    plan.clients = 2;
    plan.duration_ns = Some(2 * SECOND);
    plan.reconnect_ns = 200 * MS;
    plan.connections.on_lost = Some(on_lost);
    plan.connections.connections_per_s = Some(100.0);
    plan.replay_mut().expect("a replay").run_once = false;
    run(&plan, &load)
}

fn lost_clients(record: &RunRecord) -> Vec<&str> {
    let replay = record.replay.as_ref().expect("a replay");
    let lost = replay.clients.iter();
    lost.filter_map(|client| client.lost.as_deref()).collect()
}

#[test]
fn a_lost_client_of_a_replay_is_tried_again_and_goes_on_with_its_line() {
    let record = run_with_one_cut(OnLost::Retry, 6);
    assert_eq!(record.end, RunOutcome::Finished);
    let totals = &record.totals;
    assert_eq!(
        totals.ledger.ok, totals.ledger.scheduled,
        "{:?}",
        totals.kinds
    );
    assert_eq!((totals.lost_clients, lost_clients(&record).len()), (0, 0));
    assert!(totals.reconnections > 0);
    // It was lost for longer than it is tried, and all of it is in the time of one line.
    let away = totals.response_time_ns.max;
    assert!(
        away > 200 * MS && totals.disconnected_ns > 200 * MS,
        "{away}"
    );
}

#[test]
fn a_lost_client_of_a_replay_that_does_not_come_back_is_one_client() {
    for on_lost in [OnLost::Continue, OnLost::Retry] {
        let record = run_with_one_cut(on_lost, u32::MAX);
        assert_eq!(record.end, RunOutcome::Finished, "{on_lost:?}");
        let totals = &record.totals;
        assert_eq!((totals.ledger.disconnected, totals.lost_clients), (1, 1));
        assert_eq!(totals.ledger.ok + 1, totals.ledger.scheduled);
        assert_eq!(lost_clients(&record).len(), 1);
        let last = record.ticks.last().expect("a tick");
        assert!(last.ended > 0, "the other went on");
    }
}

#[test]
fn a_lost_client_of_a_replay_ends_the_run_if_it_is_to() {
    let record = run_with_one_cut(OnLost::End, u32::MAX);
    assert!(matches!(record.end, RunOutcome::TargetLost { .. }));
    assert!(record.window_ns < SECOND, "{}", record.window_ns);
}

#[test]
fn a_replay_that_has_lost_all_its_clients_ends() {
    for on_lost in [OnLost::Continue, OnLost::Retry] {
        let load = load(LOOKS);
        let is_look = |seen: Seen| seen.nfs() == Some(Procedure::Getattr);
        let (_server, relay) = relayed(cut_at(300, u32::MAX, is_look));
        let mut plan = plan(&load, &relay);
        (plan.clients, plan.workers) = (3, 2);
        plan.duration_ns = Some(60 * SECOND);
        plan.reconnect_ns = 100 * MS;
        plan.connections.on_lost = Some(on_lost);
        plan.replay_mut().expect("a replay").run_once = false;
        let record = run(&plan, &load);
        assert!(matches!(record.end, RunOutcome::TargetLost { .. }));
        assert!(record.window_ns < 5 * SECOND, "{}", record.window_ns);
    }
}
