use super::comparison::{self, ComparedLadders};
use super::*;
use crate::document::page::PageWidth;
use crate::repeats::RepeatsEnd;
use crate::{fixtures, json, picture as drawing};
use filestone_measure::comparison::ComparedRun;
use filestone_measure::cost::{
    CostCounter, CostEstimate, CostFigure, CostRecord, MeasuredAt, WireCostRecord,
};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{CostPlan, WorkloadPlan};

fn of_server(counter: CostCounter, value: f64) -> CostFigure {
    CostFigure {
        measured_at: MeasuredAt::Server,
        counter,
        line: None,
        per_operation: Some(CostEstimate {
            value,
            half_width: value / 100.0,
        }),
        idle_per_s: Some(0.0),
        load_per_s: None,
        reason: None,
    }
}

/// A call that takes 30 µs more than the server's processor time, including 1 µs in filestone.
fn run(operation: OpKind, server_ns: f64, drift_ns: f64) -> RunRecord {
    let mut record = fixtures::in_stretches();
    let plan = &mut record.plan;
    (plan.clients, plan.in_flight) = (1, 1);
    plan.cost = Some(CostPlan::of_this_end(0, 200_000_000));
    if let WorkloadPlan::Probe(probe) = &mut plan.workload {
        probe.operation = operation;
    }
    let totals = &mut record.totals;
    totals.figures.clear();
    totals.slot_wait_ns.mean = 0.0;
    totals.dispatch_delay_ns.mean = 1000.0;
    let exchange = 29_000.0 + server_ns + drift_ns;
    totals.service_time_ns.mean = exchange;
    let times = &mut totals.response_time_ns;
    times.mean = exchange + 1000.0;
    times.p50 = times.mean as u64 - 2000;
    times.p99 = 3 * times.mean as u64;
    let known = |value| {
        Some(CostEstimate {
            value,
            half_width: 0.1,
        })
    };
    record.cost = Some(CostRecord {
        sources: vec![],
        figures: vec![
            of_server(CostCounter::ProcessCpu, server_ns),
            of_server(CostCounter::ProcessVoluntary, 1.0),
            of_server(CostCounter::ProcessInvoluntary, 0.0),
        ],
        wire: Some(WireCostRecord {
            interface: "eth0".into(),
            mtu_bytes: 1500,
            message_bytes_per_operation: 72.0,
            model_packets_per_operation: 2.0,
            model_bytes_per_operation: 204.0,
            packets_per_operation: known(2.5),
            bytes_per_operation: known(237.0),
            acknowledgements_per_operation: Some(0.5),
            difference_percent: Some(0.004),
            ..WireCostRecord::default()
        }),
        calls: None,
    });
    record
}

/// Creates rungs whose server's processor time has this many microseconds. All become 2 µs slower
/// from round to round; the difference between two rungs varies by 0.1 µs.
fn ladder(rungs: &[(&str, OpKind, f64)]) -> SweepReport {
    let plans = rungs.iter().map(|(name, operation, server)| {
        let plan = run(*operation, *server, 0.0).plan;
        ((*name).to_owned(), plan)
    });
    let wanted = RepeatPlan {
        most: 3,
        until: None,
        pause_ns: 0,
    };
    let mut ladder = begun(rungs_of(plans), wanted, 7);
    for (place, (_, operation, server)) in rungs.iter().enumerate() {
        for (drift, own) in [(0.0, -100.0), (2000.0, 0.0), (4000.0, 100.0)] {
            let own = if place % 2 == 0 { 0.0 } else { own };
            let record = run(*operation, server * 1000.0, drift + own);
            ladder.count(place, &ComparedRun::from(&record));
            ladder.order.push(place);
        }
    }
    ladder.end = Some(RepeatsEnd::All);
    ladder
}

const RUNGS: [(&str, OpKind, f64); 4] = [
    ("null", OpKind::Null, 10.0),
    ("getattr", OpKind::GetAttr, 15.0),
    ("create", OpKind::Create, 50.0),
    ("readdirplus", OpKind::ReadDirPlus, 20.0),
];

