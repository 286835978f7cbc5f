//! The lines of CIFS loads as requests of SMB2, verb by verb (docs/reference/lowering.md).
//!
//! A client works below `clients` of the directory under test; everything else in it is only read.

use super::connection_setup::ConnectionSetup;
use super::handle_policy::HandlePolicy;
use super::link::SmbCallHandle;
use super::open_contexts::OpenContexts;
use super::open_file::SmbOpenFile;
use super::requests::{
    ALL_OF_FILE, ATTRIBUTES, CreateParams, CreateResult, LISTING, READING, WRITING,
};
use super::trees::Removal;
use crate::client::actor::{ActorTaskKind, TaskEnd, ended, next_task};
use crate::client::call_slot::{ActionError, ActionResult};
use crate::client::open_files::{Extent, OpenFiles, transferred};
use crate::client::own_paths::{below_clients, check_own, is_clients, is_own};
use crate::client::owned_action::OwnedAction;
use crate::session::smb2::Scope;
use filestone_plan::made::MadeNames;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions, ShareAccess};
use filestone_wire::smb2::info::{FileBasicInformation, FileInfoClass, FsInfoClass, InfoClass};
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::{self, AccessMask, FileAttributes, FileId, FileTime};
use filestone_workload::load::action::{Disposition, OPTION_DIRECTORY, OpenMode};
use filestone_workload::load::{ActionStatus, CLIENTS, Cause, LoadAction, MARKER};
use filestone_workload::output::DataRange;
use std::sync::Arc;

/// Options of a client of a load.
#[derive(Debug, Clone)]
pub struct ShareLoadOptions {
    /// The client number.
    pub client: u32,
    /// The directory under test, from the share's root.
    pub root: Box<str>,
    /// Path of the run's `clients`.
    pub clients: Box<str>,
    /// Maximum size of one READ and of one WRITE.
    pub transfers: ShareTransfers,
    /// Oplock, lease and durable-handle settings.
    pub keeping: HandlePolicy,
    /// The names that the run can create; only these are removed.
    pub made: Arc<MadeNames>,
    /// The client's connection setup.
    pub way: Arc<ConnectionSetup>,
    /// Number of retries of a line whose connection was lost: open files are reopened before, and
    /// locked again.
    pub retries: u32,
}

/// Maximum bytes of one READ and of one WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareTransfers {
    /// Maximum of a READ.
    pub read: u32,
    /// Maximum of a WRITE.
    pub write: u32,
}

/// Executes the lines of one client, with its state.
struct Lines {
    link: SmbCallHandle,
    options: ShareLoadOptions,
    open: OpenFiles<SmbOpenFile>,
    /// Number of session losses at the last check of the open files.
    losses: u32,
    moved: u64,
    /// Reusable memory of paths.
    path: String,
    other: String,
}

/// Executes tasks forever.
pub(super) async fn replay(link: SmbCallHandle, options: ShareLoadOptions) {
    let mut lines = Lines {
        link,
        options,
        open: OpenFiles::default(),
        losses: 0,
        moved: 0,
        path: String::new(),
        other: String::new(),
    };
    let mut kept = OwnedAction::default();
    loop {
        let task = next_task(&mut kept).await;
        lines.moved = 0;
        let answer = match task {
            ActorTaskKind::Action => lines.execute(kept.action()).await,
            ActorTaskKind::EndPass => lines.end_pass().await,
            ActorTaskKind::RemoveTree => lines.remove_own_tree().await,
            ActorTaskKind::Leave => lines.leave().await,
            // Clients of a load execute only lines.
            ActorTaskKind::Operation(_) => Err(ActionError::refused(Cause::Other)),
        };
        ended(TaskEnd::plain(answer, lines.moved));
    }
}

/// Returns the directory of a name, and the name.
fn split(path: &[u8]) -> Split<'_> {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => Split {
            parent: path.get(..slash).unwrap_or_default(),
            name: path.get(slash + 1..).unwrap_or_default(),
        },
        None => Split {
            parent: b"",
            name: path,
        },
    }
}

struct Split<'p> {
    parent: &'p [u8],
    name: &'p [u8],
}

