//! A run that Prometheus scrapes; the results of the dashboard's queries are compared with the
//! record of the run.
//!
//! The first Prometheus scrapes the run with Debian's configuration and classic histograms. The
//! second one stores native histograms, which an agent scrapes and pushes to it. The queries are
//! read from `docs/grafana/filestone.json`.

mod dashboard;
mod scraper;
mod verdicts;

use super::{Needed, checks};
use crate::process::{Folder, Running, free_port};
use crate::record::Record;
use anyhow::{Context, Result, bail};
use dashboard::Dashboard;
use scraper::Scraper;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Output, Stdio};
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
const START_LIMIT: Duration = Duration::from_secs(30);

/// Runs every check. Returns whether all passed.
pub fn run(bed: &checks::Bed, start: Instant) -> Result<bool> {
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
fn serve(bed: &checks::Bed, port: u16) -> Result<Running> {
    let mut command = bed.command(&["serve", "--bind", "127.0.0.1", "--port", &port.to_string()]);
    command
        .args(["--fault", "error=NFS3ERR_IO,proc=read,p=0.05"])
        .args(["--fault", "delay=exp:2ms"])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut server = Running::start(&mut command, &[])?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    server.wait_for(address, START_LIMIT)?;
    Ok(server)
}

/// Runs a mix at an offered load, which waits at its end for one more scrape.
fn measure(bed: &checks::Bed, folder: &Folder, server: u16, metrics: u16) -> Result<Output> {
    let target = format!("nfs://127.0.0.1:{server}/export");
    let metrics = format!("127.0.0.1:{metrics}");
    let mut command: Command = bed.command(&["mix", &target, "--no-calibrate", "--as", "json"]);
    command
        .args(["--offered", "500", "--clients", "4", "--warm-up", "3s"])
        .args(["--duration", WINDOW, "--metrics", &metrics]);
    let (out, err) = (folder.path.join("out"), folder.path.join("err"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let status = Running::start(&mut command, &[])?.wait(RUN_LIMIT);
    let output = Output {
        status: status.context("the run")?,
        stdout: std::fs::read(out)?,
        stderr: std::fs::read(err)?,
    };
    if output.stdout.is_empty() {
        bail!("the run: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output)
}
