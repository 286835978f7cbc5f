//! Cost of each operation, on the network and at the server.

use crate::document::table::{Column, Table};
use crate::document::{Block, Document};
use filestone_measure::cost::{
    CostCounter, CostEstimate, CostFigure, CostRecord, MeasuredAt, SourceRecord,
};
use filestone_measure::measure::RunRecord;
use filestone_workload::figure::FigureUnit;

/// Returns the section; empty if no counters were read.
pub fn section(record: &RunRecord) -> Document {
    let Some(cost) = &record.cost else {
        return Document::default();
    };
    let failures = cost.sources.iter().filter_map(failure);
    let unknown = cost.figures.iter().filter_map(unknown);
    Document::default()
        .titled("Each operation costs, with 95 % intervals", table(cost))
        .push(Block::Wrapped {
            indent: 2,
            lines: unknown.chain(wire(cost)).chain(failures).collect(),
        })
}

fn table(cost: &CostRecord) -> Table {
    let mut table = Table::new([
        Column::text(""),
        Column::figure("per operation"),
        Column::figure("±"),
        Column::figure("idle per s"),
    ]);
    let shown = cost.figures.iter().filter(|figure| is_shown(figure));
    shown.for_each(|figure| table.row(row(figure)));
    table
}

/// Whether a figure is printed: counters that never changed are left out.
fn is_shown(figure: &CostFigure) -> bool {
    let known = figure.per_operation.map(|known| known.value);
    let mut moved = [known, figure.idle_per_s].into_iter().flatten();
    moved.any(|value| value != 0.0)
}

fn row(figure: &CostFigure) -> Vec<String> {
    let number = |value: Option<f64>| {
        value.map_or_else(|| "–".into(), |value| amount(value, figure.counter.unit()))
    };
    vec![
        name(figure),
        number(figure.per_operation.map(|known| known.value)),
        number(figure.per_operation.map(|known| known.half_width)),
        number(figure.idle_per_s),
    ]
}

/// Formats an amount; times in microseconds.
fn amount(value: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::Nanoseconds => format!("{:.2} us", value / 1000.0),
        FigureUnit::Bytes => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn name(figure: &CostFigure) -> String {
    let end = match figure.measured_at {
        MeasuredAt::Server => "server",
        MeasuredAt::LoadGenerator => "here",
    };
    let what = match figure.counter {
        CostCounter::CpuBusy => "processors busy",
        CostCounter::CpuUser => "  of it programs",
        CostCounter::CpuSystem => "  of it the kernel",
        CostCounter::CpuIrq => "  of it interrupts",
        CostCounter::CpuSoftirq => "  of it soft interrupts",
        CostCounter::CpuSteal => "taken by other machines",
        CostCounter::ProcessCpu => "process: processor time",
        CostCounter::ProcessVoluntary => "process: voluntary switches",
        CostCounter::ProcessInvoluntary => "process: involuntary switches",
        CostCounter::ContextSwitches => "context switches",
        CostCounter::Interrupts => "interrupts",
        CostCounter::ReceivedBytes => "bytes received",
        CostCounter::ReceivedPackets => "packets received",
        CostCounter::SentBytes => "bytes sent",
        CostCounter::SentPackets => "packets sent",
        CostCounter::TcpRetransmitted => "TCP segments sent again",
        CostCounter::NfsdCalls => "calls of the kernel's server",
    };
    let line = figure.line.as_ref().map(|line| format!(" of {line}"));
    format!("{end} {what}{}", line.unwrap_or_default())
}

/// Formats the reason why a cost is unknown.
fn unknown(figure: &CostFigure) -> Option<String> {
    let reason = figure.reason.as_ref()?;
    Some(format!("{}: {reason}", name(figure).trim_start()))
}

fn wire(cost: &CostRecord) -> Option<String> {
    let wire = cost.wire.as_ref()?;
    let number = |value: Option<CostEstimate>| {
        value.map_or_else(|| "–".into(), |known| format!("{:.1}", known.value))
    };
    let acknowledgements = match wire.acknowledgements_per_operation {
        Some(count) => format!(" and {count:.2} acknowledgements"),
        None => String::new(),
    };
    let difference = match wire.difference_percent {
        Some(percent) => format!(", {percent:+.2} %"),
        None => String::new(),
    };
    Some(format!(
        "on {}: {} bytes in {} packets counted; by the model {:.1} in {:.2}{acknowledgements}{difference}",
        wire.interface,
        number(wire.bytes_per_operation),
        number(wire.packets_per_operation),
        wire.model_bytes_per_operation,
        wire.model_packets_per_operation,
    ))
}

fn failure(source: &SourceRecord) -> Option<String> {
    let why = source.first_failure.as_ref()?;
    Some(format!(
        "{} of {} readings failed, the first with {why}",
        source.failed,
        source.failed + source.readings.len() as u64
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_measure::cost::{CostEstimate, WireCostRecord};

    fn known(value: f64, half_width: f64) -> Option<CostEstimate> {
        Some(CostEstimate { value, half_width })
    }

    fn figure(vantage: MeasuredAt, counter: CostCounter, cost: Option<CostEstimate>) -> CostFigure {
        CostFigure {
            measured_at: vantage,
            counter,
            line: None,
            per_operation: cost,
            idle_per_s: cost.map(|_| 100.0),
            load_per_s: None,
            reason: None,
        }
    }

    fn cost() -> CostRecord {
        let server = MeasuredAt::Server;
        let lost = CostFigure {
            reason: Some("it went from 9 back to 1".into()),
            ..figure(server, CostCounter::NfsdCalls, None)
        };
        let line = CostFigure {
            line: Some("24 PCI-MSI virtio0-input.0".into()),
            ..figure(server, CostCounter::Interrupts, known(0.5, 0.01))
        };
        let still = CostFigure {
            idle_per_s: Some(0.0),
            ..figure(server, CostCounter::CpuSteal, known(0.0, 0.0))
        };
        CostRecord {
            figures: vec![
                figure(server, CostCounter::ProcessCpu, known(12_345.0, 67.0)),
                figure(server, CostCounter::ContextSwitches, known(2.0, 0.1)),
                line,
                still,
                lost,
                figure(
                    MeasuredAt::LoadGenerator,
                    CostCounter::SentBytes,
                    known(118.0, 0.0),
                ),
            ],
            sources: vec![SourceRecord {
                name: "http://server:9100/metrics".into(),
                measured_at: server,
                readings: vec![],
                failed: 2,
                first_failure: Some("it took too long".into()),
            }],
            wire: Some(WireCostRecord {
                interface: "eth0".into(),
                mtu_bytes: 1500,
                message_bytes_per_operation: 72.0,
                model_packets_per_operation: 2.0,
                model_bytes_per_operation: 204.0,
                packets_per_operation: known(2.5, 0.01),
                bytes_per_operation: known(237.0, 1.0),
                acknowledgements_per_operation: Some(0.5),
                difference_percent: Some(0.004),
                ..WireCostRecord::default()
            }),
            calls: None,
        }
    }

    #[test]
    fn what_each_operation_costs_stands_in_a_table() {
        let mut record = fixtures::plain();
        assert_eq!(section(&record).text(PageWidth::default()), "");
        record.cost = Some(cost());
        insta::assert_snapshot!(section(&record).text(PageWidth::default()));
    }
}
