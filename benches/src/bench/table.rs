//! The tables, for a terminal and for docs/benchmarks.md.

use super::Results;
use super::cases::Comparison;
use filestone_interop::table::{lay_out, thousands};

/// Rate of nct with 32 NULLs in flight on a two-core virtual machine.
const NCT_OPS_PER_S: f64 = 500_000.0;
const NCT_CPU_NS_PER_OP: f64 = 1900.0;

/// Renders both tables.
pub fn render(results: &Results, is_markdown: bool) -> String {
    let mut text = String::new();
    if !results.comparisons.is_empty() {
        let head = [
            "case",
            "raw ops/s",
            "filestone ops/s",
            "ratio",
            "bar",
            "raw CPU/op",
            "filestone CPU/op",
            "ratio",
            "bar",
            "",
        ];
        let rows: Vec<Vec<String>> = results.comparisons.iter().map(comparison).collect();
        text += &lay_out(&head, &rows, is_markdown);
        text += &nct(&results.comparisons);
        text.push('\n');
    }
    if !results.limits.is_empty() {
        let rows: Vec<Vec<String>> = results
            .limits
            .iter()
            .map(|limit| {
                let verdict = verdict(limit.is_met);
                vec![
                    limit.name.clone(),
                    limit.figure.clone(),
                    limit.bar.clone(),
                    verdict,
                ]
            })
            .collect();
        text += &lay_out(&["figure", "measured", "bar", ""], &rows, is_markdown);
    }
    text
}

fn comparison(row: &Comparison) -> Vec<String> {
    let bar = |sign, bar: Option<f64>| bar.map_or("–".into(), |bar| format!("{sign} {bar:.2}"));
    vec![
        row.name.clone(),
        thousands(row.raw_ops_per_s),
        thousands(row.filestone_ops_per_s),
        format!("{:.3}", row.rate_ratio),
        bar("≥", row.rate_bar),
        micros(row.raw_cpu_ns_per_op),
        micros(row.filestone_cpu_ns_per_op),
        format!("{:.3}", row.cpu_ratio),
        bar("≤", row.cpu_bar),
        verdict(row.is_met()),
    ]
}

fn nct(comparisons: &[Comparison]) -> String {
    comparisons
        .iter()
        .find(|row| row.name == "NULL ×32")
        .map(|row| {
            format!(
                "\nNULL ×32 beside nct's {}/s at {}: {:.1} times the operations, {:.2} of the processor time.\n",
                thousands(NCT_OPS_PER_S),
                micros(NCT_CPU_NS_PER_OP),
                row.filestone_ops_per_s / NCT_OPS_PER_S,
                row.filestone_cpu_ns_per_op / NCT_CPU_NS_PER_OP
            )
        })
        .unwrap_or_default()
}

fn verdict(is_met: bool) -> String {
    if is_met { "ok" } else { "short" }.into()
}

fn micros(nanos: f64) -> String {
    format!("{:.3} µs", nanos / 1000.0)
}
