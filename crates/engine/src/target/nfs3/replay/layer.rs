//! One client's way to an NFS server: which verb becomes what, and the paths.
//!
//! The NFS verbs are in `verbs`, the CIFS verbs in `lowering`; the table of both
//! is docs/reference/lowering.md.

use super::locks::{self, Locks};
use super::names::{Names, split};
use super::open_files::OpenFiles;
use super::options::ClientOptions;
use crate::driver::Traffic;
use crate::replay::layer::Repeats;
use crate::replay::{Cancellation, Layer, LayerLost, Reply};
use crate::target::nfs3::calls::{Failure, Nfs, NfsResult, Object, answer};
use crate::workspace::test_directory::{CLIENTS, MARKER};
use filestone_model::load::{Action, Cause, Status};
use filestone_wire::nfs3::{self, Handle};
use filestone_wire::nlm;

/// Bytes of a page of READDIR when a name is looked for by ignoring case.
const SCAN_PAGE: u32 = 32 << 10;

/// The most bytes of one READ and one WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfers {
    /// rtmax of FSINFO.
    pub read: u32,
    /// wtmax of FSINFO.
    pub write: u32,
}

/// Where the run works.
#[derive(Debug, Clone, Copy)]
pub struct RunDirectories {
    /// The directory under test.
    pub root: Handle,
    /// The directory `clients` in it.
    pub clients: Handle,
    /// What the server takes at once.
    pub transfers: Transfers,
}

/// What a name was found to be.
pub struct Found {
    /// The object.
    pub object: Object,
    /// How the server spells it, if not as it was asked for.
    pub spelling: Option<Vec<u8>>,
}

/// One client's way to an NFS server.
#[derive(Debug)]
pub struct Nfs3Layer {
    pub(super) client: u32,
    pub(super) nfs: Nfs,
    pub(super) locks: Option<Locks>,
    pub(super) directories: RunDirectories,
    pub(super) options: ClientOptions,
    pub(super) names: Names,
    pub(super) open: OpenFiles,
    /// File data that do not lie in one piece where they are taken from.
    pub(super) filled: Vec<u8>,
    /// File data that the action which is going on has moved.
    pub(super) moved: u64,
    /// Raised, it breaks off what takes several calls to transfer.
    pub(super) cancellation: Cancellation,
}

impl Layer for Nfs3Layer {
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
        self.nfs.0.cancel_with(cancellation);
        if let Some(locks) = &mut self.locks {
            locks.cancel_with(cancellation);
        }
    }

    fn take_repeats(&mut self) -> Repeats {
        let of_locks = self.locks.as_mut().map(Locks::take_repeats);
        self.nfs.0.take_repeats().and(of_locks.unwrap_or_default())
    }

    fn carry_out(&mut self, action: &Action<'_>, data: &[u8]) -> Result<Reply, LayerLost> {
        self.moved = 0;
        let answer = self.answer(action, data);
        let traffic = self.take_traffic();
        let status = match answer {
            Ok(status) | Err(Failure::Answered(status)) => status,
            Err(Failure::Lost(lost)) => return Err(lost.into()),
        };
        if is_stale(status) {
            // Another program changed the tree; what else it changed is not known.
            self.names.forget_all();
        }
        Ok(Reply {
            status,
            calls: traffic.calls,
            bytes_sent: traffic.bytes_sent,
            bytes_received: traffic.bytes_received,
            data_bytes: self.moved,
        })
    }

    fn end_pass(&mut self) -> Result<(), LayerLost> {
        let mut ended = Ok(());
        for file in self.open.take_all() {
            if file.needs_commit() {
                ended = ended.and(self.nfs.commit(&file.handle).map(drop).or_else(unless_lost));
            }
        }
        if let Some(locks) = &mut self.locks {
            ended = ended.and(locks.close_all().or_else(unless_lost));
        }
        self.take_traffic();
        ended
    }
}

/// A stretch of a file.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Where it begins.
    pub offset: u64,
    /// Bytes of it.
    pub len: u64,
}

