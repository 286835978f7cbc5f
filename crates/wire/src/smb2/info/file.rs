//! Information about a file (MS-FSCC, section 2.4).

use crate::smb2::codec::{Decode, DecodeError, Encode, Reader, Text, Writer, length32};
use crate::smb2::{FileAttributes, FileTime};

layout! {
    /// FileBasicInformation, section 2.4.7. Fields set to 0 keep their value.
    #[derive(Default)]
    pub struct FileBasicInformation {
        /// CreationTime.
        pub creation_time: FileTime;
        /// LastAccessTime.
        pub last_access_time: FileTime;
        /// LastWriteTime.
        pub last_write_time: FileTime;
        /// ChangeTime.
        pub change_time: FileTime;
        /// FileAttributes.
        pub file_attributes: FileAttributes, reserved 4;
    }
}

layout! {
    /// FileStandardInformation, section 2.4.47.
    pub struct FileStandardInformation {
        /// AllocationSize.
        pub allocation_size: u64;
        /// EndOfFile.
        pub end_of_file: u64;
        /// NumberOfLinks.
        pub number_of_links: u32;
        /// DeletePending.
        pub delete_pending: bool;
        /// Directory.
        pub directory: bool, reserved 2;
    }
}

layout! {
    /// FileInternalInformation, section 2.4.26.
    pub struct FileInternalInformation {
        /// IndexNumber: number of the file in the file system.
        pub index_number: u64;
    }
}

layout! {
    /// FileNetworkOpenInformation, section 2.4.34.
    pub struct FileNetworkOpenInformation {
        /// CreationTime.
        pub creation_time: FileTime;
        /// LastAccessTime.
        pub last_access_time: FileTime;
        /// LastWriteTime.
        pub last_write_time: FileTime;
        /// ChangeTime.
        pub change_time: FileTime;
        /// AllocationSize.
        pub allocation_size: u64;
        /// EndOfFile.
        pub end_of_file: u64;
        /// FileAttributes.
        pub file_attributes: FileAttributes, reserved 4;
    }
}

layout! {
    /// FileDispositionInformation, section 2.4.11.
    pub struct FileDispositionInformation {
        /// DeletePending: removes the file when it is closed.
        pub delete_pending: bool;
    }
}

layout! {
    /// FileAllocationInformation, section 2.4.4.
    pub struct FileAllocationInformation {
        /// AllocationSize.
        pub allocation_size: u64;
    }
}

layout! {
    /// FileEndOfFileInformation, section 2.4.14.
    pub struct FileEndOfFileInformation {
        /// EndOfFile.
        pub end_of_file: u64;
    }
}

/// FileRenameInformation for SMB2, section 2.4.42.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRenameInformation<'a> {
    /// ReplaceIfExists.
    pub replace_if_exists: bool,
    /// FileName: a path from the share's root.
    pub name: Text<'a>,
}

impl Encode for FileRenameInformation<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        let start = out.position();
        self.replace_if_exists.encode(out);
        // Reserved, and RootDirectory, which is 0 over a network.
        out.zeros(15);
        out.u32(length32(self.name.len()));
        self.name.encode(out);
        // The structure has at least 24 bytes, and Windows refuses a shorter one.
        let len = out.position() - start;
        out.zeros(24_usize.saturating_sub(len));
    }
}

impl<'a> Decode<'a> for FileRenameInformation<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let replace_if_exists = bool::decode(reader)?;
        reader.skip(15)?;
        let name_len = reader.u32()?;
        let name = reader.take(name_len as usize)?;
        Ok(Self {
            replace_if_exists,
            name: Text::from_units(name, "FileName")?,
        })
    }
}
