//! The file set of a mix on a share (`crate::file_set`): uses one connection, with one request at a
//! time.

use super::connection::{ConnectedShare, Reaching, RequestError};
use super::error::SmbError;
use super::terms::of_another_client;
use super::tree::{ShareDirectory, ShareEntry, ShareTree, child_of};
use crate::file_set::{
    ExistingObject, FileSetProgress, Missing, ObjectTable, PendingObject, SetFiles, SetObjectKind,
    SetServer, SpareName,
};
use filestone_host::control::Cancellation;
use filestone_host::error::RunError;
use filestone_plan::file_set::VolatileDirectory;
use filestone_protocol::client::smb2::{ALL_OF_FILE, CreateParams, ShareFiles, SharePath};
use filestone_protocol::workload::ObjectKind;
use filestone_wire::smb2::Status;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use std::sync::Arc;
use std::time::Duration;

impl SetServer for Reaching {
    type Handle = SharePath;
    type Entry = ShareEntry;
    type Tree<'a> = ShareTree<'a>;

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn on_tree<R>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut ShareTree<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let reaching = Reaching {
            way: of_another_client(&self.way),
            cancellation: cancellation.clone(),
            ..self.clone()
        };
        let made = ConnectedShare::make(&reaching, 1);
        let mut connection = made.map_err(SmbError::into_run_error)?;
        work(&mut ShareTree::new(&mut connection))
    }

    fn seen(at: &ShareDirectory, name: &[u8], entry: ShareEntry) -> ExistingObject<SharePath> {
        ExistingObject {
            handle: child_of(&at.handle, &String::from_utf8_lossy(name)).into(),
            kind: if entry.is_directory {
                ObjectKind::Directory
            } else {
                ObjectKind::File
            },
            len: entry.len,
        }
    }

    fn make(
        tree: &mut ShareTree<'_>,
        missing: Missing<'_, '_, SharePath>,
    ) -> Result<u64, RunError> {
        let mut making = Making {
            connection: tree.connection,
            places: missing.places,
            transfer: missing.transfer,
            progress: missing.progress,
        };
        let mut made = 0;
        for step in missing.steps {
            making.progress.tell();
            making.take(step)?;
            made += 1;
        }
        Ok(made)
    }
}

impl From<SetFiles<SharePath>> for ShareFiles {
    fn from(SetFiles { table, handles }: SetFiles<SharePath>) -> Self {
        Self {
            table: Arc::new(table),
            paths: handles,
        }
    }
}

/// Creates the objects of a file set.
struct Making<'c, 'w, 'p> {
    connection: &'c mut ConnectedShare,
    places: &'w mut ObjectTable<'p, SharePath>,
    /// Maximum size of a WRITE in bytes.
    transfer: u32,
    progress: FileSetProgress<'w>,
}

/// Disposition of a file that must not exist.
const NEW: CreateDisposition = CreateDisposition::CREATE;
/// Disposition of a file of the wrong length, which is truncated.
const EMPTIED: CreateDisposition = CreateDisposition::OVERWRITE;

/// Error for symbolic links and pipes; mixes that need them are refused earlier.
fn not_on_a_share(path: &str) -> RunError {
    RunError::Internal(format!("{path}: is nothing that a share has"))
}

fn refused(unmet: RequestError, path: &str, request: &'static str) -> RunError {
    unmet.at(path, request).into_run_error()
}

impl Making<'_, '_, '_> {
    fn take(&mut self, step: PendingObject) -> Result<(), RunError> {
        match step {
            PendingObject::Object(index) => self.make(index),
            PendingObject::Wrong(file) => {
                let path = self.path_of(file);
                self.write(file, &path, EMPTIED)
            }
            PendingObject::Spare(spare) => self.make_spare(&spare),
        }
    }

    /// Returns the path of an object.
    fn path_of(&self, index: u32) -> SharePath {
        let parent = self.places.parent(index).map_or("", |parent| &**parent);
        child_of(parent, &self.places.name(index)).into()
    }

    fn make(&mut self, index: u32) -> Result<(), RunError> {
        let path = self.path_of(index);
        match self.places.part(index).1 {
            SetObjectKind::Root | SetObjectKind::Files(_) | SetObjectKind::Changing(_) => {
                self.make_directory(&path, &self.places.path(index))?;
            }
            SetObjectKind::File(_) => self.write(index, &path, NEW)?,
            SetObjectKind::Link(_) => return Err(not_on_a_share(&path)),
        }
        self.places.record_handle(index, path);
        Ok(())
    }

    fn make_directory(&mut self, path: &str, shown: &str) -> Result<(), RunError> {
        let made = self.connection.make_directory(path);
        let made =
            made.and_then(|made| made.ok_or(RequestError::Answered(Status::OBJECT_NAME_COLLISION)));
        made.map_err(|unmet| refused(unmet, shown, "CREATE of a directory"))
    }

    /// Creates a data file, or rewrites one of the wrong length.
    fn write(&mut self, file: u32, path: &str, how: CreateDisposition) -> Result<(), RunError> {
        let opening = CreateParams::existing(path, ALL_OF_FILE)
            .by(how)
            .with(CreateOptions::NON_DIRECTORY_FILE);
        let (len, transfer) = (self.places.len_of(file), self.transfer);
        let written = self.connection.fill(&opening, len, transfer, |_| ());
        written
            .map_err(|unmet| refused(unmet, &self.places.path(file), "CREATE, WRITE or FLUSH"))?;
        self.progress.files_done += 1;
        Ok(())
    }

    fn make_spare(&mut self, spare: &SpareName) -> Result<(), RunError> {
        let directory = self.places.handle(spare.directory(self.places));
        let path = child_of(directory.map_or("", |path| path), &spare.name());
        let shown = spare.path(self.places);
        match spare.changing {
            VolatileDirectory::Created => {
                let opening = CreateParams::existing(&path, ALL_OF_FILE)
                    .by(NEW)
                    .with(CreateOptions::NON_DIRECTORY_FILE);
                let made = self
                    .connection
                    .call(async |link| link.touch(&opening).await);
                made.map_err(|unmet| refused(unmet, &shown, "CREATE"))?;
                Ok(())
            }
            VolatileDirectory::Directories => self.make_directory(&path, &shown),
            VolatileDirectory::Links => {
                let files = self.places.layout.files_per_client().max(1);
                let file = SetObjectKind::File(spare.number % files);
                let file = self.places.index(spare.client, file);
                let file = self.path_of(file);
                let made = self
                    .connection
                    .call(async |link| link.link(&file, &path, false).await);
                made.map_err(|unmet| refused(unmet, &shown, "SET_INFO with one more name"))
            }
            VolatileDirectory::SymbolicLinks | VolatileDirectory::Nodes => {
                Err(not_on_a_share(&shown))
            }
        }
    }
}
