//! What a file set needs of a server.

use super::places::{ObjectTable, SpareName};
use crate::control::{Cancellation, Observer};
use crate::error::RunError;
use crate::workspace::tree::{Directory, Tree};
use filestone_protocol::workload::ObjectKind;
use filestone_workload::text::thousands;
use std::time::{Duration, Instant};

/// Observers are told no more often.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// A server on which file sets are made.
pub(crate) trait SetServer {
    /// What it knows objects by.
    type Handle: Clone + PartialEq;
    /// What a listing says of an entry.
    type Entry: Copy;
    /// A tree of it, over connections of its own.
    type Tree<'a>: Tree<Handle = Self::Handle, Entry = Self::Entry>;

    /// How long a call may take.
    fn timeout(&self) -> Duration;

    /// Does `work` on its tree, until it is cancelled.
    fn on_tree<R>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut Self::Tree<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError>;

    /// What a listing of `at` has shown.
    fn seen(
        at: &Directory<Self::Handle>,
        name: &[u8],
        entry: Self::Entry,
    ) -> ExistingObject<Self::Handle>;

    /// Makes objects; how many.
    fn make(
        tree: &mut Self::Tree<'_>,
        missing: Missing<'_, '_, Self::Handle>,
    ) -> Result<u64, RunError>;
}

/// An object that is there.
#[derive(Debug, Clone)]
pub(crate) struct ExistingObject<H> {
    /// What the server knows it by.
    pub handle: H,
    /// What it is.
    pub kind: ObjectKind,
    /// Bytes of it.
    pub len: u64,
}

/// What has to be made, in this order.
pub(crate) struct Missing<'w, 'p, H> {
    /// Where it belongs.
    pub places: &'w mut ObjectTable<'p, H>,
    /// What it is.
    pub steps: &'w mut dyn Iterator<Item = Step>,
    /// Most bytes of a WRITE; no more than the pattern's period.
    pub transfer: u32,
    /// Who is told.
    pub progress: Progress<'w>,
}

/// What has to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// An object of the table that is not there.
    Object(u32),
    /// A data file that has a wrong length.
    Wrong(u32),
    /// A name that comes and goes.
    Spare(SpareName),
}

/// How far the data files are.
pub(crate) struct Progress<'w> {
    pub observer: &'w mut dyn Observer,
    pub path: String,
    pub files_done: u64,
    pub files: u64,
    pub last: Instant,
}

impl Progress<'_> {
    /// Tells the observer, if it has not been told a moment ago.
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
