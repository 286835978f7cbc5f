//! Whole replays: a load through a layer, from claiming the place to the record.

use crate::support::entry::replay;
use crate::support::replays;
use crate::support::scratch::{Scratch, local};
use filestone_engine::protocols::BuiltIn;
use filestone_host::control::Observer;
use filestone_host::error::{ErrorCategory, RunError};
use filestone_measure::measure::progress::{Progress, ProgressPhase};
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_plan::plan::{
    LeftoverPolicy, LocalTarget, NfsTarget, OnMismatch, Plan, ReplayPlan, TargetPlan, TcpTarget,
    TransportKind, WorkloadPlan,
};
use filestone_server::{Options, Running, Server, TbenchOptions, TbenchServer};
use filestone_workload::load::Load;
use filestone_workload::operation::OpKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One pass: a file written, read, looked at, looked for in vain, renamed, gone.
const LOAD: &str = r#"
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 16385 NT_STATUS_OK
Close 16385 NT_STATUS_OK
NTCreateX "\clients\client1\a.txt" 0x40 0x1 10 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\clients\client1\a.txt" 0x40 0x2 10 NT_STATUS_OK
WriteX 10 0 10000 10000 NT_STATUS_OK
Flush 10 NT_STATUS_OK
ReadX 10 4096 4096 4096 NT_STATUS_OK
QUERY_FILE_INFORMATION 10 258 NT_STATUS_OK
Close 10 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\A.TXT" 1004 NT_STATUS_OK
FIND_FIRST "\clients\client1\*.txt" 260 1366 1 NT_STATUS_OK
FIND_FIRST "\clients\client1\*.doc" 260 1366 0 NT_STATUS_NO_SUCH_FILE
Rename "\clients\client1\a.txt" "\clients\client1\b.txt" NT_STATUS_OK
Unlink "\clients\client1\a.txt" 0x6 NT_STATUS_OBJECT_NAME_NOT_FOUND
Unlink "\clients\client1\b.txt" 0x6 NT_STATUS_OK
Deltree "\clients\client1" NT_STATUS_OK
"#;

/// Operations of a pass of [`LOAD`].
const OPERATIONS: u64 = 18;

/// Three clients of one pass each.
fn plan(target: TargetPlan, load: &Load) -> Plan {
    replays::plan(target, load, 3)
}

fn settings(plan: &mut Plan) -> &mut ReplayPlan {
    match &mut plan.workload {
        WorkloadPlan::LoadFile(replay) => replay,
        WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => {
            panic!("it is a replay")
        }
    }
}

