//! What a mix came to: shares, operations in flight and steadiness, from a run's totals and
//! intervals. A pure function; judging them is [`caveat`](crate::measure::caveat)'s.

use crate::measure::batch_means::half_width;
use crate::measure::mix_record::{FileSetRecord, MixOperationRecord, MixRecord, ThirdRecord};
use crate::measure::run_record::{IntervalRecord, Phase, Totals};
use crate::measure::sample::Role;
use crate::operation::OpKind;
use crate::plan::{MixPlan, Plan};

/// Standard errors of a mean on either side that hold it with 95 % confidence.
const STANDARD_ERRORS: f64 = 1.959_964;

/// The record of a mix whose measured window was `window_ns` long.
pub fn figures(
    plan: &Plan,
    totals: &Totals,
    intervals: &[IntervalRecord],
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
        off_by_percent: off.sum(),
        operations,
        in_flight_mean: totals.in_flight_mean,
        in_flight_by_littles_law: in_flight(totals, window_ns),
        thirds: thirds(intervals, window_ns),
        wire: None,
    }
}

fn off_by(row: &MixOperationRecord) -> f64 {
    (row.got_percent - row.want_percent).abs()
}

/// What was wanted and what came of each kind in the mix. What was skipped was not done.
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
    let kinds = OpKind::PROCEDURES.iter().copied();
    let asked: Vec<OpKind> = kinds.filter(|kind| wanted(*kind) > 0).collect();
    let all: u64 = asked.iter().map(|kind| count(*kind)).sum();
    let row = |kind: OpKind| MixOperationRecord {
        operation: kind,
        want_percent: 100.0 * mix.share(kind),
        got_percent: 100.0 * count(kind) as f64 / all.max(1) as f64,
        count: count(kind),
    };
    asked.into_iter().map(row).collect()
}

/// Operations in flight by Little's law (1961): how many end per second times how long each is
/// in flight.
///
/// In flight is what was sent and is unanswered, so the time is the service time; companions
/// are in flight like any other. What was sent before the window opened is in no row of the
/// totals, what was answered after it closed is in them: at a steady load one is as much as
/// the other.
fn in_flight(totals: &Totals, window_ns: u64) -> f64 {
    let sums = totals.kinds.iter().map(|kind| kind.service_time_ns.sum);
    sums.map(|sum| sum as f64).sum::<f64>() / window_ns.max(1) as f64
}

/// The window in three parts. An interval belongs to the part in which its middle is.
fn thirds(intervals: &[IntervalRecord], window_ns: u64) -> Vec<ThirdRecord> {
    let mut parts: [Vec<(u64, f64)>; 3] = Default::default();
    let measured = intervals.iter();
    for interval in measured.filter(|interval| interval.phase == Phase::Measure) {
        // The last interval may reach into the drain.
        let end_ns = interval.end_ns.min(window_ns.max(interval.start_ns));
        let middle = interval.start_ns.midpoint(end_ns);
        let part = u128::from(middle) * 3 / u128::from(window_ns.max(1));
        let (count, sum) = ended(interval);
        if let Some(part) = parts.get_mut((part as usize).min(2))
            && count > 0
        {
            part.push((count, sum));
        }
    }
    parts.iter().map(|part| third(part)).collect()
}

/// How many measured operations ended in an interval, and the sum of their response times.
fn ended(interval: &IntervalRecord) -> (u64, f64) {
    let kinds = interval.kinds.iter();
    let times = kinds
        .filter(|kind| kind.role == Role::Measured)
        .map(|kind| &kind.response_time_ns);
    times.fold((0, 0.0), |(count, sum), time| {
        (count + time.count, sum + time.sum as f64)
    })
}

fn third(intervals: &[(u64, f64)]) -> ThirdRecord {
    let ended = intervals.iter().map(|(count, _)| count).sum();
    let sum: f64 = intervals.iter().map(|(_, sum)| sum).sum();
    let means: Vec<f64> = intervals
        .iter()
        .map(|(count, sum)| sum / *count as f64)
        .collect();
    ThirdRecord {
        ended,
        response_time_mean_ns: sum / (ended as f64).max(1.0),
        standard_error_ns: half_width(&means).unwrap_or(0.0) / STANDARD_ERRORS,
    }
}

#[cfg(test)]
pub(in crate::measure) mod tests {
    use super::*;
    use crate::measure::run_record::{FailureCount, IntervalKindRecord, KindRecord};
    use crate::measure::{Distribution, DistributionRecord, Ledger};
    use crate::operation::Stability;
    use crate::plan::{
        Access, ArrivalsPlan, FileSetPlan, FileSizes, LocalMix, LocalTarget, MixCount, Popularity,
        TargetPlan, WorkloadPlan,
    };

    const SECOND: u64 = 1_000_000_000;

