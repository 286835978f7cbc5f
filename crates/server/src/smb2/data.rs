//! READ, WRITE, FLUSH, ECHO (MS-SMB2, sections 3.3.5.11 to 3.3.5.13 and 3.3.5.17).

use filestone_wire::smb2::codec::Writer;
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::{AccessMask, Channel, Status, echo, flush, read, write};

use super::connection::Open;
use super::exchange::{Answered, Exchange, put};
use super::held::ByteRange;
use super::locks::TransferDirection;
use super::metadata::status_of;
use super::options::TRANSFER_MAX;
use crate::reply::ReplySink;
use crate::tree::basic::BasicChange;
use crate::tree::{FILE_MAX, Tree};

/// State of an open that a transfer needs.
struct Place {
    id: u64,
    number: crate::tree::InodeNumber,
    keeps_write_time: bool,
}

impl Exchange<'_> {
    fn transfer_max(&self) -> u32 {
        let agreed = self.connection.agreed.as_ref();
        let is_large = agreed.is_some_and(|agreed| agreed.has_large_mtu());
        let most = if is_large { TRANSFER_MAX } else { 64 << 10 };
        most.min(self.shared.options.transfer_max)
    }

    /// Checks common to READ and WRITE.
    fn transferring(
        &mut self,
        file_id: filestone_wire::smb2::FileId,
        channel: Channel,
        len: usize,
        rights: u32,
    ) -> Result<Place, Status> {
        let most = self.transfer_max();
        let (id, open) = self.open(file_id)?;
        if channel != Channel::NONE || len > most as usize {
            return Err(Status::INVALID_PARAMETER);
        }
        let Open {
            number,
            is_directory,
            access,
            keeps_write_time,
            ..
        } = *open;
        if is_directory {
            return Err(Status::INVALID_DEVICE_REQUEST);
        }
        if access.0 & rights == 0 {
            return Err(Status::ACCESS_DENIED);
        }
        Ok(Place {
            id,
            number,
            keeps_write_time,
        })
    }

    pub fn read(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: read::Request<'_> = message.body()?;
        let rights = AccessMask::READ_DATA.0 | AccessMask::EXECUTE.0;
        let (len, offset) = (request.length, request.offset);
        let place = self.transferring(request.file_id, request.channel, len as usize, rights)?;
        if offset > FILE_MAX - u64::from(len) {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let range = ByteRange::of_transfer(offset, len.into());
        let shared = self.shared;
        let open_table = shared.open_table();
        open_table.check_transfer(place.number, place.id, range, TransferDirection::Read)?;
        drop(open_table);
        let tree = shared.tree();
        let (inode, content) = tree.file(place.number).map_err(status_of)?;
        let extent = Tree::read_extent(content, offset, len);
        if (extent.count == 0 && len > 0) || extent.count < request.minimum_count {
            return Err(Status::END_OF_FILE.into());
        }
        inode.touch(self.now);
        if let Some(open) = self.session()?.opens.get_mut(&place.id) {
            open.position = offset + u64::from(extent.count);
        }
        let head = read::Response {
            data_remaining: 0,
            flags: 0,
            data: &[],
        };
        head.encode_head(extent.count as usize, &mut Writer::new(sink.bytes_mut()));
        if self.may_splice {
            tree.read(content, offset, extent.count, |run| sink.splice(run));
        } else {
            tree.read(content, offset, extent.count, |run| {
                sink.extend(run.bytes())
            });
        }
        // The buffer has at least one byte.
        if extent.count == 0 {
            sink.extend(&[0]);
        }
        Ok(Status::SUCCESS)
    }

    pub fn write(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: write::Request<'_> = message.body()?;
        let rights = AccessMask::WRITE_DATA.0 | AccessMask::APPEND_DATA.0;
        let (data, offset) = (request.data, request.offset);
        let place = self.transferring(request.file_id, request.channel, data.len(), rights)?;
        let end = offset.checked_add(data.len() as u64);
        if end.is_none_or(|end| end > FILE_MAX) {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let range = ByteRange::of_transfer(offset, data.len() as u64);
        let shared = self.shared;
        let mut open_table = shared.open_table();
        open_table.check_transfer(place.number, place.id, range, TransferDirection::Write)?;
        open_table.changed(place.number, place.id);
        self.connection.outbox.extend(open_table.take_letters());
        drop(open_table);
        let count = data.len() as u32;
        let mut tree = shared.tree_mut();
        let before = tree.inode(place.number).map_err(status_of)?.mtime;
        let written = tree.write(
            place.number,
            offset,
            count,
            data,
            self.shared.identity,
            self.now,
        );
        written.map_err(status_of)?;
        if place.keeps_write_time {
            let kept = BasicChange {
                mtime: Some(before),
                ..BasicChange::default()
            };
            tree.set_basic(place.number, kept).map_err(status_of)?;
        }
        drop(tree);
        let response = write::Response {
            count,
            remaining: 0,
        };
        put(sink, &response)
    }

    /// Does nothing: all data are in memory only.
    pub fn flush(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: flush::Request = message.body()?;
        let (_, open) = self.open(request.file_id)?;
        let writes = AccessMask::WRITE_DATA.0 | AccessMask::APPEND_DATA.0;
        if open.access.0 & writes == 0 {
            return Err(Status::ACCESS_DENIED.into());
        }
        put(sink, &flush::Response::default())
    }

    pub fn echo(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let _: echo::Request = message.body()?;
        put(sink, &echo::Response::default())
    }
}
