//! Selection of the next directory page to list.

use filestone_plan::file_set::ClientSet;
use filestone_workload::operation::{
    Completion, DirectoryCursor, FileId, OpKind, Operation, Outcome, ReplyInfo,
};

/// A requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageRequest {
    /// Index of its directory among those of the data files.
    directory: u32,
    /// READDIR (0) or READDIRPLUS (1).
    procedure: usize,
}

/// Positions of a client in the listings of its data files' directories, by READDIR and by
/// READDIRPLUS.
#[derive(Debug)]
pub(super) struct Listings {
    /// Index of the directory that each procedure lists next.
    next: [u32; 2],
    /// Continuation cursors of both procedures in each directory.
    cursors: Vec<[DirectoryCursor; 2]>,
}

impl Listings {
    pub(super) fn new(set: &ClientSet) -> Self {
        Self {
            next: [0; 2],
            cursors: vec![Default::default(); set.directories.len()],
        }
    }

    /// Returns a page of the next directory: from the start, or where its last page ended. A set
    /// without data files has no such directory; then the client's root directory is listed, from
    /// the start.
    pub(super) fn next(
        &mut self,
        kind: OpKind,
        set: &ClientSet,
        len: u32,
    ) -> (Operation, PageRequest) {
        let is_plus = kind == OpKind::ReadDirPlus;
        let procedure = usize::from(is_plus);
        let index = self.next[procedure];
        let count = self.cursors.len() as u32;
        self.next[procedure] = (index + 1).checked_rem(count).unwrap_or(0);
        let cursors = self.cursors.get(index as usize).copied();
        let cursor = cursors.unwrap_or_default()[procedure];
        let directory = if count == 0 {
            set.root
        } else {
            FileId(set.directories.start + index)
        };
        let operation = if is_plus {
            Operation::ReadDirectoryPlus {
                directory,
                cursor,
                len,
            }
        } else {
            Operation::ReadDirectory {
                directory,
                cursor,
                len,
            }
        };
        let directory = index;
        let page = PageRequest {
            directory,
            procedure,
        };
        (operation, page)
    }

    /// Stores the position where a page ended.
    pub(super) fn apply(&mut self, page: PageRequest, completion: &Completion) {
        let Some(cursors) = self.cursors.get_mut(page.directory as usize) else {
            return;
        };
        let place = &mut cursors[page.procedure];
        match (completion.outcome, completion.answer) {
            (
                Outcome::Ok,
                ReplyInfo::Directory {
                    cursor, end: false, ..
                },
            ) => *place = cursor,
            // After the end, and after an invalid cookie (NFS3ERR_BAD_COOKIE), the listing
            // restarts.
            (Outcome::Ok | Outcome::Failed(_), _) => *place = DirectoryCursor::default(),
            (Outcome::TimedOut | Outcome::Disconnected | Outcome::Skipped, _) => {}
        }
    }
}
