//! A whole tree taken away.
//!
//! Without recursion on the stack and with an end: a server that lists what it
//! has removed, or directories in directories for ever, is given up; between any
//! two names it is looked whether to break off. Symbolic
//! links are removed and never followed, and what is mounted from another file
//! system is left alone.

use crate::target::nfs3::calls::{Nfs, NfsResult};
use filestone_model::emptying::Emptying;
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

impl Nfs {
    /// Removes all that is in `directory` but the entry `keep`.
    pub fn empty_but(&mut self, directory: &Handle, keep: &[u8]) -> NfsResult<()> {
        let mut emptying = Emptying::default();
        loop {
            let batch = self.batch(directory, keep)?;
            if batch.is_empty() {
                return Ok(());
            }
            for (name, file_type) in &batch {
                self.0.go_on()?;
                if may_be_directory(*file_type) {
                    self.remove_tree(directory, name)?;
                } else {
                    gone(self.remove(directory, name))?;
                }
            }
            if !emptying.may_end(names_of(&batch)) {
                return Err(Status::NOTEMPTY.into());
            }
        }
    }

    /// The first names in a directory but `keep`: as many as are removed at once.
    fn batch(&mut self, directory: &Handle, keep: &[u8]) -> NfsResult<Batch> {
        let mut batch = Batch::new();
        let mut bytes = 0;
        self.each_entry(directory, PAGE, |name, file_type| {
            if !matches!(name, b"." | b"..") && name != keep {
                bytes += name.len();
                batch.push((name.to_vec(), file_type));
            }
            batch.len() >= BATCH || bytes >= BATCH_BYTES
        })?;
        let is_none = |name: &[u8]| name.is_empty() || name.contains(&b'/');
        if batch.iter().any(|(name, _)| is_none(name)) {
            return Err(self.violated(Procedure::Readdirplus, "a name with a slash in it"));
        }
        Ok(batch)
    }

    /// Removes `name` in `parent` and everything below it; well done too if there
    /// is nothing of that name.
    pub fn remove_tree(&mut self, parent: &Handle, name: &[u8]) -> NfsResult<()> {
        let mut walk = Walk {
            levels: Vec::new(),
            fsid: None,
        };
        self.enter(parent, name, &mut walk)?;
        while let Some(level) = walk.levels.last_mut() {
            self.0.go_on()?;
            if let Some(name) = level.directories.pop() {
                let handle = level.handle;
                self.enter(&handle, &name, &mut walk)?;
            } else if !self.empty(level)? {
                self.leave(parent, &mut walk)?;
            }
        }
        Ok(())
    }

    /// Goes into a directory; removes what is none.
    fn enter(&mut self, parent: &Handle, name: &[u8], walk: &mut Walk) -> NfsResult<()> {
        let Some(found) = self.find_object(parent, name)? else {
            return Ok(());
        };
        let attributes = found.attributes;
        if attributes.file_type != FileType::Directory {
            return gone(self.remove(parent, name));
        }
        // The top, too, may be where another file system is mounted.
        let fsid = match walk.fsid {
            Some(fsid) => fsid,
            None => self.attributes(parent)?.fsid,
        };
        walk.fsid = Some(fsid);
        if attributes.fsid != fsid {
            return Err(Status::XDEV.into());
        }
        if walk.levels.len() >= DEPTH_MAX {
            return Err(self.violated(Procedure::Lookup, "directories without end in each other"));
        }
        walk.levels.push(Level::new(found.handle, name));
        Ok(())
    }

