//! Rules of client caching: compatible oplocks and leases, the breaks that operations trigger, and
//! the operations that wait for them (MS-SMB2, section 3.3.1.4; MS-FSA, sections 2.1.4.12 and
//! 2.1.5.18).
//!
//! A lease permits caching of reads (R), of writes (W), and of handles that a program has already
//! closed (H). An oplock has a level: level II is about equivalent to R, exclusive to RW, and batch
//! to RWH.
//!
//! State that other opens lose by an operation on the file, and whether the operation waits:
//!
//! | operation | lease | batch | exclusive | level II |
//! |---|---|---|---|---|
//! | open | W, waits | to II, waits | to II, waits | nothing |
//! | open that replaces the data | all, waits for W | all, waits | all, waits | all |
//! | open that violates the holder's sharing | H, waits | to II, waits | nothing | nothing |
//! | rename or removal | H, waits | to II, waits | nothing | nothing |
//! | change of the data | all | all | all | all |
//!
//! Opens that only access attributes trigger no break, and no operation breaks the caching of its
//! own open or of opens with the same lease. Level II, which belongs to one open, is the exception:
//! it is broken by changes of its own open.

use filestone_wire::smb2::{AccessMask, LeaseState, OplockLevel};

/// Operation on an open file that may break oplocks or leases of other opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakTrigger {
    Open,
    /// Open that replaces the data.
    Overwrite,
    /// Open that the holder's sharing mode does not permit.
    SharingViolation,
    /// Rename or removal.
    RenameOrDelete,
    /// Change of the data.
    Write,
}

/// State that remains after a break, and whether the operation waits for the acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakResult<T> {
    pub left: T,
    pub waits: bool,
}

const READ: LeaseState = LeaseState::READ_CACHING;
const HANDLE: LeaseState = LeaseState::HANDLE_CACHING;
const WRITE: LeaseState = LeaseState::WRITE_CACHING;
const ALL: LeaseState = READ.with(HANDLE).with(WRITE);

/// Access rights that do not break oplocks.
pub const LOOKS: AccessMask = AccessMask(
    AccessMask::READ_ATTRIBUTES.0 | AccessMask::WRITE_ATTRIBUTES.0 | AccessMask::SYNCHRONIZE.0,
);
/// Access rights that do not break leases.
pub const LOOKS_BESIDE_LEASE: AccessMask = LOOKS.with(AccessMask::READ_CONTROL);

/// Returns the lease state that remains.
pub fn lease_after(held: LeaseState, deed: BreakTrigger) -> BreakResult<LeaseState> {
    let (goes, awaited) = match deed {
        BreakTrigger::Open => (WRITE, WRITE),
        BreakTrigger::Overwrite => (ALL, WRITE),
        BreakTrigger::SharingViolation | BreakTrigger::RenameOrDelete => (HANDLE, HANDLE),
        BreakTrigger::Write => (ALL, LeaseState::NONE),
    };
    BreakResult {
        left: held.without(goes),
        waits: held.0 & awaited.0 != 0,
    }
}

/// Returns the oplock level that remains.
pub fn oplock_after(held: OplockLevel, deed: BreakTrigger) -> BreakResult<OplockLevel> {
    use OplockLevel as Level;
    let left = match (held, deed) {
        (Level::NONE, _) | (_, BreakTrigger::Overwrite | BreakTrigger::Write) => Level::NONE,
        (Level::EXCLUSIVE, BreakTrigger::Open) => Level::II,
        (
            Level::BATCH,
            BreakTrigger::Open | BreakTrigger::SharingViolation | BreakTrigger::RenameOrDelete,
        ) => Level::II,
        (
            held,
            BreakTrigger::Open | BreakTrigger::SharingViolation | BreakTrigger::RenameOrDelete,
        ) => held,
    };
    BreakResult {
        left,
        waits: left != held && is_exclusive(held) && deed != BreakTrigger::Write,
    }
}

/// Returns whether the holder of a lease has to acknowledge its break (section 3.3.4.7).
pub fn lease_is_answered(held: LeaseState) -> bool {
    held != READ
}

/// Returns the next state in a lease break with the final state `left`, after the holder has
/// acknowledged the previous step: H is broken before R, as in Windows.
pub fn next_of_lease(held: LeaseState, left: LeaseState) -> LeaseState {
    if held.contains(HANDLE) && left == LeaseState::NONE {
        READ
    } else {
        left
    }
}

/// Returns whether the oplock is exclusive or batch: its holder must acknowledge a break before
/// another open.
pub const fn is_exclusive(level: OplockLevel) -> bool {
    matches!(level, OplockLevel::EXCLUSIVE | OplockLevel::BATCH)
}

