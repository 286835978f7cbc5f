//! Costs of the operations of a run, from readings and the run's own counts.

use crate::cost::advance::{advanced, between};
use crate::cost::per_operation::of_readings;
use crate::cost::wire::PathOverhead;
use crate::cost::{
    CallsRecord, CostCounter, CostEstimate, CostFigure, CostRecord, CounterReading, MeasuredAt,
    ReadingPhase, SourceRecord, WireCostRecord,
};
use crate::measure::flow::LittlesLaw;
use crate::measure::run_record::{KindRecord, RunRecord, TickRecord};
use filestone_plan::plan::ArrivalsPlan;
use std::collections::BTreeSet;

const NANOS: f64 = 1e9;

/// Network path of a run's messages, as this host sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPath {
    /// Outgoing interface.
    pub interface: String,
    /// Whether the interface is the loopback interface, which counts sent packets as received, too.
    pub is_loopback: bool,
    /// Overhead that the path adds to messages.
    pub path: PathOverhead,
}

/// Returns the cost record of a run with these readings.
pub fn finish(
    record: &RunRecord,
    mut sources: Vec<SourceRecord>,
    path: Option<&RunPath>,
) -> CostRecord {
    for source in &mut sources {
        for reading in &mut source.readings {
            reading.completed = match reading.phase {
                ReadingPhase::Idle => 0.0,
                ReadingPhase::Load => ended_by(record, reading.moment_ns),
            };
        }
    }
    let cycle_ns = match record.plan.arrivals {
        ArrivalsPlan::Levels(levels) => Some(levels.cycle_ns()),
        _ => None,
    };
    let figures = sources
        .iter()
        .flat_map(|source| figures_of(source, cycle_ns));
    let figures: Vec<CostFigure> = figures.collect();
    let mut costs = CostRecord {
        sources,
        figures,
        wire: None,
        calls: None,
    };
    costs.wire = path.and_then(|path| wire_of(record, path, &costs));
    costs.calls = costs
        .sources
        .iter()
        .find_map(|source| calls_of(record, source));
    costs
}

/// Returns the first and the last reading of a phase of a run.
fn ends(source: &SourceRecord, phase: ReadingPhase) -> Option<[&CounterReading; 2]> {
    let of_phase = |reading: &&CounterReading| reading.phase == phase;
    let first = source.readings.iter().find(of_phase)?;
    let last = source.readings.iter().rfind(of_phase)?;
    (last.moment_ns > first.moment_ns).then_some([first, last])
}

/// Returns the advance of a counter per second of a phase of a run.
fn rate(
    source: &SourceRecord,
    phase: ReadingPhase,
    of: impl Fn(&CounterReading) -> Option<u64>,
    slack: u64,
) -> Option<f64> {
    let [first, last] = ends(source, phase)?;
    let seconds = last.moment_ns.abs_diff(first.moment_ns) as f64 / NANOS;
    let advance = between(first, last, of, slack).ok()?;
    Some(advance as f64 / seconds)
}

/// Returns the calls that the server's kernel counted, with those that the clients made. `None` for
/// a mount, whose calls are made by the kernel of this host.
fn calls_of(record: &RunRecord, source: &SourceRecord) -> Option<CallsRecord> {
    if source.measured_at != MeasuredAt::Server || record.plan.target.is_directory() {
        return None;
    }
    let ended = record.totals.ledger.ended();
    let kinds = record.totals.kinds.iter();
    let all: u64 = kinds.map(|kind| kind.calls + kind.retransmissions).sum();
    if ended == 0 || all == 0 {
        return None;
    }
    let of_each = all as f64 / ended as f64;
    let [first, last] = ends(source, ReadingPhase::Load)?;
    let count = |reading: &CounterReading| reading.count(CostCounter::NfsdCalls);
    let counted = advanced(count(first)?, count(last)?)?;
    let in_flight = LittlesLaw::of(record).slots.max(1.0);
    let unsure = [first, last].map(|reading| in_flight + unsure_at(record, reading));
    Some(CallsRecord {
        counted,
        made: (last.completed - first.completed) * of_each,
        uncertainty: unsure.iter().sum::<f64>() * of_each,
    })
}

/// Returns the largest error of the number of operations at a reading. Within a tick the number is
/// interpolated, but all of them may have ended at one moment of it: a worker without a processor
/// ends none, and then many. The reading itself takes time. It is made after the window has opened.
fn unsure_at(record: &RunRecord, reading: &CounterReading) -> f64 {
    let earliest = reading
        .moment_ns
        .saturating_sub_unsigned(reading.uncertainty_ns);
    let latest = reading
        .moment_ns
        .saturating_add_unsigned(reading.uncertainty_ns);
    let ended = |is_counted: &dyn Fn(i64, i64) -> bool| -> f64 {
        let of_tick = |tick: &TickRecord| {
            let start = tick.start_ns as i64;
            is_counted(start, start.saturating_add_unsigned(time_of(tick, record)))
                .then_some(tick.ended as f64)
        };
        record.ticks.iter().filter_map(of_tick).sum()
    };
    let least = ended(&|_, end| end <= earliest);
    let most = ended(&|start, _| start < latest);
    let estimate = ended_by(record, reading.moment_ns);
    (estimate - least).max(most - estimate)
}

