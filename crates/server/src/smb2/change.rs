//! SET_INFO (MS-SMB2, section 3.3.5.21; MS-FSA, section 2.1.5.15).

use filestone_wire::nfs3::Sattr3;
use filestone_wire::smb2::codec::Decode;
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::create::ShareAccess;
use filestone_wire::smb2::info::{
    FileAllocationInformation, FileBasicInformation, FileDispositionInformation,
    FileEndOfFileInformation, FileInfoClass, FileRenameInformation, InfoClass,
};
use filestone_wire::smb2::set_info::{Request, Response};
use filestone_wire::smb2::{AccessMask, FileAttributes, FileTime, Status};

use super::exchange::{Answered, CommandFailure, Exchange, put};
use super::metadata::{UNIT, attributes_of, status_of, timestamp};
use super::names::ParsedSharePath;
use super::open_table::{GlobalOpenTable, OpenName};
use super::paths::locate;
use crate::reply::ReplySink;
use crate::tree::basic::BasicChange;
use crate::tree::inode::UnixNanoseconds;
use crate::tree::{FILE_MAX, InodeNumber, Tree};

const EA: u8 = 15;
const POSITION: u8 = 14;
const MODE: u8 = 16;
/// Modes that an open can set: write-through, sequential, unbuffered, synchronous.
const MODES: u32 = 0x3e;

/// The file or directory to change.
#[derive(Clone, Copy)]
struct Target {
    id: u64,
    number: InodeNumber,
    access: AccessMask,
    is_directory: bool,
}

impl Target {
    fn needs(&self, right: AccessMask) -> Result<(), Status> {
        if self.access.contains(right) {
            Ok(())
        } else {
            Err(Status::ACCESS_DENIED)
        }
    }
}