/// Remembers the phases that it saw, and stops the run at the first row.
#[derive(Default)]
struct Watcher {
    phases: Vec<ProgressPhase>,
    clients: Vec<u32>,
    rates: Vec<f64>,
    stop: Arc<AtomicBool>,
    is_stopping: bool,
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.phases.push(progress.phase);
        self.clients.push(progress.clients);
        self.rates.push(progress.bytes_per_s);
        if self.is_stopping {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn run(plan: &Plan, load: &Arc<Load>, built_in: BuiltIn) -> Result<RunRecord, RunError> {
    let mut watcher = Watcher::default();
    let stop = Arc::clone(&watcher.stop);
    let record = replay(plan, &[Arc::clone(load)], built_in, &stop, &mut watcher)?;
    record.check().expect("the record agrees with itself");
    Ok(record)
}

fn nfs() -> (Running, BuiltIn, TargetPlan) {
    let server = Server::start(Options::default()).expect("the server starts");
    let built_in = BuiltIn {
        nfs3: Some(server.address()),
        ..BuiltIn::default()
    };
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    (server, built_in, target)
}

fn tcp() -> (TbenchServer, BuiltIn, TargetPlan) {
    let server = TbenchServer::start(&TbenchOptions::default()).expect("the peer starts");
    let built_in = BuiltIn {
        tcp: Some(server.address()),
        ..BuiltIn::default()
    };
    let target = TargetPlan::Tcp(TcpTarget {
        host: None,
        port: None,
    });
    (server, built_in, target)
}

/// What every layer must make of [`LOAD`] and three clients.
fn assert_whole(record: &RunRecord) {
    let replay = record.replay.as_ref().expect("it is a replay");
    assert_eq!(replay.mismatch_count, 0, "{:?}", replay.mismatches);
    assert_eq!((replay.lines, replay.passes), (3 * OPERATIONS, 3));
    assert_eq!(
        (replay.bytes_written, replay.bytes_read),
        (30_000, 3 * 4096)
    );
    assert_eq!(replay.clients.len(), 3);
    assert!(replay.clients.iter().all(|client| client.lost.is_none()));
    assert_eq!(record.totals.ledger.scheduled, 3 * OPERATIONS);
    assert_eq!(record.totals.ledger.ok, 3 * OPERATIONS);
    let processors = record.processors.as_ref().expect("the window opened");
    assert_eq!(processors.threads, replay.threads);
    assert!(processors.own_percent > 0.0, "{processors:?}");
    assert!(processors.run_delay_percent >= 0.0, "{processors:?}");
}

#[test]
fn the_same_load_goes_through_every_layer() {
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let record = run(&plan(place.target(), &load), &load, BuiltIn::default());
    assert_whole(&record.expect("the local layer"));
    assert!(place.is_empty());
    let (server, built_in, target) = tcp();
    let record = run(&plan(target, &load), &load, built_in).expect("the TCP layer");
    assert_whole(&record);
    // It is what the layer is, and no reason to doubt the numbers.
    assert!(!record.caveats.contains(&Caveat::NothingChecked));
    drop(server);
    let (server, built_in, target) = nfs();
    assert_whole(&run(&plan(target, &load), &load, built_in).expect("the NFS layer"));
    drop(server);
}

/// Three clients on one thread or on two, each with a connection to the lock manager besides.
#[test]
fn clients_over_nfs_share_workers_whatever_carries_their_calls() {
    let load = replays::load(LOAD);
    for (transport, workers, enable_nlm) in [
        (TransportKind::Udp, 1, false),
        (TransportKind::Tcp, 2, true),
        (TransportKind::Udp, 2, true),
    ] {
        let (server, built_in, mut target) = nfs();
        if let TargetPlan::Nfs3(nfs) = &mut target {
            nfs.transport = transport;
        }
        let mut plan = plan(target, &load);
        plan.workers = workers;
        settings(&mut plan).nfs3.enable_nlm = enable_nlm;
        let record = run(&plan, &load, built_in).expect("the NFS layer");
        assert_whole(&record);
        assert_eq!(record.replay.map(|replay| replay.threads), Some(workers));
        drop(server);
    }
}

#[test]
fn a_fresh_directory_is_made_where_none_is_named_and_is_gone_afterwards() {
    let load = replays::load(LOAD);
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let record = run(&plan(target, &load), &load, BuiltIn::default()).expect("it runs");
    assert_whole(&record);
    assert!(!record.target.export.is_empty());
    assert!(!Path::new(&record.target.export).exists());
}

#[test]
fn clients_share_targets_and_threads() {
    let load = replays::load(LOAD);
    let (one, other) = (Scratch::new(), Scratch::new());
    let mut plan = plan(one.target(), &load);
    settings(&mut plan).more_targets = vec![other.target()];
    settings(&mut plan).clients_per_thread = 2;
    let record = run(&plan, &load, BuiltIn::default()).expect("it runs");
    assert_whole(&record);
    assert_eq!(record.replay.expect("it is a replay").threads, 2);
    assert!(one.is_empty() && other.is_empty());
    // What cannot be claimed as a whole is not claimed at all.
    std::fs::create_dir_all(other.path().join("clients/theirs")).expect("it is ours");
    let error = run(&plan, &load, BuiltIn::default()).expect_err("one is taken");
    assert_eq!(error.category(), ErrorCategory::Usage);
    assert!(one.is_empty());
}

#[test]
fn a_directory_that_is_named_twice_is_said_to_be() {
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &load);
    let again = place.path().join("");
    settings(&mut plan).more_targets = vec![local(&again)];
    let error = run(&plan, &load, BuiltIn::default()).expect_err("it is one directory");
    assert_eq!(error.category(), ErrorCategory::Usage);
    let said = error.to_string();
    assert!(
        said.contains("another of its targets is the same directory"),
        "{said}"
    );
    assert!(place.is_empty());
}

#[test]
fn transfers_are_cut_when_that_is_asked_for() {
    let load = replays::load(LOAD);
    let (server, built_in, target) = nfs();
    let place = Scratch::new();
    for target in [target, place.target()] {
        let mut plan = plan(target, &load);
        settings(&mut plan).trunc_io_bytes = Some(5000);
        let record = run(&plan, &load, built_in).expect("it runs");
        let replay = record.replay.expect("it is a replay");
        // What is read where nothing was written is missing, and found missing: no goodput.
        assert_eq!((replay.bytes_written, replay.bytes_read), (15_000, 0));
        assert_eq!(replay.mismatch_count, 3, "{:?}", replay.mismatches);
        assert_eq!(replay.mismatches[0].got, "904 bytes");
    }
    drop(server);
}

#[test]
fn a_tree_that_is_kept_is_recognised_by_the_next_run() {
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &load);
    settings(&mut plan).skip_cleanup = true;
    run(&plan, &load, BuiltIn::default()).expect("it runs");
    let error = run(&plan, &load, BuiltIn::default()).expect_err("there is a tree");
    assert_eq!(error.category(), ErrorCategory::Usage);
    assert!(error.to_string().contains("left over"), "{error}");
}

