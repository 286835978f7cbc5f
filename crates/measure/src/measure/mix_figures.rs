//! Results of a mix: shares, operations in flight and steadiness, computed from a run's totals and
//! ticks. Pure functions; the checks are in [`verdict`](crate::measure::verdict).

use crate::measure::mix_record::{FileSetRecord, MixOperationRecord, MixRecord, ThirdRecord};
use crate::measure::run_record::{TickRecord, Totals};
use crate::measure::verdict::STANDARD_ERRORS;
use filestone_plan::plan::{MixPlan, Plan};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::sample::Role;
use filestone_workload::statistics::series::half_width;

/// Returns the record of a mix whose measured window was `window_ns` long.
pub fn figures(
    plan: &Plan,
    totals: &Totals,
    ticks: &[TickRecord],
    window_ns: u64,
    file_set: FileSetRecord,
) -> MixRecord {
    let operations = plan
        .mix()
        .map(|mix| operations(mix, totals))
        .unwrap_or_default();
    let off = operations.iter().map(off_by);
    MixRecord {
        file_set,
        deviation_percent: off.sum(),
        operations,
        in_flight_mean: totals.in_flight_mean,
        in_flight_by_littles_law: in_flight(totals, window_ns),
        thirds: thirds(ticks, window_ns),
        asked_calls: None,
        wire: None,
    }
}

fn off_by(row: &MixOperationRecord) -> f64 {
    (row.actual_percent - row.expected_percent).abs()
}

/// Returns the requested and achieved numbers of each kind in the mix. Skipped operations do not
/// count as achieved.
fn operations(mix: &MixPlan, totals: &Totals) -> Vec<MixOperationRecord> {
    let count = |kind: OpKind| -> u64 {
        let rows = totals.kinds.iter();
        rows.filter(|row| row.operation == kind && row.role == Role::Measured)
            .map(|row| row.ledger.ended())
            .sum()
    };
    let wanted = |kind: OpKind| -> u128 {
        let rows = mix.counts.iter();
        rows.filter(|row| row.operation == kind)
            .map(|row| u128::from(row.count))
            .sum()
    };
    let kinds = OpKind::STATELESS.iter().copied();
    let asked: Vec<OpKind> = kinds.filter(|kind| wanted(*kind) > 0).collect();
    let all: u64 = asked.iter().map(|kind| count(*kind)).sum();
    let row = |kind: OpKind| MixOperationRecord {
        operation: kind,
        expected_percent: mix.percent(kind),
        actual_percent: 100.0 * count(kind) as f64 / all.max(1) as f64,
        count: count(kind),
    };
    asked.into_iter().map(row).collect()
}

/// Returns the operations in flight by Little's law (1961): rate of ended operations times mean
/// time in flight.
///
/// An operation is in flight from send to reply, so the time is the service time; unmeasured
/// operations are included. Operations sent before the window opened are not in the totals, while
/// operations that ended after it closed are: at a steady load the two cancel.
fn in_flight(totals: &Totals, window_ns: u64) -> f64 {
    let kinds = totals.kinds.iter();
    let sums =
        kinds.map(|kind| kind.service_time_ns.sum as f64 + kind.failed_service_sum_ns as f64);
    sums.sum::<f64>() / window_ns.max(1) as f64
}

/// Divides the window into three parts. A tick belongs to the part that contains its middle;
/// operations that ended after the window belong to no part.
fn thirds(ticks: &[TickRecord], window_ns: u64) -> Vec<ThirdRecord> {
    let mut parts: [Vec<(u64, f64)>; 3] = Default::default();
    for tick in ticks.iter().filter(|tick| tick.ok_or_ended() > 0) {
        let middle = tick.start_ns.saturating_add(tick.len_ns / 2);
        let part = u128::from(middle) * 3 / u128::from(window_ns.max(1));
        if let Some(part) = parts.get_mut(part as usize) {
            part.push((tick.ok_or_ended(), tick.response_time_sum_ns as f64));
        }
    }
    parts.iter().map(|part| third(part)).collect()
}

