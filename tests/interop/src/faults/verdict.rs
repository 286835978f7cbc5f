//! Conditions that every run must meet, whatever its server did.

use super::attempt::{RUN_LIMIT, Seen};
use super::cell::{Cell, CommandKind, Fault, Phase};
use super::command::{WINDOW, is_measured, is_of_clean_up, warm_up};
use super::expected_outcomes::{self, End, Reason};
use super::relay::Call;
use filestone_wire::nfs3::Status;
use serde_json::Value;
use std::time::{Instant, SystemTime};

/// Entries of a ledger other than `scheduled`.
const ENTRIES: [&str; 6] = [
    "ok",
    "failed",
    "timed_out",
    "disconnected",
    "skipped",
    "in_flight",
];

/// Words of an error message about leftovers.
const LEFT_WORDS: [&str; 2] = ["could not be removed", "stays in"];

/// Verdict on a run: a word for the table, and a message.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub word: &'static str,
    pub kind: VerdictKind,
    pub detail: String,
}

/// Kind of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictKind {
    Good,
    /// The fault fell into another phase: the run shows nothing.
    Missed,
    Bad,
}

impl Verdict {
    fn new(word: &'static str, kind: VerdictKind, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { word, kind, detail }
    }

    pub fn bad(word: &'static str, detail: impl Into<String>) -> Self {
        Self::new(word, VerdictKind::Bad, detail)
    }

    pub fn good(detail: impl Into<String>) -> Self {
        Self::new("ok", VerdictKind::Good, detail)
    }

    fn missed(detail: impl Into<String>) -> Self {
        Self::new("NOT_TRIGGERED", VerdictKind::Missed, detail)
    }
}

/// Judges the observations of the run of `cell`.
pub fn evaluate(cell: Cell, seen: &Seen) -> Verdict {
    let record = record_of(seen);
    let findings = [
        has_ended(seen),
        met_its_fault(cell, seen, record.as_ref()),
        record.as_ref().and_then(balances),
        ended_as_documented(cell, seen, record.as_ref()),
        said_what_is_left(cell, seen, record.as_ref()),
        was_removed(cell, seen),
        took_of_others(&seen.taken),
    ];
    let mut findings = findings.into_iter().flatten();
    let Some(mut first) = findings.next() else {
        return good(cell, seen, record.as_ref());
    };
    for other in findings {
        first.detail += &format!("\n{}: {}", other.word, other.detail);
    }
    first
}

fn good(cell: Cell, seen: &Seen, record: Option<&Value>) -> Verdict {
    let end = end_of(seen, record).map_or_else(String::new, |end| end.to_string());
    let (took, ledger) = (seen.resumed.as_secs_f64(), ledger_of(record));
    let mut detail = format!("{end} after {took:.1} s{ledger}");
    let word = if seen.left.is_empty() || is_as_asked(cell, seen, record) {
        "ok"
    } else {
        detail += &format!("\n{}", said_of_leftovers(seen, record));
        "left"
    };
    Verdict::new(word, VerdictKind::Good, detail)
}

fn record_of(seen: &Seen) -> Option<Value> {
    let value: Value = serde_json::from_slice(&seen.stdout).ok()?;
    // A replay on several layers prints a list.
    match value {
        Value::Array(mut records) => records.pop(),
        record => Some(record),
    }
}

fn has_ended(seen: &Seen) -> Option<Verdict> {
    if seen.status.is_none() {
        return Some(Verdict::bad(
            "HUNG",
            format!("did not end within {RUN_LIMIT:?}"),
        ));
    }
    let has_panicked = seen.stderr.contains("panicked");
    has_panicked.then(|| Verdict::bad("PANIC", seen.stderr.clone()))
}

/// Returns the start of the record's window on the relay's clock.
fn window_start(seen: &Seen, record: &Value) -> Option<Instant> {
    let text = record.pointer("/started_at")?.as_str()?;
    let at: SystemTime = humantime::parse_rfc3339(text).ok()?;
    Some(seen.started + at.duration_since(seen.started_at).ok()?)
}

/// Returns a verdict if the fault did not start in its phase.
fn met_its_fault(cell: Cell, seen: &Seen, record: Option<&Value>) -> Option<Verdict> {
    let Some(at) = seen.fault_at else {
        return Some(Verdict::missed("the run was over before the fault began"));
    };
    // Without a record, the calls are the best evidence of the start.
    let by_record = record.and_then(|record| window_start(seen, record));
    let by_calls = seen.begun(cell).map(|begun| begun + warm_up(cell.face));
    let phase = match by_record.or(by_calls) {
        Some(window) => phase_at(cell.face, seen, at, window),
        None => Some(Phase::Prepare),
    };
    if phase != Some(cell.phase) {
        let name = phase.map_or("between two phases", Phase::name);
        return Some(Verdict::missed(format!("the fault began in {name}")));
    }
    if cell.fault == Fault::Full && cell.phase != Phase::CleanUp && !was_told_full(seen, at) {
        return Some(Verdict::missed("no call was answered with NFS3ERR_NOSPC"));
    }
    None
}

