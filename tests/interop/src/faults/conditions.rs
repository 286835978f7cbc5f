//! Runs under a condition that calls do not show: over NFS, over SMB and in a directory of this
//! host.
//!
//! A condition exists from the start, such as a server that grants one credit, or starts at a given
//! time of the run, such as a stopped generator. `conditions.toml` has the expected exit code and
//! message of each run; no run may leave anything behind.

use super::attempt::RUN_LIMIT;
use super::cell::CommandKind;
use super::command::{self, Line, Place, warm_up};
use super::server::{FOREIGN, SMB, Server};
use super::verdict::{self, Verdict};
use crate::process::{Folder, Logged, Running};
use anyhow::{Context, Result};
use rustix::process::Signal;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Time from the start of the window to a timed event.
const INTO_WINDOW: Duration = Duration::from_millis(700);
/// Duration of a stop of the generator.
const STOPPED: Duration = Duration::from_secs(3);
/// Time limit of the search for the directory of a run, to plant a file in it.
const PLANTED_WITHIN: Duration = Duration::from_secs(5);
/// Time limit of a call in runs whose generator is stopped.
const PATIENCE: Duration = Duration::from_secs(10);
/// Server memory that is large enough for undelayed calls.
const MEMORY: &str = "--memory=1G";
/// Number of clients that exceeds the file limit of the process.
const MANY: u32 = 100;
const FEW_FILES: &str = "prlimit --nofile=64";
/// Shell script that enters the control group whose file is its first argument, and executes the
/// rest.
const ENTERED: &str = "echo $$ >\"$0\" && exec \"$@\"";
/// A separate network namespace without IPv6.
const WITHOUT_IPV6: &str = "unshare --map-root-user --net sh -c 'ip link set lo up; \
     echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; exec \"$0\" \"$@\"'";

/// The event or setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Determined by the options of the server.
    #[default]
    Served,
    /// The generator may open few files.
    FewFiles,
    /// The generator has a tenth of a processor.
    Throttled,
    /// The generator is stopped for a while.
    Stopped,
    /// The reader closes the generator's output.
    ClosedOutput,
    /// Another program makes a file in the directory of the run.
    Planted,
}

/// A condition and the expected outcome of runs under it; the file describes the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    name: String,
    on: BTreeMap<Place, Vec<CommandKind>>,
    #[serde(default)]
    deed: Deed,
    #[serde(default)]
    served: Vec<String>,
    #[serde(default)]
    code: i32,
    #[serde(default)]
    caveats: Vec<String>,
}

static CONDITIONS: LazyLock<Vec<Condition>> = LazyLock::new(|| {
    let read = toml::from_str(include_str!("conditions.toml"));
    let mut file: BTreeMap<String, Vec<Condition>> = read.expect("a test reads the file");
    file.remove("condition").unwrap_or_default()
});

/// Command lines that run on a host without IPv6.
const ALONE: &[&str] = &[
    "demo -d 200ms",
    "probe null -d 300ms --no-calibrate",
    "probe null smb: -d 300ms --no-calibrate",
    "mix -d 500ms --no-calibrate",
    "replay office --layer nfs:,smb:,tcp: -d 300ms",
    "fleet --writers 2 nfs: -d 500ms",
];

/// A run.
#[derive(Clone, Copy)]
pub enum Trial {
    /// A run under a condition.
    Met {
        condition: &'static Condition,
        place: Place,
        face: CommandKind,
    },
    /// A run without IPv6: a command line of [`ALONE`], by its number.
    WithoutIpv6(usize),
}

impl Trial {
    /// Returns all trials.
    pub fn all() -> Vec<Self> {
        let mut trials = Vec::new();
        for condition in CONDITIONS.iter() {
            for (&place, faces) in &condition.on {
                trials.extend(faces.iter().map(|&face| Self::Met {
                    condition,
                    place,
                    face,
                }));
            }
        }
        trials.extend((0..ALONE.len()).map(Self::WithoutIpv6));
        trials
    }

    /// Makes the run and judges its outcome.
    pub fn judged(self, filestone: &Path) -> Verdict {
        let judged = match self {
            Self::WithoutIpv6(number) => without_ipv6(filestone, ALONE[number]),
            Self::Met {
                condition,
                place,
                face,
            } => met(filestone, condition, place, face),
        };
        judged.unwrap_or_else(|error| Verdict::bad("ERROR", format!("{error:#}")))
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithoutIpv6(number) => write!(f, "no IPv6: {}", ALONE[*number]),
            Self::Met {
                condition,
                place,
                face,
            } => {
                let (name, place) = (&condition.name, format!("{place:?}"));
                write!(f, "{name} {} {}", place.to_lowercase(), face.name())
            }
        }
    }
}

