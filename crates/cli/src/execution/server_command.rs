//! A server that a user's command starts, in a separate process group. The group ends with the
//! command, and with filestone in all cases, even after a crash.

use crate::error::Error;
use crate::execution::rounds::pause;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time for a server to end before it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);
/// Interval between polls of a process.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Number of last bytes of a command's output that are shown.
const SHOWN_BYTES: u64 = 2000;
/// Interval between removals of old output.
const FORGET_EVERY: Duration = Duration::from_millis(100);

/// A running command, with all processes that it has started.
pub struct ServerCommand {
    child: Child,
    /// Process group. Its number cannot be reused while the child is not waited for or others are
    /// in the group.
    group: Pid,
    /// Whether the group is empty or was released: no signal is sent any more.
    is_over: bool,
    guard: Guard,
    /// Output file: a pipe would block the command if it is not read, or end processes that it
    /// leaves behind.
    output: Arc<File>,
}

impl ServerCommand {
    /// Starts a line of sh.
    pub fn start(line: &str) -> Result<Self, Error> {
        let refused = |error: io::Error| {
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
        let group = Pid::from_child(&child);
        let guard = Guard::of(group).inspect_err(|_| {
            let _ = kill_process_group(group, Signal::KILL);
        });
        let output = Arc::new(output);
        forget_beginnings(&output);
        Ok(Self {
            group,
            child,
            is_over: false,
            guard: guard.map_err(refused)?,
            output,
        })
    }

    /// Returns the exit status, if the command has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.is_over {
            return self.child.try_wait().ok().flatten();
        }
        // The child is not reaped yet: its number would be free for another group.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.group), options).ok().flatten()?;
        let of_exit = status.exit_status().map(|code| code << 8);
        of_exit
            .or(status.terminating_signal())
            .map(ExitStatus::from_raw)
    }

    /// Waits until the command ends; `None` if that takes longer than `most`, or if `stop` is set.
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

    /// Returns the end of the output.
    pub fn said(&self) -> String {
        // Does not move the command's own file position.
        let length = self.output.metadata().map_or(0, |metadata| metadata.len());
        let from = length.saturating_sub(SHOWN_BYTES);
        let mut bytes = vec![0; (length - from) as usize];
        match self.output.read_exact_at(&mut bytes, from) {
            Ok(()) => String::from_utf8_lossy(&bytes).trim().to_owned(),
            Err(_) => String::new(),
        }
    }

    /// Lets processes that the command started continue after it has ended itself.
    pub fn release(&mut self) {
        self.is_over = true;
        self.guard.dismiss();
    }

    /// Ends the group: sends SIGTERM, and SIGKILL if that has no effect.
    pub fn stop(&mut self) {
        if self.is_over {
            return;
        }
        // The group may be gone already.
        let _ = kill_process_group(self.group, Signal::TERM);
        if !self.is_gone_within(STOP_MAX) {
            let _ = kill_process_group(self.group, Signal::KILL);
            self.is_gone_within(STOP_MAX);
        }
        self.release();
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
        // Also reaps a command that was released.
        let _ = self.child.try_wait();
    }
}

/// Ends a group if filestone ends first: by a second ^C, another signal, or a crash.
///
/// A separate process, because filestone does not notice every way it can end. It has its own
/// group, so that a terminal's signals do not end it, too.
struct Guard(Child);

impl Guard {
    /// Script of the guard: a line of input means that there is nothing to do; input without one
    /// ends when filestone does.
    const SCRIPT: &str = r#"
        trap '' HUP INT TERM
        read -r _ && exit
        kill -s TERM -- "-$1"
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            sleep 0.1
            kill -s 0 -- "-$1" || exit
        done
        kill -s KILL -- "-$1""#;

    fn of(group: Pid) -> io::Result<Self> {
        let child = Command::new("sh")
            .args(["-c", Self::SCRIPT, "sh"])
            .arg(group.as_raw_nonzero().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        child.map(Self)
    }

    fn dismiss(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            // The guard may have been ended by a signal.
            let _ = input.write_all(b"\n");
            let _ = self.0.wait();
        }
    }
}

/// Creates an anonymous file in memory.
fn anonymous_file() -> io::Result<File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(File::from(rustix::fs::memfd_create("filestone-ab", flags)?))
}

/// Returns the memory of old output to the system, all but the end of it, as long as the file is in
/// use.
fn forget_beginnings(output: &Arc<File>) {
    let output = Arc::downgrade(output);
    std::thread::spawn(move || {
        while let Some(file) = output.upgrade() {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            if length > SHOWN_BYTES {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // Memory that cannot be returned stays allocated.
                let _ = fallocate(&*file, hole, 0, length - SHOWN_BYTES);
            }
            drop(file);
            std::thread::sleep(FORGET_EVERY);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

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

    #[test]
    fn of_a_lot_that_is_said_the_end_is_kept() {
        let line = "head -c 50000000 /dev/zero | tr '\\0' x; echo end; sleep 100";
        let server = ServerCommand::start(line).expect("sh");
        let of_file = || {
            let metadata = server.output.metadata().expect("a file");
            (metadata.len(), metadata.blocks() * 512)
        };
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end && !matches!(of_file(), (50_000_004.., ..1_000_000)) {
            std::thread::sleep(LOOK_EVERY);
        }
        let (said, kept) = of_file();
        assert!(said >= 50_000_004 && kept < 1_000_000, "{kept} of {said}");
        assert!(server.said().ends_with("xxxend"));
    }

    #[test]
    fn what_is_let_go_is_not_ended() {
        let mut server = ServerCommand::start("sleep 100 & echo $!").expect("sh");
        let going_on = AtomicBool::new(false);
        let status = server.wait(Duration::from_secs(10), &going_on);
        assert!(status.is_some_and(|status| status.success()));
        server.release();
        let left: i32 = server.said().parse().expect("a number");
        drop(server);
        let left = Pid::from_raw(left).expect("a process");
        rustix::process::kill_process(left, Signal::KILL).expect("it goes on");
    }
}
