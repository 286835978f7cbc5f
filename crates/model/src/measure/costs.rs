//! What the operations of a run cost, from readings and what the run itself counted.

use crate::cost::per_operation::of_readings;
use crate::cost::wire::WirePath;
use crate::cost::{
    CostFigure, CostRecord, Counter, CounterReading, KnownCost, ReadingPhase, SourceRecord,
    Vantage, WireCostRecord,
};
use crate::measure::run_record::{RunRecord, TickRecord};
use std::collections::BTreeSet;

/// The way that a run's messages took, as this host knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPath {
    /// The interface.
    pub interface: String,
    /// Whether it is its own other end, and counts what it sends as received, too.
    pub is_loopback: bool,
    /// What it does to messages.
    pub path: WirePath,
}

/// The cost record of a run with these readings.
pub fn conclude(
    record: &RunRecord,
    mut sources: Vec<SourceRecord>,
    path: Option<&RunPath>,
) -> CostRecord {
    for source in &mut sources {
        for reading in &mut source.readings {
            reading.completed = match reading.phase {
                ReadingPhase::Idle => 0.0,
                ReadingPhase::Load => ended_by(&record.ticks, reading.moment_ns),
            };
        }
    }
    let figures: Vec<CostFigure> = sources.iter().flat_map(figures_of).collect();
    let mut costs = CostRecord {
        sources,
        figures,
        wire: None,
    };
    costs.wire = path.and_then(|path| wire_of(record, path, &costs));
    costs
}

/// Operations that had ended by then: within a tick as many as there is of it.
fn ended_by(ticks: &[TickRecord], moment_ns: i64) -> f64 {
    let Ok(moment) = u64::try_from(moment_ns) else {
        return 0.0;
    };
    let of_tick = |tick: &TickRecord| {
        let past = moment.saturating_sub(tick.start_ns).min(tick.len_ns);
        tick.ended as f64 * past as f64 / tick.len_ns.max(1) as f64
    };
    ticks.iter().map(of_tick).sum()
}

fn figures_of(source: &SourceRecord) -> Vec<CostFigure> {
    let readings = &source.readings;
    let counters: BTreeSet<Counter> = readings
        .iter()
        .flat_map(|reading| reading.counters.keys().copied())
        .collect();
    let of_counters = counters
        .into_iter()
        .map(|counter| figure(source, counter, None, |reading| reading.count(counter)));
    let lines: BTreeSet<&str> = readings
        .iter()
        .flat_map(|reading| reading.lines.iter().map(|line| line.line.as_str()))
        .collect();
    let of_lines = lines.into_iter().map(|line| {
        // A line appears with its first interrupt.
        let of = |reading: &CounterReading| Some(reading.line(line).unwrap_or(0));
        figure(source, Counter::Interrupts, Some(line.to_owned()), of)
    });
    let told = |one: &CostFigure| one.line.is_none() || is_known(one);
    of_counters.chain(of_lines.filter(told)).collect()
}

/// Whether chance does not explain it: a host has many lines of interrupts, and most say nothing.
fn is_known(figure: &CostFigure) -> bool {
    let known = figure.known();
    known.is_some_and(|known| known.value > known.half_width)
}

fn figure(
    source: &SourceRecord,
    counter: Counter,
    line: Option<String>,
    of: impl Fn(&CounterReading) -> Option<u64>,
) -> CostFigure {
    let found = of_readings(&source.readings, of);
    let known = found.as_ref().ok();
    CostFigure {
        vantage: source.vantage,
        counter,
        line,
        per_operation: known.map(|line| KnownCost {
            value: line.slope.value,
            half_width: line.slope.half_width(),
        }),
        idle_per_s: known.map(|line| line.intercept.value),
        reason: found.err().map(|why| why.to_string()),
    }
}

/// What the messages came to; `None` if no operation of the window ended.
fn wire_of(record: &RunRecord, way: &RunPath, costs: &CostRecord) -> Option<WireCostRecord> {
    let operations = record.totals.ledger.ended();
    let per_operation = |sum: f64| (operations > 0).then(|| sum / operations as f64);
    let (mut message_bytes, mut packets, mut bytes) = (0, 0, 0);
    for kind in &record.totals.kinds {
        for direction in [kind.bytes_sent, kind.bytes_received] {
            // All messages of a kind count as long as their mean.
            let mean = direction.checked_div(kind.calls).unwrap_or(0);
            let each = way.path.message(mean);
            message_bytes += direction;
            packets += each.packets * kind.calls;
            bytes += direction + (each.bytes - mean.min(each.bytes)) * kind.calls;
        }
    }
    let counted = |received, sent| {
        let figure = |counter| {
            let found = costs.figure(Vantage::LoadGenerator, counter)?;
            found.known()
        };
        let sent = figure(sent)?;
        if way.is_loopback {
            return Some(sent);
        }
        Some(sent.with(figure(received)?))
    };
    let model_packets = per_operation(packets as f64)?;
    let model_bytes = per_operation(bytes as f64)?;
    let counted_packets = counted(Counter::ReceivedPackets, Counter::SentPackets);
    let counted_bytes = counted(Counter::ReceivedBytes, Counter::SentBytes);
    let acknowledgements = counted_packets
        .map(|packets| packets.value - model_packets)
        .filter(|_| way.path.acknowledges());
    let of_acknowledgements =
        acknowledgements.unwrap_or(0.0).max(0.0) * way.path.acknowledgement_bytes() as f64;
    let expected = model_bytes + of_acknowledgements;
    Some(WireCostRecord {
        interface: way.interface.clone(),
        mtu_bytes: way.path.mtu_bytes,
        message_bytes_per_operation: per_operation(message_bytes as f64)?,
        model_packets_per_operation: model_packets,
        model_bytes_per_operation: model_bytes,
        packets_per_operation: counted_packets,
        bytes_per_operation: counted_bytes,
        acknowledgements_per_operation: acknowledgements,
        difference_percent: counted_bytes.map(|bytes| 100.0 * (bytes.value - expected) / expected),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(index: u64, ended: u64) -> TickRecord {
        TickRecord {
            start_ns: index * 100,
            len_ns: 100,
            ended,
            response_time_sum_ns: 0,
            response_time_min_ns: 0,
            response_time_max_ns: 0,
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    #[test]
    fn operations_are_counted_by_moments() {
        let ticks = [tick(0, 10), tick(1, 20), tick(2, 40)];
        for (moment, expected) in [
            (-50, 0.0),
            (0, 0.0),
            (50, 5.0),
            (100, 10.0),
            (125, 15.0),
            (300, 70.0),
            (9999, 70.0),
        ] {
            assert!(
                (ended_by(&ticks, moment) - expected).abs() < 1e-9,
                "{moment}"
            );
        }
    }
}
