//! What the runs of a rung come to, and what one rung has more than another.

use super::figure::{LadderFigure, has_companion};
use crate::measure::RunRecord;
use crate::statistics::Estimate;
use crate::sweep::TotalValue;
use crate::sweep::totals::over_runs;

const FIGURES: usize = LadderFigure::ALL.len();

/// What the runs of a rung have, run by run.
#[derive(Debug, Clone, Default)]
pub struct RungTally {
    runs: Vec<[Option<TotalValue>; FIGURES]>,
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

    /// What the runs come to of a figure, if any has it.
    pub fn value(&self, figure: LadderFigure) -> Option<LadderValue> {
        let values: Vec<TotalValue> = self.of(figure).flatten().collect();
        LadderValue::of(figure, &values, self.is_with_companion(figure))
    }

    /// All of them.
    pub fn values(&self) -> Vec<LadderValue> {
        let all = LadderFigure::ALL.iter();
        all.filter_map(|figure| self.value(*figure)).collect()
    }

    /// What each run has of a figure.
    fn of(&self, figure: LadderFigure) -> impl Iterator<Item = Option<TotalValue>> + '_ {
        let place = LadderFigure::ALL.iter().position(|one| *one == figure);
        let runs = self.runs.iter();
        runs.map(move |run| run.get(place?).copied().flatten())
    }

    fn is_with_companion(&self, figure: LadderFigure) -> bool {
        self.has_companion && figure.has_companions()
    }
}

impl LadderValue {
    fn of(figure: LadderFigure, runs: &[TotalValue], has_companion: bool) -> Option<Self> {
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

/// What a rung has more than the one below, run by run: what drifts from round to round is in both
/// runs of a pair, and so in no difference. `None` where one of them has the costs of operations that
/// the other has not.
pub fn step(below: &RungTally, above: &RungTally, figure: LadderFigure) -> Option<LadderValue> {
    if below.is_with_companion(figure) || above.is_with_companion(figure) {
        return None;
    }
    let pairs = above.of(figure).zip(below.of(figure));
    let differences = pairs.filter_map(|(above, below)| Some(above?.minus(below?)));
    LadderValue::of(figure, &differences.collect::<Vec<_>>(), false)
}

/// What a rung has more in one ladder than in another (Welch's t).
pub fn difference(base: &RungTally, new: &RungTally, figure: LadderFigure) -> Option<LadderValue> {
    let values = |tally: &RungTally| -> Vec<TotalValue> { tally.of(figure).flatten().collect() };
    let (base_values, new_values) = (values(base), values(new));
    let runs = base_values.len().min(new_values.len());
    let estimate = |values: &[TotalValue]| {
        let values: Vec<f64> = values.iter().map(|run| run.value).collect();
        Estimate::of_independent(&values)
    };
    let has_companion = new.is_with_companion(figure);
    let both = estimate(&new_values).zip(estimate(&base_values));
    if let Some((new, base)) = both {
        let more = new.minus(&base);
        return Some(LadderValue {
            figure,
            value: more.value,
            half_width: Some(more.half_width()),
            runs,
            has_companion,
        });
    }
    let [new, base] = [&new_values, &base_values].map(|values| over_runs(values));
    let ((new, own), (base, of_base)) = (new?, base?);
    Some(LadderValue {
        figure,
        value: new - base,
        half_width: own.zip(of_base).map(|(own, of_base)| own.hypot(of_base)),
        runs,
        has_companion,
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A tally whose runs have these mean response times and server's processor times.
    pub fn tally(runs: &[(f64, f64)], has_companion: bool) -> RungTally {
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
                run[place] = Some(TotalValue {
                    value,
                    half_width: Some(3.0),
                });
            }
            tally.runs.push(run);
        }
        tally
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

    #[test]
    fn one_run_of_each_knows_what_both_know_of_themselves() {
        let (below, above) = (tally(&[(100.0, 1.0)], false), tally(&[(110.0, 6.0)], false));
        let found = step(&below, &above, LadderFigure::Response).expect("a pair");
        assert_eq!((found.value, found.runs), (10.0, 1));
        near(found.half_width, 18f64.sqrt());
        let apart = difference(&below, &above, LadderFigure::Response).expect("both");
        assert_eq!((apart.value, apart.half_width), (10.0, found.half_width));
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
