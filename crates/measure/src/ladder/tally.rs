//! Results of the runs of a rung, and differences between two rungs.

use super::figure::{LadderFigure, has_companion};
use super::value::{RungValue, mean_of_runs, over_runs};
use crate::measure::RunRecord;

const FIGURES: usize = LadderFigure::ALL.len();

/// Values of the runs of a rung, run by run.
#[derive(Debug, Clone, Default)]
pub struct RungTally {
    runs: Vec<[Option<RungValue>; FIGURES]>,
    /// Whether each operation is paired with an unmeasured one.
    has_companion: bool,
}

/// Value of a figure of a rung, or its difference from another rung.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LadderValue {
    /// The figure.
    pub figure: LadderFigure,
    /// Mean of the runs.
    pub value: f64,
    /// Half of its 95 % interval: over several runs, or as estimated by a single run, if available.
    pub half_width: Option<f64>,
    /// Number of runs that have the figure, or of pairs of runs.
    pub runs: usize,
    /// Whether the value includes an unmeasured operation for each measured one.
    pub has_companion: bool,
}

impl RungTally {
    /// Adds a complete run, the next one of its rung.
    pub fn add(&mut self, record: &RunRecord) {
        self.has_companion = has_companion(&record.plan);
        let mut figures = LadderFigure::ALL.iter();
        self.runs.push([(); FIGURES].map(|()| {
            let figure = figures.next()?;
            figure.of(record)
        }));
    }

    /// Returns the number of complete runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Returns the value of a figure, if any run has it. `None` if it is clearly negative, which is
    /// impossible for a time or cost.
    pub fn value(&self, figure: LadderFigure) -> Option<LadderValue> {
        let values: Vec<RungValue> = self.of(figure).flatten().collect();
        let value = LadderValue::of(figure, &values, self.is_with_companion(figure))?;
        (value.value + value.half_width.unwrap_or(0.0) >= 0.0).then_some(value)
    }

    /// Returns the values of all figures.
    pub fn values(&self) -> Vec<LadderValue> {
        let all = LadderFigure::ALL.iter();
        all.filter_map(|figure| self.value(*figure)).collect()
    }

    /// Returns the values of a figure, run by run.
    fn of(&self, figure: LadderFigure) -> impl Iterator<Item = Option<RungValue>> + '_ {
        let place = LadderFigure::ALL.iter().position(|one| *one == figure);
        let runs = self.runs.iter();
        runs.map(move |run| run.get(place?).copied().flatten())
    }

    fn is_with_companion(&self, figure: LadderFigure) -> bool {
        self.has_companion && figure.has_companions()
    }
}

impl LadderValue {
    fn of(figure: LadderFigure, runs: &[RungValue], has_companion: bool) -> Option<Self> {
        let (value, half_width) = over_runs(runs)?;
        Some(Self {
            figure,
            value,
            half_width,
            runs: runs.len(),
            has_companion,
        })
    }

    /// Returns the ends of the interval, if the value has one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = self.half_width?;
        Some((self.value - half, self.value + half))
    }
}

/// A rung and one below it, of one ladder.
#[derive(Debug, Clone, Copy)]
pub struct RungPair<'ladder> {
    /// The lower rung.
    pub below: &'ladder RungTally,
    /// The upper rung.
    pub above: &'ladder RungTally,
}

impl RungPair<'_> {
    /// Returns the difference from the lower to the upper rung, run by run. Drift between rounds
    /// affects both runs of a pair and cancels. `None` if either includes the cost of paired
    /// operations.
    pub fn step(&self, figure: LadderFigure) -> Option<LadderValue> {
        LadderValue::of(figure, &self.differences(figure)?, false)
    }

    fn differences(&self, figure: LadderFigure) -> Option<Vec<RungValue>> {
        let Self { below, above } = self;
        if below.is_with_companion(figure) || above.is_with_companion(figure) {
            return None;
        }
        let pairs = above.of(figure).zip(below.of(figure));
        let differences = pairs.filter_map(|(above, below)| Some(above?.minus(below?)));
        Some(differences.collect())
    }
}

