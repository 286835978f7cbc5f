//! Oplocks (section 2.2.13).

values! {
    /// OplockLevel: the caching that a client is granted.
    #[derive(Default)]
    pub struct OplockLevel(u8) {
        /// No caching.
        NONE = 0x00, "SMB2_OPLOCK_LEVEL_NONE";
        /// Level II: caching of reads.
        II = 0x01, "SMB2_OPLOCK_LEVEL_II";
        /// Exclusive: caching of reads and writes.
        EXCLUSIVE = 0x08, "SMB2_OPLOCK_LEVEL_EXCLUSIVE";
        /// Batch: caching of reads, writes and the open.
        BATCH = 0x09, "SMB2_OPLOCK_LEVEL_BATCH";
        /// A lease, in a context.
        LEASE = 0xff, "SMB2_OPLOCK_LEVEL_LEASE";
    }
}
