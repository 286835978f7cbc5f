//! Held and waiting locks of all files.
//!
//! Locks are advisory: READ and WRITE ignore them. The locks of a client that disappears without
//! unlocking remain until the file is removed, because there is no status monitor (NSM) here.

use std::collections::HashMap;

use filestone_wire::nlm::LockRange;

use super::holder::{LockOwner, NlmRange};
use super::waiting::{Waiters, WaitingLock};
use crate::tree::handle::HandleParts;

/// Largest number of locks of all clients; beyond it the reply is NLM4_DENIED_NOLOCKS. Protects the
/// memory from clients that set ever more locks.
const LOCKS_MAX: usize = 16_384;

/// A held lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub owner: LockOwner,
    pub range: NlmRange,
    pub exclusive: bool,
    /// Number of its grant, until the owner has acknowledged it.
    grant: Option<u64>,
}

/// Reason for refusing a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockRefusal {
    Conflict,
    Full,
}

/// Table of all locks.
#[derive(Debug, Default)]
pub struct LockTable {
    files: HashMap<HandleParts, Vec<Held>>,
    count: usize,
    waiters: Waiters,
    grants: u64,
}

/// A lock that was granted to a waiting client, and the client to notify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    number: u64,
    pub waiter: WaitingLock,
}

impl LockTable {
    /// Returns another owner's lock that conflicts with this one.
    pub fn conflict(
        &self,
        file: HandleParts,
        alock: &LockRange<'_>,
        range: NlmRange,
        exclusive: bool,
    ) -> Option<&Held> {
        self.files.get(&file)?.iter().find(|held| {
            held.range.overlaps(range) && (held.exclusive || exclusive) && !held.owner.is(alock)
        })
    }

    /// Sets a lock and replaces the owner's earlier locks on these bytes.
    pub fn set(
        &mut self,
        file: HandleParts,
        alock: &LockRange<'_>,
        range: NlmRange,
        exclusive: bool,
    ) -> Result<(), LockRefusal> {
        self.set_for(file, alock, range, exclusive, None)
    }

    fn set_for(
        &mut self,
        file: HandleParts,
        alock: &LockRange<'_>,
        range: NlmRange,
        exclusive: bool,
        grant: Option<u64>,
    ) -> Result<(), LockRefusal> {
        if self.conflict(file, alock, range, exclusive).is_some() {
            return Err(LockRefusal::Conflict);
        }
        if self.is_full() {
            return Err(LockRefusal::Full);
        }
        self.clear(file, alock, range)?;
        self.files.entry(file).or_default().push(Held {
            owner: LockOwner::new(alock),
            range,
            exclusive,
            grant,
        });
        self.count += 1;
        Ok(())
    }

    /// Adds a conflicting LOCK call to the waiters.
    pub fn wait(&mut self, waiter: WaitingLock) -> Result<(), LockRefusal> {
        if self.waiters.add(waiter) {
            Ok(())
        } else {
            Err(LockRefusal::Full)
        }
    }

    /// Removes a LOCK call from the waiters; returns whether it was there.
    pub fn stop_waiting(
        &mut self,
        file: HandleParts,
        alock: &LockRange<'_>,
        exclusive: bool,
    ) -> bool {
        self.waiters
            .remove(|waiter| waiter.is(file, alock, exclusive))
    }

    /// Sets the locks of a file for the waiters, in order of arrival, whose conflicts are gone.
    pub fn grant_waiting(&mut self, file: HandleParts) -> Vec<Grant> {
        if self.waiters.is_empty() {
            return Vec::new();
        }
        let mut waiters = std::mem::take(&mut self.waiters);
        let mut grants = Vec::new();
        let granted = waiters.take(file, |waiter| {
            let number = self.grants + 1;
            let alock = waiter.owner.lock_range();
            let (range, exclusive) = (waiter.range, waiter.exclusive);
            let set = self.set_for(file, &alock, range, exclusive, Some(number));
            if set.is_ok() {
                self.grants = number;
                grants.push(number);
            }
            set.is_ok()
        });
        self.waiters = waiters;
        let numbered = grants.into_iter().zip(granted);
        numbered
            .map(|(number, waiter)| Grant { number, waiter })
            .collect()
    }

