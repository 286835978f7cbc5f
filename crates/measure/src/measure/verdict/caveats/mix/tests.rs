use super::*;
use crate::measure::mix_figures::figures;
use crate::measure::mix_figures::tests::{plan, tick, times, totals};
use crate::measure::mix_record::{FileSetRecord, WireOperationRecord, WireRecord};
use crate::measure::run_record::{FailureCount, TickRecord, Tool, Totals};
use crate::measure::unexpected::OutcomeCount;
use crate::measure::verdict::caveats::find;
use crate::measure::{Validity, validity};
use filestone_plan::plan::{SmbTarget, TargetPlan};
use filestone_workload::failure::ReplyFault;
use filestone_workload::operation::OpKind;

const SECOND: u64 = 1_000_000_000;

/// Returns a run of 30 s with these totals and ticks.
pub(crate) fn record(totals: Totals, ticks: Vec<TickRecord>) -> RunRecord {
    let plan = plan();
    let window_ns = 30 * SECOND;
    let mix = figures(&plan, &totals, &ticks, window_ns, FileSetRecord::default());
    RunRecord {
        window_ns,
        mix: Some(mix),
        totals,
        ticks,
        ..RunRecord::new(plan, Tool::release("0"))
    }
}

fn found(record: &RunRecord) -> Vec<Caveat> {
    find(record)
}

/// 3,000,000 operations in the right proportions, with enough of each for a p99.
pub(in crate::measure::verdict::caveats) fn sound() -> Totals {
    let mut totals = totals(870_000, 2_100_000, 30_000, 0);
    totals.in_flight_mean = 100.0;
    totals
}

#[test]
fn a_sound_run_gives_no_reason_to_doubt_it() {
    let ticks = (0..300)
        .map(|place| tick(place, 10_000, 2_000_000))
        .collect();
    let record = record(sound(), ticks);
    assert_eq!(found(&record), []);
}

#[test]
fn an_operation_may_be_off_by_2_percent_of_its_share_and_no_more() {
    let of_create = |create| {
        let mut totals = totals(870_000, 2_130_000 - create, create, 0);
        totals.in_flight_mean = 100.0;
        found(&record(totals, vec![]))
    };
    assert_eq!(of_create(29_500), []);
    assert_eq!(of_create(30_500), []);
    for create in [29_300, 30_700] {
        let caveats = of_create(create);
        let [
            Caveat::MixOff {
                operation,
                operations,
                of,
                ..
            },
        ] = caveats.as_slice()
        else {
            panic!("{create}: {caveats:?}");
        };
        assert_eq!((*operation, *operations, *of), (OpKind::Create, 1, 3));
    }
}

#[test]
fn in_a_short_run_the_grain_of_the_decks_is_allowed_for() {
    let off = |create| {
        let caveats = found(&record(totals(290, 710 - create, create, 0), vec![]));
        let mut shares = caveats.iter();
        shares.any(|caveat| matches!(caveat, Caveat::MixOff { .. }))
    };
    // Ten of a thousand, from two clients: σ² = 2 · 2 · (20 · 0.01 · 0.99 / 6 + 1/3) = 1.47.
    assert!(!off(10) && !off(7) && !off(13));
    assert!(off(6) && off(14));
}

#[test]
fn nhfsstones_rule_is_10_percent_over_all_operations() {
    let off_by = |shift: u64| {
        let all = totals(870_000 + shift, 2_100_000 - shift, 30_000, 0);
        let mut caveats = found(&record(all, vec![])).into_iter();
        caveats.find_map(|caveat| match caveat {
            Caveat::MixInvalid {
                deviation_percent: off_by_percent,
            } => Some(off_by_percent.round()),
            _ => None,
        })
    };
    assert_eq!(off_by(149_000), None);
    assert_eq!(off_by(180_000), Some(12.0));
}

