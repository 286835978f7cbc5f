//! What of a mix a target can be asked: the kinds of operation that its protocol has.

use filestone_engine::Protocols;
use filestone_plan::mix::Mix;
use filestone_plan::plan::{Plan, SkippedOperation, TargetPlan};

/// The mix without what the target's protocol has not, which is left out; all of it, if nothing
/// would stay, so that the run says why it cannot be.
pub fn asked_of(target: &TargetPlan, protocols: &Protocols, mut mix: Mix) -> Mix {
    let is_known = |kind| protocols.supports(target, kind).is_ok();
    let asked = mix.counts.iter().filter(|count| count.count > 0);
    if !asked.clone().any(|count| is_known(count.operation)) {
        return mix;
    }
    let missing = asked.filter(|count| !is_known(count.operation));
    let missing: Vec<SkippedOperation> = missing
        .map(|count| SkippedOperation {
            operation: count.operation.name().into(),
            count: count.count,
        })
        .collect();
    mix.counts.retain(|count| is_known(count.operation));
    mix.left_out.extend(missing);
    mix
}

/// What is said before the run of operations that the plan's mix had, and its target has not.
pub fn missing_note(plan: &Plan) -> Option<String> {
    let mix = plan.mix()?;
    let missing = mix.left_out.iter().filter(|left| left.kind().is_some());
    let left: u64 = missing.clone().map(|left| left.count).sum();
    let asked: u64 = mix.counts.iter().map(|count| count.count).sum();
    let sum = left as f64 + asked as f64;
    let shares = missing.map(|left| {
        format!(
            "{} {:.1} %",
            left.operation,
            100.0 * left.count as f64 / sum
        )
    });
    let shares: Vec<String> = shares.collect();
    (!shares.is_empty()).then(|| {
        format!(
            "left out of the mix, because {} has none: {}",
            plan.target.layer(),
            shares.join(", ")
        )
    })
}
