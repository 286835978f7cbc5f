//! What the live page costs a run: the same run without it and with it, in turns; with it, the page is
//! open and twenty readers follow its events.
//!
//! The worker has a processor, and no reader, no page and no server runs there. Readers stand for other
//! hosts, so they give way to whoever else wants their processor; that they share it with the server where
//! there are only two is part of what is measured.

use super::limits::Limit;
use super::{Bed, Serving};
use crate::figures::median;
use crate::process::Running;
use crate::processors;
use crate::record::Record;
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const READERS: usize = 20;
/// Pairs of runs. Two runs of a pair differ by 6 % where nothing differs between them but their time, so
/// that the median of so many is known to 1.5 %.
const ROUNDS: usize = 27;
const SECONDS: u32 = 3;
/// Long enough for all readers to be there before the window opens.
const WARM_UP_SECONDS: u32 = 2;
/// How much a figure with the page may differ from the one without.
const BAR: f64 = 0.02;
/// How much nicer readers are than the server.
const READER_NICE: i32 = 19;
/// How long something is waited for that must come.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Events that each reader gets at least: one for each second of the window but its last.
const EVENTS_MIN: usize = SECONDS as usize - 1;

const OPEN_LOOP: &[&str] = &["--offered", "10000", "--in-flight", "64"];
const CLOSED_LOOP: &[&str] = &["--in-flight", "32"];

/// The figures of a run that are compared.
#[derive(Debug, Clone, Copy)]
struct Figures {
    achieved_ops_per_s: f64,
    dispatch_delay_p99_us: f64,
}

/// An open loop and a closed one.
pub fn limits(bed: &Bed) -> Result<Vec<Limit>> {
    let server = bed.serve(&["--threads", "1"])?;
    let open = pairs(bed, &server, OPEN_LOOP)?;
    let closed = pairs(bed, &server, CLOSED_LOOP)?;
    Ok(vec![
        rate("live page, open loop of 10,000/s: achieved", &open),
        dispatch_delay(
            "live page, open loop of 10,000/s: dispatch delay p99",
            &open,
        ),
        rate("live page, NULL ×32: achieved", &closed),
    ])
}

/// Runs without the page and with it.
fn pairs(bed: &Bed, server: &Serving, load: &[&str]) -> Result<Vec<[Figures; 2]>> {
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        // Who goes first alternates, so that a drift of the host favours nobody.
        let mut pair = [None; 2];
        for with in [round % 2, 1 - round % 2] {
            pair[with] = Some(run(bed, server, load, with == 1)?);
        }
        let [Some(without), Some(with)] = pair else {
            bail!("a pair has two runs");
        };
        eprintln!("  without {without:.2?}, with {with:.2?}");
        pairs.push([without, with]);
    }
    Ok(pairs)
}

/// A figure of both sides of all pairs.
struct Compared {
    without: f64,
    with: f64,
    /// The median of the pairs' ratios.
    ratio: f64,
}

impl Compared {
    fn of(pairs: &[[Figures; 2]], figure: fn(&Figures) -> f64) -> Self {
        let over = |of_pair: &dyn Fn(&[Figures; 2]) -> f64| {
            median(&pairs.iter().map(of_pair).collect::<Vec<_>>())
        };
        Self {
            without: over(&|[without, _]| figure(without)),
            with: over(&|[_, with]| figure(with)),
            ratio: over(&|[without, with]| figure(with) / figure(without)),
        }
    }
}

fn rate(name: &str, pairs: &[[Figures; 2]]) -> Limit {
    let Compared {
        without,
        with,
        ratio,
    } = Compared::of(pairs, |run| run.achieved_ops_per_s);
    Limit {
        name: name.into(),
        figure: format!("{with:.0}/s, without {without:.0}/s: {ratio:.3}"),
        bar: format!("≥ {:.2}", 1.0 - BAR),
        is_met: ratio >= 1.0 - BAR,
    }
}

fn dispatch_delay(name: &str, pairs: &[[Figures; 2]]) -> Limit {
    let Compared {
        without,
        with,
        ratio,
    } = Compared::of(pairs, |run| run.dispatch_delay_p99_us);
    Limit {
        name: name.into(),
        figure: format!("{with:.2} µs, without {without:.2} µs: {ratio:.3}"),
        bar: format!("≤ {:.2}", 1.0 + BAR),
        is_met: ratio <= 1.0 + BAR,
    }
}

