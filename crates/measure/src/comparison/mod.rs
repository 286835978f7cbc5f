//! Comparison of two sides, figure by figure.
//!
//! A side is one run or several runs of the same plan. Logarithms are compared, so that a
//! difference is a ratio. With several runs, the standard error of a side is that of independent
//! values. With one run, it combines the run's own error with the assumed spread between runs
//! ([`side`]).

pub mod ab;
pub mod comparability;
pub mod compared_run;
mod json_differences;
pub mod repeats;
pub mod sample;
pub mod side;

pub use comparability::{ComparabilityCheck, Incompatibility};
pub use compared_run::{ComparedRun, RunValue};
pub use json_differences::each_difference;
pub use side::{RUN_SPREAD, Side};

use crate::figure::AveragedFigure;
use crate::measure::figures::{ImprovementDirection, RunFigure};
use filestone_plan::plan::Plan;
use filestone_workload::statistics::{CONFIDENCE, Estimate, holm, sample_size};
use side::Pair;

/// Probability of detecting a difference of the requested size.
pub const POWER: f64 = 0.8;

/// Increase of the error rate, as a share, that makes a side worse whatever its times, since these
/// include the times of failures.
pub const FAILURES_MATTER: f64 = 0.01;

/// Options of a comparison: tolerance, smallest effect, deciding figures.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonOptions {
    /// Largest regression that still counts as not worse, as a share.
    pub tolerance: f64,
    /// Smallest difference that matters, as a share.
    pub detect: f64,
    /// Figures that decide, where both sides have them.
    pub judged: Vec<RunFigure>,
}

impl ComparisonOptions {
    /// Creates options with these deciding figures; duplicates are removed.
    pub fn new(judged: &[RunFigure], tolerance: f64, detect: f64) -> Self {
        let mut once: Vec<RunFigure> = vec![];
        for figure in judged {
            if !once.contains(figure) {
                once.push(*figure);
            }
        }
        Self {
            tolerance,
            detect,
            judged: once,
        }
    }
}

/// Result of a comparison of two sides, figure by figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Rows, one per comparable figure; deciding figures first.
    pub rows: Vec<ComparisonRow>,
    /// Verdict of the deciding figures.
    pub verdict: ComparisonVerdict,
    /// Side with the higher error rate, if the difference matters.
    pub failing: Option<HigherErrorRate>,
}

/// The side with the higher error rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HigherErrorRate {
    /// The base, so that a worse result of the new side is not conclusive.
    Base,
    /// The new side.
    New,
}

/// A figure of both sides, with its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonRow {
    /// The figure.
    pub figure: RunFigure,
    /// Value of the base.
    pub base: AveragedFigure,
    /// Value of the new side.
    pub new: AveragedFigure,
    /// Relative change from base to new, with its confidence interval.
    pub change: RelativeChange,
    /// Probability of a change at least this large, in either direction, by chance alone, adjusted
    /// for all deciding rows or for all other rows.
    pub p_value: f64,
    /// Verdict of this figure.
    pub verdict: ComparisonVerdict,
    /// Runs that each side needs to detect a change of the size that matters; `None` if the verdict
    /// is conclusive.
    pub runs_needed: Option<u64>,
    /// Whether the figure is a deciding one.
    pub is_judged: bool,
    /// Number of pairs of neighbouring runs that were excluded because of outliers.
    pub left_out: usize,
}

impl ComparisonRow {
    /// Returns the spread between runs of the base and of the new side.
    pub fn deviations(&self) -> [f64; 2] {
        [self.base, self.new].map(|side| side.deviation.unwrap_or(0.0))
    }
}

/// A change, as shares of the base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeChange {
    /// The change.
    pub share: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
}

impl RelativeChange {
    /// Creates the change of a difference of logarithms, whose interval has this half-width.
    pub(crate) fn of(difference: &Estimate, half_width: f64) -> Self {
        Self {
            share: difference.value.exp_m1(),
            low: (difference.value - half_width).exp_m1(),
            high: (difference.value + half_width).exp_m1(),
        }
    }