    /// Removes a batch of what is in a directory; whether there was anything.
    fn empty(&mut self, level: &mut Level) -> NfsResult<bool> {
        let batch = self.batch(&level.handle, b"")?;
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
            self.0.go_on()?;
            gone(self.remove(&level.handle, &name))?;
        }
        Ok(true)
    }

    /// Removes the directory that has been emptied, and goes back up.
    fn leave(&mut self, top: &Handle, walk: &mut Walk) -> NfsResult<()> {
        let Some(done) = walk.levels.pop() else {
            return Ok(());
        };
        let parent = walk.levels.last().map_or(*top, |level| level.handle);
        gone(self.remove_directory(&parent, &done.name))
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
pub fn gone(answer: NfsResult<()>) -> NfsResult<()> {
    match answer {
        Err(failure) if failure.is(Status::NOENT) => Ok(()),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::nfs3::scripted::{self, reply};
    use filestone_wire::nfs3::{FileHandle, WccData, getattr, lookup, readdirplus, remove};
    use filestone_wire::xdr::Encode;
    use std::io::Write;

    #[test]
    fn a_file_system_mounted_at_the_top_of_a_tree_is_left_alone() {
        let (mut nfs, seen) = scripted::nfs(|call, out| {
            let directory = |fsid| scripted::attributes(FileType::Directory, fsid);
            let results = match Procedure::from_number(call.procedure) {
                Some(Procedure::Lookup) => lookup::Reply::Ok(lookup::ReplyOk {
                    object: FileHandle::new(&[2]).expect("a handle"),
                    obj_attributes: Some(directory(2)),
                    dir_attributes: None,
                })
                .to_bytes(),
                Some(Procedure::Getattr) => getattr::Reply::Ok(getattr::ReplyOk {
                    obj_attributes: directory(1),
                })
                .to_bytes(),
                _ => Status::ACCES.0.to_be_bytes().to_vec(),
            };
            out.write_all(&reply(call.xid, &results))
        });
        let parent = Handle::from(FileHandle::new(&[1]).expect("a handle"));
        let failure = nfs
            .remove_tree(&parent, b"client0")
            .expect_err("it is mounted");
        assert!(failure.is(Status::XDEV), "{failure:?}");
        drop(nfs);
        let seen = seen.join().expect("the server ended");
        let [lookup, getattr] = [Procedure::Lookup, Procedure::Getattr].map(Procedure::number);
        assert_eq!(seen, [lookup, getattr]);
    }

    /// One page with these names.
    fn listing(names: &[&[u8]]) -> Vec<u8> {
        let entries = names.iter().zip(1..).map(|(name, cookie)| {
            let (name_attributes, name_handle) = (None, None);
            readdirplus::EntryPlus {
                fileid: cookie,
                name,
                cookie,
                name_attributes,
                name_handle,
            }
        });
        let page = readdirplus::ReplyOk {
            dir_attributes: None,
            cookieverf: [0; 8],
            entries: entries.collect(),
            eof: true,
        };
        readdirplus::Reply::Ok(page).to_bytes()
    }

    #[test]
    fn a_server_that_lists_what_it_has_removed_is_given_up() {
        let (mut nfs, seen) = scripted::nfs(|call, out| {
            let results = match Procedure::from_number(call.procedure) {
                Some(Procedure::Readdirplus) => listing(&[b".", b"kept", b"file"]),
                Some(Procedure::Lookup) => lookup::Reply::Ok(lookup::ReplyOk {
                    object: FileHandle::new(&[2]).expect("a handle"),
                    obj_attributes: Some(scripted::attributes(FileType::Regular, 1)),
                    dir_attributes: None,
                })
                .to_bytes(),
                Some(Procedure::Remove) => {
                    let dir_wcc = WccData::default();
                    remove::Reply::Ok(remove::ReplyOk { dir_wcc }).to_bytes()
                }
                _ => Status::ACCES.0.to_be_bytes().to_vec(),
            };
            out.write_all(&reply(call.xid, &results))
        });
        let directory = Handle::from(FileHandle::new(&[1]).expect("a handle"));
        let failure = nfs.empty_but(&directory, b"kept").expect_err("it stays");
        assert!(failure.is(Status::NOTEMPTY), "{failure:?}");
        drop(nfs);
        let seen = seen.join().expect("the server ended");
        let count = |procedure: Procedure| {
            let number = procedure.number();
            seen.iter().filter(|seen| **seen == number).count()
        };
        assert_eq!(count(Procedure::Readdirplus), 5);
        assert_eq!(count(Procedure::Remove), 5, "what is kept is left alone");
    }
}
