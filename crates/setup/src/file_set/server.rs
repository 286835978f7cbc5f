//! Interface of a server on which file sets are made.

use super::places::{ObjectTable, SpareName};
use crate::workspace::tree::{FileTree, TreeDirectory};
use filestone_host::control::{Cancellation, Observer};
use filestone_host::error::RunError;
use filestone_protocol::workload::ObjectKind;
use filestone_workload::text::thousands;
use std::time::{Duration, Instant};

/// Shortest time between two progress reports.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// A server on which file sets are made.
pub(crate) trait SetServer {
    /// Handle of an object.
    type Handle: Clone + PartialEq;
    /// Attributes of an entry in a listing.
    type Entry: Copy;
    /// A tree of the server, over separate connections.
    type Tree<'a>: FileTree<Handle = Self::Handle, Entry = Self::Entry>;

    /// Returns the time limit of a call.
    fn timeout(&self) -> Duration;

    /// Does `work` on the server's tree, until it is cancelled.
    fn on_tree<R>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut Self::Tree<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError>;

    /// Does `work` on a tree with a single object or few: no calls are made concurrently.
    fn on_small_tree<R>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut Self::Tree<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        self.on_tree(cancellation, work)
    }

    /// Converts an entry of a listing of `at`.
    fn seen(
        at: &TreeDirectory<Self::Handle>,
        name: &[u8],
        entry: Self::Entry,
    ) -> ExistingObject<Self::Handle>;

    /// Makes objects; returns their number.
    fn make(
        tree: &mut Self::Tree<'_>,
        missing: Missing<'_, '_, Self::Handle>,
    ) -> Result<u64, RunError>;
}

/// An object that exists.
#[derive(Debug, Clone)]
pub(crate) struct ExistingObject<H> {
    /// Handle on the server.
    pub handle: H,
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Length in bytes.
    pub len: u64,
}

/// Objects to make, in this order.
pub(crate) struct Missing<'w, 'p, H> {
    /// The table that receives the handles.
    pub places: &'w mut ObjectTable<'p, H>,
    /// The objects.
    pub steps: &'w mut dyn Iterator<Item = PendingObject>,
    /// Maximum bytes of a WRITE; no more than the pattern's period.
    pub transfer: u32,
    /// Receives progress reports.
    pub progress: FileSetProgress<'w>,
}

/// An object to make.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingObject {
    /// A missing object of the table.
    Object(u32),
    /// A data file of a wrong length.
    Wrong(u32),
    /// A volatile name.
    Spare(SpareName),
}

/// Progress of the data files.
pub(crate) struct FileSetProgress<'w> {
    pub observer: &'w mut dyn Observer,
    pub path: String,
    pub files_done: u64,
    pub files: u64,
    pub last: Instant,
}

impl FileSetProgress<'_> {
    /// Reports the progress to the observer, unless it was reported a moment ago.
    pub fn tell(&mut self) {
        if self.last.elapsed() < TELL_EVERY {
            return;
        }
        self.last = Instant::now();
        let (done, files) = (thousands(self.files_done), thousands(self.files));
        let path = &self.path;
        self.observer
            .preparing(&format!("populating {path}: {done} of {files} files"));
    }
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn numbers_are_read_in_groups_of_three() {
        let texts = [0, 7, 999, 1000, 12_000, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "7", "999", "1,000", "12,000", "1,234,567"]);
    }
}
