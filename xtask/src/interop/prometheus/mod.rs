//! A run that Prometheus scrapes; the results of the dashboard's queries are compared with the
//! record of the run.
//!
//! The first Prometheus scrapes the run with Debian's configuration and classic histograms. The
//! second one stores native histograms, which an agent scrapes and pushes to it. The queries are
//! read from `docs/grafana/filestone.json`.

mod dashboard;
mod scraper;
mod verdicts;

use super::Needed;
use crate::process::{self, Folder, Running, free_port};
use crate::record::Record;
use crate::scenario::Bed;
use anyhow::{Context, Result, bail};
use dashboard::Dashboard;
use scraper::Scraper;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Output;
use std::time::{Duration, Instant};

/// Programs that this test needs.
pub const NEEDED: &Needed = &[
    ("/usr/bin/prometheus", "prometheus"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];
/// Length of the measured window.
const WINDOW: &str = "15s";
/// Time limit of the whole run.
const RUN_LIMIT: Duration = Duration::from_secs(60);

/// Runs every check. Returns whether all passed.
pub fn run(bed: &Bed, start: Instant) -> Result<bool> {
    super::succeed("ip", &["link", "set", "lo", "up"])?;
    let dashboard = Dashboard::read()?;
    let folder = Folder::within(&bed.folder, "scraped")?;
    let (server, metrics) = (free_port()?, free_port()?);
    let classic = Scraper::start(&folder.path.join("classic"), metrics)?;
    let native = Scraper::pushed_to(&folder.path.join("native"), metrics)?;
    println!(
        "prometheus and its agent are up after {:.1} s",
        start.elapsed().as_secs_f64()
    );
    let _server = serve(bed, server)?;
    let record = Record::read(&measure(bed, &folder, server, metrics)?)?;
    // The query for the last scrape checks every second, and one second must have passed since.
    std::thread::sleep(2 * scraper::SCRAPE_EVERY);
    let mut is_good = true;
    for verdict in verdicts::all(&dashboard, &record, &classic, &native)? {
        is_good &= verdict.is_good;
        println!("{verdict}");
    }
    Ok(is_good)
}

/// Starts the built-in server with something to find: some READs fail, and all replies are delayed.
fn serve(bed: &Bed, port: u16) -> Result<Running> {
    let line = format!(
        "serve --bind 127.0.0.1 --port {port} --fault error=NFS3ERR_IO,proc=read,p=0.05 --fault delay=exp:2ms"
    );
    bed.serve(&line, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

/// Runs a mix at an offered load, which waits at its end for one more scrape.
fn measure(bed: &Bed, folder: &Folder, server: u16, metrics: u16) -> Result<Output> {
    let mut command = bed.command(&format!(
        "mix nfs://127.0.0.1:{server}/export --no-calibrate --as json --offered 500 --clients 4 --warm-up 3s \
         --duration {WINDOW} --metrics 127.0.0.1:{metrics}"
    ));
    let output = process::run(&mut command, &[], &folder.path, RUN_LIMIT).context("the run")?;
    if output.stdout.is_empty() {
        bail!("the run: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output)
}
