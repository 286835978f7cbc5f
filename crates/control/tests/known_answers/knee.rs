//! Known answers: curves of queues, whose knees are worked out on paper.

use filestone_measure::measure::curve_record::{CurvePointRecord, KneeRecord};
use filestone_measure::measure::knee::*;
use filestone_testing::queueing::{DeterministicServers, MarkovServers};
use filestone_workload::recording::DistributionRecord;

/// `points` evenly spaced points up to `highest` of the capacity, which is 1000/s.
fn curve(points: u32, highest: f64, response_s: impl Fn(f64) -> f64) -> Vec<LoadResponse> {
    (1..=points)
        .map(|step| {
            let load_ops_per_s = 1000.0 * highest * f64::from(step) / f64::from(points);
            LoadResponse {
                load_ops_per_s,
                response_time_mean_ns: 1e9 * response_s(load_ops_per_s),
            }
        })
        .collect()
}

fn markov(servers: u32) -> MarkovServers {
    MarkovServers {
        servers,
        service_s: f64::from(servers) / 1000.0,
    }
}

fn knee(method: KneeMethod, curve: &[LoadResponse]) -> KneeRecord {
    method.find(curve).expect("a knee")
}

/// The load where load over response time is greatest, by trying all.
fn of_greatest_power(response_s: impl Fn(f64) -> f64) -> f64 {
    let loads = (1..10_000).map(|step| f64::from(step) / 10.0);
    let power = |load: &f64| load / response_s(*load);
    loads
        .max_by(|one, other| power(one).total_cmp(&power(other)))
        .expect("loads")
}

#[test]
fn the_power_of_one_markov_server_is_greatest_at_half_its_capacity_in_twice_its_service_time() {
    for (points, highest) in [(10, 0.97), (7, 0.9), (20, 0.99), (3, 0.8)] {
        let found = knee(
            KneeMethod::Power,
            &curve(points, highest, |load| markov(1).response_mean(load)),
        );
        assert!((found.load_ops_per_s - 500.0).abs() < 1e-6, "{found:?}");
        assert!(
            (found.response_time_mean_ns - 2e6).abs() < 1e-3,
            "{found:?}"
        );
    }
}

#[test]
fn the_power_of_several_servers_is_found_within_a_fifth_of_the_points_distance() {
    for servers in [1, 2, 4, 8, 16] {
        let response = |load: f64| markov(servers).response_mean(load);
        let found = knee(KneeMethod::Power, &curve(10, 0.97, response));
        let truth = of_greatest_power(response);
        let off = (found.load_ops_per_s - truth).abs();
        assert!(off < 20.0, "{servers}: {found:?}, worked out {truth}");
    }
}

#[test]
fn the_power_of_a_fixed_service_time_is_greatest_at_two_less_root_two() {
    let server = DeterministicServers {
        servers: 1,
        service_s: 0.001,
    };
    let found = knee(
        KneeMethod::Power,
        &curve(10, 0.97, |load| server.response_mean(load)),
    );
    let truth = 1000.0 * (2.0 - 2_f64.sqrt());
    assert!((found.load_ops_per_s - truth).abs() < 5.0, "{found:?}");
}

#[test]
fn the_chord_is_farthest_where_the_tangent_is_parallel_to_it() {
    // (1 − ρ)² = (1 − a)(1 − b) from utilisation a to b.
    let found = knee(
        KneeMethod::Chord,
        &curve(50, 0.9, |load| markov(1).response_mean(load)),
    );
    let truth = 1000.0 * (1.0 - ((1.0_f64 - 0.018) * 0.1).sqrt());
    assert!((found.load_ops_per_s - truth).abs() < 5.0, "{found:?}");
    let there = 1e9 * markov(1).response_mean(found.load_ops_per_s);
    assert!((found.response_time_mean_ns / there - 1.0).abs() < 0.01);
}

#[test]
fn the_response_time_doubles_halfway_between_the_lowest_load_and_the_capacity() {
    // 1/(1 − ρ) = 2/(1 − a) at ρ = (1 + a)/2; a is 0.02.
    let found = knee(
        KneeMethod::Doubling,
        &curve(49, 0.98, |load| markov(1).response_mean(load)),
    );
    assert!((found.load_ops_per_s - 510.0).abs() < 1.0, "{found:?}");
}

#[test]
fn a_curve_that_does_not_bend_has_no_knee() {
    let flat = curve(10, 0.9, |_| 0.001);
    for method in [KneeMethod::Power, KneeMethod::Chord, KneeMethod::Doubling] {
        assert_eq!(method.find(&flat), None, "{method:?}");
        assert_eq!(method.find(&[]), None, "{method:?}");
        assert_eq!(method.find(&flat[..1]), None, "{method:?}");
    }
}

/// Points of M/M/1 at tenths of its capacity, their means known to so many percent.
fn points_known_to(percent: f64) -> Vec<CurvePointRecord> {
    let point = |tenth: u32| {
        let utilisation = f64::from(tenth) / 10.0;
        let mean = 1e6 / (1.0 - utilisation);
        CurvePointRecord {
            achieved_load_ops_per_s: 1000.0 * utilisation,
            response_time_ns: DistributionRecord {
                mean,
                ..DistributionRecord::default()
            },
            response_time_mean_half_width_ns: Some(mean * percent / 100.0),
            kept_up: true,
            ..CurvePointRecord::default()
        }
    };
    (1..10).map(point).collect()
}

#[test]
fn a_knee_that_its_neighbours_swallow_is_not_named() {
    // Power is ρ(1 − ρ): 0.21, 0.24, 0.25, 0.24, 0.21. From the knee to its neighbours it is 4 %, of
    // which intervals of 2 % leave √2 · 2 % open, those of 4 % 5.5 %, and those of 20 % 26 %.
    let plateau = |percent| Plateau::of(&points_known_to(percent)).expect("points");
    let sharp = plateau(2.0);
    assert!(sharp.names_a_knee());
    assert_eq!((sharp.from_ops_per_s, sharp.points), (500.0, 1));
    let swallowed = plateau(4.0);
    assert!(!swallowed.names_a_knee());
    let ends = [swallowed.from_ops_per_s, swallowed.to_ops_per_s];
    assert_eq!(ends, [400.0, 600.0]);
    assert_eq!(plateau(20.0).points, 5);
    // Not even the last is told apart: the knee may be beyond it.
    assert!(plateau(150.0).is_open);
    // Without intervals nothing is known about them.
    assert!(plateau(0.0).names_a_knee());
    assert_eq!(Plateau::of(&[]), None);
}
