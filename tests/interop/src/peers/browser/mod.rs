//! The live page in a real browser: Chromium without a window, driven by its WebDriver.
//!
//! Runs measure the built-in server in the network namespace of the test, so that neither the run nor
//! the browser can reach anything else.

mod chromium;
mod fleet;
mod many;
mod points;
mod report;
mod synthetic;
mod webdriver;

use super::Interop;
use crate::scenario::Bed;
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::process::Logged;

/// Programs, and the Debian packages that contain them.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/chromium", "chromium"),
    ("/usr/bin/chromedriver", "chromium-driver"),
    ("/usr/sbin/ip", "iproute2"),
    ("/usr/bin/unshare", "util-linux"),
];

/// Time limit of an expected event.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Name of a scenario, and the function that checks it.
type Scenario = (&'static str, fn(&Bed, Option<&Path>) -> Result<()>);

const SCENARIOS: &[Scenario] = &[
    (
        "a fleet of 500 that is changed from the page",
        fleet::changed,
    ),
    ("100,000 rows that are scrolled", many::scrolled),
    ("points that are drawn as they come", points::drawn),
];
/// Scenarios that take longer.
const THOROUGH: &[Scenario] = &[("the report of an hour", report::of_an_hour)];

/// Runs the scenarios. Returns whether all passed.
pub fn run(bed: &Bed, options: &Interop) -> Result<bool> {
    let (only, pictures) = (options.only.as_deref(), options.pictures.as_deref());
    let more = THOROUGH.iter().filter(|_| options.thorough);
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
    logged: Logged,
    /// The link that it printed.
    link: String,
}

impl Watched {
    /// Starts it with these arguments, which include `--live`.
    fn start(bed: &Bed, name: &str, line: &str) -> Result<Self> {
        let folder = bed.folder.join(format!("{name}-said"));
        std::fs::create_dir(&folder)?;
        let mut logged = Logged::start(&mut bed.command(line), &[], &folder)?;
        let link = logged.link(PATIENCE)?;
        Ok(Self { logged, link })
    }

    /// Waits until it ends.
    fn ended(self, limit: Duration) -> Result<()> {
        let output = self.logged.wait(limit)?;
        let (status, said) = (output.status, String::from_utf8_lossy(&output.stderr));
        ensure!(
            status.success(),
            "filestone ended with {status}; it said: {said}"
        );
        Ok(())
    }
}
