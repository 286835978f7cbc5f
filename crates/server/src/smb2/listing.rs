//! QUERY_DIRECTORY (MS-SMB2, section 3.3.5.18; MS-FSA, section 2.1.5.6.3).

use filestone_wire::smb2::codec::{Text, Writer};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::info::{DirectoryClass, DirectoryWriter, Entry, ShortName};
use filestone_wire::smb2::query_directory::{QueryDirectoryFlags, Request};
use filestone_wire::smb2::{AccessMask, OutputBuffer, Status};

use super::connection::Search;
use super::exchange::{Answered, Exchange};
use super::metadata::{FileMetadata, status_of};
use super::names::{NamePattern, short_name};
use super::paths::followed;
use crate::reply::ReplySink;
use crate::tree::directory::{COOKIE_PARENT, COOKIE_SELF};
use crate::tree::{InodeNumber, Tree};

/// Number of entries that one request examines, so that a pattern without matches does not block
/// the tree.
const LOOKED_AT_MAX: usize = 1 << 20;

impl Exchange<'_> {
    pub fn query_directory(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        let (shared, loops) = (self.shared, self.loops);
        let (_, open) = self.open(request.file_id)?;
        if !open.is_directory || request.output_buffer_length > shared.options.transact_max {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let class = DirectoryClass::of(request.class).ok_or(Status::INVALID_INFO_CLASS)?;
        if !open.access.contains(AccessMask::READ_DATA) {
            return Err(Status::ACCESS_DENIED.into());
        }
        let asks = |flag| request.flags.contains(flag);
        let restarts =
            loops || asks(QueryDirectoryFlags::RESTART_SCANS) || asks(QueryDirectoryFlags::REOPEN);
        if open.search.is_none() || asks(QueryDirectoryFlags::REOPEN) {
            open.search = Some(Box::new(Search {
                pattern: NamePattern::new(request.pattern)?,
                cookie: 0,
                has_found: false,
            }));
        }
        let Some(search) = open.search.as_deref_mut() else {
            return Err(Status::INTERNAL_ERROR.into());
        };
        if restarts {
            // The pattern of a restart applies, if it has one (as in Windows).
            if !request.pattern.is_empty() {
                search.pattern = NamePattern::new(request.pattern)?;
            }
            search.cookie = 0;
            search.has_found = false;
        }
        let is_single = asks(QueryDirectoryFlags::RETURN_SINGLE_ENTRY);
        let tree = shared.tree();
        let room = Room {
            class,
            limit: request.output_buffer_length,
            is_single,
        };
        fill(&tree, open.number, search, room, sink)
    }
}

/// Limits of a page.
struct Room {
    class: DirectoryClass,
    /// Bytes.
    limit: u32,
    /// Whether the page ends after one entry.
    is_single: bool,
}

/// Writes as many entries as fit, and stores the position.
fn fill(
    tree: &Tree,
    number: InodeNumber,
    search: &mut Search,
    room: Room,
    sink: &mut ReplySink,
) -> Answered {
    let directory = tree.directory(number).map_err(status_of)?;
    let out = sink.bytes_mut();
    let start = out.len();
    OutputBuffer::encode_head(0, &mut Writer::new(out));
    let data = out.len();
    let mut writer = DirectoryWriter::new(out, room.class, room.limit);
    let dots = [
        (COOKIE_SELF, &b"."[..], number),
        (COOKIE_PARENT, &b".."[..], directory.parent()),
    ];
    let behind = search.cookie;
    let dots = dots.into_iter().filter(|(cookie, ..)| *cookie > behind);
    let rest = directory.entries_after(behind.max(COOKIE_PARENT));
    let (mut count, mut is_full) = (0, false);
    for (cookie, name, inode) in dots.chain(rest).take(LOOKED_AT_MAX) {
        let name = String::from_utf8_lossy(name);
        if search.pattern.matches(&name) {
            if !writer.append(&entry(tree, number, inode, &name)?) {
                is_full = true;
                break;
            }
            count += 1;
        }
        search.cookie = cookie;
        if room.is_single && count == 1 {
            break;
        }
    }
    if count == 0 {
        out.truncate(start);
        return Err(if is_full {
            Status::INFO_LENGTH_MISMATCH
        } else if search.has_found {
            Status::NO_MORE_FILES
        } else {
            Status::NO_SUCH_FILE
        }
        .into());
    }
    search.has_found = true;
    let len = (out.len() - data) as u32;
    Writer::new(out).patch_u32(data - 4, len);
    Ok(Status::SUCCESS)
}

/// Returns the 8.3 form of a longer name.
fn short_form(name: &str) -> ShortName {
    let mut form = ShortName::default();
    let short = Some(name).filter(|name| !matches!(*name, "." | ".."));
    if let Some(short) = short.and_then(short_name) {
        for (place, unit) in form.units.chunks_exact_mut(2).zip(short.encode_utf16()) {
            place.copy_from_slice(&unit.to_le_bytes());
            form.len += 2;
        }
    }
    form
}

/// Returns the contents of a listing for an entry; for a symbolic link, the attributes of its
/// target, if it exists.
fn entry<'a>(
    tree: &Tree,
    directory: InodeNumber,
    number: InodeNumber,
    name: &'a str,
) -> Result<Entry<'a>, Status> {
    let object = followed(tree, directory, number).unwrap_or(number);
    let facts = FileMetadata::of(tree, object)?;
    Ok(Entry {
        file_index: 0,
        creation_time: facts.creation_time,
        last_access_time: facts.last_access_time,
        last_write_time: facts.last_write_time,
        change_time: facts.change_time,
        end_of_file: facts.end_of_file,
        allocation_size: facts.allocation_size,
        file_attributes: facts.attributes,
        ea_size: 0,
        short_name: short_form(name),
        file_id: facts.index,
        name: Text::from(name),
    })
}
