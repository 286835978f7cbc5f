//! One number for a whole curve: the overall response time, as SPEC defined it for SFS.
//!
//! SPEC SFS 3.0 (chapter 4 of its user's guide, "Overall response time calculation"; kept by
//! SPECsfs2008 and SPEC SFS 2014, run rules section 5): the area under the response-time
//! curve divided by the peak throughput. The area is that of the measured points only, joined
//! by lines; no point is assumed at the origin, so the stretch below the first load point has
//! no area. A server that answers every load in R therefore has an overall response time of
//! R·(N−1)/N with N evenly spaced points: compare curves of the same number of points only.

use crate::measure::knee::LoadResponse;

/// The overall response time of a curve that is in order of load, in nanoseconds; `None` of
/// fewer than two points.
pub fn overall_response_time(curve: &[LoadResponse]) -> Option<f64> {
    let peak = curve.last()?.load_ops_per_s;
    if curve.len() < 2 || peak <= 0.0 {
        return None;
    }
    let curve: Vec<(f64, f64)> = curve
        .iter()
        .map(|point| (point.load_ops_per_s, point.response_time_mean_ns))
        .collect();
    Some(area(&curve) / peak)
}

/// The area under a line through points, by the trapezoidal rule.
pub fn area(line: &[(f64, f64)]) -> f64 {
    line.iter()
        .zip(line.iter().skip(1))
        .map(|((x0, y0), (x1, y1))| (x1 - x0) * (y0 + y1) / 2.0)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Vec<LoadResponse> {
        let of = |(load_ops_per_s, response_time_mean_ns): &(f64, f64)| LoadResponse {
            load_ops_per_s: *load_ops_per_s,
            response_time_mean_ns: *response_time_mean_ns,
        };
        points.iter().map(of).collect()
    }

    #[test]
    fn a_hand_worked_example_with_four_points() {
        // 1000·(1+2)/2 + 1000·(2+4)/2 + 900·(4+10)/2 = 1500 + 3000 + 6300 = 10,800; ÷ 3900.
        let points = [(1000.0, 1.0), (2000.0, 2.0), (3000.0, 4.0), (3900.0, 10.0)];
        let overall = overall_response_time(&curve(&points)).expect("four points");
        assert!((overall - 10_800.0 / 3_900.0).abs() < 1e-12);
    }

    #[test]
    fn a_flat_curve_of_ten_points_has_nine_tenths_of_its_height() {
        let points: Vec<(f64, f64)> = (1..=10).map(|i| (f64::from(i) * 100.0, 5.0)).collect();
        let overall = overall_response_time(&curve(&points)).expect("ten points");
        assert!((overall - 4.5).abs() < 1e-12);
        assert_eq!(overall_response_time(&curve(&points[..1])), None);
    }
}
