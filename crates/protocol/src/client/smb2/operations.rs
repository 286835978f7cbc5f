//! Operations of probes and mixes as SMB2 requests.
//!
//! | operation | requests |
//! |---|---|
//! | Null | ECHO |
//! | GetAttr, SetAttr | QUERY_INFO, SET_INFO on a held open, or with CREATE and CLOSE around them |
//! | Lookup, Access, Create, MakeDirectory | CREATE and CLOSE |
//! | Read, Write, Commit | READ, WRITE, FLUSH on a held open, or with CREATE and CLOSE around them |
//! | Remove, RemoveDirectory, Rename, Link | CREATE, SET_INFO and CLOSE |
//! | ReadDirectory, ReadDirectoryPlus | QUERY_DIRECTORY, with CREATE before the first page |
//! | FileSystemStatus, FileSystemInfo | CREATE, QUERY_INFO and CLOSE |
//! | Open, Close, Lock, Unlock | CREATE, CLOSE, LOCK |
//! | SessionSetup | SESSION_SETUP as often as required, LOGOFF |
//! | TreeConnect | TREE_CONNECT, TREE_DISCONNECT |
//! | Notify | CHANGE_NOTIFY, and the reported change: CREATE or CLOSE of a delete-on-close file |
//! | Copy | IOCTL on a held open, as often as required |

mod client_state;
mod data;

pub use client_state::{ClientState, HeldFile, WATCHES_TAKE_NANOS};

use super::connect_options::ConnectError;
use super::connection_setup::log_on_and_off;
use super::copy::CopyBuffers;
use super::handle_policy::HandlePolicy;
use super::link::SmbCallHandle;
use super::link::is;
use super::open_contexts::OpenContexts;
use super::open_table::{HandleState, OpenKey, SmbHandle};
use super::requests::{ALL_OF_FILE, ATTRIBUTES, CreateParams, CreateResult, DirEntry, LISTING};
use crate::client::Unsupported;
use crate::client::actor::{ActorTaskKind, TaskEnd, ended, next_task};
use crate::client::call_slot::{ActionError, ActionResult};
use crate::client::handles::ServerHandles;
use crate::client::owned_action::OwnedAction;
use crate::session::smb2::Scope;
use crate::workload::FileTable;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_wire::smb2::info::{
    FileBasicInformation, FileEndOfFileInformation, FileInfoClass, FsInfoClass, InfoClass,
};
use filestone_wire::smb2::lock::{LockElement, LockFlags};
use filestone_wire::smb2::{self, AccessMask, FileAttributes, FileTime};
use filestone_workload::kind::OpKind;
use filestone_workload::load::{ActionStatus, Cause};
use filestone_workload::only_in_probes;
use filestone_workload::operation::{
    AttributeChange, DirectoryCursor, FileId, ObjectName, OpenAccess, OpenId, Operation,
    ReplyFault, ReplyInfo,
};
use filestone_workload::output::DataRange;
use filestone_workload::page_guard::{PageGuard, PageNames};
use std::sync::Arc;

/// A path from the share's root, with `\` between names.
pub type SharePath = Arc<str>;

/// Files of a run on a share.
#[derive(Debug)]
pub struct ShareFiles {
    /// The files.
    pub table: Arc<FileTable>,
    /// Paths of the files.
    pub paths: ServerHandles<SharePath>,
}

/// Options of operations.
#[derive(Debug, Clone)]
pub struct OperationOptions {
    /// The files.
    pub files: Arc<ShareFiles>,
    /// Whether files stay open after the first open: then an operation is a single request.
    pub holds_files: bool,
    /// Oplock, lease and durable-handle settings.
    pub keeping: HandlePolicy,
}