/// Other opens of a file, as input for granting caching.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherOpens {
    /// Whether there is another open.
    pub is_any: bool,
    /// Whether there is another open that caches, or accesses more than attributes.
    pub is_any_at_work: bool,
    /// Whether another open has an oplock of any level.
    pub has_oplocks: bool,
    /// Whether another lease includes handle caching.
    pub keeps_handles: bool,
    /// Whether another client may have cached writes.
    pub is_exclusive: bool,
}

/// Returns the part of a requested lease that can be granted.
pub fn lease_beside(asked: LeaseState, beside: OtherOpens) -> LeaseState {
    // Handle and write caching are never granted without read caching.
    if beside.is_exclusive || !asked.contains(READ) {
        return LeaseState::NONE;
    }
    let mut given = LeaseState(asked.0 & ALL.0);
    if beside.is_any_at_work {
        given = given.without(WRITE);
    }
    if beside.has_oplocks {
        given = given.without(HANDLE);
    }
    given
}

/// Returns the state of a lease that is requested again: upgraded if all of the request can be
/// granted; otherwise unchanged.
pub fn lease_again(held: LeaseState, asked: LeaseState, beside: OtherOpens) -> LeaseState {
    let has_room = lease_beside(asked, beside) == asked;
    if has_room && asked.contains(held) {
        asked
    } else {
        held
    }
}

/// Returns the oplock level that can be granted.
pub fn oplock_beside(asked: OplockLevel, beside: OtherOpens) -> OplockLevel {
    match asked {
        _ if beside.is_exclusive || beside.keeps_handles => OplockLevel::NONE,
        OplockLevel::EXCLUSIVE | OplockLevel::BATCH if !beside.is_any => asked,
        OplockLevel::EXCLUSIVE | OplockLevel::BATCH | OplockLevel::II => OplockLevel::II,
        _ => OplockLevel::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(letters: &str) -> LeaseState {
        letters.chars().fold(LeaseState::NONE, |state, letter| {
            state.with(match letter {
                'R' => READ,
                'H' => HANDLE,
                _ => WRITE,
            })
        })
    }

    /// State of a lease after another open, and the state granted to that open, as in Windows.
    #[test]
    fn leases_stand_beside_each_other_as_windows_has_it() {
        for (held, asked, left, given) in [
            ("R", "RW", "R", "R"),
            ("R", "RHW", "R", "RH"),
            ("RH", "RW", "RH", "R"),
            ("RW", "RH", "R", "RH"),
            ("RHW", "RHW", "RH", "RH"),
            ("RHW", "H", "RH", ""),
            ("RHW", "HW", "RH", ""),
        ] {
            let after = lease_after(state(held), BreakTrigger::Open);
            assert_eq!(after.left, state(left), "{held} beside {asked}");
            assert_eq!(after.waits, held.contains('W'));
            let beside = OtherOpens {
                is_any: true,
                is_any_at_work: true,
                keeps_handles: left.contains('H'),
                ..OtherOpens::default()
            };
            assert_eq!(lease_beside(state(asked), beside), state(given));
        }
    }

    #[test]
    fn a_lease_grows_to_all_that_is_asked_or_not_at_all() {
        let beside = OtherOpens {
            is_any: true,
            is_any_at_work: true,
            ..OtherOpens::default()
        };
        for (held, asked, alone, contended) in [
            ("R", "RH", "RH", "RH"),
            ("R", "RHW", "RHW", "R"),
            ("RH", "RW", "RH", "RH"),
            ("RW", "RH", "RW", "RW"),
            ("RHW", "R", "RHW", "RHW"),
            ("R", "H", "R", "R"),
        ] {
            let again = |beside| lease_again(state(held), state(asked), beside);
            assert_eq!(
                again(OtherOpens::default()),
                state(alone),
                "{held}, {asked}"
            );
            assert_eq!(again(beside), state(contended), "{held}, {asked}, another");
        }
    }

    #[test]
    fn what_goes_of_an_oplock_and_who_waits() {
        use OplockLevel as Level;
        let after = |held, deed| {
            let BreakResult { left, waits } = oplock_after(held, deed);
            (left, waits)
        };
        assert_eq!(
            after(Level::BATCH, BreakTrigger::SharingViolation),
            (Level::II, true)
        );
        assert_eq!(
            after(Level::EXCLUSIVE, BreakTrigger::SharingViolation),
            (Level::EXCLUSIVE, false)
        );
        assert_eq!(
            after(Level::EXCLUSIVE, BreakTrigger::Open),
            (Level::II, true)
        );
        assert_eq!(
            after(Level::BATCH, BreakTrigger::Overwrite),
            (Level::NONE, true)
        );
        assert_eq!(
            after(Level::II, BreakTrigger::Overwrite),
            (Level::NONE, false)
        );
        assert_eq!(
            after(Level::II, BreakTrigger::RenameOrDelete),
            (Level::II, false)
        );
        assert_eq!(after(Level::II, BreakTrigger::Write), (Level::NONE, false));
    }
}