fn without_ipv6(filestone: &Path, line: &str) -> Result<Verdict> {
    let folder = Folder::new("faults")?;
    let mut command = Command::new("sh");
    let program = filestone.display();
    let line = format!("{WITHOUT_IPV6} '{program}' {line}");
    let output = crate::process::run(command.args(["-c", &line]), &[], &folder.path, RUN_LIMIT)?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(if output.status.success() || is_late(&said) {
        Verdict::good("measured")
    } else {
        Verdict::bad("END", format!("{}: {}", output.status, said.trim()))
    })
}

/// Whether other programs of this host delayed the sends of an open loop: such a run rightly does
/// not count, but that is not the subject of the test.
fn is_late(said: &str) -> bool {
    said.contains("the load generator sent operations")
}

/// A run, its server and the directories that it uses.
struct Met<'c> {
    condition: &'c Condition,
    face: CommandKind,
    server: Option<Server>,
    directory: PathBuf,
    folder: Folder,
    planted: Vec<PathBuf>,
}

fn met(
    filestone: &Path,
    condition: &Condition,
    place: Place,
    face: CommandKind,
) -> Result<Verdict> {
    let folder = Folder::new("faults")?;
    command::make_files(&folder.path)?;
    let directory = folder.path.join("directory");
    std::fs::create_dir(&directory)?;
    let server = match place {
        Place::Local => None,
        Place::Nfs | Place::Smb => {
            let served = condition.served.iter().map(String::as_str);
            let options: Vec<&str> = served.chain([SMB, MEMORY]).collect();
            Some(Server::start(filestone, &options)?)
        }
    };
    let target = match (place, &server) {
        (Place::Nfs, Some(server)) => format!("nfs://{}/export", server.address),
        (Place::Smb, Some(server)) => {
            let port = server.smb_port.context("a server of SMB")?;
            format!("smb://127.0.0.1:{port}/export")
        }
        _ => format!("local:{}", directory.display()),
    };
    let line = Line {
        filestone,
        folder: &folder.path,
        face,
        target,
        place,
        clients: match condition.deed {
            Deed::FewFiles => MANY,
            _ => 2,
        },
        timeout: match condition.deed {
            Deed::Stopped => PATIENCE,
            _ => command::TIMEOUT,
        },
    };
    let quota = match condition.deed {
        Deed::Throttled => match Quota::of_a_tenth() {
            Ok(quota) => Some(quota),
            Err(error) => return Ok(Verdict::good(format!("not tried: {error:#}"))),
        },
        _ => None,
    };
    let command = match (condition.deed, &quota) {
        (Deed::ClosedOutput, _) => piped(&line),
        (Deed::FewFiles, _) => within(&FEW_FILES.split(' ').collect::<Vec<_>>(), &line),
        (_, Some(quota)) => within(&["sh", "-c", ENTERED, &quota.processes()], &line),
        _ => line.run(),
    };
    let mut met = Met {
        condition,
        face,
        server,
        directory,
        planted: Vec::new(),
        folder,
    };
    met.run(command, warm_up(face) + INTO_WINDOW)
}

/// Splits the command line of a run into its words.
fn words(command: &Command) -> Vec<String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Returns the run with its output closed after the first two lines, and the exit code of the run.
fn piped(line: &Line<'_>) -> Command {
    let mut command = Command::new("bash");
    let run = "\"$@\" --report-interval 100ms | head -2; exit ${PIPESTATUS[0]}";
    command.args(["-c", run, "bash"]).args(words(&line.shown()));
    command
}

/// Returns the run as the last arguments of another command.
fn within(outer: &[&str], line: &Line<'_>) -> Command {
    let mut command = Command::new(outer[0]);
    command.args(&outer[1..]).args(words(&line.run()));
    command
}

/// A control group whose processes together have a tenth of a processor. It is removed when this
/// value is dropped, once they have ended.
struct Quota(PathBuf);

