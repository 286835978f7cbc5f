//! Exact results in virtual time through the loop of every run: a server with a fixed service time,
//! and loads short enough to compute every figure by hand.

use super::*;
use crate::backend::blocking::Blocking;
use crate::replay::layer::LayerReply;
use crate::time::{Time, VirtualTime};
use crate::worker::{
    IntervalSink, Worker, WorkerClient, WorkerControl, WorkerEnd, WorkerResult, own_books,
};
use filestone_host::error::{AreaError as _, ErrorCategory};
use filestone_plan::plan::{
    LoadName, LocalTarget, OnMismatch, Pacing, Plan, ReplayPlan, TargetPlan, WorkloadPlan,
};
use filestone_protocol::workload::LoadFile;
use filestone_protocol::workload::load_file::{ClientCounters, SharedLoad};
use filestone_workload::failure::Failure;
use filestone_workload::load::{ActionStatus, Cause, Load, LoadAction, Mismatch, Script};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::IntervalBuffer;
use rustix::io::Errno;
use std::sync::Arc;

const MS: u64 = 1_000_000;

/// Replies successfully after a fixed time, until it breaks at `breaks_at`.
struct FixedServer {
    time: VirtualTime,
    service: u64,
    missing: &'static [u8],
    breaks_at: Option<u64>,
}

impl Layer for FixedServer {
    fn execute(&mut self, action: &LoadAction<'_>, _: &[u8]) -> Result<LayerReply, LayerLost> {
        self.time.pass(self.service);
        if self.breaks_at.is_some_and(|at| self.time.0.get() >= at) {
            return Err(LayerLost::Lost("the server is gone".into()));
        }
        let mut reply = LayerReply::of(ActionStatus::Ok);
        match action {
            LoadAction::QueryPathInformation { path, .. } if *path == self.missing => {
                reply.status = ActionStatus::Refused(Cause::NotFound);
            }
            LoadAction::WriteX { len, .. } | LoadAction::ReadX { len, .. } => {
                reply.data_bytes = *len
            }
            _ => {}
        }
        Ok(reply)
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        Ok(())
    }
}

/// Parameters of a run.
struct Setting {
    /// The load of each client.
    loads: Vec<String>,
    pacing: Pacing,
    service: u64,
    window: (u64, Option<u64>),
    run_once: bool,
    on_mismatch: OnMismatch,
    breaks_at: Option<u64>,
}

/// Keeps the one buffer of a run.
struct Keep<'a>(&'a mut Option<Box<IntervalBuffer>>);

impl IntervalSink for Keep<'_> {
    fn empty(&mut self) -> Option<Box<IntervalBuffer>> {
        None
    }
    fn full(&mut self, buffer: Box<IntervalBuffer>) {
        *self.0 = Some(buffer);
    }
}

/// Result of a run.
struct Ran {
    ends: Vec<ClientEnd<ClientCounters>>,
    buffer: IntervalBuffer,
    at: u64,
    end: WorkerEnd,
}

fn compiled(text: &str) -> Arc<Load> {
    Arc::new(filestone_host::load_file::read_text("paper.load", text).expect("the load is right"))
}

fn plan_of(clients: u32, kinds: Vec<OpKind>) -> Plan {
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let workload = WorkloadPlan::LoadFile(ReplayPlan::new(Vec::<LoadName>::new(), kinds));
    Plan {
        // All in one interval.
        interval_ns: 1_000_000 * MS,
        clients,
        ..Plan::new("test", target, workload, 1)
    }
}

/// Runs clients of these loads to their ends.
fn run<L: Layer>(
    plan: &Plan,
    replay: &ReplayPlan,
    loads: &[Arc<Load>],
    layer: impl Fn() -> L,
    time: &VirtualTime,
    stop: &AtomicBool,
) -> Ran {
    let shared = Arc::new(SharedLoad::new(plan, replay));
    let member = |number: u32| {
        let load = Arc::clone(&loads[number as usize]);
        let script = Script::new(load, number, plan.clients, 1);
        WorkerClient {
            number,
            workload: LoadFile::new(number, script, replay.pacing, Arc::clone(&shared)),
        }
    };
    let clients = (0..plan.clients).map(|_| LayerClient::new(layer(), Arc::from([]), stop));
    let backend = Blocking::new(clients.collect(), time.clone());
    let mut kept = None;
    let signals = WorkerControl {
        stop,
        end_run: &AtomicBool::new(false),
        offer: None,
        live_workers: None,
    };
    let members = (0..plan.clients).map(member).collect();
    let books = own_books(plan, Keep(&mut kept));
    let worker = Worker::new(plan, 0, members, backend, books, signals);
    let WorkerResult {
        end,
        workloads,
        backend,
    } = worker.run_and_keep();
    let clients = backend.into_clients().into_iter().zip(workloads);
    Ran {
        ends: clients
            .map(|(client, workload)| client.end(workload).0)
            .collect(),
        buffer: *kept.expect("the worker hands it over"),
        at: time.now().nanos(),
        end,
    }
}

