use super::super::tests::run;
use super::super::{SweepReport, document, heading, report, script};
use super::*;
use crate::document::page::PageWidth;
use crate::fixtures;
use crate::picture::render;
use crate::repeats::RepeatsEnd;
use crate::sweep::SweepKind;
use filestone_measure::comparison::ComparedRun;
use filestone_measure::comparison::repeats::RepeatPlan;
use filestone_measure::cost::{
    CostCounter, CostEstimate, CostFigure, CostRecord, MeasuredAt, WireCostRecord,
};
use filestone_measure::sweep::read_study::{ReadLimits, parameters, points};
use filestone_measure::sweep::{PointTally, SweepValue};
use filestone_plan::plan::CostPlan;

const LIMITS: ReadLimits = ReadLimits {
    tcp: 32_768,
    udp: 8192,
};

/// Packets of a reply: 132 bytes around the data over TCP in segments of 1,448 bytes, and 136 over UDP in
/// fragments of 1,480.
fn packets(values: &[SweepValue]) -> f64 {
    let size = values[0].number.unwrap_or(0.0);
    let [around, room] = match values[1].text.as_str() {
        "tcp" => [132.0, 1448.0],
        _ => [136.0, 1480.0],
    };
    ((size + around) / room).ceil()
}

/// NULL takes 40 us, GETATTR 42 us and a read 45 us, 1 ns for each byte, and 4 us for each further packet.
fn response_ns(values: &[SweepValue]) -> f64 {
    let fixed = match values[0].text.as_str() {
        "null" => 40_000.0,
        "getattr" => 42_000.0,
        _ => 45_000.0,
    };
    fixed + values[0].number.unwrap_or(0.0) + 4000.0 * (packets(values) - 1.0)
}

/// The server uses half of that.
fn cost(values: &[SweepValue], spread: f64, has_server: bool) -> CostRecord {
    let known = |value: f64| {
        Some(CostEstimate {
            value: value * spread,
            half_width: 0.0,
        })
    };
    let figure = |counter, value: f64| CostFigure {
        measured_at: MeasuredAt::Server,
        counter,
        line: None,
        per_operation: known(value),
        idle_per_s: Some(0.0),
        load_per_s: Some(4e8),
        reason: None,
    };
    let packets = packets(values);
    let size = values[0].number.unwrap_or(0.0);
    let mut figures = vec![];
    if has_server {
        figures = vec![
            figure(CostCounter::ProcessCpu, response_ns(values) / 2.0),
            figure(CostCounter::ProcessVoluntary, 1.0),
            figure(CostCounter::ProcessInvoluntary, 0.0),
        ];
    }
    CostRecord {
        sources: vec![],
        figures,
        wire: Some(WireCostRecord {
            interface: "veth0".into(),
            mtu_bytes: 1500,
            bytes_per_operation: known(300.0 + size + 66.0 * packets),
            packets_per_operation: known(1.0 + packets),
            reply_packets_per_operation: known(packets),
            model_reply_packets_per_operation: Some(packets),
            ..WireCostRecord::default()
        }),
        calls: None,
    }
}

/// The study, with three runs of each point that differ by 1 ‰.
fn study(has_server: bool) -> SweepReport {
    let mut plan = fixtures::in_stretches().plan;
    plan.cost = Some(CostPlan {
        process: has_server.then_some(4711),
        ..CostPlan::of_this_end(500_000_000, 500_000_000)
    });
    let planned = points(LIMITS)
        .into_iter()
        .map(|values| super::super::SweptPoint {
            values,
            plan: plan.clone(),
            tally: PointTally::new(MEAN),
            failed: None,
        });
    let mut swept = SweepReport {
        command: ["probe", "read", "server:/export/file"]
            .map(String::from)
            .to_vec(),
        parameters: parameters(LIMITS),
        seed: 7,
        wanted: RepeatPlan {
            most: 3,
            until: None,
            pause_ns: 0,
        },
        figure: MEAN,
        kind: SweepKind::ReadStudy,
        points: planned.collect(),
        order: vec![],
        end: Some(RepeatsEnd::All),
        first: None,
    };
    for point in 0..swept.points.len() {
        let values = swept.points[point].values.clone();
        for spread in [0.999, 1.0, 1.001] {
            let mut record = run(0.0, response_ns(&values) * spread);
            record.cost = Some(cost(&values, spread, has_server));
            swept.count(point, &ComparedRun::from(&record));
            swept.order.push(point);
        }
    }
    swept
}

#[test]
fn the_report_has_the_baselines_the_knee_and_the_packets() {
    insta::assert_snapshot!(report(&study(true)).text(PageWidth::of(132)));
}

