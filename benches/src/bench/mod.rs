//! Cost of recording: filestone and a raw client, in one run, against one server, with the same
//! bytes.
//!
//! Both clients are separate processes on the same processor; the server has another one. They take
//! turns, and ratios are computed pair by pair, so that other activity of the host affects both.

mod cases;
mod encryption;
mod job;
mod limits;
mod live_page;
mod table;

use crate::instructions;
use anyhow::{Context, Result, bail};
use clap::Args;
use filestone_interop::process::{self, Folder, Running};
use filestone_interop::processors;
use serde::Serialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Figures without a comparison, by name.
const LIMITS: &[(&str, limits::Measure)] = &[
    ("open loop", limits::open_loop),
    ("memory", limits::memory),
    ("encryption", encryption::limits),
    ("live page", live_page::limits),
    ("job", job::limits),
];

/// Options of `cargo xtask bench`.
#[derive(Debug, Clone, Args)]
pub struct Bench {
    /// Pairs of runs per case
    #[arg(long, default_value_t = 7)]
    pub rounds: usize,
    /// Length of each run in seconds
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
    /// Only cases whose name contains this
    #[arg(long)]
    pub only: Option<String>,
    /// Print the tables for docs/benchmarks.md
    #[arg(long)]
    pub markdown: bool,
    /// Exit with an error if a bar is missed
    #[arg(long)]
    pub strict: bool,
}

/// Programs, processors and options that a case needs to run.
pub struct TestBed {
    filestone: PathBuf,
    folder: Folder,
    server_cpus: Vec<usize>,
    client_cpu: Option<usize>,
}

/// A server for one or more cases.
pub struct Serving {
    /// Stops it when dropped.
    _running: Running,
    /// Port for NFS and MOUNT.
    pub port: u16,
    /// Port for SMB.
    pub smb_port: u16,
    /// Process ID, which is also the ID of its process group.
    pub process: u32,
}

/// Results of all cases, limits and instruction counts.
#[derive(Debug, Serialize)]
struct Results {
    rounds: usize,
    seconds: f64,
    processors: usize,
    /// Share of all processors that others used before the start.
    busy_share: f64,
    comparisons: Vec<cases::Comparison>,
    limits: Vec<limits::Limit>,
}

impl TestBed {
    fn new() -> Result<Self> {
        let cpus = processors::available()?;
        let (client_cpu, server_cpus) = match cpus.as_slice() {
            [] | [_] => (None, Vec::new()),
            [server, client] => (Some(*client), vec![*server]),
            // Adjacent processors may share a core; the first and the last do not.
            [server, .., client] => (Some(*client), vec![*server]),
        };
        Ok(Self {
            filestone: process::build_filestone("dist")?,
            folder: Folder::new("bench")?,
            server_cpus,
            client_cpu,
        })
    }

    /// Starts the built-in server with these additional options.
    pub fn serve(&self, options: &[&str]) -> Result<Serving> {
        let (port, smb_port) = (process::free_port()?, process::free_port()?);
        let mut command = Command::new(&self.filestone);
        command
            .args(["serve", "--port", &port.to_string()])
            .args(["--smb-port", &smb_port.to_string()])
            .args(options)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let mut running = Running::start(&mut command, &self.server_cpus)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, smb_port));
        running.wait_for(address, Duration::from_secs(10))?;
        Ok(Serving {
            process: running.id(),
            _running: running,
            port,
            smb_port,
        })
    }

    /// Returns the command `filestone probe` with these options, not yet started.
    pub fn probe(&self, port: u16, operation: &str, path: &str, options: &str) -> Command {
        let mut command =
            self.probe_at(&format!("nfs://127.0.0.1:{port}{path}"), operation, options);
        command.args(["--mount-port", &port.to_string()]);
        command
    }

    /// Like [`probe`](Self::probe), for any target.
    pub fn probe_at(&self, target: &str, operation: &str, options: &str) -> Command {
        let mut command = Command::new(&self.filestone);
        command
            .args(["probe", operation, target, "--format", "json"])
            // Calibration would run before the window and only cost time: here runs are compared
            // with each other, not with the capacity of the host.
            .arg("--no-calibrate")
            .args(options.split_whitespace());
        command
    }

    /// Returns the processors of the client under test.
    pub fn client_cpus(&self) -> Vec<usize> {
        self.client_cpu.into_iter().collect()
    }

    /// Returns the directory for temporary output.
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Runs a client to its end on its processors, with the time limit `limit`.
    pub fn run(&self, command: &mut Command, limit: Duration) -> Result<Output> {
        process::run(command, &self.client_cpus(), self.folder(), limit)
    }

    /// Returns the command of the raw client, not yet started.
    pub fn raw_client(&self, port: u16, arguments: &[String]) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("raw-client")
            .args(arguments)
            .args(["--port", &port.to_string()]);
        Ok(command)
    }
}

/// Runs everything and prints the tables. Returns whether every bar was met.
pub fn run(options: &Bench) -> Result<bool> {
    if options.rounds == 0 {
        bail!("--rounds 0: at least one round is needed");
    }
    process::raise_file_limit();
    let bed = TestBed::new()?;
    if bed.client_cpu.is_none() {
        eprintln!("note: only one processor: client and server share it, and ratios say little");
    }
    let busy_share = processors::busy_share_before()?;
    let only = options.only.as_deref();
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut comparisons = Vec::new();
    for case in cases::all()?.iter().filter(|case| wanted(&case.name)) {
        eprintln!("{}", case.name);
        comparisons.push(cases::compare(&bed, case, options)?);
    }
    let mut measured = Vec::new();
    for (name, measure) in LIMITS.iter().filter(|(name, _)| wanted(name)) {
        eprintln!("{name}");
        measured.extend(measure(&bed)?);
    }
    let results = Results {
        rounds: options.rounds,
        seconds: options.seconds,
        processors: processors::available()?.len(),
        busy_share,
        comparisons,
        limits: measured,
    };
    let is_met = results.comparisons.iter().all(cases::Comparison::is_met)
        && results.limits.iter().all(|limit| limit.is_met);
    print!("{}", table::render(&results, options.markdown));
    let file = filestone_interop::root().join("target/bench.json");
    std::fs::create_dir_all(file.parent().context("it has a folder")?)?;
    std::fs::write(&file, serde_json::to_string_pretty(&results)?)?;
    eprintln!("all rounds: target/bench.json");
    // Last, because it builds a program for minutes. Measuring times does not require Valgrind.
    if options.only.is_none() {
        match instructions::count(instructions::PACKAGED) {
            Ok(counts) => print!("\n{}", instructions::table(&counts, None, options.markdown)),
            Err(error) => eprintln!("note: no instructions counted: {error:#}"),
        }
    }
    Ok(is_met || !options.strict)
}