    /// Marks a granted lock as acknowledged: it stays until it is unlocked.
    pub fn confirm(&mut self, grant: &Grant) {
        let all = self.files.get_mut(&grant.waiter.file);
        let mine = |held: &&mut Held| held.grant == Some(grant.number);
        for held in all.into_iter().flatten().filter(mine) {
            held.grant = None;
        }
    }

    /// Removes a granted lock that its owner does not take. Locks that the owner has set since then
    /// stay.
    pub fn withdraw(&mut self, grant: &Grant) {
        let file = grant.waiter.file;
        let Some(all) = self.files.get_mut(&file) else {
            return;
        };
        let before = all.len();
        all.retain(|held| held.grant != Some(grant.number));
        self.count = self.count.saturating_sub(before - all.len());
        if all.is_empty() {
            self.files.remove(&file);
        }
    }

    /// Removes a granted lock that its owner has not acknowledged yet; returns whether there was
    /// one.
    pub fn take_back(&mut self, file: HandleParts, alock: &LockRange<'_>, exclusive: bool) -> bool {
        let range = NlmRange::new(alock.offset, alock.len);
        let Some(all) = self.files.get_mut(&file) else {
            return false;
        };
        let before = all.len();
        all.retain(|held| {
            held.grant.is_none()
                || (held.range, held.exclusive) != (range, exclusive)
                || !held.owner.is(alock)
        });
        let taken = before - all.len();
        if all.is_empty() {
            self.files.remove(&file);
        }
        self.count = self.count.saturating_sub(taken);
        taken > 0
    }

    /// Unlocks these bytes of the owner; the other bytes of its locks stay locked.
    pub fn clear(
        &mut self,
        file: HandleParts,
        alock: &LockRange<'_>,
        range: NlmRange,
    ) -> Result<(), LockRefusal> {
        let Some(all) = self.files.get_mut(&file) else {
            return Ok(());
        };
        // Unlocking the middle of a lock splits it, and an owner's locks do not overlap: at most
        // one is added.
        let splits = |held: &Held| {
            held.owner.is(alock)
                && held.range.overlaps(range)
                && held.range.without(range).iter().all(Option::is_some)
        };
        if self.count >= 2 * LOCKS_MAX && all.iter().any(splits) {
            return Err(LockRefusal::Full);
        }
        let before = all.len();
        let mut kept = Vec::with_capacity(before + 1);
        for held in all.drain(..) {
            if held.owner.is(alock) && held.range.overlaps(range) {
                let rest = held.range.without(range).into_iter().flatten();
                kept.extend(rest.map(|range| Held {
                    range,
                    ..held.clone()
                }));
            } else {
                kept.push(held);
            }
        }
        self.count = (self.count + kept.len()).saturating_sub(before);
        if kept.is_empty() {
            self.files.remove(&file);
        } else {
            *all = kept;
        }
        Ok(())
    }

    /// Returns whether the table is full. Unlocking the middle of a lock adds one more, up to twice
    /// the limit.
    pub fn is_full(&self) -> bool {
        self.count >= LOCKS_MAX
    }

    /// Removes the locks and waiters of removed files.
    pub fn retain_files(&mut self, is_there: impl Fn(&HandleParts) -> bool) {
        self.waiters.remove(|waiter| !is_there(&waiter.file));
        self.files.retain(|file, _| is_there(file));
        self.count = self.files.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_wire::nlm::NetObject;

    const FILE: HandleParts = HandleParts {
        lineage: 1,
        number: 2,
        generation: 3,
    };

    fn by(svid: i32) -> LockRange<'static> {
        LockRange {
            caller_name: NetObject(b"host"),
            fh: NetObject(b""),
            owner: NetObject(b"owner"),
            svid,
            offset: 0,
            len: 0,
        }
    }

