//! The binary from outside: how tests start it, stop it and read what it says.

use filestone_measure::measure::RunRecord;
use rustix::process::{Pid, Signal, kill_process};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filestone"));
    command
        .args(arguments)
        .env_remove("COLUMNS")
        .stdin(Stdio::null());
    command
}

pub fn filestone(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary was built")
}

/// The same, of what has to succeed.
pub fn done(arguments: &[&str]) -> Output {
    let mut places = arguments.iter().skip_while(|word| **word != "--output");
    let place = places.nth(1);
    let is_repeated = Cell::new(false);
    in_time(|| {
        // The directory of a run that a busy host made one that does not count.
        if let Some(place) = place.filter(|_| is_repeated.replace(true)) {
            let _ = std::fs::remove_dir_all(place);
        }
        filestone(arguments)
    })
}

/// The same, of an open loop: it is made again while the host, which other tests share, does not let it
/// send in time. With [`DELAYING`] that is rare.
pub fn done_in_time(arguments: &[&str]) -> Output {
    in_time(|| filestone(arguments))
}

/// The same of any way to start a run.
pub fn in_time(run: impl Fn() -> Output) -> Output {
    for _ in 0..4 {
        let output = run();
        let said = text(&output.stderr);
        if output.status.code() == Some(0) {
            return output;
        }
        assert!(is_late(&said), "{said}");
    }
    let output = run();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    output
}

pub fn is_late(said: &str) -> bool {
    said.contains("had no processor for")
        || said.contains("the load generator sent operations")
        || said.contains("dispatch delay is ")
        || said.contains("% of the load is missing")
        // A window may be shorter than the moments that the host takes.
        || said.contains("left out: nothing succeeded")
}

/// Options of a server whose replies take so long that the moments by which a shared host holds a load
/// generator up are a small part of the response time.
pub const DELAYING: [&str; 2] = ["--fault", "delay=5ms"];

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn record_of(output: &Output) -> RunRecord {
    let record: RunRecord = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    assert_eq!(record.check(), Ok(()));
    record
}

/// A child process that does not outlive its test.
pub struct Running(Child);

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        let child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        Self(child)
    }

    pub fn out(&mut self) -> BufReader<ChildStdout> {
        BufReader::new(self.0.stdout.take().expect("it is piped"))
    }

    pub fn err(&mut self) -> ChildStderr {
        self.0.stderr.take().expect("it is piped")
    }

    /// With SIGHUP `default` or to `ignore`, as from `nohup`, however these tests were started.
    pub fn start_with_hangup(disposition: &str, arguments: &[&str]) -> Self {
        let child = Command::new("env")
            .arg(format!("--{disposition}-signal=HUP"))
            .arg(env!("CARGO_BIN_EXE_filestone"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("env is there");
        Self(child)
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it runs");
    }

    pub fn goes_on(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    pub fn exit_code(mut self) -> Option<i32> {
        let end = Instant::now() + Duration::from_secs(120);
        while self.goes_on() {
            // Dropped then, and stopped by that: a test that waits for ever tells nobody why.
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        self.0.wait().expect("it has ended").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `filestone serve` on any port; gives its address, and its output for later.
pub fn serve(more: &[&str]) -> (Running, String, BufReader<ChildStdout>) {
    let mut arguments = vec!["serve", "--port", "0", "--bind", "127.0.0.1"];
    arguments.extend(more);
    let mut server = Running::start(&arguments);
    let mut out = server.out();
    let mut lines = String::new();
    out.read_line(&mut lines).expect("it says where it serves");
    let address = lines
        .split_whitespace()
        .find(|word| word.starts_with("127.0.0.1:"))
        .expect("an address")
        .to_string();
    (server, address, out)
}

/// The same with something to read on standard input.
pub fn filestone_reading(arguments: &[&str], input: &str) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// A directory that is gone after the test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("filestone-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a temporary directory");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The name of something in it.
    pub fn name(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file and gives its name.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).expect("a temporary file");
        self.name(name)
    }

    pub fn is_empty(&self) -> bool {
        let mut entries = std::fs::read_dir(&self.0).expect("it is there");
        entries.next().is_none()
    }

    /// It as a target.
    pub fn local(&self) -> String {
        format!("local:{}", self.0.display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
