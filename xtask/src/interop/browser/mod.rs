//! The live page in a real browser: Chromium without a window, driven by its WebDriver.
//!
//! What is measured is the built-in server, in the network namespace of the test, so that neither the run
//! nor the browser can reach anything else.

mod chromium;
mod fleet;
mod many;
mod points;
mod report;
mod synthetic;
mod webdriver;

use super::Interop;
use crate::scenario::Bed;
use anyhow::{Result, bail};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::process::Running;

/// What the test needs.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/chromium", "chromium"),
    ("/usr/bin/chromedriver", "chromium-driver"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];

/// How long something is waited for that must come.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A scenario: what it is called, and what must hold in it.
type Scenario = (&'static str, fn(&Bed, Option<&Path>) -> Result<()>);

const SCENARIOS: &[Scenario] = &[
    (
        "a fleet of 500 that is changed from the page",
        fleet::changed,
    ),
    ("100,000 rows that are scrolled", many::scrolled),
    ("points that are drawn as they come", points::drawn),
];
/// What takes longer.
const THOROUGH: &[Scenario] = &[("the report of an hour", report::of_an_hour)];

/// Runs the scenarios; whether all went well.
pub fn run(bed: &Bed, options: &Interop) -> Result<bool> {
    let (only, pictures) = (options.only.as_deref(), options.pictures.as_deref());
    let more = THOROUGH.iter().filter(|_| options.thorough);
    super::succeed("ip", &["link", "set", "lo", "up"])?;
    let mut is_good = true;
    for (name, scenario) in SCENARIOS.iter().chain(more) {
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let start = Instant::now();
        match scenario(bed, pictures) {
            Ok(()) => println!("ok    {name} ({:.1} s)", start.elapsed().as_secs_f64()),
            Err(error) => {
                is_good = false;
                println!("FAILS {name}: {error:#}");
            }
        }
    }
    Ok(is_good)
}

/// A filestone that serves its page.
struct Watched {
    running: Running,
    said: PathBuf,
    /// The link that it printed.
    link: String,
}

impl Watched {
    /// Starts it with these arguments, which include `--live`.
    fn start(bed: &Bed, name: &str, line: &str) -> Result<Self> {
        let said = bed.folder.join(format!("{name}.stderr"));
        let mut command = bed.command(line);
        command
            .stdin(Stdio::null())
            .stdout(File::create(bed.folder.join(format!("{name}.stdout")))?)
            .stderr(File::create(&said)?);
        let mut running = Running::start(&mut command, &[])?;
        let start = Instant::now();
        loop {
            let text = std::fs::read_to_string(&said)?;
            let link = text.lines().find_map(|line| line.split_once("live page: "));
            if let Some((_, link)) = link {
                let link = link.trim().to_owned();
                return Ok(Self {
                    running,
                    said,
                    link,
                });
            }
            if running.ended()?.is_some() || start.elapsed() > PATIENCE {
                bail!("filestone printed no link; it said: {text}");
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until it ends.
    fn ended(self, limit: Duration) -> Result<()> {
        let said = self.said;
        let status = self.running.wait(limit)?;
        if !status.success() {
            let text = std::fs::read_to_string(&said)?;
            bail!("filestone ended with {status}; it said: {text}");
        }
        Ok(())
    }
}
