//! Repeated runs of one plan: their order, their figures, and when there are enough of them.

use super::side::Side;

use crate::figure::AveragedFigure;
use crate::measure::figures::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_plan::plan::{Pacing, Plan};
use filestone_workload::random::{RandomStream, RngExt, stream};
use filestone_workload::statistics::median;

/// Figures for a comparison of runs, if they repeat best.
const CANDIDATES: [Quantity; 3] = [
    Quantity::Time(TimeKind::Response, Statistic::P50),
    Quantity::CpuPerOperation,
    Quantity::Achieved,
];

/// Number of repeated runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatPlan {
    /// Maximum number of runs.
    pub most: u32,
    /// Stop earlier once the 95 % interval of the headline figure is within this share.
    pub until: Option<f64>,
    /// Pause between two runs in nanoseconds.
    pub pause_ns: u64,
}

/// A figure over the runs of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatedFigure {
    /// The figure.
    pub figure: RunFigure,
    /// Median of the runs.
    pub median: f64,
    /// Geometric mean of the runs, and their spread.
    pub over_runs: AveragedFigure,
    /// Half of the 95 % interval that a run estimates for itself, as a share: median of the runs
    /// that have one.
    pub within_run: Option<f64>,
}

impl RepeatedFigure {
    /// Returns half of the width of the interval, as a share.
    pub fn half_width(&self) -> f64 {
        self.over_runs.share().unwrap_or(0.0)
    }

    /// Returns the spread of the logarithms of single runs, one standard deviation.
    pub fn deviation(&self) -> f64 {
        self.over_runs.deviation.unwrap_or(0.0)
    }
}

/// Returns the figures that at least two runs of a side have.
pub fn repeated(side: &Side) -> Vec<RepeatedFigure> {
    let figures = side.figures();
    figures
        .filter_map(|figure| of_figure(side, figure))
        .collect()
}

fn of_figure(side: &Side, figure: &RunFigure) -> Option<RepeatedFigure> {
    let runs = side.known(figure).filter(|runs| runs.len() > 1)?;
    let within = runs.iter().filter_map(|run| run.own.ok());
    let within = within.map(|own| own.half_width().exp_m1());
    let values = runs.iter().map(|run| run.value.exp());
    Some(RepeatedFigure {
        figure: *figure,
        median: median(values)?,
        over_runs: side.figure(figure)?,
        within_run: median(within),
    })
}

/// Returns whether runs of this plan can be compared by a figure. The achieved rate of an open loop
/// equals the offered load and is excluded.
pub(super) fn is_candidate(figure: &RunFigure, plan: &Plan) -> bool {
    let is_given = figure.quantity == Quantity::Achieved && is_open(plan);
    figure.operation.is_none() && CANDIDATES.contains(&figure.quantity) && !is_given
}

/// Returns the figure with the smallest spread between runs, among those that suit this plan.
pub fn repeats_best<'side>(
    figures: &'side [RepeatedFigure],
    plan: &Plan,
) -> Option<&'side RepeatedFigure> {
    let known = figures.iter();
    let candidates = known.filter(|known| is_candidate(&known.figure, plan));
    candidates.min_by(|one, other| {
        let [one, other] = [one, other].map(|known| known.deviation());
        one.total_cmp(&other)
    })
}

/// Returns the headline figure of a plan: the achieved rate of a closed loop, the response time of
/// an open loop.
pub fn headline_of(plan: &Plan) -> RunFigure {
    RunFigure::of_all(if is_open(plan) {
        Quantity::Time(TimeKind::Response, Statistic::P50)
    } else {
        Quantity::Achieved
    })
}

/// Returns whether operations are due regardless of the target's replies (open loop).
fn is_open(plan: &Plan) -> bool {
    let paced = plan.replay().map(|replay| replay.pacing != Pacing::Closed);
    paced.unwrap_or(plan.arrivals.offered_load().is_some())
}

/// Returns the order of a round of interleaved runs.
pub fn order(things: usize, seed: u64, round: u64) -> Vec<usize> {
    let mut random = stream(seed, RandomStream::RunOrder, round);
    let mut order: Vec<usize> = (0..things).collect();
    // Fisher–Yates shuffle.
    for last in (1..things).rev() {
        order.swap(last, random.random_range(0..=last));
    }
    order
}

