//! Server-side identifiers of the files of a run.

use filestone_workload::operation::FileId;

/// The server's handle of each file of the run's table, in the form of the protocol: the client's
/// half of a [`FileTable`](crate::workload::FileTable).
#[derive(Debug, Clone)]
pub struct ServerHandles<H>(Vec<H>);

impl<H> Default for ServerHandles<H> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<H> ServerHandles<H> {
    /// Adds the handle of the file that was added to the table last.
    pub fn add(&mut self, handle: H) -> FileId {
        self.0.push(handle);
        FileId(self.0.len() as u32 - 1)
    }

    /// Returns the handle of a file.
    #[inline]
    pub fn get(&self, file: FileId) -> Option<&H> {
        self.0.get(file.0 as usize)
    }
}