/// Returns the difference of a rung between two ladders (Welch's t).
pub fn difference(base: &RungTally, new: &RungTally, figure: LadderFigure) -> Option<LadderValue> {
    let values = |tally: &RungTally| -> Vec<RungValue> { tally.of(figure).flatten().collect() };
    let more = more_than(figure, &values(base), &values(new))?;
    Some(LadderValue {
        has_companion: new.is_with_companion(figure),
        ..more
    })
}

/// Returns the difference of a step between two ladders (Welch's t). A general difference between
/// the ladders, such as a slower host, affects both rungs of a step and cancels.
pub fn difference_of_steps(
    base: RungPair<'_>,
    new: RungPair<'_>,
    figure: LadderFigure,
) -> Option<LadderValue> {
    more_than(
        figure,
        &base.differences(figure)?,
        &new.differences(figure)?,
    )
}

fn more_than(figure: LadderFigure, base: &[RungValue], new: &[RungValue]) -> Option<LadderValue> {
    let (value, half_width) = match mean_of_runs(new).zip(mean_of_runs(base)) {
        Some((new, base)) => {
            let more = new.minus(&base);
            (more.value, Some(more.half_width()))
        }
        None => {
            let ((new, own), (base, of_base)) = (over_runs(new)?, over_runs(base)?);
            let both = own.zip(of_base);
            (new - base, both.map(|(own, of_base)| own.hypot(of_base)))
        }
    };
    Some(LadderValue {
        figure,
        value,
        half_width,
        runs: base.len().min(new.len()),
        has_companion: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a tally whose runs have these mean response times and CPU times of the server.
    fn tally(runs: &[(f64, f64)], has_companion: bool) -> RungTally {
        let mut tally = RungTally {
            runs: vec![],
            has_companion,
        };
        for (response, server) in runs {
            let mut run = [None; FIGURES];
            for (place, figure) in LadderFigure::ALL.iter().enumerate() {
                let value = match figure {
                    LadderFigure::Response => *response,
                    LadderFigure::ServerCpu => *server,
                    _ => continue,
                };
                run[place] = Some(RungValue {
                    value,
                    half_width: Some(3.0),
                });
            }
            tally.runs.push(run);
        }
        tally
    }

    fn step(below: &RungTally, above: &RungTally, figure: LadderFigure) -> Option<LadderValue> {
        RungPair { below, above }.step(figure)
    }

    fn near(found: Option<f64>, expected: f64) {
        let found = found.unwrap_or(f64::NAN);
        assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
    }

    /// Rounds that are 100, 200 and 300 slow, and differences of 9, 10 and 11: mean 10, standard
    /// error 1/√3, and t of two degrees 4.3027. The differences between rounds affect neither.
    #[test]
    fn what_rounds_have_in_common_is_in_no_step() {
        let below = tally(&[(100.0, 1.0), (200.0, 1.0), (300.0, 1.0)], false);
        let above = tally(&[(109.0, 6.0), (210.0, 6.0), (311.0, 6.0)], false);
        let found = step(&below, &above, LadderFigure::Response).expect("three pairs");
        near(Some(found.value), 10.0);
        near(found.half_width, 4.3027 / 3f64.sqrt());
        let exact = step(&below, &above, LadderFigure::ServerCpu).expect("three pairs");
        assert_eq!((exact.value, exact.half_width), (5.0, Some(0.0)));
        assert_eq!(step(&below, &above, LadderFigure::WireBytes), None);
        // Ladders of different times are independent: ± 100 each, and Welch's t.
        let apart = difference(&below, &above, LadderFigure::Response).expect("both");
        near(Some(apart.value), 10.0);
        assert!(
            apart.half_width.is_some_and(|half| half > 200.0),
            "{apart:?}"
        );
    }

    /// The host of the new ladder is 50 slower, and its step is larger by 5. Steps are 9, 10 and
    /// 11, and 14, 15 and 16, so that the standard error of the difference is √(2/3), and t of four
    /// degrees 2.7764.
    #[test]
    fn a_slower_host_is_in_no_difference_of_steps() {
        let ladder = |host: f64, step: f64| {
            let rounds = [100.0, 200.0, 300.0].map(|round| round + host);
            let above = [step - 1.0, step, step + 1.0];
            let above = rounds
                .iter()
                .zip(above)
                .map(|(round, own)| (round + own, 1.0));
            let below = rounds.map(|round| (round, 1.0));
            (
                tally(&below, false),
                tally(&above.collect::<Vec<_>>(), false),
            )
        };
        let (base, new) = (ladder(0.0, 10.0), ladder(50.0, 15.0));
        let [base, new] = [&base, &new].map(|(below, above)| RungPair { below, above });
        let more = difference_of_steps(base, new, LadderFigure::Response).expect("both");
        near(Some(more.value), 5.0);
        near(more.half_width, 2.7764 * (2.0 / 3.0f64).sqrt());
    }

    #[test]
    fn one_run_of_each_knows_what_both_know_of_themselves() {
        let (below, above) = (tally(&[(100.0, 1.0)], false), tally(&[(110.0, 6.0)], false));
        let found = step(&below, &above, LadderFigure::Response).expect("a pair");
        assert_eq!((found.value, found.runs), (10.0, 1));
        near(found.half_width, 18f64.sqrt());
        let apart = difference(&below, &above, LadderFigure::Response).expect("both");
        assert_eq!((apart.value, apart.half_width), (10.0, found.half_width));
    }

    /// Nine steps of 9, 10 and 11, and one in whose upper run another program used the CPU's
    /// caches: the mean of all is 59 ± 111. Without the smallest and the largest it is 10.125.
    #[test]
    fn a_round_far_off_moves_no_step() {
        let upper = [9.0, 10.0, 11.0, 9.0, 10.0, 11.0, 9.0, 10.0, 11.0, 500.0];
        let below = tally(&[(100.0, 1.0); 10], false);
        let above = tally(&upper.map(|more| (100.0 + more, 1.0)), false);
        let found = step(&below, &above, LadderFigure::Response).expect("ten pairs");
        near(Some(found.value), 10.125);
        assert!(found.half_width.is_some_and(|half| half < 1.0), "{found:?}");
        let (base, new) = (
            RungPair {
                below: &below,
                above: &below,
            },
            RungPair {
                below: &below,
                above: &above,
            },
        );
        let more = difference_of_steps(base, new, LadderFigure::Response).expect("both");
        near(Some(more.value), 10.125);
    }

    #[test]
    fn what_is_less_than_nothing_is_not_known() {
        let value = |costs: &[f64]| {
            let runs: Vec<(f64, f64)> = costs.iter().map(|cost| (100.0, *cost)).collect();
            tally(&runs, false).value(LadderFigure::ServerCpu)
        };
        assert_eq!(value(&[-2915.0]), None);
        // Three of them, alike: not chance.
        assert_eq!(value(&[-30.0, -31.0, -32.0]), None);
        // Around 0 chance explains the sign: -1 ± 3, as estimated by the run.
        let known = value(&[-1.0]).expect("it can be 0");
        assert_eq!((known.value, known.half_width), (-1.0, Some(3.0)));
    }

    #[test]
    fn what_has_the_cost_of_two_operations_is_no_step() {
        let (below, above) = (tally(&[(100.0, 1.0)], false), tally(&[(110.0, 6.0)], true));
        assert!(step(&below, &above, LadderFigure::Response).is_some());
        assert_eq!(step(&below, &above, LadderFigure::ServerCpu), None);
        let cost = above.value(LadderFigure::ServerCpu).expect("one run");
        assert!(cost.has_companion);
        assert!(
            !above
                .value(LadderFigure::Response)
                .is_some_and(|it| it.has_companion)
        );
        assert_eq!(above.values().len(), 2);
    }
}
