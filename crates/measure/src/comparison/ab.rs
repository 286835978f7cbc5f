//! Paired comparison of two alternatives (A/B), stopped as soon as the result is clear.
//!
//! Runs are made in groups of four, ABBA or BAAB, so that drift affects both alternatives equally.
//! Each group gives two pairs, whose differences are tested. After each group there is an interim
//! analysis. The probability of a false alarm is divided among the analyses ([`AlphaSpending`]) by
//! the share of the planned pairs that are complete, where the plan is estimated from the completed
//! runs. The interval of each analysis uses its share of that probability (Jennison and Turnbull
//! 1989, "Interim analyses: the repeated confidence interval approach", *Journal of the Royal
//! Statistical Society* B 51), so the trial may be stopped at any time, for any reason.
//!
//! A block with hardly any CPU time for the server is an outlier, and would make the spread of all
//! pairs so large that no number of other pairs compensates. With outliers, a tenth of the pairs at
//! each end is excluded ([`filestone_workload::statistics::trimmed`]).

use super::side::Pair;
use super::{
    Chance, Comparison, ComparisonOptions, ComparisonVerdict, RunValue, Side, of_judged, row, rows,
};
use filestone_workload::random::{RandomStream, RngExt, stream};
use filestone_workload::statistics::sequential::AlphaSpending;
use filestone_workload::statistics::{CONFIDENCE, sample_size};

/// Minimum number of pairs for an analysis: with fewer, the spread of the differences is unknown.
pub const PAIRS_MIN: u64 = 8;

/// An alternative of the comparison, A or B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// The base.
    A,
    /// The alternative that is compared with the base.
    B,
}

impl Arm {
    /// Returns the name of the alternative.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

/// Returns the order of a group of four runs: two pairs, one in each order.
pub fn group(seed: u64, number: u64) -> [Arm; 4] {
    let is_turned: bool = stream(seed, RandomStream::RunOrder, number).random();
    if is_turned {
        [Arm::B, Arm::A, Arm::A, Arm::B]
    } else {
        [Arm::A, Arm::B, Arm::B, Arm::A]
    }
}

/// State of a trial: two sides that grow by pairs.
#[derive(Debug)]
pub struct Trial {
    question: ComparisonOptions,
    power: f64,
    pairs_max: u64,
    base: Side,
    new: Side,
    /// False-alarm budget of each judged figure.
    spending: Vec<AlphaSpending>,
    planned: u64,
    found: Comparison,
}

impl Trial {
    /// Creates an empty trial. A difference of the requested size is detected with probability
    /// `power`, if `pairs_max` pairs are enough.
    pub fn new(question: ComparisonOptions, power: f64, pairs_max: u64) -> Self {
        let share = (1.0 - CONFIDENCE) / question.judged.len().max(1) as f64;
        Self {
            power,
            pairs_max: pairs_max.max(PAIRS_MIN),
            base: Side::default(),
            new: Side::default(),
            spending: vec![AlphaSpending::new(share); question.judged.len()],
            planned: PAIRS_MIN,
            found: Comparison {
                rows: vec![],
                verdict: ComparisonVerdict::Inconclusive,
                failing: None,
            },
            question,
        }
    }

    /// Adds a pair: a run of A and the neighbouring run of B.
    pub fn add(&mut self, base: &[RunValue], new: &[RunValue]) {
        self.base.add(base);
        self.new.add(new);
    }

    /// Returns the options of the comparison.
    pub const fn question(&self) -> &ComparisonOptions {
        &self.question
    }

    /// Returns the runs of A.
    pub const fn base(&self) -> &Side {
        &self.base
    }

    /// Returns the runs of B.
    pub const fn new_side(&self) -> &Side {
        &self.new
    }

    /// Returns the number of complete pairs.
    pub fn pairs(&self) -> u64 {
        self.base.runs() as u64
    }

    /// Returns the estimated number of pairs that the trial needs, from the completed runs.
    pub const fn planned(&self) -> u64 {
        self.planned
    }

    /// Returns the result of the last interim analysis.
    pub const fn found(&self) -> &Comparison {
        &self.found
    }

    /// Runs an interim analysis; returns whether the trial is over, because the result is clear or
    /// all planned pairs are complete.
    pub fn look(&mut self) -> bool {
        let pairs = self.pairs();
        if pairs < PAIRS_MIN {
            return false;
        }
        let judged: Vec<Option<Pair>> = {
            let figures = self.question.judged.iter();
            let paired = figures.map(|figure| Pair::side_by_side(&self.base, &self.new, figure));
            paired.collect()
        };
        self.planned = self.plan(&judged);
        let fraction = pairs as f64 / self.planned as f64;
        let mut found = vec![];
        for (pair, spending) in judged.iter().zip(&mut self.spending) {
            let miss = spending.next(fraction);
            let Some(pair) = pair else { continue };
            let chance = Chance {
                miss,
                p_value: pair.difference.p_value(),
            };
            found.push(row(&self.question, pair, chance));
        }
        let verdict = of_judged(&self.question, &found);
        let others = self
            .base
            .figures()
            .filter(|figure| !self.question.judged.contains(figure));
        let others = others.filter_map(|figure| Pair::of(&self.base, &self.new, figure));
        found.extend(rows(&self.question, &others.collect::<Vec<_>>()));
        self.found = Comparison {
            rows: found,
            verdict,
            failing: None,
        };
        verdict != ComparisonVerdict::Inconclusive || pairs >= self.planned
    }

