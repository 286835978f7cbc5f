//! Oplocks (section 2.2.13).

values! {
    /// OplockLevel: the caching that a client is granted.
    #[derive(Default)]
    pub struct OplockLevel(u8) {
        /// No caching.
        NONE = 0x00, "SMB2_OPLOCK_LEVEL_NONE";
        /// Level II: what it has read.
        II = 0x01, "SMB2_OPLOCK_LEVEL_II";
        /// Exclusive: what it has read and written.
        EXCLUSIVE = 0x08, "SMB2_OPLOCK_LEVEL_EXCLUSIVE";
        /// Batch: that, and the open.
        BATCH = 0x09, "SMB2_OPLOCK_LEVEL_BATCH";
        /// A context has a lease.
        LEASE = 0xff, "SMB2_OPLOCK_LEVEL_LEASE";
    }
}
