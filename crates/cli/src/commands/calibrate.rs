//! `filestone calibrate`: the capacity of filestone itself on this host.

use crate::error::Error;
use crate::execution::interruption;
use crate::execution::live::Live;
use crate::options::CalibrateOptions;
use crate::options::run_report::DocumentFormat;
use crate::planning::Environment;
use crate::{ExitStatus, built_in, console, protocols};
use filestone_engine::calibrate::{
    Calibration, CalibrationLength, ExchangeThroughput, TimerLateness, calibrate,
};
use filestone_host::control::RunContext;
use filestone_measure::measure::verdict::caveats::waited_for_processor;
use filestone_report::document::Document;
use filestone_report::document::table::{Column, Table};
use filestone_report::json;
use filestone_workload::text::{bytes_text, thousands};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// Measures against the built-in server and prints a table.
pub fn run(options: &CalibrateOptions) -> Result<ExitStatus, Error> {
    let stop = interruption::stop_flag()?;
    let server = built_in::start_for_measurement(Environment::here().processors)?;
    let effort = if options.quick {
        CalibrationLength::Quick { in_flight: 32 }
    } else {
        CalibrationLength::Thorough
    };
    let mut live = Live::of_calibration(&stop);
    let calibration = calibrate(
        &built_in::calibrated_against(&server, protocols::known().calibrated_at()),
        effort,
        &mut RunContext::new(&stop, &mut live),
    );
    live.finish();
    let calibration = calibration?;
    console::result(&match options.format {
        DocumentFormat::Text => report(&calibration).text(console::page()),
        DocumentFormat::Json => json::document(&document(&calibration))?,
    })?;
    let waited = calibration.processors.as_ref();
    let waited = waited.and_then(waited_for_processor);
    waited.iter().for_each(console::caveat);
    Ok(if stop.load(Ordering::Relaxed) {
        ExitStatus::Interrupted
    } else {
        ExitStatus::Done
    })
}

fn report(calibration: &Calibration) -> Document {
    Document::default()
        .prose([
            "The same bytes, exchanged with the built-in server over a plain socket and by the engine",
        ])
        .tables([exchanges(&calibration.exchanges)])
        .blank()
        .lines("Timed starts: how late they are, in usecs\n")
        .tables([starts(&calibration.lateness)])
        .blank()
        .lines(format!(
            "Reading the clock takes {:.1} ns; its smallest step is {:.0} ns.\n",
            calibration.clock.read_ns, calibration.clock.step_ns
        ))
}

fn exchanges(exchanges: &[ExchangeThroughput]) -> Table {
    const LOAD: &str = "operations/s";
    const CPU: &str = "CPU usecs/op";
    let mut table = Table::new([
        Column::text(""),
        Column::figure("in flight"),
        Column::figure("plain").below(LOAD),
        Column::figure("engine").below(LOAD),
        Column::figure("share").below(LOAD),
        Column::figure("plain").below(CPU),
        Column::figure("engine").below(CPU),
        Column::figure("engine MB/s").gives_way(1),
    ]);
    for exchange in exchanges {
        let name = format!("{} {}", exchange.layer, exchange.request);
        table.row([
            match exchange.size_bytes {
                0 => name,
                size => format!("{name} {}", bytes_text(size.into())),
            },
            exchange.in_flight.to_string(),
            thousands(exchange.raw.ops_per_s.round() as u64),
            thousands(exchange.engine.ops_per_s.round() as u64),
            format!("{:.1} %", 100.0 * exchange.share()),
            format!("{:.3}", exchange.raw.cpu_ns_per_op / 1000.0),
            format!("{:.3}", exchange.engine.cpu_ns_per_op / 1000.0),
            format!("{:.1}", exchange.engine.data_bytes_per_s / 1e6),
        ]);
    }
    table
}

fn starts(starts: &[TimerLateness]) -> Table {
    let heads = ["starts/s", "P50", "P99", "P99.9", "MAX", "CPU"];
    let mut table = Table::new(heads.map(|head| Column::figure(head).at_least(8)));
    let micros = |nanos: u64| format!("{:.1}", nanos as f64 / 1000.0);
    for lateness in starts {
        table.row([
            thousands(lateness.starts_per_s as u64),
            micros(lateness.p50_ns),
            micros(lateness.p99_ns),
            micros(lateness.p99_9_ns),
            micros(lateness.max_ns),
            format!("{:.0} %", lateness.busy_percent),
        ]);
    }
    table
}

fn document(calibration: &Calibration) -> Value {
    json!({
        "clock_read_ns": calibration.clock.read_ns,
        "clock_step_ns": calibration.clock.step_ns,
        "headroom": calibration.headroom,
        "processors": calibration.processors,
        "exchanges": calibration.exchanges.iter().map(exchange_document).collect::<Vec<_>>(),
        "lateness": calibration.lateness.iter().map(lateness_document).collect::<Vec<_>>(),
    })
}

fn exchange_document(exchange: &ExchangeThroughput) -> Value {
    json!({
        "layer": exchange.layer,
        "operation": exchange.operation,
        "request": exchange.request,
        "size_bytes": exchange.size_bytes,
        "in_flight": exchange.in_flight,
        "raw_ops_per_s": exchange.raw.ops_per_s,
        "raw_cpu_ns_per_op": exchange.raw.cpu_ns_per_op,
        "engine_ops_per_s": exchange.engine.ops_per_s,
        "engine_cpu_ns_per_op": exchange.engine.cpu_ns_per_op,
        "engine_data_bytes_per_s": exchange.engine.data_bytes_per_s,
    })
}

fn lateness_document(lateness: &TimerLateness) -> Value {
    json!({
        "starts_per_s": lateness.starts_per_s,
        "lateness_p50_ns": lateness.p50_ns,
        "lateness_p99_ns": lateness.p99_ns,
        "lateness_p99_9_ns": lateness.p99_9_ns,
        "lateness_max_ns": lateness.max_ns,
        "busy_percent": lateness.busy_percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_engine::calibrate::Rate;
    use filestone_host::clock::ClockPrecision;
    use filestone_report::document::page::PageWidth;
    use filestone_workload::operation::OpKind;

    #[test]
    fn the_table_of_a_calibration() {
        let rate = |ops_per_s: f64| Rate {
            ops_per_s,
            cpu_ns_per_op: 1e9 / ops_per_s,
            data_bytes_per_s: ops_per_s * 131_072.0,
        };
        let calibration = Calibration {
            clock: ClockPrecision {
                read_ns: 11.2,
                step_ns: 10.0,
            },
            exchanges: vec![ExchangeThroughput {
                layer: "nfs".into(),
                operation: OpKind::Read,
                request: "READ".into(),
                size_bytes: 131_072,
                in_flight: 8,
                raw: rate(25_000.0),
                engine: rate(24_500.0),
            }],
            lateness: vec![TimerLateness {
                starts_per_s: 10_000.0,
                p50_ns: 120,
                p99_ns: 4_500,
                p99_9_ns: 50_000,
                max_ns: 120_000,
                busy_percent: 31.0,
            }],
            processors: None,
            headroom: Vec::new(),
        };
        insta::assert_snapshot!(report(&calibration).text(PageWidth::default()));
        let mut fast = calibration;
        fast.exchanges[0].raw = rate(10_837_620.0);
        fast.exchanges[0].engine = rate(10_929_664.0);
        let text = report(&fast).text(PageWidth::default());
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}
