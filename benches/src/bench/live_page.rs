//! Cost of the live page for a run: with the page open and twenty readers that follow its events.
//!
//! For an open loop, the same run takes place without and with the page, in turns. Two runs of a
//! closed loop differ by 12 % even under identical conditions, so the closed loop is one run, and
//! readers connect and disconnect during it: the operations of two seconds with readers are
//! compared with those before and after.
//!
//! The worker has a processor to itself, without readers, the page or the server. Readers stand for
//! other hosts, so they yield to all other threads on their processor; on a machine with two
//! processors they share one with the server, and that is part of the measured cost.

use super::limits::Limit;
use super::{Serving, TestBed};
use crate::figures::{self, median};
use anyhow::{Context, Result, bail, ensure};
use filestone_interop::process::Logged;
use filestone_interop::processors;
use filestone_interop::record::Record;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

const READERS: usize = 20;
/// Pairs of runs.
const ROUNDS: usize = 7;
const SECONDS: u32 = 5;
/// Length of the run with readers that connect and disconnect, in seconds. The constants below are
/// the length of a turn with or without readers, and the time after a change that is not counted.
const IN_TURNS_SECONDS: u32 = 80;
const TURN: Duration = Duration::from_secs(2);
const SETTLING: Duration = Duration::from_millis(200);
/// Long enough for all readers to connect before the window opens.
const WARM_UP_SECONDS: u32 = 2;
/// Largest permitted relative difference of a figure with the page from the one without.
const BAR: f64 = 0.02;
/// Nice value of the readers.
const READER_NICE: i32 = 19;
/// Time limit for an expected event.
const PATIENCE: Duration = Duration::from_secs(10);
/// Least number of events per reader: one for each second of the window except the last.
const EVENTS_MIN: usize = SECONDS as usize - 1;

const OPEN_LOOP: &str = "--offered 10000 --in-flight 64";
const CLOSED_LOOP: &str = "--in-flight 32";

/// The compared figures of a run.
#[derive(Debug, Clone, Copy)]
struct Figures {
    achieved_ops_per_s: f64,
    dispatch_delay_p99_us: f64,
}

/// Measures an open loop and a closed loop.
pub fn limits(bed: &TestBed) -> Result<Vec<Limit>> {
    let server = bed.serve(&["--threads", "1"])?;
    let open = pairs(bed, &server, OPEN_LOOP)?;
    let of = |figure: fn(&Figures) -> f64| -> Vec<[f64; 2]> {
        open.iter()
            .map(|pair| pair.map(|run| figure(&run)))
            .collect()
    };
    Ok(vec![
        rate(
            "live page, open loop of 10,000/s: achieved",
            &of(|run| run.achieved_ops_per_s),
        ),
        dispatch_delay(
            "live page, open loop of 10,000/s: dispatch delay p99",
            &of(|run| run.dispatch_delay_p99_us),
        ),
        rate("live page, NULL ×32: achieved", &in_turns(bed, &server)?),
    ])
}

/// Runs pairs without and with the page.
fn pairs(bed: &TestBed, server: &Serving, load: &str) -> Result<Vec<[Figures; 2]>> {
    let without = || run(bed, server, load, false);
    let pairs = figures::in_turns(ROUNDS, without, || run(bed, server, load, true))?;
    let show = |(without, with)| {
        eprintln!("  without {without:.2?}, with {with:.2?}");
        [without, with]
    };
    Ok(pairs.into_iter().map(show).collect())
}

/// A figure of both sides of all pairs.
struct Compared {
    without: f64,
    with: f64,
    /// The median of the pairs' ratios.
    ratio: f64,
}

impl Compared {
    fn of(pairs: &[[f64; 2]]) -> Self {
        let over =
            |of_pair: fn(&[f64; 2]) -> f64| median(&pairs.iter().map(of_pair).collect::<Vec<_>>());
        Self {
            without: over(|[without, _]| *without),
            with: over(|[_, with]| *with),
            ratio: over(|[without, with]| with / without),
        }
    }

    /// Returns the figure without a bar.
    fn limit(&self, name: &str, shown: fn(f64) -> String) -> Limit {
        let (with, without) = (shown(self.with), shown(self.without));
        Limit {
            name: name.into(),
            figure: format!("{with}, without {without}: {:.3}", self.ratio),
            bar: String::new(),
            is_met: false,
        }
    }
}

fn rate(name: &str, pairs: &[[f64; 2]]) -> Limit {
    let compared = Compared::of(pairs);
    Limit {
        bar: format!("≥ {:.2}", 1.0 - BAR),
        is_met: compared.ratio >= 1.0 - BAR,
        ..compared.limit(name, |rate| format!("{rate:.0}/s"))
    }
}

