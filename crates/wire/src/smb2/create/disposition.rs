//! How a file is opened, and what came of it (sections 2.2.13 and 2.2.14).

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
    /// ShareAccess: what others may do while the file is open.
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
    /// CreateDisposition: what to do if the file is there, and if it is not.
    pub struct CreateDisposition(u32) {
        /// Put another in its place, or make it.
        SUPERSEDE = 0x0, "FILE_SUPERSEDE";
        /// Open it, or fail.
        OPEN = 0x1, "FILE_OPEN";
        /// Fail, or make it.
        CREATE = 0x2, "FILE_CREATE";
        /// Open it, or make it.
        OPEN_IF = 0x3, "FILE_OPEN_IF";
        /// Open it and make it empty, or fail.
        OVERWRITE = 0x4, "FILE_OVERWRITE";
        /// Open it and make it empty, or make it.
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
    /// CreateAction: what was done.
    pub struct CreateAction(u32) {
        /// Another was put in its place.
        SUPERSEDED = 0x0, "FILE_SUPERSEDED";
        /// It was opened.
        OPENED = 0x1, "FILE_OPENED";
        /// It was made.
        CREATED = 0x2, "FILE_CREATED";
        /// It was opened and made empty.
        OVERWRITTEN = 0x3, "FILE_OVERWRITTEN";
    }
}
