//! Dialects, and what both sides can do in them.

values! {
    /// A dialect of SMB2 or SMB3.
    pub struct Dialect(u16) {
        /// 2.0.2.
        SMB_2_0_2 = 0x0202, "2.0.2";
        /// 2.1.
        SMB_2_1 = 0x0210, "2.1";
        /// 3.0.
        SMB_3_0 = 0x0300, "3.0";
        /// 3.0.2.
        SMB_3_0_2 = 0x0302, "3.0.2";
        /// 3.1.1.
        SMB_3_1_1 = 0x0311, "3.1.1";
        /// Response to SMB1's NEGOTIATE: a dialect of 2.1 or later, to be negotiated next.
        WILDCARD = 0x02ff, "2.???";
    }
}

flags! {
    /// SecurityMode.
    pub struct SecurityMode(u16) {
        /// SMB2_NEGOTIATE_SIGNING_ENABLED.
        SIGNING_ENABLED = 0x1;
        /// SMB2_NEGOTIATE_SIGNING_REQUIRED.
        SIGNING_REQUIRED = 0x2;
    }
}

flags! {
    /// Capabilities of a client or a server.
    pub struct Capabilities(u32) {
        /// SMB2_GLOBAL_CAP_DFS.
        DFS = 0x01;
        /// SMB2_GLOBAL_CAP_LEASING.
        LEASING = 0x02;
        /// SMB2_GLOBAL_CAP_LARGE_MTU: requests that consume more than one credit.
        LARGE_MTU = 0x04;
        /// SMB2_GLOBAL_CAP_MULTI_CHANNEL.
        MULTI_CHANNEL = 0x08;
        /// SMB2_GLOBAL_CAP_PERSISTENT_HANDLES.
        PERSISTENT_HANDLES = 0x10;
        /// SMB2_GLOBAL_CAP_DIRECTORY_LEASING.
        DIRECTORY_LEASING = 0x20;
        /// SMB2_GLOBAL_CAP_ENCRYPTION: in 3.0 and 3.0.2; 3.1.1 uses a context.
        ENCRYPTION = 0x40;
        /// SMB2_GLOBAL_CAP_NOTIFICATIONS.
        NOTIFICATIONS = 0x80;
    }
}
