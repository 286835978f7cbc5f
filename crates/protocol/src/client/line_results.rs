//! Results of the lines of a load, and mismatches with the expected results.

use filestone_measure::measure::{Mismatches, UnexpectedResult};
use filestone_workload::load::{ActionStatus, Expected, Line, Mismatch};
use filestone_workload::operation::OpKind;

/// Result of a client's last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineEnd {
    /// Number in the load file.
    pub line: u32,
    /// The expected result.
    pub expected: Expected,
    /// The actual status; `None` if the client was lost.
    pub status: Option<ActionStatus>,
}

/// A line in flight.
#[derive(Debug, Clone, Copy)]
pub struct PendingLine {
    number: u32,
    kind: OpKind,
    expected: Expected,
}

impl PendingLine {
    /// Returns the pending state of this line.
    pub fn of(line: &Line<'_>) -> Self {
        Self {
            number: line.number,
            kind: line.action.kind(),
            expected: line.expected,
        }
    }
}

/// Results of a client's lines.
#[derive(Debug, Default)]
pub struct LineResults {
    /// Result of the last line.
    pub line_end: Option<LineEnd>,
    /// Mismatches since they were last taken.
    pub mismatches: Mismatches,
}

impl LineResults {
    /// Records the result of a line; returns a mismatch if it differs from the expected one.
    pub fn note(&mut self, line: PendingLine, status: Option<ActionStatus>) -> Option<Mismatch> {
        let PendingLine {
            number,
            kind,
            expected,
        } = line;
        self.line_end = Some(LineEnd {
            line: number,
            expected,
            status,
        });
        let status = status?;
        let mismatch = expected.mismatch(&status)?;
        self.mismatches.add(&UnexpectedResult {
            kind,
            mismatch,
            number,
            expected,
            status,
        });
        Some(mismatch)
    }
}
