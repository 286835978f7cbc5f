//! OPLOCK_BREAK: a server breaks an oplock or a lease, and the client acknowledges (sections 2.2.23
//! to 2.2.25).

use super::codec::{Decode, DecodeError, Encode, Reader, Writer};
use super::{AccessMask, FileId, LeaseFlags, LeaseKey, LeaseState, OplockLevel};

layout! {
    /// SMB2 OPLOCK_BREAK Notification, Acknowledgment or Response, which have the same layout.
    pub struct OplockBreak[24] {
        /// OplockLevel: level after the break.
        pub level: OplockLevel, reserved 5;
        /// FileId.
        pub file_id: FileId;
    }
}

layout! {
    /// SMB2 Lease Break Notification.
    pub struct LeaseBreak[44] {
        /// NewEpoch; 0 for a lease of version 1.
        pub new_epoch: u16;
        /// Flags.
        pub flags: LeaseFlags;
        /// LeaseKey.
        pub lease_key: LeaseKey;
        /// CurrentLeaseState.
        pub current_state: LeaseState;
        /// NewLeaseState: state after the break.
        pub new_state: LeaseState;
        /// BreakReason: reserved.
        pub reason: u32;
        /// AccessMaskHint: reserved.
        pub access_mask_hint: AccessMask;
        /// ShareMaskHint: reserved.
        pub share_mask_hint: u32;
    }
}

layout! {
    /// SMB2 Lease Break Acknowledgment or Response, which have the same layout.
    pub struct LeaseAcknowledgment[36, reserved 2] {
        /// Flags: none.
        pub flags: LeaseFlags;
        /// LeaseKey.
        pub lease_key: LeaseKey;
        /// LeaseState: state that the client keeps.
        pub state: LeaseState;
        /// LeaseDuration: reserved.
        pub duration: u64;
    }
}

/// Either of two structures, distinguished by their StructureSize.
macro_rules! either {
    ($(#[$meta:meta])* $name:ident, $lease:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            /// Break of an oplock.
            Oplock(OplockBreak),
            /// Break of a lease.
            Lease($lease),
        }

        impl Encode for $name {
            fn encode(&self, out: &mut Writer<'_>) {
                match self {
                    Self::Oplock(oplock) => oplock.encode(out),
                    Self::Lease(lease) => lease.encode(out),
                }
            }
        }

        impl<'a> Decode<'a> for $name {
            fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                let is_oplock = reader.clone().structure(24).is_ok();
                if is_oplock {
                    OplockBreak::decode(reader).map(Self::Oplock)
                } else {
                    $lease::decode(reader).map(Self::Lease)
                }
            }
        }
    };
}

either! {
    /// Notification from the server, unsolicited: its MessageId is [`UNASKED`](super::UNASKED).
    Notification, LeaseBreak
}

either! {
    /// Acknowledgment by a client, and the server's response.
    Acknowledgment, LeaseAcknowledgment
}
