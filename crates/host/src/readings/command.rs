//! Readings from a shell command line that prints files of the server's `/proc`.

use super::host::said_something;
use super::source::Source;
use super::{ANSWER_MAX, ReadingError};
use filestone_measure::cost::CounterReading;
use filestone_measure::cost::proc_text::{HostScope, TimeUnits, parse};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of the command.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(10);

/// A command that prints readings.
pub struct CommandSource {
    line: String,
    scope: HostScope,
    time_max: Duration,
}

impl CommandSource {
    pub fn new(line: &str, scope: HostScope) -> Self {
        Self {
            line: line.into(),
            scope,
            time_max: COMMAND_TIME_MAX,
        }
    }

    fn text(&self) -> Result<String, String> {
        let mut child = Command::new("sh")
            .args(["-c", &self.line])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A process group, so that all child processes can be killed.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("it could not be started: {error}"))?;
        let deadline = Instant::now() + self.time_max;
        let printed = child.stdout.take().ok_or_else(|| "no output".into());
        let printed = printed.and_then(|output| printed_until(output, deadline));
        if printed.is_err() {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        }
        let ended = ended(&mut child, deadline)?;
        let bytes = printed?;
        if !ended.success() {
            return Err(format!("it ended with {ended}"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Waits for the end of a process that has closed its output, which is over or will be in a moment.
fn ended(child: &mut Child, deadline: Instant) -> Result<std::process::ExitStatus, String> {
    let failed = |error| format!("it could not be waited for: {error}");
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait().map_err(failed)
}

/// Reads until the output is closed.
fn printed_until(mut output: ChildStdout, deadline: Instant) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let mut watched = [PollFd::new(&output, PollFlags::IN)];
        match poll(&mut watched, timeout.as_ref()) {
            Ok(0) => return Err("it took too long".into()),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(format!("its output cannot be waited for: {error}")),
            Ok(_) => {}
        }
        let read = output.read(&mut piece);
        let len = read.map_err(|error| format!("its output cannot be read: {error}"))?;
        if len == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(piece.get(..len).unwrap_or_default());
        if bytes.len() as u64 > ANSWER_MAX {
            return Err(format!("it printed more than {ANSWER_MAX} bytes"));
        }
    }
}

impl Source for CommandSource {
    fn name(&self) -> String {
        self.line.clone()
    }

    fn read(&mut self) -> Result<CounterReading, ReadingError> {
        let text = self.text().map_err(|what| ReadingError::Command {
            line: self.line.clone(),
            what,
        })?;
        let reading = parse(&text, &self.scope, TimeUnits::default());
        said_something(reading, &self.line, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::cost::CostCounter;

    fn read(line: &str, time_max: Duration) -> Result<CounterReading, String> {
        let mut printing = CommandSource {
            time_max,
            ..CommandSource::new(line, HostScope::default())
        };
        printing.read().map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_prints_readings() {
        let reading = read("cat /proc/stat /proc/uptime", COMMAND_TIME_MAX).unwrap();
        assert!(reading.count(CostCounter::CpuBusy).is_some());
        let reading = read("echo ctxt 42", COMMAND_TIME_MAX).unwrap();
        assert_eq!(reading.count(CostCounter::ContextSwitches), Some(42));
    }

    #[test]
    fn a_command_that_fails_hangs_or_floods_is_told() {
        let told = |line, time_max| read(line, time_max).unwrap_err();
        let failed = told("echo ctxt 42; exit 3", COMMAND_TIME_MAX);
        assert!(failed.contains("exit status: 3"), "{failed}");
        let nothing = told("echo hello", COMMAND_TIME_MAX);
        assert!(nothing.contains("no counters"), "{nothing}");
        let hangs = told("echo ctxt 42; sleep 1000", Duration::from_millis(50));
        assert!(hangs.contains("took too long"), "{hangs}");
        let floods = told("yes", COMMAND_TIME_MAX);
        assert!(floods.contains("more than"), "{floods}");
    }
}
