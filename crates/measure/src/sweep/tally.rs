//! Results of the runs of a point, and when there are enough of them.

use super::totals::{PointTotal, TOTALS, estimate, in_run};
use crate::comparison::repeats::{ENOUGH_MIN, RepeatPlan, RepeatedFigure, repeated};
use crate::comparison::side::{Side, single};
use crate::comparison::{ComparedRun, RunValue};
use crate::cost::CostEstimate;
use crate::measure::figures::RunFigure;
use filestone_plan::gate::{GateFigure, RunTotal};
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::estimate::student_quantile;
use std::collections::BTreeMap;

/// Results of the runs of a point.
#[derive(Debug, Clone)]
pub struct PointTally {
    judged: GateFigure,
    side: Side,
    /// Values of the runs for each of [`TOTALS`].
    totals: [Vec<CostEstimate>; TOTALS.len()],
    /// Operations that were sent and failed, over all runs.
    pub errors: u64,
    /// Retransmitted calls, over all runs: with UDP, calls that were lost or answered late.
    pub retransmissions: u64,
    /// Replies that arrived too late or twice, over all runs.
    pub late_replies: u64,
    /// Names of the runs' caveats, each with the number of runs that have it.
    pub caveats: BTreeMap<String, u32>,
}

/// A figure of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointFigure {
    /// The figure.
    pub figure: RunFigure,
    /// Value; the geometric mean of several runs.
    pub value: f64,
    /// Ends of its 95 % interval: over several runs, or as estimated by a single run, if available.
    pub interval: Option<(f64, f64)>,
    /// Number of runs that have it.
    pub runs: usize,
    /// Spread of the logarithms of single runs, one standard deviation.
    pub deviation: Option<f64>,
}

/// A figure of a point, whether of operations or of whole runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointValue {
    /// Value of the figure.
    pub value: f64,
    /// Ends of its 95 % interval, if it has one.
    pub interval: Option<(f64, f64)>,
}

impl PointTally {
    /// Creates an empty tally; the figure decides when there are enough runs.
    pub fn new(judged: GateFigure) -> Self {
        Self {
            judged,
            side: Side::default(),
            totals: Default::default(),
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
        for (total, runs) in TOTALS.iter().zip(&mut self.totals) {
            runs.extend(in_run(*total, run));
        }
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

    /// Returns the number of complete runs.
    pub fn runs(&self) -> usize {
        self.side.runs()
    }

    /// Returns all figures of the runs.
    pub fn figures(&self) -> Vec<PointFigure> {
        let over_runs = repeated(&self.side);
        let figures = self.side.figures();
        let of = |figure: &RunFigure| {
            let several = over_runs.iter().find(|known| known.figure == *figure);
            several.map_or_else(
                || self.of_one(figure),
                |known| Some(PointFigure::from(known)),
            )
        };
        figures.filter_map(of).collect()
    }

    /// Returns one figure.
    pub fn figure(&self, figure: &RunFigure) -> Option<PointFigure> {
        let mut all = self.figures().into_iter();
        all.find(|known| known.figure == *figure)
    }

    /// Returns a figure of operations or of whole runs.
    pub fn value(&self, figure: &GateFigure) -> Option<PointValue> {
        match figure {
            GateFigure::OfOperations(figure) => self.figure(figure).map(|known| PointValue {
                value: known.value,
                interval: known.interval,
            }),
            GateFigure::OfRun(total) => self.total(*total).map(|known| PointValue {
                value: known.value,
                interval: known.interval,
            }),
        }
    }

    /// Returns a figure with its standard error, so that differences have one, too.
    pub fn estimate(&self, figure: &GateFigure) -> Option<Estimate> {
        match figure {
            GateFigure::OfOperations(figure) => {
                let known = repeated(&self.side);
                let known = known.iter().find(|known| known.figure == *figure);
                match known {
                    // Delta method, to convert back from logarithms.
                    Some(known) => Some(Estimate {
                        value: known.over_runs.value,
                        standard_error: known.over_runs.value
                            * known.over_runs.logarithm.standard_error,
                        freedom: known.over_runs.logarithm.freedom,
                    }),
                    None => self.of_one(figure).map(|one| of_itself(&one)),
                }
            }
            GateFigure::OfRun(total) => estimate(self.values_of(*total)?),
        }
    }

    /// Returns the values of the runs for a figure of whole runs.
    fn values_of(&self, total: RunTotal) -> Option<&[CostEstimate]> {
        let mut both = TOTALS.iter().zip(&self.totals);
        let (_, runs) = both.find(|(one, _)| **one == total)?;
        Some(runs)
    }

    fn total(&self, total: RunTotal) -> Option<PointTotal> {
        PointTotal::of(total, self.values_of(total)?)
    }

    /// Returns the figures of whole runs.
    pub fn totals(&self) -> Vec<PointTotal> {
        let both = TOTALS.iter().zip(&self.totals);
        both.filter_map(|(total, runs)| PointTotal::of(*total, runs))
            .collect()
    }

    fn of_one(&self, figure: &RunFigure) -> Option<PointFigure> {
        let own = single(&self.side, figure)?;
        let ends = own.interval.map(|half| {
            let [low, high] = [-half, half].map(|half| (own.logarithm + half).exp());
            (low, high)
        });
        Some(PointFigure {
            figure: *figure,
            value: own.logarithm.exp(),
            interval: ends,
            runs: 1,
            deviation: None,
        })
    }

    fn judged(&self) -> Judged {
        match self.judged {
            GateFigure::OfOperations(figure) => {
                let mut all = repeated(&self.side).into_iter();
                Judged::OfOperations(all.find(|known| known.figure == figure))
            }
            GateFigure::OfRun(total) => Judged::OfRun(self.total(total)),
        }
    }

    /// Returns whether the figure has the requested accuracy.
    pub fn is_enough(&self, wanted: &RepeatPlan) -> bool {
        let known = |share| match self.judged() {
            Judged::OfOperations(known) => known.is_some_and(|known| known.is_known_within(share)),
            Judged::OfRun(known) => known.is_some_and(|known| known.is_known_within(share)),
        };
        wanted.until.is_some_and(known)
    }

    /// Returns the expected number of runs.
    pub fn expected_runs(&self, wanted: &RepeatPlan) -> u32 {
        let Some(share) = wanted.until else {
            return wanted.most;
        };
        if self.is_enough(wanted) {
            return self.runs() as u32;
        }
        let likely = match self.judged() {
            Judged::OfOperations(known) => known.map(|known| known.runs_until(share, wanted.most)),
            Judged::OfRun(known) => known.map(|known| known.runs_until(share, wanted.most)),
        };
        likely.unwrap_or(wanted.most.min(ENOUGH_MIN as u32))
    }
}

/// Value of the figure that decides when there are enough runs.
enum Judged {
    OfOperations(Option<RepeatedFigure>),
    OfRun(Option<PointTotal>),
}

/// Returns the estimate of a single run.
fn of_itself(one: &PointFigure) -> Estimate {
    let half_width = one.interval.map_or(0.0, |(low, high)| (high - low) / 2.0);
    Estimate {
        value: one.value,
        standard_error: half_width / student_quantile(0.975, f64::INFINITY),
        freedom: f64::INFINITY,
    }
}

impl From<&RepeatedFigure> for PointFigure {
    fn from(known: &RepeatedFigure) -> Self {
        Self {
            figure: known.figure,
            value: known.over_runs.value,
            interval: Some((known.low(), known.high())),
            runs: known.over_runs.runs,
            deviation: Some(known.over_runs.deviation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
                own: Some(own),
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
                    own: None,
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
