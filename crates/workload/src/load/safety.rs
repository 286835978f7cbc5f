//! Which names an operation may have.
//!
//! A load changes nothing outside `clients/` of the directory under test, and
//! not the mark by which a run knows that directory as its own. Looking is
//! allowed everywhere below the directory under test.

use super::names::{self, LONGEST_NAME, Place};
use super::random_string::slots;
use crate::operation::OpKind;

/// The tree of the client itself, as it stands in load files.
pub(super) const OWN_TREE: &[u8] = b"clients/client1";

/// The longest read or write of one line: one gibibyte.
pub(super) const LONGEST_TRANSFER: u64 = 1 << 30;

/// Whether an operation changes what its name at that place names. Opening only
/// changes something when it may create or cut.
pub(super) const fn changes(kind: OpKind, only_opens: bool, place: usize) -> bool {
    match kind {
        OpKind::NtCreateX => !only_opens,
        OpKind::OpenX
        | OpKind::Unlink
        | OpKind::MkDir
        | OpKind::RmDir
        | OpKind::Rename
        | OpKind::Deltree
        | OpKind::SetAttr
        | OpKind::Write
        | OpKind::Create
        // A second name for a file outside would let it be changed from inside.
        | OpKind::Link
        | OpKind::Remove
        | OpKind::Commit => true,
        OpKind::SymLink => place == 0,
        _ => false,
    }
}

/// Whether a run that only reads leaves an operation out: what changes something, what asks for that
/// to be kept, for which a file must be open to be written, and locks, which shut writers out.
/// Opening changes nothing as [`Action::reading`](super::Action::reading) has it.
pub const fn is_left_out_of_reading(kind: OpKind) -> bool {
    match kind {
        OpKind::OpenX
        | OpKind::WriteX
        | OpKind::Flush
        | OpKind::LockX
        | OpKind::UnlockX
        | OpKind::SetFileInformation
        | OpKind::Write
        | OpKind::Commit
        | OpKind::Lock4
        | OpKind::Unlock4 => true,
        kind => changes(kind, true, 0),
    }
}

/// Whether an operation that changes things may name `clients` itself: it is
/// there already and the run's own mark is in it, so none of these does harm.
pub(super) const fn may_be_clients(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MkDir | OpKind::RmDir | OpKind::Deltree | OpKind::NtCreateX | OpKind::SetAttr
    )
}

/// What is wrong with the text of a symbolic link.
pub(super) fn link_text(text: &[u8]) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("the text of a symbolic link is empty")
    } else if text.len() > LONGEST_NAME {
        Err("the text of a symbolic link is longer than 4,095 bytes")
    } else if text.contains(&0) {
        Err("the text of a symbolic link has a NUL byte")
    } else {
        Ok(())
    }
}

/// The slot that a name begins with, if it begins with a random string.
pub(super) fn leading_slot(text: &[u8]) -> Option<usize> {
    slots(text)
        .next()
        .filter(|(at, _)| *at == 0)
        .map(|(_, slot)| slot)
}

/// Whether the name with this text is moved below `clients`.
pub(super) fn is_moved(text: &[u8], moved_slots: u16) -> bool {
    leading_slot(text).is_some_and(|slot| moved_slots & (1 << slot) != 0)
}

/// A name outside put below `clients`, for loads that name things at the top of
/// the directory under test and mean their own.
pub(super) fn moved(relative: Vec<u8>) -> Vec<u8> {
    if relative.is_empty() {
        names::CLIENTS.as_bytes().to_vec()
    } else if names::place(&relative) == Place::Outside {
        [names::CLIENTS.as_bytes(), b"/", &relative].concat()
    } else {
        relative
    }
}
