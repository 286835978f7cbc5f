//! The pairs: the raw client and filestone take turns.

use super::{Bench, Serving, TestBed};
use crate::figures::median;
use crate::process;
use crate::raw_client::RawResult;
use crate::record::Record;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::time::Duration;

/// Length of the warm-up before each measured window, in seconds.
const WARM_UP_SECONDS: f64 = 0.2;

/// Protocol of both clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Nfs,
    Smb,
}

const SMB_READ_LEN: u32 = 64 << 10;

/// A comparison.
pub struct Case {
    pub name: &'static str,
    over: Over,
    operation: &'static str,
    in_flight: u32,
    len: Option<u32>,
    /// Value of `--data` for READ.
    data: Option<&'static str>,
    /// Least share of the raw client's rate.
    rate_bar: Option<f64>,
    /// Largest multiple of the raw client's CPU time per operation.
    cpu_bar: Option<f64>,
}

pub const CASES: &[Case] = &[
    Case {
        name: "NULL ×1",
        over: Over::Nfs,
        operation: "null",
        in_flight: 1,
        len: None,
        data: None,
        rate_bar: Some(0.97),
        cpu_bar: None,
    },
    Case {
        name: "NULL ×32",
        over: Over::Nfs,
        operation: "null",
        in_flight: 32,
        len: None,
        data: None,
        rate_bar: None,
        cpu_bar: None,
    },
    Case {
        name: "NULL ×128",
        over: Over::Nfs,
        operation: "null",
        in_flight: 128,
        len: None,
        data: None,
        rate_bar: Some(0.90),
        cpu_bar: Some(1.35),
    },
    Case {
        name: "GETATTR ×32",
        over: Over::Nfs,
        operation: "getattr",
        in_flight: 32,
        len: None,
        data: None,
        rate_bar: Some(0.90),
        cpu_bar: None,
    },
    // A program must receive the bytes that it uses, as the raw client does; bytes that it does not
    // use it can leave to the kernel.
    Case {
        name: "READ 4 KiB ×32, delivered",
        over: Over::Nfs,
        operation: "read",
        in_flight: 32,
        len: Some(4 << 10),
        data: Some("deliver"),
        rate_bar: None,
        cpu_bar: None,
    },
    Case {
        name: "READ 4 KiB ×32, verified",
        over: Over::Nfs,
        operation: "read",
        in_flight: 32,
        len: Some(4 << 10),
        data: Some("verify"),
        rate_bar: None,
        cpu_bar: None,
    },
    Case {
        name: "READ 128 KiB ×8, discarded",
        over: Over::Nfs,
        operation: "read",
        in_flight: 8,
        len: Some(128 << 10),
        data: Some("discard"),
        rate_bar: Some(0.97),
        cpu_bar: Some(1.10),
    },
    Case {
        name: "READ 128 KiB ×8, delivered",
        over: Over::Nfs,
        operation: "read",
        in_flight: 8,
        len: Some(128 << 10),
        data: Some("deliver"),
        rate_bar: None,
        cpu_bar: None,
    },
    Case {
        name: "READ 128 KiB ×8, verified",
        over: Over::Nfs,
        operation: "read",
        in_flight: 8,
        len: Some(128 << 10),
        data: Some("verify"),
        rate_bar: None,
        cpu_bar: None,
    },
    Case {
        name: "SMB ECHO ×1",
        over: Over::Smb,
        operation: "echo",
        in_flight: 1,
        len: None,
        data: None,
        rate_bar: Some(0.97),
        cpu_bar: None,
    },
    Case {
        name: "SMB ECHO ×32",
        over: Over::Smb,
        operation: "echo",
        in_flight: 32,
        len: None,
        data: None,
        rate_bar: Some(0.85),
        cpu_bar: None,
    },
    Case {
        name: "SMB READ 64 KiB ×8, delivered",
        over: Over::Smb,
        operation: "read",
        in_flight: 8,
        len: Some(SMB_READ_LEN),
        data: Some("deliver"),
        rate_bar: Some(0.90),
        cpu_bar: None,
    },
];

/// A pair of runs.
#[derive(Debug, Clone, Copy, Serialize)]
struct Pair {
    raw_ops_per_s: f64,
    ours_ops_per_s: f64,
    raw_data_bytes_per_s: f64,
    ours_data_bytes_per_s: f64,
    raw_cpu_ns_per_op: f64,
    ours_cpu_ns_per_op: f64,
}