const fn disposition(disposition: Disposition) -> CreateDisposition {
    match disposition {
        Disposition::Supersede => CreateDisposition::SUPERSEDE,
        Disposition::Open | Disposition::OpenToRead => CreateDisposition::OPEN,
        Disposition::Create => CreateDisposition::CREATE,
        Disposition::OpenIf => CreateDisposition::OPEN_IF,
        Disposition::Overwrite => CreateDisposition::OVERWRITE,
        Disposition::OverwriteIf => CreateDisposition::OVERWRITE_IF,
    }
}

/// Returns the access mask of an open by path.
fn access_of(mode: OpenMode) -> AccessMask {
    match (mode.reads, mode.writes) {
        (true, true) => ALL_OF_FILE,
        (false, true) => WRITING,
        (_, false) => READING,
    }
}

fn disposition_of(mode: OpenMode) -> CreateDisposition {
    if mode.is_exclusive {
        CreateDisposition::CREATE
    } else {
        match (mode.creates, mode.cuts) {
            (true, true) => CreateDisposition::OVERWRITE_IF,
            (true, false) => CreateDisposition::OPEN_IF,
            (false, true) => CreateDisposition::OVERWRITE,
            (false, false) => CreateDisposition::OPEN,
        }
    }
}

/// Share access of libsmbclient's opens, DENY_NONE: others may read and write, not delete.
const SHARED_BY_PATH: ShareAccess = ShareAccess(ShareAccess::READ.0 | ShareAccess::WRITE.0);

/// Returns the class of information for a level of SMB1 (MS-CIFS, section 2.2.2.3): levels from
/// 1000 on are classes already.
fn class_of(level: u64) -> FileInfoClass {
    match level {
        0x101 => FileInfoClass::BASIC,
        0x102 => FileInfoClass::STANDARD,
        0x103 => FileInfoClass::EA,
        0x107 => FileInfoClass::ALL,
        1000..=1255 => FileInfoClass((level - 1000) as u8),
        _ => FileInfoClass::ALL,
    }
}

/// Returns the class of file-system information for a level of SMB1.
fn class_of_file_system(level: u64) -> FsInfoClass {
    match level {
        0x102 => FsInfoClass::VOLUME,
        0x104 => FsInfoClass::DEVICE,
        0x105 => FsInfoClass::ATTRIBUTE,
        1000..=1255 => FsInfoClass((level - 1000) as u8),
        _ => FsInfoClass::SIZE,
    }
}

/// Returns the CREATE options that a load may use, without those of SMB1 that SMB2 refuses.
fn options_of(options: u64) -> CreateOptions {
    let known = CreateOptions::DIRECTORY_FILE
        .with(CreateOptions::WRITE_THROUGH)
        .with(CreateOptions::SEQUENTIAL_ONLY)
        .with(CreateOptions::NON_DIRECTORY_FILE)
        .with(CreateOptions::RANDOM_ACCESS)
        .with(CreateOptions::DELETE_ON_CLOSE);
    CreateOptions(options as u32 & known.0)
}

/// Access to list a directory and to set its times, as archive extractors do.
const OWN_DIRECTORY: AccessMask = LISTING.with(AccessMask::WRITE_ATTRIBUTES);
const LOCKED: LockFlags = LockFlags(LockFlags::EXCLUSIVE_LOCK.0 | LockFlags::FAIL_IMMEDIATELY.0);

impl Lines {
    /// Executes one line, again if the connection was lost during it.
    async fn execute(&mut self, action: LoadAction<'_>) -> ActionResult<ActionStatus> {
        let (mut left, mut is_doubtful) = (self.options.retries, false);
        loop {
            self.moved = 0;
            match self.attempt(action, is_doubtful).await {
                Err(ActionError::ConnectionReset) if left > 0 => {
                    (left, is_doubtful) = (left - 1, true)
                }
                Err(ActionError::ConnectionReset) => return Err(ActionError::ClientFailed),
                answer => return answer,
            }
        }
    }

    /// Executes one line, after reopening the files it needs: the connection may have been lost
    /// since the last line, or during an earlier attempt at this one, so that it is unknown whether
    /// the line was executed.
    async fn attempt(
        &mut self,
        action: LoadAction<'_>,
        is_doubtful: bool,
    ) -> ActionResult<ActionStatus> {
        let losses = self.options.way.losses();
        if self.losses != losses {
            self.reopen(losses).await?;
            self.losses = losses;
        }
        if is_doubtful {
            self.settle(action).await?;
        }
        self.answer(action).await
    }

