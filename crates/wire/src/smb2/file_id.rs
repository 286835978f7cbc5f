//! SMB2_FILEID (section 2.2.14.1).

layout! {
    /// Identification of an open by the server.
    #[derive(Hash, PartialOrd, Ord)]
    pub struct FileId {
        /// Persistent.
        pub persistent: u64;
        /// Volatile.
        pub volatile: u64;
    }
}

impl FileId {
    /// FileId in a related message of a compound: that of the previous message.
    pub const OF_PREVIOUS: Self = Self {
        persistent: u64::MAX,
        volatile: u64::MAX,
    };
}
