//! Child processes that never outlive this program.

use crate::{interrupted, processors};
use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use std::fs::File;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time limit for the clean-up of the second half of a command.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(20);

/// A process that is stopped, by its ID, when this is dropped.
pub struct Running {
    child: Child,
    /// Whether it leads a process group, which is stopped with it.
    leads_group: bool,
}

impl Running {
    /// Starts `command` on `cpus`, or on any available processor if `cpus` is empty.
    pub fn start(command: &mut Command, cpus: &[usize]) -> Result<Self> {
        interrupted::check()?;
        let name = command.get_program().to_string_lossy().into_owned();
        let child =
            processors::spawn_on(command, cpus).with_context(|| format!("{name} did not start"))?;
        Ok(Self {
            child,
            leads_group: false,
        })
    }

    /// Starts `command` as the leader of a process group: its children are stopped with it.
    pub fn start_group(command: &mut Command) -> Result<Self> {
        let mut running = Self::start(command.process_group(0), &[])?;
        running.leads_group = true;
        Ok(running)
    }

    /// Process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status, if it has ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Sends SIGINT, as ^C does.
    pub fn interrupt(&self) -> Result<()> {
        self.signal(Signal::INT)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let id = rustix::process::Pid::from_child(&self.child);
        Ok(rustix::process::kill_process(id, signal)?)
    }

    /// Sends a signal to the process group.
    pub fn signal_group(&self, signal: Signal) -> Result<()> {
        let id = rustix::process::Pid::from_child(&self.child);
        Ok(rustix::process::kill_process_group(id, signal)?)
    }

    /// Whether any process of its group exists.
    pub fn group_is_there(&mut self) -> bool {
        // An ended process exists until it is waited for.
        let _ = self.ended();
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::test_kill_process_group(id).is_ok()
    }

