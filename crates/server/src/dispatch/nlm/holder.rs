//! Owner and byte range of a lock.

use filestone_wire::nlm::{LockRange, NetObject};

/// Bytes of a file, the last one included, so that a range can end with the last possible byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NlmRange {
    pub first: u64,
    pub last: u64,
}

impl NlmRange {
    /// Creates a range. A length of 0 extends to the end of all files, and so does a range that
    /// goes beyond it.
    pub fn new(offset: u64, len: u64) -> Self {
        let last = match len {
            0 => u64::MAX,
            len => offset.saturating_add(len - 1),
        };
        Self {
            first: offset,
            last,
        }
    }

    /// Returns the length in the protocol's notation.
    pub fn len(self) -> u64 {
        match self.last {
            u64::MAX => 0,
            last => last - self.first + 1,
        }
    }

    /// Returns whether both ranges have a byte in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Returns the parts before and after `taken`, which overlaps the range.
    pub fn without(self, taken: Self) -> [Option<Self>; 2] {
        let before = taken
            .first
            .checked_sub(1)
            .filter(|_| self.first < taken.first);
        let after = taken.last.checked_add(1).filter(|_| self.last > taken.last);
        let first = self.first;
        [
            before.map(|last| Self { first, last }),
            after.map(|first| Self { first, ..self }),
        ]
    }
}

/// A process on a host, as identified by the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockOwner {
    caller_name: Box<[u8]>,
    pub owner: Box<[u8]>,
    pub svid: i32,
}

impl LockOwner {
    pub fn new(alock: &LockRange<'_>) -> Self {
        Self {
            caller_name: alock.caller_name.0.into(),
            owner: alock.owner.0.into(),
            svid: alock.svid,
        }
    }

    /// Returns a lock range with this owner, over all bytes of no file.
    pub fn lock_range(&self) -> LockRange<'_> {
        LockRange {
            caller_name: NetObject(&self.caller_name),
            fh: NetObject(b""),
            owner: NetObject(&self.owner),
            svid: self.svid,
            offset: 0,
            len: 0,
        }
    }

    pub fn is(&self, alock: &LockRange<'_>) -> bool {
        *self.caller_name == *alock.caller_name.0
            && *self.owner == *alock.owner.0
            && self.svid == alock.svid
    }
}