/// Whether the server no longer knows the file of a handle.
fn is_stale(status: Status) -> bool {
    let of_nfs = [nfs3::Status::STALE, nfs3::Status::BADHANDLE].map(answer);
    of_nfs.contains(&status) || status == locks::answer(nlm::Status::STALE_FH)
}

/// What the server says when a pass is tidied up does not matter; that it is gone
/// does.
fn unless_lost(failure: Failure) -> Result<(), LayerLost> {
    match failure {
        Failure::Answered(_) => Ok(()),
        Failure::Lost(lost) => Err(lost.into()),
    }
}

impl Nfs3Layer {
    pub(super) fn new(
        client: u32,
        nfs: Nfs,
        locks: Option<Locks>,
        directories: RunDirectories,
        options: ClientOptions,
    ) -> Self {
        Self {
            client,
            nfs,
            locks,
            directories,
            options,
            names: Names::default(),
            open: OpenFiles::default(),
            filled: Vec::new(),
            moved: 0,
            cancellation: Cancellation::default(),
        }
    }

    fn take_traffic(&mut self) -> Traffic {
        let of_locks = self.locks.as_mut().map(Locks::take_traffic);
        self.nfs.0.take_traffic().and(of_locks.unwrap_or_default())
    }

    // One line per verb where it fits, as in the table of the documentation.
    #[rustfmt::skip]
    fn answer(&mut self, action: &Action<'_>, data: &[u8]) -> NfsResult<Status> {
        match *action {
            Action::NtCreateX { path, options, disposition, handle } => {
                self.nt_create_x(path, options, disposition, handle)
            }
            Action::OpenX { path, len, handle } => self.open_x(path, len, handle, data),
            Action::Close { handle } => self.close(handle),
            Action::ReadX { handle, offset, len, expected_len } => self.read_x(handle, offset, len, expected_len),
            Action::WriteX { handle, offset, len, expected_len } => {
                self.write_x(handle, Extent { offset, len }, expected_len, data)
            }
            Action::Flush { handle } => self.flush(handle),
            Action::LockX { handle, offset, len } => self.lock_x(handle, offset, len),
            Action::UnlockX { handle, offset, len } => self.unlock_x(handle, offset, len),
            Action::Unlink { path } => self.unlink(path),
            Action::Mkdir { path } => self.make_directory(path),
            Action::Rmdir { path } => self.remove_directory(path),
            Action::Rename { from, to } => self.rename(from, to),
            Action::Deltree { path } => self.remove_tree(path),
            Action::FindFirst { pattern, max, .. } => self.find_first(pattern, max),
            Action::QueryPathInformation { path, .. } => self.query_path(path),
            Action::QueryFileInformation { handle, .. } => self.query_file(handle),
            Action::SetFileInformation { handle, .. } => self.set_file(handle),
            Action::QueryFsInformation { .. } | Action::FileSystemStatus => self.file_system_status(),
            Action::FileSystemInfo => self.file_system_info(),
            Action::GetAttr { path } => self.attributes(path),
            Action::SetAttr { path } => self.set_attributes(path),
            Action::Lookup { path } => self.look_up_path(path),
            Action::Access { path, wanted, granted } => self.access(path, wanted, granted),
            Action::ReadLink { path } => self.read_link(path),
            Action::Read { path, offset, len } => self.read(path, offset, len),
            Action::Write { path, offset, len, stability } => self.write(path, Extent { offset, len }, stability, data),
            Action::Create { path } => self.create(path),
            Action::Symlink { path, target } => self.symlink(path, target),
            Action::Link { path, existing } => self.link(path, existing),
            Action::Remove { path } => self.remove(path),
            Action::ReadDirectoryPlus { path } => self.read_directory(path),
            Action::PathConfiguration { path } => self.path_configuration(path),
            Action::Commit { path } => self.commit(path),
            Action::Lock4 { path, offset, len } => self.lock(path, offset, len),
            Action::Unlock4 { path, offset, len } => self.unlock(path, offset, len),
            Action::Test4 { path, offset, len } => self.test_lock(path, offset, len),
        }
    }

