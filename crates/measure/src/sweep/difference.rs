//! Means of the runs of a rung, and differences between two rungs.

use super::tally::PointTally;
use crate::comparison::sample::LADDER_FIGURES;
use crate::figure::{AveragedFigure, FigureSample};
use filestone_plan::gate::GateFigure;
use filestone_workload::statistics::Estimate;
use filestone_workload::statistics::trimmed::mean_unless_far_off;

impl PointTally {
    /// Returns the mean of a figure of a ladder, if any run has it. `None` if it is clearly
    /// negative, which is impossible for a time or cost.
    pub fn mean(&self, figure: GateFigure) -> Option<AveragedFigure> {
        let values: Vec<FigureSample> = self.each_run(figure).flatten().collect();
        let mean = AveragedFigure {
            has_unmeasured: self.is_with_unmeasured(figure),
            ..of_samples(figure, &values)?
        };
        (mean.high().unwrap_or(mean.value) >= 0.0).then_some(mean)
    }

    /// Returns the means of all figures of a ladder.
    pub fn means(&self) -> Vec<AveragedFigure> {
        let all = LADDER_FIGURES.into_iter();
        all.filter_map(|figure| self.mean(figure)).collect()
    }

    /// Returns whether a figure includes the unmeasured operations that accompany the measured ones
    /// and cannot be separated from them.
    fn is_with_unmeasured(&self, figure: GateFigure) -> bool {
        self.has_unmeasured && matches!(figure, GateFigure::OfRun(total) if total.is_cost())
    }
}

/// Returns the mean of these runs as a figure.
fn of_samples(figure: GateFigure, runs: &[FigureSample]) -> Option<AveragedFigure> {
    let mean = over_runs(runs)?;
    Some(AveragedFigure::around(
        figure,
        mean.value,
        mean.half_width,
        runs.len(),
    ))
}

/// Returns the mean of these runs, with eight or more runs without outliers; a single run has its
/// own interval.
fn over_runs(runs: &[FigureSample]) -> Option<FigureSample> {
    let first = runs.first()?;
    Some(mean_of_runs(runs).map_or(*first, of_estimate))
}

fn of_estimate(estimate: Estimate) -> FigureSample {
    FigureSample {
        value: estimate.value,
        half_width: Some(estimate.half_width()),
    }
}

/// Returns the mean of these runs; `None` with fewer than two.
fn mean_of_runs(runs: &[FigureSample]) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    mean_unless_far_off(&values).map(|mean| mean.estimate)
}

/// A rung and one below it, of one ladder.
#[derive(Debug, Clone, Copy)]
pub struct RungPair<'ladder> {
    /// The lower rung.
    pub below: &'ladder PointTally,
    /// The upper rung.
    pub above: &'ladder PointTally,
}

impl RungPair<'_> {
    /// Returns the difference from the lower to the upper rung, run by run. Drift between rounds
    /// affects both runs of a pair and cancels. `None` if either includes the cost of paired
    /// operations.
    pub fn step(&self, figure: GateFigure) -> Option<AveragedFigure> {
        of_samples(figure, &self.differences(figure)?)
    }

    fn differences(&self, figure: GateFigure) -> Option<Vec<FigureSample>> {
        let Self { below, above } = self;
        if below.is_with_unmeasured(figure) || above.is_with_unmeasured(figure) {
            return None;
        }
        let pairs = above.each_run(figure).zip(below.each_run(figure));
        let differences = pairs.filter_map(|(above, below)| Some(above?.minus(below?)));
        Some(differences.collect())
    }
}

/// Returns the difference of a rung between two ladders (Welch's t).
pub fn difference(
    base: &PointTally,
    new: &PointTally,
    figure: GateFigure,
) -> Option<AveragedFigure> {
    let values =
        |tally: &PointTally| -> Vec<FigureSample> { tally.each_run(figure).flatten().collect() };
    Some(AveragedFigure {
        has_unmeasured: new.is_with_unmeasured(figure),
        ..more_than(figure, &values(base), &values(new))?
    })
}

/// Returns the difference of a step between two ladders (Welch's t). A general difference between
/// the ladders, such as a slower host, affects both rungs of a step and cancels.
pub fn difference_of_steps(
    base: RungPair<'_>,
    new: RungPair<'_>,
    figure: GateFigure,
) -> Option<AveragedFigure> {
    more_than(
        figure,
        &base.differences(figure)?,
        &new.differences(figure)?,
    )
}

