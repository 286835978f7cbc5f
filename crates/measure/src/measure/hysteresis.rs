//! Hysteresis of a curve: a server still affected by an overload has different response times at
//! the same load afterwards.

use crate::measure::curve_record::{CurvePointRecord, HysteresisRecord, SweepDirection};
use crate::measure::overall_response_time::area;
use filestone_workload::statistics::series::widened_for;

/// Points of equal load on the upward and the downward curve.
struct Pair<'curve> {
    up: &'curve CurvePointRecord,
    down: &'curve CurvePointRecord,
}

impl Pair<'_> {
    /// Returns by how much the downward point is slower, in nanoseconds.
    fn difference(&self) -> f64 {
        self.down.response_time_ns.mean - self.up.response_time_ns.mean
    }

    /// Returns half of the 95 % interval of the difference. The means are independent, so squares
    /// add up.
    fn half_width(&self) -> Option<f64> {
        let up = self.up.response_time_mean_half_width_ns?;
        let down = self.down.response_time_mean_half_width_ns?;
        Some(up.hypot(down))
    }

    /// Returns the difference in multiples of half its interval.
    fn beyond_chance(&self) -> f64 {
        match self.half_width() {
            Some(width) if width > 0.0 => self.difference().abs() / width,
            Some(_) if self.difference() != 0.0 => f64::INFINITY,
            _ => 0.0,
        }
    }
}

/// Compares the upward and the downward curve; `None` if fewer than two loads were measured on
/// both.
///
/// The largest difference is selected relative to chance, not in nanoseconds: near the peak, large
/// differences are not significant. Since it is the most extreme of several comparisons, it must
/// exceed a larger threshold than a single one (Bonferroni).
pub fn hysteresis(points: &[CurvePointRecord]) -> Option<HysteresisRecord> {
    let mut pairs = pairs(points);
    pairs.sort_by(|one, other| {
        let load = |pair: &Pair<'_>| pair.up.offered_load_ops_per_s;
        load(one).total_cmp(&load(other))
    });
    let line = |height: &dyn Fn(&Pair<'_>) -> f64| -> f64 {
        let points = pairs
            .iter()
            .map(|pair| (pair.up.offered_load_ops_per_s, height(pair)));
        area(&points.collect::<Vec<_>>())
    };
    let under_up = line(&|pair| pair.up.response_time_ns.mean);
    if pairs.len() < 2 || under_up <= 0.0 {
        return None;
    }
    let between = line(&|pair| pair.difference());
    let largest = pairs.iter().max_by(|one, other| {
        let by_chance = one.beyond_chance().total_cmp(&other.beyond_chance());
        let by_size = one.difference().abs().total_cmp(&other.difference().abs());
        by_chance.then(by_size)
    })?;
    Some(HysteresisRecord {
        area_percent: 100.0 * between / under_up,
        largest_at_ops_per_s: largest.up.offered_load_ops_per_s,
        up_mean_ns: largest.up.response_time_ns.mean,
        down_mean_ns: largest.down.response_time_ns.mean,
        is_significant: largest.beyond_chance() > widened_for(pairs.len()),
    })
}

/// Returns the points that were visited in both directions. The top is on both curves and has no
/// counterpart.
fn pairs(points: &[CurvePointRecord]) -> Vec<Pair<'_>> {
    let of_leg = |leg| {
        points
            .iter()
            .filter(move |point| point.leg == leg && point.response_time_ns.count > 0)
    };
    of_leg(SweepDirection::Up)
        .filter_map(|up| {
            let near = |down: &&CurvePointRecord| {
                let apart = down.offered_load_ops_per_s - up.offered_load_ops_per_s;
                apart.abs() <= 1e-6 * up.offered_load_ops_per_s
            };
            let down = of_leg(SweepDirection::Down).find(near)?;
            Some(Pair { up, down })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::recording::distribution::DistributionRecord;

    fn point(leg: SweepDirection, load: f64, mean: f64, half_width: f64) -> CurvePointRecord {
        CurvePointRecord {
            leg,
            offered_load_ops_per_s: load,
            response_time_ns: DistributionRecord {
                count: 1000,
                mean,
                ..DistributionRecord::default()
            },
            response_time_mean_half_width_ns: Some(half_width),
            ..CurvePointRecord::default()
        }
    }

    #[test]
    fn a_way_down_that_is_slower_encloses_an_area() {
        // Under the upward curve: 100·(10+20)/2 = 1500; between the curves: 100·(0+6)/2 = 300:
        // 20 %.
        let points = [
            point(SweepDirection::Up, 100.0, 10.0, 1.0),
            point(SweepDirection::Up, 200.0, 20.0, 1.0),
            point(SweepDirection::Up, 300.0, 90.0, 1.0),
            point(SweepDirection::Down, 200.0, 26.0, 1.0),
            point(SweepDirection::Down, 100.0, 10.0, 1.0),
        ];
        let found = hysteresis(&points).expect("two loads on both ways");
        assert!((found.area_percent - 20.0).abs() < 1e-9);
        assert_eq!(found.largest_at_ops_per_s, 200.0);
        assert_eq!((found.up_mean_ns, found.down_mean_ns), (20.0, 26.0));
        assert!(found.is_significant);
    }

    #[test]
    fn what_chance_explains_is_not_significant() {
        let points = [
            point(SweepDirection::Up, 100.0, 10.0, 1.0),
            point(SweepDirection::Up, 200.0, 20.0, 5.0),
            point(SweepDirection::Down, 200.0, 25.0, 5.0),
            point(SweepDirection::Down, 100.0, 9.0, 1.0),
        ];
        let found = hysteresis(&points).expect("two loads on both ways");
        assert!(!found.is_significant);
        assert_eq!(hysteresis(&points[..3]), None);
    }

    #[test]
    fn a_faster_way_down_has_a_negative_area() {
        let points = [
            point(SweepDirection::Up, 100.0, 10.0, 0.0),
            point(SweepDirection::Up, 200.0, 10.0, 0.0),
            point(SweepDirection::Down, 200.0, 8.0, 0.0),
            point(SweepDirection::Down, 100.0, 8.0, 0.0),
        ];
        let found = hysteresis(&points).expect("two loads on both ways");
        assert!((found.area_percent + 20.0).abs() < 1e-9);
        assert!(found.is_significant);
    }
}