fn third(ticks: &[(u64, f64)]) -> ThirdRecord {
    let ended = ticks.iter().map(|(count, _)| count).sum();
    let sum: f64 = ticks.iter().map(|(_, sum)| sum).sum();
    let means: Vec<f64> = ticks
        .iter()
        .map(|(count, sum)| sum / *count as f64)
        .collect();
    ThirdRecord {
        ended,
        response_time_mean_ns: sum / (ended as f64).max(1.0),
        standard_error_ns: half_width(&means).unwrap_or(0.0) / STANDARD_ERRORS,
        batches: ticks.len() as u64,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::measure::run_record::{FailureCount, KindRecord};
    use filestone_plan::plan::{
        ArrivalsPlan, FileSetPlan, FileSizes, MixCount, NfsTarget, Popularity, TICK_NANOS,
        TargetPlan, WorkloadPlan,
    };
    use filestone_workload::recording::{Distribution, DistributionRecord, Ledger};

    const SECOND: u64 = 1_000_000_000;

    /// 30 s of GETATTR, READ and CREATE in the proportion 70 : 29 : 1.
    pub(in crate::measure) fn plan() -> Plan {
        let counts = MixCount::of(&[
            (OpKind::Read, 29),
            (OpKind::GetAttr, 70),
            (OpKind::Create, 1),
        ]);
        let file_set = FileSetPlan {
            name: "set".into(),
            files_per_client: 40,
            sizes: FileSizes::Nhfsstone,
            symbolic_links_per_client: 1,
            spare_names_per_client: 20,
            working_set_bytes: None,
            popularity: Popularity::Uniform,
        };
        let mix = MixPlan {
            listing_bytes: 4096,
            ..MixPlan::new("made by hand", counts, file_set)
        };
        let target = TargetPlan::Nfs3(NfsTarget {
            host: Some("server".into()),
            ..NfsTarget::built_in("/export")
        });
        Plan {
            arrivals: ArrivalsPlan::Poisson {
                offered_load_ops_per_s: 1000.0,
            },
            clients: 2,
            in_flight: 8,
            duration_ns: Some(30 * SECOND),
            timeout_ns: SECOND,
            reconnect_ns: SECOND,
            ..Plan::new("mix", target, WorkloadPlan::Mix(Box::new(mix)), 1)
        }
    }

    pub(in crate::measure) fn times(count: u64, nanos: u64) -> DistributionRecord {
        let mut times = Distribution::<u64>::new();
        for _ in 0..count {
            times.record(nanos);
        }
        times.to_record()
    }

    /// Returns a row of `count` operations that took 2 ms, 1 ms of it at the server.
    pub(in crate::measure) fn row(operation: OpKind, role: Role, count: u64) -> KindRecord {
        KindRecord {
            operation,
            role,
            ledger: Ledger {
                scheduled: count,
                ok: count,
                ..Ledger::default()
            },
            response_time_ns: times(count, 2_000_000),
            service_time_ns: times(count, 1_000_000),
            failed_time_ns: DistributionRecord::default(),
            failed_service_sum_ns: 0,
            calls: count,
            retransmissions: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: 0,
            failures: Vec::<FailureCount>::new(),
        }
    }

    pub(crate) fn totals(read: u64, get: u64, create: u64, remove: u64) -> Totals {
        let kinds = vec![
            row(OpKind::Read, Role::Measured, read),
            row(OpKind::GetAttr, Role::Measured, get),
            row(OpKind::Create, Role::Measured, create),
            row(OpKind::Remove, Role::Unmeasured, remove),
        ];
        let mut ledger = Ledger::default();
        for kind in &kinds[..3] {
            ledger.add(&kind.ledger);
        }
        Totals {
            ledger,
            in_flight_mean: 1.0,
            offered_load_ops_per_s: Some(1000.0),
            achieved_load_ops_per_s: ledger.ok as f64 / 30.0,
            response_time_ns: times(ledger.ok, 2_000_000),
            kinds,
            ..Totals::default()
        }
    }

    /// Returns a tick in which `count` operations took `nanos`.
    pub(in crate::measure) fn tick(place: u64, count: u64, nanos: u64) -> TickRecord {
        TickRecord {
            start_ns: place * TICK_NANOS,
            len_ns: TICK_NANOS,
            ended: count,
            ok: None,
            untimed_as_expected: 0,
            response_time_sum_ns: count * nanos,
            response_time_min_ns: nanos,
            response_time_max_ns: nanos,
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    fn of(totals: &Totals, ticks: &[TickRecord]) -> MixRecord {
        let file_set = FileSetRecord::default();
        figures(&plan(), totals, ticks, 3 * SECOND, file_set)
    }

    #[test]
    fn shares_are_those_of_what_was_done() {
        let record = of(&totals(300, 680, 20, 500), &[]);
        let rows: Vec<_> = record
            .operations
            .iter()
            .map(|row| {
                (
                    row.operation,
                    row.expected_percent,
                    row.actual_percent,
                    row.count,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                (OpKind::GetAttr, 70.0, 68.0, 680),
                (OpKind::Read, 29.0, 30.0, 300),
                (OpKind::Create, 1.0, 2.0, 20)
            ]
        );
        assert!((record.deviation_percent - 4.0).abs() < 1e-9);
        let nothing = of(&totals(0, 0, 0, 0), &[]);
        assert!((nothing.deviation_percent - 100.0).abs() < 1e-9);
    }

    #[test]
    fn by_littles_law_unmeasured_operations_are_in_flight_too() {
        // 29,000 + 1,000 operations of 1 ms in 3 s.
        let record = of(&totals(8_700, 20_000, 300, 1_000), &[]);
        assert!((record.in_flight_by_littles_law - 10.0).abs() < 1e-9);
        assert_eq!(record.in_flight_mean, 1.0);
    }

    #[test]
    fn thirds_have_means_and_standard_errors() {
        let ticks: Vec<_> = (0..30)
            .map(|place| match place {
                0..10 => tick(place, 100, 1_000_000 + 10_000 * (place % 2)),
                10..20 => tick(place, 200, 2_000_000),
                _ => tick(place, 100 * (place % 2), 3_000_000),
            })
            // In the drain phase, outside of the window.
            .chain([tick(30, 1000, 9_000_000)])
            .collect();
        let thirds = of(&totals(1, 1, 1, 1), &ticks).thirds;
        let ended: Vec<_> = thirds.iter().map(|third| third.ended).collect();
        assert_eq!(ended, [1000, 2000, 500]);
        let batches: Vec<_> = thirds.iter().map(|third| third.batches).collect();
        assert_eq!(batches, [10, 10, 5]);
        let means: Vec<_> = thirds.iter().map(|t| t.response_time_mean_ns).collect();
        assert_eq!(means, [1_005_000.0, 2_000_000.0, 3_000_000.0]);
        // Five of 1.00 and five of 1.01 ms: s² = 10 · 5,000² / 9, t(9) = 2.262.
        let expected = 2.262 / 1.96 * (10.0 * 5000.0_f64.powi(2) / 9.0 / 10.0).sqrt();
        let error = thirds[0].standard_error_ns / expected - 1.0;
        assert!(error.abs() < 0.001, "{error}");
        assert_eq!(thirds[1].standard_error_ns, 0.0);
    }

    #[test]
    fn a_run_of_one_tick_or_none_has_thirds_that_say_nothing() {
        for ticks in [vec![], vec![tick(14, 10, 1)]] {
            let thirds = of(&totals(1, 1, 1, 1), &ticks).thirds;
            assert_eq!(thirds.len(), 3);
            assert!(thirds.iter().all(|third| third.standard_error_ns == 0.0));
        }
    }
}
