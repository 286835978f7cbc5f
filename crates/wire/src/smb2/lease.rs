//! State and key of a lease, common to CREATE, which requests one, and to its break.

flags! {
    /// LeaseState (sections 2.2.13.2.8 and 2.2.23.2).
    pub struct LeaseState(u32) {
        /// SMB2_LEASE_READ_CACHING.
        READ_CACHING = 0x1;
        /// SMB2_LEASE_HANDLE_CACHING.
        HANDLE_CACHING = 0x2;
        /// SMB2_LEASE_WRITE_CACHING.
        WRITE_CACHING = 0x4;
    }
}

flags! {
    /// Flags of a lease.
    pub struct LeaseFlags(u32) {
        /// SMB2_NOTIFY_BREAK_LEASE_FLAG_ACK_REQUIRED, in a break.
        ACK_REQUIRED = 0x1;
        /// SMB2_LEASE_FLAG_BREAK_IN_PROGRESS, in a response.
        BREAK_IN_PROGRESS = 0x2;
        /// SMB2_LEASE_FLAG_PARENT_LEASE_KEY_SET.
        PARENT_LEASE_KEY_SET = 0x4;
    }
}

/// LeaseKey: chosen by the client.
pub type LeaseKey = [u8; 16];
