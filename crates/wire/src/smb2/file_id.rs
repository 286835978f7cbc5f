//! SMB2_FILEID (section 2.2.14.1).

layout! {
    /// What a server knows an open by.
    #[derive(Hash, PartialOrd, Ord)]
    pub struct FileId {
        /// Persistent.
        pub persistent: u64;
        /// Volatile.
        pub volatile: u64;
    }
}

impl FileId {
    /// In a related message of a compound: that of the message before.
    pub const OF_PREVIOUS: Self = Self {
        persistent: u64::MAX,
        volatile: u64::MAX,
    };
}