/// Returns an error with the reason if SMB2 has no operation of this kind.
pub fn supports(kind: OpKind) -> Result<(), Unsupported> {
    let refused = |why: &str| Err(Unsupported(format!("SMB2 has no {}: {why}", kind.name())));
    match kind {
        OpKind::ReadLink | OpKind::SymLink => {
            refused("links of its own kind are rare, and none are made here")
        }
        OpKind::MkNod => refused("a share has files and directories"),
        OpKind::PathConf => refused("see fsinfo"),
        OpKind::LockX
        | OpKind::UnlockX
        | OpKind::ReadX
        | OpKind::WriteX
        | OpKind::NtCreateX
        | OpKind::OpenX
        | OpKind::Flush
        | OpKind::Unlink
        | OpKind::FindFirst
        | OpKind::SetFileInformation
        | OpKind::QueryFileInformation
        | OpKind::QueryPathInformation
        | OpKind::QueryFsInformation
        | OpKind::Deltree => refused("it is a line of load files; see filestone replay"),
        OpKind::Lock4 | OpKind::Unlock4 | OpKind::Test4 => refused("it is one of NLM"),
        OpKind::Null
        | OpKind::GetAttr
        | OpKind::SetAttr
        | OpKind::Lookup
        | OpKind::Access
        | OpKind::Read
        | OpKind::Write
        | OpKind::Create
        | OpKind::MkDir
        | OpKind::Remove
        | OpKind::RmDir
        | OpKind::Rename
        | OpKind::Link
        | OpKind::ReadDir
        | OpKind::ReadDirPlus
        | OpKind::FsStat
        | OpKind::FsInfo
        | OpKind::Commit
        | OpKind::Open
        | OpKind::Close
        | only_in_probes!() => Ok(()),
    }
}

/// The task executor of one slot of a client.
pub(super) struct SlotTask {
    link: SmbCallHandle,
    options: OperationOptions,
    /// The slot.
    slot: u32,
    client: ClientState,
    /// Number of losses at the last check.
    losses: u32,
    /// The directory being listed.
    listing: Option<Listing>,
    /// The delete-on-close file in the watched directory.
    coming: Option<smb2::FileId>,
    /// Number of losses of a connection during waits for changes, and the directory watched at the
    /// last one, if the session was not lost with it.
    doubts: u32,
    doubtful: Option<smb2::FileId>,
    copying: CopyBuffers,
    /// Reusable memory of paths.
    path: String,
    other: String,
    moved: u64,
    found: ReplyInfo,
    fault: Option<ReplyFault>,
}

#[derive(Debug, Clone, Copy)]
struct Listing {
    directory: FileId,
    open: smb2::FileId,
    /// Number of pages read.
    pages: u64,
    /// Detects repeated pages.
    guard: PageGuard,
}

/// Executes tasks forever.
pub(super) async fn operate(
    link: SmbCallHandle,
    options: OperationOptions,
    slot: u32,
    client: ClientState,
) {
    let mut operating = SlotTask {
        link,
        options,
        slot,
        client,
        losses: 0,
        listing: None,
        coming: None,
        doubts: 0,
        doubtful: None,
        copying: CopyBuffers::default(),
        path: String::new(),
        other: String::new(),
        moved: 0,
        found: ReplyInfo::Plain,
        fault: None,
    };
    let mut kept = OwnedAction::default();
    loop {
        let task = next_task(&mut kept).await;
        operating.see_losses();
        operating.moved = 0;
        operating.found = ReplyInfo::Plain;
        operating.fault = None;
        let answer = match task {
            ActorTaskKind::Operation(operation) => operating.execute(operation).await,
            ActorTaskKind::Leave => operating.say_goodbye().await,
            // Lines are executed only by clients of a load.
            ActorTaskKind::Action | ActorTaskKind::EndPass | ActorTaskKind::RemoveTree => {
                Err(ActionError::refused(Cause::Other))
            }
        };
        ended(TaskEnd {
            answer: answer.map(|()| ActionStatus::Ok),
            moved: operating.moved,
            found: operating.found,
            fault: operating.fault,
        });
    }
}

/// Invalid argument of the workload: no request is sent.
const UNKNOWN: ActionError = ActionError::refused(Cause::Other);

