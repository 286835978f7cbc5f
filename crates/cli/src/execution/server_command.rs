//! A server that somebody's command starts: in a process group of its own, which ends with it, and with
//! filestone, however that ends.

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

/// How long a server may take to end before it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);
/// How often a process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// What is shown of a command's output: its end.
const SHOWN_BYTES: u64 = 2000;
/// How often the rest of it is forgotten.
const FORGET_EVERY: Duration = Duration::from_millis(100);

/// A command that runs, with all that it has started.
pub struct ServerCommand {
    child: Child,
    /// Its number is nobody else's as long as the child is not waited for, or others are in it.
    group: Pid,
    /// Nothing of the group is left, or it goes on by itself: no signal is sent any more.
    is_over: bool,
    guard: Guard,
    /// Where its output goes: a pipe would stop it that is not read, or end what it leaves behind.
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

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.is_over {
            return self.child.try_wait().ok().flatten();
        }
        // It is not waited for yet: its number would be free for another group.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.group), options).ok().flatten()?;
        let of_exit = status.exit_status().map(|code| code << 8);
        of_exit
            .or(status.terminating_signal())
            .map(ExitStatus::from_raw)
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

    /// Lets what it has started go on, when it has ended itself.
    pub fn release(&mut self) {
        self.is_over = true;
        self.guard.dismiss();
    }

    /// Ends the group: it is asked to, and killed if it does not.
    pub fn stop(&mut self) {
        if self.is_over {
            return;
        }
        // Gone already is as good.
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
        // One that was let go is waited for, too.
        let _ = self.child.try_wait();
    }
}

/// Ends a group if filestone ends before it could: by a second ^C, another signal, or a crash.
///
/// Another process, because of some ends filestone itself knows nothing. It has a group of its own, so
/// that a terminal's signals do not end it, too.
struct Guard(Child);

impl Guard {
    /// A line means that there is nothing to do; without one, its input ends when filestone does.
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
            // Somebody may have ended it: then there is nothing to tell.
            let _ = input.write_all(b"\n");
            let _ = self.0.wait();
        }
    }
}

/// A file without a name, in memory.
fn anonymous_file() -> io::Result<File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(File::from(rustix::fs::memfd_create("filestone-ab", flags)?))
}

/// Gives the memory back of all but the end of what a command says, for as long as that may be asked
/// for.
fn forget_beginnings(output: &Arc<File>) {
    let output = Arc::downgrade(output);
    std::thread::spawn(move || {
        while let Some(file) = output.upgrade() {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            if length > SHOWN_BYTES {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // What cannot be given back stays.
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