    /// Settles the state of a lock before LOCK or UNLOCK is repeated. A durable handle keeps the
    /// locks that it had: the lock may already be held, or already be released. Therefore the
    /// opposite request is sent first, and its status is ignored.
    async fn settle(&self, action: LoadAction<'_>) -> ActionResult<()> {
        let (number, offset, length, flags) = match action {
            LoadAction::LockX {
                handle,
                offset,
                len,
            } => (handle, offset, len, LockFlags::UNLOCK),
            LoadAction::UnlockX {
                handle,
                offset,
                len,
            } => (handle, offset, len, LOCKED),
            _ => return Ok(()),
        };
        let file = self.open.get(number).filter(|file| file.outlives.is_some());
        let Some(file) = file else {
            return Ok(());
        };
        let range = LockElement {
            offset,
            length,
            flags,
        };
        match self.link.lock(file.file_id, range).await {
            Err(ActionError::Status(_)) => Ok(()),
            settled => settled,
        }
    }

    /// Reclaims durable handles from a lost connection; opens other files again, and repeats their
    /// locks.
    async fn reopen(&mut self, losses: u32) -> ActionResult<()> {
        for number in self.open.numbers() {
            let Some(file) = self.open.get(number).filter(|file| file.losses != losses) else {
                continue;
            };
            let (file_id, outlives) = match self.reclaim(file).await? {
                Some(file_id) => (file_id, file.outlives),
                None => self.open_anew(file).await?,
            };
            if let Ok(file) = self.open.find(number) {
                (file.file_id, file.outlives, file.losses) = (file_id, outlives, losses);
            }
        }
        Ok(())
    }

    /// Reclaims a durable handle, with its locks.
    async fn reclaim(&self, file: &SmbOpenFile) -> ActionResult<Option<FileId>> {
        let Some(asking) = file.outlives else {
            return Ok(None);
        };
        let (keeping, opening) = (&self.options.keeping, file.opening().asking(asking));
        keeping.reclaim(self.link, &opening, file.file_id).await
    }

    async fn open_anew(&self, file: &SmbOpenFile) -> ActionResult<(FileId, Option<OpenContexts>)> {
        let asking = self.asking_to_stay(&file.path, file.options);
        let opening = file.opening().asking(asking);
        let opened = self.options.keeping.open(self.link, &opening).await?;
        for lock in &file.locks {
            let range = LockElement {
                offset: lock.offset,
                length: lock.len,
                flags: LOCKED,
            };
            self.link.lock(opened.file_id, range).await?;
        }
        Ok((opened.file_id, opened.is_durable.then_some(asking)))
    }

    /// Returns the create contexts of an open. Directories do not get durable handles.
    fn asking_to_stay(&self, path: &str, options: CreateOptions) -> OpenContexts {
        let (keeping, dialect) = (&self.options.keeping, self.options.way.dialect());
        if options.contains(CreateOptions::DIRECTORY_FILE) {
            keeping.asking(dialect, path)
        } else {
            keeping.asking_to_stay(dialect, path)
        }
    }

