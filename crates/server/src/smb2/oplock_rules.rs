//! Who may keep what in his cache beside whom, what is taken back when, and who waits for that:
//! all of it (MS-SMB2, section 3.3.1.4; MS-FSA, sections 2.1.4.12 and 2.1.5.18).
//!
//! A lease says what may be kept: what was read (R), what was written (W), and handles that a
//! program has closed already (H). An oplock is of a certain size: level II is about as much as
//! R, exclusive as RW, and batch as RWH.
//!
//! What goes when somebody else does something to the file, and what he waits for:
//!
//! | he … | of a lease | of batch | of exclusive | of level II |
//! |---|---|---|---|---|
//! | opens it | W, waited for | to II, waited for | to II, waited for | nothing |
//! | opens it and replaces its data | all, W waited for | all, waited for | all, waited for | all |
//! | may not open it beside the holder | H, waited for | to II, waited for | nothing | nothing |
//! | renames or removes it | H, waited for | to II, waited for | nothing | nothing |
//! | changes its data | all | all | all | all |
//!
//! Opens that only look at attributes do nothing of this, and nobody takes anything back from
//! himself: an open from itself, and a lease from those who share it. Level II, which is an
//! open's alone, is the exception: it does not outlast its own open's changes.

use filestone_wire::smb2::{AccessMask, LeaseState, OplockLevel};

/// What somebody does to a file that others have open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakTrigger {
    Open,
    /// Opens it, and replaces its data.
    Overwrite,
    /// Would open it, if the holder's sharing let him.
    SharingViolation,
    /// Renames or removes it.
    RenameOrDelete,
    /// Changes its data.
    Write,
}

/// What a deed leaves of what is held, and whether it waits until the rest is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakResult<T> {
    pub left: T,
    pub waits: bool,
}

const READ: LeaseState = LeaseState::READ_CACHING;
const HANDLE: LeaseState = LeaseState::HANDLE_CACHING;
const WRITE: LeaseState = LeaseState::WRITE_CACHING;
const ALL: LeaseState = READ.with(HANDLE).with(WRITE);

/// Opens with no other access than this take no oplock back.
pub const LOOKS: AccessMask = AccessMask(
    AccessMask::READ_ATTRIBUTES.0 | AccessMask::WRITE_ATTRIBUTES.0 | AccessMask::SYNCHRONIZE.0,
);
/// And with no other than this, no lease.
pub const LOOKS_BESIDE_LEASE: AccessMask = LOOKS.with(AccessMask::READ_CONTROL);

/// What is left of a lease.
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

/// What is left of an oplock.
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

/// Whether the holder of a lease has to say that he has given something of it up (section
/// 3.3.4.7).
pub fn lease_is_answered(held: LeaseState) -> bool {
    held != READ
}

/// What a lease of which `left` is to be left in the end is asked down to next, once its holder
/// has given up what he was asked for before: handles go before what was read, as Windows has it.
pub fn next_of_lease(held: LeaseState, left: LeaseState) -> LeaseState {
    if held.contains(HANDLE) && left == LeaseState::NONE {
        READ
    } else {
        left
    }
}

/// An oplock whose holder has to be asked before another opens the file, and who answers.
pub const fn is_exclusive(level: OplockLevel) -> bool {
    matches!(level, OplockLevel::EXCLUSIVE | OplockLevel::BATCH)
}

/// What there is of a file besides an open that asks to cache.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherOpens {
    /// Another open.
    pub is_any: bool,
    /// Another open that caches, or does more than look.
    pub is_any_at_work: bool,
    /// Another's oplock, of whatever level.
    pub has_oplocks: bool,
    /// Another's lease that keeps handles.
    pub keeps_handles: bool,
    /// Somebody may have written what nobody else has seen.
    pub is_exclusive: bool,
}

/// How much of a lease that is asked for there is room for.
pub fn lease_beside(asked: LeaseState, beside: OtherOpens) -> LeaseState {
    // Handles and what was written are never kept without what was read.
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

/// What becomes of a lease that is asked for once more: more than it was, if there is room for all
/// that is asked; otherwise it stays.
pub fn lease_again(held: LeaseState, asked: LeaseState, beside: OtherOpens) -> LeaseState {
    let has_room = lease_beside(asked, beside) == asked;
    if has_room && asked.contains(held) {
        asked
    } else {
        held
    }
}

/// The oplock that there is room for.
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

    /// What an open leaves of a lease, and gets itself, as Windows has it.
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
