//! Known answers, in virtual time: a server that answers after a fixed time, and
//! loads short enough that everything can be worked out on paper.

use super::*;
use crate::replay::layer::Reply;
use crate::time::VirtualTime;
use filestone_model::load::{Action, Cause, Compiler, Mismatch};
use filestone_model::measure::IntervalBuffer;
use filestone_model::operation::Failure;
use filestone_model::plan::TICK_NANOS;
use std::sync::Arc;

const MS: u64 = 1_000_000;

/// Answers everything well after a fixed time, until it is told to break.
struct FixedServer {
    time: VirtualTime,
    service: u64,
    missing: &'static [u8],
    breaks_at: Option<u64>,
}

impl Layer for FixedServer {
    fn carry_out(&mut self, action: &Action<'_>, _: &[u8]) -> Result<Reply, LayerLost> {
        self.time.pass(self.service);
        if self.breaks_at.is_some_and(|at| self.time.0.get() >= at) {
            return Err(LayerLost {
                what: "the server is gone".into(),
            });
        }
        let mut reply = Reply::of(Status::Ok);
        match action {
            Action::QueryPathInformation { path, .. } if *path == self.missing => {
                reply.status = Status::Refused(Cause::NotFound);
            }
            Action::WriteX { len, .. } | Action::ReadX { len, .. } => reply.data_bytes = *len,
            _ => {}
        }
        Ok(reply)
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        Ok(())
    }
}

/// How a run of one client is made.
struct Setting {
    load: String,
    pacing: Pacing,
    service: u64,
    window: (u64, u64),
    run_once: bool,
    on_mismatch: OnMismatch,
    breaks_at: Option<u64>,
}

impl Setting {
    fn of(load: &str) -> Self {
        Self {
            load: load.into(),
            pacing: Pacing::Closed,
            service: 2 * MS,
            window: (0, u64::MAX),
            run_once: true,
            on_mismatch: OnMismatch::Count,
            breaks_at: None,
        }
    }

