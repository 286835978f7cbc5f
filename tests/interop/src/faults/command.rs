//! The commands of the runs, and the calls that identify their phases.

use super::cell::CommandKind;
use super::relay::Call;
use anyhow::Result;
use filestone_wire::nfs3::Procedure;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Length of the warm-up, if there is one.
const WARM_UP: Duration = Duration::from_millis(1000);
/// Length of the window.
pub const WINDOW: Duration = Duration::from_millis(2000);
/// Time limit of a call.
pub const TIMEOUT: Duration = Duration::from_millis(1000);
/// Time limit of reconnection attempts.
pub const RECONNECT: Duration = Duration::from_millis(1500);

/// Size of a WRITE of the probe; larger than any WRITE of a marker file.
const PROBE_SIZE: &str = "16K";
const MARKER_MAX: usize = 8 << 10;
/// File size of the fleet: writing a file takes 1.3 s. Between two files, which all writers reach
/// at the same time, a full server is not noticed, because truncating a file frees its space.
const FLEET_FILE: &str = "2M";
/// The mix. It contains FSSTAT because no other part of a run sends it.
const MIX: &str = "fsstat 30\nread 20\nwrite 20\nlookup 10\ngetattr 10\ncreate 10\n";
/// Options for a record alone on standard output.
const RECORD: [&str; 4] = ["--format", "json", "--report-interval", "0"];
const REMOVE_SET: &str = "--remove-file-set";
/// Largest number of files that a client of the replay makes.
const LOAD_FILES: u32 = 400;

/// Writes the files for the commands into `folder`.
pub fn make_files(folder: &Path) -> Result<()> {
    std::fs::write(folder.join("faults.mix"), MIX)?;
    // It starts with a call that nothing else sends, removes nothing and is longer than the run, so
    // that its calls identify each phase. On a server that is fast enough to reach the end, the
    // load starts again: existing files are truncated then (FILE_OVERWRITE_IF).
    let mut load = String::from(
        "QUERY_FS_INFORMATION 259 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\" 0x1 0x3 9999 NT_STATUS_OK\n\
         Close 9999 NT_STATUS_OK\n",
    );
    for number in 0..LOAD_FILES {
        let handle = 10_000 + number;
        writeln!(load, "QUERY_FS_INFORMATION 259 NT_STATUS_OK")?;
        let name = format!("\\clients\\client1\\f{number}");
        writeln!(load, "NTCreateX \"{name}\" 0x40 0x5 {handle} NT_STATUS_OK")?;
        writeln!(load, "WriteX {handle} 0 16384 16384 NT_STATUS_OK")?;
        writeln!(load, "ReadX {handle} 0 4096 4096 NT_STATUS_OK")?;
        writeln!(load, "Close {handle} NT_STATUS_OK")?;
    }
    std::fs::write(folder.join("faults.load"), load)?;
    Ok(())
}

/// Returns the length of the warm-up.
pub const fn warm_up(face: CommandKind) -> Duration {
    match face {
        CommandKind::Fleet => Duration::ZERO,
        CommandKind::Probe | CommandKind::Mix | CommandKind::KeptSet | CommandKind::Replay => {
            WARM_UP
        }
    }
}

fn millis(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

/// Target of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Nfs,
    Smb,
    Local,
}

/// Command line of `face`.
pub struct Line<'a> {
    pub filestone: &'a Path,
    pub folder: &'a Path,
    pub face: CommandKind,
    /// The export of the server, or of the relay in front of it.
    pub target: String,
    pub place: Place,
    pub clients: u32,
    /// Time limit of a call.
    pub timeout: Duration,
}

