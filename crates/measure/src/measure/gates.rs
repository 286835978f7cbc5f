//! Evaluates a plan's gates on a run.
//!
//! A figure is checked by its 95 % interval: a gate *fails* if its condition is met by all values
//! within the intervals, *passes* if by no value, and is *inconclusive* otherwise. Counts are
//! exact. Calculations use the worst ends of the intervals, as if the largest value of one could
//! occur with the smallest value of the other.

mod extent;

use crate::cost::CostEstimate;
use crate::measure::cost_totals;
use crate::measure::curve_record::{ObjectiveRecord, SearchStopReason};
use crate::measure::figures::{BatchMeans, IntervalUnavailable};
use crate::measure::gate_record::{GateOutcome, GateRecord};
use crate::measure::run_record::RunRecord;
use extent::ValueWithInterval;
use filestone_plan::gate::{Expression, Gate, GateFigure, RunTotal};
use filestone_workload::figure::{Quantity, RunFigure};
use filestone_workload::recording::sample::Role;

/// Returns the results of the gates of a run's plan.
pub fn evaluate(record: &RunRecord) -> Vec<GateRecord> {
    let run = Run {
        record,
        stretches: BatchMeans::of(record),
    };
    let gates = record.plan.gates.fail_if.iter();
    gates.map(|gate| run.evaluate(gate)).collect()
}

/// Returns whether the gates fail the run.
pub fn has_failed(record: &RunRecord) -> bool {
    let strict = record.plan.gates.strict;
    let mut gates = record.gates.iter();
    gates.any(|gate| gate.outcome.is_failure(strict))
}

struct Run<'record> {
    record: &'record RunRecord,
    stretches: BatchMeans<'record>,
}