    /// Runs it to its end.
    fn run(&self) -> (ClientEnd, IntervalBuffer, u64) {
        let mut compiler = Compiler::new("paper.load");
        for line in self.load.lines() {
            compiler.line(line.as_bytes());
        }
        let load = Arc::new(compiler.finish().expect("the load is right"));
        let kinds: Vec<_> = OpKind::ALL
            .iter()
            .map(|kind| (*kind, Role::Measured))
            .collect();
        let buffer = Box::new(IntervalBuffer::new(&kinds, 100, TICK_NANOS));
        let [start, end] = [self.window.0, self.window.1].map(Moment::from_nanos);
        let stop = AtomicBool::new(false);
        let shared = Shared {
            stop: &stop,
            recorder: Mutex::new(Recorder::new(buffer, start, end)),
            window_start: start,
            window_end: end,
            points: vec![AtomicU64::new(0)],
            run_once: self.run_once,
            on_mismatch: self.on_mismatch,
            trunc_io_bytes: None,
        };
        let time = VirtualTime::default();
        let layer = FixedServer {
            time: time.clone(),
            service: self.service,
            missing: b"public/missing",
            breaks_at: self.breaks_at,
        };
        let mailbox = ReplayMailbox::new();
        let script = Script::new(load, 0, 1, 1);
        let mut client = Client::new(
            0,
            script,
            layer,
            self.pacing,
            time.clone(),
            &mailbox,
            &shared,
        );
        while client.step() == Step::Going {}
        let (end, _) = client.finish();
        enter(&mailbox, &shared, Moment::NEVER);
        let recorder = shared.recorder.into_inner().expect("nobody panicked");
        (end, *recorder.finish(time.now()), time.0.get())
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

fn query(buffer: &mut IntervalBuffer) -> &mut filestone_model::measure::interval::KindBuffer {
    let wanted = OpKind::QueryPathInformation;
    let mut kinds = buffer.kinds.iter_mut();
    kinds
        .find(|kind| kind.kind == wanted)
        .expect("every kind has a place")
}

/// Line i is due at i ms and can begin at 2i ms: its lag is i ms. Of 100 lines
/// the median is the 50th smallest, 49 ms; the service time is 2 ms throughout.
#[test]
fn a_server_half_as_fast_as_the_stamps_lags_by_what_paper_says() {
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        ..Setting::of(&stamped(100, 0.001))
    };
    let (_, mut buffer, ended) = setting.run();
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

/// Within 50 ms the lines 0 to 50 come due. One can begin every 2 ms, the last of
/// them at 50 ms: 26 are carried out, and 25 were due and never begun.
#[test]
fn lines_that_were_due_and_not_begun_are_in_the_ledger() {
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        window: (0, 50 * MS),
        run_once: false,
        ..Setting::of(&stamped(100, 0.001))
    };
    let (end, mut buffer, _) = setting.run();
    let ledger = query(&mut buffer).ledger;
    assert_eq!((ledger.scheduled, ledger.ok, ledger.skipped), (51, 26, 25));
    assert_eq!((end.begun, end.record.lines), (51, 26));
    assert!(!end.was_stopped);
}

#[test]
fn a_server_that_keeps_up_has_no_lag_at_any_speed() {
    for (speed, ended) in [(0.5, 1980 + 2), (1.0, 990 + 2), (5.0, 198 + 2)] {
        let setting = Setting {
            pacing: Pacing::Stamps { speed },
            ..Setting::of(&stamped(100, 0.010))
        };
        let (_, mut buffer, at) = setting.run();
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
    let (_, buffer, ended) = setting.run();
    assert_eq!(ended, 14 * MS);
    assert_eq!(buffer.slot_wait.max(), 0);
}

/// 4,000 bytes at 1 MB/s take 4 ms; the server takes 2 ms. The first line waits
/// for nothing, each later one for the bytes before it.
#[test]
fn a_rate_makes_a_client_wait_for_the_bytes_that_it_has_moved() {
    let open = "NTCreateX \"/clients/client1/x\" 0 5 1 NT_STATUS_OK\n";
    let write = "WriteX 1 0 4000 4000 NT_STATUS_OK\n";
    let setting = Setting {
        pacing: Pacing::Rate { bytes_per_s: 1e6 },
        service: 2 * MS,
        ..Setting::of(&format!("{open}{}", write.repeat(10)))
    };
    let (end, buffer, ended) = setting.run();
    // The open ends at 2 ms, the first write at 4. The second is due at 4 ms, the
    // tenth at 36, and ends at 38.
    assert_eq!(ended, 38 * MS);
    assert_eq!(end.record.data_bytes, 40_000);
    assert_eq!(buffer.slot_wait.max(), 0);
}

#[test]
fn a_closed_loop_measures_what_was_due_in_the_window() {
    let setting = Setting {
        window: (100 * MS, 200 * MS),
        run_once: false,
        ..Setting::of(&stamped(10, 1.0))
    };
    let (end, mut buffer, _) = setting.run();
    // Due at 100, 102, … 200 ms: a closed loop starts one at the very end.
    let kind = query(&mut buffer);
    assert_eq!((kind.ledger.scheduled, kind.ledger.ok), (51, 51));
    // The last one ends after the window has closed.
    assert_eq!(buffer.counts.ok_in_window, 50);
    assert_eq!(end.begun, 51);
    assert_eq!(end.record.lines, 101);
    assert_eq!(end.passes, 11);
}

#[test]
fn results_other_than_expected_are_counted_with_their_lines() {
    let load = "QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n\
                QUERY_PATH_INFORMATION \"/public/missing\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
                QUERY_PATH_INFORMATION \"/public/missing\" 1 *\n\
                QUERY_PATH_INFORMATION \"/public/y\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
                QUERY_PATH_INFORMATION \"/public/y\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n";
    let (end, mut buffer, _) = Setting::of(load).run();
    let kind = query(&mut buffer);
    assert_eq!((kind.ledger.ok, kind.ledger.failed), (3, 2));
    assert_eq!(
        kind.failures,
        [(Failure::Unexpected(Mismatch::Succeeded), 2)]
    );
    assert_eq!(end.record.mismatch_count, 2);
    let records = end.mismatches.into_records();
    assert_eq!(
        (records[0].count, records[0].lines.as_slice()),
        (2, &[4, 5][..])
    );
    assert_eq!(
        (records[0].expected.as_str(), records[0].got.as_str()),
        ("not found", "success")
    );
}

#[test]
fn a_mismatch_ends_the_client_when_that_was_asked_for() {
    let load = "QUERY_PATH_INFORMATION \"/public/y\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n".repeat(5);
    let setting = Setting {
        on_mismatch: OnMismatch::Stop,
        ..Setting::of(&load)
    };
    let (end, _, ended) = setting.run();
    assert_eq!(ended, 2 * MS);
    let lost = end.record.lost.expect("it ended early");
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
    let (end, mut buffer, _) = setting.run();
    let ledger = query(&mut buffer).ledger;
    assert_eq!(
        (ledger.scheduled, ledger.ok, ledger.disconnected),
        (4, 3, 1)
    );
    assert_eq!(end.begun, 4);
    assert_eq!(end.record.lost.as_deref(), Some("the server is gone"));
}

#[test]
fn a_pause_restarts_the_clock_of_stamps() {
    let line = "0.003 QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n";
    let setting = Setting {
        pacing: Pacing::Stamps { speed: 1.0 },
        ..Setting::of(&format!("{line}SLEEP 10000\n{line}"))
    };
    // 3 + 2, a pause of 10, and 3 + 2 once more.
    let (_, buffer, ended) = setting.run();
    assert_eq!(ended, 20 * MS);
    assert_eq!(buffer.slot_wait.max(), 0);
}

/// Two clients that take turns, as on one thread.
#[test]
fn a_client_can_wait_for_another_on_its_own_thread() {
    let text = |line: &str| {
        let text = format!("{line}\nQUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n");
        Arc::new(crate::load_file::read_text("points.load", &text).expect("the load is right"))
    };
    let stop = AtomicBool::new(false);
    let kinds = [(OpKind::QueryPathInformation, Role::Measured)];
    let buffer = Box::new(IntervalBuffer::new(&kinds, 100, TICK_NANOS));
    let shared = Shared {
        stop: &stop,
        recorder: Mutex::new(Recorder::new(buffer, Moment::ZERO, Moment::NEVER)),
        window_start: Moment::ZERO,
        window_end: Moment::NEVER,
        points: vec![AtomicU64::new(0), AtomicU64::new(0)],
        run_once: true,
        on_mismatch: OnMismatch::Count,
        trunc_io_bytes: None,
    };
    let time = VirtualTime::default();
    let mailboxes = [ReplayMailbox::new(), ReplayMailbox::new()];
    let loads = [text("WAITSP 1 5"), text("SLEEP 3000\nSETSP 5")];
    let mut clients: Vec<_> = (0..2)
        .zip(loads)
        .zip(&mailboxes)
        .map(|((number, load), mailbox)| {
            let layer = FixedServer {
                time: time.clone(),
                service: MS,
                missing: b"",
                breaks_at: None,
            };
            let script = Script::new(load, number, 2, 1);
            let (pacing, time) = (Pacing::Closed, time.clone());
            Client::new(number, script, layer, pacing, time, mailbox, &shared)
        })
        .collect();
    let mut going = [true; 2];
    for _ in 0..20 {
        for (client, going) in clients.iter_mut().zip(&mut going) {
            *going = *going && client.step() == Step::Going;
        }
    }
    assert_eq!(going, [false; 2]);
    for (client, mailbox) in clients.into_iter().zip(&mailboxes) {
        let (end, _) = client.finish();
        assert_eq!((end.record.lines, end.record.lost), (1, None));
        assert_eq!(mailbox.done_at().map(Moment::nanos), Some(time.0.get()));
    }
}

/// Somebody stops the run while it is at its second action.
struct Interrupted<'a>(&'a AtomicBool, u32);

impl Layer for Interrupted<'_> {
    fn carry_out(&mut self, _: &Action<'_>, _: &[u8]) -> Result<Reply, LayerLost> {
        self.1 += 1;
        if self.1 < 2 {
            return Ok(Reply::of(Status::Ok));
        }
        self.0.store(true, Ordering::Relaxed);
        Err(LayerLost::stopped())
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        Ok(())
    }
}

