//! A run with its fault: starts it, injects the fault, and collects the observations.

use super::cell::{Cell, Fault, Phase};
use super::command::{self, CallNumber, Line, Place, WINDOW, warm_up};
use super::relay::{Call, Relay};
use super::server::{Server, free_port};
use crate::process::{Folder, Running};
use anyhow::{Context, Result};
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Time limit of a run, whatever its server does: its phases, a fault, and a time-out and a
/// reconnection in each of them.
pub const RUN_LIMIT: Duration = Duration::from_secs(20);
/// Usual delay of calls.
const DELAY: Duration = Duration::from_millis(5);
/// Delay of calls at the end of the window, so that calls are in flight then.
const DRAIN_DELAY: Duration = Duration::from_millis(400);
/// Start of that delay, as the time before the end of the window.
const DRAIN_LEAD: Duration = Duration::from_millis(150);
/// Largest number of attempts to start a server and its relay.
const START_ATTEMPTS: u32 = 3;
/// Longest time between the start of the measurement and the first call that shows it.
const BEGUN_LATE: Duration = Duration::from_millis(500);
/// Time from the start of a phase to the fault; the next two constants are for the other phases.
const INTO_WARM_UP: Duration = Duration::from_millis(300);
const INTO_WINDOW: Duration = Duration::from_millis(500);
const INTO_DRAIN: Duration = Duration::from_millis(80);
/// Delay of slow calls; the next constant is that of calls that are too slow.
const SLOW: Duration = Duration::from_millis(700);
const TOO_SLOW: Duration = Duration::from_millis(1600);
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// Observations of a run.
pub struct Seen {
    /// Exit status; `None` if the run did not end.
    pub status: Option<ExitStatus>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// Start of the fault; `None` if the run was already over.
    pub fault_at: Option<Instant>,
    /// Time from the start of the fault to the end of the run.
    pub resumed: Duration,
    pub calls: Vec<Call>,
    /// Start of the run on the system clock; `started` is the same time on the monotonic clock.
    pub started_at: SystemTime,
    pub started: Instant,
    /// Names left in the export after the fault.
    pub left: Vec<String>,
    /// Whether `left` contains a file set whose marker file says that no run uses it.
    pub has_set_given_up: bool,
    /// Result of the run that removes what was left.
    pub removal: Option<Removal>,
    /// Files of another program that were removed.
    pub taken: Vec<String>,
}

/// Result of a removal run: exit status, output, and names still left.
pub struct Removal {
    pub status: ExitStatus,
    pub text: String,
    pub left: Vec<String>,
}

/// A server, its relay, and the run.
struct Attempt {
    cell: Cell,
    server: Server,
    relay: Relay,
    run: Running,
    started: Instant,
}

/// Makes the run of `cell` with a separate server and separate files.
///
/// A fault of the prepare phase hits call number `prepare_call` of it, if given.
pub fn attempt(filestone: &Path, cell: Cell, prepare_call: Option<usize>) -> Result<Seen> {
    let folder = Folder::new("faults")?;
    command::make_files(&folder.path)?;
    let (server, relay) = server_and_relay(filestone)?;
    let line = Line {
        filestone,
        folder: &folder.path,
        face: cell.face,
        target: target(relay.address),
        place: Place::Nfs,
        clients: 2,
        timeout: command::TIMEOUT,
    };
    let (out, err) = (folder.path.join("stdout"), folder.path.join("stderr"));
    let (started_at, started) = (SystemTime::now(), Instant::now());
    let mut command = line.run();
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let mut attempt = Attempt {
        cell,
        run: Running::start(&mut command, &[])?,
        server,
        relay,
        started,
    };
    let fault_at = attempt.bring_about(prepare_call).context("the fault")?;
    let status = attempt.wait(fault_at)?;
    let ended = Instant::now();
    attempt.end_fault().context("the end of the fault")?;
    let (stdout, stderr) = (std::fs::read(&out)?, std::fs::read(&err)?);
    let calls = attempt.relay.calls();
    let left = attempt.server.left().context("a look at the export")?;
    let has_set_given_up = attempt.server.has_set_given_up()?;
    let direct = Line {
        target: target(attempt.server.address),
        ..line
    };
    // A directory without a marker cannot be recognized, and no run removes it.
    let is_known = |name: &String| Ok(!attempt.server.is_empty(name)?);
    let known: Vec<bool> = left.iter().map(is_known).collect::<Result<_>>()?;
    let removal = if known.contains(&true) && status.is_some() {
        Some(attempt.remove(&direct)?)
    } else {
        None
    };
    let taken = attempt.server.taken()?;
    Ok(Seen {
        status,
        stdout,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        fault_at,
        resumed: fault_at.map_or(Duration::ZERO, |at| ended - at),
        calls,
        started_at,
        started,
        left,
        has_set_given_up,
        removal,
        taken,
    })
}