/// Returns the phase at a given time of a run whose window opened at `window`.
fn phase_at(face: CommandKind, seen: &Seen, at: Instant, window: Instant) -> Option<Phase> {
    if at + warm_up(face) < window {
        return Some(Phase::Prepare);
    }
    if at < window {
        return Some(Phase::WarmUp);
    }
    if at < window + WINDOW {
        return Some(Phase::Measure);
    }
    let since = (window + WINDOW)..=at;
    let is_clean_up = |call: &Call| since.contains(&call.at) && is_of_clean_up(face, call);
    if seen.in_flight(at).any(|call| is_measured(face, call)) {
        return Some(Phase::Drain);
    }
    if seen.calls.iter().any(is_clean_up) {
        return Some(Phase::CleanUp);
    }
    seen.in_flight(at).next().map(|_| Phase::Drain)
}

fn was_told_full(seen: &Seen, at: Instant) -> bool {
    let told = seen.calls.iter().filter_map(|call| call.answer);
    let mut told = told.filter(|answer| answer.at >= at);
    told.any(|answer| answer.status == Some(Status::NOSPC.0))
}

/// Returns the value of a ledger entry.
fn count(ledger: &Value, entry: &str) -> u64 {
    ledger[entry].as_u64().unwrap_or_default()
}

fn is_balanced(ledger: &Value) -> bool {
    let sum: u64 = ENTRIES.iter().map(|entry| count(ledger, entry)).sum();
    ledger["scheduled"].as_u64() == Some(sum)
}

/// Checks the ledgers of the whole run and of each kind of operation.
pub fn balances(record: &Value) -> Option<Verdict> {
    let kinds = record.pointer("/totals/kinds").and_then(Value::as_array);
    let kinds = kinds.into_iter().flatten().map(|kind| &kind["ledger"]);
    let mut all = record.pointer("/totals/ledger").into_iter().chain(kinds);
    let wrong = all.find(|ledger| !is_balanced(ledger))?;
    Some(Verdict::bad("LEDGER", format!("does not balance: {wrong}")))
}

fn ledger_of(record: Option<&Value>) -> String {
    let Some(ledger) = record.and_then(|record| record.pointer("/totals/ledger")) else {
        return String::new();
    };
    let entries = std::iter::once("scheduled").chain(ENTRIES);
    let entries = entries.filter(|entry| count(ledger, entry) > 0);
    let entries = entries.map(|entry| format!("{} {entry}", count(ledger, entry)));
    format!("; {}", entries.collect::<Vec<_>>().join(", "))
}

/// Returns the end of the run; `None` if it did not end.
fn end_of(seen: &Seen, record: Option<&Value>) -> Option<End> {
    let code = seen.status?.code()?;
    let reason = record
        .and_then(|record| record.pointer("/end/reason"))
        .map(|reason| match reason.as_str() {
            Some("finished") => Reason::Finished,
            Some("target-lost") => Reason::TargetLost,
            _ => Reason::Interrupted,
        });
    Some(End { code, reason })
}

fn ended_as_documented(cell: Cell, seen: &Seen, record: Option<&Value>) -> Option<Verdict> {
    let Some(end) = end_of(seen, record) else {
        return Some(Verdict::bad("SIGNAL", format!("{:?}", seen.status)));
    };
    let expected = expected_outcomes::expected(cell);
    if expected.ends.contains(&end) && expected_outcomes::agrees_with_record(end, record) {
        return None;
    }
    let ends: Vec<String> = expected.ends.iter().map(End::to_string).collect();
    Some(Verdict::bad(
        "END",
        format!(
            "{end} instead of {}, because {}{}\n{}",
            ends.join(" or "),
            expected.reason,
            ledger_of(record),
            seen.stderr.trim()
        ),
    ))
}

/// Returns the text about leftovers: from a caveat of the record, or else from the error.
fn said_of_leftovers(seen: &Seen, record: Option<&Value>) -> String {
    let Some(record) = record else {
        return seen.stderr.trim().to_owned();
    };
    let caveats = record["caveats"].as_array().into_iter().flatten();
    let is_of_leftovers = |caveat: &&Value| {
        let name = caveat["caveat"].as_str();
        matches!(name, Some("leftover" | "file-set-still-claimed"))
    };
    let caveats = caveats.filter(is_of_leftovers).map(Value::to_string);
    caveats.collect::<Vec<_>>().join(" ")
}

