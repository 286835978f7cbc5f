//! Durable handles of version 2 (sections 2.2.13.2.11, 2.2.13.2.12 and 2.2.14.2.12). Contexts of
//! version 1 are empty, or contain a FileId.

use crate::smb2::FileId;

flags! {
    /// Flags of a durable handle.
    pub struct DurableFlags(u32) {
        /// SMB2_DHANDLE_FLAG_PERSISTENT.
        PERSISTENT = 0x2;
    }
}

layout! {
    /// SMB2_CREATE_DURABLE_HANDLE_REQUEST_V2.
    pub struct DurableRequestV2 {
        /// Timeout in milliseconds; 0 selects the server's default.
        pub timeout: u32;
        /// Flags.
        pub flags: DurableFlags, reserved 8;
        /// CreateGuid.
        pub create_guid: [u8; 16];
    }
}

layout! {
    /// SMB2_CREATE_DURABLE_HANDLE_RECONNECT_V2.
    pub struct DurableReconnectV2 {
        /// FileId.
        pub file_id: FileId;
        /// CreateGuid.
        pub create_guid: [u8; 16];
        /// Flags.
        pub flags: DurableFlags;
    }
}

layout! {
    /// SMB2_CREATE_DURABLE_HANDLE_RESPONSE_V2.
    pub struct DurableGrantV2 {
        /// Timeout in milliseconds.
        pub timeout: u32;
        /// Flags.
        pub flags: DurableFlags;
    }
}
