//! Removal of trees, restricted to names that the run can have created.
//!
//! The removal uses no recursion on the stack and always ends: a server that lists removed names,
//! or endlessly nested directories, is abandoned; between any two names it checks for cancellation.
//! Symbolic links are removed and never followed, and mounted file systems are left alone.

use super::NfsActionResult;
use super::link::NfsCallHandle;
use super::procedures::called;
use filestone_plan::made::{Kept, MadeNames};
use filestone_wire::nfs3::{FileType, Handle, Procedure, Status};
use filestone_workload::emptying::DeleteLoopGuard;

/// Maximum nesting depth of directories.
const DEPTH_MAX: usize = 1024;
/// Names listed before they are removed.
const BATCH: usize = 1024;
/// Bytes of names listed before they are removed: the standard sets no limit on the length of a
/// name.
const BATCH_BYTES: usize = 256 << 10;
/// Bytes of a page of the listing.
const PAGE: u32 = 32 << 10;

/// A directory on the path to the current one.
struct Level {
    handle: Handle,
    /// Path below the run's directory.
    path: Vec<u8>,
    /// Listed subdirectories that were not entered yet.
    directories: Vec<Vec<u8>>,
    /// Subdirectories that stay because they contain foreign objects.
    staying: Vec<Vec<u8>>,
    emptying: DeleteLoopGuard,
}

impl Level {
    const fn new(handle: Handle, path: Vec<u8>, emptying: DeleteLoopGuard) -> Self {
        Self {
            handle,
            path,
            directories: Vec::new(),
            staying: Vec::new(),
            emptying,
        }
    }

    /// Returns the path of an entry.
    fn at(&self, name: &[u8]) -> Vec<u8> {
        if self.path.is_empty() {
            name.into()
        } else {
            [self.path.as_slice(), b"/", name].concat()
        }
    }

    /// Returns its name in the parent directory.
    fn name(&self) -> &[u8] {
        last_of(&self.path)
    }
}

fn last_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// State of a removal.
struct Walk<'m> {
    levels: Vec<Level>,
    /// The file system of the top directory's parent.
    fsid: Option<u64>,
    made: &'m MadeNames,
    kept: Kept,
}

/// Names in a directory, with their types if the server returns them.
type Batch = Vec<(Vec<u8>, Option<FileType>)>;

impl NfsCallHandle {
    /// Removes all objects that the run can have created in `directory`, which belongs to the run,
    /// except the entry `keep`.
    pub async fn empty_but(
        &self,
        directory: &Handle,
        keep: &[u8],
        made: &MadeNames,
    ) -> NfsActionResult<Kept> {
        let mut walk = Walk::new(made);
        let top = Level::new(*directory, Vec::new(), DeleteLoopGuard::default());
        walk.levels.push(top);
        self.walk(directory, keep, &mut walk).await?;
        Ok(walk.kept)
    }

    /// Removes the object at `path` below the run's directory, which is in `parent`, and everything
    /// below it that the run can have created; succeeds also if no such name exists.
    pub async fn remove_tree(
        &self,
        parent: &Handle,
        path: &[u8],
        made: &MadeNames,
    ) -> NfsActionResult<Kept> {
        let mut walk = Walk::new(made);
        if !made.has(path) {
            walk.kept.add(path);
            return Ok(walk.kept);
        }
        self.enter(parent, path.into(), &mut walk).await?;
        self.walk(parent, b"", &mut walk).await?;
        Ok(walk.kept)
    }

    /// Empties the directories in `walk`, and removes them, except the run's own directory.
    async fn walk(&self, parent: &Handle, keep: &[u8], walk: &mut Walk<'_>) -> NfsActionResult<()> {
        while let Some(level) = walk.levels.last_mut() {
            self.check_cancelled()?;
            if let Some(name) = level.directories.pop() {
                let (handle, path) = (level.handle, level.at(&name));
                self.enter(&handle, path, walk).await?;
                continue;
            }
            let keep = if level.path.is_empty() { keep } else { b"" };
            match self.empty(level, keep, walk.made).await? {
                None => {}
                Some(kept) => self.leave(parent, kept, walk).await?,
            }
        }
        Ok(())
    }