/// Polling interval of a slot that waits for another one to open a file, in nanoseconds.
const LOOK_NANOS: u64 = 2_000_000;

/// Returns the path of the file created and deleted in a watched directory.
fn file_in(directory: &str, doubts: u32) -> String {
    match doubts {
        0 => format!("{directory}\\file"),
        _ => format!("{directory}\\file{doubts}"),
    }
}

/// Appends `\` and a name to a path.
fn join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('\\');
    }
    path.push_str(name);
}

impl SlotTask {
    /// Drops the opens of a lost connection, in whichever slot the loss was seen.
    fn see_losses(&mut self) {
        let losses = self.client.way.losses();
        if losses != self.losses {
            self.losses = losses;
            self.listing = None;
            self.coming = None;
            self.doubtful = None;
            self.client.opens.see_losses(losses);
        }
    }

    async fn execute(&mut self, operation: Operation) -> ActionResult<()> {
        match operation {
            Operation::Null => self.link.echo().await,
            Operation::GetAttr { file } => self.attributes(file).await,
            Operation::SetAttr { file, change } => self.change(file, change).await,
            Operation::Lookup { directory, name } => {
                self.look_up(directory, name, ATTRIBUTES).await
            }
            Operation::Access { file, .. } => self.access(file).await,
            Operation::Read { file, offset, len } => self.read(file, offset, len).await,
            Operation::Write {
                file,
                offset,
                len,
                stability,
            } => {
                self.write(file, DataRange { at: offset, len }, stability)
                    .await
            }
            Operation::Create { directory, name } => self.make(directory, name, FILE).await,
            Operation::MakeDirectory { directory, name } => {
                self.make(directory, name, DIRECTORY).await
            }
            Operation::Remove { directory, name } => self.remove(directory, name, FILE).await,
            Operation::RemoveDirectory { directory, name } => {
                self.remove(directory, name, DIRECTORY).await
            }
            Operation::Rename { .. } => self.rename(operation).await,
            Operation::Link {
                file,
                directory,
                name,
            } => self.link_to(file, directory, name).await,
            Operation::ReadDirectory {
                directory,
                cursor,
                len,
            }
            | Operation::ReadDirectoryPlus {
                directory,
                cursor,
                len,
            } => self.list(directory, cursor, len).await,
            Operation::FileSystemStatus { .. } => {
                self.link.query_file_system(FsInfoClass::FULL_SIZE).await
            }
            Operation::FileSystemInfo { .. } => {
                self.link.query_file_system(FsInfoClass::ATTRIBUTE).await
            }
            Operation::Commit { file, .. } => self.flush(file).await,
            Operation::Open { file, open, access } => self.open_as(open, file, access).await,
            Operation::Close { open } => self.close(open).await,
            #[rustfmt::skip]
            Operation::Lock { open, offset, len, is_exclusive } => {
                self.lock(open, offset, len, how_to_lock(is_exclusive)).await
            },
            Operation::Unlock { open, offset, len } => {
                self.lock(open, offset, len, LockFlags::UNLOCK).await
            }
            Operation::SessionSetup => self.log_on_and_off().await,
            Operation::TreeConnect => self.connect_tree().await,
            Operation::Notify { directory } => self.be_notified(directory).await,
            Operation::Copy { .. } => self.copy(operation).await,
            // Refused before the run.
            Operation::ReadLink { .. }
            | Operation::MakeSymlink { .. }
            | Operation::MakeNode { .. }
            | Operation::PathConfiguration { .. } => Err(UNKNOWN),
        }
    }

    async fn rename(&mut self, operation: Operation) -> ActionResult<()> {
        let Operation::Rename {
            from_directory,
            from,
            to_directory,
            to,
        } = operation
        else {
            return Err(UNKNOWN);
        };
        self.set_path(from_directory, from)?;
        std::mem::swap(&mut self.path, &mut self.other);
        self.set_path(to_directory, to)?;
        self.link.rename(&self.other, &self.path, true).await
    }