fn dispatch_delay(name: &str, pairs: &[[f64; 2]]) -> Limit {
    let compared = Compared::of(pairs);
    Limit {
        bar: format!("≤ {:.2}", 1.0 + BAR),
        is_met: compared.ratio <= 1.0 + BAR,
        ..compared.limit(name, |delay| format!("{delay:.2} µs"))
    }
}

/// Runs once. Readers connect before the window opens and stay until the end.
fn run(bed: &TestBed, server: &Serving, load: &str, is_watched: bool) -> Result<Figures> {
    let mut probing = Probing::start(bed, server, load, SECONDS, is_watched)?;
    let readers = if is_watched {
        watch(probing.address_of_page()?, &bed.server_cpus, None)
    } else {
        vec![]
    };
    let record = probing.record()?;
    for answer in answers(readers)? {
        check(&answer)?;
    }
    compared(&record)
}

/// Measures the rates without and with readers, in operations per second, turn by turn of one run.
fn in_turns(bed: &TestBed, server: &Serving) -> Result<Vec<[f64; 2]>> {
    let mut probing = Probing::start(bed, server, CLOSED_LOOP, IN_TURNS_SECONDS, true)?;
    let address = probing.address_of_page()?;
    let mut turns = Vec::new();
    let mut is_watched = false;
    while probing.logged.running.ended()?.is_none() {
        let begun = SystemTime::now();
        let until = Instant::now() + TURN;
        let readers = if is_watched {
            watch(address, &bed.server_cpus, Some(until))
        } else {
            vec![]
        };
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        let answers = answers(readers)?;
        let read_nothing = answers.iter().any(|answer| interval_events(answer) == 0);
        // The last turn is cut short by the end of the run and is not in any pair.
        ensure!(
            !read_nothing || probing.logged.running.ended()?.is_some(),
            "a reader got no interval in {TURN:?}"
        );
        turns.push((begun + SETTLING, begun + TURN));
        is_watched = !is_watched;
    }
    let record = probing.record()?;
    let rates = turns
        .iter()
        .map(|(from, to)| rate_within(&record, *from, *to))
        .collect::<Result<Vec<_>>>()?;
    let pairs = pairs_of_turns(&rates);
    ensure!(!pairs.is_empty(), "the run was over before readers came");
    Ok(pairs)
}

/// Pairs each turn with readers with the mean of the turns before and after it. Turns alternate,
/// and the first is without readers. Turns outside the window have no rate.
fn pairs_of_turns(rates: &[Option<f64>]) -> Vec<[f64; 2]> {
    let three = rates.windows(3).step_by(2);
    let pair = |three: &[Option<f64>]| match three {
        [Some(before), Some(with), Some(after)] => Some([(before + after) / 2.0, *with]),
        _ => None,
    };
    three.filter_map(pair).collect()
}

/// Returns the operations per second of the ticks between these times; `None` without ticks.
fn rate_within(record: &Record, from: SystemTime, to: SystemTime) -> Result<Option<f64>> {
    let started = record.text("/started_at").context("no start")?;
    let started = humantime::parse_rfc3339(started)?;
    let (mut ended, mut lasted) = (0, Duration::ZERO);
    for tick in record.list("/ticks") {
        let number = |name: &str| tick[name].as_u64().context("no number in a tick");
        let start = started + Duration::from_nanos(number("start_ns")?);
        let len = Duration::from_nanos(number("len_ns")?);
        if start >= from && start + len <= to {
            ended += number("ended")?;
            lasted += len;
        }
    }
    Ok((!lasted.is_zero()).then(|| ended as f64 / lasted.as_secs_f64()))
}

/// A run of NULLs.
struct Probing {
    logged: Logged,
    limit: Duration,
}

impl Probing {
    fn start(
        bed: &TestBed,
        server: &Serving,
        load: &str,
        seconds: u32,
        has_page: bool,
    ) -> Result<Self> {
        // The worker is pinned and not the process, as a careful user does it: the other threads of
        // the process stay off that processor.
        let pin = bed.client_cpu.map(|cpu| format!("--pin {cpu}"));
        let options = format!(
            "--duration {seconds}s --warm-up {WARM_UP_SECONDS}s {load} {} {}",
            pin.unwrap_or_default(),
            if has_page { "--live" } else { "" }
        );
        let mut command = bed.probe(server.port, "null", "/export", &options);
        Ok(Self {
            logged: Logged::start(&mut command, &[], bed.folder())?,
            limit: PATIENCE + Duration::from_secs(u64::from(seconds + WARM_UP_SECONDS)),
        })
    }

    fn address_of_page(&mut self) -> Result<SocketAddr> {
        let link = self.logged.link(PATIENCE)?;
        let authority = link
            .strip_prefix("http://")
            .and_then(|link| link.split_once('/'));
        Ok(authority.context("the link has no address")?.0.parse()?)
    }

