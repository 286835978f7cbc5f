//! Figures without a comparison: punctuality of an open loop, memory of many connections.

use super::TestBed;
use anyhow::{Context, Result};
use filestone_interop::process::Logged;
use filestone_interop::record::Record;
use serde::Serialize;
use std::time::{Duration, Instant};

/// A figure and its bar.
#[derive(Debug, Serialize)]
pub struct Limit {
    pub name: String,
    pub figure: String,
    pub bar: String,
    pub is_met: bool,
}

/// Function that measures one or more limits.
pub type Measure = fn(&TestBed) -> Result<Vec<Limit>>;

const OFFERED: f64 = 10_000.0;
const CONNECTIONS: u32 = 10_000;
/// Largest permitted memory of the program without connections.
const BASE_BYTES: f64 = 32.0 * 1024.0 * 1024.0;
const BYTES_PER_CONNECTION: f64 = 8.0 * 1024.0;

/// Measures punctuality.
pub fn open_loop(bed: &TestBed) -> Result<Vec<Limit>> {
    let server = bed.serve(&[])?;
    let options = "--offered 10000 --in-flight 64 --duration 10s --warm-up 500ms";
    let mut command = bed.probe(server.port, "null", "/export", options);
    let record = Record::read(&bed.run(&mut command, Duration::from_secs(40))?)?;
    let achieved = record.number("/totals/achieved_load_ops_per_s")?;
    let p50 = record.number("/totals/dispatch_delay_ns/p50")? / 1000.0;
    let p99 = record.number("/totals/dispatch_delay_ns/p99")? / 1000.0;
    Ok(vec![
        Limit {
            name: "open loop of 10,000/s: achieved".into(),
            figure: format!("{achieved:.1}/s"),
            bar: "within 0.1 %".into(),
            is_met: (achieved / OFFERED - 1.0).abs() <= 0.001,
        },
        Limit {
            name: "open loop of 10,000/s: dispatch delay p50".into(),
            figure: format!("{p50:.2} µs"),
            bar: "≤ 5 µs".into(),
            is_met: p50 <= 5.0,
        },
        Limit {
            name: "open loop of 10,000/s: dispatch delay p99".into(),
            figure: format!("{p99:.2} µs"),
            bar: "≤ 150 µs".into(),
            is_met: p99 <= 150.0,
        },
    ])
}

/// Measures the memory of ten thousand connections.
pub fn memory(bed: &TestBed) -> Result<Vec<Limit>> {
    let server = bed.serve(&[])?;
    let options = format!("--clients {CONNECTIONS} --duration 5s");
    let mut command = bed.probe(server.port, "null", "/export", &options);
    let mut logged = Logged::start(&mut command, &bed.client_cpus(), bed.folder())?;
    let start = Instant::now();
    let mut peak = 0.0f64;
    while logged.running.ended()?.is_none() {
        peak = peak.max(peak_bytes(logged.running.id()).unwrap_or(0.0));
        if start.elapsed() > Duration::from_secs(60) {
            anyhow::bail!("the run with {CONNECTIONS} connections did not end within a minute");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let record = Record::read(&logged.wait(Duration::from_secs(1))?)?;
    let ok = record.number("/totals/ledger/ok")?;
    let each = (peak - BASE_BYTES) / f64::from(CONNECTIONS);
    Ok(vec![Limit {
        name: format!("memory of 10,000 connections ({ok:.0} operations ok), each beyond 32 MiB"),
        figure: format!("{each:.0} bytes (peak {:.1} MiB)", peak / 1024.0 / 1024.0),
        bar: "≤ 8,192 bytes".into(),
        is_met: each <= BYTES_PER_CONNECTION && ok >= f64::from(CONNECTIONS),
    }])
}

/// Reads VmHWM of a process: its peak resident memory in bytes.
fn peak_bytes(process: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .context("no VmHWM")?;
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory_is_more_than_nothing() {
        assert!(peak_bytes(std::process::id()).expect("Linux says") > 100_000.0);
    }
}
