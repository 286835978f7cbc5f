//! Whole curves in virtual time, against servers whose curves are known analytically.

use filestone_control::load_control::LoadController;
use filestone_control::load_control::curve::CurveSteering;
use filestone_measure::measure::Caveat;
use filestone_measure::measure::curve_record::{
    CurvePointRecord, CurveRecord, PeakLimit, SweepDirection,
};
use filestone_plan::plan::CurvePlan;
use filestone_testing::queueing::{
    DeterministicServers, MarkovServers, OverloadPenalty, ServiceDistribution, SimulatedEnd,
    SimulatedRun, SimulatedServer, Stall,
};

const SECOND: u64 = 1_000_000_000;

fn plan(down: bool) -> CurvePlan {
    CurvePlan {
        points: 10,
        peak_ops_per_s: None,
        point_ns: 20 * SECOND,
        warm_up_max_ns: 30 * SECOND,
        down,
    }
}

fn exponential(servers: u32, capacity: f64) -> SimulatedServer {
    let mean_ns = 1e9 * f64::from(servers) / capacity;
    SimulatedServer::new(servers, ServiceDistribution::Exponential { mean_ns })
}

fn run(server: SimulatedServer, plan: &CurvePlan, seed: u64) -> (CurveRecord, SimulatedEnd) {
    let run = SimulatedRun {
        slots: 100_000,
        limit_ns: 4000 * SECOND,
        ..SimulatedRun::new(server, seed)
    };
    let mut steering = CurveSteering::new(plan, None);
    let end = run.steer(&mut steering);
    (steering.into_record(), end)
}

/// Checks a curve against theory: every point within 5 % or within its 95 % interval. One in ten
/// may be outside near the peak, where 20 s are only a few relaxation times, and intervals from so
/// little data contain the true value in less than 95 % of cases.
fn assert_follows(curve: &CurveRecord, response_s: impl Fn(f64) -> f64) {
    let points: Vec<&CurvePointRecord> = curve
        .points
        .iter()
        .filter(|point| point.leg != SweepDirection::Search)
        .collect();
    let off = points.iter().filter(|point| {
        let truth = 1e9 * response_s(point.offered_load_ops_per_s);
        let difference = (point.response_time_ns.mean - truth).abs();
        let half_width = point.response_time_mean_half_width_ns.unwrap_or(0.0);
        difference > (0.05 * truth).max(half_width)
    });
    let off: Vec<f64> = off.map(|point| point.offered_load_ops_per_s).collect();
    let is_high = |load: &f64| *load > 0.85 * curve.peak_ops_per_s;
    assert!(off.iter().all(is_high), "off at {off:?}");
    assert!(off.len() * 10 <= points.len(), "off at {off:?}");
}

fn assert_peak(curve: &CurveRecord, capacity: f64) {
    let top = curve
        .points
        .iter()
        .filter(|point| point.leg == SweepDirection::Up);
    let top = top.max_by(|one, other| one.start_ns.cmp(&other.start_ns));
    let top = top.expect("points").offered_load_ops_per_s;
    assert!(
        (0.95..1.0).contains(&(top / capacity)),
        "peak {top} of a capacity of {capacity}: {}",
        curve.peak_method
    );
    assert_eq!(curve.peak_end, PeakLimit::Server);
}

fn assert_knee(curve: &CurveRecord, response_s: impl Fn(f64) -> f64, capacity: f64) {
    let power = |load: &f64| load / response_s(*load);
    let truth = (1..1000)
        .map(|step| capacity * f64::from(step) / 1000.0)
        .max_by(|one, other| power(one).total_cmp(&power(other)))
        .expect("loads");
    let knee = curve.knee.as_ref().expect("a knee").load_ops_per_s;
    assert!(
        (knee - truth).abs() < capacity / 10.0,
        "knee {knee}, worked out {truth}"
    );
}

#[test]
fn curves_of_markov_servers_follow_theory_with_their_peak_and_their_knee() {
    for (servers, seed) in [(1, 1), (1, 2), (4, 3), (4, 4)] {
        let capacity = 10_000.0;
        let theory = MarkovServers {
            servers,
            service_s: f64::from(servers) / capacity,
        };
        let response = |load| theory.response_mean(load);
        let (curve, end) = run(exponential(servers, capacity), &plan(false), seed);
        assert!(end.is_finished);
        assert_peak(&curve, capacity);
        assert_follows(&curve, response);
        assert_knee(&curve, response, capacity);
        let steady = curve.points.iter().filter(|point| point.is_steady);
        assert!(steady.count() >= 9);
        let up = curve
            .points
            .iter()
            .filter(|point| point.leg == SweepDirection::Up);
        assert_eq!(up.filter(|point| point.kept_up).count(), 10);
    }
}

#[test]
fn the_curve_of_two_servers_with_a_fixed_service_time_follows_theory() {
    let theory = DeterministicServers {
        servers: 2,
        service_s: 0.000_25,
    };
    let server = SimulatedServer::new(2, ServiceDistribution::Fixed { ns: 250_000 });
    let response = |load| theory.response_mean(load);
    let (curve, end) = run(server, &plan(false), 5);
    assert!(end.is_finished);
    assert_peak(&curve, theory.capacity());
    assert_follows(&curve, response);
    assert_knee(&curve, response, theory.capacity());
}

