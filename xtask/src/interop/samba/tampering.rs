//! Responses with wrong signatures: a relay between filestone and Samba changes one bit of some.

use super::TestEnv;
use super::settings::Purpose;
use crate::interop::checks;
use crate::interop::fixture::FILE;
use crate::interop::smb::{Account, DIALECTS, Place};
use crate::record::Record;
use anyhow::{Context, Result, bail};
use filestone_wire::smb2::{Command, HeaderFlags};
use filestone_workload::failure::ReplyFault;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// First bytes of a message, and the length of its header (MS-SMB2, section 2.2.1.2).
const PROTOCOL: &[u8] = b"\xfeSMB";
const HEADER_LEN: usize = 64;
/// Offsets in the header.
const COMMAND: usize = 12;
const FLAGS: usize = 16;
const NEXT: usize = 20;
const SIGNATURE: usize = 48;

/// Number of signed responses before a probe starts: those of its preparation and of its measuring
/// connection.
const BEFORE: u64 = 8;
const READS: u32 = 200;

/// Changes each signed response before the run: the run must fail.
pub fn before(ground: &TestEnv) -> Result<String> {
    let mut said = String::new();
    for number in 1..=BEFORE {
        let relay = Relay::start(ground, Choice::Nth(number))?;
        let output = probe(ground, &relay, &["--count", "10"])?;
        said = checks::refused(&output, 3, &["signature", "help: "])
            .with_context(|| format!("answer {number}"))?;
    }
    Ok(said)
}

/// Checks that as many operations fail as responses were changed, with every signing algorithm.
pub fn in_probe(ground: &TestEnv) -> Result<String> {
    let mut changed = 0;
    for dialect in ["2.1", "3.0", "3.1.1"] {
        let relay = Relay::start(ground, Choice::EveryRead(10))?;
        let count = READS.to_string();
        let options = ["--count", &count, "--in-flight", "4", "--dialect", dialect];
        let output = probe(ground, &relay, &options)?;
        // One of ten operations fails: the run does not count.
        let record = Record::read_ended(&output).context(dialect)?;
        changed += evaluate(&record, &relay).context(dialect)?;
    }
    Ok(format!("{changed} of {} failed", 3 * READS))
}

/// Checks that the lines with changed responses fail, and that no client is lost.
pub fn in_replay(ground: &TestEnv) -> Result<String> {
    let relay = Relay::start(ground, Choice::EveryRead(20))?;
    let target = relay.target(ground, "");
    let asked = [
        "replay",
        "office",
        "--on",
        &target,
        "--run-once",
        "--clients",
        "2",
    ];
    let output = run(ground, &asked, &[])?;
    let record = Record::read(&output)?;
    if record.number("/replay/mismatch_count")? > 0.0 || record.holds("clients-lost") {
        bail!(
            "{:?}, {:?}",
            record.list("/replay/mismatches"),
            record.list("/caveats")
        );
    }
    let changed = evaluate(&record, &relay)?;
    let lines = record.number("/totals/ledger/scheduled")?;
    Ok(format!("{changed} of {lines} lines failed"))
}

/// Returns the number of failed operations, which must be those with changed responses.
fn evaluate(record: &Record, relay: &Relay) -> Result<u64> {
    let changed = relay.passing.changed.load(Ordering::Relaxed);
    let failed = record.number("/totals/ledger/failed")?;
    let forged = ReplyFault::Forged.to_string();
    let kinds = record.list("/totals/kinds").iter();
    let failures = kinds.flat_map(|kind| kind["failures"].as_array().into_iter().flatten());
    let counted = failures.filter(|failure| failure["failure"] == *forged);
    let counted: u64 = counted
        .filter_map(|failure| failure["count"].as_u64())
        .sum();
    let caveats = record.list("/caveats").iter();
    let said = caveats
        .filter(|caveat| caveat["caveat"] == "forged")
        .find_map(|caveat| caveat["count"].as_u64());
    if changed == 0 || counted != changed || failed != changed as f64 || said != Some(changed) {
        bail!(
            "{changed} answers were changed, {failed} operations failed, {counted} for it, and the caveat says {said:?}"
        );
    }
    Ok(changed)
}

fn probe(ground: &TestEnv, relay: &Relay, options: &[&str]) -> Result<Output> {
    let target = relay.target(ground, FILE);
    let asked = [
        "probe",
        "read",
        &target,
        "--no-calibrate",
        "--timeout",
        "10s",
    ];
    run(ground, &asked, options)
}

fn run(ground: &TestEnv, asked: &[&str], options: &[&str]) -> Result<Output> {
    let server = ground.servers.get(Purpose::Open);
    let password_file = server.password_file().display().to_string();
    let always = [
        "--sign",
        "required",
        "--as",
        "json",
        "--password-file",
        &password_file,
    ];
    ground.bed.run(&[asked, &always, options].concat())
}