/// A server that grants one credit: of 200 operations in flight on average, 100 wait for a credit
/// in the connection.
#[test]
fn what_waits_for_credits_is_in_flight() {
    let breaks = |target: TargetPlan, held_mean| {
        let mut totals = sound();
        totals.in_flight_mean = 200.0;
        totals.slot_wait_ns.sum = 100 * 30 * SECOND;
        totals.held_mean = held_mean;
        let mut record = record(totals, vec![]);
        record.plan.target = target;
        let caveats = found(&record);
        let mut caveats = caveats.iter();
        caveats.any(|caveat| matches!(caveat, Caveat::LittlesLaw { .. }))
    };
    let smb = || TargetPlan::Smb(SmbTarget::new("fs", "bench"));
    assert!(!breaks(smb(), Some(100.0)));
    // Operations that waited for a slot were not in flight.
    assert!(breaks(smb(), Some(0.0)));
    assert!(breaks(plan().target, None));
    // Older records do not state the reason of the wait.
    assert!(!breaks(smb(), None));
}

/// Three kinds with shares of 29, 70 and 1 %, two clients: the standard deviations of their counts
/// due to shuffling are 2.02, 2.03 and 1.21 operations, 5.3 together.
#[test]
fn so_few_operations_that_decks_explain_it_are_no_other_mix() {
    let is_invalid = |reads: u64, lookups: u64| {
        let caveats = found(&record(totals(reads, lookups, 0, 0), vec![]));
        let mut caveats = caveats.iter();
        caveats.any(|caveat| matches!(caveat, Caveat::MixInvalid { .. }))
    };
    // 9 of 20 instead of 5.8, so 32 % off in all, and shuffling explains 26 %.
    assert!(!is_invalid(9, 11));
    // 12 of 20: 62 %.
    assert!(is_invalid(12, 8));
    // 45 of 100: 32 %, and 5 %.
    assert!(is_invalid(45, 55));
}

#[test]
fn what_was_seen_on_the_wire_is_judged_where_it_was_seen() {
    let mut record = record(sound(), vec![]);
    let row = |operation, seen, want_percent| WireOperationRecord {
        operation,
        asked: 1000,
        seen,
        time_ns: None,
        expected_percent: want_percent,
        actual_percent: seen as f64 / 10_000.0,
    };
    let wire = WireRecord {
        operations: vec![
            row(OpKind::GetAttr, 700_000, 50.0),
            row(OpKind::Read, 300_000, 50.0),
        ],
        calls: 1_000_000,
        ..WireRecord::default()
    };
    record.totals.offered_load_ops_per_s = Some(wire.calls as f64 / 30.0);
    record.mix.as_mut().expect("a mix").wire = Some(wire);
    let caveats = found(&record);
    assert!(matches!(
        caveats.as_slice(),
        [
            Caveat::MixInvalid { .. },
            Caveat::MixOff { operations: 2, .. }
        ]
    ));
}

#[test]
fn in_flight_is_held_against_littles_law() {
    let is_off = |counted: f64, dispatch_delay_ns: u64| {
        // 3,000,000 operations of 1 ms in 30 s: 100 are in flight.
        let mut totals = sound();
        totals.in_flight_mean = counted;
        totals.dispatch_delay_ns = times(3_000_000, dispatch_delay_ns);
        let caveats = found(&record(totals, vec![]));
        caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::LittlesLaw { .. }))
    };
    assert!(!is_off(96.0, 0) && !is_off(104.0, 0));
    assert!(is_off(94.0, 0) && is_off(106.0, 0));
    // Delay of the load generator may be included in the count, but need not be.
    assert!(!is_off(96.0, 100_000) && !is_off(115.0, 100_000));
    assert!(is_off(116.0, 100_000));
    assert!(!is_off(0.0, 0), "nobody counted");
}

/// 40 operations/s of 1 ms for 30 s, and a server that pauses for 10 s at the end of the window: 4
/// operations end after it, which adds 40 s to the sum of 1.2 s.
#[test]
fn a_pause_at_the_end_of_the_window_does_not_break_littles_law() {
    let is_off = |ended_in_window: f64| {
        let mut totals = sound();
        totals.ledger.scheduled = 1200;
        totals.ledger.ok = 1200;
        totals.achieved_load_ops_per_s = ended_in_window / 30.0;
        totals.in_flight_mean = 0.04;
        totals.service_time_ns.count = 1200;
        totals.service_time_ns.sum = 41_196_000_000;
        totals.service_time_ns.mean = 34_330_000.0;
        totals.service_time_ns.max = 10_000_000_000;
        totals.kinds.truncate(1);
        totals.kinds[0].service_time_ns = times(1200, 34_330_000);
        let caveats = found(&record(totals, vec![]));
        let mut caveats = caveats.iter();
        caveats.any(|caveat| matches!(caveat, Caveat::LittlesLaw { .. }))
    };
    assert!(!is_off(1196.0));
    assert!(is_off(1200.0), "all ended in the window");
}

