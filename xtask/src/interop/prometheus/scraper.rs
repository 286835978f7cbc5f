//! A temporary Prometheus: its configuration, port and storage are removed with its folder.

use crate::process::{Running, free_port};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Scrape interval.
pub const SCRAPE_EVERY: Duration = Duration::from_secs(1);
const START_LIMIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A Prometheus that stores the metrics of one port of this host, scraped every second.
pub struct Scraper {
    address: String,
    running: Vec<Running>,
}

/// Folder and port of a Prometheus.
struct Place {
    folder: PathBuf,
    address: String,
}

/// Returns the configuration for scraping this port.
fn scraping(port: u16) -> String {
    let every = SCRAPE_EVERY.as_secs();
    format!(
        "global:\n  scrape_interval: {every}s\n  scrape_timeout: {every}s\nscrape_configs:\n  \
         - job_name: filestone\n    static_configs:\n      - targets: ['127.0.0.1:{port}']\n"
    )
}

impl Place {
    fn new(folder: &Path) -> Result<Self> {
        std::fs::create_dir(folder)?;
        Ok(Self {
            folder: folder.into(),
            address: format!("127.0.0.1:{}", free_port()?),
        })
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    /// Starts Prometheus and waits until it is ready.
    fn run(&self, configuration: &str, options: &[String]) -> Result<Running> {
        let path = self.folder.join("prometheus.yml");
        std::fs::write(&path, configuration)?;
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={}", path.display()))
            .arg(format!("--web.listen-address={}", self.address))
            .arg("--log.level=error")
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let mut running = Running::start(&mut command, &[])?;
        let start = Instant::now();
        let ready = format!("http://{}/-/ready", self.address);
        while ureq::get(&ready).call().is_err() {
            if let Some(status) = running.ended()? {
                bail!("prometheus ended with {status}");
            }
            if start.elapsed() > START_LIMIT {
                bail!("prometheus is not ready after {START_LIMIT:?}");
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(running)
    }
}

/// A sample in the result of a query.
#[derive(Debug, Clone)]
pub struct Sample {
    pub value: f64,
}

impl Scraper {
    /// Starts a Prometheus that scrapes.
    pub fn start(folder: &Path, port: u16) -> Result<Self> {
        let at = Place::new(folder)?;
        let storage = format!("--storage.tsdb.path={}", at.data());
        let scraper = Self {
            running: vec![at.run(&scraping(port), &[storage])?],
            address: at.address,
        };
        scraper.has_begun()
    }

    /// Starts a Prometheus that is pushed to, and an agent that scrapes and pushes: both store
    /// native histograms.
    pub fn pushed_to(folder: &Path, port: u16) -> Result<Self> {
        let at = Place::new(folder)?;
        let receiver = [
            format!("--storage.tsdb.path={}", at.data()),
            "--enable-feature=native-histograms".into(),
            "--web.enable-remote-write-receiver".into(),
        ];
        let receiver = at.run("global: {}\n", &receiver)?;
        let agent = Place::new(&folder.join("agent"))?;
        let options = [
            format!("--storage.agent.path={}", agent.data()),
            "--enable-feature=agent,native-histograms".into(),
        ];
        let configuration = scraping(port)
            + &format!(
                "remote_write:\n  - url: http://{}/api/v1/write\n    send_native_histograms: true\n    \
                 queue_config:\n      batch_send_deadline: 500ms\n",
                at.address
            );
        let agent = agent.run(&configuration, &options)?;
        let scraper = Self {
            running: vec![agent, receiver],
            address: at.address,
        };
        scraper.has_begun()
    }

    /// Waits for the first sample; Prometheus refreshes its targets every five seconds.
    fn has_begun(mut self) -> Result<Self> {
        let start = Instant::now();
        while self.query("up", None)?.is_empty() {
            for running in &mut self.running {
                if let Some(status) = running.ended()? {
                    bail!("prometheus ended with {status}");
                }
            }
            if start.elapsed() > START_LIMIT {
                bail!("prometheus has nothing after {START_LIMIT:?}");
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(self)
    }

    /// Returns the result of a query at this time in seconds since 1970, or now without one.
    pub fn query(&self, query: &str, at: Option<f64>) -> Result<Vec<Sample>> {
        let mut request = ureq::get(format!("http://{}/api/v1/query", self.address))
            .config()
            .http_status_as_error(false)
            .build()
            .query("query", query);
        if let Some(at) = at {
            request = request.query("time", format!("{at:.3}"));
        }
        let mut response = request.call().with_context(|| query.to_owned())?;
        let text = response.body_mut().read_to_string()?;
        let answer: Value = serde_json::from_str(&text).context("no JSON")?;
        if answer["status"] != "success" {
            bail!("{query}: {}", answer["error"]);
        }
        let samples = answer["data"]["result"].as_array();
        let value = |sample: &Value| sample["value"][1].as_str()?.parse().ok();
        Ok(samples
            .into_iter()
            .flatten()
            .filter_map(value)
            .map(|value| Sample { value })
            .collect())
    }

    /// Returns the result of a query that returns one value.
    pub fn value(&self, query: &str, at: f64) -> Result<f64> {
        match self.query(query, Some(at))?.as_slice() {
            [sample] => Ok(sample.value),
            samples => bail!("{query}: {} values instead of one", samples.len()),
        }
    }

    /// Returns the time of the last scrape of a series, in seconds since 1970, searched from that
    /// time on.
    pub fn last_scrape(&self, series: &str) -> Result<f64> {
        // A series that is no longer scraped becomes stale after the next failed scrape.
        let query = format!("max(max_over_time(timestamp({series})[5m:1s]))");
        match self.query(&query, None)?.as_slice() {
            [sample] => Ok(sample.value),
            samples => bail!("{query}: {} values instead of one", samples.len()),
        }
    }
}
