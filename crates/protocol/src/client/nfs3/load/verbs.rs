//! The verbs of NFS loads, unchanged: one call each, plus the LOOKUPs of a path whose handle is not
//! cached (docs/reference/lowering.md).

use super::locks::ClientLocks;
use super::names::split;
use super::paths::VerbExecutor;
use crate::client::nfs3::sequence::{ActionError, NfsActionResult, Object, permissions};
use crate::client::open_files::Extent;
use crate::client::own_paths::{check_own, is_clients};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{self, Handle, SetTime, access};
use filestone_workload::load::{ActionStatus, Cause};
use filestone_workload::operation::Stability;

/// Bytes of a READDIRPLUS page, as in dbench.
const PAGE: u32 = 8000;

pub(super) const fn stable_how(stability: Stability) -> StableHow {
    match stability {
        Stability::Unstable => StableHow::Unstable,
        Stability::DataSync => StableHow::DataSync,
        Stability::FileSync => StableHow::FileSync,
    }
}

impl VerbExecutor {
    pub(super) async fn attributes(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let object = self.walk(path).await?;
        self.nfs.attributes(&object).await?;
        Ok(ActionStatus::Ok)
    }

    /// Sets the modification time to the server's time.
    pub(super) async fn set_attributes(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        // The clients' directory is shared by all clients and belongs to the run.
        if !is_clients(path) {
            check_own(path)?;
        }
        let object = self.walk(path).await?;
        let touched = nfs3::Sattr3 {
            mtime: SetTime::ServerTime,
            ..nfs3::Sattr3::default()
        };
        self.nfs.set_attributes(&object, touched).await?;
        Ok(ActionStatus::Ok)
    }

    /// The last component is always looked up, cached or not.
    pub(super) async fn look_up_path(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let (parent, name) = split(path);
        if name.is_empty() {
            return self.attributes(path).await;
        }
        let directory = self.walk(parent).await?;
        match self.nfs.lookup(&directory, name).await {
            Ok(Object { handle, .. }) => {
                self.names.record_handle(path, handle);
                Ok(ActionStatus::Ok)
            }
            Err(failure) => {
                if failure.is(nfs3::Status::NOENT) {
                    self.names.forget(path);
                }
                Err(failure)
            }
        }
    }

    /// A load without permissions (dbench ignores both of its numbers) requests all of them and
    /// accepts any reply.
    pub(super) async fn access(
        &mut self,
        path: &[u8],
        wanted: u64,
        granted: u64,
    ) -> NfsActionResult<ActionStatus> {
        let object = self.walk(path).await?;
        let asked = match wanted {
            0 => access::ALL,
            wanted => u32::try_from(wanted).unwrap_or(u32::MAX),
        };
        let got = u64::from(self.nfs.access(&object, asked).await?);
        Ok(match wanted {
            0 => ActionStatus::Ok,
            _ if got == granted => ActionStatus::Ok,
            _ => ActionStatus::WrongAccess {
                expected: granted,
                got,
            },
        })
    }

    pub(super) async fn read_link(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let link = self.walk(path).await?;
        self.nfs.read_link(&link).await?;
        Ok(ActionStatus::Ok)
    }