impl Exchange<'_> {
    pub fn set_info(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        let (id, open) = self.open(request.file_id)?;
        let target = Target {
            id,
            number: open.number,
            access: open.access,
            is_directory: open.is_directory,
        };
        let class = match request.class {
            InfoClass::File(class) => class,
            InfoClass::FileSystem(_) | InfoClass::Security(_) | InfoClass::Quota(_) => {
                return Err(Status::NOT_SUPPORTED.into());
            }
        };
        self.set_file_info(class, target, request.buffer)?;
        put(sink, &Response)
    }

    fn set_file_info(
        &mut self,
        class: FileInfoClass,
        target: Target,
        buffer: &[u8],
    ) -> Result<(), CommandFailure> {
        match class {
            FileInfoClass::BASIC => self.set_basic(target, parsed(buffer)?)?,
            FileInfoClass::DISPOSITION => {
                let FileDispositionInformation { delete_pending } = parsed(buffer)?;
                self.set_disposition(target, delete_pending)?;
            }
            FileInfoClass::END_OF_FILE => {
                let FileEndOfFileInformation { end_of_file } = parsed(buffer)?;
                self.set_size(target, end_of_file)?;
            }
            FileInfoClass::ALLOCATION => {
                let FileAllocationInformation { allocation_size } = parsed(buffer)?;
                self.set_allocation(target, allocation_size)?;
            }
            FileInfoClass::RENAME => self.rename(target, parsed(buffer)?)?,
            FileInfoClass::LINK => self.link(target, parsed(buffer)?)?,
            FileInfoClass(POSITION) => {
                let position = u64::from_bytes(buffer).map_err(|_| Status::INFO_LENGTH_MISMATCH)?;
                self.session()?
                    .opens
                    .entry(target.id)
                    .and_modify(|open| open.position = position);
            }
            FileInfoClass(MODE) => {
                let mode = u32::from_bytes(buffer).map_err(|_| Status::INFO_LENGTH_MISMATCH)?;
                if mode & !MODES != 0 {
                    return Err(Status::INVALID_PARAMETER.into());
                }
                self.session()?
                    .opens
                    .entry(target.id)
                    .and_modify(|open| open.mode = mode);
            }
            FileInfoClass(EA) => return Err(Status::EAS_NOT_SUPPORTED.into()),
            _ => return Err(Status::INVALID_INFO_CLASS.into()),
        }
        Ok(())
    }

    fn set_basic(&mut self, target: Target, asked: FileBasicInformation) -> Result<(), Status> {
        target.needs(AccessMask::WRITE_ATTRIBUTES)?;
        let is_directory = asked.file_attributes.contains(FileAttributes::DIRECTORY);
        let is_temporary = asked.file_attributes.contains(FileAttributes::TEMPORARY);
        if is_directory && !target.is_directory || is_temporary && target.is_directory {
            return Err(Status::INVALID_PARAMETER);
        }
        let has_attributes = asked.file_attributes != FileAttributes::NONE;
        let change = BasicChange {
            birth: set_time(asked.creation_time),
            atime: set_time(asked.last_access_time),
            mtime: set_time(asked.last_write_time),
            ctime: set_time(asked.change_time),
            attributes: has_attributes.then_some(asked.file_attributes),
        };
        let shared = self.shared;
        shared
            .tree_mut()
            .set_basic(target.number, change)
            .map_err(status_of)?;
        // A time set explicitly, or −1: writes no longer change it.
        if asked.last_write_time.ticks != 0 {
            let keeps = asked.last_write_time.ticks != u64::MAX - 1;
            let opens = &mut self.session()?.opens;
            opens
                .entry(target.id)
                .and_modify(|open| open.keeps_write_time = keeps);
        }
        Ok(())
    }

    fn set_disposition(&mut self, target: Target, is_pending: bool) -> Result<(), CommandFailure> {
        target.needs(AccessMask::DELETE)?;
        let shared = self.shared;
        let mut open_table = shared.open_table();
        if is_pending {
            check_deletable(&shared.tree(), target.number)?;
            if target.number == shared.root {
                return Err(Status::CANNOT_DELETE.into());
            }
            self.give_up_overdue(&mut open_table);
            self.await_handles(&mut open_table, target.number, Some(target.id))?;
        }
        open_table.set_delete_pending(target.number, target.id, is_pending);
        Ok(())
    }

    fn set_size(&mut self, target: Target, size: u64) -> Result<(), Status> {
        target.needs(AccessMask::WRITE_DATA)?;
        if target.is_directory || size > FILE_MAX {
            return Err(Status::INVALID_PARAMETER);
        }
        let shared = self.shared;
        let mut open_table = shared.open_table();
        open_table.changed(target.number, target.id);
        self.connection.outbox.extend(open_table.take_letters());
        let asked = Sattr3 {
            size: Some(size),
            ..Sattr3::default()
        };
        let mut tree = shared.tree_mut();
        let set = tree.set_attributes(target.number, &asked, None, self.shared.identity, self.now);
        set.map_err(status_of)
    }

    /// Reserves space up to the memory limit; a size below the file's size truncates it.
    fn set_allocation(&mut self, target: Target, size: u64) -> Result<(), Status> {
        target.needs(AccessMask::WRITE_DATA)?;
        if target.is_directory || size > FILE_MAX {
            return Err(Status::INVALID_PARAMETER);
        }
        let shared = self.shared;
        let tree = shared.tree();
        let (_, content) = tree.file(target.number).map_err(status_of)?;
        let (now, room) = (content.size(), tree.memory_limit());
        drop(tree);
        if size > room.next_multiple_of(UNIT) {
            return Err(Status::DISK_FULL);
        }
        if size < now {
            self.set_size(target, size)?;
        }
        let mut open_table = shared.open_table();
        open_table.changed(target.number, target.id);
        open_table.reserve(target.number, size);
        self.connection.outbox.extend(open_table.take_letters());
        Ok(())
    }

    /// Breaks the cached handles of other opens before a file is renamed or removed, by `open` or
    /// by its name.
    fn await_handles(
        &mut self,
        open_table: &mut GlobalOpenTable,
        number: InodeNumber,
        open: Option<u64>,
    ) -> Result<(), CommandFailure> {
        let must_wait = open_table.moves(number, open);
        self.connection.outbox.extend(open_table.take_letters());
        if must_wait {
            return Err(self.wait_for_break(open_table, number));
        }
        Ok(())
    }

    fn rename(
        &mut self,
        target: Target,
        asked: FileRenameInformation<'_>,
    ) -> Result<(), CommandFailure> {
        target.needs(AccessMask::DELETE)?;
        let path = ParsedSharePath::new(asked.name)?;
        let shared = self.shared;
        let mut open_table = shared.open_table();
        let mut tree = shared.tree_mut();
        let file = open_table.file(target.number).ok_or(Status::FILE_CLOSED)?;
        let from = file.name_of(target.id).ok_or(Status::FILE_CLOSED)?.clone();
        let to = locate(&mut tree, shared.root, &path)?;
        if target.number == shared.root || to.object == Some(shared.root) {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let is_itself = to.object == Some(target.number);
        let replaced = to.object.filter(|_| !is_itself);
        if replaced.is_some() && !asked.replace_if_exists {
            return Err(Status::OBJECT_NAME_COLLISION.into());
        }
        // The client may have requested another case of the existing name.
        let spelt = path.split_last().ok_or(Status::OBJECT_NAME_INVALID)?.0;
        let new_name = match replaced {
            Some(_) => to.name.clone(),
            None => super::create::shared_name(spelt),
        };
        let new = OpenName {
            parent: to.parent,
            spelt: new_name,
        };
        if from == new {
            return Ok(());
        }
        self.give_up_overdue(&mut open_table);
        self.await_handles(&mut open_table, target.number, Some(target.id))?;
        check_shared(&open_table, target, to.parent)?;
        if let Some(replaced) = replaced {
            self.await_handles(&mut open_table, replaced, None)?;
            check_replaceable(&tree, &open_table, target, replaced)?;
        }
        if target.is_directory {
            let lies_within = |at| tree.is_within(at, target.number).unwrap_or(false);
            for number in open_table.open_within(lies_within) {
                self.await_handles(&mut open_table, number, None)?;
            }
            if !open_table.open_within(lies_within).is_empty() {
                return Err(Status::ACCESS_DENIED.into());
            }
        }
        let by = shared.identity;
        tree.rename(
            from.parent,
            &from.spelt,
            new.parent,
            &new.spelt,
            by,
            self.now,
        )
        .map_err(status_of)?;
        open_table.renamed(target.number, &from, &new);
        drop((tree, open_table));
        let spelt: Box<str> = asked.name.chars().collect();
        self.session()?
            .opens
            .entry(target.id)
            .and_modify(|open| open.path = spelt);
        Ok(())
    }

    fn link(&mut self, target: Target, asked: FileRenameInformation<'_>) -> Result<(), Status> {
        let path = ParsedSharePath::new(asked.name)?;
        let shared = self.shared;
        let open_table = shared.open_table();
        let mut tree = shared.tree_mut();
        if target.is_directory {
            return Err(Status::FILE_IS_A_DIRECTORY);
        }
        let to = locate(&mut tree, shared.root, &path)?;
        if let Some(replaced) = to.object {
            if !asked.replace_if_exists {
                return Err(Status::OBJECT_NAME_COLLISION);
            }
            if open_table.file(replaced).is_some() {
                return Err(Status::ACCESS_DENIED);
            }
            tree.remove(to.parent, &to.name, shared.identity, self.now)
                .map_err(status_of)?;
        }
        tree.link(
            target.number,
            to.parent,
            &to.name,
            shared.identity,
            self.now,
        )
        .map_err(status_of)
    }
}

