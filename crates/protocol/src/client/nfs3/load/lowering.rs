//! The verbs of CIFS loads as calls of NFSv3: the calls that Samba would make to an NFS server for
//! them (docs/reference/lowering.md).
//!
//! Handles of directories are cached, as in every NFS client; the last component of a path is
//! always looked up, because the load requests it.

use super::names::split;
use super::open_file::NfsOpenFile;
use super::paths::{LookupResult, VerbExecutor};
use crate::client::nfs3::sequence::{
    ActionError, NfsActionResult, Object, named, permissions, times_of_server,
};
use crate::client::open_files::Extent;
use crate::client::own_paths::{below_clients, check_own, is_clients};
use filestone_plan::made::Kept;
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{self, Fattr3, FileType, Handle, Sattr3};
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY, OpenMode};
use filestone_workload::load::{ActionStatus, CLIENTS, Cause, MARKER, wildcard};
use std::borrow::Cow;

/// A name, and its directory.
#[derive(PartialEq, Eq)]
struct Place<'n> {
    directory: Handle,
    name: Cow<'n, [u8]>,
}

/// Bytes of a page of READDIRPLUS for FIND_FIRST.
const PAGE: u32 = 32 << 10;

/// Number of spellings of the letters of `client` in upper and lower case.
const SPELLINGS_MAX: usize = 1 << "client".len();

const fn makes(disposition: Disposition) -> bool {
    match disposition {
        Disposition::Open | Disposition::OpenToRead | Disposition::Overwrite => false,
        Disposition::Supersede
        | Disposition::Create
        | Disposition::OpenIf
        | Disposition::OverwriteIf => true,
    }
}

const fn empties(disposition: Disposition) -> bool {
    match disposition {
        Disposition::Open | Disposition::OpenToRead | Disposition::Create | Disposition::OpenIf => {
            false
        }
        Disposition::Supersede | Disposition::Overwrite | Disposition::OverwriteIf => true,
    }
}

impl VerbExecutor {
    /// Looks up a path; returns the handle of its directory and the object. The directory under
    /// test and `clients` are known.
    async fn find(&mut self, path: &[u8]) -> NfsActionResult<(Handle, LookupResult)> {
        let known = match path {
            b"" => Some(self.directories.root),
            path if is_clients(path) => Some(self.directories.clients),
            _ => None,
        };
        if let Some(handle) = known {
            let attributes = Some(self.nfs.attributes(&handle).await?);
            let object = Object { handle, attributes };
            let spelling = None;
            return Ok((self.directories.root, LookupResult { object, spelling }));
        }
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        let found = self.look_up(&directory, name).await?;
        if is_directory(found.object.attributes) {
            self.record_lookup(path, &found);
        }
        Ok((directory, found))
    }

    async fn attributes_of(&mut self, object: &Object) -> NfsActionResult<Fattr3> {
        match object.attributes {
            Some(attributes) => Ok(attributes),
            None => self.nfs.attributes(&object.handle).await,
        }
    }

    pub(super) async fn nt_create_x(
        &mut self,
        path: &[u8],
        options: u64,
        disposition: Disposition,
        number: u64,
    ) -> NfsActionResult<ActionStatus> {
        let wants_directory = options & OPTION_DIRECTORY != 0;
        let is_own = check_own(path).is_ok();
        let handle = match self.find(path).await {
            Ok((_, found)) => {
                let attributes = self.attributes_of(&found.object).await?;
                let is_directory = attributes.file_type == FileType::Directory;
                if wants_directory && !is_directory {
                    return Err(nfs3::Status::NOTDIR.into());
                }
                if empties(disposition) && !is_directory {
                    self.set_len(path, &found.object.handle, 0).await?;
                }
                found.object.handle
            }
            Err(failure) if failure.is(nfs3::Status::NOENT) && makes(disposition) => {
                self.make(path, wants_directory).await?
            }
            Err(failure) => return Err(failure),
        };
        self.open.insert(number, NfsOpenFile::new(handle, is_own));
        Ok(ActionStatus::Ok)
    }

    /// Executes the OPEN of loads that name files by path: never a directory. NFS has no open
    /// files, so the open mode is stored here.
    pub(super) async fn open_by_path(
        &mut self,
        path: &[u8],
        mode: OpenMode,
        number: u64,
    ) -> NfsActionResult<ActionStatus> {
        let handle = match self.find(path).await {
            Ok(_) if mode.is_exclusive => return Err(nfs3::Status::EXIST.into()),
            Ok((_, found)) => {
                let attributes = self.attributes_of(&found.object).await?;
                if attributes.file_type == FileType::Directory {
                    return Err(nfs3::Status::ISDIR.into());
                }
                if mode.cuts {
                    self.set_len(path, &found.object.handle, 0).await?;
                }
                found.object.handle
            }
            Err(failure) if failure.is(nfs3::Status::NOENT) && mode.creates => {
                self.make(path, false).await?
            }
            Err(failure) => return Err(failure),
        };
        let is_own = mode.writes && check_own(path).is_ok();
        let mut file = NfsOpenFile::new(handle, is_own);
        file.reads = mode.reads;
        file.is_stable = mode.is_stable;
        self.open.insert(number, file);
        Ok(ActionStatus::Ok)
    }