    /// Returns the lower and upper bound of the regression, as shares, for a figure with this
    /// direction.
    fn worse(self, direction: ImprovementDirection) -> (f64, f64) {
        match direction {
            ImprovementDirection::LessIsBetter => (self.low, self.high),
            // A rate that halves is as much worse as a time that doubles.
            ImprovementDirection::MoreIsBetter => {
                (1.0 / (1.0 + self.high) - 1.0, 1.0 / (1.0 + self.low) - 1.0)
            }
        }
    }
}

/// Verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// Worse by more than the tolerance.
    Worse,
    /// Better.
    Better,
    /// Worse by no more than matters, if at all.
    NotWorse,
    /// Inconclusive.
    Inconclusive,
}

/// Compares two sides. Deciding figures are only adjusted for each other, so that further figures
/// do not reduce the power of the decision.
pub fn compare(base: &Side, new: &Side, question: &ComparisonOptions) -> Comparison {
    let pairs = base.figures();
    let pairs = pairs.filter_map(|figure| Pair::of(base, new, figure));
    let (judged, others): (Vec<Pair>, Vec<Pair>) =
        pairs.partition(|pair| question.judged.contains(&pair.figure));
    let mut rows = rows(question, &judged);
    rows.extend(self::rows(question, &others));
    Comparison {
        verdict: of_judged(question, &rows),
        rows,
        failing: None,
    }
}

impl Comparison {
    /// Returns the comparison with the error rates of both sides taken into account.
    #[must_use]
    pub fn with_failures(mut self, base: f64, new: f64) -> Self {
        self.failing = if new - base > FAILURES_MATTER {
            Some(HigherErrorRate::New)
        } else if base - new > FAILURES_MATTER {
            Some(HigherErrorRate::Base)
        } else {
            None
        };
        self.verdict = match (self.failing, self.verdict) {
            (Some(HigherErrorRate::New), _) => ComparisonVerdict::Worse,
            // The new side may only appear worse because the base fails quickly.
            (Some(HigherErrorRate::Base), ComparisonVerdict::Worse) => {
                ComparisonVerdict::Inconclusive
            }
            (_, verdict) => verdict,
        };
        self
    }

    /// Returns the figure with the smallest spread between runs, among those that suit this plan,
    /// if both sides have several runs.
    pub fn repeats_best(&self, plan: &Plan) -> Option<&ComparisonRow> {
        let several = self.rows.iter();
        let several = several.filter(|row| row.base.runs.min(row.new.runs) > 1);
        let several = several.filter(|row| repeats::is_candidate(&row.figure, plan));
        let deviation = |row: &ComparisonRow| {
            let [base, new] = row.deviations();
            base.hypot(new)
        };
        several.min_by(|one, other| deviation(one).total_cmp(&deviation(other)))
    }
}

/// Returns the rows of figures that are adjusted for each other.
fn rows(question: &ComparisonOptions, pairs: &[Pair]) -> Vec<ComparisonRow> {
    let p_values = pairs.iter().map(|pair| pair.difference.p_value());
    let p_values: Vec<f64> = p_values.collect();
    let misses = holm::misses(&p_values, 1.0 - CONFIDENCE);
    let adjusted = holm::adjusted(&p_values);
    let chances = misses.into_iter().zip(adjusted);
    let chances = chances.map(|(miss, p_value)| Chance { miss, p_value });
    let rows = pairs.iter().zip(chances);
    rows.map(|(pair, chance)| row(question, pair, chance))
        .collect()
}

/// Error probabilities of a difference, adjusted for the figures tested with it.
struct Chance {
    /// Probability that its interval misses the true value.
    miss: f64,
    p_value: f64,
}