/// One run; readers are there before its window opens, and stay until it is over.
fn run(bed: &Bed, server: &Serving, load: &[&str], is_watched: bool) -> Result<Figures> {
    let (duration, warm_up) = (format!("{SECONDS}s"), format!("{WARM_UP_SECONDS}s"));
    let mut options = vec!["--duration", &duration, "--warm-up", &warm_up];
    options.extend(load);
    // The worker is bound and not the process, as it is where somebody cares: what else the process does
    // keeps off that processor.
    let pin = bed.client_cpu.map(|cpu| cpu.to_string());
    options.extend(pin.iter().flat_map(|pin| ["--pin", pin]));
    options.extend(is_watched.then_some("--live"));
    let (out, err) = (bed.folder().join("stdout"), bed.folder().join("stderr"));
    let mut command = bed.probe(server.port, "null", "/export", &options);
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let mut running = Running::start(&mut command, &[])?;
    let readers = if is_watched {
        watch(address_of_page(&mut running, &err)?, &bed.server_cpus)
    } else {
        vec![]
    };
    let limit = PATIENCE + Duration::from_secs(u64::from(SECONDS + WARM_UP_SECONDS));
    let status = running.wait(limit)?;
    for reader in readers {
        check(
            &reader
                .join()
                .unwrap_or_else(|_| bail!("a reader panicked"))?,
        )?;
    }
    figures(&Record::read(&Output {
        status,
        stdout: std::fs::read(out)?,
        stderr: std::fs::read(err)?,
    })?)
}

fn figures(record: &Record) -> Result<Figures> {
    Ok(Figures {
        achieved_ops_per_s: record.number("/totals/achieved_load_ops_per_s")?,
        dispatch_delay_p99_us: record.number("/totals/dispatch_delay_ns/p99")? / 1000.0,
    })
}

/// The address in the link that it prints.
fn address_of_page(running: &mut Running, said: &Path) -> Result<SocketAddr> {
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(said)?;
        if let Some(address) = address_in(&text) {
            return Ok(address);
        }
        if running.ended()?.is_some() || start.elapsed() > PATIENCE {
            bail!("filestone printed no link; it said: {}", text.trim());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// `127.0.0.1:40511` of a whole line with `live page: http://127.0.0.1:40511/#…`.
fn address_in(said: &str) -> Option<SocketAddr> {
    let (_, link) = said.split_once("live page: http://")?;
    let (address, rest) = link.split_once('/')?;
    rest.contains('\n').then(|| address.parse().ok())?
}

/// Opens the page, and follows its events as often as there are readers; what each got, when it is over.
fn watch(address: SocketAddr, cpus: &[usize]) -> Vec<JoinHandle<Result<Vec<u8>>>> {
    let follow = |number: usize| {
        let cpus = cpus.to_vec();
        std::thread::spawn(move || {
            if !cpus.is_empty() {
                processors::bind(&cpus)?;
            }
            // To Linux, a thread is what it is that is nicer.
            rustix::process::setpriority_process(None, READER_NICE)?;
            if number == 0 {
                ask(address, "/", "close")?;
            }
            ask(address, "/api/events", "keep-alive")
        })
    };
    (0..READERS).map(follow).collect()
}

/// All that one request is answered with.
fn ask(address: SocketAddr, path: &str, connection: &str) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).context("the page cannot be reached")?;
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: {connection}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

/// A reader that missed what happened has cost less than one that did not.
fn check(answer: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(answer);
    let intervals = text.matches("\"event\":\"interval\"").count();
    ensure!(
        intervals >= EVENTS_MIN && text.contains("\"event\":\"closed\""),
        "a reader got {intervals} intervals of {SECONDS} s, and {} bytes",
        answer.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_that_of_a_link_that_is_whole() {
        let address = "127.0.0.1:40511".parse().ok();
        assert_eq!(
            address_in("note: live page: http://127.0.0.1:40511/#X\n"),
            address
        );
        for half in [
            "",
            "note: live page: http://127.0.0",
            "note: live page: http://127.0.0.1:4/",
        ] {
            assert_eq!(address_in(half), None, "{half}");
        }
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        let run = |achieved_ops_per_s, dispatch_delay_p99_us| Figures {
            achieved_ops_per_s,
            dispatch_delay_p99_us,
        };
        // The host is half as fast in the second pair; the page costs nothing, 1 % and 2 %.
        let pairs = [
            [run(100.0, 1.0), run(100.0, 1.0)],
            [run(50.0, 2.0), run(49.5, 2.02)],
            [run(100.0, 1.0), run(98.0, 1.02)],
        ];
        let compared = Compared::of(&pairs, |run| run.achieved_ops_per_s);
        assert!((compared.ratio - 0.99).abs() < 1e-9, "{}", compared.ratio);
        assert_eq!((compared.without, compared.with), (100.0, 98.0));
        assert!(rate("", &pairs).is_met && dispatch_delay("", &pairs).is_met);
        let slow = [[run(100.0, 1.0), run(97.0, 1.03)]];
        assert!(!rate("", &slow).is_met && !dispatch_delay("", &slow).is_met);
    }
}
