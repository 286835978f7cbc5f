//! What a mix becomes when its load is steered, or when it goes through a kernel mount.

use super::{SECOND, achieve_what_succeeded, fail, mix};
use filestone_model::measure::curve_record::{
    CurvePointRecord, HysteresisRecord, KneeRecord, SearchStepRecord, SearchStopReason,
    SweepDirection,
};
use filestone_model::measure::mix_record::{
    CorrectionRecord, CountedAsRecord, MixOperationRecord, ThirdRecord, WireLimitRecord,
    WireOperationRecord, WireOtherRecord, WireRecord,
};
use filestone_model::measure::{
    CurveRecord, DistributionRecord, Ledger, ObjectiveRecord, RunRecord,
};
use filestone_model::operation::OpKind;
use filestone_model::plan::{
    CurvePlan, Figure, LocalTarget, Objective, ObjectivePlan, SkippedOperation, SteeringPlan,
    TargetPlan,
};

/// Where the paper server of the curve is full.
const CAPACITY: f64 = 10_000.0;
const SERVICE_NS: f64 = 200_000.0;

/// Mean response time of a server that answers one call after the other in random time.
fn mean_at(load: f64) -> f64 {
    SERVICE_NS / (1.0 - load / CAPACITY).max(0.02)
}

/// The figures of an exponential distribution with this mean, without its histogram.
fn times(mean: f64, count: u64) -> DistributionRecord {
    let quantile = |quantile: f64| (-mean * (1.0 - quantile).ln()) as u64;
    DistributionRecord {
        count,
        sum: (mean * count as f64) as u64,
        min: 1000,
        mean,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p99_9: quantile(0.999),
        p99_99: quantile(0.9999),
        max: quantile(0.99999),
        histogram: String::new(),
    }
}

fn point(leg: SweepDirection, place: u64, offered: f64) -> CurvePointRecord {
    let achieved = offered.min(9_900.0);
    let slower = if leg == SweepDirection::Down {
        1.1
    } else {
        1.0
    };
    let mean = slower * mean_at(offered);
    let done = (achieved * 5.0) as u64;
    let due = (offered * 5.0) as u64;
    CurvePointRecord {
        leg,
        offered_load_ops_per_s: offered,
        achieved_load_ops_per_s: achieved,
        ledger: Ledger {
            scheduled: due,
            ok: done,
            skipped: due - done,
            ..Ledger::default()
        },
        response_time_ns: times(mean, done),
        service_time_ns: times(mean * 0.98, done),
        response_time_mean_half_width_ns: (offered > 1000.0).then_some(mean * 0.03),
        relaxation_time_ns: 0.0,
        in_flight_mean: achieved * mean / SECOND as f64,
        start_ns: (7 * place + 2) * SECOND,
        end_ns: 7 * (place + 1) * SECOND,
        warm_up_ns: 2 * SECOND,
        is_steady: offered < 10_000.0,
        kept_up: achieved >= 0.98 * offered,
    }
}

/// Five points up to the peak and down again, after a search that went too far.
pub fn curve() -> RunRecord {
    let mut record = mix();
    record.plan.steering = Some(SteeringPlan::Curve(CurvePlan {
        points: 5,
        peak_ops_per_s: None,
        point_ns: 5 * SECOND,
        warm_up_max_ns: 10 * SECOND,
        down: true,
    }));
    let up = [1900.0, 3800.0, 5700.0, 7600.0, 9500.0];
    let down = up.iter().rev().skip(1).copied();
    let visits = [CAPACITY * 1.2]
        .map(|load| (SweepDirection::Search, load))
        .into_iter()
        .chain(up.map(|load| (SweepDirection::Up, load)))
        .chain(down.map(|load| (SweepDirection::Down, load)));
    let points = (0..).zip(visits);
    record.curve = Some(CurveRecord {
        points: points
            .map(|(place, (leg, load))| point(leg, place, load))
            .collect(),
        peak_ops_per_s: 9500.0,
        peak_method: "doubling, then halving the interval until 2 % were left".into(),
        overall_response_time_ns: Some(612_345.0),
        knee: Some(KneeRecord {
            load_ops_per_s: 7600.0,
            response_time_mean_ns: mean_at(7600.0),
            method: "farthest from the chord (Satopää et al. 2011)".into(),
        }),
        hysteresis: Some(HysteresisRecord {
            area_percent: 9.7,
            largest_at_ops_per_s: 7600.0,
            up_mean_ns: mean_at(7600.0),
            down_mean_ns: 1.1 * mean_at(7600.0),
            is_significant: true,
        }),
        ..CurveRecord::default()
    });
    record
}

