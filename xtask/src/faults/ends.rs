//! How a run ends, by the documents: for each cell the exit code, the end that the record
//! names, and why.

use super::cell::{Cell, Face, Fault, Phase};
use serde_json::Value;
use std::fmt;

/// Why a record says that its run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Finished,
    TargetLost,
    Interrupted,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Its exit code.
    pub code: i32,
    /// The end that its record names; `None` if it wrote none.
    pub reason: Option<Reason>,
}

/// What it should be, and why.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    pub ends: &'static [End],
    pub reason: &'static str,
}

/// Measured.
const DONE: End = End {
    code: 0,
    reason: Some(Reason::Finished),
};
/// The run went on to its end, and not one measured operation succeeded.
const NOTHING: End = End {
    code: 3,
    reason: Some(Reason::Finished),
};
/// The server was given up in the middle.
const LOST: End = End {
    code: 3,
    reason: Some(Reason::TargetLost),
};
/// It was refused before anything was measured.
const REFUSED: End = End {
    code: 3,
    reason: None,
};

/// What another program puts into a directory.
const UNCHANGED: Expected = Expected {
    ends: &[DONE],
    reason: "what another program puts into a directory changes nothing of the run",
};

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

/// Whether "nothing succeeded" is what the ledger says, too.
pub fn agrees_with_ledger(end: End, record: Option<&Value>) -> bool {
    let ok = record.and_then(|record| record.pointer("/totals/ledger/ok")?.as_u64());
    match end {
        NOTHING => ok == Some(0),
        DONE => ok > Some(0),
        _ => true,
    }
}

/// What the run of this cell should come to.
pub fn expected(cell: Cell) -> Expected {
    match cell.phase {
        _ if cell.fault == Fault::Planted => UNCHANGED,
        Phase::Prepare => in_prepare(cell),
        Phase::WarmUp | Phase::Measure => in_the_run(cell),
        Phase::Drain => Expected {
            ends: &[DONE],
            reason: "the window was over: what was in flight counts as what came of it",
        },
        Phase::CleanUp => Expected {
            ends: &[DONE],
            reason: "all was measured; what a clean-up cannot do is a caveat",
        },
    }
}

fn in_prepare(cell: Cell) -> Expected {
    match cell.fault {
        Fault::Paused | Fault::Slow => Expected {
            ends: &[DONE],
            reason: "each call was answered within --timeout",
        },
        Fault::Frozen | Fault::TooSlow => Expected {
            ends: &[REFUSED],
            reason: "a call of preparing had no answer within --timeout",
        },
        Fault::Restarted => Expected {
            ends: &[REFUSED],
            reason: "what was prepared is forgotten, which its handles tell",
        },
        Fault::Gone | Fault::CutOff | Fault::OneCutOff => Expected {
            ends: &[REFUSED],
            reason: "the connection could not be made again within --reconnect",
        },
        Fault::Full => Expected {
            ends: &[REFUSED],
            reason: "what is needed could not be made",
        },
        Fault::Planted => UNCHANGED,
    }
}

/// Warm-up and window: a fault in the first may leave nothing that succeeds in the second.
fn in_the_run(cell: Cell) -> Expected {
    let is_replay = cell.face == Face::Replay;
    if cell.face == Face::Fleet && matches!(cell.fault, Fault::Frozen | Fault::TooSlow) {
        return Expected {
            ends: &[DONE],
            reason: "a client of a fleet tries again, for longer than the rest of the window",
        };
    }
    match cell.fault {
        Fault::Paused | Fault::Slow => Expected {
            ends: &[DONE],
            reason: "each call was answered within --timeout",
        },
        Fault::Frozen | Fault::TooSlow if is_replay => Expected {
            ends: &[LOST],
            reason: "a client of a load ends when a call has no answer within --timeout, and \
                     both did",
        },
        Fault::Frozen if cell.phase == Phase::WarmUp => Expected {
            ends: &[NOTHING],
            reason: "all in the window timed out",
        },
        Fault::Frozen | Fault::TooSlow => Expected {
            ends: &[DONE],
            reason: "calls without an answer have timed out, and the others count",
        },
        Fault::Restarted if is_replay || cell.phase == Phase::Measure => Expected {
            ends: &[DONE],
            reason: "the connections were made again, and calls about what is forgotten failed",
        },
        Fault::Restarted => Expected {
            ends: &[NOTHING],
            reason: "all in the window was about what is forgotten",
        },
        Fault::OneCutOff => Expected {
            ends: &[DONE],
            reason: "the loss of one client of two is the loss of that client",
        },
        Fault::Gone | Fault::CutOff => Expected {
            ends: &[LOST],
            reason: "the connections could not be made again within --reconnect",
        },
        Fault::Full if cell.face == Face::Probe && cell.phase == Phase::WarmUp => Expected {
            ends: &[NOTHING],
            reason: "the window has nothing but WRITEs without room",
        },
        Fault::Full => Expected {
            ends: &[DONE],
            reason: "what needs no room went on",
        },
        Fault::Planted => UNCHANGED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_succeeded_must_agree_with_the_exit_code() {
        let record = |ok: u64| json!({"totals": {"ledger": {"ok": ok}}});
        assert!(agrees_with_ledger(DONE, Some(&record(1))));
        assert!(!agrees_with_ledger(DONE, Some(&record(0))));
        assert!(agrees_with_ledger(NOTHING, Some(&record(0))));
        assert!(!agrees_with_ledger(NOTHING, Some(&record(1))));
        assert!(agrees_with_ledger(REFUSED, None));
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