    fn set(table: &mut LockTable, svid: i32, offset: u64, len: u64) -> Result<(), LockRefusal> {
        table.set(FILE, &by(svid), NlmRange::new(offset, len), true)
    }

    #[test]
    fn a_range_is_up_to_the_end_if_its_length_is_zero_or_too_large() {
        assert_eq!(NlmRange::new(5, 0).last, u64::MAX);
        assert_eq!(NlmRange::new(5, u64::MAX).last, u64::MAX);
        assert_eq!(NlmRange::new(5, 1), NlmRange { first: 5, last: 5 });
        assert_eq!(NlmRange::new(5, 0).len(), 0);
        assert_eq!(NlmRange::new(5, 3).len(), 3);
    }

    #[test]
    fn another_owner_is_refused_what_overlaps_and_only_that() {
        let mut table = LockTable::default();
        assert_eq!(set(&mut table, 1, 10, 10), Ok(()));
        assert_eq!(set(&mut table, 2, 19, 1), Err(LockRefusal::Conflict));
        assert_eq!(set(&mut table, 2, 0, 0), Err(LockRefusal::Conflict));
        assert_eq!(set(&mut table, 2, 20, 0), Ok(()));
        assert_eq!(set(&mut table, 2, 0, 10), Ok(()));
        assert_eq!(
            set(&mut table, 1, 10, 10),
            Ok(()),
            "one's own is no conflict"
        );
    }

    #[test]
    fn shared_locks_go_together() {
        let mut table = LockTable::default();
        let range = NlmRange::new(0, 0);
        assert_eq!(table.set(FILE, &by(1), range, false), Ok(()));
        assert_eq!(table.set(FILE, &by(2), range, false), Ok(()));
        assert_eq!(
            table.set(FILE, &by(2), range, true),
            Err(LockRefusal::Conflict)
        );
    }

    #[test]
    fn freeing_the_middle_leaves_both_ends() {
        let mut table = LockTable::default();
        assert_eq!(set(&mut table, 1, 0, 0), Ok(()));
        assert_eq!(table.clear(FILE, &by(1), NlmRange::new(10, 10)), Ok(()));
        assert_eq!(table.count, 2);
        assert_eq!(set(&mut table, 2, 10, 10), Ok(()));
        assert_eq!(set(&mut table, 2, 9, 1), Err(LockRefusal::Conflict));
        assert_eq!(set(&mut table, 2, 20, 1), Err(LockRefusal::Conflict));
        assert_eq!(table.clear(FILE, &by(1), NlmRange::new(0, 0)), Ok(()));
        assert_eq!(table.clear(FILE, &by(2), NlmRange::new(0, 0)), Ok(()));
        assert_eq!((table.count, table.files.len()), (0, 0));
    }

    #[test]
    fn a_lock_cannot_be_taken_apart_for_ever() {
        let mut table = LockTable::default();
        assert_eq!(set(&mut table, 1, 0, 0), Ok(()));
        // As if other owners had split theirs before.
        table.count += 2 * LOCKS_MAX - 2;
        let mut free = |first, len| table.clear(FILE, &by(1), NlmRange::new(first, len));
        assert_eq!(free(10, 10), Ok(()));
        assert_eq!(free(30, 1), Err(LockRefusal::Full));
        assert_eq!(free(20, 5), Ok(()), "what makes none is freed");
        assert_eq!(free(0, 0), Ok(()));
        assert_eq!(free(30, 1), Ok(()), "there is nothing");
    }

    #[test]
    fn the_table_has_an_end_and_files_that_are_gone_make_room() {
        let mut table = LockTable::default();
        for at in 0..LOCKS_MAX as u64 {
            // Each lock is compared with all others of its file.
            let file = HandleParts {
                number: at % 64,
                ..FILE
            };
            assert_eq!(
                table.set(file, &by(1), NlmRange::new(at * 2, 1), true),
                Ok(())
            );
        }
        assert_eq!(set(&mut table, 2, 1, 1), Err(LockRefusal::Full));
        table.retain_files(|_| false);
        assert_eq!(set(&mut table, 2, 1, 1), Ok(()));
    }
}