impl Line<'_> {
    /// Returns the command of the run with the fault.
    pub fn run(&self) -> Command {
        let mut command = self.shown();
        command.args(RECORD);
        command
    }

    /// Returns the same command with the text output.
    pub fn shown(&self) -> Command {
        let mut command = self.start();
        self.warmed_up(&mut command, warm_up(self.face))
            .args(["--duration", &millis(WINDOW)]);
        if self.place != Place::Local {
            command.args(["--reconnect", &millis(RECONNECT)]);
        }
        command
    }

    /// Returns the command that removes what the previous run left.
    pub fn removal(&self) -> Command {
        let option = match self.face {
            // Every run of this mix removes its set.
            CommandKind::Mix => None,
            CommandKind::KeptSet => Some(REMOVE_SET),
            CommandKind::Probe | CommandKind::Replay | CommandKind::Fleet => {
                Some("--remove-leftover")
            }
        };
        let mut command = self.start();
        self.warmed_up(&mut command, Duration::ZERO)
            .args(["--duration", "100ms"])
            .args(RECORD)
            .args(option);
        command
    }

    fn warmed_up<'c>(&self, command: &'c mut Command, time: Duration) -> &'c mut Command {
        let has_warm_up = !warm_up(self.face).is_zero();
        command.args(has_warm_up.then(|| format!("--warm-up={}", millis(time))))
    }

    fn start(&self) -> Command {
        let (target, clients) = (&self.target, &self.clients.to_string());
        let file = |name: &str| self.folder.join(name).display().to_string();
        let mut command = Command::new(self.filestone);
        match self.face {
            CommandKind::Probe => command
                .args(["probe", "write", target, "--no-calibrate"])
                .args([
                    "--clients",
                    clients,
                    "--in-flight",
                    "2",
                    "--io-size",
                    PROBE_SIZE,
                ]),
            CommandKind::Mix | CommandKind::KeptSet => command
                .args(["mix", target, "--no-calibrate", "--mix"])
                .arg(file("faults.mix"))
                .args(["--offered", "200", "--clients", clients])
                .args(["--files", "10", "--file-size", "16K"])
                .args((self.face == CommandKind::Mix).then_some(REMOVE_SET)),
            CommandKind::Replay => command.arg("replay").arg(file("faults.load")).args([
                "--layer",
                target,
                "--clients",
                clients,
            ]),
            CommandKind::Fleet => command
                // With a second writer a WRITE is in flight almost all the time.
                .args(["fleet", "--readers", "1", "--writers", clients, target])
                .args(["--io-size", PROBE_SIZE, "--file-size", FLEET_FILE])
                .args(["--rate", "100ops/s"]),
        };
        if self.place != Place::Local {
            command.args(["--timeout", &millis(self.timeout)]);
        }
        command
    }
}

/// Whether this call shows that the measured part has started.
pub fn shows_begin(face: CommandKind, call: &Call) -> bool {
    match face {
        CommandKind::Probe | CommandKind::Fleet => {
            call.is_any(&[Procedure::Write]) && call.len > MARKER_MAX
        }
        CommandKind::Mix | CommandKind::KeptSet | CommandKind::Replay => {
            call.is_any(&[Procedure::Fsstat])
        }
    }
}

/// A call, by its number among matching calls.
#[derive(Clone, Copy)]
pub struct CallNumber {
    /// Whether a call matches.
    pub counts: fn(&Call) -> bool,
    /// Number of the call among the matching ones, from 1.
    pub number: usize,
}

impl CallNumber {
    const fn new(number: usize, counts: fn(&Call) -> bool) -> Self {
        Self { counts, number }
    }

    /// Selects a call by its number among all NFS calls.
    pub const fn of_nfs(number: usize) -> Self {
        Self::new(number, |call| call.procedure.is_some())
    }
}

/// Returns the call of the preparation that triggers a fault.
pub const fn prepare_call(face: CommandKind) -> CallNumber {
    match face {
        // After the marker and the file of the first client.
        CommandKind::Probe => CallNumber::new(3, |call| call.is_any(&[Procedure::Create])),
        CommandKind::Mix | CommandKind::KeptSet => {
            CallNumber::new(9, |call| call.is_any(&[Procedure::Create]))
        }
        CommandKind::Replay | CommandKind::Fleet => CallNumber::new(1, writes_marker),
    }
}

/// Returns the call of the clean-up that triggers a fault.
pub const fn clean_up_call(face: CommandKind) -> CallNumber {
    match face {
        CommandKind::KeptSet => CallNumber::new(1, writes_marker),
        CommandKind::Probe | CommandKind::Mix | CommandKind::Replay | CommandKind::Fleet => {
            CallNumber::new(3, removes)
        }
    }
}

fn writes_marker(call: &Call) -> bool {
    call.is_any(&[Procedure::Write]) && call.len < MARKER_MAX
}

fn removes(call: &Call) -> bool {
    call.is_any(&[Procedure::Remove, Procedure::Rmdir])
}

/// Whether a call after the window shows that the clean-up has started.
pub fn is_of_clean_up(face: CommandKind, call: &Call) -> bool {
    (clean_up_call(face).counts)(call)
}

/// Whether a call is one that the measurement sends and a clean-up does not.
pub fn is_measured(face: CommandKind, call: &Call) -> bool {
    use Procedure::{Create, Fsstat, Read, Write};
    call.is_any(&[Write, Read, Create, Fsstat]) && !is_of_clean_up(face, call)
}
