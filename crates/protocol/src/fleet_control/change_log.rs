//! Changes of a running fleet, and the settings generation of each interval of the run.
//!
//! A change is sent to clients at one moment, and each client applies it a little later: with its
//! next read or write, with its next file, or when it has stopped. Measurements between that moment
//! and the time when all clients were seen to have applied it are mixed.

use filestone_measure::measure::fleet_record::{ChangeRecord, SettingsGeneration};
use filestone_plan::fleet::{EffectiveFrom, SETTINGS};

/// The changes of a running fleet, ordered by time.
#[derive(Debug, Default)]
pub struct ChangeLog {
    changes: Vec<ChangeRecord>,
    /// All changes before this index are settled.
    settled: usize,
}

impl ChangeLog {
    /// Returns the number of changes.
    pub fn count(&self) -> u32 {
        self.changes.len() as u32
    }

    /// Returns the changes after the first `count`.
    pub fn since(&self, count: u32) -> Vec<ChangeRecord> {
        self.changes
            .get(count as usize..)
            .unwrap_or_default()
            .to_vec()
    }

    /// Adds a change that was sent to clients.
    pub fn record(&mut self, change: ChangeRecord) {
        self.changes.push(change);
    }

    /// Returns when the last of the unsettled changes takes effect.
    pub fn unsettled(&self) -> Option<EffectiveFrom> {
        let open = self.changes.get(self.settled..).unwrap_or_default();
        let mut open = open.iter().filter(|change| change.applied_ns.is_none());
        let first = effective_from(open.next()?);
        if open.any(|change| effective_from(change) == EffectiveFrom::NextFile) {
            return Some(EffectiveFrom::NextFile);
        }
        Some(first)
    }

    /// Marks the first `count` changes as settled at `now_ns`, if they take effect no later than
    /// `up_to`.
    pub fn mark_applied(&mut self, count: u32, up_to: EffectiveFrom, now_ns: u64) {
        let count = (count as usize).min(self.changes.len());
        let open = self.changes.get_mut(self.settled..count);
        for change in open.unwrap_or_default() {
            if up_to == EffectiveFrom::NextFile
                || effective_from(change) == EffectiveFrom::NextTransfer
            {
                change.applied_ns.get_or_insert(now_ns.max(change.sent_ns));
            }
        }
        let is_settled = |change: &&ChangeRecord| change.applied_ns.is_some();
        let more = self.changes.get(self.settled..).unwrap_or_default();
        self.settled += more.iter().take_while(is_settled).count();
    }

    /// Returns the settings generations of the run.
    pub fn generations(&self) -> SettingsHistory {
        let mut latest = 0;
        let settled = self.changes.iter().map(|change| {
            latest = change.applied_ns.unwrap_or(u64::MAX).max(latest);
            latest
        });
        SettingsHistory {
            settled: settled.collect(),
            told: self.changes.iter().map(|change| change.sent_ns).collect(),
        }
    }

    /// Removes and returns the changes, for the record.
    pub fn take(&mut self) -> Vec<ChangeRecord> {
        self.settled = 0;
        std::mem::take(&mut self.changes)
    }
}

/// Returns when a change takes effect; for several settings, the latest time of them.
fn effective_from(change: &ChangeRecord) -> EffectiveFrom {
    let is_late = |key: &str| {
        let mut settings = SETTINGS.iter();
        let setting = settings.find(|setting| setting.key == key);
        setting.is_some_and(|setting| setting.effective_from == EffectiveFrom::NextFile)
    };
    if change.settings.iter().any(|setting| is_late(&setting.key)) {
        EffectiveFrom::NextFile
    } else {
        EffectiveFrom::NextTransfer
    }
}

/// Settings generations of a run by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsHistory {
    /// Times when each change was sent to clients, in nanoseconds.
    told: Vec<u64>,
    /// Times when each change and all before it had settled, in nanoseconds.
    settled: Vec<u64>,
}