impl Setting {
    fn of(load: &str) -> Self {
        Self {
            loads: vec![load.into()],
            pacing: Pacing::Closed,
            service: 2 * MS,
            window: (0, None),
            run_once: true,
            on_mismatch: OnMismatch::Count,
            breaks_at: None,
        }
    }

    /// Runs the setting to its end.
    fn run(&self) -> Ran {
        let loads: Vec<_> = self.loads.iter().map(|load| compiled(load)).collect();
        let mut kinds: Vec<OpKind> = loads.iter().flat_map(|load| load.kinds()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut plan = plan_of(loads.len() as u32, kinds);
        plan.warm_up_ns = self.window.0;
        plan.duration_ns = self.window.1.map(|end| end - self.window.0);
        let replay = ReplayPlan {
            pacing: self.pacing,
            run_once: self.run_once,
            on_mismatch: self.on_mismatch,
            ..plan.replay().expect("a replay").clone()
        };
        let time = VirtualTime::default();
        let layer = || FixedServer {
            time: time.clone(),
            service: self.service,
            missing: b"public/missing",
            breaks_at: self.breaks_at,
        };
        run(
            &plan,
            &replay,
            &loads,
            layer,
            &time,
            &AtomicBool::new(false),
        )
    }
}

impl Ran {
    /// Returns the results of the only client.
    fn end_of_client(&self) -> &ClientEnd<ClientCounters> {
        &self.ends[0]
    }

    fn lost(&self) -> Option<&str> {
        self.end_of_client().account.record.lost.as_deref()
    }
}

/// `count` queries with stamps `step` seconds apart.
fn stamped(count: u32, step: f64) -> String {
    let line = |index: u32| {
        let stamp = f64::from(index) * step;
        format!("{stamp:.6} QUERY_PATH_INFORMATION \"/public/x\" 1004 NT_STATUS_OK\n")
    };
    (0..count).map(line).collect()
}

fn query(buffer: &mut IntervalBuffer) -> &mut filestone_workload::recording::interval::KindBuffer {
    let wanted = OpKind::QueryPathInformation;
    let mut kinds = buffer.kinds.iter_mut();
    kinds
        .find(|kind| kind.kind == wanted)
        .expect("every kind has a place")
}

/// Line i is due at i ms and can begin at 2i ms: its lag is i ms. The median of 100 lines is the
/// 50th smallest, 49 ms; the service time is always 2 ms.
#[test]
fn a_server_half_as_fast_as_the_stamps_lags_by_what_paper_says() {
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        ..Setting::of(&stamped(100, 0.001))
    };
    let Ran {
        mut buffer,
        at: ended,
        ..
    } = setting.run();
    assert_eq!(ended, 200 * MS);
    assert_eq!(buffer.slot_wait.sum(), (0..100).sum::<u64>() * MS);
    assert_eq!(buffer.slot_wait.max(), 99 * MS);
    let median = buffer.slot_wait.quantile(0.5);
    assert!(
        (49 * MS..=49 * MS + 49 * MS / 16_384 + 1).contains(&median),
        "{median}"
    );
    assert_eq!(buffer.dispatch_delay.max(), 0);
    let kind = query(&mut buffer);
    assert_eq!(
        (kind.service_time.min(), kind.service_time.max()),
        (2 * MS, 2 * MS)
    );
    assert_eq!(kind.response_time.max(), 101 * MS);
}

/// Within 50 ms the lines 0 to 50 become due. One can begin every 2 ms, the last of them at 50 ms:
/// 26 are executed, and 25 were due and never begun.
#[test]
fn lines_that_were_due_and_not_begun_are_in_the_ledger() {
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        window: (0, Some(50 * MS)),
        run_once: false,
        ..Setting::of(&stamped(100, 0.001))
    };
    let ran = setting.run();
    let (end, mut buffer) = (&ran.ends[0], ran.buffer);
    let ledger = query(&mut buffer).ledger;
    assert_eq!((ledger.scheduled, ledger.ok, ledger.skipped), (51, 26, 25));
    assert_eq!((end.account.begun, end.account.record.lines), (51, 26));
    assert!(!ran.end.is_interrupted);
}

