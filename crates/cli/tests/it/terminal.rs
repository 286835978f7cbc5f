//! `--live=tui` on a terminal: one of its own for each test, with a screen that is read.

use crate::support::{serve, text};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// No screen is waited for longer.
const LIMIT: Duration = Duration::from_secs(60);

fn lines(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a size")
}

/// A terminal, and filestone on it.
struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 24,
            cols: 80,
            ..PtySize::default()
        };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_filestone"));
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        command.env_remove("COLUMNS");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("it was built");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(lines(24), lines(80), 1000)));
        let mut output = pair.master.try_clone_reader().expect("its output");
        let shown = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(len @ 1..) = output.read(&mut bytes) {
                shown.lock().expect("a screen").process(&bytes[..len]);
            }
        });
        Self {
            keys: pair.master.take_writer().expect("its input"),
            master: pair.master,
            child,
            screen,
            reader: Some(reader),
        }
    }

    fn probe(variables: &[(&str, &str)]) -> Self {
        Self::start(
            &[
                "probe",
                "null",
                "--live=tui",
                "--no-calibrate",
                "--duration",
                "100s",
            ],
            variables,
        )
    }

    fn contents(&self) -> String {
        self.screen.lock().expect("a screen").screen().contents()
    }

    fn is_alternate(&self) -> bool {
        let screen = self.screen.lock().expect("a screen");
        screen.screen().alternate_screen()
    }

    fn wait_for(&self, wanted: &str) -> String {
        let end = Instant::now() + LIMIT;
        loop {
            let contents = self.contents();
            if contents.contains(wanted) {
                return contents;
            }
            assert!(Instant::now() < end, "no \"{wanted}\" in\n{contents}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a terminal");
        self.keys.flush().expect("a terminal");
    }

    fn resize(&self, cols: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols,
            ..PtySize::default()
        };
        self.master.resize(size).expect("a terminal");
        let mut screen = self.screen.lock().expect("a screen");
        screen.screen_mut().set_size(lines(rows), lines(cols));
    }

    fn signal(&self, signal: Signal) {
        let id = self.child.process_id().expect("it runs");
        let id = Pid::from_raw(id as i32).expect("an id");
        kill_process(id, signal).expect("it runs");
    }

    /// Its exit code, and what is on the screen then.
    fn end(mut self) -> (u32, String) {
        let end = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(Instant::now() < end, "it goes on:\n{}", self.contents());
            std::thread::sleep(Duration::from_millis(10));
        };
        let modes = rustix::termios::tcgetattr(fd(&*self.master)).expect("a terminal");
        let usual = rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO;
        assert!(modes.local_modes.contains(usual), "it stayed raw");
        drop(self.keys);
        drop(self.master);
        self.reader.take().expect("a reader").join().expect("bytes");
        let screen = self.screen.lock().expect("a screen");
        assert!(!screen.screen().alternate_screen(), "it kept the screen");
        assert!(!screen.screen().hide_cursor(), "it hid the cursor");
        (status.exit_code(), screen.screen().contents())
    }
}

fn fd(master: &(dyn MasterPty + Send)) -> impl std::os::fd::AsFd {
    let path = master.tty_name().expect("a terminal has a name");
    std::fs::File::open(path).expect("it is there")
}

#[test]
fn the_view_goes_with_the_terminal_and_leaves_the_report() {
    let mut terminal = Terminal::probe(&[]);
    let shown = terminal.wait_for("measuring");
    assert!(shown.contains("filestone probe"), "{shown}");
    terminal.wait_for("load generator: busy");
    assert!(terminal.is_alternate());
    terminal.press("j");
    terminal.press("?");
    terminal.wait_for("end the run in order");
    terminal.press("?");
    terminal.resize(40, 12);
    terminal.wait_for("q stop");
    let narrow = terminal.wait_for("errors");
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 40),
        "{narrow}"
    );
    terminal.resize(80, 24);
    terminal.press("q");
    let (code, left) = terminal.end();
    assert_eq!(code, 130, "{left}");
    assert!(left.contains("interrupted"), "{left}");
}

#[test]
fn a_second_stop_ends_it_at_once_and_gives_the_terminal_back() {
    // To take the files away again takes longer than anybody waits.
    let (_server, address, _out) = serve(&["--fault", "delay=30s,proc=remove"]);
    let target = format!("nfs://{address}/export");
    let mut terminal = Terminal::start(
        &[
            "mix",
            &target,
            "--live=tui",
            "--no-calibrate",
            "--duration",
            "100s",
            "--warm-up",
            "0",
            "--remove-file-set",
        ],
        &[],
    );
    terminal.wait_for("load generator: busy");
    terminal.press("q");
    terminal.wait_for("stopping in order");
    // What comes within half a second of the first is taken for the same.
    std::thread::sleep(Duration::from_millis(800));
    terminal.press("q");
    let (code, left) = terminal.end();
    assert_eq!(code, 130, "{left}");
    assert!(!left.contains("achieved"), "no report: {left}");
}

#[test]
fn a_signal_from_outside_gives_the_terminal_back() {
    let terminal = Terminal::probe(&[]);
    terminal.wait_for("measuring");
    terminal.signal(Signal::TERM);
    let (code, _) = terminal.end();
    assert_eq!(code, 130);
}

/// Whether a sequence sets a colour (ECMA-48, SGR 30 to 38, 90 to 97).
fn has_colours(formatted: &str) -> bool {
    let sequences = formatted.split("\u{1b}[").skip(1);
    sequences
        .filter_map(|rest| rest.split_once(|c: char| c.is_ascii_alphabetic()))
        .zip(formatted.split("\u{1b}[").skip(1))
        .filter(|((parameters, _), rest)| rest[parameters.len()..].starts_with('m'))
        .flat_map(|((parameters, _), _)| parameters.split(';'))
        .any(|number| matches!(number.parse(), Ok(30..=38 | 90..=97_u32)))
}

#[test]
fn without_colours_there_are_none() {
    let mut terminal = Terminal::probe(&[("NO_COLOR", "1")]);
    terminal.wait_for("load generator: busy");
    {
        let screen = terminal.screen.lock().expect("a screen");
        let formatted = screen.screen().contents_formatted();
        assert!(!has_colours(&formatted), "{}", formatted.escape_debug());
    }
    terminal.press("q");
    terminal.end();
}

#[test]
fn where_the_terminal_can_do_nothing_there_is_the_line() {
    let arguments = [
        "probe",
        "null",
        "--live=tui",
        "--no-calibrate",
        "--count",
        "100",
    ];
    let terminal = Terminal::start(&arguments, &[("TERM", "dumb")]);
    let (code, left) = terminal.end();
    assert_eq!(code, 0, "{left}");
    assert!(left.contains("operations/s"), "{left}");
    let output = crate::support::done(&arguments);
    assert!(!text(&output.stderr).contains('\u{1b}'), "no terminal");
}