    /// A short read is not a failure: the load does not contain the length of the file.
    pub(super) async fn read(
        &mut self,
        path: &[u8],
        offset: u64,
        len: u64,
    ) -> NfsActionResult<ActionStatus> {
        let file = self.walk(path).await?;
        self.read_in(&file, Extent { offset, len }).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn write(
        &mut self,
        path: &[u8],
        extent: Extent,
        stability: Stability,
    ) -> NfsActionResult<ActionStatus> {
        check_own(path)?;
        let file = self.walk(path).await?;
        let stable = stable_how(stability);
        self.write_out(&file, extent, stable, |_| {}).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn create(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        check_own(path)?;
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        let how = CreateHow::Unchecked(permissions(0o666));
        let made = self.nfs.create(&directory, name, how).await?;
        self.learn_made(path, made);
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn symlink(
        &mut self,
        path: &[u8],
        target: &[u8],
    ) -> NfsActionResult<ActionStatus> {
        check_own(path)?;
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        let made = self.nfs.symlink(&directory, name, target).await?;
        self.learn_made(path, made);
        Ok(ActionStatus::Ok)
    }

    /// Records the new object at a path; if the server omits the handle, it is looked up when
    /// needed.
    pub(super) fn learn_made(&mut self, path: &[u8], made: Option<Handle>) {
        self.names.forget(path);
        if let Some(handle) = made {
            self.names.record_handle(path, handle);
        }
    }

    /// The linked file must also belong to the run, since a link changes its link count.
    pub(super) async fn link(
        &mut self,
        path: &[u8],
        existing: &[u8],
    ) -> NfsActionResult<ActionStatus> {
        check_own(path)?;
        check_own(existing)?;
        let file = self.walk(existing).await?;
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        self.nfs.link(&file, &directory, name).await?;
        self.learn_made(path, Some(file));
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn remove(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        check_own(path)?;
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        self.nfs.remove(&directory, name).await?;
        self.names.forget(path);
        Ok(ActionStatus::Ok)
    }

    /// Executes MKDIR3 and the Mkdir of CIFS. `clients` was created at the start of the run; its
    /// existence is success for the load.
    pub(super) async fn make_directory(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        if is_clients(path) {
            let root = self.directories.root;
            return match self.nfs.make_directory(&root, path, 0o777).await {
                Err(failure) if !failure.is(nfs3::Status::EXIST) => Err(failure),
                _ => Ok(ActionStatus::Ok),
            };
        }
        check_own(path)?;
        let (parent, name) = split(path);
        let directory = self.walk(parent).await?;
        let made = self.nfs.make_directory(&directory, name, 0o777).await?;
        self.learn_made(path, made);
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn read_directory(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let directory = self.walk(path).await?;
        self.nfs
            .read_entries(&directory, PAGE, |_, _| false)
            .await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn file_system_status(&mut self) -> NfsActionResult<ActionStatus> {
        let root = self.directories.root;
        self.nfs.file_system_status(&root).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn file_system_info(&mut self) -> NfsActionResult<ActionStatus> {
        let root = self.directories.root;
        self.nfs.file_system_info(&root).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn path_configuration(
        &mut self,
        path: &[u8],
    ) -> NfsActionResult<ActionStatus> {
        let object = self.walk(path).await?;
        self.nfs.path_configuration(&object).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn commit(&mut self, path: &[u8]) -> NfsActionResult<ActionStatus> {
        let file = self.walk(path).await?;
        self.nfs.commit(&file).await?;
        Ok(ActionStatus::Ok)
    }

    fn lock_manager(&mut self) -> NfsActionResult<&mut ClientLocks> {
        self.locks
            .as_mut()
            .ok_or_else(|| ActionError::refused(Cause::Other))
    }

    pub(super) async fn lock(
        &mut self,
        path: &[u8],
        offset: u64,
        len: u64,
    ) -> NfsActionResult<ActionStatus> {
        self.lock_manager()?;
        let file = self.walk(path).await?;
        self.lock_manager()?.lock(&file, offset, len).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn unlock(
        &mut self,
        path: &[u8],
        offset: u64,
        len: u64,
    ) -> NfsActionResult<ActionStatus> {
        self.lock_manager()?;
        let file = self.walk(path).await?;
        self.lock_manager()?.unlock(&file, offset, len).await?;
        Ok(ActionStatus::Ok)
    }

    pub(super) async fn test_lock(
        &mut self,
        path: &[u8],
        offset: u64,
        len: u64,
    ) -> NfsActionResult<ActionStatus> {
        self.lock_manager()?;
        let file = self.walk(path).await?;
        self.lock_manager()?.test(&file, offset, len).await?;
        Ok(ActionStatus::Ok)
    }
}
