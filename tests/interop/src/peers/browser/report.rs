//! The report of an hour in intervals of 100 ms: how large it is, and how soon it can be used.

use super::chromium::Browser;
use crate::scenario::Bed;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;

/// Intervals of an hour.
const INTERVALS: u64 = 36_000;
const INTERVAL_NS: u64 = 100_000_000;
/// As large as mails may be anywhere.
const BYTES_MAX: u64 = 5_000_000;
/// Largest permitted time in milliseconds until the report can be used.
const READY_MAX_MS: f64 = 2000.0;

/// Moves through the first chart by keyboard, as soon as that has an effect: when it had.
const FIRST_STEP: &str = "
const [done] = [arguments[arguments.length - 1]];
const step = () => {
  const plot = document.querySelector('.plot');
  const said = plot?.parentElement.querySelector('p.still-off');
  if (said && said.textContent !== '') return done({ ready_ms: performance.now(), charts: document.querySelectorAll('.plot').length });
  plot?.focus();
  plot?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
  setTimeout(step, 10);
};
step();
";

pub fn of_an_hour(bed: &Bed, pictures: Option<&Path>) -> Result<()> {
    let record = bed.folder.join("hour.json");
    write_hour(&measured(bed)?, &record)?;
    let report = bed.folder.join("hour.html");
    let line = format!("report {} --format html", record.display());
    run(bed, &line, &report)?;
    std::fs::remove_file(&record)?;
    let bytes = report.metadata()?.len();
    let browser = Browser::start(&bed.folder)?;
    browser.open(&format!("file://{}", report.display()))?;
    let found = browser.run_async(FIRST_STEP)?;
    println!("      {:.2} MB, {found}", bytes as f64 / 1e6);
    ensure!(bytes <= BYTES_MAX, "it has {bytes} bytes");
    let ready_ms = found["ready_ms"].as_f64().unwrap_or(f64::MAX);
    ensure!(
        ready_ms <= READY_MAX_MS,
        "it can be used after {ready_ms:.0} ms"
    );
    browser.picture(pictures, "report-of-an-hour.png")?;
    browser.close(None)
}

/// The record of a short mix, of all operations that nhfsstone's has.
fn measured(bed: &Bed) -> Result<Value> {
    let record = bed.folder.join("short.json");
    let line = "mix --mix nhfsstone --offered 800 --duration 2s --warm-up 0 --report-interval 100ms --no-calibrate --format json";
    run(bed, line, &record)?;
    Ok(serde_json::from_reader(File::open(record)?)?)
}

fn run(bed: &Bed, line: &str, to: &Path) -> Result<()> {
    let status = bed
        .command(line)
        .stdin(Stdio::null())
        .stdout(File::create(to)?)
        .stderr(File::create(bed.folder.join("report.stderr"))?)
        .status()?;
    // Whether it counts is another matter than what its report shows.
    ensure!(
        matches!(status.code(), Some(0 | 3)),
        "filestone {line} ended with {status}"
    );
    Ok(())
}

/// The same with its whole intervals again and again, for an hour. Its totals stay those of the short one,
/// which the report says.
fn write_hour(short: &Value, path: &Path) -> Result<()> {
    let intervals = short["intervals"].as_array().context("no intervals")?;
    let is_whole = |interval: &&Value| {
        let at = |name: &str| interval[name].as_u64().unwrap_or(0);
        interval["phase"] == "measure" && at("end_ns") - at("start_ns") == INTERVAL_NS
    };
    let bodies = intervals.iter().filter(is_whole).map(|interval| {
        let mut body = interval.as_object().cloned().unwrap_or_default();
        body.retain(|name, _| name != "start_ns" && name != "end_ns");
        Value::from(body).to_string()
    });
    let bodies: Vec<String> = bodies.collect();
    ensure!(!bodies.is_empty(), "no interval is whole");
    let mut rest = short.as_object().cloned().unwrap_or_default();
    rest.remove("intervals");
    rest.insert("window_ns".into(), json!(INTERVALS * INTERVAL_NS));
    let rest = Value::from(rest).to_string();
    let mut file = BufWriter::new(File::create(path)?);
    let rest = rest.strip_suffix('}').unwrap_or(&rest);
    write!(file, "{rest},\"intervals\":[")?;
    for (number, body) in (0..INTERVALS).zip(bodies.iter().cycle()) {
        let (start, end) = (number * INTERVAL_NS, (number + 1) * INTERVAL_NS);
        let comma = if number == 0 { "" } else { "," };
        let body = body.trim_start_matches('{');
        write!(
            file,
            "{comma}{{\"start_ns\":{start},\"end_ns\":{end},{body}"
        )?;
    }
    file.write_all(b"]}")?;
    Ok(file.flush()?)
}
