use super::*;
use crate::document::page::PageWidth;
use crate::{fixtures, json};
use filestone_measure::measure::RunRecord;

/// A run with operations of `bytes` bytes and this mean response time, with a caveat from 8 KiB on.
pub fn run(bytes: f64, mean_ns: f64) -> RunRecord {
    let mut record = fixtures::in_stretches();
    let totals = &mut record.totals;
    totals.figures.clear();
    let factor = mean_ns / totals.response_time_ns.mean;
    totals.achieved_load_ops_per_s /= factor;
    let times = &mut totals.response_time_ns;
    times.mean = mean_ns;
    times.sum = (mean_ns * times.count as f64) as u64;
    for time in [
        &mut times.min,
        &mut times.p50,
        &mut times.p99,
        &mut times.max,
    ] {
        *time = (*time as f64 * factor) as u64;
    }
    if bytes < 8192.0 {
        record.caveats.clear();
    }
    record
}

/// Response times grow by 10 ns per byte, and from 4 KiB on by 30 ns, over each transport.
pub fn swept(sizes: &str, transports: Option<&str>) -> SweepReport {
    let mut parameters =
        vec![SweepParameter::parse("size", ValueKind::Bytes, sizes).expect("sizes")];
    let second = transports.map(|names| SweepParameter::parse("transport", ValueKind::Word, names));
    parameters.extend(second.map(|second| second.expect("names")));
    let points = filestone_measure::sweep::points(&parameters).expect("few");
    let plan = fixtures::in_stretches().plan;
    let mut swept = SweepReport {
        command: ["probe", "read", "server:/export/file"]
            .map(String::from)
            .to_vec(),
        parameters,
        seed: 7,
        wanted: RepeatPlan {
            most: 3,
            until: None,
            pause_ns: 0,
        },
        figure: MEAN,
        kind: SweepKind::Options,
        points: points
            .into_iter()
            .map(|values| SweptPoint {
                values,
                plan: plan.clone(),
                tally: PointTally::new(MEAN),
                failed: None,
            })
            .collect(),
        order: vec![],
        end: Some(RepeatsEnd::All),
        first: None,
    };
    for point in 0..swept.points.len() {
        let values = &swept.points[point].values;
        let bytes = values[0].number.unwrap_or(0.0);
        let slower = if values.last().is_some_and(|last| last.text == "udp") {
            1.2
        } else {
            1.0
        };
        let mean = slower * (50_000.0 + 10.0 * bytes + 20.0 * (bytes - 4096.0).max(0.0));
        for spread in [0.99, 1.0, 1.01] {
            let run = run(bytes, mean * spread);
            swept.count(point, &ComparedRun::from(&run));
            swept.order.push(point);
        }
    }
    swept
}

#[test]
fn a_row_for_each_point_and_where_it_bends() {
    let swept = swept("512..16K:x2,3K,6K,12K", None);
    insta::assert_snapshot!(report(&swept).text(PageWidth::default()));
}

#[test]
fn points_of_one_value_of_the_second_stand_below_it() {
    let mut swept = swept("512,4K,16K", Some("tcp,udp"));
    swept.points[5].failed = Some("nothing succeeded: NFS3ERR_INVAL (22)".into());
    swept.end = Some(RepeatsEnd::Interrupted);
    insta::assert_snapshot!(report(&swept).text(PageWidth::of(100)));
    insta::assert_snapshot!("two_parameters_csv", document::csv(&swept));
    insta::assert_snapshot!("two_parameters_gnuplot", script::script(&swept));
}

#[test]
fn a_sweep_without_a_run_has_no_table() {
    let mut swept = swept("512,4K", None);
    for point in &mut swept.points {
        point.tally = PointTally::new(MEAN);
    }
    swept.end = None;
    let shown = report(&swept).text(PageWidth::of(100));
    assert!(
        shown.contains("0 runs, not at its end") && !shown.contains("p50"),
        "{shown}"
    );
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let swept = swept("512..16K", Some("tcp,udp"));
    let written = document::of(&swept);
    assert_eq!(written.knees.len(), 2);
    let text = json::document(&written).expect("JSON");
    let read: document::SweepDocument = serde_json::from_str(&text).expect("our own");
    let read = read.into_sweep().expect("a sweep");
    assert_eq!(read.parameters, swept.parameters);
    assert_eq!(
        (read.seed, read.wanted, read.figure),
        (7, swept.wanted, MEAN)
    );
    assert_eq!(read.order, swept.order);
    assert_eq!(read.points.len(), swept.points.len());
    assert!(
        read.points
            .iter()
            .zip(&swept.points)
            .all(|(one, other)| one.values == other.values)
    );
}

#[test]
fn the_picture_of_numbers_has_lines_and_that_of_names_has_rows() {
    let lines = picture::picture(&swept("512..16K", Some("tcp,udp")));
    assert_eq!(lines.panels.len(), 2);
    assert_eq!(lines.panels[0].lines.len(), 2);
    assert!(lines.scales().is_some_and(|(x, _)| x.is_logarithmic()));
    insta::assert_snapshot!(super::super::picture::render(&lines));
    let mut names = swept("512", Some("tcp,udp"));
    names.parameters.remove(0);
    names
        .points
        .iter_mut()
        .for_each(|point| drop(point.values.remove(0)));
    let rows = picture::picture(&names);
    assert_eq!(rows.panels[0].y.names, ["transport=tcp", "transport=udp"]);
    let sketch = super::super::document::ascii_plot::render(&rows, PageWidth::default());
    assert_eq!(sketch, "");
}
