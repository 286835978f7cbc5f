//! Cost of an encrypted READ of 64 KiB for the built-in server compared with a plain one, next to
//! the time that the cipher library needs for its bytes alone.

use super::limits::Limit;
use super::{Serving, TestBed};
use crate::cipher;
use crate::figures::median;
use anyhow::Result;
use filestone_interop::record::Record;
use filestone_interop::times::Times;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

const USER: &str = "bench";
const ROUNDS: u32 = 5;
const BAR: f64 = 1.3;

/// Returns the medians of several rounds, taken in turns.
pub fn limits(bed: &TestBed) -> Result<Vec<Limit>> {
    let password = bed.folder().join("password");
    let mut secret = OpenOptions::new();
    let mut secret = secret
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&password)?;
    secret.write_all(b"secret")?;
    let file = password.to_string_lossy();
    let server = bed.serve(&["--user", USER, "--password-file", &file])?;
    let us = |encryption| us_per_read(bed, &server, &file, encryption);
    let mut ratios = Vec::new();
    let mut beyond = Vec::new();
    for _ in 0..ROUNDS {
        let (plain, encrypted) = (us("off")?, us("required")?);
        let library = cipher::us_per_read();
        beyond.push(encrypted - plain);
        ratios.push((encrypted - plain) / library);
    }
    let ratio = median(&ratios);
    Ok(vec![Limit {
        name: "READ 64 KiB with AES-128-GCM: the server's CPU beyond a plain one".into(),
        figure: format!("{:.2} µs, {ratio:.2} of the library's own", median(&beyond)),
        bar: format!("≤ {BAR}"),
        is_met: ratio <= BAR,
    }])
}

/// Measures the server CPU time per READ, in microseconds.
fn us_per_read(
    bed: &TestBed,
    server: &Serving,
    password_file: &str,
    encryption: &str,
) -> Result<f64> {
    let target = format!("smb://{USER}@127.0.0.1:{}/export/file", server.smb_port);
    let options = "--io-size 64k -j 8 --duration 2s --warm-up 0s";
    let mut command = bed.probe_at(&target, "read", options);
    command
        .args(["--password-file", password_file])
        .args(["--encrypt", encryption]);
    let before = Times::of_group(server.process);
    let output = bed.run(&mut command, Duration::from_secs(20))?;
    let used = Times::of_group(server.process).since(before);
    let done = Record::read(&output)?.number("/totals/ledger/ok")?;
    Ok(used.all_s() * 1e6 / done.max(1.0))
}