    // One line per verb where it fits, as in the table of the documentation.
    #[rustfmt::skip]
    async fn answer(&mut self, action: LoadAction<'_>) -> ActionResult<ActionStatus> {
        match action {
            LoadAction::NtCreateX { path, options, disposition, handle } => {
                self.nt_create_x(path, options, disposition, handle).await
            }
            LoadAction::Open { path, mode, handle } => self.open_by_path(path, mode, handle).await,
            LoadAction::OpenX { path, len, handle } => self.open_x(path, len, handle).await,
            LoadAction::Close { handle } => self.close(handle).await,
            LoadAction::ReadX { handle, offset, len, expected_len } => {
                self.read_x(handle, Extent { offset, len }, expected_len).await
            }
            LoadAction::WriteX { handle, offset, len, expected_len } => {
                self.write_x(handle, Extent { offset, len }, expected_len).await
            }
            LoadAction::Flush { handle } => {
                let file_id = self.open.find(handle)?.file_id;
                self.link.flush(file_id).await.map(done)
            }
            LoadAction::LockX { handle, offset, len } => self.lock(handle, Extent { offset, len }).await,
            LoadAction::UnlockX { handle, offset, len } => self.unlock(handle, Extent { offset, len }).await,
            LoadAction::Unlink { path } => self.remove(path, CreateOptions::NON_DIRECTORY_FILE).await,
            LoadAction::Mkdir { path } => self.make_directory(path).await,
            LoadAction::Rmdir { path } => self.remove_directory(path).await,
            LoadAction::Rename { from, to } => self.rename(from, to).await,
            LoadAction::Deltree { path } => self.deltree(path).await,
            LoadAction::FindFirst { pattern, .. } => self.find_first(pattern).await,
            LoadAction::ReadDirectoryPlus { path } => self.read_directory(path).await,
            LoadAction::QueryPathInformation { path, level } => self.query_path(path, level).await,
            LoadAction::QueryFileInformation { handle, level } => {
                let file_id = self.open.find(handle)?.file_id;
                self.link.query(file_id, InfoClass::File(class_of(level))).await.map(done)
            }
            LoadAction::SetFileInformation { handle, .. } => self.set_file(handle).await,
            LoadAction::QueryFsInformation { level } => {
                self.link.query_file_system(class_of_file_system(level)).await.map(done)
            }
            // Refused before the run.
            filestone_workload::only_in_nfs_loads!() => Err(ActionError::refused(Cause::Other)),
        }
    }

    /// Stores the share path of a load's path in `path`.
    fn place(&mut self, path: &[u8]) -> ActionResult<()> {
        self.path.clear();
        let (start, rest) = match path.split_at_checked(CLIENTS.len()) {
            Some((first, rest))
                if is_clients(first) && matches!(rest.first(), None | Some(b'/')) =>
            {
                (&*self.options.clients, rest.get(1..).unwrap_or_default())
            }
            _ => (&*self.options.root, path),
        };
        self.path.push_str(start);
        if rest.is_empty() {
            return Ok(());
        }
        if !self.path.is_empty() {
            self.path.push('\\');
        }
        let rest = str::from_utf8(rest).map_err(|_| ActionError::refused(Cause::NotFound))?;
        self.path
            .extend(rest.chars().map(|c| if c == '/' { '\\' } else { c }));
        Ok(())
    }

    async fn nt_create_x(
        &mut self,
        path: &[u8],
        options: u64,
        how: Disposition,
        number: u64,
    ) -> ActionResult<ActionStatus> {
        self.place(path)?;
        let is_directory = options & OPTION_DIRECTORY != 0;
        let is_own = is_own(path) && how != Disposition::OpenToRead;
        // Outside of `clients`, files are only opened for reading.
        if !is_own
            && !matches!(
                how,
                Disposition::Open | Disposition::OpenToRead | Disposition::OpenIf
            )
        {
            return Err(ActionError::refused(Cause::Denied));
        }
        let access = match (is_own, is_directory) {
            (true, false) => ALL_OF_FILE,
            (true, true) => OWN_DIRECTORY,
            (false, _) => LISTING,
        };
        let disposition = if is_own {
            disposition(how)
        } else {
            CreateDisposition::OPEN
        };
        let options = options_of(options);
        let place = std::mem::take(&mut self.path);
        let opening = CreateParams::existing(&place, access)
            .by(disposition)
            .with(options)
            .asking(self.asking_to_stay(&place, options));
        let opened = self.options.keeping.open(self.link, &opening).await;
        let kept = match opened {
            Ok(opened) => self.keep(number, opened, &opening, is_own).await,
            Err(failure) => Err(failure),
        };
        self.path = place;
        kept
    }

    /// Stores an open file. A previous file under this number has lost its Close and is released.
    async fn keep(
        &mut self,
        number: u64,
        opened: CreateResult,
        opening: &CreateParams<'_>,
        is_own: bool,
    ) -> ActionResult<ActionStatus> {
        let file = SmbOpenFile {
            file_id: opened.file_id,
            outlives: opened.is_durable.then_some(opening.asking),
            losses: self.options.way.losses(),
            path: opening.path.into(),
            access: opening.access,
            options: opening.options,
            sharing: opening.sharing,
            is_own,
            locks: Vec::new(),
        };
        if let Some(before) = self.open.insert(number, file) {
            self.link.close(before.file_id).await?;
        }
        Ok(ActionStatus::Ok)
    }