    /// Returns the first names in a directory that the run can have created, at most one batch, and
    /// the other names that were listed.
    async fn batch(
        &self,
        level: &Level,
        keep: &[u8],
        made: &MadeNames,
    ) -> NfsActionResult<(Batch, Kept)> {
        let (mut batch, mut kept) = (Batch::new(), Kept::default());
        let (mut bytes, mut is_wrong) = (0, false);
        self.each_entry(&level.handle, PAGE, |name, file_type| {
            is_wrong |= name.is_empty() || name.contains(&b'/');
            if matches!(name, b"." | b"..") || name == keep || is_wrong {
                return is_wrong;
            }
            if level.staying.iter().any(|staying| staying == name) {
                return false;
            }
            let path = level.at(name);
            if made.has(&path) {
                bytes += name.len();
                batch.push((name.to_vec(), file_type));
            } else {
                kept.add(&path);
            }
            batch.len() >= BATCH || bytes >= BATCH_BYTES
        })
        .await?;
        if is_wrong {
            return Err(self.violated(called(Procedure::Readdirplus), "a name with a slash in it"));
        }
        Ok((batch, kept))
    }

    /// Enters a directory; removes an object of another type.
    async fn enter(
        &self,
        parent: &Handle,
        path: Vec<u8>,
        walk: &mut Walk<'_>,
    ) -> NfsActionResult<()> {
        let name = last_of(&path);
        let Some(found) = self.find_object(parent, name).await? else {
            return Ok(());
        };
        let attributes = found.attributes;
        if attributes.file_type != FileType::Directory {
            return gone(self.remove(parent, name).await);
        }
        // The top directory may itself be a mount point.
        let fsid = match walk.fsid {
            Some(fsid) => fsid,
            None => self.attributes(parent).await?.fsid,
        };
        walk.fsid = Some(fsid);
        if attributes.fsid != fsid {
            return Err(Status::XDEV.into());
        }
        if walk.levels.len() >= DEPTH_MAX {
            return Err(self.violated(
                called(Procedure::Lookup),
                "directories without end in each other",
            ));
        }
        let level = Level::new(found.handle, path, DeleteLoopGuard::default());
        walk.levels.push(level);
        Ok(())
    }

    /// Removes a batch of a directory's entries; returns the staying entries when none that the run
    /// can have created is left.
    async fn empty(
        &self,
        level: &mut Level,
        keep: &[u8],
        made: &MadeNames,
    ) -> NfsActionResult<Option<Kept>> {
        let (batch, kept) = self.batch(level, keep, made).await?;
        if batch.is_empty() {
            return Ok(Some(kept));
        }
        if !level
            .emptying
            .may_end(batch.iter().map(|(name, _)| &**name))
        {
            return Err(Status::NOTEMPTY.into());
        }
        for (name, file_type) in batch {
            if may_be_directory(file_type) {
                level.directories.push(name);
                continue;
            }
            self.check_cancelled()?;
            gone(self.remove(&level.handle, &name).await)?;
        }
        Ok(None)
    }

    /// Removes the emptied directory, and returns to its parent. A directory with staying entries
    /// stays, too.
    async fn leave(&self, top: &Handle, kept: Kept, walk: &mut Walk<'_>) -> NfsActionResult<()> {
        let Some(done) = walk.levels.pop() else {
            return Ok(());
        };
        let is_empty = kept.is_empty() && done.staying.is_empty();
        walk.kept.merge(kept);
        // The run's own directory is removed after its marker.
        if done.path.is_empty() {
            return Ok(());
        }
        let parent = walk.levels.last().map_or(*top, |level| level.handle);
        if is_empty {
            match gone(self.remove_directory(&parent, done.name()).await) {
                // An object was created there a moment ago.
                Err(failure) if failure.is(Status::NOTEMPTY) || failure.is(Status::EXIST) => {
                    walk.kept.add(&done.path);
                }
                removed => return removed,
            }
        }
        if let Some(level) = walk.levels.last_mut() {
            level.staying.push(done.name().into());
        }
        Ok(())
    }
}

impl<'m> Walk<'m> {
    fn new(made: &'m MadeNames) -> Self {
        Self {
            levels: Vec::new(),
            fsid: None,
            made,
            kept: Kept::default(),
        }
    }
}

/// An entry without attributes is looked up when it is entered.
fn may_be_directory(file_type: Option<FileType>) -> bool {
    matches!(file_type, None | Some(FileType::Directory))
}

/// Treats a missing object as removed, by another client or not.
fn gone(answer: NfsActionResult<()>) -> NfsActionResult<()> {
    match answer {
        Err(failure) if failure.is(Status::NOENT) => Ok(()),
        answer => answer,
    }
}
