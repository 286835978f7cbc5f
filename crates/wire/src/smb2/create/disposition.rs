//! CREATE's options for opening a file, and its result (sections 2.2.13 and 2.2.14).

values! {
    /// ImpersonationLevel.
    pub struct ImpersonationLevel(u32) {
        /// Anonymous.
        ANONYMOUS = 0x0, "Anonymous";
        /// Identification.
        IDENTIFICATION = 0x1, "Identification";
        /// Impersonation.
        IMPERSONATION = 0x2, "Impersonation";
        /// Delegate.
        DELEGATE = 0x3, "Delegate";
    }
}

flags! {
    /// ShareAccess: access that other opens may have while the file is open.
    pub struct ShareAccess(u32) {
        /// FILE_SHARE_READ.
        READ = 0x1;
        /// FILE_SHARE_WRITE.
        WRITE = 0x2;
        /// FILE_SHARE_DELETE.
        DELETE = 0x4;
    }
}

values! {
    /// CreateDisposition: action if the file exists, and if it does not.
    pub struct CreateDisposition(u32) {
        /// Replace the file if it exists, otherwise create it.
        SUPERSEDE = 0x0, "FILE_SUPERSEDE";
        /// Open the file if it exists, otherwise fail.
        OPEN = 0x1, "FILE_OPEN";
        /// Fail if the file exists, otherwise create it.
        CREATE = 0x2, "FILE_CREATE";
        /// Open the file if it exists, otherwise create it.
        OPEN_IF = 0x3, "FILE_OPEN_IF";
        /// Open and truncate the file if it exists, otherwise fail.
        OVERWRITE = 0x4, "FILE_OVERWRITE";
        /// Open and truncate the file if it exists, otherwise create it.
        OVERWRITE_IF = 0x5, "FILE_OVERWRITE_IF";
    }
}

flags! {
    /// CreateOptions.
    pub struct CreateOptions(u32) {
        /// FILE_DIRECTORY_FILE.
        DIRECTORY_FILE = 0x1;
        /// FILE_WRITE_THROUGH.
        WRITE_THROUGH = 0x2;
        /// FILE_SEQUENTIAL_ONLY.
        SEQUENTIAL_ONLY = 0x4;
        /// FILE_NO_INTERMEDIATE_BUFFERING.
        NO_INTERMEDIATE_BUFFERING = 0x8;
        /// FILE_SYNCHRONOUS_IO_ALERT.
        SYNCHRONOUS_IO_ALERT = 0x10;
        /// FILE_SYNCHRONOUS_IO_NONALERT.
        SYNCHRONOUS_IO_NONALERT = 0x20;
        /// FILE_NON_DIRECTORY_FILE.
        NON_DIRECTORY_FILE = 0x40;
        /// FILE_COMPLETE_IF_OPLOCKED.
        COMPLETE_IF_OPLOCKED = 0x100;
        /// FILE_NO_EA_KNOWLEDGE.
        NO_EA_KNOWLEDGE = 0x200;
        /// FILE_RANDOM_ACCESS.
        RANDOM_ACCESS = 0x800;
        /// FILE_DELETE_ON_CLOSE.
        DELETE_ON_CLOSE = 0x1000;
        /// FILE_OPEN_BY_FILE_ID.
        OPEN_BY_FILE_ID = 0x2000;
        /// FILE_OPEN_FOR_BACKUP_INTENT.
        OPEN_FOR_BACKUP_INTENT = 0x4000;
        /// FILE_NO_COMPRESSION.
        NO_COMPRESSION = 0x8000;
        /// FILE_RESERVE_OPFILTER.
        RESERVE_OPFILTER = 0x10_0000;
        /// FILE_OPEN_REPARSE_POINT.
        OPEN_REPARSE_POINT = 0x20_0000;
        /// FILE_OPEN_NO_RECALL.
        OPEN_NO_RECALL = 0x40_0000;
        /// FILE_OPEN_FOR_FREE_SPACE_QUERY.
        OPEN_FOR_FREE_SPACE_QUERY = 0x80_0000;
    }
}

values! {
    /// CreateAction: action taken.
    pub struct CreateAction(u32) {
        /// The file was replaced.
        SUPERSEDED = 0x0, "FILE_SUPERSEDED";
        /// The file was opened.
        OPENED = 0x1, "FILE_OPENED";
        /// The file was created.
        CREATED = 0x2, "FILE_CREATED";
        /// The file was opened and truncated.
        OVERWRITTEN = 0x3, "FILE_OVERWRITTEN";
    }
}