    /// Executes the OPEN of loads that name files by path, as libsmbclient opens: a file that no
    /// other client may remove while it is open.
    async fn open_by_path(
        &mut self,
        path: &[u8],
        mode: OpenMode,
        number: u64,
    ) -> ActionResult<ActionStatus> {
        self.place(path)?;
        let changes = mode.writes || mode.creates || mode.cuts;
        if changes {
            check_own(path)?;
        }
        let mut options = CreateOptions::NON_DIRECTORY_FILE;
        if mode.is_stable {
            options = options.with(CreateOptions::WRITE_THROUGH);
        }
        let place = std::mem::take(&mut self.path);
        let opening = CreateParams::existing(&place, access_of(mode))
            .by(disposition_of(mode))
            .with(options)
            .sharing(SHARED_BY_PATH)
            .asking(self.asking_to_stay(&place, options));
        let kept = match self.options.keeping.open(self.link, &opening).await {
            // The server refuses access beyond that of the open.
            Ok(opened) => self.keep(number, opened, &opening, is_own(path)).await,
            Err(failure) => Err(failure),
        };
        self.path = place;
        kept
    }

    /// Lists a whole directory, with the attributes of its entries.
    async fn read_directory(&mut self, path: &[u8]) -> ActionResult<ActionStatus> {
        self.place(path)?;
        let place = std::mem::take(&mut self.path);
        let page = self.page_len();
        let listed = self.link.each_entry(&place, page, |_| false).await;
        self.path = place;
        listed.map(done)
    }

    /// Executes dbench 1's open: creates a missing file and extends it to a length by writing the
    /// missing data.
    async fn open_x(&mut self, path: &[u8], len: u64, number: u64) -> ActionResult<ActionStatus> {
        self.place(path)?;
        let is_own = is_own(path);
        let place = std::mem::take(&mut self.path);
        let opening = CreateParams::existing(&place, if is_own { ALL_OF_FILE } else { LISTING })
            .by(if is_own {
                CreateDisposition::OPEN_IF
            } else {
                CreateDisposition::OPEN
            })
            .with(CreateOptions::NON_DIRECTORY_FILE)
            .asking(self.asking_to_stay(&place, CreateOptions::NON_DIRECTORY_FILE));
        let opened = self.options.keeping.open(self.link, &opening).await?;
        self.keep(number, opened, &opening, is_own).await?;
        self.path = place;
        if opened.len > len {
            check_own(path)?;
            self.link.set_len(opened.file_id, len).await?;
        } else if opened.len < len {
            check_own(path)?;
            let missing = Extent {
                offset: opened.len,
                len: len - opened.len,
            };
            self.write_out(opened.file_id, missing).await?;
        }
        Ok(ActionStatus::Ok)
    }

    async fn close(&mut self, number: u64) -> ActionResult<ActionStatus> {
        let file_id = self.open.find(number)?.file_id;
        let closed = self.link.close(file_id).await;
        if closed != Err(ActionError::ConnectionReset) {
            self.open.remove(number)?;
        }
        closed.map(done)
    }

    async fn read_x(
        &mut self,
        number: u64,
        extent: Extent,
        expected: u64,
    ) -> ActionResult<ActionStatus> {
        extent.check()?;
        let file_id = self.open.find(number)?.file_id;
        let most = self.options.transfers.read;
        let mut got = 0;
        loop {
            let asked = extent.piece(got, most);
            let count = self.link.read(file_id, extent.offset + got, asked).await?;
            got += u64::from(count);
            self.moved += u64::from(count);
            // A READ is short only at the end of the file (MS-SMB2, section 3.3.5.12).
            if got >= extent.len || count < asked {
                return Ok(transferred(expected, got));
            }
            self.link.check_cancelled()?;
        }
    }

    async fn write_x(
        &mut self,
        number: u64,
        extent: Extent,
        expected: u64,
    ) -> ActionResult<ActionStatus> {
        let file = self.open.find_own(number)?;
        let file_id = file.file_id;
        self.write_out(file_id, extent).await?;
        Ok(transferred(expected, extent.len))
    }