#[test]
fn a_client_that_stops_costs_itself_only() {
    let text = format!("{LOAD}QUERY_PATH_INFORMATION \"/public/no\" 1 NT_STATUS_OK\n{LOAD}");
    let wrong = replays::load(&text);
    let right = replays::load(LOAD);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &wrong);
    settings(&mut plan).on_mismatch = OnMismatch::Stop;
    plan.clients = 2;
    let stop = AtomicBool::new(false);
    let loads = [Arc::clone(&wrong), right];
    let record = replay(
        &plan,
        &loads,
        BuiltIn::default(),
        &stop,
        &mut Watcher::default(),
    );
    let record = record.expect("the other client goes on");
    record.check().expect("the record agrees with itself");
    let replay = record.replay.expect("it is a replay");
    let lost = replay.clients[0].lost.as_deref().expect("it stopped");
    assert!(
        lost.contains("line 20: query_path_information should have succeeded"),
        "{lost}"
    );
    assert_eq!(replay.clients[1].lines, OPERATIONS);
    assert_eq!(replay.mismatches[0].operation, OpKind::QueryPathInformation);
    assert!(record.caveats.iter().any(|caveat| matches!(
        caveat,
        Caveat::ClientsLost {
            lost: 1,
            clients: 2,
            ..
        }
    )));
    assert!(place.is_empty());
}

#[test]
fn a_run_that_is_stopped_cleans_up_and_says_so() {
    use filestone_measure::measure::run_record::RunOutcome;
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &load);
    settings(&mut plan).run_once = false;
    plan.duration_ns = Some(3_600_000_000_000);
    let mut watcher = Watcher {
        is_stopping: true,
        ..Watcher::default()
    };
    let stop = Arc::clone(&watcher.stop);
    let record = replay(&plan, &[load], BuiltIn::default(), &stop, &mut watcher);
    let record = record.expect("a record of what there was");
    record.check().expect("the record agrees with itself");
    assert_eq!(record.end, RunOutcome::Interrupted);
    assert!(record.totals.ledger.ok > 0);
    assert!(place.is_empty());
    assert_eq!(watcher.phases.first(), Some(&ProgressPhase::Execute));
}

#[test]
fn rows_count_all_clients_until_the_clean_up_which_has_rows_of_its_own() {
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &load);
    settings(&mut plan).run_once = false;
    plan.duration_ns = Some(1_000_000_000);
    let mut watcher = Watcher::default();
    let stop = Arc::clone(&watcher.stop);
    let loads = [load];
    replay(&plan, &loads, BuiltIn::default(), &stop, &mut watcher).expect("a record");
    // What is cleaned away moves nothing: the rate stays what it was.
    let rate = watcher.rates.last().copied();
    assert!(watcher.phases.contains(&ProgressPhase::CleanUp) && rate > Some(0.0));
    type Rows = Vec<(ProgressPhase, u32)>;
    let rows: Rows = watcher.phases.into_iter().zip(watcher.clients).collect();
    let is_clean_up = |row: &(ProgressPhase, u32)| row.0 == ProgressPhase::CleanUp;
    let (cleaning, executing): (Rows, Rows) = rows.into_iter().partition(is_clean_up);
    assert!(cleaning.len() >= 2, "{cleaning:?}");
    assert_eq!(cleaning.first().map(|row| row.1), Some(plan.clients));
    assert_eq!(cleaning.last().map(|row| row.1), Some(0));
    let is_whole = |row: &(ProgressPhase, u32)| row.1 == plan.clients;
    assert!(executing.iter().all(is_whole), "{executing:?}");
}

#[test]
fn names_count_clients_from_where_the_plan_says() {
    let load = replays::load(LOAD.trim_end().rsplit_once('\n').expect("lines").0);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &load);
    let replay = settings(&mut plan);
    (replay.first_number, replay.skip_cleanup) = (1, true);
    let record = run(&plan, &load, BuiltIn::default()).expect("a record");
    let mismatches = record.replay.map(|replay| replay.mismatch_count);
    assert_eq!(mismatches, Some(0));
    let is_there = |number: u32| {
        place
            .path()
            .join(format!("clients/client{number}"))
            .exists()
    };
    assert_eq!([0, 1, 2, 3].map(is_there), [false, true, true, true]);
    let replay = settings(&mut plan);
    (replay.left_over, replay.skip_cleanup) = (LeftoverPolicy::Remove, false);
    run(&plan, &load, BuiltIn::default()).expect("a record");
    assert!(place.is_empty());
    // Over NFS each client takes away its own, too.
    let (server, built_in, target) = nfs();
    plan.target = target;
    let record = run(&plan, &load, built_in).expect("a record");
    assert_eq!(record.replay.map(|replay| replay.mismatch_count), Some(0));
    server.stop();
}