/// p99 below 2 ms, found at 7,700 operations per second.
pub fn objective() -> RunRecord {
    let objective = Objective {
        figure: Figure::Quantile { quantile: 0.99 },
        below_ns: 4_000_000,
    };
    let mut record = mix();
    record.plan.steering = Some(SteeringPlan::Objective(ObjectivePlan {
        objective,
        search_max_ns: 90 * SECOND,
        precision: 0.02,
    }));
    let loads = [1000.0, 2000.0, 4000.0, 8000.0, 7400.0, 7700.0];
    let tried = (0..).zip(loads).map(|(place, load): (u64, f64)| {
        let times = times(mean_at(load), (load * 4.0) as u64);
        SearchStepRecord {
            offered_load_ops_per_s: load,
            achieved_load_ops_per_s: load * 0.999,
            ended: times.count,
            figure_ns: times.p99,
            above: (times.count as f64 * (-4e6 / times.mean).exp()) as u64,
            start_ns: (5 * place + 1) * SECOND,
            end_ns: 5 * (place + 1) * SECOND,
        }
    });
    record.objective = Some(ObjectiveRecord {
        objective,
        load_ops_per_s: Some(7_697.4),
        lower_ops_per_s: Some(7_610.0),
        upper_ops_per_s: Some(7_760.0),
        held_ops_per_s: Some(4_000.0),
        broken_ops_per_s: Some(8_000.0),
        relaxation_time_ns: 0.0,
        longest_stretch_ns: 0,
        end: SearchStopReason::Precise,
        tried: tried.collect(),
    });
    record
}

/// What is on the wire of a client whose caches swallow half of the lookups.
fn wire_of(operations: &[MixOperationRecord]) -> WireRecord {
    let on_wire = |row: &MixOperationRecord| match row.operation {
        OpKind::Lookup => row.count / 2,
        _ => row.count,
    };
    let calls = 10 + operations.iter().map(on_wire).sum::<u64>();
    WireRecord {
        source: "/proc/self/mountstats".into(),
        operations: operations
            .iter()
            .map(|row| WireOperationRecord {
                operation: row.operation,
                asked: row.count,
                seen: on_wire(row),
                time_ns: Some(400_000 * on_wire(row)),
                want_percent: row.want_percent,
                got_percent: 100.0 * on_wire(row) as f64 / calls as f64,
            })
            .collect(),
        others: vec![WireOtherRecord {
            name: "close".into(),
            seen: 10,
            time_ns: Some(3_000_000),
            got_percent: 1000.0 / calls as f64,
        }],
        limits: vec![WireLimitRecord {
            operation: OpKind::Lookup,
            wanted_per_s: 680.0,
            at_most_per_s: 340.0,
        }],
        counted_as: vec![CountedAsRecord {
            operation: OpKind::ReadDirPlus,
            counted_as: OpKind::ReadDir,
        }],
        calls,
        background_calls_per_s: 0.5,
        corrections: vec![CorrectionRecord {
            at_ns: SECOND,
            seen: 1600,
            wanted: 2000,
            pause_ns: 3_100_000,
        }],
    }
}

/// Through a kernel mount whose caches swallow half of the lookups, with errors, a drift and
/// a mix that came out wrong.
pub fn mix_through_mount() -> RunRecord {
    let mut record = mix();
    record.plan.target = TargetPlan::Local(LocalTarget {
        directory: Some("/mnt/test".into()),
    });
    record.plan.in_flight = 1;
    let plan = record.plan.mix_mut().expect("a mix");
    plan.left_out = vec![SkippedOperation {
        operation: "open".into(),
        count: 12_345,
    }];
    plan.file_set.working_set_bytes = Some(1 << 20);
    let mix = record.mix.as_mut().expect("a mix");
    mix.file_set.paths = vec!["/mnt/test/filestone-set".into()];
    (mix.file_set.working_files, mix.file_set.working_bytes) = (56, 1_037_312);
    mix.thirds = [420_000.0, 470_000.0, 540_000.0]
        .map(|response_time_mean_ns| ThirdRecord {
            ended: 1333,
            response_time_mean_ns,
            standard_error_ns: 9000.0,
            batches: 7,
        })
        .to_vec();
    mix.wire = Some(wire_of(&mix.operations));
    mix.off_by_percent = mix.off_by();
    fail(&mut record, 0, 0, |ledger| {
        ledger.ok -= 3;
        ledger.timed_out += 3;
    });
    achieve_what_succeeded(&mut record);
    record
}
