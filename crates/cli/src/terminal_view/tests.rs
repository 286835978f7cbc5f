//! Screens of several sizes.

use super::drawing::draw;
use super::state::{KeyAction, View};
use super::theme::Theme;
use filestone_live::event::{
    Event, IntervalFigures, KindFigures, LatencySummary, NoteText, OperationFigures, RunBegun,
    RunEnded,
};
use filestone_live::feed::{Feed, Snapshot};
use filestone_measure::measure::run_record::{Phase, Target};
use filestone_plan::plan::{ArrivalsPlan, LocalTarget, Plan, ReplayPlan, TargetPlan, WorkloadPlan};
use filestone_workload::operation::OpKind;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

fn plan() -> Plan {
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let replay = ReplayPlan::new(vec![], vec![OpKind::Read, OpKind::Write]);
    Plan {
        duration_ns: Some(60 * SECOND),
        warm_up_ns: 2 * SECOND,
        arrivals: ArrivalsPlan::Constant {
            offered_load_ops_per_s: 12_000.0,
        },
        ..Plan::new("mix", target, WorkloadPlan::LoadFile(replay), 1)
    }
}

fn figures(ok: u64, unsuccessful: u64, p99: u64) -> OperationFigures {
    OperationFigures {
        scheduled: ok + unsuccessful,
        ok,
        unsuccessful,
        skipped: 0,
        data_bytes: ok * 1000,
        response_time_ns: Some(LatencySummary {
            count: ok + unsuccessful,
            mean: 200_000.0,
            p50: 150_000,
            p90: 300_000,
            p99,
            p99_9: 2 * p99,
            max: 3 * p99,
        }),
    }
}

/// An interval of one second that ends `number` seconds after the window opened.
fn interval(number: u64) -> Event {
    let ok = 11_000 + 100 * (number % 10);
    let failed = if number.is_multiple_of(7) { 3 } else { 0 };
    let p99 = 800_000 + 50_000 * (number % 5);
    let kind = |operation: &str, figures| KindFigures {
        operation: operation.into(),
        figures,
    };
    Event::Interval(Arc::new(IntervalFigures {
        start_ns: (number - 1) * SECOND,
        end_ns: number * SECOND,
        phase: Phase::Measure,
        all: figures(ok, failed, p99),
        kinds: vec![
            kind("read", figures(ok - 3000, 0, p99)),
            kind("write", figures(3000, failed, 2 * p99)),
        ],
        bytes_sent: 0,
        bytes_received: 0,
        client_cpu_ns: 430_000_000,
        resident_bytes: 34 << 20,
        dispatch_delay_ns: Some(LatencySummary {
            count: ok,
            mean: 1500.0,
            p50: 1000,
            p90: 2000,
            p99: 12_000,
            p99_9: 20_000,
            max: 50_000,
        }),
    }))
}

fn begun() -> Event {
    Event::RunBegun(Arc::new(RunBegun {
        number: 1,
        name: String::new(),
        plan: plan(),
    }))
}

fn prepared() -> Event {
    Event::Prepared(Arc::new(Target {
        address: "10.0.0.5:2049".into(),
        export: "/export/\u{1b}[31mred".into(),
        ..Target::default()
    }))
}

/// A run that has been measured for this number of seconds.
fn running(seconds: u64) -> View {
    let mut view = View::of(Snapshot::default(), Duration::ZERO);
    for event in [begun(), prepared()] {
        view.record(&event, Duration::ZERO);
    }
    for number in 1..=seconds {
        view.record(&interval(number), Duration::from_secs(2 + number));
    }
    view
}

fn screen(view: &View, width: u16, height: u16, now: Duration) -> String {
    let backend = TestBackend::new(width, height);
    let mut terminal = Terminal::new(backend).expect("a terminal");
    let look = Theme { has_colours: true };
    terminal
        .draw(|frame| draw(frame, view, look, now))
        .expect("a picture");
    terminal.backend().to_string()
}

#[test]
fn a_run_on_a_usual_terminal() {
    let view = running(12);
    insta::assert_snapshot!(screen(&view, 80, 24, Duration::from_secs(14)));
}

#[test]
fn a_run_on_a_narrow_terminal_and_a_wide_one() {
    let view = running(12);
    insta::assert_snapshot!(screen(&view, 40, 16, Duration::from_secs(14)));
    insta::assert_snapshot!(screen(&view, 120, 40, Duration::from_secs(14)));
}