#[test]
fn a_server_that_keeps_up_has_no_lag_at_any_speed() {
    for (speed, ended) in [(0.5, 1980 + 2), (1.0, 990 + 2), (5.0, 198 + 2)] {
        let setting = Setting {
            pacing: Pacing::Stamps { speed },
            ..Setting::of(&stamped(100, 0.010))
        };
        let Ran { mut buffer, at, .. } = setting.run();
        assert_eq!(at, ended * MS, "{speed}");
        assert_eq!(buffer.slot_wait.max(), 0, "{speed}");
        assert_eq!(query(&mut buffer).ledger.ok, 100);
    }
}

#[test]
fn a_line_without_a_stamp_is_due_when_the_client_is_free() {
    let load = "0.010 QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n\
                QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n";
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        ..Setting::of(load)
    };
    let Ran {
        buffer, at: ended, ..
    } = setting.run();
    assert_eq!(ended, 14 * MS);
    assert_eq!(buffer.slot_wait.max(), 0);
}

/// 4,000 bytes at 1 MB/s take 4 ms; the server takes 2 ms. The first line waits for nothing, each
/// later one for the bytes before it.
#[test]
fn a_rate_makes_a_client_wait_for_the_bytes_that_it_has_moved() {
    let open = "NTCreateX \"/clients/client1/x\" 0 5 1 NT_STATUS_OK\n";
    let write = "WriteX 1 0 4000 4000 NT_STATUS_OK\n";
    let setting = Setting {
        pacing: Pacing::Rate { bytes_per_s: 1e6 },
        service: 2 * MS,
        ..Setting::of(&format!("{open}{}", write.repeat(10)))
    };
    let ran = setting.run();
    let (end, buffer, ended) = (&ran.ends[0], ran.buffer, ran.at);
    // The open ends at 2 ms, the first write at 4. The second is due at 4 ms, the
    // tenth at 36, and ends at 38.
    assert_eq!(ended, 38 * MS);
    assert_eq!(end.account.record.data_bytes, 40_000);
    assert_eq!(buffer.slot_wait.max(), 0);
}

#[test]
fn a_closed_loop_measures_what_was_due_in_the_window() {
    let setting = Setting {
        window: (100 * MS, Some(200 * MS)),
        run_once: false,
        ..Setting::of(&stamped(10, 1.0))
    };
    let ran = setting.run();
    let (end, mut buffer) = (&ran.ends[0], ran.buffer);
    // Due at 100, 102, … 200 ms: a closed loop starts one at the very end.
    let kind = query(&mut buffer);
    assert_eq!((kind.ledger.scheduled, kind.ledger.ok), (51, 51));
    // The last one ends after the window has closed.
    assert_eq!(buffer.counts.ok_in_window, 50);
    assert_eq!(end.account.begun, 51);
    assert_eq!(end.account.record.lines, 101);
    assert_eq!(end.account.passes, 11);
}

#[test]
fn results_other_than_expected_are_counted_with_their_lines() {
    let load = "QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n\
                QUERY_PATH_INFORMATION \"/public/missing\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
                QUERY_PATH_INFORMATION \"/public/missing\" 1 *\n\
                QUERY_PATH_INFORMATION \"/public/y\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
                QUERY_PATH_INFORMATION \"/public/y\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n";
    let ran = Setting::of(load).run();
    let (end, mut buffer) = (&ran.ends[0], ran.buffer);
    let kind = query(&mut buffer);
    assert_eq!((kind.ledger.ok, kind.ledger.failed), (3, 2));
    assert_eq!(
        kind.failures,
        [(Failure::Unexpected(Mismatch::Succeeded), 2)]
    );
    assert_eq!(end.mismatches.count(), 2);
    let mut all = Mismatches::default();
    ran.ends
        .into_iter()
        .for_each(|end| all.merge(end.mismatches));
    let records = all.into_records();
    assert_eq!(
        (records[0].count, records[0].lines.as_slice()),
        (2, &[4, 5][..])
    );
    assert_eq!(
        (records[0].expected.as_str(), records[0].got.as_str()),
        ("STATUS_OBJECT_NAME_NOT_FOUND (0xc0000034)", "success")
    );
}

#[test]
fn a_mismatch_ends_the_client_when_that_was_asked_for() {
    let load = "QUERY_PATH_INFORMATION \"/public/y\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n".repeat(5);
    let setting = Setting {
        on_mismatch: OnMismatch::Stop,
        ..Setting::of(&load)
    };
    let ran = setting.run();
    let (end, ended) = (&ran.ends[0], ran.at);
    assert_eq!(ended, 2 * MS);
    let lost = end.account.record.lost.as_deref().expect("it ended early");
    assert!(
        lost.starts_with("line 1: query_path_information should have failed"),
        "{lost}"
    );
}