fn target(address: SocketAddr) -> String {
    format!("nfs://{address}/export")
}

/// Starts both on free ports. A process that another run starts at that time may still use a port
/// that was just found free; then tries again with other ports.
fn server_and_relay(filestone: &Path) -> Result<(Server, Relay)> {
    let start = || {
        let server = Server::start(filestone, &[])?;
        let relay = Relay::start(free_port()?, server.address, DELAY)?;
        Ok((server, relay))
    };
    let mut started = start();
    for _ in 1..START_ATTEMPTS {
        started = started.or_else(|_: anyhow::Error| start());
    }
    started
}

impl Attempt {
    /// Waits for the phase and starts the fault. Returns its start time.
    fn bring_about(&mut self, prepare_call: Option<usize>) -> Result<Option<Instant>> {
        match self.cell.phase {
            Phase::Prepare => {
                let wanted = match prepare_call {
                    Some(number) => CallNumber::of_nfs(number),
                    None => command::prepare_call(self.cell.face),
                };
                self.begin_at_call(wanted, Instant::now())
            }
            Phase::WarmUp => self.begin_at(INTO_WARM_UP),
            Phase::Measure => self.begin_at(warm_up(self.cell.face) + INTO_WINDOW),
            Phase::Drain => {
                let end = warm_up(self.cell.face) + WINDOW;
                if self.wait_for_moment(end - DRAIN_LEAD)? {
                    self.relay.delay(DRAIN_DELAY);
                }
                self.begin_at(end + INTO_DRAIN)
            }
            Phase::CleanUp => self.begin_in_clean_up(),
        }
    }

    fn begin_in_clean_up(&mut self) -> Result<Option<Instant>> {
        let Some(begun) = self.begun()? else {
            return Ok(None);
        };
        // The first call that shows it may have come late, but a window contains no such calls.
        let window_end = begun + warm_up(self.cell.face) + WINDOW - BEGUN_LATE;
        self.begin_at_call(command::clean_up_call(self.cell.face), window_end)
    }

    /// Starts the fault when call number `wanted.number` since `since` has arrived, before it is
    /// forwarded to the server.
    fn begin_at_call(&mut self, wanted: CallNumber, since: Instant) -> Result<Option<Instant>> {
        let mut count = 0;
        let held = self.relay.hold(Box::new(move |call| {
            let counts = call.at >= since && (wanted.counts)(call);
            count += usize::from(counts);
            counts && count == wanted.number
        }));
        loop {
            let reached = held.reached(LOOK_EVERY);
            if reached.is_some() {
                self.begin_fault()?;
                return Ok(reached);
            }
            if self.is_over()? {
                return Ok(None);
            }
        }
    }

    /// Starts the fault `after` this time of measurement.
    fn begin_at(&mut self, after: Duration) -> Result<Option<Instant>> {
        if !self.wait_for_moment(after)? {
            return Ok(None);
        }
        let now = Instant::now();
        self.begin_fault()?;
        Ok(Some(now))
    }

