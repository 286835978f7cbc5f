//! CHANGE_NOTIFY: requests notification of a change of a directory (sections 2.2.35 and 2.2.36).

use super::codec::{Decode, DecodeError, Encode, Linked, Reader, Text, Writer, length32};
use super::{FileId, OutputBuffer};

flags! {
    /// Flags.
    pub struct NotifyFlags(u16) {
        /// SMB2_WATCH_TREE: of all that is below, too.
        WATCH_TREE = 0x1;
    }
}

flags! {
    /// CompletionFilter: the kinds of changes to report.
    pub struct CompletionFilter(u32) {
        /// FILE_NOTIFY_CHANGE_FILE_NAME.
        FILE_NAME = 0x1;
        /// FILE_NOTIFY_CHANGE_DIR_NAME.
        DIR_NAME = 0x2;
        /// FILE_NOTIFY_CHANGE_ATTRIBUTES.
        ATTRIBUTES = 0x4;
        /// FILE_NOTIFY_CHANGE_SIZE.
        SIZE = 0x8;
        /// FILE_NOTIFY_CHANGE_LAST_WRITE.
        LAST_WRITE = 0x10;
        /// FILE_NOTIFY_CHANGE_LAST_ACCESS.
        LAST_ACCESS = 0x20;
        /// FILE_NOTIFY_CHANGE_CREATION.
        CREATION = 0x40;
        /// FILE_NOTIFY_CHANGE_EA.
        EA = 0x80;
        /// FILE_NOTIFY_CHANGE_SECURITY.
        SECURITY = 0x100;
        /// FILE_NOTIFY_CHANGE_STREAM_NAME.
        STREAM_NAME = 0x200;
        /// FILE_NOTIFY_CHANGE_STREAM_SIZE.
        STREAM_SIZE = 0x400;
        /// FILE_NOTIFY_CHANGE_STREAM_WRITE.
        STREAM_WRITE = 0x800;
    }
}

layout! {
    /// SMB2 CHANGE_NOTIFY Request.
    pub struct Request[32] {
        /// Flags.
        pub flags: NotifyFlags;
        /// OutputBufferLength: largest response, in bytes.
        pub output_buffer_length: u32;
        /// FileId.
        pub file_id: FileId;
        /// CompletionFilter.
        pub completion_filter: CompletionFilter, reserved 4;
    }
}

/// SMB2 CHANGE_NOTIFY Response: changes, as [`changes`] reads them.
pub type Response<'a> = OutputBuffer<'a>;

values! {
    /// Action: kind of change (MS-FSCC, section 2.7.1).
    pub struct Action(u32) {
        /// The file was added.
        ADDED = 0x1, "FILE_ACTION_ADDED";
        /// The file was removed.
        REMOVED = 0x2, "FILE_ACTION_REMOVED";
        /// The file was modified.
        MODIFIED = 0x3, "FILE_ACTION_MODIFIED";
        /// Old name of a renamed file.
        RENAMED_OLD_NAME = 0x4, "FILE_ACTION_RENAMED_OLD_NAME";
        /// New name of a renamed file.
        RENAMED_NEW_NAME = 0x5, "FILE_ACTION_RENAMED_NEW_NAME";
    }
}

/// FILE_NOTIFY_INFORMATION (MS-FSCC, section 2.7.1), without its link to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// Action.
    pub action: Action,
    /// FileName, relative to the directory.
    pub name: Text<'a>,
}

const LINKED: Linked = Linked {
    field: "NextEntryOffset",
    at: 0,
    least: 12,
    align: 4,
};

/// The changes of a response.
pub fn changes(buffer: &[u8]) -> impl Iterator<Item = Result<Change<'_>, DecodeError>> {
    LINKED.members(buffer).map(|member| {
        let mut reader = Reader::new(member?);
        reader.skip(4)?;
        let action = Action::decode(&mut reader)?;
        let name_len = reader.u32()?;
        let name = Text::from_units(reader.take(name_len as usize)?, "FileName")?;
        Ok(Change { action, name })
    })
}

/// Appends changes in the format of a response's buffer.
pub fn encode_changes<'a>(changes: impl IntoIterator<Item = Change<'a>>, out: &mut Writer<'_>) {
    let mut last = None;
    for change in changes {
        if let Some(last) = last {
            LINKED.link(out, last);
        }
        last = Some(out.position());
        out.u32(0);
        change.action.encode(out);
        out.u32(length32(change.name.len()));
        change.name.encode(out);
    }
}