/// Returns the operations that had ended by then, interpolated within a tick.
fn ended_by(record: &RunRecord, moment_ns: i64) -> f64 {
    let Ok(moment) = u64::try_from(moment_ns) else {
        return 0.0;
    };
    let of_tick = |tick: &TickRecord| {
        let len_ns = time_of(tick, record);
        let past = moment.saturating_sub(tick.start_ns).min(len_ns);
        tick.ended as f64 * past as f64 / len_ns.max(1) as f64
    };
    record.ticks.iter().map(of_tick).sum()
}

/// Returns the part of a tick in which its operations can have ended: the end of the window ends
/// the tick, too, even if the last operation of a fixed number sets it.
fn time_of(tick: &TickRecord, record: &RunRecord) -> u64 {
    match record.window_ns.checked_sub(tick.start_ns) {
        None | Some(0) => tick.len_ns,
        Some(rest) => tick.len_ns.min(rest),
    }
}

fn figures_of(source: &SourceRecord, cycle_ns: Option<u64>) -> Vec<CostFigure> {
    let readings = &source.readings;
    let counters: BTreeSet<CostCounter> = readings
        .iter()
        .flat_map(|reading| reading.counters.keys().copied())
        .collect();
    let counted = |counter, line| Counted {
        source,
        cycle_ns,
        counter,
        line,
    };
    let of_counters = counters
        .into_iter()
        .map(|counter| figure(counted(counter, None), |reading| reading.count(counter)));
    let lines: BTreeSet<&str> = readings
        .iter()
        .flat_map(|reading| reading.lines.iter().map(|line| line.line.as_str()))
        .collect();
    let of_lines = lines.into_iter().map(|line| {
        // A line appears with its first interrupt.
        let of = |reading: &CounterReading| Some(reading.line(line).unwrap_or(0));
        figure(counted(CostCounter::Interrupts, Some(line.to_owned())), of)
    });
    let told = |one: &CostFigure| one.line.is_none() || is_known(one);
    of_counters.chain(of_lines.filter(told)).collect()
}

/// Returns whether the figure is larger than chance explains: a host has many interrupt lines, most
/// of them without relation to the load.
fn is_known(figure: &CostFigure) -> bool {
    let known = figure.known();
    known.is_some_and(|known| known.value > known.half_width)
}

/// A counter, or a line of it, in the readings of a source.
struct Counted<'run> {
    source: &'run SourceRecord,
    /// Duration of a cycle of all loads that were offered in turn.
    cycle_ns: Option<u64>,
    counter: CostCounter,
    line: Option<String>,
}

fn figure(counted: Counted<'_>, of: impl Fn(&CounterReading) -> Option<u64>) -> CostFigure {
    let Counted {
        source,
        cycle_ns,
        counter,
        line,
    } = counted;
    let processors = source.readings.first().and_then(|first| first.processors);
    let slack = counter.slack() * u64::from(processors.unwrap_or(1));
    let load_per_s = rate(source, ReadingPhase::Load, &of, slack);
    let found = of_readings(&source.readings, of, slack, cycle_ns);
    let known = found.as_ref().ok();
    CostFigure {
        measured_at: source.measured_at,
        counter,
        line,
        per_operation: known.map(|line| CostEstimate {
            value: line.slope.value,
            half_width: line.slope.half_width(),
        }),
        idle_per_s: known.map(|line| line.intercept.value),
        load_per_s: load_per_s.filter(|_| known.is_some()),
        reason: found.err().map(|why| why.to_string()),
    }
}

/// Messages of one direction by the model.
struct Modelled {
    message_bytes: u64,
    packets: u64,
    bytes: u64,
}

fn modelled(record: &RunRecord, way: &RunPath, of: fn(&KindRecord) -> u64) -> Modelled {
    let mut all = Modelled {
        message_bytes: 0,
        packets: 0,
        bytes: 0,
    };
    for kind in &record.totals.kinds {
        let sum = of(kind);
        // All messages of a kind are modelled with their mean length.
        let mean = sum.checked_div(kind.calls).unwrap_or(0);
        let each = way.path.message(mean);
        all.message_bytes += sum;
        all.packets += each.packets * kind.calls;
        all.bytes += sum + (each.bytes - mean.min(each.bytes)) * kind.calls;
    }
    all
}

