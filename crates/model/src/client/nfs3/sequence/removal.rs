//! A whole tree taken away.
//!
//! Without recursion on the stack and with an end: a server that lists what it
//! has removed, or directories in directories for ever, is given up; between any
//! two names it is looked whether to break off. Symbolic
//! links are removed and never followed, and what is mounted from another file
//! system is left alone.

use super::NfsResult;
use super::link::Link;
use super::procedures::called;
use crate::emptying::Emptying;
use filestone_wire::nfs3::{FileType, Handle, Procedure, Status};

/// Directories within each other at most.
const DEPTH_MAX: usize = 1024;
/// Names listed before they are removed.
const BATCH: usize = 1024;
/// Bytes of names, likewise: the standard sets no limit to one of them.
const BATCH_BYTES: usize = 256 << 10;
/// Bytes of a page of the listing.
const PAGE: u32 = 32 << 10;

/// A directory on the way down.
struct Level {
    handle: Handle,
    name: Vec<u8>,
    /// Directories in it that were listed and not entered yet.
    directories: Vec<Vec<u8>>,
    emptying: Emptying,
}

impl Level {
    fn new(handle: Handle, name: &[u8]) -> Self {
        Self {
            handle,
            name: name.into(),
            directories: Vec::new(),
            emptying: Emptying::default(),
        }
    }
}

/// What is known of the tree.
struct Walk {
    levels: Vec<Level>,
    /// The file system of the directory that its top is in.
    fsid: Option<u64>,
}

/// Names in a directory, with what they are if the server says.
type Batch = Vec<(Vec<u8>, Option<FileType>)>;

impl Link {
    /// Removes all that is in `directory` but the entry `keep`.
    pub async fn empty_but(&self, directory: &Handle, keep: &[u8]) -> NfsResult<()> {
        let mut emptying = Emptying::default();
        loop {
            let batch = self.batch(directory, keep).await?;
            if batch.is_empty() {
                return Ok(());
            }
            for (name, file_type) in &batch {
                self.go_on()?;
                if may_be_directory(*file_type) {
                    self.remove_tree(directory, name).await?;
                } else {
                    gone(self.remove(directory, name).await)?;
                }
            }
            if !emptying.may_end(names_of(&batch)) {
                return Err(Status::NOTEMPTY.into());
            }
        }
    }

    /// The first names in a directory but `keep`: as many as are removed at once.
    async fn batch(&self, directory: &Handle, keep: &[u8]) -> NfsResult<Batch> {
        let mut batch = Batch::new();
        let mut bytes = 0;
        self.each_entry(directory, PAGE, |name, file_type| {
            if !matches!(name, b"." | b"..") && name != keep {
                bytes += name.len();
                batch.push((name.to_vec(), file_type));
            }
            batch.len() >= BATCH || bytes >= BATCH_BYTES
        })
        .await?;
        let is_none = |name: &[u8]| name.is_empty() || name.contains(&b'/');
        if batch.iter().any(|(name, _)| is_none(name)) {
            return Err(self.violated(called(Procedure::Readdirplus), "a name with a slash in it"));
        }
        Ok(batch)
    }

    /// Removes `name` in `parent` and everything below it; well done too if there
    /// is nothing of that name.
    pub async fn remove_tree(&self, parent: &Handle, name: &[u8]) -> NfsResult<()> {
        let mut walk = Walk {
            levels: Vec::new(),
            fsid: None,
        };
        self.enter(parent, name, &mut walk).await?;
        while let Some(level) = walk.levels.last_mut() {
            self.go_on()?;
            if let Some(name) = level.directories.pop() {
                let handle = level.handle;
                self.enter(&handle, &name, &mut walk).await?;
            } else if !self.empty(level).await? {
                self.leave(parent, &mut walk).await?;
            }
        }
        Ok(())
    }

    /// Goes into a directory; removes what is none.
    async fn enter(&self, parent: &Handle, name: &[u8], walk: &mut Walk) -> NfsResult<()> {
        let Some(found) = self.find_object(parent, name).await? else {
            return Ok(());
        };
        let attributes = found.attributes;
        if attributes.file_type != FileType::Directory {
            return gone(self.remove(parent, name).await);
        }
        // The top, too, may be where another file system is mounted.
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
        walk.levels.push(Level::new(found.handle, name));
        Ok(())
    }

    /// Removes a batch of what is in a directory; whether there was anything.
    async fn empty(&self, level: &mut Level) -> NfsResult<bool> {
        let batch = self.batch(&level.handle, b"").await?;
        if batch.is_empty() {
            return Ok(false);
        }
        if !level.emptying.may_end(names_of(&batch)) {
            return Err(Status::NOTEMPTY.into());
        }
        for (name, file_type) in batch {
            if may_be_directory(file_type) {
                level.directories.push(name);
                continue;
            }
            self.go_on()?;
            gone(self.remove(&level.handle, &name).await)?;
        }
        Ok(true)
    }

    /// Removes the directory that has been emptied, and goes back up.
    async fn leave(&self, top: &Handle, walk: &mut Walk) -> NfsResult<()> {
        let Some(done) = walk.levels.pop() else {
            return Ok(());
        };
        let parent = walk.levels.last().map_or(*top, |level| level.handle);
        gone(self.remove_directory(&parent, &done.name).await)
    }
}

/// What has no attributes is looked up when it is entered.
fn may_be_directory(file_type: Option<FileType>) -> bool {
    matches!(file_type, None | Some(FileType::Directory))
}

fn names_of(batch: &Batch) -> impl Iterator<Item = &[u8]> {
    batch.iter().map(|(name, _)| name.as_slice())
}

/// Whoever removed it, it is gone.
fn gone(answer: NfsResult<()>) -> NfsResult<()> {
    match answer {
        Err(failure) if failure.is(Status::NOENT) => Ok(()),
        answer => answer,
    }
}