#[test]
fn overload_does_not_break_littles_law() {
    let mut totals = sound();
    totals.in_flight_mean = 1000.0;
    // Operations due before the window wait a second for a slot, and are in no row.
    totals.response_time_ns = times(3_000_000, 1_000_000_000);
    let caveats = found(&record(totals, vec![]));
    let is_law = |caveat: &Caveat| matches!(caveat, Caveat::LittlesLaw { .. });
    assert!(!caveats.iter().any(is_law));
}

#[test]
fn a_drift_is_10_percent_and_more_than_chance() {
    let drifts = |last: u64, noise: u64| {
        let response = |place: u64| match place {
            0..200 => 1_000_000 + noise * (place * 7 % 3),
            _ => last + noise * (place * 7 % 3),
        };
        let ticks = (0..300).map(|place| tick(place, 100, response(place)));
        let caveats = found(&record(sound(), ticks.collect()));
        caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::Drift { .. }))
    };
    assert!(!drifts(1_090_000, 0));
    assert!(drifts(1_110_000, 0) && drifts(890_000, 0));
    assert!(drifts(1_300_000, 100_000));
    assert!(!drifts(1_300_000, 3_000_000), "chance explains that");
}

#[test]
fn a_very_short_run_is_not_asked_to_be_steady() {
    let five = (0..5).map(|place| tick(60 * place, 100, 1_000_000 * (place + 1)));
    assert_eq!(found(&record(sound(), five.collect())), []);
}

#[test]
fn one_caveat_is_of_all_operations_and_none_of_rare_ones() {
    // 300 CREATEs have 3 above their p99: the table marks it. All 30,000 operations have 300.
    assert_eq!(found(&record(totals(8_700, 21_000, 300, 0), vec![])), []);
    let mut fewer = totals(290, 700, 10, 0);
    fewer.in_flight_mean = 1.0 / 30.0;
    let few = found(&record(fewer, vec![]));
    let expected = Caveat::TooFewSamples {
        quantile: 0.99,
        above: 10,
        count: 1000,
        from_ns: 2_000_000,
        // With so few above it, the end of its interval is unknown.
        to_ns: 0,
    };
    assert_eq!(few, [expected]);
}

/// Makes the first `count` operations fail with NFS3ERR_STALE.
fn failing(mut totals: Totals, count: u64) -> Totals {
    let row = &mut totals.kinds[0];
    (row.ledger.ok, row.ledger.failed) = (row.ledger.ok - count, count);
    let failure = "NFS3ERR_STALE (70)".into();
    row.failures.push(FailureCount { failure, count });
    let ledger = &mut totals.ledger;
    (ledger.ok, ledger.failed) = (ledger.ok - count, count);
    totals
}

#[test]
fn unmeasured_operations_above_2_percent_are_told_and_count_among_those_that_fail() {
    let mut totals = totals(870_000, 2_100_000, 30_000, 70_000);
    totals.in_flight_mean = 102.3;
    let count = 31_000;
    let failed = FailureCount {
        failure: "NFS3ERR_NOENT (2)".into(),
        count,
    };
    let mut operation = OpKind::Null;
    if let Some(row) = totals.kinds.last_mut() {
        (row.ledger.ok, row.ledger.failed) = (row.ledger.ok - count, count);
        row.failures.push(failed);
        operation = row.operation;
    }
    // 31,000 of 3,070,000 are 1.01 %.
    assert_eq!(
        found(&record(totals, vec![])),
        [
            Caveat::UnexpectedOutcomes {
                count,
                completed: 3_070_000,
                outcomes: vec![OutcomeCount {
                    operation,
                    outcome: "NFS3ERR_NOENT (2)".into(),
                    count,
                }],
            },
            Caveat::UnmeasuredLoad {
                calls: 70_000,
                all_calls: 3_070_000
            },
        ]
    );
}

