//! Access rights (section 2.2.13.1).

flags! {
    /// ACCESS_MASK of files, pipes and printers; of directories where the bits mean the same.
    pub struct AccessMask(u32) {
        /// FILE_READ_DATA, FILE_LIST_DIRECTORY.
        READ_DATA = 0x1;
        /// FILE_WRITE_DATA, FILE_ADD_FILE.
        WRITE_DATA = 0x2;
        /// FILE_APPEND_DATA, FILE_ADD_SUBDIRECTORY.
        APPEND_DATA = 0x4;
        /// FILE_READ_EA.
        READ_EA = 0x8;
        /// FILE_WRITE_EA.
        WRITE_EA = 0x10;
        /// FILE_EXECUTE, FILE_TRAVERSE.
        EXECUTE = 0x20;
        /// FILE_DELETE_CHILD.
        DELETE_CHILD = 0x40;
        /// FILE_READ_ATTRIBUTES.
        READ_ATTRIBUTES = 0x80;
        /// FILE_WRITE_ATTRIBUTES.
        WRITE_ATTRIBUTES = 0x100;
        /// DELETE: permits removing and renaming.
        DELETE = 0x1_0000;
        /// READ_CONTROL.
        READ_CONTROL = 0x2_0000;
        /// WRITE_DAC.
        WRITE_DAC = 0x4_0000;
        /// WRITE_OWNER.
        WRITE_OWNER = 0x8_0000;
        /// SYNCHRONIZE.
        SYNCHRONIZE = 0x10_0000;
        /// ACCESS_SYSTEM_SECURITY.
        ACCESS_SYSTEM_SECURITY = 0x100_0000;
        /// MAXIMUM_ALLOWED.
        MAXIMUM_ALLOWED = 0x200_0000;
        /// GENERIC_ALL.
        GENERIC_ALL = 0x1000_0000;
        /// GENERIC_EXECUTE.
        GENERIC_EXECUTE = 0x2000_0000;
        /// GENERIC_WRITE.
        GENERIC_WRITE = 0x4000_0000;
        /// GENERIC_READ.
        GENERIC_READ = 0x8000_0000;
    }
}
