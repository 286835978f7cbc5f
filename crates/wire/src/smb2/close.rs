//! CLOSE: closes an open (sections 2.2.15 and 2.2.16).

use super::{FileAttributes, FileId, FileTime};

flags! {
    /// Flags of a request and of its response.
    pub struct CloseFlags(u16) {
        /// SMB2_CLOSE_FLAG_POSTQUERY_ATTRIB: return the attributes of the file after the close.
        POSTQUERY_ATTRIB = 0x1;
    }
}

layout! {
    /// SMB2 CLOSE Request.
    pub struct Request[24] {
        /// Flags.
        pub flags: CloseFlags, reserved 4;
        /// FileId.
        pub file_id: FileId;
    }
}

layout! {
    /// SMB2 CLOSE Response; all fields are 0 unless attributes were requested.
    #[derive(Default)]
    pub struct Response[60] {
        /// Flags.
        pub flags: CloseFlags, reserved 4;
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
        /// EndofFile.
        pub end_of_file: u64;
        /// FileAttributes.
        pub file_attributes: FileAttributes;
    }
}