#[test]
fn a_lost_operation_stays_in_the_ledger() {
    let setting = Setting {
        breaks_at: Some(7 * MS),
        ..Setting::of(&stamped(10, 1.0))
    };
    let ran = setting.run();
    let (end, mut buffer) = (&ran.ends[0], ran.buffer);
    let ledger = query(&mut buffer).ledger;
    assert_eq!(
        (ledger.scheduled, ledger.ok, ledger.disconnected),
        (4, 3, 1)
    );
    assert_eq!(end.account.begun, 4);
    assert_eq!(
        end.account.record.lost.as_deref(),
        Some("the server is gone")
    );
}

#[test]
fn a_pause_restarts_the_clock_of_stamps() {
    let line = "0.003 QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n";
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        ..Setting::of(&format!("{line}SLEEP 10000\n{line}"))
    };
    // 3 + 2, a pause of 10, and 3 + 2 once more.
    let Ran {
        buffer, at: ended, ..
    } = setting.run();
    assert_eq!(ended, 20 * MS);
    assert_eq!(buffer.slot_wait.max(), 0);
}

/// Two clients that take turns, as on one thread.
#[test]
fn a_client_can_wait_for_another_on_its_own_thread() {
    let text =
        |line: &str| format!("{line}\nQUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n");
    let setting = Setting {
        loads: vec![text("WAITSP 1 5"), text("SLEEP 3000\nSETSP 5")],
        service: MS,
        ..Setting::of("")
    };
    let ran = setting.run();
    for end in &ran.ends {
        assert_eq!(
            (end.account.record.lines, &end.account.record.lost),
            (1, &None)
        );
    }
    // The second pauses until 3 ms and ends its line at 4; the first polls every millisecond.
    assert_eq!(ran.at, 5 * MS);
}

/// Stops the run during its second action.
struct Interrupted<'a>(&'a AtomicBool, u32);

impl Layer for Interrupted<'_> {
    fn execute(&mut self, _: &LoadAction<'_>, _: &[u8]) -> Result<LayerReply, LayerLost> {
        self.1 += 1;
        if self.1 < 2 {
            return Ok(LayerReply::of(ActionStatus::Ok));
        }
        self.0.store(true, Ordering::Relaxed);
        Err(LayerLost::Stopped)
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        Ok(())
    }
}

#[test]
fn an_action_that_was_broken_off_by_a_stop_stays_in_flight_and_loses_nobody() {
    let load = compiled(&"QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n".repeat(3));
    let plan = plan_of(1, load.kinds());
    let replay = plan.replay().expect("a replay");
    let (stop, time) = (AtomicBool::new(false), VirtualTime::default());
    let ran = run(
        &plan,
        replay,
        &[load],
        || Interrupted(&stop, 0),
        &time,
        &stop,
    );
    let end = ran.end_of_client();
    assert_eq!((end.account.record.lines, end.account.begun), (1, 2));
    assert_eq!(ran.lost(), None);
    assert!(ran.end.is_interrupted);
    let mut buffer = ran.buffer;
    let ledger = query(&mut buffer).ledger;
    assert_eq!((ledger.scheduled, ledger.ok, ledger.in_flight), (2, 1, 1));
}

/// Reports from the second action on that the process may open no more files.
struct Exhausted(u32);

impl Layer for Exhausted {
    fn execute(&mut self, _: &LoadAction<'_>, _: &[u8]) -> Result<LayerReply, LayerLost> {
        self.0 += 1;
        match self.0 {
            1 => Ok(LayerReply::of(ActionStatus::Ok)),
            _ => Err(LayerLost::Exhausted(Errno::MFILE.into())),
        }
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        Ok(())
    }
}

#[test]
fn a_host_without_open_files_ends_the_run_and_answers_nothing() {
    let load = compiled(&"QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n".repeat(30));
    let plan = plan_of(1, load.kinds());
    let replay = plan.replay().expect("a replay");
    let (stop, time) = (AtomicBool::new(false), VirtualTime::default());
    let mut ran = run(&plan, replay, &[load], || Exhausted(0), &time, &stop);
    let mut buffer = ran.buffer;
    let ledger = query(&mut buffer).ledger;
    assert_eq!((ledger.ok, ledger.unsuccessful()), (1, 0));
    assert_eq!(ran.ends[0].mismatches.count(), 0);
    let loss = loss_of(&plan, &mut ran.end, &ran.ends).expect("the run ends");
    assert_eq!(loss.category(), ErrorCategory::Environment);
    assert!(loss.to_string().contains("Too many open files"), "{loss}");
    assert!(loss.help().is_some_and(|help| help.contains("ulimit -n")));
}

#[test]
fn a_client_that_waits_for_itself_would_wait_for_ever() {
    let load = "WAITSP 0 5\nQUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n";
    let ran = Setting::of(load).run();
    let lost = ran.lost().expect("it ended early");
    assert!(lost.contains("which is itself"), "{lost}");
}
