//! Sweeps over a simulated server: points whose figures, and the knee among them, follow from paper.

use crate::support::{plan, run, server};
use filestone_measure::comparison::RunValue;
use filestone_measure::measure::figures::{BatchMeans, IntervalUnavailable};
use filestone_measure::sweep::{
    KneeInput, PointTally, SweepKnee, SweepParameter, ValueKind, knee::knee,
};
use filestone_plan::gate::GateFigure;
use filestone_plan::plan::ArrivalsPlan;
use filestone_testing::queueing::ServiceDistribution;
use filestone_workload::figure::RunFigure;

const SERVICE_NS: u64 = 1_000_000;
const SERVERS: u32 = 4;

fn figure(name: &str) -> RunFigure {
    name.parse().expect("a figure")
}

/// What a closed loop with so many in flight comes to, of two runs.
fn point(in_flight: u32) -> PointTally {
    let mut tally = PointTally::new(GateFigure::OfOperations(figure("response_time.mean")));
    for seconds in [2, 3] {
        let plan = plan(ArrivalsPlan::Closed, in_flight, seconds);
        let run = run(
            &plan,
            server(ServiceDistribution::Fixed { ns: SERVICE_NS }, Some(SERVERS)),
        );
        let stretches = BatchMeans::of_parts(&run.totals, &run.intervals, plan.interval_ns);
        let values = ["achieved", "response_time.mean"].map(|name| {
            let figure = figure(name);
            let value = stretches.value(&figure).expect("operations ended");
            RunValue {
                figure,
                value,
                own: Err(IntervalUnavailable::NotRecorded),
            }
        });
        tally.add_values(&values);
    }
    tally
}

fn value(point: &PointTally, name: &str) -> f64 {
    let figure = GateFigure::OfOperations(figure(name));
    point.value(&figure).expect("two runs have it").value
}

#[test]
fn in_flight_is_what_is_achieved_times_how_long_it_takes_and_bends_where_all_servers_are_busy() {
    let swept = SweepParameter::parse("in-flight", ValueKind::Number, "1..8:8,12,16");
    let swept = swept.expect("ten values");
    let points = swept.values.iter().map(|value| {
        let in_flight = value.number.expect("a number");
        (in_flight, point(in_flight as u32))
    });
    let points: Vec<(f64, PointTally)> = points.collect();
    for (in_flight, tally) in &points {
        let achieved = value(tally, "achieved");
        let mean = value(tally, "response_time.mean");
        // Little's law; operations in flight at the end are missing in both.
        let law = achieved * mean / 1e9;
        assert!((law / in_flight - 1.0).abs() < 0.01, "{in_flight}: {law}");
        let servers = in_flight.min(f64::from(SERVERS));
        let expected = servers * 1e9 / SERVICE_NS as f64;
        assert!(
            (achieved / expected - 1.0).abs() < 0.01,
            "{in_flight}: {achieved}"
        );
    }
    for looked_at in ["achieved", "response_time.mean"] {
        let places = points.iter().map(|(in_flight, tally)| KneeInput {
            x: *in_flight,
            figure: value(tally, looked_at),
            achieved_load_ops_per_s: value(tally, "achieved"),
            response_time_mean_ns: value(tally, "response_time.mean"),
        });
        let SweepKnee { at, .. } = knee(&swept, &places.collect::<Vec<_>>()).expect(looked_at);
        assert!((at - f64::from(SERVERS)).abs() < 0.1, "{looked_at}: {at}");
    }
}
