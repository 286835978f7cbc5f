//! Verdict on an objective at a load that was tried.

use super::{Bound, STANDARD_ERRORS, Verdict};
use crate::measure::caveat::thresholds::KEPT_UP;
use crate::measure::curve_record::SearchStepRecord;
use filestone_plan::plan::{Figure, Objective};

/// Standard deviations of a Poisson count that explain a shortfall.
const DEVIATIONS: f64 = 4.0;

/// Returns whether the achieved load was at least 98 % of the offered one, allowing for the
/// standard deviation of Poisson arrivals: the root of their number.
pub fn has_kept_up(achieved: f64, offered: f64) -> bool {
    achieved >= KEPT_UP * offered - DEVIATIONS * offered.sqrt()
}

/// Verdict on a load that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadVerdict {
    /// The achieved load is too low, however fast the operations were.
    NotKeptUp,
    /// Verdict on the figure of the objective.
    Judged(Verdict),
}

impl LoadVerdict {
    /// Determines the verdict. A quantile is checked by the share of operations above the limit:
    /// with n independent operations and probability q each, its standard deviation is √(q(1 −
    /// q)/n). The variance of a mean is not in the record, so it is compared without an interval.
    pub fn of(objective: &Objective, tried: &SearchStepRecord) -> Self {
        let seconds = tried.end_ns.saturating_sub(tried.start_ns) as f64 / 1e9;
        let offered = tried.offered_load_ops_per_s * seconds;
        if !has_kept_up(tried.achieved_load_ops_per_s * seconds, offered) {
            return Self::NotKeptUp;
        }
        let count = tried.ended.max(1) as f64;
        Self::Judged(match objective.figure {
            Figure::Quantile { quantile } => {
                let allowed = 1.0 - quantile;
                let chance = STANDARD_ERRORS * (allowed * quantile / count).sqrt();
                Bound::at_most(allowed).evaluate(tried.above as f64 / count, chance)
            }
            Figure::Mean if tried.figure_ns < objective.below_ns => Verdict::Passes,
            Figure::Mean => Verdict::Fails,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::verdict::InconclusiveReason;

    #[test]
    fn a_load_holds_fails_or_cannot_be_told() {
        let p99 = Objective {
            figure: Figure::Quantile { quantile: 0.99 },
            below_ns: 2_000_000,
        };
        let at = |above, achieved| {
            let tried = SearchStepRecord {
                offered_load_ops_per_s: 5000.0,
                achieved_load_ops_per_s: achieved,
                ended: 10_000,
                above,
                start_ns: 0,
                end_ns: 2_000_000_000,
                ..SearchStepRecord::default()
            };
            LoadVerdict::of(&p99, &tried)
        };
        // 100 of 10,000 may be above; the interval is 100 ± 19.5.
        assert_eq!(at(80, 5000.0), LoadVerdict::Judged(Verdict::Passes));
        assert_eq!(at(120, 5000.0), LoadVerdict::Judged(Verdict::Fails));
        for above in [81, 100, 119] {
            let untold = at(above, 5000.0);
            let is_untold = matches!(
                untold,
                LoadVerdict::Judged(Verdict::Inconclusive(InconclusiveReason::TooShort { .. }))
            );
            assert!(is_untold, "{above}: {untold:?}");
        }
        // 98 % of 10,000 less four standard deviations are 9,400.
        assert_eq!(at(0, 4701.0), LoadVerdict::Judged(Verdict::Passes));
        assert_eq!(at(0, 4699.0), LoadVerdict::NotKeptUp);
    }
}