    /// Returns the number of pairs for the figure with the largest spread.
    fn plan(&self, judged: &[Option<Pair>]) -> u64 {
        let matters = self.question.tolerance.max(self.question.detect).ln_1p();
        let alarm = (1.0 - CONFIDENCE) / self.question.judged.len().max(1) as f64;
        let needed = judged
            .iter()
            .flatten()
            .map(|pair| sample_size::pairs(pair.deviation, matters, alarm, self.power));
        let needed = needed.max().unwrap_or(self.pairs_max);
        // An analysis follows every two pairs.
        let needed = needed.clamp(PAIRS_MIN, self.pairs_max).next_multiple_of(2);
        needed.max(self.pairs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::figures::IntervalUnavailable;

    fn value(logarithm: f64) -> Vec<RunValue> {
        vec![RunValue {
            figure: "response_time.p50".parse().expect("a figure"),
            value: logarithm.exp(),
            own: Err(IntervalUnavailable::NotRecorded),
        }]
    }

    fn trial(pairs_max: u64) -> Trial {
        let question = ComparisonOptions {
            tolerance: 0.0,
            detect: 0.02,
            judged: vec!["response_time.p50".parse().expect("a figure")],
        };
        Trial::new(question, 0.8, pairs_max)
    }

    /// Adds groups of runs until the trial is over. B is slower by `slower` (a logarithm), runs
    /// drift, and every second pair is off by `noise`.
    fn tried(mut trial: Trial, slower: f64, noise: f64) -> Trial {
        let mut moment = 0.0;
        for number in 0.. {
            let order = group(3, number);
            for pair in order.chunks(2) {
                let mut run = |arm: Arm| {
                    moment += 1.0;
                    let sign = if trial.pairs() % 4 < 2 { 1.0 } else { -1.0 };
                    let own = if arm == Arm::B {
                        slower + sign * noise
                    } else {
                        0.0
                    };
                    value(own + 0.001 * moment)
                };
                let first = run(pair[0]);
                let second = run(pair[1]);
                match pair[0] {
                    Arm::A => trial.add(&first, &second),
                    Arm::B => trial.add(&second, &first),
                }
            }
            if trial.look() {
                break;
            }
        }
        trial
    }

    #[test]
    fn groups_are_balanced_and_either_way_round() {
        let groups: Vec<[Arm; 4]> = (0..1000).map(|number| group(1, number)).collect();
        for [first, second, third, fourth] in &groups {
            assert!(first == fourth && second == third && first != second);
        }
        let turned = groups.iter().filter(|group| group[0] == Arm::B).count();
        // Half, ± 4 standard deviations.
        assert!((437..=563).contains(&turned), "{turned}");
    }

    #[test]
    fn what_is_clear_ends_the_trial_at_the_first_look() {
        let worse = tried(trial(100), 0.03, 0.0005);
        assert_eq!(
            (worse.found().verdict, worse.pairs()),
            (ComparisonVerdict::Worse, PAIRS_MIN)
        );
        let better = tried(trial(100), -0.03, 0.0005);
        assert_eq!(better.found().verdict, ComparisonVerdict::Better);
        let same = tried(trial(100), 0.0, 0.0005);
        assert_eq!(
            (same.found().verdict, same.pairs()),
            (ComparisonVerdict::NotWorse, PAIRS_MIN)
        );
        // Drift affects both alternatives.
        let change = worse.found().rows[0].change.share;
        assert!((change - 0.03_f64.exp_m1()).abs() < 1e-9, "{change}");
    }

    #[test]
    fn more_noise_takes_more_pairs_and_has_its_bound() {
        // Differences of ± 3 %: (1.96 + 0.84)²·(0.03/0.0198)² = 18, and two for Student's.
        let known = tried(trial(100), 0.008, 0.03);
        assert!((19..=22).contains(&known.planned()), "{}", known.planned());
        assert_eq!(known.pairs(), known.planned());
        assert_eq!(known.found().verdict, ComparisonVerdict::Inconclusive);
        let bounded = tried(trial(12), 0.008, 0.03);
        assert_eq!(bounded.pairs(), 12);
        assert_eq!(bounded.found().verdict, ComparisonVerdict::Inconclusive);
        let needed = bounded.found().rows[0].runs_needed;
        assert!(needed.is_some_and(|needed| needed > 12), "{needed:?}");
    }

    #[test]
    fn one_block_far_off_does_not_make_it_go_on_to_its_bound() {
        let with_starved = |slower: f64| {
            let mut trial = trial(100);
            for pair in 0_i32.. {
                let noise = f64::from(pair % 3 - 1) / 500.0;
                let starved = if pair == 5 { 1.5 } else { 0.0 };
                trial.add(&value(0.0), &value(slower + noise + starved));
                if pair % 2 == 1 && trial.look() {
                    break;
                }
            }
            trial
        };
        for (slower, verdict) in [
            (0.03, ComparisonVerdict::Worse),
            (0.0, ComparisonVerdict::NotWorse),
        ] {
            let found = with_starved(slower);
            assert_eq!(found.found().verdict, verdict, "{slower}");
            assert!(found.pairs() <= 10, "{} pairs", found.pairs());
            let row = &found.found().rows[0];
            assert_eq!(row.left_out, 2);
            assert!((row.change.share - slower).abs() < 0.005, "{row:?}");
            assert!((row.new.value.ln() - slower).abs() < 0.005, "{row:?}");
        }
    }

    #[test]
    fn a_figure_that_no_run_has_leaves_it_open() {
        let mut trial = trial(10);
        for _ in 0..10 {
            trial.add(&[], &[]);
        }
        assert!(trial.look());
        assert_eq!(trial.found().verdict, ComparisonVerdict::Inconclusive);
    }
}
