//! Expected end of a run according to the documents: for each cell the exit code, the end in the
//! record, and the reason.

use super::cell::{Cell, CommandKind, Fault, Phase};
use serde_json::Value;
use std::fmt;

/// End of a run as stated in its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Finished,
    TargetLost,
    Interrupted,
}

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Exit code.
    pub code: i32,
    /// End in the record; `None` if the run wrote none.
    pub reason: Option<Reason>,
}

/// Permitted ends of a run, and the reason for them.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    pub ends: &'static [End],
    pub reason: &'static str,
}

/// The run measured.
const DONE: End = End {
    code: 0,
    reason: Some(Reason::Finished),
};
/// The run reached its end and does not count: too few operations succeeded, or none.
const UNCOUNTED: End = End {
    code: 3,
    reason: Some(Reason::Finished),
};
/// The run gave up the server before its end.
const LOST: End = End {
    code: 3,
    reason: Some(Reason::TargetLost),
};
/// The run was refused before it measured anything.
const REFUSED: End = End {
    code: 3,
    reason: None,
};

/// Expected end if another program puts files into a directory.
const UNCHANGED: Expected = Expected {
    ends: &[DONE],
    reason: "what another program puts into a directory changes nothing of the run",
};

/// The run reached its end; whether it counts depends on the number of failures.
const FINISHED: &[End] = &[DONE, UNCOUNTED];

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Some(Reason::Finished) => "finished",
            Some(Reason::TargetLost) => "target lost",
            Some(Reason::Interrupted) => "interrupted",
            None => "no record",
        };
        write!(f, "exit code {} ({reason})", self.code)
    }
}

/// Whether the exit code agrees with the record.
pub fn agrees_with_record(end: End, record: Option<&Value>) -> bool {
    let ok = record.and_then(|record| record.pointer("/totals/ledger/ok")?.as_u64());
    let verdict = record.and_then(|record| record.get("validity")?.as_str());
    let counts = verdict != Some("does-not-count") && ok > Some(0);
    match end {
        UNCOUNTED => !counts,
        DONE => counts,
        _ => true,
    }
}

const fn expect(ends: &'static [End], reason: &'static str) -> Expected {
    Expected { ends, reason }
}

/// Returns the expected end of the run of a cell.
pub fn expected(cell: Cell) -> Expected {
    match cell.phase {
        _ if cell.fault == Fault::Planted => UNCHANGED,
        Phase::Prepare => in_prepare(cell),
        Phase::WarmUp | Phase::Measure => in_the_run(cell),
        Phase::Drain => expect(
            FINISHED,
            "the window was over: what was in flight counts as what came of it",
        ),
        Phase::CleanUp => expect(
            &[DONE],
            "all was measured; what a clean-up cannot do is a caveat",
        ),
    }
}

fn in_prepare(cell: Cell) -> Expected {
    match cell.fault {
        Fault::Paused | Fault::Slow => expect(&[DONE], "each call was answered within --timeout"),
        Fault::Frozen | Fault::TooSlow => expect(
            &[REFUSED],
            "a call of preparing had no answer within --timeout",
        ),
        Fault::Restarted => expect(
            &[REFUSED],
            "what was prepared is forgotten, which its handles tell",
        ),
        Fault::Gone | Fault::CutOff | Fault::OneCutOff => expect(
            &[REFUSED],
            "the connection could not be made again within --reconnect",
        ),
        Fault::Full => expect(&[REFUSED], "what is needed could not be made"),
        Fault::Planted => UNCHANGED,
    }
}

/// Returns the expected end for warm-up and window: a fault in the warm-up may prevent any success
/// in the window.
fn in_the_run(cell: Cell) -> Expected {
    let is_replay = cell.face == CommandKind::Replay;
    if cell.face == CommandKind::Fleet && matches!(cell.fault, Fault::Frozen | Fault::TooSlow) {
        return expect(
            FINISHED,
            "a client of a fleet tries again, for longer than the rest of the window",
        );
    }
    match cell.fault {
        Fault::Paused | Fault::Slow => expect(&[DONE], "each call was answered within --timeout"),
        Fault::Frozen | Fault::TooSlow if is_replay => expect(
            &[LOST],
            "a client of a load ends when a call has no answer within --timeout, and \
                     both did",
        ),
        Fault::Frozen if cell.phase == Phase::WarmUp => {
            expect(&[UNCOUNTED], "all in the window timed out")
        }
        Fault::Frozen | Fault::TooSlow => expect(
            FINISHED,
            "calls without an answer have timed out, and the others count",
        ),
        Fault::Restarted if is_replay || cell.phase == Phase::Measure => expect(
            FINISHED,
            "the connections were made again, and calls about what is forgotten failed",
        ),
        Fault::Restarted => expect(
            &[UNCOUNTED],
            "all in the window was about what is forgotten",
        ),
        Fault::OneCutOff => expect(
            FINISHED,
            "the loss of one client of two is the loss of that client",
        ),
        Fault::Gone | Fault::CutOff => expect(
            &[LOST],
            "the connections could not be made again within --reconnect",
        ),
        Fault::Full if cell.face == CommandKind::Probe && cell.phase == Phase::WarmUp => expect(
            &[UNCOUNTED],
            "the window has nothing but WRITEs without room",
        ),
        Fault::Full => expect(FINISHED, "what needs no room went on"),
        Fault::Planted => UNCHANGED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_succeeded_must_agree_with_the_exit_code() {
        let record =
            |ok: u64, verdict: &str| json!({"totals": {"ledger": {"ok": ok}}, "validity": verdict});
        for (ok, verdict, counts) in [
            (1, "with-caveats", true),
            (0, "with-caveats", false),
            (1, "does-not-count", false),
        ] {
            let record = record(ok, verdict);
            assert_eq!(agrees_with_record(DONE, Some(&record)), counts);
            assert_eq!(agrees_with_record(UNCOUNTED, Some(&record)), !counts);
        }
        assert!(agrees_with_record(REFUSED, None));
    }

    #[test]
    fn only_what_fails_before_the_run_leaves_no_record() {
        for cell in Cell::all() {
            let is_in_prepare = cell.phase == Phase::Prepare;
            let ends = expected(cell).ends;
            assert!(!ends.is_empty(), "{cell}");
            assert!(is_in_prepare || !ends.contains(&REFUSED), "{cell}");
        }
    }
}