    /// Creates a missing file or directory; returns its handle.
    async fn make(&mut self, path: &[u8], is_directory: bool) -> NfsActionResult<Handle> {
        check_own(path)?;
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        let made = if is_directory {
            self.nfs
                .make_directory(&directory, name, self.options.modes.directory)
                .await?
        } else {
            let how = CreateHow::Unchecked(permissions(self.options.modes.file));
            self.nfs.create(&directory, name, how).await?
        };
        let handle = match made {
            Some(handle) => handle,
            // The server may omit the handle (section 3.3.8).
            None => self.nfs.lookup(&directory, name).await?.handle,
        };
        if is_directory {
            self.names.record_handle(path, handle);
        }
        Ok(handle)
    }

    async fn set_len(&mut self, path: &[u8], file: &Handle, len: u64) -> NfsActionResult<()> {
        check_own(path)?;
        let cut = Sattr3 {
            size: Some(len),
            ..Sattr3::default()
        };
        self.nfs.set_attributes(file, cut).await
    }

    /// Executes dbench 1's open: creates a missing file and extends it to a length by writing the
    /// missing data.
    pub(super) async fn open_x(
        &mut self,
        path: &[u8],
        len: u64,
        number: u64,
    ) -> NfsActionResult<ActionStatus> {
        let (handle, size) = match self.find(path).await {
            Ok((_, found)) => {
                let attributes = self.attributes_of(&found.object).await?;
                if attributes.file_type == FileType::Directory {
                    return Err(nfs3::Status::ISDIR.into());
                }
                (found.object.handle, attributes.size)
            }
            Err(failure) if failure.is(nfs3::Status::NOENT) => (self.make(path, false).await?, 0),
            Err(failure) => return Err(failure),
        };
        let mut file = NfsOpenFile::new(handle, check_own(path).is_ok());
        if size > len {
            self.set_len(path, &handle, len).await?;
        } else if size < len {
            check_own(path)?;
            let stable = self.stable_how();
            let missing = Extent {
                offset: size,
                len: len - size,
            };
            let written = self.write_out(&handle, missing, stable, |written| file.note(written));
            written.await?;
        }
        self.open.insert(number, file);
        Ok(ActionStatus::Ok)
    }

    pub(super) fn stable_how(&self) -> StableHow {
        if self.options.stable {
            StableHow::FileSync
        } else {
            StableHow::Unstable
        }
    }

