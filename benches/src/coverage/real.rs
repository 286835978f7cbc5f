//! Coverage in real time: runs of 2 s against the built-in server, which needs the same time for
//! every call and serves one at a time. The response time is known from M/D/1, except for the time
//! of the two programs and the kernel, about 0.2 of 9 ms.

use super::{figures, table};
use anyhow::{Context, Result, bail};
use filestone_interop::process::{self, Folder, Running};
use filestone_measure::measure::figures::Statistic;
use filestone_measure::measure::run_record::{RunRecord, Totals};
use filestone_testing::queueing::DeterministicServers;
use filestone_testing::queueing::coverage::{COVERED, Coverage};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SERVER: DeterministicServers = DeterministicServers {
    servers: 1,
    service_s: 5e-3,
};
/// 60 % of the server's capacity, in operations per second.
const OFFERED: f64 = 120.0;
/// Permitted range of the share of runs whose interval contains the true value.
const BAR: RangeInclusive<f64> = 0.9..=1.0;

/// Makes `runs` runs and counts how many intervals contain the true value.
pub fn run(runs: u32) -> Result<bool> {
    let filestone = process::build_filestone("release")?;
    let folder = Folder::new("coverage")?;
    let address: SocketAddr = ([127, 0, 0, 1], process::free_port()?).into();
    let mut server = Running::start(&mut serve(&filestone, address.port()), &[])?;
    server.wait_for(address, Duration::from_secs(10))?;
    let records = folder.path.join("runs");
    let status = repeat(&filestone, address, runs)
        .arg("--output")
        .arg(&records)
        .stdout(Stdio::null())
        .status()
        .context("filestone did not start")?;
    if !status.success() {
        bail!("the runs ended with {status}");
    }
    let found = count(&records, runs)?;
    let cells = found.iter().flat_map(|found| figures(found, &BAR));
    let head = ["M/D/1 at 60 %".to_owned(), "20 × 100 ms".to_owned()];
    print!("{}", table(&[head.into_iter().chain(cells).collect()]));
    println!(
        "of {runs} runs each, in percent: intervals that hold the true value (! is below {:.0})",
        100.0 * BAR.start()
    );
    Ok(found.iter().all(|found| BAR.contains(&found.share())))
}

fn serve(filestone: &Path, port: u16) -> Command {
    let mut serve = Command::new(filestone);
    serve
        .args(["serve", "--bind", "127.0.0.1", "--files", "1"])
        .args(["--port", &port.to_string()])
        .args(["--service-time", "5ms", "--service-workers", "1"])
        .stdout(Stdio::null());
    serve
}

fn repeat(filestone: &Path, address: SocketAddr, runs: u32) -> Command {
    let mut probe = Command::new(filestone);
    probe
        .args(["probe", "null", &format!("nfs://{address}/export")])
        .args(["--offered", &OFFERED.to_string(), "--arrivals", "poisson"])
        .args(["--duration", "2s", "--warm-up", "500ms", "--no-calibrate"])
        .args(["--repeat", &runs.to_string(), "--pause", "0"]);
    probe
}

fn count(records: &Path, runs: u32) -> Result<[Coverage; COVERED.len()]> {
    let mut found = [Coverage::default(); COVERED.len()];
    for run in 1..=runs {
        let path = records.join(format!("{run:03}/run.json"));
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let record: RunRecord = serde_json::from_str(&text)?;
        for (coverage, statistic) in found.iter_mut().zip(COVERED) {
            take(coverage, &record.totals, statistic)?;
        }
    }
    Ok(found)
}

/// Counts one run; without an interval it counts as one that misses the true value.
fn take(coverage: &mut Coverage, totals: &Totals, statistic: Statistic) -> Result<()> {
    let truth_ns = 1e9 * truth_s(statistic)?;
    let name = format!("response_time.{}", statistic.name());
    let closed = totals.figures.iter().find(|figure| figure.name == name);
    let open = totals
        .open_figures
        .iter()
        .find(|figure| figure.name == name);
    match (closed, open) {
        (Some(figure), _) => coverage.count(truth_ns, figure.low, Some(figure.high)),
        (None, Some(figure)) => coverage.count(truth_ns, figure.low, None),
        (None, None) => coverage.intervals += 1,
    }
    Ok(())
}

fn truth_s(statistic: Statistic) -> Result<f64> {
    let Some(quantile) = statistic.quantile() else {
        return Ok(SERVER.response_mean(OFFERED));
    };
    let known = SERVER.response_quantile(OFFERED, quantile);
    known.with_context(|| format!("{} is not worked out", statistic.name()))
}