    fn path_of(&self, file: FileId) -> ActionResult<&str> {
        let path = self.options.files.paths.get(file);
        path.map(|path| &**path).ok_or(UNKNOWN)
    }

    /// Stores the path of a name in `path`.
    fn set_path(&mut self, directory: FileId, name: ObjectName) -> ActionResult<()> {
        use std::fmt::Write;
        let files = &self.options.files;
        let parent = files.paths.get(directory).ok_or(UNKNOWN)?;
        self.path.clear();
        self.path.push_str(parent);
        match name {
            ObjectName::Listed(index) => {
                let name = files.table.name(index).ok_or(UNKNOWN)?;
                let name = std::str::from_utf8(name).map_err(|_| UNKNOWN)?;
                join(&mut self.path, name);
            }
            ObjectName::Numbered { letter, number } => {
                join(&mut self.path, "");
                let written = write!(self.path, "{}{number:016x}", char::from(letter));
                written.map_err(|_| UNKNOWN)?;
            }
        }
        Ok(())
    }

    async fn look_up(
        &mut self,
        directory: FileId,
        name: ObjectName,
        access: AccessMask,
    ) -> ActionResult<()> {
        self.set_path(directory, name)?;
        let opening = CreateParams::existing(&self.path, access);
        self.link.touch(&opening).await.map(drop)
    }

    async fn open_as(
        &mut self,
        open: OpenId,
        file: FileId,
        access: OpenAccess,
    ) -> ActionResult<()> {
        // A connection was lost, but the session was not: an unknown lock may be held.
        let key = OpenKey::Open(open);
        if let Some(before) = self.present(key).await? {
            self.client.opens.take(key);
            self.close_quietly(before).await?;
        }
        let opened = self.open_to_stay(file, access_of(access)).await?;
        self.client.opens.insert(key, opened);
        Ok(())
    }

    async fn close(&mut self, open: OpenId) -> ActionResult<()> {
        let key = OpenKey::Open(open);
        let file_id = self.present(key).await?.ok_or(self.missing())?;
        self.client.opens.take(key);
        self.link.close(file_id).await
    }

    /// Closes a file that may already be closed.
    async fn close_quietly(&self, file_id: smb2::FileId) -> ActionResult<()> {
        match self.link.close(file_id).await {
            Err(ActionError::Status(_)) | Ok(()) => Ok(()),
            lost => lost,
        }
    }

    async fn access(&mut self, file: FileId) -> ActionResult<()> {
        let opening = CreateParams::existing(self.path_of(file)?, AccessMask::MAXIMUM_ALLOWED);
        self.link.touch(&opening).await.map(drop)
    }

    async fn make(
        &mut self,
        directory: FileId,
        name: ObjectName,
        options: CreateOptions,
    ) -> ActionResult<()> {
        self.set_path(directory, name)?;
        // An existing file is truncated, as by NFS's CREATE.
        let how = if options == DIRECTORY {
            CreateDisposition::CREATE
        } else {
            CreateDisposition::OVERWRITE_IF
        };
        let opening = CreateParams::existing(&self.path, ALL_OF_FILE)
            .by(how)
            .with(options)
            .asking(self.asking(&self.path));
        self.link.touch(&opening).await.map(drop)
    }

    async fn remove(
        &mut self,
        directory: FileId,
        name: ObjectName,
        options: CreateOptions,
    ) -> ActionResult<()> {
        self.set_path(directory, name)?;
        self.link.remove(&self.path, options).await
    }

    async fn link_to(
        &mut self,
        file: FileId,
        directory: FileId,
        name: ObjectName,
    ) -> ActionResult<()> {
        self.set_path(directory, name)?;
        let from = self.path_of(file)?;
        self.link.link(from, &self.path, true).await
    }

    async fn open_file(&self, file: FileId, access: AccessMask) -> ActionResult<CreateResult> {
        let path = self.path_of(file)?;
        let opening = CreateParams::existing(path, access).asking(self.asking(path));
        self.link.open(&opening).await
    }