#[test]
fn the_peak_is_close_below_the_capacity_whatever_that_is() {
    for (index, capacity) in [40.0, 173.0, 999.0, 12_900.0, 25_700.0, 60_000.0]
        .into_iter()
        .enumerate()
    {
        let short = CurvePlan {
            points: 1,
            point_ns: SECOND,
            warm_up_max_ns: 0,
            ..plan(false)
        };
        let server = exponential(4, capacity);
        let (curve, end) = run(server, &short, 10 + index as u64);
        assert!(end.is_finished);
        let top = curve.points.last().expect("a point").offered_load_ops_per_s;
        // With a slow server few operations are counted in the ten seconds per load.
        let counted = 10.0 * capacity;
        let chance = if counted < 20_000.0 {
            2.0 / counted.sqrt()
        } else {
            0.0
        };
        let (lowest, highest) = (0.95 - chance, 1.0 + chance);
        assert!(
            (lowest..=highest).contains(&(top / capacity)),
            "{top} of {capacity}: {}",
            curve.peak_method
        );
        assert!(end.time_ns < 240 * SECOND, "{} s", end.time_ns / SECOND);
    }
}

#[test]
fn few_slots_show_an_overload_as_well() {
    let run = SimulatedRun {
        slots: 32,
        limit_ns: 4000 * SECOND,
        ..SimulatedRun::new(exponential(4, 10_000.0), 6)
    };
    let mut steering = CurveSteering::new(&plan(false), None);
    assert!(run.steer(&mut steering).is_finished);
    assert_peak(&steering.into_record(), 10_000.0);
}

#[test]
fn one_hiccup_does_not_end_the_search() {
    let server = SimulatedServer {
        stalls: vec![Stall {
            start_ns: 1_600_000_000,
            lasts_ns: 200_000_000,
        }],
        ..exponential(1, 10_000.0)
    };
    let (curve, _) = run(server, &plan(false), 7);
    assert_peak(&curve, 10_000.0);
}

#[test]
fn the_peak_of_a_server_that_overload_slows_down_is_that_before_it() {
    // From 400 in flight on it serves at half its speed, as if thrashing.
    let server = SimulatedServer {
        memory: Some(OverloadPenalty {
            in_flight: 400,
            factor: 2.0,
            lasts_ns: SECOND / 10,
        }),
        ..exponential(4, 10_000.0)
    };
    let run = SimulatedRun::new(server, 8);
    let mut steering = CurveSteering::new(&plan(false), None);
    assert!(run.steer(&mut steering).is_finished);
    let curve = steering.into_record();
    let peak = curve.peak_ops_per_s / 10_000.0;
    assert!((0.85..1.0).contains(&peak), "{}", curve.peak_method);
}

#[test]
fn a_plain_server_goes_down_the_way_it_came_up() {
    let mut significant = 0;
    for seed in 20..28 {
        let (curve, end) = run(exponential(2, 5_000.0), &plan(true), seed);
        assert!(end.is_finished);
        let legs = [SweepDirection::Up, SweepDirection::Down].map(|leg| {
            let of_leg = curve.points.iter().filter(|point| point.leg == leg);
            of_leg.count()
        });
        assert_eq!(legs, [10, 9]);
        let found = curve.hysteresis.expect("two ways");
        significant += u32::from(found.is_significant);
    }
    // One in twenty is the meaning of 95 %.
    assert!(significant <= 1, "{significant} of 8");
}

#[test]
fn a_server_that_remembers_its_overload_comes_down_another_way() {
    let server = SimulatedServer {
        memory: Some(OverloadPenalty {
            in_flight: 60,
            factor: 1.3,
            lasts_ns: 400 * SECOND,
        }),
        ..exponential(2, 5_000.0)
    };
    // With a given peak the way up ends, and does not begin, with an overload.
    let given = CurvePlan {
        peak_ops_per_s: Some(4_900.0),
        ..plan(true)
    };
    let (curve, end) = run(server, &given, 30);
    assert!(end.is_finished);
    let found = curve.hysteresis.expect("two ways");
    assert!(found.is_significant, "{found:?}");
    assert!(found.area_percent > 10.0, "{found:?}");
    assert!(found.down_mean_ns > found.up_mean_ns, "{found:?}");
}

#[test]
fn a_point_above_the_capacity_is_neither_steady_nor_kept_up_with() {
    let given = CurvePlan {
        points: 2,
        peak_ops_per_s: Some(20_000.0),
        warm_up_max_ns: 10 * SECOND,
        ..plan(false)
    };
    let (curve, end) = run(exponential(4, 10_500.0), &given, 40);
    assert!(end.is_finished);
    assert_eq!(curve.peak_method, "given");
    let seen: Vec<(bool, bool)> = curve
        .points
        .iter()
        .map(|point| (point.is_steady, point.kept_up))
        .collect();
    assert_eq!(seen, [(true, true), (false, false)]);
    assert!((curve.peak_ops_per_s / 10_000.0 - 1.0).abs() < 0.02);
    assert_eq!(curve.doubts().len(), 2);
}

