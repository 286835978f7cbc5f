//! What passes over loopback, captured, and read field by field by tshark.

use crate::process::{self, Running};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs, and the Debian packages they are in.
pub const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/tshark", "tshark"),
    ("/usr/bin/dumpcap", "wireshark-common"),
];

/// How long dumpcap may take to begin, and to end.
const CAPTURE_LIMIT: Duration = Duration::from_secs(10);
/// How long tshark may take over a capture.
const READ_LIMIT: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// After which dumpcap has written what has passed: it is given packets in batches.
const BATCH: Duration = Duration::from_millis(400);

/// A capture that goes on.
pub struct Capture {
    dumpcap: Running,
    path: PathBuf,
    said: PathBuf,
}

impl Capture {
    /// Begins one of a TCP port of loopback, in a file of this folder.
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
        // It says so when the interface is open.
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

    /// Ends it, and says where it is. An error if packets were lost: nothing could be said of the
    /// others.
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

/// How tshark is to read a capture.
pub struct Dissection<'a> {
    pub capture: &'a Path,
    /// What it has for its configuration: its tables of keys, too.
    pub configuration: &'a Path,
    /// Its preferences, as `name:value`.
    pub preferences: &'a [&'a str],
}

impl Dissection<'_> {
    /// These fields of every packet that the filter lets pass: a cell for each, in which a comma
    /// stands between the values of a field that is there more than once.
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
