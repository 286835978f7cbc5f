//! What a client asks next, and nothing about when.

pub mod file_table;
pub mod mix;
pub mod probe;

pub use file_table::{FileEntry, FileTable, ObjectKind};
pub use mix::MixWorkload;
pub use probe::Probe;

use crate::operation::{Completion, OpKind, Operation};

/// Says what a client asks next.
///
/// A slot carries one operation at a time, so what a workload keeps per slot (a
/// name that exists, a place in a directory) is never used by two at once.
pub trait Workload: Send {
    /// What the slot must do, uncounted, before it can take its next measured
    /// operation; `None` when it is ready. Asked at the start with `None` and
    /// after every completion of the slot.
    fn restore(&mut self, slot: u32, after: Option<&Completion>) -> Option<Operation>;

    /// Whether [`Workload::restore`] ever has anything to do; asked once.
    fn restores(&self) -> bool {
        true
    }

    /// Whether every operation is the same as every other, and none needs
    /// restoring; asked once.
    fn is_constant(&self) -> bool {
        false
    }

    /// The next measured operation of this slot; `None` ends the client.
    fn next(&mut self, slot: u32) -> Option<Operation>;

    /// The kind of the next measured operation, which was due and can no longer be started;
    /// `None` for the kind that the run is about.
    fn skip(&mut self) -> Option<OpKind> {
        None
    }
}