#[test]
fn a_server_that_keeps_up_with_everything_leaves_the_peak_to_the_load_generator() {
    let simulated = SimulatedRun::new(exponential(4, 50_000.0), 50);
    let short = CurvePlan {
        points: 4,
        point_ns: SECOND,
        ..plan(false)
    };
    let mut steering = CurveSteering::new(&short, Some(5_000.0));
    assert!(simulated.steer(&mut steering).is_finished);
    let curve = steering.into_record();
    assert_eq!(curve.peak_end, PeakLimit::Generator);
    let top = curve.points.last().expect("points").offered_load_ops_per_s;
    assert_eq!(top, 5_000.0);
}

#[test]
fn a_run_that_is_broken_off_keeps_what_it_has() {
    let server = exponential(1, 10_000.0);
    for limit in [1, 3, 20, 60, 150] {
        let run = SimulatedRun {
            limit_ns: limit * SECOND,
            ..SimulatedRun::new(server.clone(), 60)
        };
        let mut steering = CurveSteering::new(&plan(true), None);
        assert!(!run.steer(&mut steering).is_finished);
        let progress = steering.progress();
        assert!(!progress.is_empty());
        let curve = steering.into_record();
        assert!(!curve.points.is_empty());
        let last = curve.points.last().expect("points");
        assert!(last.end_ns <= limit * SECOND);
    }
}

#[test]
fn progress_says_where_the_curve_is() {
    let given = CurvePlan {
        peak_ops_per_s: Some(40_000.0),
        ..plan(true)
    };
    let mut steering = CurveSteering::new(&given, None);
    assert_eq!(steering.first(), 4_000.0);
    assert_eq!(
        steering.progress(),
        "load point 1 of 19, 4,000/s, warming up"
    );
    let mut steering = CurveSteering::new(&plan(true), None);
    assert_eq!(steering.first(), 100.0);
    assert_eq!(steering.progress(), "looking for the peak, 100/s");
}

#[test]
fn a_server_that_answers_nothing_ends_the_run() {
    let server = SimulatedServer::new(1, ServiceDistribution::Fixed { ns: 1 << 50 });
    let (curve, end) = run(server, &plan(true), 70);
    assert!(end.is_finished);
    assert_eq!(curve.peak_ops_per_s, 0.0);
    assert_eq!(curve.knee, None);
}

/// Four servers of 10 ms, whose queue has a relaxation time of 0.4 s at 85 % of their capacity and
/// of 4 s at 95 %, with points of 5 s, the default: over 20 curves, nine in ten intervals of points
/// without a caveat contain the true value or end within a tenth of it, and points that are too
/// short for that have a caveat.
#[test]
fn points_of_a_slow_server_are_measured_for_longer_or_have_a_caveat() {
    let capacity = 400.0;
    let theory = MarkovServers {
        servers: 4,
        service_s: 4.0 / capacity,
    };
    let (mut right, mut all) = (0, 0);
    for seed in 0..20 {
        let plan = CurvePlan {
            point_ns: 5 * SECOND,
            warm_up_max_ns: 10 * SECOND,
            ..plan(true)
        };
        let (curve, _) = run(exponential(4, capacity), &plan, 100 + seed);
        let on_curve = curve.points.iter();
        for point in on_curve.filter(|point| point.leg != SweepDirection::Search && point.kept_up) {
            let load = point.offered_load_ops_per_s;
            let alone = CurveRecord {
                points: vec![point.clone()],
                ..CurveRecord::default()
            };
            let doubts = alone.doubts();
            let is_doubted = |doubt: &Caveat| matches!(doubt, Caveat::PointsTooShort { .. });
            if doubts.iter().any(is_doubted) {
                assert!(load > 0.75 * capacity, "{load}");
                continue;
            }
            assert!(load < 0.97 * capacity, "{point:?}");
            let truth = 1e9 * theory.response_mean(load);
            let half = point.response_time_mean_half_width_ns.unwrap_or(0.0);
            let off = (point.response_time_ns.mean - truth).abs();
            all += 1;
            right += u32::from(off <= half.max(0.1 * truth));
        }
    }
    assert!(right * 10 >= all * 9, "{right} of {all}");
}

/// After the search for the peak thousands of operations wait in the server: they do not count for
/// the first point, whose response time is that of a server without a queue.
#[test]
fn what_the_search_left_is_worked_off_before_the_first_point() {
    let capacity = 400.0;
    for seed in 0..20 {
        let plan = CurvePlan {
            point_ns: 5 * SECOND,
            warm_up_max_ns: 10 * SECOND,
            ..plan(false)
        };
        let (curve, _) = run(exponential(4, capacity), &plan, 100 + seed);
        let mut on_curve = curve.points.iter();
        let first = on_curve.find(|point| point.leg == SweepDirection::Up);
        let mean_ns = first.expect("a point").response_time_ns.mean;
        assert!((8e6..13e6).contains(&mean_ns), "{seed}: {mean_ns}");
    }
}