    async fn write_out(&mut self, file_id: FileId, extent: Extent) -> ActionResult<()> {
        extent.check()?;
        let most = self.options.transfers.write;
        let mut written = 0;
        loop {
            let data = DataRange {
                at: written,
                len: extent.piece(written, most),
            };
            let offset = extent.offset + written;
            let count = self.link.write(file_id, offset, data, false).await?;
            written += u64::from(count);
            self.moved += u64::from(count);
            if written >= extent.len {
                return Ok(());
            }
            self.link.check_cancelled()?;
        }
    }

    async fn lock(&mut self, number: u64, extent: Extent) -> ActionResult<ActionStatus> {
        let file_id = self.open.find(number)?.file_id;
        let range = LockElement {
            offset: extent.offset,
            length: extent.len,
            flags: LOCKED,
        };
        self.link.lock(file_id, range).await?;
        self.open.find(number)?.locks.push(extent);
        Ok(ActionStatus::Ok)
    }

    async fn unlock(&mut self, number: u64, extent: Extent) -> ActionResult<ActionStatus> {
        let file_id = self.open.find(number)?.file_id;
        let range = LockElement {
            offset: extent.offset,
            length: extent.len,
            flags: LockFlags::UNLOCK,
        };
        self.link.lock(file_id, range).await?;
        let file = self.open.find(number)?;
        file.locks.retain(|lock| *lock != extent);
        Ok(ActionStatus::Ok)
    }

    async fn remove(&mut self, path: &[u8], options: CreateOptions) -> ActionResult<ActionStatus> {
        check_own(path)?;
        self.place(path)?;
        self.link.remove(&self.path, options).await.map(done)
    }

    /// `clients` was created at the start of the run; its existence is success for the load.
    async fn make_directory(&mut self, path: &[u8]) -> ActionResult<ActionStatus> {
        if is_clients(path) {
            return Ok(ActionStatus::Ok);
        }
        check_own(path)?;
        self.place(path)?;
        let opening = CreateParams::existing(&self.path, LISTING)
            .by(CreateDisposition::CREATE)
            .with(CreateOptions::DIRECTORY_FILE);
        self.link.touch(&opening).await.map(|_| ActionStatus::Ok)
    }

    /// `clients` belongs to the run and stays. A load that removes it sees it as empty when no
    /// client has an entry in it.
    async fn remove_directory(&mut self, path: &[u8]) -> ActionResult<ActionStatus> {
        if !is_clients(path) {
            return self.remove(path, CreateOptions::DIRECTORY_FILE).await;
        }
        let clients = self.options.clients.clone();
        let mut is_empty = true;
        let page = self.page_len();
        let listed = self.link.each_entry(&clients, page, |entry| {
            is_empty &= entry.name.eq_ignore_ascii_case(MARKER);
            !is_empty
        });
        listed.await?;
        if is_empty {
            Ok(ActionStatus::Ok)
        } else {
            Err(smb2::Status::DIRECTORY_NOT_EMPTY.into())
        }
    }

    async fn rename(&mut self, from: &[u8], to: &[u8]) -> ActionResult<ActionStatus> {
        check_own(from)?;
        check_own(to)?;
        self.place(from)?;
        std::mem::swap(&mut self.path, &mut self.other);
        self.place(to)?;
        // Replaces an existing target, as rename(2) and all other layers do.
        self.link
            .rename(&self.other, &self.path, true)
            .await
            .map(done)
    }

    async fn query_path(&mut self, path: &[u8], level: u64) -> ActionResult<ActionStatus> {
        self.place(path)?;
        let opening = CreateParams::existing(&self.path, ATTRIBUTES);
        let class = InfoClass::File(class_of(level));
        let queried = self.link.query_path(&opening, class).await;
        queried.map(|_| ActionStatus::Ok)
    }

    async fn find_first(&mut self, path: &[u8]) -> ActionResult<ActionStatus> {
        let Split { parent, name } = split(path);
        self.place(parent)?;
        let name = str::from_utf8(name).map_err(|_| ActionError::refused(Cause::NotFound))?;
        // The whole directory, as every other layer treats a pattern without a name.
        let pattern = if name.is_empty() { "*" } else { name };
        let page = self.page_len();
        let found = self.link.find(&self.path, pattern, page).await;
        found.map(|_| ActionStatus::Ok)
    }