fn row(question: &ComparisonOptions, pair: &Pair, chance: Chance) -> ComparisonRow {
    let difference = pair.difference;
    let half = difference.half_width_at(chance.miss);
    let change = RelativeChange::of(&difference, half);
    let (least, most) = change.worse(pair.figure.quantity.direction());
    let matters = question.tolerance.max(question.detect);
    let verdict = if least > question.tolerance {
        ComparisonVerdict::Worse
    } else if most < 0.0 {
        ComparisonVerdict::Better
    } else if most <= matters {
        ComparisonVerdict::NotWorse
    } else {
        ComparisonVerdict::Inconclusive
    };
    let runs_needed = || {
        let alarm = 1.0 - CONFIDENCE;
        sample_size::pairs(pair.deviation, matters.ln_1p(), alarm, POWER)
    };
    ComparisonRow {
        figure: pair.figure,
        base: pair.base,
        new: pair.new,
        change,
        p_value: chance.p_value,
        verdict,
        runs_needed: (verdict == ComparisonVerdict::Inconclusive).then(runs_needed),
        is_judged: question.judged.contains(&pair.figure),
        left_out: pair.left_out,
    }
}

/// Returns the verdict of the deciding rows: worse if any is worse, inconclusive if any is
/// inconclusive or missing.
fn of_judged(question: &ComparisonOptions, rows: &[ComparisonRow]) -> ComparisonVerdict {
    let judged = || rows.iter().filter(|row| row.is_judged);
    let any = |verdict: ComparisonVerdict| judged().any(|row| row.verdict == verdict);
    if any(ComparisonVerdict::Worse) {
        ComparisonVerdict::Worse
    } else if judged().count() < question.judged.len().max(1)
        || any(ComparisonVerdict::Inconclusive)
    {
        ComparisonVerdict::Inconclusive
    } else if any(ComparisonVerdict::Better) {
        ComparisonVerdict::Better
    } else {
        ComparisonVerdict::NotWorse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::figures::IntervalUnavailable;
    use filestone_workload::random::{RandomStream, stream};
    use rand_distr::{Distribution as _, StandardNormal};

    fn figure(name: &str, value: f64, standard_error: f64) -> RunValue {
        RunValue {
            figure: name.parse().expect("a figure"),
            value,
            own: Ok(Estimate {
                value,
                standard_error,
                freedom: 19.0,
            }),
        }
    }

    fn side(values: &[f64]) -> Side {
        let runs = values
            .iter()
            .map(|value| vec![figure("response_time.p50", *value, value / 100.0)]);
        Side::of(runs)
    }

    fn question() -> ComparisonOptions {
        ComparisonOptions {
            tolerance: 0.0,
            detect: 0.02,
            judged: vec!["response_time.p50".parse().expect("a figure")],
        }
    }

    fn verdict(base: &[f64], new: &[f64]) -> ComparisonVerdict {
        compare(&side(base), &side(new), &question()).verdict
    }

    #[test]
    fn a_hand_worked_example() {
        // Logarithms 0, 0.1 and 0.2 against 0.3, 0.4 and 0.5: a difference of 0.3, standard error
        // √(2·0.01/3) = 0.0816, 4 degrees of freedom, t = 3.674; p = 0.0213 (scipy.stats.t.sf).
        let values = |from: f64| [from, from + 0.1, from + 0.2].map(f64::exp);
        let found = compare(&side(&values(0.0)), &side(&values(0.3)), &question());
        let row = &found.rows[0];
        assert!((row.change.share - 0.3_f64.exp_m1()).abs() < 1e-12);
        assert!((row.p_value - 0.0213).abs() < 1e-4, "{}", row.p_value);
        // 0.3 ± 2.7764·0.0816
        assert!(
            (row.change.low - 0.0733_f64.exp_m1()).abs() < 1e-3,
            "{row:?}"
        );
        assert_eq!(found.verdict, ComparisonVerdict::Worse);
    }

    #[test]
    fn each_verdict_once() {
        let base = [100.0, 100.1, 99.9, 100.0];
        assert_eq!(
            verdict(&base, &[103.0, 103.1, 102.9, 103.0]),
            ComparisonVerdict::Worse
        );
        assert_eq!(
            verdict(&base, &[97.0, 97.1, 96.9, 97.0]),
            ComparisonVerdict::Better
        );
        assert_eq!(verdict(&base, &base), ComparisonVerdict::NotWorse);
        assert_eq!(
            verdict(&base, &[90.0, 112.0, 95.0, 106.0]),
            ComparisonVerdict::Inconclusive
        );
        let none = Side::of(std::iter::empty());
        assert_eq!(
            compare(&side(&base), &none, &question()).verdict,
            ComparisonVerdict::Inconclusive
        );
    }

    #[test]
    fn a_rate_is_worse_when_it_falls() {
        let of = |value: f64| Side::of(vec![vec![figure("achieved", value, 0.0)]; 4]);
        let judged = vec!["achieved".parse().expect("a figure")];
        let question = ComparisonOptions {
            judged,
            ..question()
        };
        assert_eq!(
            compare(&of(100.0), &of(90.0), &question).verdict,
            ComparisonVerdict::Worse
        );
        assert_eq!(
            compare(&of(90.0), &of(100.0), &question).verdict,
            ComparisonVerdict::Better
        );
    }

    #[test]
    fn one_run_each_tells_only_what_runs_do_not_differ_by() {
        assert_eq!(verdict(&[100.0], &[103.0]), ComparisonVerdict::Inconclusive);
        assert_eq!(verdict(&[100.0], &[100.0]), ComparisonVerdict::Inconclusive);
        assert_eq!(verdict(&[100.0], &[150.0]), ComparisonVerdict::Worse);
    }

    #[test]
    fn runs_that_were_too_short_for_an_error_of_their_own_tell_when_there_are_several() {
        let short = |values: &[f64]| {
            let run = |value: &f64| RunValue {
                own: Err(IntervalUnavailable::NotRecorded),
                ..figure("response_time.p50", *value, 0.0)
            };
            Side::of(values.iter().map(|value| vec![run(value)]))
        };
        let verdict = |base: &[f64], new: &[f64]| {
            let found = compare(&short(base), &short(new), &question());
            (found.rows.len(), found.verdict)
        };
        let base = [100.0, 100.1, 99.9, 100.0];
        assert_eq!(
            verdict(&base, &[103.0, 103.1, 102.9]),
            (1, ComparisonVerdict::Worse)
        );
        assert_eq!(verdict(&base, &[103.0]), (1, ComparisonVerdict::Worse));
        assert_eq!(
            verdict(&[100.0], &[103.0]),
            (0, ComparisonVerdict::Inconclusive)
        );
    }

    #[test]
    fn who_fails_fast_is_not_better() {
        let found = |verdict, base, new| {
            let none = Comparison {
                rows: vec![],
                verdict,
                failing: None,
            };
            none.with_failures(base, new).verdict
        };
        assert_eq!(
            found(ComparisonVerdict::Better, 0.0, 0.011),
            ComparisonVerdict::Worse
        );
        assert_eq!(
            found(ComparisonVerdict::Better, 0.0, 0.009),
            ComparisonVerdict::Better
        );
        assert_eq!(
            found(ComparisonVerdict::Worse, 0.5, 0.0),
            ComparisonVerdict::Inconclusive
        );
        assert_eq!(
            found(ComparisonVerdict::Better, 0.5, 0.0),
            ComparisonVerdict::Better
        );
    }

    #[test]
    fn figures_that_do_not_decide_make_it_no_harder_to_decide() {
        let side = |from: f64| {
            let run = |value: f64| {
                let names = [
                    "response_time.p50",
                    "response_time.p99",
                    "response_time.mean",
                ];
                names.map(|name| figure(name, value, 1.0)).to_vec()
            };
            Side::of([0.0, 0.1, 0.2].map(|add| run((from + add).exp())))
        };
        let found = compare(&side(0.0), &side(0.3), &question());
        let judged = &found.rows[0];
        assert!(judged.is_judged && (judged.p_value - 0.0213).abs() < 1e-4);
        // Holm: 0.0213 times two.
        assert!((found.rows[1].p_value - 0.0426).abs() < 2e-4);
        assert_eq!(found.verdict, ComparisonVerdict::Worse);
        let plan = filestone_plan::examples::example();
        let best = found.repeats_best(&plan).expect("several runs");
        assert_eq!(best.figure, judged.figure);
    }

    #[test]
    fn what_an_open_loop_achieves_does_not_repeat_best() {
        let side = |spread: f64| {
            let run = |sign: f64| {
                vec![
                    figure("achieved", 1000.0, 1.0),
                    figure("goodput", 4096.0, 1.0),
                    figure("response_time.p50", (sign * spread).exp(), 1.0),
                ]
            };
            Side::of([-1.0, 0.0, 1.0].map(run))
        };
        let found = compare(&side(0.02), &side(0.02), &question());
        let mut plan = filestone_plan::examples::example();
        let best = |plan: &Plan| found.repeats_best(plan).map(|row| row.figure.to_string());
        assert_eq!(best(&plan).as_deref(), Some("achieved"));
        plan.arrivals = filestone_plan::plan::ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 10.0,
        };
        assert_eq!(best(&plan).as_deref(), Some("response_time.p50"));
    }

    #[test]
    fn a_figure_that_is_named_twice_decides_once() {
        let p50 = "response_time.p50".parse().expect("a figure");
        let question = ComparisonOptions::new(&[p50, p50], 0.0, 0.02);
        assert_eq!(question, self::question());
        let base = side(&[100.0, 100.1, 99.9, 100.0]);
        assert_eq!(
            compare(&base, &base, &question).verdict,
            ComparisonVerdict::NotWorse
        );
    }

    #[test]
    fn a_figure_that_decides_and_is_missing_leaves_it_open() {
        let mut question = question();
        question.judged.push("achieved".parse().expect("a figure"));
        let base = side(&[100.0, 100.1, 99.9]);
        assert_eq!(
            compare(&base, &base, &question).verdict,
            ComparisonVerdict::Inconclusive
        );
    }

    #[test]
    fn tolerated_is_what_is_not_surely_more() {
        let base = [100.0, 100.1, 99.9, 100.0];
        let tolerant = ComparisonOptions {
            tolerance: 0.05,
            ..question()
        };
        let new = side(&[103.0, 103.1, 102.9, 103.0]);
        assert_eq!(
            compare(&side(&base), &new, &tolerant).verdict,
            ComparisonVerdict::NotWorse
        );
        let new = side(&[110.0, 110.1, 109.9, 110.0]);
        assert_eq!(
            compare(&side(&base), &new, &tolerant).verdict,
            ComparisonVerdict::Worse
        );
    }

    #[test]
    fn alarms_are_false_as_often_as_is_said() {
        let mut random = stream(7, RandomStream::Permutations, 0);
        let mut draw = || {
            let noise: f64 = StandardNormal.sample(&mut random);
            (0.02 * noise).exp()
        };
        let mut alarms = 0;
        for _ in 0..2000 {
            let sides: [Vec<f64>; 2] = std::array::from_fn(|_| (0..5).map(|_| draw()).collect());
            let found = compare(&side(&sides[0]), &side(&sides[1]), &question());
            alarms += u32::from(matches!(
                found.verdict,
                ComparisonVerdict::Worse | ComparisonVerdict::Better
            ));
        }
        // 5 % of 2,000, ± 3 standard deviations.
        assert!((71..=129).contains(&alarms), "{alarms}");
    }
}
