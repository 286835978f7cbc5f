//! A file set taken away: what is in its directories and has a name that we give, and the
//! directories. What has another name stays, and so do the directories that it is in.

use super::listing;
use super::names::{Doomed, Removal};
use crate::control::Cancellation;
use crate::driver::window::Window;
use crate::error::RunError;
use crate::nfs3::calls::{Failure, Nfs};
use crate::workspace::emptying::Emptying;
use crate::workspace::error::{Purpose, never_empty};
use crate::workspace::tree::{At, Step, join};
use filestone_model::file_set::{Part, client_of};
use filestone_wire::nfs3::{FileType, Handle};

/// Names kept in memory before they are removed.
pub const BATCH: usize = 100_000;

/// An error if a directory lists again and again what has been removed from it.
pub fn check_end<'n>(
    emptying: &mut Emptying,
    listed: impl Iterator<Item = &'n [u8]>,
    path: &str,
) -> Result<(), RunError> {
    match emptying.may_end(listed) {
        true => Ok(()),
        false => Err(never_empty(path).into()),
    }
}

/// The error of a directory that cannot be listed.
pub fn not_listed(path: &str) -> impl Fn(Failure) -> RunError {
    let purpose = Purpose::FileSet;
    At { path, purpose }.failed::<Nfs>(Step::List)
}

/// Directories with their names and handles.
type Directories = Vec<(Box<[u8]>, Handle)>;

/// What takes a set away.
pub struct Remover<'a> {
    pub nfs: &'a mut Nfs,
    pub window: &'a mut Window,
    /// Raised, it ends the removal.
    pub sign: &'a Cancellation,
}

impl Remover<'_> {
    /// Takes away the directories of all clients, in the set's directory.
    pub fn empty(&mut self, path: &str, home: &Handle) -> Result<(), RunError> {
        let mut emptying = Emptying::default();
        loop {
            let clients = self.directories(path, home, |name| client_of(name).is_some())?;
            if clients.is_empty() {
                return Ok(());
            }
            check_end(&mut emptying, clients.iter().map(|(name, _)| &**name), path)?;
            for (name, handle) in &clients {
                self.empty_client(&join(path, name), handle)?;
            }
            self.remove_directories(path, home, clients)?;
        }
    }

    fn empty_client(&mut self, path: &str, client: &Handle) -> Result<(), RunError> {
        let directories = self.directories(path, client, |name| Part::of(name).is_some())?;
        let mut doomed = Vec::new();
        for (name, handle) in &directories {
            let Some(part) = Part::of(name) else { continue };
            let path = join(path, name);
            // A directory may have more names than are kept in memory at once.
            let mut emptying = Emptying::default();
            while self.collect(&path, handle, |name| part.gives(name), &mut doomed)? {
                check_end(&mut emptying, doomed.iter().map(|one| &*one.name), &path)?;
                self.remove(&mut doomed)?;
            }
        }
        self.remove(&mut doomed)?;
        self.remove_directories(path, client, directories)
    }

    fn directories(
        &mut self,
        path: &str,
        handle: &Handle,
        is_ours: impl Fn(&[u8]) -> bool,
    ) -> Result<Directories, RunError> {
        self.sign.go_on()?;
        let mut directories = Directories::new();
        listing::list(self.nfs, handle, is_ours, |name, object| {
            if object.file_type == FileType::Directory {
                directories.push((name.into(), object.handle));
            }
            directories.len() >= BATCH
        })
        .map_err(not_listed(path))?;
        Ok(directories)
    }

    fn remove_directories(
        &mut self,
        path: &str,
        parent: &Handle,
        directories: Directories,
    ) -> Result<(), RunError> {
        let doomed = directories.into_iter().map(|(name, _)| Doomed {
            directory: *parent,
            path: path.into(),
            name,
            is_directory: true,
        });
        self.remove(&mut doomed.collect())
    }

    /// Adds the names of a directory to those that shall go; whether there may be more of
    /// them than that.
    fn collect(
        &mut self,
        path: &str,
        handle: &Handle,
        is_doomed: impl Fn(&[u8]) -> bool,
        doomed: &mut Vec<Doomed>,
    ) -> Result<bool, RunError> {
        self.sign.go_on()?;
        let mut has_more = false;
        listing::list(self.nfs, handle, is_doomed, |name, object| {
            has_more = doomed.len() >= BATCH;
            if !has_more {
                doomed.push(Doomed {
                    directory: *handle,
                    path: path.into(),
                    name: name.into(),
                    is_directory: object.file_type == FileType::Directory,
                });
            }
            has_more
        })
        .map_err(not_listed(path))?;
        Ok(has_more)
    }

    /// Takes names away.
    pub fn remove(&mut self, doomed: &mut Vec<Doomed>) -> Result<(), RunError> {
        self.window.run(&mut Removal::new(doomed))?;
        doomed.clear();
        Ok(())
    }
}
