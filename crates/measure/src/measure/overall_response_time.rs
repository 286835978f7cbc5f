//! Overall response time: one number for a whole curve, as SPEC reported it with SPECsfs97,
//! SPECsfs97_R1 and SPECsfs2008.
//!
//! SPEC's text ("Overall response time calculation", SFS 3.0 user's guide, chapter 4): the area
//! under the response-time curve divided by the peak throughput. The text does not define the start
//! of the curve, but the published results do: all those in the test below are reproduced to their
//! last digit if the first point is joined to the origin, at zero load and zero time, and none
//! otherwise. A server with a constant response time R therefore has an overall response time of
//! R·(1 − 1/2N) with N evenly spaced points, which is less than any measured value.
//!
//! With SPECstorage Solution 2020 SPEC dropped the origin ("only measured data points", run rules,
//! section 5.4): [`mean_over_loads`] is such a figure. It is within the range of measured values.

use crate::measure::knee::LoadResponse;

/// Returns the overall response time of a curve sorted by load, in nanoseconds; `None` with fewer
/// than two points.
pub fn overall_response_time(curve: &[LoadResponse]) -> Option<f64> {
    let peak = curve.last()?.load_ops_per_s;
    if curve.len() < 2 || peak <= 0.0 {
        return None;
    }
    let origin = std::iter::once((0.0, 0.0));
    let line: Vec<(f64, f64)> = origin.chain(line(curve)).collect();
    Some(area(&line) / peak)
}

/// Returns the mean response time over the loads from the lowest to the highest measured one, in
/// nanoseconds; `None` if they are equal.
pub fn mean_over_loads(curve: &[LoadResponse]) -> Option<f64> {
    let line: Vec<(f64, f64)> = line(curve).collect();
    let loads = curve.last()?.load_ops_per_s - curve.first()?.load_ops_per_s;
    (loads > 0.0).then(|| area(&line) / loads)
}

fn line(curve: &[LoadResponse]) -> impl Iterator<Item = (f64, f64)> {
    let points = curve.iter();
    points.map(|point| (point.load_ops_per_s, point.response_time_mean_ns))
}

/// Returns the area under a line through points, by the trapezoidal rule.
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
        // 1000·1/2 + 1000·(1+2)/2 + 1000·(2+4)/2 + 900·(4+10)/2 = 500 + 1500 + 3000 + 6300.
        let points = [(1000.0, 1.0), (2000.0, 2.0), (3000.0, 4.0), (3900.0, 10.0)];
        let overall = overall_response_time(&curve(&points)).expect("four points");
        assert!((overall - 11_300.0 / 3_900.0).abs() < 1e-12);
        let mean = mean_over_loads(&curve(&points)).expect("four points");
        assert!((mean - 10_800.0 / 2_900.0).abs() < 1e-12);
    }

    #[test]
    fn a_flat_curve_of_ten_points_has_nineteen_twentieths_of_its_height() {
        let points: Vec<(f64, f64)> = (1..=10).map(|i| (f64::from(i) * 100.0, 5.0)).collect();
        let overall = overall_response_time(&curve(&points)).expect("ten points");
        assert!((overall - 4.75).abs() < 1e-12);
        assert_eq!(mean_over_loads(&curve(&points)), Some(5.0));
        for few in [&points[..1], &[]] {
            assert_eq!(overall_response_time(&curve(few)), None);
            assert_eq!(mean_over_loads(&curve(few)), None);
        }
    }

    /// Number of a result, its overall response time in ms, its points in operations/s and ms.
    type Published = (&'static str, f64, &'static [(f64, f64)]);

    /// Results that SPEC published on www.spec.org, under `sfs97/results`, `sfs97r1/results` and
    /// `sfs2008/results`: facts, quoted to check a formula and for nothing else.
    const PUBLISHED: [Published; 6] = [
        (
            "sfs97-20000905-00194",
            1.56,
            &[
                (3037.0, 1.1),
                (6071.0, 1.3),
                (9135.0, 1.4),
                (13_147.0, 1.2),
                (16_242.0, 1.3),
                (18_983.0, 1.4),
                (21_771.0, 1.9),
                (24_532.0, 2.0),
                (27_650.0, 2.4),
                (30_555.0, 3.5),
            ],
        ),
        (
            "sfs97-20000905-00200",
            1.58,
            &[
                (25_025.0, 0.9),
                (49_940.0, 1.2),
                (74_807.0, 1.3),
                (99_889.0, 1.5),
                (128_059.0, 1.4),
                (154_587.0, 1.6),
                (178_734.0, 1.8),
                (202_428.0, 2.2),
                (225_822.0, 2.5),
                (250_573.0, 3.0),
            ],
        ),
        (
            "sfs97r1-20080512-00312",
            2.16,
            &[
                (35_715.0, 0.5),
                (71_608.0, 0.8),
                (107_518.0, 1.2),
                (143_980.0, 1.5),
                (179_731.0, 1.9),
                (216_111.0, 2.4),
                (252_394.0, 2.9),
                (288_796.0, 3.5),
                (324_745.0, 4.1),
                (359_416.0, 5.8),
            ],
        ),
        (
            "sfs2008-20080222-00087",
            1.37,
            &[
                (798.0, 0.8),
                (1597.0, 0.8),
                (2403.0, 0.9),
                (3203.0, 1.0),
                (4006.0, 1.0),
                (4810.0, 1.2),
                (5609.0, 1.3),
                (6417.0, 1.9),
                (7219.0, 2.4),
                (8053.0, 4.7),
            ],
        ),
        (
            "sfs2008-20090430-00116",
            1.91,
            &[
                (4704.0, 1.3),
                (9415.0, 1.4),
                (14_142.0, 1.4),
                (18_876.0, 1.6),
                (23_595.0, 1.6),
                (28_366.0, 1.8),
                (33_075.0, 2.1),
                (37_678.0, 2.4),
                (42_800.0, 3.4),
                (46_635.0, 4.9),
            ],
        ),
        (
            "sfs2008-20110527-00186",
            2.54,
            &[
                (100_124.0, 4.8),
                (200_493.0, 4.2),
                (301_372.0, 3.1),
                (401_911.0, 2.5),
                (507_219.0, 2.3),
                (611_887.0, 1.9),
                (708_723.0, 2.0),
                (829_790.0, 1.9),
                (906_386.0, 2.1),
                (1_016_284.0, 2.0),
                (1_112_705.0, 2.3),
            ],
        ),
    ];

    #[test]
    fn published_results_come_out_to_their_last_digit() {
        for (result, published, points) in PUBLISHED {
            let overall = overall_response_time(&curve(points)).expect("ten points");
            let rounded = (overall * 100.0).round() / 100.0;
            assert_eq!(rounded, published, "{result}: {overall}");
            // And by no other rule: neither if the area begins at the first point, nor over the
            // measured loads only.
            let peak = points.last().expect("ten points").0;
            let others = [Some(area(points) / peak), mean_over_loads(&curve(points))];
            for other in others.into_iter().flatten() {
                assert!((other - published).abs() > 0.01, "{result}: {other}");
            }
        }
    }
}
