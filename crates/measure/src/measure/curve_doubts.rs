//! Caveats of a load–response curve.

use crate::measure::caveat::Caveat;
use crate::measure::caveat::thresholds::{RELAXATIONS_MIN, SEARCH_RELAXATIONS_MIN, WAITED_SHARE};
use crate::measure::curve_record::{
    CurvePointRecord, CurveRecord, ObjectiveRecord, PeakLimit, SweepDirection,
};

impl CurveRecord {
    /// Returns the caveats of this curve. Operations that waited before they were sent only count
    /// at points where the server kept up, because there nothing should have had to wait.
    pub fn doubts(&self) -> Vec<Caveat> {
        let on_curve = self.points.iter();
        let points: Vec<&CurvePointRecord> = on_curve
            .filter(|point| point.leg != SweepDirection::Search)
            .collect();
        let of = points.len() as u64;
        let such = |is_such: &dyn Fn(&CurvePointRecord) -> bool| {
            let mut such = points.iter().filter(|point| is_such(point));
            such.next().map(|first| (1 + such.count() as u64, *first))
        };
        let mut doubts = Vec::new();
        let peak_ops_per_s = self.peak_ops_per_s;
        match self.peak_end {
            PeakLimit::Generator => doubts.push(Caveat::PeakOfGenerator { peak_ops_per_s }),
            PeakLimit::NotReached => doubts.push(Caveat::PeakUnfinished { peak_ops_per_s }),
            PeakLimit::Fixed | PeakLimit::Server => {}
        }
        if let Some((points, first)) = such(&|point| !point.is_steady) {
            doubts.push(Caveat::PointsNotSteady {
                points,
                of,
                first_ops_per_s: first.offered_load_ops_per_s,
            });
        }
        if let Some((points, first)) = such(&|point| !point.kept_up) {
            doubts.push(Caveat::PointsBelowOffered {
                points,
                of,
                first_ops_per_s: first.offered_load_ops_per_s,
                achieved_load_ops_per_s: first.achieved_load_ops_per_s,
            });
        }
        if let Some((points, first)) = such(&|point| point.kept_up && waited(point) > WAITED_SHARE)
        {
            doubts.push(Caveat::PointsWaited {
                points,
                of,
                first_ops_per_s: first.offered_load_ops_per_s,
                waited_percent: 100.0 * waited(first),
            });
        }
        let is_short = |point: &CurvePointRecord| {
            point.kept_up && relaxations(point).is_some_and(|times| times < RELAXATIONS_MIN)
        };
        if let Some((points, first)) = such(&is_short) {
            doubts.push(Caveat::PointsTooShort {
                points,
                of,
                first_ops_per_s: first.offered_load_ops_per_s,
                relaxations: relaxations(first).unwrap_or_default(),
            });
        }
        doubts
    }
}

impl ObjectiveRecord {
    /// Returns the caveat of this search, if there is one.
    pub fn doubt(&self) -> Option<Caveat> {
        let (stretch_ns, relaxation_time_ns) = (self.longest_stretch_ns, self.relaxation_time_ns);
        let is_too_short = (stretch_ns as f64) < SEARCH_RELAXATIONS_MIN * relaxation_time_ns;
        (is_too_short && self.load_ops_per_s.is_none()).then_some(Caveat::StretchesTooShort {
            stretch_ns,
            relaxation_time_ns,
        })
    }
}

/// Returns the measured length of a point, in relaxation times of its queue; `None` if there was no
/// queue.
fn relaxations(point: &CurvePointRecord) -> Option<f64> {
    let measured_ns = point.end_ns.saturating_sub(point.start_ns) as f64;
    (point.relaxation_time_ns > 0.0).then(|| measured_ns / point.relaxation_time_ns)
}

/// Returns the share of the response time before operations were sent: waiting for a slot, and
/// delay of the load generator.
fn waited(point: &CurvePointRecord) -> f64 {
    let response = point.response_time_ns.mean;
    if response > 0.0 {
        (response - point.service_time_ns.mean) / response
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_workload::recording::distribution::DistributionRecord;

    fn times(mean: f64) -> DistributionRecord {
        DistributionRecord {
            mean,
            ..DistributionRecord::default()
        }
    }

    #[test]
    fn each_doubt_counts_its_points_and_names_the_first() {
        let good = CurvePointRecord {
            offered_load_ops_per_s: 1000.0,
            response_time_ns: times(100.0),
            service_time_ns: times(99.0),
            is_steady: true,
            kept_up: true,
            ..CurvePointRecord::default()
        };
        let searched = CurvePointRecord {
            leg: SweepDirection::Search,
            ..CurvePointRecord::default()
        };
        let overloaded = CurvePointRecord {
            offered_load_ops_per_s: 2000.0,
            achieved_load_ops_per_s: 1500.0,
            is_steady: false,
            kept_up: false,
            ..good.clone()
        };
        let late = CurvePointRecord {
            service_time_ns: times(80.0),
            ..good.clone()
        };
        let mut curve = CurveRecord {
            points: vec![searched, good.clone()],
            ..CurveRecord::default()
        };
        assert_eq!(curve.doubts(), []);
        // Five seconds with a queue whose relaxation time is 0.5 s.
        let short = CurvePointRecord {
            relaxation_time_ns: 5e8,
            end_ns: 5_000_000_000,
            ..good.clone()
        };
        curve.points.extend([overloaded, late, short]);
        curve.peak_end = PeakLimit::Generator;
        let sentences: Vec<String> = curve
            .doubts()
            .iter()
            .map(|doubt| doubt.sentence().0)
            .collect();
        assert_eq!(
            sentences,
            [
                "the server kept up with all that the load generator can offer: the peak of 0/s achieved is not the server's",
                "1 of 4 load points were measured before their response times had become steady, the first of them offered 2,000/s",
                "1 of 4 load points were offered more than was achieved, the first of them offered 2,000/s, which achieved 1,500/s",
                "1 of 4 load points had operations wait before they were sent, the first of them offered 1,000/s, where that was 20 % of the response time",
                "1 of 4 load points were measured for few relaxation times of their queue, the first of them offered 1,000/s, 10 times: where their queues began, and chance, are part of their response times",
            ]
        );
    }
}
