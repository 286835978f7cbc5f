//! A server that somebody's command starts: in a process group of its own, which ends with it.

use crate::error::Error;
use crate::execution::repeats::pause;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take to end before it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);
/// How often a process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// What is shown of a command's output: its end.
const SHOWN_BYTES: u64 = 2000;

/// A command that runs, with all that it has started.
pub struct ServerCommand {
    child: Child,
    group: Pid,
    /// Where its output goes: a pipe that is not read would stop it.
    output: File,
}

impl ServerCommand {
    /// Starts a line of sh.
    pub fn start(line: &str) -> Result<Self, Error> {
        let refused = |error: std::io::Error| {
            Error::environment(format!("{line}: it could not be started: {error}"))
        };
        let output = anonymous_file().map_err(refused)?;
        let (for_out, for_error) = (output.try_clone(), output.try_clone());
        let child = Command::new("sh")
            .args(["-c", line])
            .stdin(Stdio::null())
            .stdout(for_out.map_err(refused)?)
            .stderr(for_error.map_err(refused)?)
            .process_group(0)
            .spawn()
            .map_err(refused)?;
        Ok(Self {
            group: Pid::from_child(&child),
            child,
            output,
        })
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits until it ends; `None` if that takes longer than `most`, or if it is to stop.
    pub fn wait(&mut self, most: Duration, stop: &AtomicBool) -> Option<ExitStatus> {
        let end = Instant::now() + most;
        while Instant::now() < end && !stop.load(Ordering::Relaxed) {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            pause(LOOK_EVERY, stop);
        }
        self.ended()
    }

    /// The end of what it said.
    pub fn said(&self) -> String {
        // Its own place in the file stays where it is.
        let length = self.output.metadata().map_or(0, |metadata| metadata.len());
        let from = length.saturating_sub(SHOWN_BYTES);
        let mut bytes = vec![0; (length - from) as usize];
        match self.output.read_exact_at(&mut bytes, from) {
            Ok(()) => String::from_utf8_lossy(&bytes).trim().to_owned(),
            Err(_) => String::new(),
        }
    }

    /// Ends the group: it is asked to, and killed if it does not.
    pub fn stop(&mut self) {
        // Gone already is as good.
        let _ = kill_process_group(self.group, Signal::TERM);
        if !self.is_gone_within(STOP_MAX) {
            let _ = kill_process_group(self.group, Signal::KILL);
            self.is_gone_within(STOP_MAX);
        }
    }

    fn is_gone_within(&mut self, most: Duration) -> bool {
        let end = Instant::now() + most;
        loop {
            // A child that is not waited for would stay in the group.
            let _ = self.child.try_wait();
            if test_kill_process_group(self.group) == Err(Errno::SRCH) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for ServerCommand {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A file without a name, in memory.
fn anonymous_file() -> std::io::Result<File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(File::from(rustix::fs::memfd_create("filestone-ab", flags)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_has_started_ends_with_it() {
        let mut server = ServerCommand::start("echo started; sleep 100 & sleep 100").expect("sh");
        let going_on = AtomicBool::new(false);
        assert_eq!(server.wait(Duration::from_millis(50), &going_on), None);
        let began = Instant::now();
        server.stop();
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(server.ended().is_some());
        assert_eq!(server.said(), "started");
    }

    #[test]
    fn one_that_does_not_want_to_end_is_killed_with_the_rest() {
        let line = "trap '' TERM; echo deaf >&2; while :; do sleep 0.01; done";
        let mut server = ServerCommand::start(line).expect("sh");
        let going_on = AtomicBool::new(false);
        server.wait(Duration::from_millis(100), &going_on);
        kill_process_group(server.group, Signal::KILL).expect("it runs");
        assert!(server.is_gone_within(STOP_MAX));
        assert_eq!(server.said(), "deaf");
    }

    #[test]
    fn how_it_ended_is_known() {
        let mut server = ServerCommand::start("echo no >&2; exit 3").expect("sh");
        let going_on = AtomicBool::new(false);
        let status = server
            .wait(Duration::from_secs(10), &going_on)
            .expect("it ends");
        assert_eq!((status.code(), server.said().as_str()), (Some(3), "no"));
    }
}
