//! TEST: checks whether a lock would be granted (RFC 1813, section 6.3.1).

use super::{LockRange, NetObject, Status};
use crate::xdr::{Decode, DecodeError, Encode, Reader, Writer};

message! {
    /// `nlm4_testargs`.
    #[derive(Copy)]
    pub struct Args<'a> {
        /// Chosen by the caller and repeated in the reply.
        pub cookie: NetObject<'a>,
        /// Whether the lock is exclusive.
        pub exclusive: bool,
        /// `alock`: what would be locked.
        pub alock: LockRange<'a>,
    }
}

message! {
    /// `nlm4_holder`: owner and range of the conflicting lock.
    #[derive(Copy)]
    pub struct Holder<'a> {
        /// Whether the conflicting lock is exclusive.
        pub exclusive: bool,
        /// ID of the owning process on its host.
        pub svid: i32,
        /// `oh`: the owner on that host.
        pub owner: NetObject<'a>,
        /// `l_offset`: the first byte.
        pub offset: u64,
        /// `l_len`: length in bytes; 0 extends to the end of all files.
        pub len: u64,
    }
}

/// `nlm4_testrply`: a union switched on the status; only NLM4_DENIED has contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOutcome<'a> {
    /// NLM4_DENIED, with the conflicting lock.
    Denied(Holder<'a>),
    /// Any other status.
    Status(Status),
}

impl TestOutcome<'_> {
    /// Returns the status.
    pub const fn status(&self) -> Status {
        match self {
            Self::Denied(_) => Status::DENIED,
            Self::Status(status) => *status,
        }
    }
}

impl Encode for TestOutcome<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.status().encode(out);
        if let Self::Denied(holder) = self {
            holder.encode(out);
        }
    }
}

impl<'a> Decode<'a> for TestOutcome<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match Status::decode(reader)? {
            Status::DENIED => Holder::decode(reader).map(Self::Denied),
            status => Ok(Self::Status(status)),
        }
    }
}

message! {
    /// `nlm4_testres`.
    #[derive(Copy)]
    pub struct Reply<'a> {
        /// Cookie of the call.
        pub cookie: NetObject<'a>,
        /// `test_stat`.
        pub outcome: TestOutcome<'a>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_says_who_holds_the_lock() {
        let granted = Reply {
            cookie: NetObject(b""),
            outcome: TestOutcome::Status(Status::GRANTED),
        };
        assert_eq!(granted.to_bytes(), [0; 8]);
        let holder = Holder {
            exclusive: true,
            svid: 7,
            owner: NetObject(b"me"),
            offset: 8,
            len: 9,
        };
        let denied = Reply {
            outcome: TestOutcome::Denied(holder),
            ..granted
        };
        let bytes = denied.to_bytes();
        assert_eq!(bytes.len(), 8 + 4 + 4 + 8 + 16);
        assert_eq!(Reply::from_bytes(&bytes), Ok(denied));
    }
}
