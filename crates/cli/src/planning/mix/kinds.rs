//! Reduction of a mix to the kinds of operation that the target's protocol supports.

use filestone_engine::Protocols;
use filestone_plan::mix::Mix;
use filestone_plan::plan::{Plan, SkippedOperation, TargetPlan};

/// Removes operations that the target's protocol does not support from the mix; returns the whole
/// mix if none would remain, so that the run reports why it is impossible.
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

/// Returns the note printed before the run about operations of the mix that the target does not
/// support.
pub fn missing_note(plan: &Plan) -> Option<String> {
    let mix = plan.mix()?;
    let missing = mix
        .skipped_operations
        .iter()
        .filter(|left| left.kind().is_some());
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