#[test]
fn no_size_is_too_small() {
    let view = running(30);
    let mut help = running(1);
    help.press(KeyAction::Help);
    for width in [1, 2, 5, 10, 39, 300] {
        for height in [1, 2, 3, 5, 8, 100] {
            screen(&view, width, height, Duration::ZERO);
            screen(&help, width, height, Duration::ZERO);
        }
    }
}

#[test]
fn what_goes_on_before_the_load_is_said() {
    let mut view = View::of(Snapshot::default(), Duration::ZERO);
    let at = |view: &View| view.progress(Duration::from_millis(500)).text;
    assert_eq!(at(&view), "waiting for the first run");
    view.record(&begun(), Duration::ZERO);
    assert_eq!(at(&view), "looking for the target");
    let what = "making files".into();
    view.record(&Event::Preparing(NoteText { what }), Duration::ZERO);
    assert_eq!(at(&view), "making files");
    view.record(&prepared(), Duration::ZERO);
    let what = "running".into();
    view.record(&Event::Preparing(NoteText { what }), Duration::ZERO);
    assert_eq!(at(&view), "warm-up, 2 s left");
    insta::assert_snapshot!(screen(&view, 60, 12, Duration::from_millis(500)));
}

#[test]
fn time_goes_on_between_two_intervals() {
    let view = running(12);
    let at = |millis| view.progress(Duration::from_millis(millis));
    assert_eq!(at(14_000).share, Some(12.0 / 60.0));
    assert_eq!(at(14_500).share, Some(12.5 / 60.0));
    // A late interval has not arrived yet, whatever the time.
    assert_eq!(at(99_000).share, Some(13.0 / 60.0));
    assert_eq!(running(60).progress(Duration::from_secs(62)).text, "ending");
}

#[test]
fn keys_choose_the_operation_and_go_round() {
    let mut view = running(7);
    let mut chosen = |asked| {
        view.press(asked);
        view.selected.clone()
    };
    assert_eq!(chosen(KeyAction::Next).as_deref(), Some("read"));
    assert_eq!(chosen(KeyAction::Next).as_deref(), Some("write"));
    assert_eq!(chosen(KeyAction::Next), None);
    assert_eq!(chosen(KeyAction::Previous).as_deref(), Some("write"));
    assert_eq!(chosen(KeyAction::All), None);
    chosen(KeyAction::Previous);
    insta::assert_snapshot!(screen(&view, 80, 20, Duration::from_secs(9)));
    View::default().press(KeyAction::Next);
}

#[test]
fn the_help_and_the_end_are_said() {
    let mut view = running(3);
    view.press(KeyAction::Stop);
    let stopping = screen(&view, 60, 14, Duration::from_secs(5));
    assert!(stopping.contains("stopping in order"), "{stopping}");
    view.press(KeyAction::Help);
    insta::assert_snapshot!(screen(&view, 60, 14, Duration::from_secs(5)));
}

#[test]
fn a_view_that_missed_something_begins_again_with_what_was_chosen() {
    let feed = Feed::new("1.2.3", vec!["filestone".into(), "mix".into()]);
    let (snapshot, _) = feed.read();
    let mut view = View::of(snapshot, Duration::ZERO);
    for event in [begun(), prepared(), interval(1)] {
        feed.publish(event);
    }
    view.selected = Some("read".into());
    view.renew(feed.snapshot(), Duration::from_secs(3));
    assert_eq!(view.selected.as_deref(), Some("read"));
    assert_eq!(view.all.ended, 11_100);
    assert_eq!(view.sums["write"].ended, 3000);
}

#[test]
fn runs_that_are_over_are_said_and_the_next_begins_anew() {
    let mut view = running(3);
    let ended = RunEnded {
        number: 1,
        end: "finished".into(),
        validity: "counts".into(),
        why: None,
        caveats: vec![],
        window_ns: SECOND,
        all: OperationFigures::default(),
        achieved_load_ops_per_s: 0.0,
        failures: vec![],
    };
    view.record(&Event::RunEnded(Arc::new(ended)), Duration::from_secs(5));
    view.record(&begun(), Duration::from_secs(5));
    assert_eq!((view.all.ended, view.intervals.len()), (0, 0));
    let shown = screen(&view, 60, 14, Duration::from_secs(5));
    assert!(shown.contains("run 1 finished"), "{shown}");
}
