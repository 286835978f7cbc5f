//! File attributes (MS-FSCC, section 2.6).

flags! {
    /// FileAttributes.
    pub struct FileAttributes(u32) {
        /// FILE_ATTRIBUTE_READONLY.
        READONLY = 0x1;
        /// FILE_ATTRIBUTE_HIDDEN.
        HIDDEN = 0x2;
        /// FILE_ATTRIBUTE_SYSTEM.
        SYSTEM = 0x4;
        /// FILE_ATTRIBUTE_DIRECTORY.
        DIRECTORY = 0x10;
        /// FILE_ATTRIBUTE_ARCHIVE.
        ARCHIVE = 0x20;
        /// FILE_ATTRIBUTE_NORMAL: no other.
        NORMAL = 0x80;
        /// FILE_ATTRIBUTE_TEMPORARY.
        TEMPORARY = 0x100;
        /// FILE_ATTRIBUTE_SPARSE_FILE.
        SPARSE_FILE = 0x200;
        /// FILE_ATTRIBUTE_REPARSE_POINT.
        REPARSE_POINT = 0x400;
        /// FILE_ATTRIBUTE_COMPRESSED.
        COMPRESSED = 0x800;
        /// FILE_ATTRIBUTE_OFFLINE.
        OFFLINE = 0x1000;
        /// FILE_ATTRIBUTE_NOT_CONTENT_INDEXED.
        NOT_CONTENT_INDEXED = 0x2000;
        /// FILE_ATTRIBUTE_ENCRYPTED.
        ENCRYPTED = 0x4000;
    }
}