/// Computed: null takes 40 + 0, 2 and 4 µs, so 42 µs on average, and getattr 5 µs more in each
/// round, give or take 0.1 µs: 5.00 ± 0.25 µs with t of two degrees, although each is known within
/// 5 µs only.
#[test]
fn a_row_for_each_rung_and_what_it_adds() {
    let mut ladder = ladder(&RUNGS);
    ladder.points[3].failed = Some("nothing succeeded: NFS3ERR_NOTSUPP (10004)".into());
    ladder.points[3].tally = PointTally::new(MEAN);
    insta::assert_snapshot!(report(&ladder).text(PageWidth::of(132)));
    let narrow = report(&ladder).text(PageWidth::of(80));
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
    insta::assert_snapshot!("ladder_csv", document::csv(&ladder));
}

#[test]
fn a_ladder_without_a_run_has_no_table() {
    let mut ladder = ladder(&RUNGS[..1]);
    ladder.points[0].tally = PointTally::new(MEAN);
    ladder.end = None;
    let shown = report(&ladder).text(PageWidth::of(100));
    assert!(
        shown.contains("0 runs, not at its end") && !shown.contains("p50"),
        "{shown}"
    );
}

#[test]
fn a_rung_that_was_left_out_is_no_step() {
    let mut ladder = ladder(&RUNGS[..3]);
    ladder.points[1].tally = PointTally::new(MEAN);
    let rungs: Vec<_> = rungs(&ladder).collect();
    let below = |rung: usize| rungs[rung].below.map(name_of);
    assert_eq!(
        [below(0), below(1), below(2)],
        [None, Some("null"), Some("null")]
    );
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let ladder = ladder(&RUNGS);
    let written = json::document(&document::of(&ladder)).expect("JSON");
    let read: document::LadderDocument = serde_json::from_str(&written).expect("our own");
    let read = read.into_ladder();
    assert_eq!((read.seed, read.wanted), (7, ladder.wanted));
    assert_eq!(read.order, ladder.order);
    let names = |ladder: &SweepReport| -> Vec<String> {
        rungs(ladder).map(|rung| rung.name().to_owned()).collect()
    };
    assert_eq!(names(&read), names(&ladder));
}

/// The new server spends 5 µs more on each call, and on GETATTR another 5 µs.
#[test]
fn two_ladders_stand_side_by_side() {
    let slower = RUNGS.map(|(name, operation, server)| {
        let more = if name == "getattr" { 10.0 } else { 5.0 };
        (name, operation, server + more)
    });
    let (base, new) = (ladder(&RUNGS), ladder(&slower[..3]));
    let compared = ComparedLadders {
        base: &base,
        new: &new,
    };
    insta::assert_snapshot!(comparison::report(compared).text(PageWidth::of(100)));
    let document = comparison::document(compared);
    assert_eq!(document.rungs.len(), 3);
    assert_eq!(comparison::csv(compared).lines().count(), 1 + 10 + 10 + 9);
}

#[test]
fn the_picture_has_a_row_for_each_rung() {
    let drawn = picture::picture(&ladder(&RUNGS));
    assert_eq!(drawn.panels.len(), 2);
    assert_eq!(drawn.panels[0].y.names.len(), 4);
    insta::assert_snapshot!(drawing::render(&drawn));
}

/// Pages of a ladder, of one without a run, and of two.
#[test]
fn there_is_a_page_of_it() {
    use crate::html::{of_ladders, of_sweep, tests::check};
    let base = ladder(&RUNGS);
    let page = of_sweep(&base).expect("a page");
    check("ladder", &page);
    for said in ["getattr", "+5.00 ± 0.25 µs", "data-chart=\"0\""] {
        assert!(page.contains(said), "{said}");
    }
    let plan = run(OpKind::Null, 10.0, 0.0).plan;
    let hostile = "<script>alert(1)</script>".to_owned();
    let none = begun(rungs_of([(hostile, plan)]), base.wanted, 7);
    check("no runs", &of_sweep(&none).expect("a page"));
    let new = ladder(&RUNGS);
    let (base, new) = (&base, &new);
    let both = of_ladders(ComparedLadders { base, new }).expect("a page");
    check("two ladders", &both);
}