impl Quota {
    /// Makes the group in version 2 if the CPU controller is there, otherwise in version 1.
    fn of_a_tenth() -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("filestone-faults-{}-{number}", std::process::id());
        let all = Path::new("/sys/fs/cgroup");
        let enabled = std::fs::read_to_string(all.join("cgroup.subtree_control"));
        let (parent, file, quota) = match enabled {
            Ok(enabled) if enabled.contains("cpu") => (all.into(), "cpu.max", "10000 100000"),
            _ => (all.join("cpu"), "cpu.cfs_quota_us", "10000"),
        };
        let group = Self(parent.join(name));
        std::fs::create_dir(&group.0).context("no control group can be made")?;
        std::fs::write(group.0.join(file), quota).context("no quota can be set")?;
        Ok(group)
    }

    fn processes(&self) -> String {
        self.0.join("cgroup.procs").display().to_string()
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

impl Met<'_> {
    fn run(&mut self, mut command: Command, moment: Duration) -> Result<Verdict> {
        let run = Logged::start(&mut command, &[], &self.folder.path)?;
        let started = Instant::now();
        self.let_happen(&run.running, moment)?;
        let rest = RUN_LIMIT.saturating_sub(started.elapsed());
        let output = run.wait(rest)?;
        let said = String::from_utf8_lossy(&output.stderr);
        let record: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let record = record.map(|record| match record {
            Value::Array(mut all) => all.pop().unwrap_or_default(),
            record => record,
        });
        self.evaluate(output.status.code(), record.as_ref(), said.trim())
    }

    /// Triggers the event of the condition at its time in the run.
    fn let_happen(&mut self, run: &Running, moment: Duration) -> Result<()> {
        match self.condition.deed {
            Deed::Served | Deed::FewFiles | Deed::Throttled | Deed::ClosedOutput => Ok(()),
            Deed::Stopped => {
                std::thread::sleep(moment);
                run.signal(Signal::STOP)?;
                std::thread::sleep(STOPPED);
                run.signal(Signal::CONT)
            }
            Deed::Planted => {
                std::thread::sleep(moment);
                // On a busy host the run has not made its directory yet.
                let started = Instant::now();
                while !self.plant()? && started.elapsed() < PLANTED_WITHIN {
                    std::thread::sleep(moment);
                }
                Ok(())
            }
        }
    }

    /// Creates foreign files in the directories of the run; returns whether there was one.
    fn plant(&mut self) -> Result<bool> {
        if let Some(server) = &mut self.server {
            return server.plant();
        }
        for outer in std::fs::read_dir(&self.directory)? {
            let outer = outer?.path();
            let inner = std::fs::read_dir(&outer).into_iter().flatten().flatten();
            let mut places: Vec<PathBuf> = inner.map(|entry| entry.path()).collect();
            places.push(outer);
            for place in places.into_iter().filter(|place| place.is_dir()) {
                let (file, link) = (place.join(FOREIGN), place.join(format!("{FOREIGN}-link")));
                File::create(&file)?;
                std::os::unix::fs::symlink(FOREIGN, &link)?;
                self.planted.extend([file, link]);
            }
        }
        Ok(!self.planted.is_empty())
    }

    fn evaluate(&self, code: Option<i32>, record: Option<&Value>, said: &str) -> Result<Verdict> {
        let condition = self.condition;
        if said.contains("panicked") {
            return Ok(Verdict::bad("PANIC", said));
        }
        if let Some(wrong) = record.and_then(verdict::balances) {
            return Ok(wrong);
        }
        // Calls that were due while an open loop was stopped are late by more than a response time.
        let stood_still = condition.deed == Deed::Stopped && self.face == CommandKind::Mix;
        let wanted = if stood_still { 3 } else { condition.code };
        let is_other = code == Some(3) && wanted == 0 && is_late(said);
        if code != Some(wanted) && !is_other {
            let end = format!("exit code {code:?} instead of {wanted}\n{said}");
            return Ok(Verdict::bad("END", end));
        }
        let caveats = record.map_or_else(String::new, |record| record["caveats"].to_string());
        let wanted_caveats = &condition.caveats;
        if !wanted_caveats.is_empty()
            && !wanted_caveats
                .iter()
                .any(|one| caveats.contains(one.as_str()))
        {
            return Ok(Verdict::bad(
                "UNREPORTED_LEFTOVER",
                format!("the caveats are {caveats}"),
            ));
        }
        let (left, taken) = match &self.server {
            Some(server) => (server.left()?, server.taken()?),
            None => self.left_here()?,
        };
        if let Some(taken) = verdict::took_of_others(&taken) {
            return Ok(taken);
        }
        let stays = condition.deed == Deed::Planted;
        let is_unsaid = |name: &&String| !stays || !caveats.contains(name.as_str());
        Ok(match left.iter().find(is_unsaid) {
            Some(name) => Verdict::bad("LEFTOVER", format!("{name} is left: {said}")),
            None => Verdict::good(format!("exit code {wanted}")),
        })
    }

    /// Returns the names left in the directory, and the planted files that were removed.
    fn left_here(&self) -> Result<(Vec<String>, Vec<String>)> {
        let mut left = Vec::new();
        for entry in std::fs::read_dir(&self.directory)? {
            left.push(entry?.file_name().to_string_lossy().into_owned());
        }
        let is_gone = |path: &&PathBuf| path.symlink_metadata().is_err();
        let taken = self.planted.iter().filter(is_gone);
        Ok((left, taken.map(|path| path.display().to_string()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conditions_can_be_read_and_all_are_tried() {
        assert_eq!((CONDITIONS.len(), Trial::all().len()), (11, 71));
    }
}
