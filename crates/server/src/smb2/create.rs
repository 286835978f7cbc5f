//! CREATE and CLOSE (MS-SMB2, sections 3.3.5.9 and 3.3.5.10; MS-FSA, section 2.1.5.1).

use std::sync::Arc;

use filestone_wire::nfs3::Sattr3;
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::create::{
    Contexts, CreateAction, CreateDisposition, CreateOptions, ImpersonationLevel, Lease, LeaseV2,
    Request, RequestContext, Response, ResponseContext, ShareAccess,
};
use filestone_wire::smb2::{
    AccessMask, Capabilities, Dialect, FileAttributes, FileId, LeaseFlags, LeaseKey, OplockLevel,
    Status, close,
};

use super::caching::{Granted, LeaseAsked, OpenConflict, OpenRequest, RequestedCaching};
use super::connection::{Open, Share, WaitingFor};
use super::exchange::{Answered, CommandFailure, Exchange, put};
use super::held::{CacheGrant, LeaseOwner};
use super::metadata::{ALL_ACCESS, FileMetadata, VOLUME, status_of};
use super::names::ParsedSharePath;
use super::open_table::{GlobalOpenTable, OpenEntry, OpenName};
use super::paths::{Located, locate};
use crate::reply::ReplySink;
use crate::tree::basic::BasicChange;
use crate::tree::directory::Directory;
use crate::tree::inode::InodeKind;
use crate::tree::{CreateMode, Identity, InodeNumber, Tree};

/// Largest number of opens of one session.
const OPENS_MAX: usize = 1 << 16;
/// Mode of created files: all users of NFS have access to them.
const FILE_MODE: u32 = 0o666;
const DIRECTORY_MODE: u32 = 0o777;

/// A validated request.
struct Wanted<'a> {
    access: AccessMask,
    share: ShareAccess,
    disposition: CreateDisposition,
    options: CreateOptions,
    attributes: FileAttributes,
    oplock_level: OplockLevel,
    contexts: Contexts<'a, RequestContext<'a>>,
    path: ParsedSharePath,
    spelt: Box<str>,
}

impl Wanted<'_> {
    fn is_overwriting(&self) -> bool {
        matches!(
            self.disposition,
            CreateDisposition::SUPERSEDE
                | CreateDisposition::OVERWRITE
                | CreateDisposition::OVERWRITE_IF
        )
    }

    /// Returns the space to reserve for a file that is created or truncated.
    fn room(&self) -> u64 {
        let sizes = self.contexts.iter().filter_map(|context| match context {
            RequestContext::AllocationSize(size) => Some(size),
            _ => None,
        });
        sizes.last().unwrap_or(0)
    }
}

/// The opened object and the action taken.
struct Made {
    number: InodeNumber,
    located: Located,
    action: CreateAction,
}