/// Whether the only leftover is the file set of a mix that keeps it for later runs.
fn is_as_asked(cell: Cell, seen: &Seen, record: Option<&Value>) -> bool {
    let is_kept = cell.face == CommandKind::KeptSet && record.is_some();
    is_kept && seen.has_set_given_up && seen.left.len() == 1
}

fn said_what_is_left(cell: Cell, seen: &Seen, record: Option<&Value>) -> Option<Verdict> {
    if is_as_asked(cell, seen, record) {
        return None;
    }
    let said = said_of_leftovers(seen, record);
    // An error may name it for another reason.
    let is_of_leftovers = record.is_some() || LEFT_WORDS.iter().any(|word| said.contains(word));
    let mut left = seen.left.iter();
    let unsaid = left.find(|name| !is_of_leftovers || !said.contains(name.as_str()))?;
    Some(Verdict::bad(
        "UNREPORTED_LEFTOVER",
        format!("{unsaid} is left, and nothing says so: {said}"),
    ))
}

/// Checks that the leftovers were removed by the removal run.
fn was_removed(cell: Cell, seen: &Seen) -> Option<Verdict> {
    let removal = seen.removal.as_ref()?;
    // A directory that contains a file of another program stays. Whether so short a run counts is
    // not relevant.
    let has_ended = matches!(removal.status.code(), Some(0 | 3));
    let is_all_gone = removal.left.is_empty() && has_ended;
    if cell.fault == Fault::Planted || is_all_gone {
        return None;
    }
    let (status, said, left) = (removal.status, removal.text.trim(), &removal.left);
    Some(Verdict::bad(
        "LEFTOVER",
        format!(
            "{:?} was left; the run to remove it ended with {status} and left {left:?}\n{said}",
            seen.left
        ),
    ))
}

/// Checks that no file of another program was removed.
pub fn took_of_others(taken: &[String]) -> Option<Verdict> {
    let is_taken = !taken.is_empty();
    is_taken.then(|| Verdict::bad("TAKEN", format!("files of another program: {taken:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_wire::nfs3::Procedure;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn a_ledger_that_does_not_balance_is_found_wherever_it_is() {
        let ledger = |scheduled: u64, ok: u64, timed_out: u64| json!({"scheduled": scheduled, "ok": ok, "timed_out": timed_out});
        let record = |kind: Value| json!({"totals": {"ledger": ledger(3, 2, 1), "kinds": [{"ledger": kind}]}});
        assert!(balances(&record(ledger(3, 2, 1))).is_none());
        assert!(balances(&record(ledger(3, 2, 0))).is_some());
        assert!(balances(&json!({"totals": {"ledger": ledger(1, 0, 0)}})).is_some());
    }

    #[test]
    fn a_moment_is_in_the_phase_that_the_window_and_the_calls_say() {
        let started = Instant::now();
        let window = started + warm_up(CommandKind::Probe);
        let millis = |millis| Duration::from_millis(millis);
        let call = |procedure, at| Call {
            at,
            procedure: Some(procedure),
            len: 100,
            answer: None,
        };
        let end = window + WINDOW;
        let seen = |calls| Seen {
            status: None,
            stdout: Vec::new(),
            stderr: String::new(),
            fault_at: None,
            resumed: Duration::ZERO,
            calls,
            started_at: SystemTime::now(),
            started,
            left: Vec::new(),
            has_set_given_up: false,
            removal: None,
            taken: Vec::new(),
        };
        let idle = seen(Vec::new());
        let before = window.checked_sub(warm_up(CommandKind::Probe) + millis(1));
        for (at, phase) in [
            (before, Phase::Prepare),
            (Some(started), Phase::WarmUp),
            (Some(window), Phase::Measure),
        ] {
            let at = at.expect("the clock is older than that");
            assert_eq!(phase_at(CommandKind::Probe, &idle, at, window), Some(phase));
        }
        let at = end + millis(50);
        assert_eq!(phase_at(CommandKind::Probe, &idle, at, window), None);
        let write = call(Procedure::Write, end);
        let remove = call(Procedure::Remove, end + millis(1));
        let removing = seen(vec![remove.clone()]);
        assert_eq!(
            phase_at(CommandKind::Probe, &removing, at, window),
            Some(Phase::CleanUp)
        );
        let draining = seen(vec![write, remove]);
        assert_eq!(
            phase_at(CommandKind::Probe, &draining, at, window),
            Some(Phase::Drain)
        );
    }
}