/// Result of one case.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub name: String,
    pub raw_ops_per_s: f64,
    pub ours_ops_per_s: f64,
    pub ours_data_bytes_per_s: f64,
    /// Median of the pairs' ratios of rates.
    pub rate_ratio: f64,
    pub rate_bar: Option<f64>,
    pub raw_cpu_ns_per_op: f64,
    pub ours_cpu_ns_per_op: f64,
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
    let mut pairs = Vec::new();
    let mut lens = (0, 0);
    for round in 0..options.rounds {
        // The order alternates, so that a drift of the host favours neither side.
        let (raw, ours) = if round % 2 == 0 {
            let raw = raw(bed, case, options, &server)?;
            (raw, ours(bed, case, options, &server)?)
        } else {
            let ours = ours(bed, case, options, &server)?;
            (raw(bed, case, options, &server)?, ours)
        };
        lens = ours.message_lens()?;
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
        pairs.push(pair(&raw, &ours)?);
    }
    Ok(summary(case, lens.0, lens.1, pairs))
}

fn raw(bed: &TestBed, case: &Case, options: &Bench, server: &Serving) -> Result<RawResult> {
    let (asked, port) = match case.over {
        Over::Nfs => (case.operation.to_owned(), server.port),
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
    let output = process::run(
        &mut command,
        &bed.client_cpus(),
        bed.folder(),
        limit(options),
    )?;
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

fn ours(bed: &TestBed, case: &Case, options: &Bench, server: &Serving) -> Result<Record> {
    let in_flight = case.in_flight.to_string();
    let duration = format!("{}ms", (options.seconds * 1000.0).round());
    let warm_up = format!("{}ms", (WARM_UP_SECONDS * 1000.0).round());
    let len = case.len.map(|len| len.to_string());
    let mut arguments = vec![
        "--in-flight",
        &in_flight,
        "--duration",
        &duration,
        "--warm-up",
        &warm_up,
    ];
    if let Some(len) = &len {
        arguments.extend(["--size", len]);
    }
    if let Some(data) = case.data {
        arguments.extend(["--data", data]);
    }
    let mut command = match case.over {
        Over::Nfs => bed.probe(server.port, case.operation, "/export/file", &arguments),
        Over::Smb => {
            let target = format!("smb://127.0.0.1:{}/export/file", server.smb_port);
            bed.probe_at(&target, case.operation, &arguments)
        }
    };
    let output = process::run(
        &mut command,
        &bed.client_cpus(),
        bed.folder(),
        limit(options),
    )?;
    Record::read(&output)
}

fn limit(options: &Bench) -> Duration {
    Duration::from_secs_f64(options.seconds + WARM_UP_SECONDS + 20.0)
}

fn pair(raw: &RawResult, ours: &Record) -> Result<Pair> {
    Ok(Pair {
        raw_ops_per_s: raw.ops_per_s,
        ours_ops_per_s: ours.number("/totals/achieved_load_ops_per_s")?,
        raw_data_bytes_per_s: raw.data_bytes_per_s,
        ours_data_bytes_per_s: ours.number("/totals/goodput_bytes_per_s")?,
        raw_cpu_ns_per_op: raw.cpu_ns_per_op,
        ours_cpu_ns_per_op: ours.number("/totals/client_cpu_ns_per_op")?,
    })
}

fn summary(case: &Case, call_len: usize, reply_len: usize, pairs: Vec<Pair>) -> Comparison {
    let over = |figure: fn(&Pair) -> f64| median(&pairs.iter().map(figure).collect::<Vec<_>>());
    // Cases with file data compare bytes, others compare operations.
    let rate_ratio = if case.len.is_some() {
        over(|pair| pair.ours_data_bytes_per_s / pair.raw_data_bytes_per_s)
    } else {
        over(|pair| pair.ours_ops_per_s / pair.raw_ops_per_s)
    };
    Comparison {
        name: case.name.to_owned(),
        raw_ops_per_s: over(|pair| pair.raw_ops_per_s),
        ours_ops_per_s: over(|pair| pair.ours_ops_per_s),
        ours_data_bytes_per_s: over(|pair| pair.ours_data_bytes_per_s),
        rate_ratio,
        rate_bar: case.rate_bar,
        raw_cpu_ns_per_op: over(|pair| pair.raw_cpu_ns_per_op),
        ours_cpu_ns_per_op: over(|pair| pair.ours_cpu_ns_per_op),
        cpu_ratio: over(|pair| pair.ours_cpu_ns_per_op / pair.raw_cpu_ns_per_op),
        cpu_bar: case.cpu_bar,
        call_len,
        reply_len,
        pairs,
    }
}