    async fn set_file(&mut self, number: u64) -> ActionResult<ActionStatus> {
        let file_id = self.open.find_own(number)?.file_id;
        // Times stay unchanged: the purpose is the request.
        let information = FileBasicInformation {
            creation_time: FileTime::default(),
            last_access_time: FileTime::default(),
            last_write_time: FileTime::default(),
            change_time: FileTime::default(),
            file_attributes: FileAttributes::NORMAL,
        };
        let class = FileInfoClass::BASIC;
        self.link.set(file_id, class, &information).await.map(done)
    }

    /// Removes a whole tree; succeeds also if there is no such tree. Objects that no run of this
    /// load creates stay, and with them the tree.
    async fn deltree(&mut self, path: &[u8]) -> ActionResult<ActionStatus> {
        let own = is_clients(path).then(|| format!("{CLIENTS}/client{}", self.options.client));
        let path = own.as_deref().map_or(path, str::as_bytes);
        check_own(path)?;
        self.place(path)?;
        let below = String::from_utf8_lossy(below_clients(path)).into_owned();
        let removed = self.link.remove_tree(&self.path, &below, self.removal());
        if removed.await?.is_empty() {
            Ok(ActionStatus::Ok)
        } else {
            Err(smb2::Status::DIRECTORY_NOT_EMPTY.into())
        }
    }

    /// Returns the size of a directory page, as the server allows.
    fn page_len(&self) -> u32 {
        self.options.way.limits().largest_page()
    }

    fn removal(&self) -> Removal<'_> {
        Removal {
            made: &self.options.made,
            page: self.page_len(),
        }
    }

    /// Closes the files that an iteration left open.
    async fn end_pass(&mut self) -> ActionResult<ActionStatus> {
        for mut file in self.open.take_all() {
            match self.release(&mut file).await {
                // The open file was lost with its connection, or a reclaimed handle lost its
                // connection again.
                Ok(()) | Err(ActionError::Status(_) | ActionError::ConnectionReset) => {}
                Err(ActionError::ClientFailed) => return Err(ActionError::ClientFailed),
            }
        }
        Ok(ActionStatus::Ok)
    }

    /// Closes a file; a durable handle from a lost connection is reclaimed first, since other
    /// clients may not open the file until the server has released it.
    async fn release(&self, file: &mut SmbOpenFile) -> ActionResult<()> {
        loop {
            let losses = self.options.way.losses();
            if file.losses != losses && file.outlives.is_some() {
                match self.reclaim(file).await? {
                    Some(file_id) => (file.file_id, file.losses) = (file_id, losses),
                    None => return Ok(()),
                }
            }
            match self.link.close(file.file_id).await {
                Err(ActionError::ConnectionReset) if file.outlives.is_some() => {}
                closed => return closed,
            }
        }
    }

    /// Removes this client's tree. The end of the run reports what stays.
    async fn remove_own_tree(&mut self) -> ActionResult<ActionStatus> {
        let own = format!("client{}", self.options.client);
        let path = format!("{}\\{own}", self.options.clients);
        let removed = self.link.remove_tree(&path, &own, self.removal());
        removed.await.map(|_| ActionStatus::Ok)
    }

    async fn leave(&mut self) -> ActionResult<ActionStatus> {
        self.end_pass().await?;
        for left in [
            self.link.tree_disconnect(Scope::Tree).await,
            self.link.log_off(Scope::Session).await,
        ] {
            if matches!(
                left,
                Err(ActionError::ClientFailed | ActionError::ConnectionReset)
            ) {
                return Err(ActionError::ClientFailed);
            }
        }
        Ok(ActionStatus::Ok)
    }
}

const fn done((): ()) -> ActionStatus {
    ActionStatus::Ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_smb1_are_classes_of_information() {
        for (level, class) in [
            (1004, FileInfoClass::BASIC),
            (1005, FileInfoClass::STANDARD),
            (1034, FileInfoClass::NETWORK_OPEN),
            (0x102, FileInfoClass::STANDARD),
            (0x107, FileInfoClass::ALL),
            (7, FileInfoClass::ALL),
        ] {
            assert_eq!(class_of(level), class, "{level}");
        }
        assert_eq!(class_of_file_system(0x103), FsInfoClass::SIZE);
        assert_eq!(class_of_file_system(1007), FsInfoClass::FULL_SIZE);
    }
}