impl Exchange<'_> {
    pub fn create(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        // Related requests in the compound refer to this open, or fail as it does.
        let answered = self.create_or_fail(message, sink);
        if let Err(CommandFailure::Status(status)) = answered {
            self.chain.file = Err(status);
        }
        answered
    }

    fn create_or_fail(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        if self.share()? == Share::Pipes {
            return Err(Status::OBJECT_NAME_NOT_FOUND.into());
        }
        let wanted = checked(&request)?;
        if self.session()?.opens.len() >= OPENS_MAX {
            return Err(Status::TOO_MANY_OPENED_FILES.into());
        }
        let asked = self.asked_caching(&wanted);
        let shared = self.shared;
        let mut open_table = shared.open_table();
        open_table.check_room()?;
        let mut tree = shared.tree_mut();
        let opened = self.open_or_make(&mut tree, &mut open_table, &wanted, asked);
        let made = match opened {
            Ok(made) => made,
            Err(failure) => {
                self.connection.outbox.extend(open_table.take_letters());
                return Err(failure);
            }
        };
        tree.hold(made.number).map_err(status_of)?;
        let open = open_table.next_number();
        let holder = self.holder(&wanted, &made, open);
        open_table.add(made.number, holder);
        if made.action != CreateAction::OPENED && made.action != CreateAction::CREATED {
            open_table.changed(made.number, open);
        }
        if made.action != CreateAction::OPENED {
            open_table.reserve(made.number, wanted.room().min(tree.memory_limit()));
        }
        let facts = FileMetadata::of(&tree, made.number)?;
        let facts = facts.reserving(open_table.reserved(made.number));
        let granted = asked.filter(|_| !facts.is_directory);
        let granted = granted.and_then(|asked| open_table.grant(made.number, open, asked));
        self.connection.outbox.extend(open_table.take_letters());
        drop((tree, open_table));
        let tree_id = self.chain.tree_id;
        let is_directory = facts.is_directory;
        self.session()?.opens.insert(
            open,
            Open {
                tree_id,
                number: made.number,
                is_directory,
                access: wanted.access,
                path: wanted.spelt.clone(),
                search: None,
                position: 0,
                mode: wanted.options.0 & 0x3e,
                keeps_write_time: false,
            },
        );
        let file_id = FileId {
            persistent: open,
            volatile: open,
        };
        self.chain.file = Ok(file_id);
        put_response(&wanted, &made, file_id, &facts, granted, sink)
    }

    fn holder(&self, wanted: &Wanted<'_>, made: &Made, open: u64) -> OpenEntry {
        OpenEntry {
            open,
            name: OpenName {
                parent: made.located.parent,
                spelt: Arc::clone(&made.located.name),
            },
            place: self.connection.place,
            session_id: self.chain.session_id,
            access: wanted.access,
            share: wanted.share,
            deletes_on_close: wanted.options.contains(CreateOptions::DELETE_ON_CLOSE),
            caching: CacheGrant::None,
        }
    }

    /// Returns the caching that the client requests: the lease of a context, if there is one.
    fn asked_caching(&self, wanted: &Wanted<'_>) -> Option<RequestedCaching> {
        let agreed = self.connection.agreed.as_ref()?;
        if wanted.oplock_level != OplockLevel::LEASE {
            let asks = wanted.oplock_level != OplockLevel::NONE;
            return asks.then_some(RequestedCaching::Oplock(wanted.oplock_level));
        }
        if !agreed.capabilities.contains(Capabilities::LEASING) {
            return None;
        }
        let client = agreed.client_guid;
        wanted.contexts.iter().find_map(|context| match context {
            RequestContext::Lease(lease) => Some(RequestedCaching::Lease(LeaseAsked {
                owner: LeaseOwner {
                    client,
                    key: lease.key,
                },
                state: lease.state,
                epoch: 0,
                has_epoch: false,
            })),
            RequestContext::LeaseV2(lease) if agreed.dialect >= Dialect::SMB_3_0 => {
                Some(RequestedCaching::Lease(LeaseAsked {
                    owner: LeaseOwner {
                        client,
                        key: lease.key,
                    },
                    state: lease.state,
                    epoch: lease.epoch,
                    has_epoch: true,
                }))
            }
            _ => None,
        })
    }

    fn open_or_make(
        &mut self,
        tree: &mut Tree,
        open_table: &mut GlobalOpenTable,
        wanted: &Wanted<'_>,
        asked: Option<RequestedCaching>,
    ) -> Result<Made, CommandFailure> {
        let located = locate(tree, self.shared.root, &wanted.path)?;
        let lease = match asked {
            Some(RequestedCaching::Lease(lease)) => Some(lease.owner),
            Some(RequestedCaching::Oplock(_)) | None => None,
        };
        if let Some(owner) = lease {
            open_table.check_lease(owner, located.object)?;
        }
        self.give_up_overdue(open_table);
        let Some(number) = located.object else {
            return self
                .make(tree, wanted, located)
                .map_err(CommandFailure::from);
        };
        if wanted.disposition == CreateDisposition::CREATE {
            return Err(Status::OBJECT_NAME_COLLISION.into());
        }
        if number == self.shared.root && wanted.options.contains(CreateOptions::DELETE_ON_CLOSE) {
            return Err(Status::CANNOT_DELETE.into());
        }
        check_kind(tree, number, wanted)?;
        // An open that replaces the data counts as writing, whatever its other access.
        let overwriting = if wanted.is_overwriting() {
            AccessMask::WRITE_DATA
        } else {
            AccessMask::NONE
        };
        let contender = OpenRequest {
            access: wanted.access.with(overwriting),
            share: wanted.share,
            overwrites: wanted.is_overwriting(),
            removes: wanted.options.contains(CreateOptions::DELETE_ON_CLOSE),
            lease,
        };
        match open_table.contend(number, &contender) {
            Ok(()) => {}
            Err(OpenConflict::Refused(status)) => return Err(status.into()),
            Err(OpenConflict::Wait) => return Err(self.wait_for_break(open_table, number)),
        }
        let action = if wanted.is_overwriting() {
            self.overwrite(tree, number, wanted)?;
            match wanted.disposition {
                CreateDisposition::SUPERSEDE => CreateAction::SUPERSEDED,
                _ => CreateAction::OVERWRITTEN,
            }
        } else {
            CreateAction::OPENED
        };
        Ok(Made {
            number,
            located,
            action,
        })
    }

    fn make(&self, tree: &mut Tree, wanted: &Wanted<'_>, located: Located) -> Result<Made, Status> {
        if matches!(
            wanted.disposition,
            CreateDisposition::OPEN | CreateDisposition::OVERWRITE
        ) {
            return Err(Status::OBJECT_NAME_NOT_FOUND);
        }
        if wanted.attributes.contains(FileAttributes::READONLY)
            && wanted.options.contains(CreateOptions::DELETE_ON_CLOSE)
        {
            return Err(Status::CANNOT_DELETE);
        }
        let is_directory = wanted.options.contains(CreateOptions::DIRECTORY_FILE);
        let (parent, name, now) = (located.parent, &located.name, self.now);
        let mode = if is_directory {
            DIRECTORY_MODE
        } else {
            FILE_MODE
        };
        let attributes = Sattr3 {
            mode: Some(mode),
            ..Sattr3::default()
        };
        let owner = self.shared.identity;
        let made = if is_directory {
            tree.make_directory(parent, name, &attributes, owner, now)
        } else {
            tree.create(parent, name, CreateMode::Guarded(&attributes), owner, now)
        };
        let number = made.map_err(status_of)?;
        set_attributes(tree, number, wanted.attributes, is_directory)?;
        Ok(Made {
            number,
            located,
            action: CreateAction::CREATED,
        })
    }

    fn overwrite(
        &self,
        tree: &mut Tree,
        number: InodeNumber,
        wanted: &Wanted<'_>,
    ) -> Result<(), Status> {
        let empty = Sattr3 {
            size: Some(0),
            ..Sattr3::default()
        };
        let emptied = tree.set_attributes(number, &empty, None, self.shared.identity, self.now);
        emptied.map_err(status_of)?;
        set_attributes(tree, number, wanted.attributes, false)
    }

    pub fn close(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: close::Request = message.body()?;
        let (id, open) = self.open(request.file_id)?;
        let number = open.number;
        let mut response = close::Response::default();
        if request.flags.contains(close::CloseFlags::POSTQUERY_ATTRIB) {
            let reserved = self.shared.open_table().reserved(number);
            let facts = FileMetadata::of(&self.shared.tree(), number)?.reserving(reserved);
            response = close::Response {
                flags: close::CloseFlags::POSTQUERY_ATTRIB,
                creation_time: facts.creation_time,
                last_access_time: facts.last_access_time,
                last_write_time: facts.last_write_time,
                change_time: facts.change_time,
                allocation_size: facts.allocation_size,
                end_of_file: facts.end_of_file,
                file_attributes: facts.attributes,
            };
        }
        self.close_open(self.chain.session_id, id);
        put(sink, &response)
    }

    /// Closes an open, and deletes the file if that was requested and this was its last open.
    pub fn close_open(&mut self, session_id: u64, id: u64) {
        let session = self.connection.sessions.get_mut(&session_id);
        let Some(open) = session.and_then(|session| session.opens.remove(&id)) else {
            return;
        };
        let shared = self.shared;
        let mut open_table = shared.open_table();
        let doomed = open_table.close(open.number, id);
        let mut tree = shared.tree_mut();
        if let Some(doomed) = doomed {
            remove(&mut tree, open.number, &doomed, shared.identity, self.now);
        }
        tree.release_hold(open.number);
        drop(tree);
        self.connection.outbox.extend(open_table.take_letters());
        drop(open_table);
        let waiting = self.connection.waiting.iter();
        let orphans = waiting.filter(
            |(_, waiting)| matches!(waiting.waits_for, WaitingFor::Lock { open, .. } if open == id),
        );
        let orphans: Vec<u64> = orphans.map(|(async_id, _)| *async_id).collect();
        self.connection.orphans.extend(orphans);
    }
}

