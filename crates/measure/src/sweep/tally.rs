//! Results of the runs of a point, and when there are enough of them.

use super::totals::{estimate, over_runs};
use crate::comparison::repeats::RepeatPlan;
use crate::comparison::sample::{TOTALS, has_unmeasured};
use crate::comparison::{ComparedRun, RunValue, Side};
use crate::figure::{AveragedFigure, ENOUGH_MIN, FigureSample};
use filestone_plan::gate::GateFigure;
use filestone_workload::statistics::Estimate;
use std::collections::BTreeMap;

/// Results of the runs of a point.
#[derive(Debug, Clone)]
pub struct PointTally {
    judged: GateFigure,
    side: Side,
    /// Values of each run: figures of whole runs, and those of ladders.
    pub(super) samples: Vec<Vec<(GateFigure, FigureSample)>>,
    /// Whether each operation is paired with an unmeasured one.
    pub(super) has_unmeasured: bool,
    /// Operations that were sent and failed, over all runs.
    pub errors: u64,
    /// Retransmitted calls, over all runs: with UDP, calls that were lost or answered late.
    pub retransmissions: u64,
    /// Replies that arrived too late or twice, over all runs.
    pub late_replies: u64,
    /// Names of the runs' caveats, each with the number of runs that have it.
    pub caveats: BTreeMap<String, u32>,
}

impl PointTally {
    /// Creates an empty tally; the figure decides when there are enough runs.
    pub fn new(judged: GateFigure) -> Self {
        Self {
            judged,
            side: Side::default(),
            samples: vec![],
            has_unmeasured: false,
            errors: 0,
            retransmissions: 0,
            late_replies: 0,
            caveats: BTreeMap::new(),
        }
    }

    /// Adds a complete run.
    pub fn add(&mut self, run: &ComparedRun) {
        let judged = self.judged.of_operations();
        self.add_values(&run.figures(judged.as_slice()));
        self.samples.push(run.samples());
        self.has_unmeasured = has_unmeasured(&run.plan);
        self.errors += run.errors();
        let kinds = run.totals.kinds.iter();
        self.retransmissions += kinds.map(|kind| kind.retransmissions).sum::<u64>();
        self.late_replies += run.totals.late_replies;
        for caveat in &run.caveats {
            *self.caveats.entry(caveat.id().into()).or_insert(0) += 1;
        }
    }

    /// Adds a complete run that only has these figures.
    pub fn add_values(&mut self, values: &[RunValue]) {
        self.side.add(values);
    }

    /// Returns the figures of operations of the runs.
    pub const fn side(&self) -> &Side {
        &self.side
    }

    /// Returns the number of complete runs.
    pub fn runs(&self) -> usize {
        self.side.runs()
    }

    /// Returns the figures of operations, then those of whole runs.
    pub fn figures(&self) -> Vec<AveragedFigure> {
        let of_operations = self.side.figures().copied().map(GateFigure::OfOperations);
        let all = of_operations.chain(TOTALS.map(GateFigure::OfRun));
        all.filter_map(|figure| self.value(&figure)).collect()
    }

    /// Returns one figure.
    pub fn value(&self, figure: &GateFigure) -> Option<AveragedFigure> {
        match figure {
            GateFigure::OfOperations(figure) => self.side.figure(figure),
            GateFigure::OfRun(total) => over_runs(*total, &self.values_of(figure)),
        }
    }

    /// Returns a figure with its standard error, so that differences have one, too.
    pub fn estimate(&self, figure: &GateFigure) -> Option<Estimate> {
        match figure {
            GateFigure::OfOperations(figure) => match self.side.logarithm(figure) {
                // Delta method, to convert back from logarithms.
                Some(logarithm) => Some(Estimate {
                    value: logarithm.value.exp(),
                    standard_error: logarithm.value.exp() * logarithm.standard_error,
                    freedom: logarithm.freedom,
                }),
                None => self.side.figure(figure).map(|one| one.of_itself()),
            },
            GateFigure::OfRun(_) => estimate(&self.values_of(figure)),
        }
    }

    /// Returns the values of a figure of whole runs or of a ladder, run by run.
    pub(super) fn each_run(
        &self,
        figure: GateFigure,
    ) -> impl Iterator<Item = Option<FigureSample>> {
        self.samples.iter().map(move |run| {
            let known = run.iter().find(|(one, _)| *one == figure);
            known.map(|(_, sample)| *sample)
        })
    }

    fn values_of(&self, figure: &GateFigure) -> Vec<FigureSample> {
        self.each_run(*figure).flatten().collect()
    }

    /// Returns whether the figure has the requested accuracy.
    pub fn is_enough(&self, wanted: &RepeatPlan) -> bool {
        let judged = wanted.until.zip(self.value(&self.judged));
        judged.is_some_and(|(share, known)| known.is_known_within(share))
    }