#[test]
fn an_action_that_was_broken_off_by_a_stop_counts_as_not_begun_and_loses_nobody() {
    let text = "QUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n".repeat(3);
    let load = crate::load_file::read_text("three.load", &text).expect("the load is right");
    let stop = AtomicBool::new(false);
    let kinds = [(OpKind::QueryPathInformation, Role::Measured)];
    let buffer = Box::new(IntervalBuffer::new(&kinds, 100, TICK_NANOS));
    let shared = Shared {
        stop: &stop,
        recorder: Mutex::new(Recorder::new(buffer, Moment::ZERO, Moment::NEVER)),
        window_start: Moment::ZERO,
        window_end: Moment::NEVER,
        points: vec![AtomicU64::new(0)],
        run_once: true,
        on_mismatch: OnMismatch::Count,
        trunc_io_bytes: None,
    };
    let mailbox = ReplayMailbox::new();
    let script = Script::new(Arc::new(load), 0, 1, 1);
    let mut client = Client::new(
        0,
        script,
        Interrupted(&stop, 0),
        Pacing::Closed,
        VirtualTime::default(),
        &mailbox,
        &shared,
    );
    while client.step() == Step::Going {}
    let (end, _) = client.finish();
    assert_eq!((end.record.lines, end.record.lost), (1, None));
    assert_eq!((end.begun, end.was_stopped), (1, true));
    assert_eq!(mailbox.worst(7), 0, "nothing is going on");
}

#[test]
fn a_client_that_waits_for_itself_would_wait_for_ever() {
    let (end, _, _) =
        Setting::of("WAITSP 0 5\nQUERY_PATH_INFORMATION \"/public/x\" 1 NT_STATUS_OK\n").run();
    let lost = end.record.lost.expect("it ended early");
    assert!(lost.contains("which is itself"), "{lost}");
}