impl Run<'_> {
    fn evaluate(&self, gate: &Gate) -> GateRecord {
        let condition = gate.condition();
        let sides = self.extent(&condition.value);
        let sides = sides.and_then(|value| Ok((value, self.extent(&condition.limit)?)));
        let untold = |reason| GateRecord {
            gate: gate.clone(),
            outcome: GateOutcome::Inconclusive,
            unit: None,
            value: None,
            limit: None,
            reason: Some(reason),
        };
        match sides {
            Err(reason) => untold(reason),
            Ok((value, limit)) => GateRecord {
                outcome: value.compared(condition.relation, &limit),
                unit: condition.dimension.unit(),
                value: Some(value.as_record()),
                limit: Some(limit.as_record()),
                reason: value.unknown.or(limit.unknown),
                ..untold(String::new())
            },
        }
    }

    /// Returns the value of an expression, or why it has none.
    fn extent(&self, expression: &Expression) -> Result<ValueWithInterval, String> {
        match expression {
            Expression::Literal(number) => Ok(ValueWithInterval::exactly(*number)),
            Expression::Figure(GateFigure::OfOperations(figure), _) => self.figure(figure),
            Expression::Figure(GateFigure::OfRun(total), _) => self.total(*total),
            Expression::Calculated {
                how,
                left,
                right,
                scale,
            } => {
                let (left, right) = (self.extent(left)?, self.extent(right)?);
                left.calculated(*how, right, *scale)
            }
        }
    }

    fn figure(&self, figure: &RunFigure) -> Result<ValueWithInterval, String> {
        if figure.quantity == Quantity::Errors {
            return Ok(ValueWithInterval::counted(self.errors(figure)));
        }
        let Some(value) = self.stretches.value(figure) else {
            return Err(format!("{figure}: there was nothing to measure it by"));
        };
        Ok(match self.stretches.accuracy(figure) {
            Ok(known) => ValueWithInterval {
                value,
                low: known.low,
                high: known.high,
                unknown: None,
            },
            Err(IntervalUnavailable::TooFewAbove { low }) => ValueWithInterval {
                value,
                low: low as f64,
                high: f64::INFINITY,
                unknown: None,
            },
            Err(why) => ValueWithInterval {
                unknown: Some(format!("{figure} has no interval: {why}")),
                ..ValueWithInterval::exactly(value)
            },
        })
    }

    /// Returns the operations with an unexpected outcome, of all kinds or of one measured kind.
    fn errors(&self, figure: &RunFigure) -> u64 {
        let totals = &self.record.totals;
        let Some(operation) = figure.operation else {
            return totals.errors();
        };
        let mut kinds = totals.kinds.iter();
        let kind = kinds.find(|kind| kind.role == Role::Measured && kind.operation == operation);
        kind.map_or(0, |kind| kind.ledger.unexpected())
    }

    fn total(&self, total: RunTotal) -> Result<ValueWithInterval, String> {
        let record = self.record;
        let totals = &record.totals;
        let nothing = || format!("{}: this run came to none", total.name());
        let number =
            |number: Option<f64>| number.map(ValueWithInterval::exactly).ok_or_else(nothing);
        let count = match total {
            RunTotal::Offered => return number(totals.offered_load_ops_per_s),
            RunTotal::CurvePeak => {
                let curve = record.curve.as_ref();
                return number(curve.map(|curve| curve.peak_ops_per_s));
            }
            RunTotal::CurveKnee => {
                let knee = record.curve.as_ref().and_then(|curve| curve.knee.as_ref());
                return number(knee.map(|knee| knee.load_ops_per_s));
            }
            RunTotal::ObjectiveLoad => {
                let found = record.objective.as_ref().and_then(of_search);
                return found.ok_or_else(nothing);
            }
            RunTotal::GeneratorBusy => {
                let workers = totals.workers.iter();
                let busiest = workers.map(|worker| worker.busy_percent);
                return number(busiest.max_by(f64::total_cmp).map(|busy| busy / 100.0));
            }
            RunTotal::ServerCpu
            | RunTotal::ServerSwitches
            | RunTotal::ServerInterrupts
            | RunTotal::ServerBusy
            | RunTotal::WireBytes
            | RunTotal::WirePackets
            | RunTotal::ReplyPackets
            | RunTotal::ModelReplyPackets
            | RunTotal::WireRate
            | RunTotal::QueueTime
            | RunTotal::KernelOutTime
            | RunTotal::BeyondTime
            | RunTotal::KernelInTime
            | RunTotal::ElsewhereTime => return self.cost(total).ok_or_else(nothing),
            RunTotal::Caveats => record.caveats.len() as u64,
            RunTotal::Scheduled => totals.ledger.scheduled,
            RunTotal::TimedOut => totals.ledger.timed_out,
            RunTotal::Disconnected => totals.ledger.disconnected,
            RunTotal::Skipped => totals.ledger.skipped,
            RunTotal::Mismatches => {
                let replay = record.replay.as_ref();
                replay.map_or(0, |replay| replay.mismatch_count)
            }
            RunTotal::LostClients => lost_clients(record),
            RunTotal::Retransmissions => totals.kinds.iter().map(|kind| kind.retransmissions).sum(),
            RunTotal::Reconnections => totals.reconnections,
            RunTotal::LateReplies => totals.late_replies,
        };
        Ok(ValueWithInterval::counted(count))
    }

    /// Returns a measured cost with its interval.
    fn cost(&self, total: RunTotal) -> Option<ValueWithInterval> {
        let cost = self.record.cost.as_ref()?;
        let achieved = self.record.totals.achieved_load_ops_per_s;
        let CostEstimate { value, half_width } = cost_totals::of(cost, achieved, total)?;
        Some(ValueWithInterval {
            value,
            low: value - half_width,
            high: value + half_width,
            unknown: None,
        })
    }
}

fn lost_clients(record: &RunRecord) -> u64 {
    let clients = record.replay.iter().flat_map(|replay| &replay.clients);
    let lost = clients.filter(|client| client.lost.is_some()).count() as u64;
    lost.max(record.totals.lost_clients)
}

/// Returns the highest load that meets the objective. The interval is below all loads that were
/// tried if the objective was never met, and above if it was always met.
fn of_search(found: &ObjectiveRecord) -> Option<ValueWithInterval> {
    let none = (found.end == SearchStopReason::NeverMet).then_some(0.0);
    let value = found
        .load_ops_per_s
        .or(found.highest_passed_ops_per_s)
        .or(none)?;
    Some(ValueWithInterval {
        value,
        low: found
            .lower_ops_per_s
            .or(found.highest_passed_ops_per_s)
            .unwrap_or(0.0),
        high: found
            .upper_ops_per_s
            .or(found.lowest_failed_ops_per_s)
            .unwrap_or(f64::INFINITY),
        unknown: None,
    })
}

#[cfg(test)]
mod tests;
