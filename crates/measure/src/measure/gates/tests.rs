use super::*;
use crate::measure::caveat::Caveat;
use crate::measure::verdict::caveats::tests::sound_mix;
use filestone_plan::gate::{Arithmetic, Relation};

fn within(low: f64, high: f64) -> ValueWithInterval {
    ValueWithInterval {
        value: f64::midpoint(low, high),
        low,
        high,
        unknown: None,
    }
}

#[test]
fn an_interval_fails_passes_or_cannot_tell() {
    use GateOutcome::{Fails, Inconclusive, Passes};
    let limit = ValueWithInterval::exactly(2.0);
    // The interval is below the limit, ends at it, contains it, begins at it, is above it.
    let intervals = [
        within(1.0, 1.9),
        within(1.0, 2.0),
        within(1.0, 3.0),
        within(2.0, 3.0),
        within(2.1, 3.0),
    ];
    for (relation, outcomes) in [
        (
            Relation::Above,
            [Passes, Passes, Inconclusive, Inconclusive, Fails],
        ),
        (
            Relation::AtLeast,
            [Passes, Inconclusive, Inconclusive, Fails, Fails],
        ),
        (
            Relation::Below,
            [Fails, Inconclusive, Inconclusive, Passes, Passes],
        ),
        (
            Relation::AtMost,
            [Fails, Fails, Inconclusive, Inconclusive, Passes],
        ),
        (
            Relation::Equal,
            [Passes, Inconclusive, Inconclusive, Inconclusive, Passes],
        ),
        (
            Relation::Unequal,
            [Fails, Inconclusive, Inconclusive, Inconclusive, Fails],
        ),
    ] {
        let found = intervals.clone().map(|one| one.compared(relation, &limit));
        assert_eq!(found, outcomes, "{relation:?}");
    }
}

#[test]
fn a_value_without_an_interval_is_judged_as_it_is() {
    use GateOutcome::{Fails, Passes};
    let [less, equal, more] = [1.0, 2.0, 3.0].map(ValueWithInterval::exactly);
    for (relation, outcomes) in [
        (Relation::Above, [Passes, Passes, Fails]),
        (Relation::AtLeast, [Passes, Fails, Fails]),
        (Relation::Below, [Fails, Passes, Passes]),
        (Relation::AtMost, [Fails, Fails, Passes]),
        (Relation::Equal, [Passes, Fails, Passes]),
        (Relation::Unequal, [Fails, Passes, Fails]),
    ] {
        let values = [&less, &equal, &more];
        let found = values.map(|value| value.compared(relation, &equal));
        assert_eq!(found, outcomes, "{relation:?}");
    }
}

#[test]
fn calculations_take_the_worst_ends() {
    let (a, b) = (within(1.0, 3.0), within(4.0, 8.0));
    let of = |how, a: &ValueWithInterval, b: &ValueWithInterval, scale| {
        let found = a.clone().calculated(how, b.clone(), scale);
        found.map(|found| [found.low, found.value, found.high])
    };
    assert_eq!(of(Arithmetic::Add, &a, &b, 1.0), Ok([5.0, 8.0, 11.0]));
    assert_eq!(
        of(Arithmetic::Subtract, &a, &b, 1.0),
        Ok([-7.0, -4.0, -1.0])
    );
    assert_eq!(of(Arithmetic::Multiply, &a, &b, 2.0), Ok([2.0, 6.0, 12.0]));
    assert_eq!(
        of(Arithmetic::Divide, &b, &a, 1.0),
        Ok([4.0 / 3.0, 3.0, 8.0])
    );
    let everything = Ok([f64::NEG_INFINITY, 6.0, f64::INFINITY]);
    assert_eq!(
        of(Arithmetic::Divide, &b, &within(0.0, 2.0), 1.0),
        everything
    );
    let none = of(
        Arithmetic::Divide,
        &b,
        &ValueWithInterval::exactly(0.0),
        1.0,
    );
    assert_eq!(none, Err("it divides by 0".into()));
}

/// Returns the result of a gate in the sample record of a mix, after a change.
fn outcome(gate: &str, change: impl FnOnce(&mut RunRecord)) -> GateRecord {
    let mut record = sound_mix();
    change(&mut record);
    record.plan.gates.fail_if = vec![gate.parse().expect(gate)];
    evaluate(&record).remove(0)
}

#[test]
fn counts_are_what_they_are() {
    let judged = outcome("errors", |record| record.totals.ledger.failed = 0);
    assert_eq!(judged.outcome, GateOutcome::Passes);
    let judged = outcome("errors > 2", |record| {
        record.totals.kinds[0].ledger.failed = 3;
    });
    assert_eq!(judged.outcome, GateOutcome::Fails);
    let value = judged.value.expect("a count");
    assert_eq!((value.value, value.low, value.high), (3.0, None, None));
    assert_eq!((judged.unit, judged.reason), (None, None));
    let judged = outcome("caveats", |record| record.caveats = vec![]);
    assert_eq!(judged.outcome, GateOutcome::Passes);
    let judged = outcome("caveats", |record| {
        record.caveats = vec![Caveat::DebugBuild]
    });
    assert_eq!(judged.outcome, GateOutcome::Fails);
}

#[test]
fn a_figure_that_the_run_has_not_cannot_tell() {
    let judged = outcome("write.response_time.p99 > 1ms", |record| {
        record.totals.kinds.clear();
    });
    assert_eq!(judged.outcome, GateOutcome::Inconclusive);
    let reason = "write.response_time.p99: there was nothing to measure it by";
    assert_eq!(judged.reason.as_deref(), Some(reason));
    assert!(judged.outcome.is_failure(true) && !judged.outcome.is_failure(false));
}

#[test]
fn units_come_out_as_records_have_them() {
    // 1000 operations in 2 ms are 500,000 per second; their product with a time is a number.
    let judged = outcome("scheduled / offered > 1ms", |record| {
        record.totals.ledger.scheduled = 1000;
        record.totals.offered_load_ops_per_s = Some(500_000.0);
    });
    assert_eq!(judged.unit.as_deref(), Some("ns"));
    let value = judged.value.expect("both are there").value;
    assert!((value - 2e6).abs() < 1e-3, "{value}");
    assert_eq!(judged.outcome, GateOutcome::Fails);
    let judged = outcome("offered * 2ms == 1000", |record| {
        record.totals.offered_load_ops_per_s = Some(500_000.0);
    });
    assert_eq!(judged.outcome, GateOutcome::Fails);
}

#[test]
fn a_record_of_before_says_holds_of_a_gate_that_passes() {
    let old = r#"{"gate": "errors", "outcome": "holds"}"#;
    let gate: GateRecord = serde_json::from_str(old).expect("a gate of before");
    assert_eq!(gate.outcome, GateOutcome::Passes);
    let new = serde_json::to_value(&gate).expect("an object");
    assert_eq!(new["outcome"], "passes");
}