/// What [`LOAD`] reads, made.
const MAKING: &str = r#"
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX "\clients\client1\a.txt" 0x40 0x2 2 NT_STATUS_OK
WriteX 2 0 10000 10000 NT_STATUS_OK
Close 2 NT_STATUS_OK
"#;

/// [`LOAD`] on what [`MAKING`] has made: of its 18 lines 8 change something, and one looks for a
/// file in vain that is there now.
fn assert_only_read(record: &RunRecord) {
    let replay = record.replay.as_ref().expect("it is a replay");
    let left_out = replay.skipped_operations.iter();
    let left_out: Vec<(OpKind, u64)> = left_out.map(|kind| (kind.operation, kind.count)).collect();
    let mut expected = [
        (OpKind::Deltree, 6),
        (OpKind::MkDir, 3),
        (OpKind::WriteX, 3),
        (OpKind::Flush, 3),
        (OpKind::Rename, 3),
        (OpKind::Unlink, 6),
    ];
    expected.sort_by_key(|(kind, _)| kind.index());
    assert_eq!(left_out, expected);
    assert_eq!((replay.lines, replay.passes), (3 * 10, 3));
    assert_eq!(record.totals.ledger.scheduled, 3 * 10);
    assert!(replay.clients.iter().all(|client| client.lost.is_none()));
}

/// Makes a tree, and replays [`LOAD`] in it twice without a change.
fn made_and_read(target: TargetPlan, built_in: BuiltIn) {
    let making = replays::load(MAKING);
    let mut plan = plan(target, &making);
    settings(&mut plan).skip_cleanup = true;
    run(&plan, &making, built_in).expect("a record");
    let load = replays::load(LOAD);
    let mut plan = self::plan(plan.target, &load);
    let replay = settings(&mut plan);
    (replay.read_only, replay.skip_cleanup) = (true, true);
    for _ in 0..2 {
        let record = run(&plan, &load, built_in).expect("a record");
        assert_only_read(&record);
        let replay = record.replay.expect("it is a replay");
        let mismatches: Vec<_> = replay.mismatches.iter().map(|one| one.operation).collect();
        assert_eq!(mismatches, [OpKind::NtCreateX], "{:?}", replay.mismatches);
        assert_eq!(replay.mismatch_count, 3);
        assert_eq!((replay.bytes_written, replay.bytes_read), (0, 3 * 4096));
    }
}

#[test]
fn a_run_that_only_reads_leaves_out_what_changes_something() {
    let place = Scratch::new();
    made_and_read(place.target(), BuiltIn::default());
    let file = place.path().join("clients/client2/a.txt");
    assert_eq!(std::fs::metadata(file).expect("it is there").len(), 10_000);
    let (server, built_in, target) = nfs();
    made_and_read(target, built_in);
    server.stop();
    // Bare TCP has no place, and cannot say what was found.
    let (server, built_in, target) = tcp();
    let load = replays::load(LOAD);
    let mut plan = plan(target, &load);
    let replay = settings(&mut plan);
    (replay.read_only, replay.skip_cleanup) = (true, true);
    assert_only_read(&run(&plan, &load, built_in).expect("a record"));
    server.stop();
}

#[test]
fn a_run_that_only_reads_needs_something_to_read() {
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let mut plan = plan(place.target(), &load);
    let replay = settings(&mut plan);
    (replay.read_only, replay.skip_cleanup) = (true, true);
    let error = run(&plan, &load, BuiltIn::default()).expect_err("an empty directory");
    assert_eq!(error.category(), ErrorCategory::Usage);
    assert!(
        error
            .to_string()
            .contains("a run that only reads makes none"),
        "{error}"
    );
    assert!(place.is_empty());
}

#[test]
fn a_plan_that_no_replay_can_follow_is_refused() {
    let load = replays::load(LOAD);
    let place = Scratch::new();
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan(place.target(), &load);
        change(&mut plan);
        let error = run(&plan, &load, BuiltIn::default()).expect_err("it is refused");
        assert_eq!(error.category(), ErrorCategory::Usage, "{error}");
    };
    refused(&|plan| plan.clients = 0);
    refused(&|plan| settings(plan).run_once = false);
    refused(&|plan| {
        settings(plan).more_targets = vec![TargetPlan::Tcp(TcpTarget {
            host: None,
            port: None,
        })];
    });
    refused(&|plan| plan.target = local(&place.path().join("nowhere")));
    let stop = AtomicBool::new(false);
    let plan = plan(place.target(), &load);
    let none = replay(
        &plan,
        &[],
        BuiltIn::default(),
        &stop,
        &mut Watcher::default(),
    );
    assert_eq!(none.expect_err("no load").category(), ErrorCategory::Usage);
    assert!(place.is_empty());
}
