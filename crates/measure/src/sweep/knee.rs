//! Knee of a figure over the points of a sweep.
//!
//! Over an offered load it is the knee of a load–response curve, as of any other
//! ([`measure::knee`](crate::measure::knee)); over any other numeric parameter it is the
//! intersection of two straight lines through the points ([`segmented`]).

use super::parameter::SweepParameter;
use crate::JsonSchema;
use crate::measure::knee::{KneeMethod, LoadResponse};
use filestone_workload::statistics::jump::{NonLinearity, crooked};
use filestone_workload::statistics::segmented::{Breakpoint, PositionedValue, bend};
use serde::{Deserialize, Serialize};

/// Option whose values are loads.
const OFFERED: &str = "offered";
/// Description of the method of two lines, with its source.
const TWO_LINES: &str = "two straight lines that meet, by least squares (Hudson 1966)";

/// Description of the method of a jump between two lines.
const ONE_SLOPE: &str = "a jump between two straight lines of one slope, by least squares";

/// A point of a sweep, as input of the search for a knee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneeInput {
    /// Value of the parameter.
    pub x: f64,
    /// Figure whose knee is searched.
    pub figure: f64,
    /// Achieved load in operations per second.
    pub achieved_load_ops_per_s: f64,
    /// Mean response time in nanoseconds.
    pub response_time_mean_ns: f64,
}

/// A knee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepKnee {
    /// Value of the parameter.
    pub at: f64,
    /// Ends of its 95 % interval, if the method has one.
    pub interval: Option<(f64, f64)>,
    /// Figure at the knee; with loads the mean response time in nanoseconds.
    pub figure: f64,
    /// Method that found the knee.
    pub method: String,
}

/// Returns the knee of these points, if there is one.
pub fn knee(parameter: &SweepParameter, places: &[KneeInput]) -> Option<SweepKnee> {
    let mut places = places.to_vec();
    places.sort_by(|one, other| one.x.total_cmp(&other.x));
    if parameter.name == OFFERED {
        of_load(&places)
    } else {
        of_lines(&places)
    }
}

fn of_load(places: &[KneeInput]) -> Option<SweepKnee> {
    let curve = places.iter().map(|place| LoadResponse {
        load_ops_per_s: place.achieved_load_ops_per_s,
        response_time_mean_ns: place.response_time_mean_ns,
    });
    let mut curve: Vec<LoadResponse> = curve.collect();
    curve.sort_by(|one, other| one.load_ops_per_s.total_cmp(&other.load_ops_per_s));
    let found = KneeMethod::Power.find(&curve)?;
    Some(SweepKnee {
        at: found.load_ops_per_s,
        interval: None,
        figure: found.response_time_mean_ns,
        method: found.method,
    })
}

fn of_lines(places: &[KneeInput]) -> Option<SweepKnee> {
    bend(&placed(places)).map(of_bend)
}

/// Returns the knee over sizes of messages, at a size from which they take one packet more. The
/// cost of the packet may cause a jump instead of a bend.
pub fn of_sizes(places: &[KneeInput]) -> Option<SweepKnee> {
    let mut places = places.to_vec();
    places.sort_by(|one, other| one.x.total_cmp(&other.x));
    Some(match crooked(&placed(&places))? {
        NonLinearity::Bends(bend) => of_bend(bend),
        NonLinearity::Jumps(jump) => SweepKnee {
            at: jump.from.midpoint(jump.to),
            interval: Some((jump.low, jump.high)),
            figure: jump.y,
            method: ONE_SLOPE.into(),
        },
    })
}

fn placed(places: &[KneeInput]) -> Vec<PositionedValue> {
    let placed = places.iter().map(|place| PositionedValue {
        x: place.x,
        y: place.figure,
    });
    placed.collect()
}

fn of_bend(found: Breakpoint) -> SweepKnee {
    SweepKnee {
        at: found.x,
        interval: Some((found.low, found.high)),
        figure: found.y,
        method: TWO_LINES.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::ValueKind;

    fn parameter(name: &str) -> SweepParameter {
        SweepParameter::parse(name, ValueKind::Number, "1,2").expect("two values")
    }

    #[test]
    fn a_response_time_that_grows_faster_from_the_mtu_on_has_its_knee_there() {
        // 50 µs + 10 ns per byte, plus 30 ns per byte above 1,460 bytes; in any order.
        let places = [
            8192, 1, 256, 512, 4096, 768, 1024, 2048, 1280, 1536, 6144, 3072,
        ];
        let places = places.map(|bytes| {
            let x = f64::from(bytes);
            let figure = 50_000.0 + 10.0 * x + 20.0 * (x - 1460.0).max(0.0);
            KneeInput {
                x,
                figure,
                achieved_load_ops_per_s: 1e9 / figure,
                response_time_mean_ns: figure,
            }
        });
        let found = knee(&parameter("size"), &places).expect("a knee");
        assert!((found.at - 1460.0).abs() < 1e-3, "{found:?}");
        assert!((found.figure - 64_600.0).abs() < 1e-3, "{found:?}");
        assert!(found.method.contains("Hudson"), "{found:?}");
    }

    #[test]
    fn the_knee_of_a_load_is_that_of_maximum_power() {
        // M/M/1 with a service time of 1 ms: the knee is at half of the capacity, at 2 ms.
        let places = [900, 100, 300, 500, 700].map(|load| {
            let x = f64::from(load);
            let mean = 1e9 / (1000.0 - x);
            KneeInput {
                x,
                figure: mean,
                achieved_load_ops_per_s: x,
                response_time_mean_ns: mean,
            }
        });
        let found = knee(&parameter("offered"), &places).expect("a knee");
        assert!((found.at - 500.0).abs() < 1e-6, "{found:?}");
        assert!((found.figure - 2e6).abs() < 1.0, "{found:?}");
        assert!(found.method.contains("Kleinrock"), "{found:?}");
    }

    #[test]
    fn a_packet_more_that_costs_its_time_at_once_is_a_jump() {
        // 50 µs + 1 ns per byte, and 4 µs for a second packet above 1,344 bytes.
        let sizes = [
            1, 256, 512, 768, 1024, 1280, 1344, 1376, 1536, 1792, 2048, 2560,
        ];
        let places = sizes.map(|bytes| {
            let x = f64::from(bytes);
            let figure = 50_000.0 + x + if bytes > 1344 { 4000.0 } else { 0.0 };
            KneeInput {
                x,
                figure,
                achieved_load_ops_per_s: 1e9 / figure,
                response_time_mean_ns: figure,
            }
        });
        let found = of_sizes(&places).expect("a knee");
        assert_eq!(found.interval, Some((1344.0, 1376.0)));
        assert_eq!(found.at, 1360.0);
        assert!((found.figure - 53_360.0).abs() < 1e-3, "{found:?}");
        assert!(found.method.contains("jump"), "{found:?}");
    }
}
