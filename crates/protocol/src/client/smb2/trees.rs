//! Directories of a share: complete listings, and removal of trees.

use super::link::{SmbCallHandle, is};
use super::requests::{CreateParams, DirEntry, LISTING, is_not_there};
use crate::client::call_slot::ActionResult;
use crate::session::smb2::CompoundRequest;
use filestone_plan::made::{Kept, MadeNames};
use filestone_wire::smb2::Status;
use filestone_wire::smb2::create::CreateOptions;
use filestone_workload::page_guard::{PageGuard, PageNames};

/// Maximum nesting depth of directories.
const DEPTH_MAX: usize = 1024;

/// Parameters of the removal of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Removal<'run> {
    /// The names that the run can have created; only these are removed.
    pub made: &'run MadeNames,
    /// Size of a directory page in bytes, as the server allows.
    pub page: u32,
}

/// A directory being emptied.
struct Level {
    /// Path in the share, and path below the run's directory, with slashes.
    path: String,
    below: String,
    /// Subdirectories that have not been entered yet.
    directories: Vec<String>,
    /// Whether an entry stays.
    stays: bool,
}

impl SmbCallHandle {
    /// Visits the entries of a directory except `.` and `..`, in pages of `page_len` bytes, until
    /// `each` returns true.
    pub async fn each_entry(
        &self,
        path: &str,
        page_len: u32,
        mut each: impl FnMut(DirEntry) -> bool,
    ) -> ActionResult<()> {
        let opening = CreateParams::existing(path, LISTING).with(CreateOptions::DIRECTORY_FILE);
        let directory = self.open(&opening).await?.file_id;
        let (mut guard, mut is_first, mut is_over) = (PageGuard::default(), true, false);
        let listed = loop {
            let mut names = PageNames::default();
            let look = |entry: DirEntry| {
                names.add(entry.name.as_bytes());
                if !is_over && entry.name != "." && entry.name != ".." {
                    is_over = each(entry);
                }
            };
            match self.list(directory, is_first, page_len, look).await {
                Ok(page) if page.is_last || is_over => break Ok(()),
                Ok(_) => {}
                Err(failure) => break Err(failure),
            }
            if let Err(what) = guard.page(&names) {
                // The directory is closed before the error is reported, since that ends the task.
                self.close(directory).await?;
                return Err(self.violated(CompoundRequest::NONE, what));
            }
            is_first = false;
            self.check_cancelled()?;
        };
        let closed = self.close(directory).await;
        listed.and(closed)
    }

    /// Removes all objects that the run can have created in the directory at `path`, which belongs
    /// to the run, except the entry `keep`; returns the staying entries.
    pub async fn empty_but(
        &self,
        path: &str,
        keep: &str,
        removal: Removal<'_>,
    ) -> ActionResult<Kept> {
        let mut kept = Kept::default();
        let top = self.level(path.into(), String::new(), keep, removal, &mut kept);
        self.walk(top.await?, removal, &mut kept).await?;
        Ok(kept)
    }

    /// Removes the object at a path, which is `below` in the run's directory, with all of its
    /// content that the run can have created; returns the staying entries. Succeeds also if there
    /// is no such object.
    pub async fn remove_tree(
        &self,
        path: &str,
        below: &str,
        removal: Removal<'_>,
    ) -> ActionResult<Kept> {
        let mut kept = Kept::default();
        if !removal.made.has(below.as_bytes()) {
            kept.add(below.as_bytes());
            return Ok(kept);
        }
        match self
            .level(path.into(), below.into(), "", removal, &mut kept)
            .await
        {
            Err(failure) if is_not_there(failure) => {}
            Err(failure) if is(failure, Status::NOT_A_DIRECTORY) => {
                self.ensure_removed(path, CreateOptions::NON_DIRECTORY_FILE)
                    .await?;
            }
            level => self.walk(level?, removal, &mut kept).await?,
        }
        Ok(kept)
    }

    /// Removes the content of a directory, its subdirectories, and the directory itself, unless it
    /// is the run's own.
    async fn walk(&self, top: Level, removal: Removal<'_>, kept: &mut Kept) -> ActionResult<()> {
        let mut levels = vec![top];
        while let Some(level) = levels.last_mut() {
            self.check_cancelled()?;
            if let Some(name) = level.directories.pop() {
                let (path, below) = (
                    join(&level.path, &name, '\\'),
                    join(&level.below, &name, '/'),
                );
                if levels.len() >= DEPTH_MAX {
                    return Err(self.violated(
                        CompoundRequest::NONE,
                        "directories without end in each other",
                    ));
                }
                match self.level(path, below, "", removal, kept).await {
                    Err(failure) if is_not_there(failure) => {}
                    level => levels.push(level?),
                }
                continue;
            }
            let Some(done) = levels.pop() else { break };
            if done.below.is_empty() {
                break;
            }
            let stays = done.stays || !self.remove_empty(&done, kept).await?;
            if let Some(level) = levels.last_mut() {
                level.stays |= stays;
            }
        }
        Ok(())
    }

    /// Removes the files of a directory; its subdirectories remain to be entered.
    async fn level(
        &self,
        path: String,
        below: String,
        keep: &str,
        removal: Removal<'_>,
        kept: &mut Kept,
    ) -> ActionResult<Level> {
        let (mut files, mut directories, before) = (Vec::new(), Vec::new(), kept.count);
        self.each_entry(&path, removal.page, |entry| {
            let place = join(&below, &entry.name, '/');
            if entry.name == keep {
                return false;
            }
            match (removal.made.has(place.as_bytes()), entry.is_directory) {
                (false, _) => kept.add(place.as_bytes()),
                (true, true) => directories.push(entry.name),
                (true, false) => files.push(entry.name),
            }
            false
        })
        .await?;
        for name in files {
            self.check_cancelled()?;
            let file = join(&path, &name, '\\');
            self.ensure_removed(&file, CreateOptions::NON_DIRECTORY_FILE)
                .await?;
        }
        Ok(Level {
            path,
            below,
            directories,
            stays: kept.count > before,
        })
    }

    /// Removes an emptied directory; returns whether it is gone.
    async fn remove_empty(&self, done: &Level, kept: &mut Kept) -> ActionResult<bool> {
        let options = CreateOptions::DIRECTORY_FILE;
        match self.ensure_removed(&done.path, options).await {
            // An object was created there a moment ago.
            Err(failure) if is(failure, Status::DIRECTORY_NOT_EMPTY) => {
                kept.add(done.below.as_bytes());
                Ok(false)
            }
            removed => removed.map(|()| true),
        }
    }

    /// Removes an object, and treats a missing one as removed, by another client or not.
    pub async fn ensure_removed(&self, path: &str, options: CreateOptions) -> ActionResult<()> {
        match self.remove(path, options).await {
            Err(failure) if is_not_there(failure) => Ok(()),
            removed => removed,
        }
    }
}

fn join(parent: &str, name: &str, separator: char) -> String {
    if parent.is_empty() {
        name.into()
    } else {
        format!("{parent}{separator}{name}")
    }
}
