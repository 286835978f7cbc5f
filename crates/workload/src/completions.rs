//! Operations completed since the worker's last poll.
//!
//! The replies of one wake-up mostly differ in their slot only: same client, same times, same
//! sizes. They are stored as runs, each with one completion and a list of slots, so that a hundred
//! replies cost little more than one.

use crate::operation::{Completion, Outcome, ReplyInfo, SlotId};
use crate::time::Timestamp;

/// Completions in order of arrival, in runs of equal ones.
#[derive(Debug, Default)]
pub struct CompletionBatch {
    runs: Vec<Run>,
    /// The slots of all runs, in order.
    slots: Vec<u32>,
}

/// Completions that differ in their slot only.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: Completion,
    /// End of the run in the list of slots.
    end: u32,
    /// Whether the completions are successes with no other information than times and bytes.
    is_plain: bool,
}

impl CompletionBatch {
    /// Creates a batch with room for `count` completions, so that nothing allocates later.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            runs: Vec::with_capacity(count),
            slots: Vec::with_capacity(count),
        }
    }

    /// Adds a completion.
    #[inline(always)]
    pub fn push(&mut self, completion: Completion) {
        let slot = completion.ticket.slot;
        self.slots.push(slot);
        let end = self.slots.len() as u32;
        match self.runs.last_mut() {
            Some(run) if is_alike(&run.first, &completion) => run.end = end,
            _ => self.runs.push(Run {
                first: completion,
                end,
                is_plain: is_plain(&completion),
            }),
        }
    }

    /// Adds a plain success without data to the last run, if the run has the same values. Returns
    /// whether it did.
    #[inline(always)]
    pub fn extend_plain_run(
        &mut self,
        ticket: SlotId,
        sent: Timestamp,
        done: Timestamp,
        bytes_sent: u32,
        bytes_received: u32,
    ) -> bool {
        let Some(run) = self.runs.last_mut() else {
            return false;
        };
        let first = &run.first;
        let is_alike = run.is_plain
            && first.sent == sent
            && first.done == done
            && first.ticket.client == ticket.client
            && first.bytes_sent == bytes_sent
            && first.bytes_received == bytes_received;
        if is_alike {
            self.slots.push(ticket.slot);
            run.end += 1;
        }
        is_alike
    }

    /// Returns the number of completions.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Removes all completions and keeps the memory.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.slots.clear();
    }

    /// Returns the number of runs.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Returns a run: its first completion, and its slots.
    #[inline]
    pub fn run(&self, index: usize) -> Option<(&Completion, &[u32])> {
        let begin = match index.checked_sub(1) {
            None => 0,
            Some(before) => self.runs.get(before)?.end as usize,
        };
        let run = self.runs.get(index)?;
        Some((&run.first, self.slots.get(begin..run.end as usize)?))
    }

    /// Returns each completion separately.
    pub fn iter(&self) -> impl Iterator<Item = Completion> + '_ {
        (0..self.runs.len())
            .filter_map(|index| self.run(index))
            .flat_map(|(completion, slots)| slots.iter().map(|slot| for_slot(completion, *slot)))
    }
}

/// Returns the completion of a run for one of its slots.
#[inline]
pub fn for_slot(completion: &Completion, slot: u32) -> Completion {
    let ticket = SlotId {
        slot,
        ..completion.ticket
    };
    Completion {
        ticket,
        ..*completion
    }
}

/// Whether the completion has no other information than times and bytes.
#[inline]
fn is_plain(completion: &Completion) -> bool {
    completion.outcome == Outcome::Ok
        && completion.answer == ReplyInfo::Plain
        && completion.usable == Timestamp::ZERO
        && (
            completion.calls,
            completion.retransmissions,
            completion.data_bytes,
        ) == (1, 0, 0)
}

/// Whether two completions differ in their slot at most. Completions with other information are
/// never joined.
#[inline]
fn is_alike(one: &Completion, other: &Completion) -> bool {
    one.done == other.done
        && one.sent == other.sent
        && one.ticket.client == other.ticket.client
        && one.bytes_received == other.bytes_received
        && one.bytes_sent == other.bytes_sent
        && one.data_bytes == other.data_bytes
        && one.usable == other.usable
        && (one.calls, one.retransmissions) == (other.calls, other.retransmissions)
        && matches!((one.outcome, other.outcome), (Outcome::Ok, Outcome::Ok))
        && matches!(
            (one.answer, other.answer),
            (ReplyInfo::Plain, ReplyInfo::Plain)
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(slot: u32, done: u64, outcome: Outcome) -> Completion {
        Completion {
            outcome,
            bytes_sent: 44,
            bytes_received: 28,
            ..Completion::success(
                SlotId { client: 1, slot },
                Timestamp::ZERO,
                Timestamp::from_nanos(done),
            )
        }
    }

    #[test]
    fn runs_keep_the_order_and_every_slot() {
        let all = [
            completion(3, 10, Outcome::Ok),
            completion(1, 10, Outcome::Ok),
            completion(2, 10, Outcome::TimedOut),
            completion(2, 10, Outcome::TimedOut),
            completion(0, 11, Outcome::Ok),
        ];
        let mut completions = CompletionBatch::default();
        all.iter()
            .for_each(|completion| completions.push(*completion));
        assert_eq!(completions.iter().collect::<Vec<_>>(), all);
        let lens: Vec<usize> = (0..completions.run_count())
            .filter_map(|run| completions.run(run))
            .map(|(_, slots)| slots.len())
            .collect();
        assert_eq!(lens, [2, 1, 1, 1]);
        // Equal completions are added without a full comparison.
        let ticket = SlotId { client: 1, slot: 7 };
        assert!(completions.extend_plain_run(
            ticket,
            Timestamp::ZERO,
            Timestamp::from_nanos(11),
            44,
            28
        ));
        assert!(!completions.extend_plain_run(
            ticket,
            Timestamp::ZERO,
            Timestamp::from_nanos(12),
            44,
            28
        ));
        assert_eq!(
            completions.iter().last(),
            Some(completion(7, 11, Outcome::Ok))
        );
        completions.clear();
        assert!(completions.is_empty() && completions.run(0).is_none());
    }
}