/// Returns the plan of one of several repeated runs, with its own random seed and its own file set,
/// which is removed afterwards.
pub fn plan_of_run(plan: &Plan, round: u64) -> Plan {
    let mut plan = plan.clone();
    plan.seed = plan.seed.wrapping_add(round);
    if let Some(mix) = plan.mix_mut() {
        mix.file_set.name.push_str("-repeat");
        mix.remove_set = true;
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::RunValue;
    use filestone_workload::statistics::Estimate;
    use rand_distr::{Distribution as _, StandardNormal};

    fn side(name: &str, values: &[f64]) -> Side {
        let figure = name.parse().expect("a figure");
        let own = |value: f64| Estimate {
            value,
            standard_error: value / 100.0,
            freedom: 1e9,
        };
        Side::of(values.iter().map(|value| {
            let value = *value;
            vec![RunValue {
                figure,
                value,
                own: Ok(own(value)),
            }]
        }))
    }

    #[test]
    fn a_hand_worked_example() {
        // Logarithms 0, 0.1, 0.2, 0.3 and 1.4: mean 0.4, standard deviation √1.3 / 2 = 0.57009,
        // error 0.25495, t of 4 degrees 2.776445; half width 0.707856.
        let side = side("achieved", &[1.4, 0.2, 0.0, 0.3, 0.1].map(f64::exp));
        let [found] = repeated(&side)[..] else {
            panic!("one figure");
        };
        assert_eq!(found.median, 0.2_f64.exp());
        let (low, high) = found.over_runs.interval.expect("of five");
        assert!(
            (low - (0.4_f64 - 0.707_856).exp()).abs() < 1e-5,
            "{found:?}"
        );
        assert!((high - (0.4_f64 + 0.707_856).exp()).abs() < 1e-5);
        assert!((found.deviation() - 0.570_09).abs() < 1e-5);
        assert!(
            found
                .within_run
                .is_some_and(|share| (share - 0.019_793).abs() < 1e-5)
        );
        // t·0.57009/√n is ln 1.1 or less from n = 139 on (scipy: 0.095614 and 0.095262).
        assert_eq!(found.over_runs.runs_until(0.1, 1000), 140);
        assert_eq!(found.over_runs.runs_until(0.1, 50), 50);
    }

    #[test]
    fn one_run_has_nothing_to_differ_from() {
        assert!(repeated(&side("achieved", &[1.0])).is_empty());
        let two = repeated(&side("achieved", &[1.0, 1.0]));
        assert_eq!(two[0].half_width(), 0.0);
        assert!(
            !two[0].over_runs.is_known_within(0.01),
            "two are not enough"
        );
        let five = repeated(&side("achieved", &[1.0; 5]));
        assert!(five[0].over_runs.is_known_within(0.01));
    }

    #[test]
    fn what_differs_least_is_named_and_what_was_offered_is_not() {
        let plan = filestone_plan::examples::example();
        let known =
            |name: &str, spread: f64| repeated(&side(name, &[1.0, 1.0 + spread, 1.0 - spread]))[0];
        let mut figures = vec![
            known("response_time.p50", 0.02),
            known("achieved", 0.01),
            known("goodput", 0.0),
        ];
        let name = |figures: &[RepeatedFigure], plan: &Plan| {
            repeats_best(figures, plan).map(|best| best.figure.to_string())
        };
        assert_eq!(name(&figures, &plan).as_deref(), Some("achieved"));
        assert_eq!(headline_of(&plan).to_string(), "achieved");
        let mut open = plan.clone();
        open.arrivals = filestone_plan::plan::ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 10.0,
        };
        assert_eq!(name(&figures, &open).as_deref(), Some("response_time.p50"));
        assert_eq!(headline_of(&open).to_string(), "response_time.p50");
        figures.clear();
        assert_eq!(name(&figures, &plan), None);
    }

    #[test]
    fn every_order_comes_as_often_as_any_other() {
        let mut counts = std::collections::BTreeMap::new();
        for round in 0..6000 {
            let mut sorted = order(3, 7, round);
            *counts.entry(sorted.clone()).or_insert(0) += 1;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        assert_eq!(counts.len(), 6);
        // 1,000 each, ± 4 standard deviations.
        assert!(
            counts.values().all(|count| (885..=1115).contains(count)),
            "{counts:?}"
        );
        assert_eq!(order(3, 7, 0), order(3, 7, 0));
    }

    #[test]
    fn intervals_of_runs_that_went_on_until_they_were_enough_hold_the_truth() {
        let mut random = stream(11, RandomStream::Permutations, 0);
        let mut held = 0;
        let tries = 1000;
        for _ in 0..tries {
            let mut values: Vec<f64> = vec![];
            let found = loop {
                let noise: f64 = StandardNormal.sample(&mut random);
                values.push((0.03 * noise).exp());
                let side = side("achieved", &values);
                match repeated(&side).first() {
                    Some(found) if found.over_runs.is_known_within(0.01) || values.len() == 50 => {
                        break *found;
                    }
                    _ => {}
                }
            };
            let (low, high) = found.over_runs.interval.expect("of several");
            held += u32::from((low..=high).contains(&1.0));
        }
        // Stopping once the interval is narrow enough costs a little: 95 % would be 950 ± 7.
        assert!((915..=965).contains(&held), "{held} of {tries}");
    }
}