    /// 30 s of GETATTR, READ and CREATE in the proportion 70 : 29 : 1.
    pub(in crate::measure) fn plan() -> Plan {
        let count = |(operation, count)| MixCount { operation, count };
        let counts = [
            (OpKind::Read, 29),
            (OpKind::GetAttr, 70),
            (OpKind::Create, 1),
        ];
        let mix = MixPlan {
            calls: None,
            name: "made by hand".into(),
            counts: counts.into_iter().map(count).collect(),
            left_out: vec![],
            more_targets: vec![],
            file_set: FileSetPlan {
                name: "set".into(),
                files_per_client: 40,
                sizes: FileSizes::Nhfsstone,
                symbolic_links_per_client: 1,
                spare_names_per_client: 20,
                working_set_bytes: None,
                popularity: Popularity::Uniform,
            },
            transfer_bytes: 8192,
            access: Access::Whole,
            stability: Stability::Unstable,
            listing_bytes: 4096,
            remove_set: false,
            local: LocalMix::default(),
        };
        Plan {
            face: "mix".into(),
            target: TargetPlan::Local(LocalTarget { directory: None }),
            workload: WorkloadPlan::Mix(Box::new(mix)),
            arrivals: ArrivalsPlan::Constant {
                offered_load_ops_per_s: 1000.0,
            },
            clients: 2,
            in_flight: 8,
            workers: 1,
            warm_up_ns: 0,
            duration_ns: Some(30 * SECOND),
            count: None,
            timeout_ns: SECOND,
            reconnect_ns: SECOND,
            interval_ns: SECOND,
            seed: 1,
            busy_poll: false,
            pin: vec![],
            read_data: None,
            steering: None,
        }
    }

    pub(in crate::measure) fn times(count: u64, nanos: u64) -> DistributionRecord {
        let mut times = Distribution::<u64>::new();
        for _ in 0..count {
            times.record(nanos);
        }
        times.to_record()
    }

    /// A row of `count` operations that took 2 ms, of which 1 ms at the server.
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
            calls: count,
            retransmissions: 0,
            bytes_sent: 0,
            bytes_received: 0,
            data_bytes: 0,
            failures: Vec::<FailureCount>::new(),
        }
    }

    pub(in crate::measure) fn totals(read: u64, get: u64, create: u64, remove: u64) -> Totals {
        let kinds = vec![
            row(OpKind::Read, Role::Measured, read),
            row(OpKind::GetAttr, Role::Measured, get),
            row(OpKind::Create, Role::Measured, create),
            row(OpKind::Remove, Role::Companion, remove),
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

    /// One second in which `count` operations took so long.
    pub(in crate::measure) fn interval(second: u64, count: u64, nanos: u64) -> IntervalRecord {
        let row = |role, count, nanos| IntervalKindRecord {
            operation: OpKind::GetAttr,
            role,
            ledger: Ledger::default(),
            response_time_ns: times(count, nanos),
            service_time_ns: times(count, nanos),
        };
        IntervalRecord {
            start_ns: second * SECOND,
            end_ns: (second + 1) * SECOND,
            phase: Phase::Measure,
            ledger: Ledger::default(),
            bytes_sent: 0,
            bytes_received: 0,
            client_cpu_ns: 0,
            kinds: vec![
                row(Role::Measured, count, nanos),
                // Not to be counted.
                row(Role::Companion, 7, 70_000_000),
            ],
        }
    }

    fn of(totals: &Totals, intervals: &[IntervalRecord]) -> MixRecord {
        let file_set = FileSetRecord::default();
        figures(&plan(), totals, intervals, 30 * SECOND, file_set)
    }

    #[test]
    fn shares_are_those_of_what_was_done() {
        let record = of(&totals(300, 680, 20, 500), &[]);
        let rows: Vec<_> = record
            .operations
            .iter()
            .map(|row| (row.operation, row.want_percent, row.got_percent, row.count))
            .collect();
        assert_eq!(
            rows,
            [
                (OpKind::GetAttr, 70.0, 68.0, 680),
                (OpKind::Read, 29.0, 30.0, 300),
                (OpKind::Create, 1.0, 2.0, 20)
            ]
        );
        assert!((record.off_by_percent - 4.0).abs() < 1e-9);
        let nothing = of(&totals(0, 0, 0, 0), &[]);
        assert!((nothing.off_by_percent - 100.0).abs() < 1e-9);
    }

    #[test]
    fn by_littles_law_companions_are_in_flight_too() {
        // 29,000 + 1,000 operations of 1 ms in 30 s.
        let record = of(&totals(8_700, 20_000, 300, 1_000), &[]);
        assert!((record.in_flight_by_littles_law - 1.0).abs() < 1e-9);
        assert_eq!(record.in_flight_mean, 1.0);
    }

    #[test]
    fn thirds_have_means_and_standard_errors() {
        let intervals: Vec<_> = (0..30)
            .map(|second| match second {
                0..10 => interval(second, 100, 1_000_000 + 10_000 * (second % 2)),
                10..20 => interval(second, 200, 2_000_000),
                _ => interval(second, 100 * (second % 2), 3_000_000),
            })
            .collect();
        let thirds = of(&totals(1, 1, 1, 1), &intervals).thirds;
        let ended: Vec<_> = thirds.iter().map(|third| third.ended).collect();
        assert_eq!(ended, [1000, 2000, 500]);
        let means: Vec<_> = thirds.iter().map(|t| t.response_time_mean_ns).collect();
        assert_eq!(means, [1_005_000.0, 2_000_000.0, 3_000_000.0]);
        // Five of 1.00 and five of 1.01 ms: s² = 10 · 5,000² / 9, t(9) = 2.262.
        let expected = 2.262 / 1.96 * (10.0 * 5000.0_f64.powi(2) / 9.0 / 10.0).sqrt();
        let error = thirds[0].standard_error_ns / expected - 1.0;
        assert!(error.abs() < 0.001, "{error}");
        assert_eq!(thirds[1].standard_error_ns, 0.0);
    }

    #[test]
    fn a_run_of_one_interval_or_none_has_thirds_that_say_nothing() {
        for intervals in [vec![], vec![interval(14, 10, 1)]] {
            let thirds = of(&totals(1, 1, 1, 1), &intervals).thirds;
            assert_eq!(thirds.len(), 3);
            assert!(thirds.iter().all(|third| third.standard_error_ns == 0.0));
        }
    }
}