fn more_than(
    figure: GateFigure,
    base: &[FigureSample],
    new: &[FigureSample],
) -> Option<AveragedFigure> {
    let more = match mean_of_runs(new).zip(mean_of_runs(base)) {
        Some((new, base)) => of_estimate(new.minus(&base)),
        None => over_runs(new)?.minus(over_runs(base)?),
    };
    let runs = base.len().min(new.len());
    Some(AveragedFigure::around(
        figure,
        more.value,
        more.half_width,
        runs,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::gate::RunTotal;

    const RESPONSE: GateFigure = LADDER_FIGURES[0];
    const SERVER_CPU: GateFigure = GateFigure::OfRun(RunTotal::ServerCpu);
    const WIRE_BYTES: GateFigure = GateFigure::OfRun(RunTotal::WireBytes);

    /// Creates a tally whose runs have these mean response times and CPU times of the server.
    fn tally(runs: &[(f64, f64)], has_unmeasured: bool) -> PointTally {
        let mut tally = PointTally::new(RESPONSE);
        tally.has_unmeasured = has_unmeasured;
        for (response, server) in runs {
            let values = [(RESPONSE, *response), (SERVER_CPU, *server)];
            tally.samples.push(Vec::from(values.map(|(figure, value)| {
                let half_width = Some(3.0);
                (figure, FigureSample { value, half_width })
            })));
        }
        tally
    }

    fn step(below: &PointTally, above: &PointTally, figure: GateFigure) -> Option<AveragedFigure> {
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
        let found = step(&below, &above, RESPONSE).expect("three pairs");
        near(Some(found.value), 10.0);
        near(found.half_width(), 4.3027 / 3f64.sqrt());
        let exact = step(&below, &above, SERVER_CPU).expect("three pairs");
        assert_eq!((exact.value, exact.half_width()), (5.0, Some(0.0)));
        assert_eq!(step(&below, &above, WIRE_BYTES), None);
        // Ladders of different times are independent: ± 100 each, and Welch's t.
        let apart = difference(&below, &above, RESPONSE).expect("both");
        near(Some(apart.value), 10.0);
        assert!(
            apart.half_width().is_some_and(|half| half > 200.0),
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
        let more = difference_of_steps(base, new, RESPONSE).expect("both");
        near(Some(more.value), 5.0);
        near(more.half_width(), 2.7764 * (2.0 / 3.0f64).sqrt());
    }

    #[test]
    fn one_run_of_each_knows_what_both_know_of_themselves() {
        let (below, above) = (tally(&[(100.0, 1.0)], false), tally(&[(110.0, 6.0)], false));
        let found = step(&below, &above, RESPONSE).expect("a pair");
        assert_eq!((found.value, found.runs), (10.0, 1));
        near(found.half_width(), 18f64.sqrt());
        let apart = difference(&below, &above, RESPONSE).expect("both");
        assert_eq!((apart.value, apart.interval), (10.0, found.interval));
    }

    /// Nine steps of 9, 10 and 11, and one in whose upper run another program used the CPU's
    /// caches: the mean of all is 59 ± 111. Without the smallest and the largest it is 10.125.
    #[test]
    fn a_round_far_off_moves_no_step() {
        let upper = [9.0, 10.0, 11.0, 9.0, 10.0, 11.0, 9.0, 10.0, 11.0, 500.0];
        let below = tally(&[(100.0, 1.0); 10], false);
        let above = tally(&upper.map(|more| (100.0 + more, 1.0)), false);
        let found = step(&below, &above, RESPONSE).expect("ten pairs");
        near(Some(found.value), 10.125);
        assert!(
            found.half_width().is_some_and(|half| half < 1.0),
            "{found:?}"
        );
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
        let more = difference_of_steps(base, new, RESPONSE).expect("both");
        near(Some(more.value), 10.125);
    }

    #[test]
    fn what_is_less_than_nothing_is_not_known() {
        let value = |costs: &[f64]| {
            let runs: Vec<(f64, f64)> = costs.iter().map(|cost| (100.0, *cost)).collect();
            tally(&runs, false).mean(SERVER_CPU)
        };
        assert_eq!(value(&[-2915.0]), None);
        // Three of them, alike: not chance.
        assert_eq!(value(&[-30.0, -31.0, -32.0]), None);
        // Around 0 chance explains the sign: -1 ± 3, as estimated by the run.
        let known = value(&[-1.0]).expect("it can be 0");
        assert_eq!((known.value, known.half_width()), (-1.0, Some(3.0)));
    }

    #[test]
    fn what_has_the_cost_of_two_operations_is_no_step() {
        let (below, above) = (tally(&[(100.0, 1.0)], false), tally(&[(110.0, 6.0)], true));
        assert!(step(&below, &above, RESPONSE).is_some());
        assert_eq!(step(&below, &above, SERVER_CPU), None);
        let cost = above.mean(SERVER_CPU).expect("one run");
        assert!(cost.has_unmeasured);
        assert!(!above.mean(RESPONSE).is_some_and(|it| it.has_unmeasured));
        assert_eq!(above.means().len(), 2);
    }
}
