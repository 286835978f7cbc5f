//! Captures of loopback traffic, dissected into fields by tshark.

use crate::process::{self, Running};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs, and the Debian packages that contain them.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/tshark", "tshark"),
    ("/usr/bin/dumpcap", "wireshark-common"),
];

/// Time limit for dumpcap to start, and to end.
const CAPTURE_LIMIT: Duration = Duration::from_secs(10);
/// Time limit of tshark for a capture.
const READ_LIMIT: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time after which dumpcap has written the previous packets: it receives them in batches.
const BATCH: Duration = Duration::from_millis(400);

/// A running capture.
pub struct Capture {
    dumpcap: Running,
    path: PathBuf,
    said: PathBuf,
}

impl Capture {
    /// Starts a capture of a TCP port of loopback, in a file of this folder.
    pub fn start(folder: &Path, port: u16) -> Result<Self> {
        let (path, said) = (folder.join("capture.pcap"), folder.join("dumpcap"));
        let mut command = Command::new("dumpcap");
        command
            .args(["-q", "-P", "-i", "lo", "-B", "32", "-f"])
            .arg(format!("tcp port {port}"))
            .arg("-w")
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&said)?);
        let mut dumpcap = Running::start(&mut command, &[])?;
        let start = Instant::now();
        // dumpcap prints this when the interface is open.
        while !std::fs::read_to_string(&said)?.contains("File: ") {
            let ended = dumpcap.ended()?;
            if ended.is_some() || start.elapsed() > CAPTURE_LIMIT {
                let said = std::fs::read_to_string(&said)?;
                bail!("dumpcap captures nothing: {}", said.trim());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(Self {
            dumpcap,
            path,
            said,
        })
    }

    /// Stops the capture and returns its path. Fails if packets were lost, because the others would
    /// be inconclusive.
    pub fn stop(self) -> Result<PathBuf> {
        std::thread::sleep(BATCH);
        self.dumpcap.interrupt()?;
        self.dumpcap.wait(CAPTURE_LIMIT).context("dumpcap")?;
        let said = std::fs::read_to_string(&self.said)?;
        let dropped = said.lines().find(|line| line.contains("dropped"));
        if !dropped.is_some_and(|line| line.contains("/0 (pcap:0")) {
            bail!("dumpcap lost packets: {}", said.trim());
        }
        Ok(self.path)
    }
}

/// Options of tshark for a capture.
pub struct Dissection<'a> {
    pub capture: &'a Path,
    /// Configuration directory, which includes the tables of keys.
    pub configuration: &'a Path,
    /// Preferences as `name:value`.
    pub preferences: &'a [&'a str],
}

impl Dissection<'_> {
    /// Returns these fields of every packet that matches the filter: one cell per field, with
    /// commas between the values of a repeated field.
    pub fn fields(&self, filter: &str, fields: &[&str]) -> Result<Vec<Vec<String>>> {
        let mut command = Command::new("tshark");
        command
            .env("WIRESHARK_CONFIG_DIR", self.configuration)
            .arg("-r")
            .arg(self.capture)
            .args(["-Y", filter, "-Tfields"])
            .args(["-Eseparator=/t", "-Eaggregator=,", "-Eoccurrence=a"]);
        for preference in self.preferences {
            command.args(["-o", preference]);
        }
        for field in fields {
            command.args(["-e", field]);
        }
        let output = process::run(&mut command, &[], self.configuration, READ_LIMIT)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("tshark ended with {}: {}", output.status, said.trim());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
        Ok(text.lines().map(cells).collect())
    }
}