    /// Returns the create contexts of an open that is closed at once.
    fn asking(&self, path: &str) -> OpenContexts {
        let dialect = self.client.way.dialect();
        self.options.keeping.asking(dialect, path)
    }

    /// Opens a file that stays open.
    async fn open_to_stay(&self, file: FileId, access: AccessMask) -> ActionResult<SmbHandle> {
        let kept = HeldFile {
            file,
            path: self.path_of(file)?,
            access,
            keeping: &self.options.keeping,
        };
        kept.open(self.link, self.client.way.dialect()).await
    }

    /// Returns the open of a key, after reclaiming a durable handle from a lost connection.
    async fn present(&self, key: OpenKey) -> ActionResult<Option<smb2::FileId>> {
        let opens = &self.client.opens;
        loop {
            match opens.lookup(key) {
                None => return Ok(None),
                Some(HandleState::Open(file_id)) => return Ok(Some(file_id)),
                Some(HandleState::Opening) => {
                    self.link.pause(LOOK_NANOS).await?;
                    opens.see_losses(self.client.way.losses());
                }
                Some(HandleState::Disconnected(handle)) => match self.reclaim(handle).await {
                    Ok(Some(file_id)) => opens.insert(key, SmbHandle { file_id, ..handle }),
                    Ok(None) => {
                        opens.take(key);
                    }
                    Err(failure) => {
                        opens.stays_away(key, handle);
                        return Err(failure);
                    }
                },
            }
        }
    }

    /// Returns the error for a missing open.
    const fn missing(&self) -> ActionError {
        match self.losses {
            0 => UNKNOWN,
            // The file was open over a lost connection, perhaps another one of the client.
            _ => ActionError::ConnectionReset,
        }
    }

    async fn reclaim(&self, handle: SmbHandle) -> ActionResult<Option<smb2::FileId>> {
        let (Some(file), Some(asking)) = (handle.file, handle.outlives) else {
            return Ok(None);
        };
        let opening = CreateParams::existing(self.path_of(file)?, ALL_OF_FILE).asking(asking);
        let keeping = &self.options.keeping;
        keeping.reclaim(self.link, &opening, handle.file_id).await
    }

    /// Returns the held open of a file, opening it first if necessary.
    async fn held(&self, file: FileId) -> ActionResult<smb2::FileId> {
        let (key, opens) = (OpenKey::Held(file), &self.client.opens);
        if let Some(held) = self.present(key).await? {
            return Ok(held);
        }
        // A second open would break the first one's oplock, and with it the durability.
        let is_alone = self.options.keeping.is_durable;
        if is_alone {
            opens.expect(key);
        }
        let opened = match self.open_to_stay(file, ALL_OF_FILE).await {
            // Files without write access may be readable.
            Err(failure) if is(failure, smb2::Status::ACCESS_DENIED) => {
                self.open_to_stay(file, LISTING).await
            }
            opened => opened,
        };
        if is_alone && opened.is_err() {
            opens.take(key);
        }
        let opened = opened?;
        // Another slot may have opened it at the same time.
        match opens.hold(file, opened) {
            None => Ok(opened.file_id),
            Some(held) => {
                self.link.close(opened.file_id).await?;
                Ok(held)
            }
        }
    }

    async fn attributes(&mut self, file: FileId) -> ActionResult<()> {
        let class = InfoClass::File(FileInfoClass::NETWORK_OPEN);
        if self.options.holds_files {
            let held = self.held(file).await?;
            return self.link.query(held, class).await;
        }
        let opening = CreateParams::existing(self.path_of(file)?, ATTRIBUTES);
        self.link.query_path(&opening, class).await.map(drop)
    }

