//! Bottleneck of a search for the highest load that meets an objective.

use crate::explanation::Limit;
use crate::explanation::evidence::{Evidence, rate};
use crate::measure::caveat::thresholds::KEPT_UP;
use crate::measure::curve_record::{ObjectiveRecord, SearchStepRecord, SearchStopReason};
use crate::measure::verdict::{LoadVerdict, Verdict};
use filestone_workload::text::time_text;

pub(super) fn objective(evidence: &Evidence<'_>, _: f64) -> Option<Limit> {
    let found = evidence.record.objective.as_ref()?;
    match found.end {
        SearchStopReason::AlwaysMet => Some(of_generator(found)),
        SearchStopReason::Interrupted => None,
        SearchStopReason::Precise | SearchStopReason::TimedOut | SearchStopReason::NeverMet => {
            of_server(found)
        }
    }
}

fn of_generator(found: &ObjectiveRecord) -> Limit {
    let tried = found
        .steps
        .iter()
        .map(|tried| tried.achieved_load_ops_per_s);
    let highest = tried.fold(0.0, f64::max);
    let told = Limit::new(
        format!(
            "the load generator: {} holds at all that it can offer, {}/s achieved",
            found.objective,
            rate(highest)
        ),
        "more workers (--workers), a second host, or an objective that is harder to keep",
    );
    told.with("achieved_ops_per_s", highest)
}

/// The lowest load that clearly failed the objective shows the reason. Loads below the result are
/// excluded, since they failed by chance.
fn of_server(found: &ObjectiveRecord) -> Option<Limit> {
    let least = found.lower_ops_per_s.unwrap_or(0.0);
    let is_broken = |tried: &&SearchStepRecord| {
        let at = LoadVerdict::of(&found.objective, tried);
        let is_broken = matches!(
            at,
            LoadVerdict::NotKeptUp | LoadVerdict::Judged(Verdict::Fails)
        );
        is_broken && tried.offered_load_ops_per_s >= least
    };
    let offered = |tried: &SearchStepRecord| tried.offered_load_ops_per_s;
    let broken = found.steps.iter().filter(is_broken);
    let broken = broken.min_by(|one, other| offered(one).total_cmp(&offered(other)))?;
    let told = if LoadVerdict::of(&found.objective, broken) == LoadVerdict::NotKeptUp {
        Limit::new(
            format!(
                "the server's capacity: of {}/s that were offered {}/s were achieved, and {:.0} % are \
                 asked for, whatever {} is",
                rate(offered(broken)),
                rate(broken.achieved_load_ops_per_s),
                100.0 * KEPT_UP,
                found.objective.figure
            ),
            "mix --curve shows response times up to there",
        )
    } else {
        Limit::new(
            format!(
                "response times, not the rate: at {}/s offered {}/s were achieved, but {} was {}, and \
                 {} is asked for",
                rate(offered(broken)),
                rate(broken.achieved_load_ops_per_s),
                found.objective.figure,
                time_text(broken.figure_ns as f64),
                found.objective
            ),
            "mix --curve shows how response times rise with the load, and mix --offered at this load \
             which operations are the slow ones",
        )
    };
    Some(
        told.with("offered_ops_per_s", offered(broken))
            .with("achieved_ops_per_s", broken.achieved_load_ops_per_s)
            .with("figure_ns", broken.figure_ns as f64),
    )
}
