//! What the runs of a rung come to, and what one rung has more than another.

use super::figure::{LadderFigure, has_companion};
use super::value::{RungValue, mean_of_runs, over_runs};
use crate::measure::RunRecord;

const FIGURES: usize = LadderFigure::ALL.len();

/// What the runs of a rung have, run by run.
#[derive(Debug, Clone, Default)]
pub struct RungTally {
    runs: Vec<[Option<RungValue>; FIGURES]>,
    /// Whether each of its operations has another one that goes with it.
    has_companion: bool,
}

/// A figure of a rung, or by what it differs from another's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LadderValue {
    /// Which.
    pub figure: LadderFigure,
    /// Of several runs their mean.
    pub value: f64,
    /// Half of its 95 % interval: over runs, or of one run what that knows of itself, if anything.
    pub half_width: Option<f64>,
    /// Runs that have it, or pairs of runs.
    pub runs: usize,
    /// Whether an unmeasured operation that goes with each measured one is in it.
    pub has_companion: bool,
}

impl RungTally {
    /// Counts a whole run, the next one of its rung.
    pub fn add(&mut self, record: &RunRecord) {
        self.has_companion = has_companion(&record.plan);
        let mut figures = LadderFigure::ALL.iter();
        self.runs.push([(); FIGURES].map(|()| {
            let figure = figures.next()?;
            figure.of(record)
        }));
    }

    /// Whole runs so far.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// What the runs come to of a figure, if any has it. Nothing takes or costs less than 0.
    pub fn value(&self, figure: LadderFigure) -> Option<LadderValue> {
        let values: Vec<RungValue> = self.of(figure).flatten().collect();
        let value = LadderValue::of(figure, &values, self.is_with_companion(figure))?;
        (value.value + value.half_width.unwrap_or(0.0) >= 0.0).then_some(value)
    }

    /// All of them.
    pub fn values(&self) -> Vec<LadderValue> {
        let all = LadderFigure::ALL.iter();
        all.filter_map(|figure| self.value(*figure)).collect()
    }

    /// What each run has of a figure.
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

    /// The ends of its interval, if it has one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = self.half_width?;
        Some((self.value - half, self.value + half))
    }
}

/// A rung and one below it, of one ladder.
#[derive(Debug, Clone, Copy)]
pub struct RungPair<'ladder> {
    /// The lower one.
    pub below: &'ladder RungTally,
    /// The upper one.
    pub above: &'ladder RungTally,
}

impl RungPair<'_> {
    /// What the upper rung has more, run by run: what drifts from round to round is in both runs of a
    /// pair, and so in no difference. `None` where one of them has the costs of operations that the
    /// other has not.
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

/// What a rung has more in one ladder than in another (Welch's t).
pub fn difference(base: &RungTally, new: &RungTally, figure: LadderFigure) -> Option<LadderValue> {
    let values = |tally: &RungTally| -> Vec<RungValue> { tally.of(figure).flatten().collect() };
    let more = more_than(figure, &values(base), &values(new))?;
    Some(LadderValue {
        has_companion: new.is_with_companion(figure),
        ..more
    })
}

/// What a step is more in one ladder than in another, likewise: by what the two ladders differ
/// because the host was another one meanwhile is in none of its parts.
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

    /// A tally whose runs have these mean response times and server's processor times.
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

    /// Rounds that are 100, 200 and 300 slow, and differences of 9, 10 and 11: mean 10, standard error
    /// 1/√3, and t of two degrees 4.3027. What rounds differ by is in neither.
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
        // Ladders of different times have nothing in common: ± 100 each, and Welch's t.
        let apart = difference(&below, &above, LadderFigure::Response).expect("both");
        near(Some(apart.value), 10.0);
        assert!(
            apart.half_width.is_some_and(|half| half > 200.0),
            "{apart:?}"
        );
    }

    /// The host of the new ladder is 50 slower, and its step 5 larger; steps are 9, 10 and 11, and 14, 15
    /// and 16, so that the standard error of the difference is √(2/3), and t of four degrees 2.7764.
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

    /// Nine steps of 9, 10 and 11, and one in whose upper run another program had the processor's caches:
    /// the mean of all is 59, give or take 111. Without the least and the greatest it is 10.125.
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
        // Around 0 chance explains the sign: -1 ± 3, as the run knows of itself.
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
