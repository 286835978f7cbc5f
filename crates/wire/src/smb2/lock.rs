//! LOCK: lock ranges of bytes, and unlock them (sections 2.2.26 and 2.2.27).

use super::codec::{Array, Decode, DecodeError, Encode, Reader, Writer, length16};
use super::{Empty, FileId};

flags! {
    /// Flags of an element.
    pub struct LockFlags(u32) {
        /// SMB2_LOCKFLAG_SHARED_LOCK.
        SHARED_LOCK = 0x1;
        /// SMB2_LOCKFLAG_EXCLUSIVE_LOCK.
        EXCLUSIVE_LOCK = 0x2;
        /// SMB2_LOCKFLAG_UNLOCK.
        UNLOCK = 0x4;
        /// SMB2_LOCKFLAG_FAIL_IMMEDIATELY: without it, the server waits for the lock.
        FAIL_IMMEDIATELY = 0x10;
    }
}

layout! {
    /// SMB2_LOCK_ELEMENT.
    pub struct LockElement {
        /// Offset.
        pub offset: u64;
        /// Length.
        pub length: u64;
        /// Flags.
        pub flags: LockFlags, reserved 4;
    }
}

/// SMB2 LOCK Request: either locks or unlocks, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// LockSequenceNumber in the four lowest bits and LockSequenceIndex above them, which identify
    /// a replay; reserved in dialect 2.0.2.
    pub lock_sequence: u32,
    /// FileId.
    pub file_id: FileId,
    /// Locks: at least one.
    pub locks: Array<'a, LockElement>,
}

impl Request<'_> {
    const SIZE: u16 = 48;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        out.u16(length16(self.locks.len()));
        out.u32(self.lock_sequence);
        self.file_id.encode(out);
        self.locks.encode(out);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let lock_count = reader.u16()?;
        Ok(Self {
            lock_sequence: reader.u32()?,
            file_id: FileId::decode(reader)?,
            locks: Array::decode(reader, lock_count.into())?,
        })
    }
}

/// SMB2 LOCK Response.
pub type Response = Empty;