/// Removes the name of a file marked for deletion; keeps it if it refers to another file by now, or
/// to a directory that is not empty.
fn remove(tree: &mut Tree, number: InodeNumber, doomed: &OpenName, by: Identity<'_>, now: u64) {
    let Ok(directory) = tree.directory(doomed.parent) else {
        return;
    };
    let Some(named) = directory.find(&doomed.spelt) else {
        return;
    };
    let Ok(inode) = tree.inode(named) else {
        return;
    };
    let is_link = matches!(inode.kind, InodeKind::Symlink(_));
    if named != number && !is_link {
        return;
    }
    let _ = if inode.is_directory() {
        tree.remove_directory(doomed.parent, &doomed.spelt, by, now)
    } else {
        tree.remove(doomed.parent, &doomed.spelt, by, now)
    };
}

fn set_attributes(
    tree: &mut Tree,
    number: InodeNumber,
    attributes: FileAttributes,
    is_directory: bool,
) -> Result<(), Status> {
    let archive = if is_directory {
        FileAttributes::NONE
    } else {
        FileAttributes::ARCHIVE
    };
    let change = BasicChange {
        attributes: Some(attributes.with(archive)),
        ..BasicChange::default()
    };
    tree.set_basic(number, change).map_err(status_of)
}

/// Checks that the existing object has the requested type and can be opened in this way.
fn check_kind(tree: &Tree, number: InodeNumber, wanted: &Wanted<'_>) -> Result<(), Status> {
    let inode = tree.inode(number).map_err(status_of)?;
    let asks = |option| wanted.options.contains(option);
    if inode.is_directory() {
        if asks(CreateOptions::NON_DIRECTORY_FILE) {
            return Err(Status::FILE_IS_A_DIRECTORY);
        }
        if wanted.is_overwriting() {
            return Err(Status::OBJECT_NAME_COLLISION);
        }
        let is_empty = tree.directory(number).is_ok_and(Directory::is_empty);
        if asks(CreateOptions::DELETE_ON_CLOSE) && !is_empty {
            return Err(Status::DIRECTORY_NOT_EMPTY);
        }
        return Ok(());
    }
    if asks(CreateOptions::DIRECTORY_FILE) {
        return Err(Status::NOT_A_DIRECTORY);
    }
    let kept = FileAttributes(inode.dos_attributes);
    let writes = AccessMask::WRITE_DATA.0 | AccessMask::APPEND_DATA.0;
    if kept.contains(FileAttributes::READONLY) {
        if asks(CreateOptions::DELETE_ON_CLOSE) {
            return Err(Status::CANNOT_DELETE);
        }
        if wanted.access.0 & writes != 0 || wanted.is_overwriting() {
            return Err(Status::ACCESS_DENIED);
        }
    }
    // A hidden or system file is overwritten only by a request with these attributes.
    let hidden = FileAttributes::HIDDEN.with(FileAttributes::SYSTEM).0;
    if wanted.is_overwriting() && kept.0 & hidden & !wanted.attributes.0 != 0 {
        return Err(Status::ACCESS_DENIED);
    }
    Ok(())
}