/// Returns the bytes per second that passed through the interface in a phase of a run, in both
/// directions.
fn traffic(way: &RunPath, costs: &CostRecord, phase: ReadingPhase) -> Option<f64> {
    let mut sources = costs.sources.iter();
    let source = sources.find(|source| source.measured_at == MeasuredAt::LoadGenerator)?;
    let of = |counter| rate(source, phase, |reading| reading.count(counter), 0);
    let sent = of(CostCounter::SentBytes)?;
    if way.is_loopback {
        return Some(sent);
    }
    Some(sent + of(CostCounter::ReceivedBytes)?)
}

/// Returns the size of the messages on the network; `None` if no operation of the window ended.
fn wire_of(record: &RunRecord, way: &RunPath, costs: &CostRecord) -> Option<WireCostRecord> {
    let operations = record.totals.ledger.ended();
    let per_operation = |sum: f64| (operations > 0).then(|| sum / operations as f64);
    let [calls, replies] = [
        modelled(record, way, |kind| kind.bytes_sent),
        modelled(record, way, |kind| kind.bytes_received),
    ];
    let counted = |received, sent| {
        let figure = |counter| {
            let found = costs.figure(MeasuredAt::LoadGenerator, counter)?;
            found.known()
        };
        let sent = figure(sent)?;
        if way.is_loopback {
            return Some(sent);
        }
        Some(sent.with(figure(received)?))
    };
    let model_packets = per_operation((calls.packets + replies.packets) as f64)?;
    let model_bytes = per_operation((calls.bytes + replies.bytes) as f64)?;
    let message_bytes = calls.message_bytes + replies.message_bytes;
    let back = costs.figure(MeasuredAt::LoadGenerator, CostCounter::ReceivedPackets);
    let back = back.and_then(CostFigure::known);
    let [idle, load] =
        [ReadingPhase::Idle, ReadingPhase::Load].map(|phase| traffic(way, costs, phase));
    let counted_packets = counted(CostCounter::ReceivedPackets, CostCounter::SentPackets);
    let counted_bytes = counted(CostCounter::ReceivedBytes, CostCounter::SentBytes);
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
        reply_packets_per_operation: back.filter(|_| !way.is_loopback),
        model_reply_packets_per_operation: per_operation(replies.packets as f64),
        idle_bytes_per_s: idle,
        load_bytes_per_s: load,
        acknowledgements_per_operation: acknowledgements,
        difference_percent: counted_bytes.map(|bytes| 100.0 * (bytes.value - expected) / expected),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostEstimate;
    use crate::cost::wire::Framing;
    use crate::measure::mix_figures::tests::{tick, totals};
    use crate::measure::verdict::caveats::tests::run_of_30_s;

    #[test]
    fn operations_are_counted_by_moments() {
        let ticks = [10, 20, 40].into_iter().zip(0..);
        let ticks: Vec<_> = ticks.map(|(ended, place)| tick(place, ended, 1)).collect();
        let mut record = run_of_30_s(totals(70, 0, 0, 0), ticks);
        // The 40 of the last tick ended in 100 ms, or in the 50 that remained of the window.
        for (window_ms, moment_ms, expected) in [
            (30_000, -50, 0.0),
            (30_000, 0, 0.0),
            (30_000, 50, 5.0),
            (30_000, 100, 10.0),
            (30_000, 125, 15.0),
            (30_000, 225, 40.0),
            (30_000, 300, 70.0),
            (30_000, 9999, 70.0),
            (250, 125, 15.0),
            (250, 225, 50.0),
            (250, 250, 70.0),
            (250, 260, 70.0),
        ] {
            record.window_ns = window_ms * 1_000_000;
            let found = ended_by(&record, moment_ms * 1_000_000);
            assert!(
                (found - expected).abs() < 1e-9,
                "{window_ms} {moment_ms}: {found}"
            );
        }
    }

    /// Returns counts of an interface at a second, negative before the run.
    fn reading(second: i64, sent: [u64; 2], received: [u64; 2]) -> CounterReading {
        let phase = if second < 0 {
            ReadingPhase::Idle
        } else {
            ReadingPhase::Load
        };
        CounterReading {
            moment_ns: second * 1_000_000_000,
            phase,
            counters: [
                (CostCounter::SentPackets, sent[0]),
                (CostCounter::SentBytes, sent[1]),
                (CostCounter::ReceivedPackets, received[0]),
                (CostCounter::ReceivedBytes, received[1]),
            ]
            .into(),
            ..CounterReading::default()
        }
    }

    /// 1,000 operations per second for 30 s, each with a call of 44 bytes and a reply of 28, record
    /// marks included; every other operation has a further packet for an acknowledgement. Two
    /// packets with 66 bytes of headers each are 204 bytes, and half an acknowledgement is 33.
    #[test]
    fn the_wire_is_counted_and_modelled_side_by_side() {
        let ticks = (0..300).map(|place| tick(place, 100, 1)).collect();
        let mut record = run_of_30_s(totals(30_000, 0, 0, 0), ticks);
        let kind = &mut record.totals.kinds[0];
        (kind.calls, kind.bytes_sent, kind.bytes_received) = (30_000, 1_320_000, 840_000);
        let counted = |second: u64| {
            let sent = [1500, 143_000].map(|each| each * second);
            reading(
                second as i64,
                sent,
                [1000, 94_000].map(|each| each * second),
            )
        };
        let source = SourceRecord {
            name: "interface eth0".into(),
            measured_at: MeasuredAt::LoadGenerator,
            readings: [-2, -1]
                .map(|second| reading(second, [0, 0], [0, 0]))
                .into_iter()
                .chain((0..4).map(counted))
                .collect(),
            failed: 0,
            first_failure: None,
        };
        let path = PathOverhead {
            framing: Framing::Tcp {
                has_timestamps: true,
            },
            is_ipv6: false,
            mtu_bytes: 1500,
            link_header_bytes: 14,
        };
        let way = RunPath {
            interface: "eth0".into(),
            is_loopback: false,
            path,
        };
        let cost = finish(&record, vec![source], Some(&way));
        let wire = cost.wire.expect("a wire");
        assert_eq!(wire.message_bytes_per_operation, 72.0);
        assert_eq!(wire.model_packets_per_operation, 2.0);
        assert_eq!(wire.model_bytes_per_operation, 204.0);
        let is_near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
        let value = |known: Option<CostEstimate>| known.map_or(f64::NAN, |known| known.value);
        assert!(is_near(value(wire.packets_per_operation), 2.5), "{wire:?}");
        assert!(is_near(value(wire.bytes_per_operation), 237.0), "{wire:?}");
        let acknowledgements = wire.acknowledgements_per_operation.unwrap_or(f64::NAN);
        assert!(is_near(acknowledgements, 0.5), "{wire:?}");
        let difference = wire.difference_percent.unwrap_or(f64::NAN);
        assert!(is_near(difference, 0.0), "{wire:?}");
        // One reply each, as counted, and no bytes before the run.
        assert!(
            is_near(value(wire.reply_packets_per_operation), 1.0),
            "{wire:?}"
        );
        assert_eq!(wire.model_reply_packets_per_operation, Some(1.0));
        let traffic = [wire.idle_bytes_per_s, wire.load_bytes_per_s];
        assert_eq!(traffic, [Some(0.0), Some(237_000.0)]);
    }

    /// Returns the calls of a run with 1,000 operations per second, a call each, whose server
    /// counted `counted` calls from the reading at `from_ms` to the one at 2 s; one call was
    /// retransmitted.
    fn calls(from_ms: i64, counted: u64) -> Option<CallsRecord> {
        let ticks = (0..300).map(|place| tick(place, 100, 1)).collect();
        let mut record = run_of_30_s(totals(30_000, 0, 0, 0), ticks);
        let kind = &mut record.totals.kinds[0];
        (kind.calls, kind.retransmissions) = (29_999, 1);
        let at = |moment_ns, count: u64| CounterReading {
            moment_ns,
            phase: ReadingPhase::Load,
            uncertainty_ns: 1_000_000,
            counters: [(CostCounter::NfsdCalls, count)].into(),
            ..CounterReading::default()
        };
        let source = SourceRecord {
            name: "/proc".into(),
            measured_at: MeasuredAt::Server,
            readings: vec![at(from_ms * 1_000_000, 7), at(2_000_000_000, 7 + counted)],
            failed: 0,
            first_failure: None,
        };
        finish(&record, vec![source], None).calls
    }

    /// From 0 to 2 s there are 2,000. Both readings take 1 ms before and after a boundary of ticks of
    /// 100 operations, which may all have ended in that time. A quarter of a tick past the boundary,
    /// 25 are interpolated, and there may be none, or 100.
    #[test]
    fn calls_of_the_server_are_held_against_those_between_the_same_readings() {
        let found = calls(0, 2001).expect("calls");
        assert_eq!((found.counted, found.made), (2001, 2000.0));
        let later = calls(25, 1975).expect("calls");
        assert!((later.made - 1975.0).abs() < 1e-9, "{later:?}");
        // 16 more are in flight at each end.
        assert_eq!(found.uncertainty, 2.0 * (100.0 + 16.0));
        assert!(
            (later.uncertainty - found.uncertainty + 25.0).abs() < 1e-9,
            "{later:?}"
        );
    }
}