#[test]
fn errors_are_told_with_their_status_and_the_operation_that_had_them() {
    let told = |count: u64| find(&record(failing(sound(), count), vec![]));
    assert_eq!(told(30_000), [], "1 % of 3,000,000");
    let expected = Caveat::UnexpectedOutcomes {
        count: 30_001,
        completed: 3_000_000,
        outcomes: vec![OutcomeCount {
            operation: OpKind::Read,
            outcome: "NFS3ERR_STALE (70)".into(),
            count: 30_001,
        }],
    };
    let caveats = told(30_001);
    assert_eq!(caveats, [expected]);
    let (said, _) = caveats[0].sentence();
    assert_eq!(
        said,
        "30,001 of 3,000,000 operations (1.0 %) ended otherwise than expected: 30,001 \
         NFS3ERR_STALE (70) of read"
    );
}

#[test]
fn failures_that_are_expected_are_no_errors() {
    let mut totals = failing(sound(), 600_000);
    totals.kinds[0].ledger.expected = 600_000;
    totals.ledger.expected = 600_000;
    totals.achieved_load_ops_per_s *= 0.8;
    let mut record = record(totals, vec![]);
    record.plan.expect = vec!["NFS3ERR_STALE".parse().expect("a status")];
    assert_eq!(find(&record), []);
    assert_eq!(record.totals.errors(), 0);
}

#[test]
fn one_failure_is_a_caveat_and_two_of_twenty_are_too_many() {
    let leaves = |count, completed| {
        let caveat = Caveat::UnexpectedOutcomes {
            count,
            completed,
            outcomes: vec![OutcomeCount {
                operation: OpKind::Read,
                outcome: "NFS3ERR_STALE (70)".into(),
                count,
            }],
        };
        caveat.leaves()
    };
    assert_eq!(leaves(1, 2), Validity::WithCaveats);
    assert_eq!(leaves(1, 20), Validity::WithCaveats);
    assert_eq!(leaves(2, 40), Validity::WithCaveats, "5 % and no more");
    assert_eq!(leaves(2, 39), Validity::DoesNotCount);
}

#[test]
fn corrupt_data_are_told_however_few() {
    let mut totals = failing(sound(), 1);
    totals.kinds[0].failures[0].failure = ReplyFault::WrongData.to_string();
    let caveats = find(&record(totals, vec![]));
    assert_eq!(caveats.len(), 1);
    assert_eq!(caveats[0].leaves(), Validity::WithCaveats);
}

#[test]
fn caveats_of_older_methods_are_read() {
    for old in [
        r#"{"caveat":"unsuccessful","count":1,"ended":5,"most_frequent":"x"}"#,
        r#"{"caveat":"unsuccessful","count":1,"scheduled":5,"most_frequent":"x"}"#,
        r#"{"caveat":"companions-unsuccessful","count":1,"ended":5,"most_frequent":"x"}"#,
        r#"{"caveat":"mismatches","count":1,"lines":5}"#,
    ] {
        let read: Caveat = serde_json::from_str(old).expect("an old caveat");
        let is_read = matches!(
            read,
            Caveat::UnexpectedOutcomes {
                count: 1,
                completed: 5,
                ..
            }
        );
        assert!(is_read, "{old}");
    }
}

/// 70,000 of 3,070,000 operations were unmeasured, and 7 % of these failed: by the older rules such
/// a run is valid with caveats.
#[test]
fn a_record_of_an_older_method_keeps_its_verdict() {
    for old in [
        r#"{"caveat":"unsuccessful","count":5000,"scheduled":70000,"most_frequent":"x"}"#,
        r#"{"caveat":"companions-unsuccessful","count":5000,"ended":70000,"most_frequent":"x"}"#,
        r#"{"caveat":"mismatches","count":5000,"lines":70000}"#,
    ] {
        let read: Caveat = serde_json::from_str(old).expect("an old caveat");
        assert_eq!(read.leaves(), Validity::WithCaveats, "{old}");
        let mut record = record(sound(), vec![]);
        record.caveats = vec![read];
        assert_eq!(validity::of(&record), Validity::WithCaveats, "{old}");
    }
}