    async fn change(&mut self, file: FileId, change: AttributeChange) -> ActionResult<()> {
        let basic = |last_write_time| FileBasicInformation {
            creation_time: FileTime::default(),
            last_access_time: FileTime::default(),
            last_write_time,
            change_time: FileTime::default(),
            file_attributes: FileAttributes::NONE,
        };
        match change {
            AttributeChange::Size(end_of_file) => {
                let length = FileEndOfFileInformation { end_of_file };
                self.set(file, FileInfoClass::END_OF_FILE, &length).await
            }
            // A share has no permission bits: the same request sets an attribute instead.
            AttributeChange::Mode(_) => {
                let information = FileBasicInformation {
                    file_attributes: FileAttributes::ARCHIVE,
                    ..basic(FileTime::default())
                };
                self.set(file, FileInfoClass::BASIC, &information).await
            }
            // There is no "current time of the server": any time is suitable.
            AttributeChange::Touch => {
                let information = basic(TOUCHED);
                self.set(file, FileInfoClass::BASIC, &information).await
            }
        }
    }

    async fn set(
        &mut self,
        file: FileId,
        class: FileInfoClass,
        information: &impl smb2::codec::Encode,
    ) -> ActionResult<()> {
        if self.options.holds_files {
            let held = self.held(file).await?;
            return self.link.set(held, class, information).await;
        }
        let opening = CreateParams::existing(self.path_of(file)?, ALL_OF_FILE);
        self.link.set_at_path(&opening, class, information).await
    }

    /// Lists a page of a directory. The server keeps the position: the cursor only determines
    /// whether the listing restarts.
    async fn list(
        &mut self,
        directory: FileId,
        cursor: DirectoryCursor,
        len: u32,
    ) -> ActionResult<()> {
        let is_first = cursor.cookie == 0;
        let listing = match self.listing {
            Some(listing) if listing.directory == directory => listing,
            other => {
                if let Some(other) = other {
                    self.link.close(other.open).await?;
                }
                self.listing = None;
                let opening = CreateParams::existing(self.path_of(directory)?, LISTING)
                    .with(CreateOptions::DIRECTORY_FILE);
                let open = self.link.open(&opening).await?.file_id;
                Listing {
                    directory,
                    open,
                    pages: 0,
                    guard: PageGuard::default(),
                }
            }
        };
        self.listing = Some(listing);
        let len = self.client.way.limits().page(len);
        let mut names = PageNames::default();
        let look = |entry: DirEntry| names.add(entry.name.as_bytes());
        let page = self.link.list(listing.open, is_first, len, look).await?;
        let (pages, mut guard) = if is_first {
            (1, PageGuard::default())
        } else {
            (listing.pages + 1, listing.guard)
        };
        let leads_on = page.is_last || guard.page(&names).is_ok();
        self.listing = Some(Listing {
            pages,
            guard,
            ..listing
        });
        if !leads_on {
            return Err(UNKNOWN);
        }
        self.found = ReplyInfo::Directory {
            cursor: DirectoryCursor {
                cookie: pages,
                ..DirectoryCursor::default()
            },
            end: page.is_last,
            excess_bytes: 0,
        };
        Ok(())
    }

    async fn lock(
        &mut self,
        open: OpenId,
        offset: u64,
        length: u64,
        flags: LockFlags,
    ) -> ActionResult<()> {
        let file_id = self
            .present(OpenKey::Open(open))
            .await?
            .ok_or(self.missing())?;
        let range = LockElement {
            offset,
            length,
            flags,
        };
        self.link.lock(file_id, range).await
    }

    async fn log_on_and_off(&mut self) -> ActionResult<()> {
        match log_on_and_off(self.link, &self.client.way).await {
            Err(ConnectError::Forged) => self.fault = Some(ReplyFault::Forged),
            Err(why) => return Err(why.into_failure()),
            Ok(()) => {}
        }
        Ok(())
    }

    async fn connect_tree(&mut self) -> ActionResult<()> {
        let share = &self.client.way.terms.share;
        let tree = self.link.tree_connect(share, Scope::Session).await?;
        let scope = Scope::OtherTree(tree.tree_id);
        self.link.tree_disconnect(scope).await
    }