    /// The handle of a path, component by component from the longest part of it
    /// that is known.
    pub(super) fn walk(&mut self, path: &[u8]) -> NfsResult<Handle> {
        let (mut end, mut handle) = self.longest_known(path);
        while end < path.len() {
            let start = if end == 0 { 0 } else { end + 1 };
            let rest = path.get(start..).unwrap_or_default();
            let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
            end = start + name.len();
            let prefix = path.get(..end).unwrap_or_default();
            handle = self.step(&handle, prefix, name)?.handle;
        }
        Ok(handle)
    }

    fn longest_known(&self, path: &[u8]) -> (usize, Handle) {
        let mut known = path;
        loop {
            if known.is_empty() {
                return (0, self.directories.root);
            }
            // Whatever its case: the run made it, and knows it.
            if known.eq_ignore_ascii_case(CLIENTS.as_bytes()) {
                return (known.len(), self.directories.clients);
            }
            if let Some(handle) = self.names.find(known) {
                return (known.len(), handle);
            }
            known = split(known).0;
        }
    }

    /// Looks up one component on the way and remembers it.
    fn step(&mut self, directory: &Handle, prefix: &[u8], name: &[u8]) -> NfsResult<Object> {
        match self.look_up(directory, name) {
            Ok(found) => {
                self.learn(prefix, &found);
                Ok(found.object)
            }
            Err(failure) => {
                if failure.is(nfs3::Status::NOENT) {
                    self.names.forget(prefix);
                }
                Err(failure)
            }
        }
    }

    /// Remembers what a path was found to be.
    pub(super) fn learn(&mut self, path: &[u8], found: &Found) {
        match found.spelling {
            None => self.names.learn(path, found.object.handle),
            Some(_) => self.names.learn_alias(path, found.object.handle),
        }
    }

    /// LOOKUP, and if there is no such name and case may differ, what Samba does
    /// then: reads the directory for one that differs only in case.
    pub(super) fn look_up(&mut self, directory: &Handle, name: &[u8]) -> NfsResult<Found> {
        let missing = match self.nfs.lookup(directory, name) {
            Err(failure) if failure.is(nfs3::Status::NOENT) && self.options.ignores_case => failure,
            answer => {
                return answer.map(|object| Found {
                    object,
                    spelling: None,
                });
            }
        };
        let mut spelling = None;
        self.nfs.find_name(directory, SCAN_PAGE, |listed| {
            let is_it = listed.eq_ignore_ascii_case(name);
            if is_it {
                spelling = Some(listed.to_vec());
            }
            is_it
        })?;
        let Some(spelt) = spelling else {
            return Err(missing);
        };
        let object = self.nfs.lookup(directory, &spelt)?;
        Ok(Found {
            object,
            spelling: Some(spelt),
        })
    }
}

/// Whether a path is the directory that all clients have in common.
pub fn is_clients(path: &[u8]) -> bool {
    path.eq_ignore_ascii_case(CLIENTS.as_bytes())
}

/// Refuses to change what the run has not made: anything that is not below
/// `clients`, and the file in there that says whose it is.
pub fn check_own(path: &[u8]) -> NfsResult<()> {
    let mut components = path.split(|byte| *byte == b'/');
    let is_below = components.next().is_some_and(is_clients);
    match components.next() {
        Some(name) if is_below && !name.eq_ignore_ascii_case(MARKER.as_bytes()) => Ok(()),
        _ => Err(Failure::refused(Cause::Denied)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_clients_may_be_changed() {
        for own in ["clients/client0", "CLIENTS/CLIENT3/a/b", "clients/x"] {
            assert!(check_own(own.as_bytes()).is_ok(), "{own}");
        }
        for other in [
            "",
            "clients",
            "clients/.filestone",
            "client",
            "clients2/a",
            "a/clients/b",
            "home/file",
        ] {
            assert!(check_own(other.as_bytes()).is_err(), "{other}");
        }
    }
}