    /// Waits for the end of the process, with the time limit `limit`.
    pub fn wait(mut self, limit: Duration) -> Result<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < limit {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            interrupted::check()?;
            std::thread::sleep(LOOK_EVERY);
        }
        bail!("process {} did not end within {limit:?}", self.id())
    }

    /// Waits until a server listens at `address`.
    pub fn wait_for(&mut self, address: SocketAddr, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            if TcpStream::connect_timeout(&address, LOOK_EVERY * 10).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.ended()? {
                bail!("the server for {address} ended with {status}");
            }
            if start.elapsed() > limit {
                bail!("nobody listens at {address} after {limit:?}");
            }
            interrupted::check()?;
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        if self.leads_group {
            let _ = self.signal_group(Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process whose output goes to files: a full pipe would block it.
pub struct Logged {
    /// The process.
    pub running: Running,
    folder: PathBuf,
}

impl Logged {
    /// Starts `command` with the files `stdout` and `stderr` in `folder`.
    pub fn start(command: &mut Command, cpus: &[usize], folder: &Path) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("stdout"))?)
            .stderr(File::create(folder.join("stderr"))?);
        Ok(Self {
            running: Running::start(command, cpus)?,
            folder: folder.to_owned(),
        })
    }

    /// Returns its standard error output until now.
    pub fn errors(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.folder.join("stderr"))?)
    }

    /// Waits for the link to the live page of a run, with the time limit `limit`.
    pub fn link(&mut self, limit: Duration) -> Result<String> {
        let start = Instant::now();
        loop {
            let said = self.errors()?;
            if let Some(link) = link_in(&said) {
                return Ok(link.to_owned());
            }
            if self.running.ended()?.is_some() || start.elapsed() > limit {
                bail!("filestone printed no link; it said: {}", said.trim());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits for its end, with the time limit `limit`, and returns its output.
    pub fn wait(self, limit: Duration) -> Result<Output> {
        Ok(Output {
            status: self.running.wait(limit)?,
            stdout: std::fs::read(self.folder.join("stdout"))?,
            stderr: std::fs::read(self.folder.join("stderr"))?,
        })
    }
}

/// Returns the link in a complete line `live page: http://127.0.0.1:40511/#…`.
fn link_in(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("live page: ")?;
    Some(rest.split_once('\n')?.0.trim())
}

/// Runs `command` to its end, with the time limit `limit`, and returns its output, which also
/// stays in files in `folder`.
pub fn run(
    command: &mut Command,
    cpus: &[usize],
    folder: &Path,
    limit: Duration,
) -> Result<Output> {
    Logged::start(command, cpus, folder)?.wait(limit)
}

/// Runs the second half of a command, in separate namespaces, to its end. After a signal it waits
/// for that half to clean up, and stops it after [`CLEAN_UP_LIMIT`].
pub fn run_other_half(command: &mut Command) -> Result<ExitStatus> {
    let mut half = Running::start(command, &[])?;
    let mut told_at: Option<Instant> = None;
    loop {
        if let Some(status) = half.ended()? {
            return Ok(status);
        }
        if let Err(told) = interrupted::check() {
            // ^C also reaches the other half; a signal by kill(1) may not.
            if told_at.get_or_insert_with(Instant::now).elapsed() > CLEAN_UP_LIMIT {
                return Err(told);
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A temporary folder, removed when this is dropped.
pub struct Folder {
    /// Path of the folder.
    pub path: PathBuf,
}

impl Folder {
    /// Makes a new folder with `name` in its name. The number after it makes it unique: process IDs
    /// are not enough, because two programs in different PID namespaces may have the same.
    pub fn new(name: &str) -> Result<Self> {
        Self::within(&std::env::temp_dir(), name)
    }

    /// Makes a new folder in `parent`, for callers that need a known file system.
    pub fn within(parent: &Path, name: &str) -> Result<Self> {
        for number in std::process::id().. {
            let path = parent.join(format!("filestone-{name}-{number}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => bail!("{}: cannot be made: {error}", path.display()),
            }
        }
        bail!("{}: every number is taken", parent.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A remaining folder does no harm: its name is unique.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Returns the last 20 lines of a log.
pub fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Returns a port that is unused at this moment.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Environment variable with the path of a built filestone: otherwise Cargo is called, which waits
/// for other builds.
const BUILT: &str = "FILESTONE_PROGRAM";

/// Builds filestone with a profile, `release` or `dist`, unless [`BUILT`] names one. Returns its
/// path.
pub fn build_filestone(profile: &str) -> Result<PathBuf> {
    if let Some(built) = std::env::var_os(BUILT) {
        return std::fs::canonicalize(&built)
            .with_context(|| format!("{BUILT} names {}", built.display()));
    }
    let root = crate::root();
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--package", "filestone-cli"])
        .args(["--bin", "filestone", "--profile", profile])
        .current_dir(root)
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("filestone does not build");
    }
    let binary = target_folder()?.join(profile).join("filestone");
    if !binary.is_file() {
        bail!("{}: the build left no such file", binary.display());
    }
    Ok(binary)
}

/// Returns Cargo's target folder: it contains the folder of the profile, which contains this
/// program.
pub fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent);
    Ok(target
        .context("this program is in no target folder")?
        .to_owned())
}

/// Raises the limit of open files of this process and its children to the permitted maximum.
pub fn raise_file_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // This only fails above the maximum, which cannot be.
    let _ = setrlimit(Resource::Nofile, raised);
    limit.maximum.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_that_of_a_whole_line() {
        let said = "note: live page: http://127.0.0.1:40511/#X\n";
        assert_eq!(link_in(said), Some("http://127.0.0.1:40511/#X"));
        for half in ["", "note: live page: http://127.0.0", said.trim_end()] {
            assert_eq!(link_in(half), None, "{half}");
        }
    }

    #[test]
    fn no_two_folders_are_the_same() {
        let (one, other) = (Folder::new("test"), Folder::new("test"));
        let (one, other) = (one.expect("a folder"), other.expect("a folder"));
        assert_ne!(one.path, other.path);
        let path = one.path.clone();
        drop(one);
        assert!(!path.exists() && other.path.exists());
    }
}