    /// Waits for the report of one change that this slot makes itself: a file is created or
    /// deleted.
    async fn be_notified(&mut self, directory: FileId) -> ActionResult<()> {
        if let Some(doubtful) = self.doubtful.take() {
            self.close_quietly(doubtful).await?;
        }
        let answer = self.be_notified_once(directory).await;
        if answer == Err(ActionError::ConnectionReset) {
            self.doubts += 1;
            self.coming = None;
            self.doubtful = self.client.opens.take(OpenKey::Open(OpenId(self.slot)));
        }
        answer
    }

    async fn be_notified_once(&mut self, directory: FileId) -> ActionResult<()> {
        let watched = match self.client.opens.here(OpenKey::Open(OpenId(self.slot))) {
            Some(watched) => watched,
            None => {
                let path = self.path_of(directory)?;
                let (link, slot, doubts) = (self.link, self.slot, self.doubts);
                let watched = self.client.watch_anew(link, path, slot, doubts).await?;
                self.link.pause(WATCHES_TAKE_NANOS).await?;
                watched
            }
        };
        if let Some(made) = self.coming.take() {
            return self.link.notify_of_close(watched, made).await;
        }
        let own = self.client.own_path(self.path_of(directory)?, self.slot);
        let path = file_in(&own, self.doubts);
        let opening = CreateParams::existing(&path, ALL_OF_FILE.with(AccessMask::DELETE))
            .by(CreateDisposition::CREATE)
            .with(FILE.with(CreateOptions::DELETE_ON_CLOSE));
        let made = self.link.notify_of_open(watched, &opening).await?;
        self.coming = Some(made);
        Ok(())
    }

    /// Closes all open files, and logs off.
    async fn say_goodbye(&mut self) -> ActionResult<()> {
        if let Some(listing) = self.listing.take() {
            self.link.close(listing.open).await?;
        }
        while let Some(key) = self.client.opens.any() {
            // An open or reclaim that another slot had begun will never finish.
            let open = match self.client.opens.lookup(key) {
                Some(HandleState::Open(file_id)) => Some(file_id),
                Some(HandleState::Disconnected(handle)) => match self.reclaim(handle).await {
                    Err(ActionError::Status(_)) => None,
                    reclaimed => reclaimed?,
                },
                Some(HandleState::Opening) | None => None,
            };
            self.client.opens.take(key);
            if let Some(file_id) = open {
                unless_lost(self.link.close(file_id).await)?;
            }
        }
        unless_lost(self.link.tree_disconnect(Scope::Tree).await)?;
        unless_lost(self.link.log_off(Scope::Session).await)
    }
}

/// Ignores the status of the server, but not the loss of the connection.
fn unless_lost(answer: ActionResult<()>) -> ActionResult<()> {
    match answer {
        Ok(()) | Err(ActionError::Status(_)) => Ok(()),
        Err(ActionError::ClientFailed | ActionError::ConnectionReset) => {
            Err(ActionError::ClientFailed)
        }
    }
}

const FILE: CreateOptions = CreateOptions::NON_DIRECTORY_FILE;
const DIRECTORY: CreateOptions = CreateOptions::DIRECTORY_FILE;

/// Returns the flags of a lock that does not wait for another client's lock.
const fn how_to_lock(is_exclusive: bool) -> LockFlags {
    let kind = if is_exclusive {
        LockFlags::EXCLUSIVE_LOCK
    } else {
        LockFlags::SHARED_LOCK
    };
    kind.with(LockFlags::FAIL_IMMEDIATELY)
}

/// 1 January 2020, in 100 ns since 1601 (MS-DTYP, section 2.3.3).
const TOUCHED: FileTime = FileTime {
    ticks: 132_223_104_000_000_000,
};

const fn access_of(access: OpenAccess) -> AccessMask {
    match access {
        OpenAccess::Read => LISTING,
        OpenAccess::Write | OpenAccess::ReadWrite => ALL_OF_FILE,
    }
}