impl SettingsHistory {
    /// Returns the generation of the time from `start_ns` to before `end_ns`.
    pub fn of(&self, start_ns: u64, end_ns: u64) -> SettingsGeneration {
        let last = self.told.partition_point(|told| *told < end_ns);
        let oldest = self.settled.partition_point(|settled| *settled <= start_ns);
        SettingsGeneration::new(oldest.min(last) as u32, last as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::measure::fleet_record::{ChangeKind, SettingChange};

    fn change(number: u32, at_ns: u64, key: &str) -> ChangeRecord {
        ChangeRecord {
            number,
            sent_ns: at_ns,
            action: ChangeKind::Set,
            selector: "all".into(),
            clients: 1,
            applied_ns: None,
            settings: vec![SettingChange {
                key: key.into(),
                from: "1".into(),
                to: "2".into(),
                clients: 1,
            }],
        }
    }

    fn marks(book: &ChangeLog, seconds: u64) -> Vec<String> {
        let generations = book.generations();
        (0..seconds)
            .map(|second| generations.of(10 * second, 10 * second + 10).to_string())
            .collect()
    }

    #[test]
    fn what_is_between_telling_and_settling_is_mixed() {
        let mut book = ChangeLog::default();
        assert_eq!(
            (marks(&book, 1), book.unsettled()),
            (vec!["0".into()], None)
        );
        // Sent in the second interval, settled in the third; the next change is sent at a boundary
        // and settled in the same interval.
        book.record(change(1, 15, "rate"));
        assert_eq!(book.unsettled(), Some(EffectiveFrom::NextTransfer));
        assert_eq!(marks(&book, 4), ["0", "0-1", "0-1", "0-1"]);
        book.mark_applied(1, EffectiveFrom::NextTransfer, 22);
        book.record(change(2, 40, "rate"));
        book.mark_applied(1, EffectiveFrom::NextTransfer, 41);
        assert_eq!(marks(&book, 6), ["0", "0-1", "0-1", "1", "1-2", "1-2"]);
        book.mark_applied(2, EffectiveFrom::NextTransfer, 45);
        assert_eq!(marks(&book, 6), ["0", "0-1", "0-1", "1", "1-2", "2"]);
        assert_eq!(book.unsettled(), None);
        assert_eq!(book.count(), 2);
        let settled: Vec<_> = book.take().iter().map(|one| one.applied_ns).collect();
        assert_eq!(settled, [Some(22), Some(45)]);
    }

    #[test]
    fn what_holds_from_the_next_file_on_settles_by_itself() {
        let mut book = ChangeLog::default();
        book.record(change(1, 5, "file_size"));
        book.record(change(2, 15, "rate"));
        assert_eq!(book.unsettled(), Some(EffectiveFrom::NextFile));
        book.mark_applied(2, EffectiveFrom::NextTransfer, 16);
        assert_eq!(book.unsettled(), Some(EffectiveFrom::NextFile));
        assert_eq!(marks(&book, 4), ["0-1", "0-2", "0-2", "0-2"]);
        book.mark_applied(2, EffectiveFrom::NextFile, 25);
        assert_eq!(marks(&book, 4), ["0-1", "0-2", "0-2", "2"]);
        let settled: Vec<_> = book.take().iter().map(|one| one.applied_ns).collect();
        assert_eq!(settled, [Some(25), Some(16)]);
    }

    #[test]
    fn what_is_changed_before_the_run_begins_is_mixed_with_nothing() {
        let mut book = ChangeLog::default();
        book.record(change(1, 0, "rate"));
        book.mark_applied(1, EffectiveFrom::NextFile, 0);
        assert_eq!(marks(&book, 2), ["1", "1"]);
    }

    #[test]
    fn joined_stretches_are_of_all_that_they_were_of() {
        let both = |one: SettingsGeneration, next| one.and(next).to_string();
        let mark = SettingsGeneration::new;
        assert_eq!(both(mark(0, 0), mark(0, 0)), "0");
        assert_eq!(both(mark(0, 0), mark(1, 1)), "0-1");
        assert_eq!(both(mark(1, 1), mark(1, 2)), "1-2");
        assert_eq!(both(mark(0, 2), mark(2, 3)), "0-3");
    }
}