    /// Waits until the run has measured for this time. Returns false if it is over before.
    fn wait_for_moment(&mut self, after: Duration) -> Result<bool> {
        let Some(begun) = self.begun()? else {
            return Ok(false);
        };
        while begun.elapsed() < after {
            if self.is_over()? {
                return Ok(false);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(true)
    }

    /// Waits for the start of the measurement. Returns its time.
    fn begun(&mut self) -> Result<Option<Instant>> {
        loop {
            let calls = self.relay.calls();
            let is_first = |call: &&Call| command::shows_begin(self.cell.face, call);
            if let Some(first) = calls.iter().find(is_first) {
                return Ok(Some(first.at));
            }
            if self.is_over()? {
                return Ok(None);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn is_over(&mut self) -> Result<bool> {
        Ok(self.run.ended()?.is_some() || self.started.elapsed() > RUN_LIMIT)
    }

    fn begin_fault(&mut self) -> Result<()> {
        let is_cut_off = matches!(
            self.cell.fault,
            Fault::Restarted | Fault::Gone | Fault::CutOff | Fault::OneCutOff
        );
        if is_cut_off {
            self.relay.set_up(false);
        }
        match self.cell.fault {
            Fault::Paused | Fault::Frozen => self.server.freeze()?,
            Fault::Restarted | Fault::Gone => self.server.kill(),
            Fault::CutOff => self.relay.cut(),
            Fault::OneCutOff => self.relay.cut_last(),
            Fault::Full => self.server.fill()?,
            Fault::Planted => drop(self.server.plant()?),
            Fault::Slow => self.relay.delay(SLOW),
            Fault::TooSlow => self.relay.delay(TOO_SLOW),
        }
        Ok(())
    }

    /// Ends the fault: the server behaves normally.
    fn end_fault(&mut self) -> Result<()> {
        self.relay.delay(DELAY);
        self.server.thaw()?;
        self.server.start_again()?;
        self.relay.set_up(true);
        self.server.make_room()
    }

    /// Waits for the end of the run, and ends the fault when due.
    fn wait(&mut self, fault_at: Option<Instant>) -> Result<Option<ExitStatus>> {
        let duration = self.cell.fault.duration();
        let mut fault_end = fault_at.and_then(|at| Some(at + duration?));
        // A fault that is not a delay does not need delayed calls any longer.
        let is_delay = matches!(self.cell.fault, Fault::Slow | Fault::TooSlow);
        let mut drain_end = fault_at.filter(|_| !is_delay).map(|at| at + DRAIN_DELAY);
        while self.started.elapsed() < RUN_LIMIT {
            if let Some(status) = self.run.ended()? {
                return Ok(Some(status));
            }
            let now = Instant::now();
            if drain_end.take_if(|end| now >= *end).is_some() {
                self.relay.delay(DELAY);
            }
            if fault_end.take_if(|end| now >= *end).is_some() {
                self.end_fault()?;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(None)
    }

    fn remove(&self, line: &Line<'_>) -> Result<Removal> {
        let mut command = line.removal();
        let output = crate::process::run(&mut command, &[], line.folder, RUN_LIMIT)?;
        Ok(Removal {
            status: output.status,
            text: String::from_utf8_lossy(&output.stderr).into_owned(),
            left: self.server.left()?,
        })
    }
}

impl Seen {
    /// Returns the start time of the measurement.
    pub fn begun(&self, cell: Cell) -> Option<Instant> {
        let is_first = |call: &&Call| command::shows_begin(cell.face, call);
        Some(self.calls.iter().find(is_first)?.at)
    }

    /// Calls in flight at this time.
    pub fn in_flight(&self, moment: Instant) -> impl Iterator<Item = &Call> {
        let is_answered = move |call: &Call| call.answer.is_some_and(|answer| answer.at <= moment);
        let calls = self.calls.iter();
        calls.filter(move |call| call.at <= moment && !is_answered(call))
    }
}