/// Checks that other opens share the file, and the directory that receives its name, with the
/// renaming open.
fn check_shared(
    open_table: &GlobalOpenTable,
    target: Target,
    parent: InodeNumber,
) -> Result<(), Status> {
    let holders = |number| {
        open_table
            .file(number)
            .into_iter()
            .flat_map(|file| &file.holders)
    };
    let mut others = holders(target.number).filter(|holder| holder.open != target.id);
    let read_write = ShareAccess::READ.with(ShareAccess::WRITE);
    // No open of the directory may have DELETE access, or deny it to others.
    let is_kept = holders(parent).any(|holder| holder.excludes(AccessMask::DELETE, read_write));
    if is_kept || others.any(|holder| !holder.share.contains(ShareAccess::DELETE)) {
        return Err(Status::SHARING_VIOLATION);
    }
    Ok(())
}

/// Checks that a file may be replaced by a rename.
fn check_replaceable(
    tree: &Tree,
    open_table: &GlobalOpenTable,
    target: Target,
    replaced: InodeNumber,
) -> Result<(), Status> {
    let is_directory = tree.inode(replaced).map_err(status_of)?.is_directory();
    if is_directory || target.is_directory || open_table.file(replaced).is_some() {
        return Err(Status::ACCESS_DENIED);
    }
    check_deletable(tree, replaced).map_err(|_| Status::ACCESS_DENIED)
}

/// Decodes a complete structure of MS-FSCC.
fn parsed<'a, T: Decode<'a>>(buffer: &'a [u8]) -> Result<T, Status> {
    T::from_bytes(buffer).map_err(|_| Status::INFO_LENGTH_MISMATCH)
}

/// 0, −1 and −2 set nothing (MS-FSCC, section 2.4.7).
fn set_time(time: FileTime) -> Option<UnixNanoseconds> {
    let is_time = time.ticks != 0 && time.ticks < u64::MAX - 1;
    is_time.then(|| timestamp(time))
}

fn check_deletable(tree: &Tree, number: InodeNumber) -> Result<(), Status> {
    let inode = tree.inode(number).map_err(status_of)?;
    if attributes_of(inode).contains(FileAttributes::READONLY) {
        return Err(Status::CANNOT_DELETE);
    }
    if tree
        .directory(number)
        .is_ok_and(|directory| !directory.is_empty())
    {
        return Err(Status::DIRECTORY_NOT_EMPTY);
    }
    Ok(())
}
