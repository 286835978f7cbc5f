//! Rules for the names of an operation.
//!
//! A load modifies nothing outside `clients/` of the directory under test, and does not modify the
//! marker file that identifies the directory as the run's. Reading is allowed everywhere below the
//! directory under test.

use super::names::{self, LONGEST_NAME, NameLocation};
use super::random_string::slots;
use super::verb::{FileEffect, effect};
use crate::operation::OpKind;

/// The tree of the client, as in load files.
pub(super) const OWN_TREE: &[u8] = b"clients/client1";

/// Maximum length of a read or write of one line: one gibibyte.
pub(super) const LONGEST_TRANSFER: u64 = 1 << 30;

/// Whether an operation modifies the object with its name at that position. Opening only modifies a
/// file if it may create or truncate it.
pub(super) const fn changes(kind: OpKind, only_opens: bool, place: usize) -> bool {
    match effect(kind) {
        FileEffect::Opens => !only_opens,
        FileEffect::Modifies => place == 0 || !matches!(kind, OpKind::SymLink),
        FileEffect::Reads
        | FileEffect::Locks
        | FileEffect::ReadsOpenFile
        | FileEffect::WritesOpenFile
        | FileEffect::NeedsWriteAccess => false,
    }
}

/// Whether a read-only run skips an operation: modifications, requests to store them, which need a
/// file open for writing, and locks, which exclude writers. Opening modifies nothing after
/// [`LoadAction::reading`](super::LoadAction::reading).
pub const fn is_left_out_of_reading(kind: OpKind) -> bool {
    match effect(kind) {
        FileEffect::Locks
        | FileEffect::WritesOpenFile
        | FileEffect::NeedsWriteAccess
        | FileEffect::Modifies => true,
        FileEffect::Reads | FileEffect::Opens | FileEffect::ReadsOpenFile => false,
    }
}

/// Whether a modifying operation may name `clients` itself: the directory exists and contains the
/// run's marker file, so these operations do no harm.
pub(super) const fn may_be_clients(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MkDir | OpKind::RmDir | OpKind::Deltree | OpKind::NtCreateX | OpKind::SetAttr
    )
}

/// Checks the target of a symbolic link.
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

/// Returns the slot of the random string that a name begins with, if it does.
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

/// Returns a name moved below `clients`, for loads that use names at the top of the directory under
/// test as if they owned it.
pub(super) fn moved(relative: Vec<u8>) -> Vec<u8> {
    if relative.is_empty() {
        names::CLIENTS.as_bytes().to_vec()
    } else if names::place(&relative) == NameLocation::Outside {
        [names::CLIENTS.as_bytes(), b"/", &relative].concat()
    } else {
        relative
    }
}