/// Checks the contexts of a request.
fn check_contexts(request: &Request<'_>) -> Result<(), Status> {
    for context in request.contexts.iter() {
        match context {
            RequestContext::DurableReconnect(_)
            | RequestContext::DurableReconnectV2(_)
            | RequestContext::TimewarpToken(_) => return Err(Status::OBJECT_NAME_NOT_FOUND),
            // Section 2.2.13.2.
            RequestContext::Unknown(unknown) if unknown.name.len() < 4 => {
                return Err(Status::INVALID_PARAMETER);
            }
            RequestContext::Unknown(unknown) if unknown.name == b"ExtA" => {
                return Err(Status::EAS_NOT_SUPPORTED);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks the fields of a request that are invalid on their own.
fn checked<'a>(request: &Request<'a>) -> Result<Wanted<'a>, Status> {
    // Undefined bits.
    const OPTIONS_UNKNOWN: u32 = 0xff00_0000;
    const CREATE_TREE_CONNECTION: u32 = 0x80;
    const OPTIONS_REFUSED: u32 = CREATE_TREE_CONNECTION
        | CreateOptions::OPEN_BY_FILE_ID.0
        | CreateOptions::RESERVE_OPFILTER.0;
    const ATTRIBUTES_KNOWN: u32 = 0x7fb7;
    const ACCESS_UNKNOWN: u32 = 0x0ce0_fe00;
    let options = request.options;
    if request.impersonation_level > ImpersonationLevel::DELEGATE {
        return Err(Status::BAD_IMPERSONATION_LEVEL);
    }
    let is_directory = options.contains(CreateOptions::DIRECTORY_FILE);
    let overwrites = request.disposition == CreateDisposition::SUPERSEDE
        || request.disposition >= CreateDisposition::OVERWRITE;
    if options.0 & OPTIONS_UNKNOWN != 0 {
        return Err(Status::INVALID_PARAMETER);
    }
    if request.desired_access.0 & ACCESS_UNKNOWN != 0 || request.desired_access.0 == 0 {
        return Err(Status::ACCESS_DENIED);
    }
    // No user here has SeSecurityPrivilege.
    if request
        .desired_access
        .contains(AccessMask::ACCESS_SYSTEM_SECURITY)
    {
        return Err(Status::PRIVILEGE_NOT_HELD);
    }
    if request.share_access.0 & !7 != 0
        || request.disposition > CreateDisposition::OVERWRITE_IF
        || is_directory && options.contains(CreateOptions::NON_DIRECTORY_FILE)
        || is_directory && overwrites
        || request.file_attributes.0 & !ATTRIBUTES_KNOWN != 0
    {
        return Err(Status::INVALID_PARAMETER);
    }
    if options.0 & OPTIONS_REFUSED != 0 {
        return Err(Status::NOT_SUPPORTED);
    }
    let access = granted_access(request.desired_access);
    if options.contains(CreateOptions::DELETE_ON_CLOSE) && !access.contains(AccessMask::DELETE) {
        return Err(Status::ACCESS_DENIED);
    }
    check_contexts(request)?;
    Ok(Wanted {
        access,
        share: request.share_access,
        disposition: request.disposition,
        options,
        attributes: request.file_attributes,
        oplock_level: request.oplock_level,
        contexts: request.contexts,
        path: ParsedSharePath::new(request.name)?,
        spelt: request.name.chars().collect(),
    })
}

/// Maps generic rights to specific ones (MS-DTYP, section 2.4.3; MS-SMB2, section 2.2.13.1).
fn granted_access(desired: AccessMask) -> AccessMask {
    const GENERIC: u32 = 0xf000_0000;
    let mut access = desired.0 & !GENERIC & !AccessMask::MAXIMUM_ALLOWED.0;
    for (asked, meant) in [
        (AccessMask::GENERIC_READ, 0x0012_0089),
        (AccessMask::GENERIC_WRITE, 0x0012_0116),
        (AccessMask::GENERIC_EXECUTE, 0x0012_00a0),
        (AccessMask::GENERIC_ALL, ALL_ACCESS.0),
        (AccessMask::MAXIMUM_ALLOWED, ALL_ACCESS.0),
    ] {
        if desired.contains(asked) {
            access |= meant;
        }
    }
    AccessMask(access)
}

/// Returns the response contexts, at most eight: a request may contain any number.
fn answers<'a>(
    wanted: &Wanted<'_>,
    facts: &FileMetadata,
    granted: Option<Granted>,
) -> Vec<ResponseContext<'a>> {
    let mut contexts = Vec::new();
    for context in wanted.contexts.iter() {
        match (context, granted) {
            (RequestContext::MaximalAccess(_), _) => {
                contexts.push(ResponseContext::MaximalAccess {
                    query_status: Status::SUCCESS,
                    access: ALL_ACCESS,
                })
            }
            (RequestContext::QueryOnDiskId, _) => contexts.push(ResponseContext::OnDiskId {
                disk_file_id: facts.index,
                volume_id: VOLUME.into(),
            }),
            (RequestContext::Lease(lease), Some(granted)) if has_lease(granted) => {
                contexts.push(lease_answer(granted, lease.key, None));
            }
            (RequestContext::LeaseV2(lease), Some(granted)) if has_lease(granted) => {
                let has_parent = lease.flags.contains(LeaseFlags::PARENT_LEASE_KEY_SET);
                let parent = has_parent.then_some(lease.parent_key);
                contexts.push(lease_answer(granted, lease.key, parent));
            }
            _ => {}
        }
        if contexts.len() >= 8 {
            break;
        }
    }
    contexts
}