/// Selection of the signed responses to change.
#[derive(Clone, Copy)]
enum Choice {
    /// The response with this number, from 1.
    Nth(u64),
    /// The last of each group of this many responses to READ.
    EveryRead(u64),
}

/// State shared by all connections.
struct Passing {
    choice: Choice,
    signed: AtomicU64,
    reads: AtomicU64,
    changed: AtomicU64,
}

/// A relay in front of a server.
struct Relay {
    port: u16,
    passing: Arc<Passing>,
}

impl Relay {
    /// Starts a relay, which runs until this process ends.
    fn start(ground: &TestEnv, choice: Choice) -> Result<Self> {
        let server = ground.servers.get(Purpose::Open);
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let passing = Arc::new(Passing {
            choice,
            signed: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            changed: AtomicU64::new(0),
        });
        let own = Arc::clone(&passing);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that cannot be relayed is closed.
                let _ = relay(client, server, &own);
            }
        });
        Ok(Self { port, passing })
    }

    fn target(&self, ground: &TestEnv, object: &str) -> String {
        let password_file = ground.servers.get(Purpose::Open).password_file();
        let place = Place {
            authority: &format!("127.0.0.1:{}", self.port),
            dialects: DIALECTS,
            password_file: &password_file,
        };
        place.target(Account::User, object)
    }
}

/// Relays a connection in two threads.
fn relay(client: TcpStream, server: SocketAddr, passing: &Arc<Passing>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut asking, mut asked) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        // Either side may close at any time.
        let _ = std::io::copy(&mut asking, &mut asked);
        let _ = asked.shutdown(Shutdown::Write);
    });
    let passing = Arc::clone(passing);
    std::thread::spawn(move || {
        let _ = answers(&server, &client, &passing);
        let _ = client.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Forwards responses, frame by frame.
fn answers(mut from: &TcpStream, mut to: &TcpStream, passing: &Passing) -> std::io::Result<()> {
    let (mut mark, mut frame) = ([0; 4], Vec::new());
    loop {
        from.read_exact(&mut mark)?;
        // The first byte is the message type, which is 0 (MS-SMB2, section 2.1).
        frame.resize(u32::from_be_bytes(mark) as usize, 0);
        from.read_exact(&mut frame)?;
        passing.look_at(&mut frame);
        to.write_all(&mark)?;
        to.write_all(&frame)?;
    }
}

fn number<const LEN: usize>(message: &[u8], at: usize) -> u64 {
    let bytes = message[at..at + LEN].iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Passing {
    /// Changes a bit of each selected signature, in all messages of a compound.
    fn look_at(&self, mut messages: &mut [u8]) {
        while messages.len() >= HEADER_LEN && messages.starts_with(PROTOCOL) {
            let is_signed = number::<4>(messages, FLAGS) & u64::from(HeaderFlags::SIGNED.0) != 0;
            if is_signed && self.is_chosen(number::<2>(messages, COMMAND)) {
                messages[SIGNATURE] ^= 1;
                self.changed.fetch_add(1, Ordering::Relaxed);
            }
            let next = number::<4>(messages, NEXT) as usize;
            if next == 0 || next > messages.len() {
                return;
            }
            messages = &mut messages[next..];
        }
    }

    /// Whether to change this signed response.
    fn is_chosen(&self, command: u64) -> bool {
        let signed = 1 + self.signed.fetch_add(1, Ordering::Relaxed);
        match self.choice {
            Choice::Nth(wanted) => signed == wanted,
            Choice::EveryRead(every) => {
                command == Command::Read as u64
                    && (1 + self.reads.fetch_add(1, Ordering::Relaxed)).is_multiple_of(every)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a signed response to this command; `next` is the offset of the next one.
    fn answer(command: Command, next: u32) -> Vec<u8> {
        let mut message = vec![0; HEADER_LEN];
        message[..4].copy_from_slice(PROTOCOL);
        message[COMMAND] = command as u8;
        message[FLAGS] = HeaderFlags::SIGNED.0 as u8;
        message[NEXT..NEXT + 4].copy_from_slice(&next.to_le_bytes());
        message
    }

    #[test]
    fn one_bit_of_the_chosen_signatures_is_changed() {
        let passing = Passing {
            choice: Choice::EveryRead(2),
            signed: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            changed: AtomicU64::new(0),
        };
        let first = answer(Command::Read, HEADER_LEN as u32);
        let whole = [first, answer(Command::Close, 0)].concat();
        for is_changed in [false, true, false] {
            let mut passed = whole.clone();
            passing.look_at(&mut passed);
            assert_eq!(passed[SIGNATURE], u8::from(is_changed));
            assert_eq!(passed[HEADER_LEN..], whole[HEADER_LEN..]);
        }
        assert_eq!(passing.changed.into_inner(), 1);
        assert_eq!(passing.signed.into_inner(), 6);
    }
}
