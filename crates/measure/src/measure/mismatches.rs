//! Results that differ from those in the load file: counted by kind, with the first lines of each.

use crate::measure::replay_record::MismatchRecord;
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::{ActionStatus, Expected, Mismatch};
use filestone_workload::operation::OpKind;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Maximum number of different mismatches per client; further ones are only counted.
const KINDS_MAX: usize = 64;
/// Maximum number of lines reported for each.
const LINES_MAX: usize = 8;

/// Descriptions of the expected and the actual result.
type Wording = (String, String);

/// Identity of a mismatch. Lengths and permissions vary from line to line and are not part of it.
type Key = (OpKind, Mismatch, Option<Wording>);

/// A line whose result differs from that in its load file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnexpectedResult {
    /// Operation of the line.
    pub kind: OpKind,
    /// Kind of the difference.
    pub mismatch: Mismatch,
    /// Line number in the load file.
    pub number: u32,
    /// Expected result.
    pub expected: Expected,
    /// Actual result.
    pub status: ActionStatus,
}

/// Counted mismatches.
#[derive(Debug, Default)]
pub struct Mismatches {
    count: u64,
    kinds: BTreeMap<Key, Seen>,
}

#[derive(Debug)]
struct Seen {
    count: u64,
    lines: Vec<u32>,
    /// Wording of the first occurrence.
    wording: Wording,
    /// Whether there were different wordings.
    varies: bool,
}

impl Mismatches {
    /// Returns the number of mismatches.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Counts a mismatch in line `number`. Allocates memory, but only after an unexpected result.
    pub fn add(&mut self, unexpected: &UnexpectedResult) {
        let &UnexpectedResult {
            kind,
            mismatch,
            number,
            expected,
            status,
        } = unexpected;
        self.count += 1;
        let wording = wording(expected, status);
        let detail = match mismatch {
            Mismatch::WrongLength | Mismatch::WrongAccess => None,
            Mismatch::Failed
            | Mismatch::Succeeded
            | Mismatch::OtherFailure
            | Mismatch::WrongData => Some(wording.clone()),
        };
        let is_full = self.kinds.len() >= KINDS_MAX;
        let seen = match self.kinds.entry((kind, mismatch, detail)) {
            Entry::Vacant(_) if is_full => return,
            Entry::Vacant(place) => place.insert(Seen::none_of(wording.clone())),
            Entry::Occupied(place) => place.into_mut(),
        };
        seen.count += 1;
        seen.varies |= seen.wording != wording;
        seen.note(number);
    }

    /// Adds the mismatches of another client.
    pub fn merge(&mut self, other: Mismatches) {
        self.count += other.count;
        for (key, seen) in other.kinds {
            let mine = self.kinds.entry(key);
            let mine = mine.or_insert_with(|| Seen::none_of(seen.wording.clone()));
            mine.count += seen.count;
            mine.varies |= seen.varies || mine.wording != seen.wording;
            seen.lines.into_iter().for_each(|line| mine.note(line));
        }
    }

    /// Converts the mismatches for the record, most frequent first.
    pub fn into_records(self) -> Vec<MismatchRecord> {
        let records = self
            .kinds
            .into_iter()
            .map(|((operation, mismatch, _), seen)| {
                let (expected, mut got) = seen.wording;
                if seen.varies {
                    got.push_str(" (the first; others differ)");
                }
                MismatchRecord {
                    operation,
                    mismatch,
                    expected,
                    got,
                    count: seen.count,
                    lines: seen.lines,
                }
            });
        let mut records: Vec<MismatchRecord> = records.collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.count));
        records
    }
}

impl Seen {
    fn none_of(wording: Wording) -> Self {
        Self {
            count: 0,
            lines: Vec::new(),
            wording,
            varies: false,
        }
    }

    fn note(&mut self, line: u32) {
        if self.lines.len() < LINES_MAX && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

/// Describes the expected and the actual result.
fn wording(expected: Expected, status: ActionStatus) -> Wording {
    let wanted = match (expected, status) {
        (_, ActionStatus::WrongLength { expected, .. }) => format!("{expected} bytes"),
        (_, ActionStatus::WrongAccess { expected, .. }) => format!("access {expected:#x}"),
        (_, ActionStatus::WrongData(_)) => "what was written".into(),
        (Expected::Success, _) => "success".into(),
        (Expected::Failure, _) => "failure".into(),
        (Expected::FailureOrShort, _) => "failure or fewer bytes".into(),
        (Expected::Nt(number), _) => StatusSpace::Nt.name(number),
        (Expected::Number(number), status) => Expected::number_name(number, &status),
        (Expected::Anything, _) => "anything".into(),
    };
    let got = match status {
        ActionStatus::Ok | ActionStatus::Unknown => "success".into(),
        ActionStatus::WrongLength { got, .. } => format!("{got} bytes"),
        ActionStatus::WrongAccess { got, .. } => format!("access {got:#x}"),
        ActionStatus::WrongData(fault) => fault.name().into(),
        ActionStatus::Failed(status) => status.to_string(),
        ActionStatus::Refused(cause) => cause.name().into(),
    };
    (wanted, got)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(mismatches: &mut Mismatches, number: u32, status: ActionStatus) {
        let expected = Expected::Success;
        mismatches.add(&UnexpectedResult {
            kind: OpKind::ReadX,
            mismatch: expected.mismatch(&status).expect("it is one"),
            number,
            expected,
            status,
        });
    }

    fn short(got: u64) -> ActionStatus {
        let expected = 1000;
        ActionStatus::WrongLength { expected, got }
    }

    #[test]
    fn wrong_lengths_are_one_kind_and_leave_room_for_others() {
        let mut mismatches = Mismatches::default();
        for number in 0..200 {
            add(&mut mismatches, number, short(number.into()));
        }
        add(
            &mut mismatches,
            200,
            ActionStatus::Failed(StatusSpace::Nfs3.status(28)),
        );
        let mut all = Mismatches::default();
        add(&mut all, 7, short(999));
        all.merge(mismatches);
        assert_eq!(all.count(), 202);
        let records = all.into_records();
        let counted: Vec<(u64, &str)> = records
            .iter()
            .map(|record| (record.count, record.got.as_str()))
            .collect();
        let expected = [
            (201, "999 bytes (the first; others differ)"),
            (1, "NFS3ERR_NOSPC (28)"),
        ];
        assert_eq!(counted, expected);
        assert_eq!(records[0].lines, [7, 0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn beyond_so_many_kinds_they_are_only_counted() {
        let mut mismatches = Mismatches::default();
        for number in 0..100 {
            add(
                &mut mismatches,
                1,
                ActionStatus::Failed(StatusSpace::Errno.status(1000 + number)),
            );
        }
        assert_eq!(mismatches.count(), 100);
        assert_eq!(mismatches.into_records().len(), KINDS_MAX);
    }
}
