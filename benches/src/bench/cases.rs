//! The pairs: the raw client and filestone take turns.

use super::{Bench, Serving, TestBed};
use crate::figures::{in_turns, median};
use crate::raw_client::RawResult;
use anyhow::{Context, Result, bail};
use filestone_interop::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Length of the warm-up before each measured window, in seconds.
const WARM_UP_SECONDS: f64 = 0.2;

/// Protocol of both clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Over {
    Nfs,
    Smb,
}

/// A comparison. The file describes the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    over: Over,
    operation: String,
    in_flight: u32,
    len: Option<u32>,
    data: Option<String>,
    rate_bar: Option<f64>,
    cpu_bar: Option<f64>,
}

/// Returns all comparisons.
pub fn all() -> Result<Vec<Case>> {
    let mut file: BTreeMap<String, Vec<Case>> = toml::from_str(include_str!("cases.toml"))?;
    Ok(file.remove("case").unwrap_or_default())
}

/// A pair of runs.
#[derive(Debug, Clone, Copy, Serialize)]
struct Pair {
    raw_ops_per_s: f64,
    filestone_ops_per_s: f64,
    raw_data_bytes_per_s: f64,
    filestone_data_bytes_per_s: f64,
    raw_cpu_ns_per_op: f64,
    filestone_cpu_ns_per_op: f64,
}

/// Result of one case.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub name: String,
    pub raw_ops_per_s: f64,
    pub filestone_ops_per_s: f64,
    pub filestone_data_bytes_per_s: f64,
    /// Median of the pairs' ratios of rates.
    pub rate_ratio: f64,
    pub rate_bar: Option<f64>,
    pub raw_cpu_ns_per_op: f64,
    pub filestone_cpu_ns_per_op: f64,
    /// Median of the pairs' ratios of CPU time.
    pub cpu_ratio: f64,
    pub cpu_bar: Option<f64>,
    call_len: usize,
    reply_len: usize,
    pairs: Vec<Pair>,
}

impl Comparison {
    /// Whether the figures meet both bars. A missing bar is met.
    pub fn is_met(&self) -> bool {
        self.rate_bar.is_none_or(|bar| self.rate_ratio >= bar)
            && self.cpu_bar.is_none_or(|bar| self.cpu_ratio <= bar)
    }
}

/// Runs the pairs of one case against one server.
pub fn compare(bed: &TestBed, case: &Case, options: &Bench) -> Result<Comparison> {
    let server = bed.serve(&[])?;
    let runs = in_turns(
        options.rounds,
        || raw(bed, case, options, &server),
        || filestone(bed, case, options, &server),
    )?;
    let mut lens = (0, 0);
    for (raw, filestone) in &runs {
        lens = filestone.message_lens()?;
        if lens != (raw.call_len, raw.reply_len) {
            bail!(
                "{}: the raw client's call and reply have {} and {} bytes, filestone's {} and {}",
                case.name,
                raw.call_len,
                raw.reply_len,
                lens.0,
                lens.1
            );
        }
    }
    let pairs = runs.iter().map(|(raw, filestone)| pair(raw, filestone));
    Ok(summary(case, lens.0, lens.1, pairs.collect::<Result<_>>()?))
}

fn raw(bed: &TestBed, case: &Case, options: &Bench, server: &Serving) -> Result<RawResult> {
    let (asked, port) = match case.over {
        Over::Nfs => (case.operation.clone(), server.port),
        Over::Smb => (format!("smb-{}", case.operation), server.smb_port),
    };
    let mut arguments = vec![
        asked,
        format!("--in-flight={}", case.in_flight),
        format!("--seconds={}", options.seconds),
        format!("--warm-up={WARM_UP_SECONDS}"),
    ];
    arguments.extend(case.len.map(|len| format!("--len={len}")));
    let mut command = bed.raw_client(port, &arguments)?;
    let output = bed.run(&mut command, limit(options))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "the raw client ended with {}: {}",
            output.status,
            said.trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("the raw client printed no result")
}

fn filestone(bed: &TestBed, case: &Case, options: &Bench, server: &Serving) -> Result<Record> {
    let mut arguments = format!(
        "--in-flight {} --duration {}ms --warm-up {}ms",
        case.in_flight,
        (options.seconds * 1000.0).round(),
        (WARM_UP_SECONDS * 1000.0).round()
    );
    if let Some(len) = case.len {
        arguments += &format!(" --io-size {len}");
    }
    if let Some(data) = &case.data {
        arguments += &format!(" --data {data}");
    }
    let mut command = match case.over {
        Over::Nfs => bed.probe(server.port, &case.operation, "/export/file", &arguments),
        Over::Smb => {
            let target = format!("smb://127.0.0.1:{}/export/file", server.smb_port);
            bed.probe_at(&target, &case.operation, &arguments)
        }
    };
    Record::read(&bed.run(&mut command, limit(options))?)
}

fn limit(options: &Bench) -> Duration {
    Duration::from_secs_f64(options.seconds + WARM_UP_SECONDS + 20.0)
}

fn pair(raw: &RawResult, filestone: &Record) -> Result<Pair> {
    Ok(Pair {
        raw_ops_per_s: raw.ops_per_s,
        filestone_ops_per_s: filestone.number("/totals/achieved_load_ops_per_s")?,
        raw_data_bytes_per_s: raw.data_bytes_per_s,
        filestone_data_bytes_per_s: filestone.number("/totals/goodput_bytes_per_s")?,
        raw_cpu_ns_per_op: raw.cpu_ns_per_op,
        filestone_cpu_ns_per_op: filestone.number("/totals/client_cpu_ns_per_op")?,
    })
}

fn summary(case: &Case, call_len: usize, reply_len: usize, pairs: Vec<Pair>) -> Comparison {
    let over = |figure: fn(&Pair) -> f64| median(&pairs.iter().map(figure).collect::<Vec<_>>());
    // Cases with file data compare bytes, others compare operations.
    let rate_ratio = if case.len.is_some() {
        over(|pair| pair.filestone_data_bytes_per_s / pair.raw_data_bytes_per_s)
    } else {
        over(|pair| pair.filestone_ops_per_s / pair.raw_ops_per_s)
    };
    Comparison {
        name: case.name.clone(),
        raw_ops_per_s: over(|pair| pair.raw_ops_per_s),
        filestone_ops_per_s: over(|pair| pair.filestone_ops_per_s),
        filestone_data_bytes_per_s: over(|pair| pair.filestone_data_bytes_per_s),
        rate_ratio,
        rate_bar: case.rate_bar,
        raw_cpu_ns_per_op: over(|pair| pair.raw_cpu_ns_per_op),
        filestone_cpu_ns_per_op: over(|pair| pair.filestone_cpu_ns_per_op),
        cpu_ratio: over(|pair| pair.filestone_cpu_ns_per_op / pair.raw_cpu_ns_per_op),
        cpu_bar: case.cpu_bar,
        call_len,
        reply_len,
        pairs,
    }
}