/// The second packet: 1,316 bytes are the most in one over TCP, and 1,344 over UDP.
#[test]
fn the_knee_is_where_the_second_packet_begins() {
    let swept = study(false);
    let lines = swept.lines();
    let ends = |line: &SweptLine<'_>| line.knee().and_then(|knee| knee.interval);
    assert_eq!(ends(&lines[0]), Some((1312.0, 1344.0)));
    assert_eq!(ends(&lines[1]), Some((1344.0, 1376.0)));
    let told = sentences(&swept).join("\n");
    assert!(
        told.contains("begin to take a second packet between 1,344 and 1,376 bytes"),
        "{told}"
    );
    assert!(told.contains("2 from 1,376, 3 from 3,072"), "{told}");
}

/// Three runs of 40 and 42 us that differ by 1 ‰: 2 us, and t of four degrees times √(40² +
/// 42²)/1000/√3 us, which is 2.776 · 0.0335.
#[test]
fn getattr_takes_more_than_null_with_an_interval() {
    let told = sentences(&study(true)).join("\n");
    let expected = "GETATTR − NULL over tcp: 2.00 ± 0.09 µs of response time, 1.00 ± 0.05 µs of the \
                    server's processor time";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn what_was_not_read_is_said_with_what_would_read_it() {
    let told = missing(&study(false)).join("\n");
    assert!(
        told.contains("processors busy") && told.contains("--server-pid"),
        "{told}"
    );
    let told = missing(&study(true)).join("\n");
    assert!(
        told.contains("interrupts") && !told.contains("context switches"),
        "{told}"
    );
}

#[test]
fn packets_that_are_not_the_models_are_named() {
    let mut swept = study(false);
    let values = swept.points[20].values.clone();
    let mut record = run(0.0, response_ns(&values));
    let mut other = cost(&values, 1.0, false);
    if let Some(wire) = &mut other.wire {
        let counted = CostEstimate {
            value: 1.0,
            half_width: 0.0,
        };
        wire.reply_packets_per_operation = Some(counted);
    }
    record.cost = Some(other);
    swept.points[20].tally = PointTally::new(MEAN);
    swept.count(20, &ComparedRun::from(&record));
    let told = sentences(&swept).join("\n");
    assert!(
        told.contains("not at 3840: 1.000, by the model 3"),
        "{told}"
    );
}

#[test]
fn there_are_eight_graphs_on_one_page_and_each_alone() {
    let swept = study(true);
    let page = super::super::drawing(&swept);
    assert_eq!(page.panels.len(), 8);
    // The marks of both knees, and lines of reads and baselines of two transports.
    assert_eq!(page.panels[0].marks.len(), 2);
    assert_eq!(page.panels[0].lines.len(), 6);
    assert!(
        page.panels[6].lines.is_empty(),
        "a process has no interrupts"
    );
    let svg = render(&page);
    assert!(
        svg.contains("nothing was measured") && svg.contains("--server-local"),
        "{svg}"
    );
    let pictures = picture::pictures(&swept);
    assert_eq!(pictures.len(), 8);
    assert!(
        pictures
            .iter()
            .all(|(_, picture)| picture.panels.len() == 2)
    );
    let (name, packets) = &pictures[3];
    assert_eq!(name, "packets.svg");
    insta::assert_snapshot!(render(packets));
    let script = script::script(&swept);
    assert_eq!(script.matches("\nplot ").count(), 7, "{script}");
}

/// On a host with other load the median is more robust than the mean: it is drawn if requested.
#[test]
fn another_response_time_is_drawn_if_it_is_asked_for() {
    let mut swept = study(false);
    swept.figure = "response_time.p50".parse().expect("a figure");
    let page = super::super::drawing(&swept);
    assert_eq!(page.panels[0].y.label, "response_time.p50");
    let told = sentences(&swept).join("\n");
    assert!(told.contains("of response_time.p50"), "{told}");
    swept.figure = "server_cpu_per_operation".parse().expect("a figure");
    assert_eq!(response(&swept), MEAN);
}

#[test]
fn it_is_read_back_as_a_study() {
    let swept = study(true);
    let written = document::of(&swept);
    assert!(written.is_study);
    let read = written.into_sweep().expect("a sweep");
    assert!(read.is_study() && heading(&read).starts_with("read study: "));
}

#[test]
fn before_it_begins_it_says_how_long_it_takes() {
    let mut swept = study(false);
    for point in &mut swept.points {
        point.tally = PointTally::new(MEAN);
    }
    swept.end = None;
    let seconds = 1_000_000_000;
    insta::assert_snapshot!(preview::report(&swept, 612 * seconds).text(PageWidth::of(100)));
}
