//! State held by opens: locks, oplocks and leases.

use filestone_wire::smb2::{LeaseKey, LeaseState, OplockLevel, Status};

/// Caching granted to an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheGrant {
    None,
    Oplock {
        level: OplockLevel,
        /// Level that remains after the break, until the client has acknowledged it.
        breaking: Option<OplockLevel>,
    },
    /// The lease defines the caching.
    Lease(LeaseOwner),
}

/// Key of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseOwner {
    pub client: [u8; 16],
    pub key: LeaseKey,
}

/// A lease of a file.
#[derive(Debug)]
pub struct HeldLease {
    pub owner: LeaseOwner,
    pub state: LeaseState,
    /// The break in progress, until the client has acknowledged it.
    pub breaking: Option<Breaking>,
    pub epoch: u16,
    /// Whether the lease has an epoch: version 2, as in the first open with this lease.
    pub has_epoch: bool,
}

impl HeldLease {
    /// Returns the epoch, if the client receives it.
    pub fn told_epoch(&self) -> Option<u16> {
        self.has_epoch.then_some(self.epoch)
    }
}

/// Target states of a lease break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaking {
    /// State that the holder has been asked to reduce the lease to.
    pub left: LeaseState,
    /// Final state: less than `left` if another break was triggered since.
    pub finally: LeaseState,
}

/// A range of bytes; an empty range is a point between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    pub offset: u64,
    pub len: u64,
}

impl ByteRange {
    /// Creates a range; its last byte must have a valid offset.
    pub fn new(offset: u64, len: u64) -> Result<Self, Status> {
        if len > 0 && offset.checked_add(len - 1).is_none() {
            return Err(Status::INVALID_LOCK_RANGE);
        }
        Ok(Self { offset, len })
    }

    /// Returns the bytes of a transfer, cut at the largest offset.
    pub fn of_transfer(offset: u64, len: u64) -> Self {
        let len = len.min(u64::MAX - offset);
        Self { offset, len }
    }

    /// Returns whether the ranges have a byte in common, or a point is inside the other range.
    pub fn overlaps(self, other: Self) -> bool {
        let last = |range: Self| range.offset.saturating_add(range.len - 1);
        match (self.len, other.len) {
            (0, 0) => false,
            (0, _) => other.offset < self.offset && self.offset <= last(other),
            (_, 0) => self.offset < other.offset && other.offset <= last(self),
            _ => self.offset <= last(other) && other.offset <= last(self),
        }
    }
}

/// A held lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    pub open: u64,
    pub range: ByteRange,
    pub is_exclusive: bool,
}

impl Lock {
    /// Returns whether this lock conflicts with `wanted`. An open may set a shared lock on a range
    /// that it has locked exclusively, but not the reverse.
    pub fn excludes(&self, wanted: &Self) -> bool {
        let are_shared = !self.is_exclusive && !wanted.is_exclusive;
        let is_stacked = self.open == wanted.open && !wanted.is_exclusive;
        !are_shared && !is_stacked && self.range.overlaps(wanted.range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(offset: u64, len: u64) -> ByteRange {
        ByteRange::new(offset, len).unwrap()
    }

    #[test]
    fn ranges_overlap_as_windows_has_it() {
        assert!(range(0, 10).overlaps(range(9, 1)));
        assert!(!range(0, 10).overlaps(range(10, 1)));
        assert!(!range(u64::MAX, 1).overlaps(range(0, u64::MAX)));
        assert!(range(0, 10).overlaps(range(5, 0)), "a point within");
        assert!(!range(0, 10).overlaps(range(0, 0)), "a point before");
        assert!(!range(5, 0).overlaps(range(5, 0)));
        assert_eq!(ByteRange::new(2, u64::MAX), Err(Status::INVALID_LOCK_RANGE));
    }

    #[test]
    fn an_open_stacks_what_is_shared_on_what_is_its_own() {
        let lock = |open, is_exclusive| Lock {
            open,
            range: range(0, 10),
            is_exclusive,
        };
        assert!(lock(1, true).excludes(&lock(1, true)));
        assert!(!lock(1, true).excludes(&lock(1, false)));
        assert!(lock(1, false).excludes(&lock(1, true)));
        assert!(lock(1, true).excludes(&lock(2, false)));
        assert!(!lock(1, false).excludes(&lock(2, false)));
    }
}
