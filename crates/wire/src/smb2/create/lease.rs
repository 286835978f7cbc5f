//! Requested and granted leases (sections 2.2.13.2.8, 2.2.13.2.10, 2.2.14.2.10 and 2.2.14.2.11),
//! equal in both directions.

use crate::smb2::{LeaseFlags, LeaseKey, LeaseState};

layout! {
    /// SMB2_CREATE_REQUEST_LEASE and SMB2_CREATE_RESPONSE_LEASE.
    pub struct Lease {
        /// LeaseKey.
        pub key: LeaseKey;
        /// LeaseState.
        pub state: LeaseState;
        /// LeaseFlags: reserved in a request.
        pub flags: LeaseFlags;
        /// LeaseDuration: reserved.
        pub duration: u64;
    }
}

layout! {
    /// SMB2_CREATE_REQUEST_LEASE_V2 and SMB2_CREATE_RESPONSE_LEASE_V2: in the 3.x dialects.
    pub struct LeaseV2 {
        /// LeaseKey.
        pub key: LeaseKey;
        /// LeaseState.
        pub state: LeaseState;
        /// Flags.
        pub flags: LeaseFlags;
        /// LeaseDuration: reserved.
        pub duration: u64;
        /// ParentLeaseKey: lease key of the directory, if the flags state so.
        pub parent_key: LeaseKey;
        /// Epoch: incremented with every change of the lease.
        pub epoch: u16, reserved 2;
    }
}