    /// Waits for the end of the run and returns its record.
    fn record(self) -> Result<Record> {
        Record::read(&self.logged.wait(self.limit)?)
    }
}

fn compared(record: &Record) -> Result<Figures> {
    Ok(Figures {
        achieved_ops_per_s: record.number("/totals/achieved_load_ops_per_s")?,
        dispatch_delay_p99_us: record.number("/totals/dispatch_delay_ns/p99")? / 1000.0,
    })
}

/// Opens the page and follows its events with all readers, until the deadline or the end of the
/// run. Returns the answer that each reader received.
fn watch(
    address: SocketAddr,
    cpus: &[usize],
    until: Option<Instant>,
) -> Vec<JoinHandle<Result<Vec<u8>>>> {
    let follow = |number: usize| {
        let cpus = cpus.to_vec();
        std::thread::spawn(move || {
            if !cpus.is_empty() {
                processors::bind(&cpus)?;
            }
            // On Linux the nice value belongs to the thread.
            rustix::process::setpriority_process(None, READER_NICE)?;
            if number == 0 {
                ask(address, "/", "close", None)?;
            }
            ask(address, "/api/events", "keep-alive", until)
        })
    };
    (0..READERS).map(follow).collect()
}

fn answers(readers: Vec<JoinHandle<Result<Vec<u8>>>>) -> Result<Vec<Vec<u8>>> {
    let answer = |reader: JoinHandle<Result<Vec<u8>>>| match reader.join() {
        Ok(answer) => answer,
        Err(_) => bail!("a reader panicked"),
    };
    readers.into_iter().map(answer).collect()
}

/// Sends one request and returns everything received until the end or the deadline.
fn ask(
    address: SocketAddr,
    path: &str,
    connection: &str,
    until: Option<Instant>,
) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).context("the page cannot be reached")?;
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: {connection}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut answer = Vec::new();
    let mut piece = [0; 1 << 16];
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(answer);
        }
        stream.set_read_timeout(left)?;
        match stream.read(&mut piece) {
            Ok(0) => return Ok(answer),
            Ok(len) => answer.extend_from_slice(piece.get(..len).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Checks that a reader received all events: a reader that missed some would have cost less.
fn check(answer: &[u8]) -> Result<()> {
    let intervals = interval_events(answer);
    let is_closed = String::from_utf8_lossy(answer).contains("\"event\":\"closed\"");
    ensure!(
        intervals >= EVENTS_MIN && is_closed,
        "a reader got {intervals} intervals of {SECONDS} s, and {} bytes",
        answer.len()
    );
    Ok(())
}

fn interval_events(answer: &[u8]) -> usize {
    let text = String::from_utf8_lossy(answer);
    text.matches("\"event\":\"interval\"").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        // The host is half as fast in the second pair; the page costs 0 %, 1 % and 2 %.
        let pairs = [[100.0, 100.0], [50.0, 49.5], [100.0, 98.0]];
        let compared = Compared::of(&pairs);
        assert!((compared.ratio - 0.99).abs() < 1e-9, "{}", compared.ratio);
        assert_eq!((compared.without, compared.with), (100.0, 98.0));
        assert!(rate("", &pairs).is_met && !rate("", &[[100.0, 97.0]]).is_met);
        let delays = [[1.0, 1.0], [2.0, 2.02], [1.0, 1.02]];
        assert!(dispatch_delay("", &delays).is_met && !dispatch_delay("", &[[1.0, 1.03]]).is_met);
    }

    #[test]
    fn a_turn_with_readers_is_compared_with_those_beside_it() {
        // The host becomes slower by 10 per turn, and readers cost 5; turns before the window do
        // not count.
        let turns = [
            None,
            None,
            Some(100.0),
            Some(85.0),
            Some(80.0),
            Some(65.0),
            None,
        ];
        assert_eq!(pairs_of_turns(&turns), [[90.0, 85.0]]);
        assert!(pairs_of_turns(&turns[..3]).is_empty());
    }

    #[test]
    fn the_rate_between_two_moments_is_that_of_the_ticks_between_them() {
        let ticks: Vec<_> = (0..4)
            .map(|tick| serde_json::json!({"start_ns": tick * 100_000_000, "len_ns": 100_000_000, "ended": 10 + tick}))
            .collect();
        let record = serde_json::json!({"started_at": "2026-11-26T10:00:00.000Z", "ticks": ticks});
        let record = Record::from(record);
        let started = humantime::parse_rfc3339("2026-11-26T10:00:00Z").expect("a time");
        let within = |from, to| {
            let at = |ms| started + Duration::from_millis(ms);
            rate_within(&record, at(from), at(to)).expect("ticks")
        };
        assert_eq!(within(50, 350), Some(115.0));
        assert_eq!(within(350, 450), None);
    }
}
