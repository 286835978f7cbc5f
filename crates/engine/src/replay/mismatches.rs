//! Results other than the load file expects: counted by kind, with the first
//! lines where each was seen.

use filestone_model::load::{Cause, Expected, Line, Mismatch, Status};
use filestone_model::measure::replay_record::MismatchRecord;
use filestone_model::operation::OpKind;
use filestone_wire::nfs3;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Different mismatches that one client tells apart; more are only counted.
const KINDS_MAX: usize = 64;
/// Lines that are named for each.
const LINES_MAX: usize = 8;

/// What makes two mismatches the same.
type Key = (OpKind, Mismatch, String, String);

/// Counted mismatches.
#[derive(Debug, Default)]
pub struct Mismatches {
    count: u64,
    kinds: BTreeMap<Key, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    count: u64,
    lines: Vec<u32>,
}

impl Mismatches {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Counts one. It allocates; a run that is as expected never comes here.
    pub fn add(&mut self, kind: OpKind, mismatch: Mismatch, line: &Line<'_>, status: Status) {
        self.count += 1;
        let (expected, got) = wording(line.expected, status);
        let key = (kind, mismatch, expected, got);
        let is_full = self.kinds.len() >= KINDS_MAX;
        let seen = match self.kinds.entry(key) {
            Entry::Vacant(_) if is_full => return,
            Entry::Vacant(place) => place.insert(Seen::default()),
            Entry::Occupied(place) => place.into_mut(),
        };
        seen.count += 1;
        seen.note(line.number);
    }

    /// Adds another client's.
    pub fn merge(&mut self, other: Mismatches) {
        self.count += other.count;
        for (key, seen) in other.kinds {
            let mine = self.kinds.entry(key).or_default();
            mine.count += seen.count;
            seen.lines.into_iter().for_each(|line| mine.note(line));
        }
    }

    /// For the record, most frequent first.
    pub fn into_records(self) -> Vec<MismatchRecord> {
        let mut records: Vec<MismatchRecord> = self
            .kinds
            .into_iter()
            .map(
                |((operation, mismatch, expected, got), seen)| MismatchRecord {
                    operation,
                    mismatch,
                    expected,
                    got,
                    count: seen.count,
                    lines: seen.lines,
                },
            )
            .collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.count));
        records
    }
}

impl Seen {
    fn note(&mut self, line: u32) {
        if self.lines.len() < LINES_MAX && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

/// What was expected and what came, in words. Lengths differ from line to line,
/// so they are words of the first line only where they say what kind it is.
fn wording(expected: Expected, status: Status) -> (String, String) {
    let wanted = match (expected, status) {
        (_, Status::WrongLength { expected, .. }) => format!("{expected} bytes"),
        (_, Status::WrongAccess { expected, .. }) => format!("access {expected:#x}"),
        (Expected::Success, _) => "success".into(),
        (Expected::Failure(cause), _) => cause_name(cause).into(),
        (Expected::Number(number), Status::Nlm(_)) => format!("NLM4 status {number}"),
        (Expected::Number(number), _) => nfs3::Status(number).to_string(),
        (Expected::Anything, _) => "anything".into(),
    };
    let got = match status {
        Status::Ok | Status::Unknown => "success".into(),
        Status::WrongLength { got, .. } => format!("{got} bytes"),
        Status::WrongAccess { got, .. } => format!("access {got:#x}"),
        Status::Nfs(number) => nfs3::Status(number).to_string(),
        Status::Nlm(number) => format!("NLM4 status {number}"),
        Status::Errno(number) => errno_name(number),
        Status::Refused(cause) => cause_name(cause).into(),
    };
    (wanted, got)
}

/// What the system calls an error, with its number: `No such file or directory (2)`.
fn errno_name(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    let name = text.split(" (os error").next().unwrap_or(&text);
    format!("{name} ({number})")
}

fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::NotFound => "not found",
        Cause::Exists => "exists already",
        Cause::Denied => "not allowed",
        Cause::NotDirectory => "not a directory",
        Cause::IsDirectory => "is a directory",
        Cause::NotEmpty => "not empty",
        Cause::NoSpace => "no space left",
        Cause::Locked => "locked by somebody else",
        Cause::UnknownHandle => "a handle that is not open",
        Cause::Other => "failure",
    }
}
