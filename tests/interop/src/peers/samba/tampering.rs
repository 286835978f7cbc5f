//! Responses with wrong signatures: a relay between filestone and Samba changes one bit of some.

use super::TestEnv;
use super::relay::{self, COMMAND, Direction, Inspector};
use crate::peers::checks;
use crate::peers::fixture::FILE;
use crate::peers::smb::Account;
use crate::record::Record;
use anyhow::{Context, Result, bail};
use filestone_wire::smb2::{Command, HeaderFlags};
use filestone_workload::failure::ReplyFault;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Offsets in the header of a message (MS-SMB2, section 2.2.1.2).
const FLAGS: usize = 16;
const SIGNATURE: usize = 48;

/// Number of signed responses before a probe starts: those of its preparation and of its measuring
/// connection.
const BEFORE: u64 = 8;
const READS: u32 = 200;

/// Changes each signed response before the run: the run must fail.
pub fn before(ground: &TestEnv) -> Result<String> {
    let mut said = String::new();
    for number in 1..=BEFORE {
        let relay = Arc::new(Passing::new(Choice::Nth(number)));
        let output = run(ground, &relay, "probe read", FILE, "--count 10")?;
        said = checks::refused(&output, 3, &["signature", "help: "])
            .with_context(|| format!("answer {number}"))?;
    }
    Ok(said)
}

/// Checks that as many operations fail as responses were changed, with every signing algorithm.
pub fn in_probe(ground: &TestEnv) -> Result<String> {
    let mut changed = 0;
    for dialect in ["2.1", "3.0", "3.1.1"] {
        let relay = Arc::new(Passing::new(Choice::EveryRead(10)));
        let options = format!("--count {READS} --in-flight 4 --dialect {dialect}");
        let output = run(ground, &relay, "probe read", FILE, &options)?;
        // One of ten operations fails: the run does not count.
        let record = Record::read_ended(&output).context(dialect)?;
        changed += evaluate(&record, &relay).context(dialect)?;
    }
    Ok(format!("{changed} of {} failed", 3 * READS))
}

/// Checks that the lines with changed responses fail, and that no client is lost.
pub fn in_replay(ground: &TestEnv) -> Result<String> {
    let relay = Arc::new(Passing::new(Choice::EveryRead(20)));
    let asked = "replay office --layer";
    let output = run(ground, &relay, asked, "", "--run-once --clients 2")?;
    let record = Record::read(&output)?;
    record.is_as_expected()?;
    let changed = evaluate(&record, &relay)?;
    let lines = record.number("/totals/ledger/scheduled")?;
    Ok(format!("{changed} of {lines} lines failed"))
}

/// Returns the number of failed operations, which must be those with changed responses.
fn evaluate(record: &Record, relay: &Passing) -> Result<u64> {
    let changed = relay.changed.load(Ordering::Relaxed);
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

/// Runs filestone through a relay.
fn run(
    ground: &TestEnv,
    relay: &Arc<Passing>,
    asked: &str,
    object: &str,
    options: &str,
) -> Result<Output> {
    let port = relay::start(ground.servers.get("open")?.port, relay)?;
    let place = ground.servers.place("open", Some(port))?;
    let target = place.target(Account::User, object);
    let is_probe = asked.starts_with("probe");
    let always = if is_probe {
        "--no-calibrate --timeout 10s"
    } else {
        ""
    };
    let file = place.password_file.display();
    let line = format!(
        "{asked} {target} {always} --sign required --format json --password-file {file} {options}"
    );
    ground.bed.run(&line)
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

impl Inspector for Passing {
    const DIRECTION: Direction = Direction::Responses;

    /// Changes a bit of each selected signature.
    fn inspect(&self, message: &mut [u8]) -> bool {
        let flags = relay::number::<4>(message, FLAGS);
        let is_signed = flags & u64::from(HeaderFlags::SIGNED.0) != 0;
        if is_signed && self.is_chosen(relay::number::<2>(message, COMMAND)) {
            message[SIGNATURE] ^= 1;
            self.changed.fetch_add(1, Ordering::Relaxed);
        }
        false
    }
}

impl Passing {
    fn new(choice: Choice) -> Self {
        Self {
            choice,
            signed: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            changed: AtomicU64::new(0),
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
        let mut message = vec![0; relay::HEADER_LEN];
        message[..4].copy_from_slice(relay::PROTOCOL);
        message[COMMAND] = command as u8;
        message[FLAGS] = HeaderFlags::SIGNED.0 as u8;
        message[20..24].copy_from_slice(&next.to_le_bytes());
        message
    }

    #[test]
    fn one_bit_of_the_chosen_signatures_is_changed() {
        let passing = Passing::new(Choice::EveryRead(2));
        let first = answer(Command::Read, relay::HEADER_LEN as u32);
        let whole = [first, answer(Command::Close, 0)].concat();
        for is_changed in [false, true, false] {
            let mut passed = whole.clone();
            relay::inspect_frame(&mut passed, &passing);
            assert_eq!(passed[SIGNATURE], u8::from(is_changed));
            assert_eq!(passed[relay::HEADER_LEN..], whole[relay::HEADER_LEN..]);
        }
        assert_eq!(passing.changed.into_inner(), 1);
        assert_eq!(passing.signed.into_inner(), 6);
    }
}