/// Returns the lease context of a response, in the version of the lease, whatever the version of
/// the request.
fn lease_answer<'a>(
    granted: Granted,
    key: LeaseKey,
    parent_key: Option<LeaseKey>,
) -> ResponseContext<'a> {
    let Granted { state, flags, .. } = granted;
    let Some(epoch) = granted.epoch else {
        return ResponseContext::Lease(Lease {
            key,
            state,
            flags,
            duration: 0,
        });
    };
    let parent_flag = match parent_key {
        Some(_) => LeaseFlags::PARENT_LEASE_KEY_SET,
        None => LeaseFlags::NONE,
    };
    ResponseContext::LeaseV2(LeaseV2 {
        key,
        state,
        flags: flags.with(parent_flag),
        duration: 0,
        parent_key: parent_key.unwrap_or_default(),
        epoch,
    })
}

fn put_response(
    wanted: &Wanted<'_>,
    made: &Made,
    file_id: FileId,
    facts: &FileMetadata,
    granted: Option<Granted>,
    sink: &mut ReplySink,
) -> Answered {
    let contexts = answers(wanted, facts, granted);
    let response = Response {
        oplock_level: granted.map_or(OplockLevel::NONE, |granted| granted.level),
        flags: 0,
        action: made.action,
        creation_time: facts.creation_time,
        last_access_time: facts.last_access_time,
        last_write_time: facts.last_write_time,
        change_time: facts.change_time,
        allocation_size: facts.allocation_size,
        end_of_file: facts.end_of_file,
        file_attributes: facts.attributes,
        file_id,
        contexts: Contexts::from(&contexts[..]),
    };
    put(sink, &response)
}

fn has_lease(granted: Granted) -> bool {
    granted.level == OplockLevel::LEASE
}

/// Returns a name in the form that the open_table stores.
pub fn shared_name(name: &str) -> Arc<[u8]> {
    Arc::from(name.as_bytes())
}
