//! How the lines of a load end, and which of them not as it expects.

use filestone_measure::measure::{Mismatches, UnexpectedResult};
use filestone_workload::load::{Expected, Line, Mismatch, Status};
use filestone_workload::operation::OpKind;

/// How a client's last line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineEnd {
    /// Its number in the load file.
    pub line: u32,
    /// What it expects.
    pub expected: Expected,
    /// What came; `None` if the client was lost.
    pub status: Option<Status>,
}

/// What is known of a line while it is under way.
#[derive(Debug, Clone, Copy)]
pub struct PendingLine {
    number: u32,
    kind: OpKind,
    expected: Expected,
}

impl PendingLine {
    /// Of this line.
    pub fn of(line: &Line<'_>) -> Self {
        Self {
            number: line.number,
            kind: line.action.kind(),
            expected: line.expected,
        }
    }
}

/// What a client remembers of how its lines ended.
#[derive(Debug, Default)]
pub struct LineResults {
    /// How the last one did.
    pub line_end: Option<LineEnd>,
    /// Results other than expected, since they were taken last.
    pub mismatches: Mismatches,
}

impl LineResults {
    /// Takes notice of how a line ended, and says how that is not as expected.
    pub fn note(&mut self, line: PendingLine, status: Option<Status>) -> Option<Mismatch> {
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