    /// Returns the expected number of runs.
    pub fn expected_runs(&self, wanted: &RepeatPlan) -> u32 {
        let Some(share) = wanted.until else {
            return wanted.most;
        };
        if self.is_enough(wanted) {
            return self.runs() as u32;
        }
        let known = self.value(&self.judged);
        let likely = known.map(|known| known.runs_until(share, wanted.most));
        likely.unwrap_or(wanted.most.min(ENOUGH_MIN as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::figures::IntervalUnavailable;
    use crate::measure::figures::RunFigure;
    use filestone_workload::random::{RandomStream, stream};
    use rand_distr::{Distribution as _, StandardNormal};

    fn tally(values: &[f64]) -> PointTally {
        let figure: RunFigure = "response_time.mean".parse().expect("a figure");
        let mut tally = PointTally::new(GateFigure::OfOperations(figure));
        for value in values {
            let own = Estimate {
                value: *value,
                standard_error: value / 100.0,
                freedom: 1e9,
            };
            tally.add_values(&[RunValue {
                figure,
                value: *value,
                own: Ok(own),
            }]);
        }
        tally
    }

    fn until(share: f64) -> RepeatPlan {
        RepeatPlan {
            most: 500,
            until: Some(share),
            pause_ns: 0,
        }
    }

    #[test]
    fn one_run_knows_itself_and_several_know_what_they_differ_by() {
        let [one] = tally(&[50.0]).figures()[..] else {
            panic!("one figure");
        };
        assert!(
            (one.value - 50.0).abs() < 1e-9 && one.deviation.is_none(),
            "{one:?}"
        );
        // 1 % of standard error, times 1.96.
        let (low, high) = one.interval.expect("it knows itself");
        assert!(
            (low - 49.030).abs() < 1e-3 && (high - 50.990).abs() < 1e-3,
            "{one:?}"
        );
        // Logarithms 0 and 0.2: mean 0.1, error 0.1, t of one degree 12.706.
        let two = tally(&[1.0, 0.2_f64.exp()]).figures()[0];
        assert!((two.value - 0.1_f64.exp()).abs() < 1e-9, "{two:?}");
        let high = two.interval.expect("of two").1;
        assert!((high - (0.1 + 1.270_62_f64).exp()).abs() < 1e-4, "{two:?}");
        assert!(tally(&[]).figures().is_empty());
    }

    #[test]
    fn so_many_runs_as_the_variance_takes_are_made() {
        // Runs differ by σ = 5 %. Analytically, the interval is within ± 2 % of the mean from the n
        // with t(n − 1)·σ/√n ≤ ln 1.02: n = 27 with the true σ, and less or more by chance of its
        // estimate.
        let mut random = stream(3, RandomStream::Permutations, 0);
        let (tries, mut all, mut held) = (300, 0, 0);
        for _ in 0..tries {
            let mut tally = tally(&[]);
            while !tally.is_enough(&until(0.02)) {
                let noise: f64 = StandardNormal.sample(&mut random);
                let figure = "response_time.mean".parse().expect("a figure");
                let value = (0.05 * noise).exp();
                tally.add_values(&[RunValue {
                    figure,
                    value,
                    own: Err(IntervalUnavailable::NotRecorded),
                }]);
            }
            all += tally.runs();
            let (low, high) = tally.figures()[0].interval.expect("of many");
            held += u32::from((low..=high).contains(&1.0));
        }
        let mean = all as f64 / f64::from(tries);
        assert!((22.0..=28.0).contains(&mean), "{mean}");
        // Stopping once the interval is narrow enough costs a little: 95 % would be 285 ± 3.8.
        assert!((268..=295).contains(&held), "{held} of {tries}");
    }

    #[test]
    fn runs_to_come_follow_from_the_spread_so_far() {
        let fixed = RepeatPlan {
            until: None,
            most: 7,
            ..until(0.0)
        };
        assert_eq!(tally(&[1.0]).expected_runs(&fixed), 7);
        assert!(!tally(&[1.0; 9]).is_enough(&fixed));
        assert_eq!(tally(&[1.0]).expected_runs(&until(0.01)), 5);
        assert_eq!(tally(&[1.0; 5]).expected_runs(&until(0.01)), 5);
        assert!(tally(&[1.0; 5]).is_enough(&until(0.01)));
        let few = RepeatPlan {
            most: 3,
            ..until(0.01)
        };
        assert_eq!(tally(&[]).expected_runs(&few), 3);
        assert!(tally(&[1.0, 1.1, 0.9, 1.0, 1.0]).expected_runs(&until(0.01)) > 100);
    }
}