    /// Makes unstable data stable and releases the locks of the file.
    pub(super) async fn close(&mut self, number: u64) -> NfsActionResult<ActionStatus> {
        let mut file = self.open.remove(number)?;
        if let Some(locks) = &mut self.locks {
            locks.close(&file.handle).await?;
        }
        if file.needs_commit() {
            let verifier = self.nfs.commit(&file.handle).await?;
            file.committed(verifier)?;
        }
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn flush(&mut self, number: u64) -> NfsActionResult<ActionStatus> {
        let handle = self.open.find(number)?.handle;
        let verifier = self.nfs.commit(&handle).await?;
        self.open.find(number)?.committed(verifier)?;
        Ok(ActionStatus::Ok)
    }

    /// Without a lock manager locks are granted here: no other client of the run uses this client's
    /// files.
    pub(super) async fn lock_x(
        &mut self,
        number: u64,
        offset: u64,
        len: u64,
    ) -> NfsActionResult<ActionStatus> {
        let file = self.open.find(number)?.handle;
        if let Some(locks) = &mut self.locks {
            locks.lock(&file, offset, len).await?;
        }
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn unlock_x(
        &mut self,
        number: u64,
        offset: u64,
        len: u64,
    ) -> NfsActionResult<ActionStatus> {
        let file = self.open.find(number)?.handle;
        if let Some(locks) = &mut self.locks {
            locks.unlock(&file, offset, len).await?;
        }
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn query_file(&mut self, number: u64) -> NfsActionResult<ActionStatus> {
        let file = self.open.find(number)?.handle;
        self.nfs.attributes(&file).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn set_file(&mut self, number: u64) -> NfsActionResult<ActionStatus> {
        let file = self.open.find_own(number)?.handle;
        self.nfs.set_attributes(&file, times_of_server()).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn query_path(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let (_, found) = self.find(path).await?;
        self.attributes_of(&found.object).await?;
        Ok(ActionStatus::Ok)
    }

    /// Returns the directory of a name, and its spelling there.
    async fn find_name<'n>(&mut self, path: &'n [u8]) -> NfsActionResult<Place<'n>> {
        let (_, name) = split(path);
        let (directory, found) = self.find(path).await?;
        let name = found.spelling.map_or(Cow::Borrowed(name), Cow::Owned);
        Ok(Place { directory, name })
    }

    pub(super) async fn unlink(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        check_own(path)?;
        let Place { directory, name } = self.find_name(path).await?;
        self.nfs.remove(&directory, &name).await?;
        self.names.forget(path);
        Ok(ActionStatus::Ok)
    }

    /// Executes the Rmdir of CIFS, and RMDIR3 unchanged.
    ///
    /// `clients` belongs to the run and stays. A load that removes it sees it as empty when no
    /// client has an entry in it.
    pub(super) async fn remove_directory(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        if is_clients(path) {
            let clients = self.directories.clients;
            let is_of_a_client =
                |name: &[u8]| !matches!(name, b"." | b"..") && name != MARKER.as_bytes();
            let found = self.nfs.find_name(&clients, PAGE, is_of_a_client);
            if found.await? {
                return Err(nfs3::Status::NOTEMPTY.into());
            }
            return Ok(ActionStatus::Ok);
        }
        check_own(path)?;
        if self.options.has_nfs_verbs {
            let (parent, name) = split(path);
            let directory = self.walk(parent).await?;
            self.nfs.remove_directory(&directory, name).await?;
        } else {
            let Place { directory, name } = self.find_name(path).await?;
            self.nfs.remove_directory(&directory, &name).await?;
        }
        self.names.forget(path);
        Ok(ActionStatus::Ok)
    }

    /// Executes the Rename of CIFS, and RENAME3 unchanged. An existing target is replaced, as by
    /// rename(2).
    pub(super) async fn rename(&mut self, from: &[u8], to: &[u8]) -> NfsActionResult<ActionStatus> {
        check_own(from)?;
        check_own(to)?;
        let (source, target) = if self.options.has_nfs_verbs {
            (self.place_of(from).await?, self.place_of(to).await?)
        } else {
            let source = self.find_name(from).await?;
            let target = match self.find_name(to).await {
                Err(failure) if failure.is(nfs3::Status::NOENT) => self.place_of(to).await?,
                // The rename changes only the case.
                Ok(target) if target == source => self.place_of(to).await?,
                found => found?,
            };
            (source, target)
        };
        let renamed = self.nfs.rename(
            named(&source.directory, &source.name),
            named(&target.directory, &target.name),
        );
        renamed.await?;
        let moved = self.names.find(from);
        self.names.forget(from);
        self.learn_made(to, moved);
        Ok(ActionStatus::Ok)
    }

    async fn place_of<'n>(&mut self, path: &'n [u8]) -> NfsActionResult<Place<'n>> {
        let (parent, name) = split(path);
        Ok(Place {
            directory: self.walk(parent).await?,
            name: Cow::Borrowed(name),
        })
    }

    /// Without wildcards it looks up one name; with them it reads the directory to its end, or
    /// until the maximum number of entries match.
    pub(super) async fn find_first(
        &mut self,
        path: &[u8],
        max: u64,
    ) -> NfsActionResult<ActionStatus> {
        let (parent, pattern) = split(path);
        if !wildcard::has_wildcards(pattern) {
            return self.query_path(path).await;
        }
        let directory = self.walk(parent).await?;
        let mut matching = 0_u64;
        let listed = self.nfs.each_entry(&directory, PAGE, |name, _| {
            matching += u64::from(wildcard::matches(pattern, name));
            matching >= max.max(1)
        });
        listed.await?;
        match matching {
            0 => Err(ActionError::refused(Cause::NotFound)),
            _ => Ok(ActionStatus::Ok),
        }
    }

    /// For `clients`, removes this client's tree only: the other clients are using theirs. Objects
    /// that no run of this load creates stay, and with them the tree.
    pub(super) async fn remove_tree(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let own = is_clients(path).then(|| self.own_tree());
        let path = own.as_deref().map_or(path, str::as_bytes);
        check_own(path)?;
        let kept = match self.find_name(path).await {
            Ok(Place { directory, name }) => {
                let (parent, _) = split(below_clients(path));
                let actual = [parent, &*name].join(b"/".as_slice());
                let actual = actual.strip_prefix(b"/").unwrap_or(&actual);
                self.nfs.remove_tree(&directory, actual, &self.made).await?
            }
            Err(failure) if failure.is(nfs3::Status::NOENT) => Kept::default(),
            Err(failure) => return Err(failure),
        };
        self.names.forget(path);
        if kept.is_empty() {
            Ok(ActionStatus::Ok)
        } else {
            Err(nfs3::Status::NOTEMPTY.into())
        }
    }

    fn own_tree(&self) -> String {
        format!("{CLIENTS}/client{}", self.client)
    }

    /// Removes this client's tree, in any spelling that the load has used.
    pub(super) async fn remove_own_tree(&mut self) -> NfsActionResult<()> {
        let own = format!("client{}", self.client).into_bytes();
        let clients = self.directories.clients;
        let mut names = Vec::new();
        let listed = self.nfs.each_entry(&clients, PAGE, |name, _| {
            if name.eq_ignore_ascii_case(&own) {
                names.push(name.to_vec());
            }
            names.len() >= SPELLINGS_MAX
        });
        listed.await?;
        for name in &names {
            // The end of the run reports what stays.
            self.nfs.remove_tree(&clients, name, &self.made).await?;
        }
        self.names.forget_all();
        Ok(())
    }
}

fn is_directory(attributes: Option<Fattr3>) -> bool {
    attributes.is_some_and(|attributes| attributes.file_type == FileType::Directory)
}
