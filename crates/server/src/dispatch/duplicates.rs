//! Calls by UDP that come twice are carried out once.
//!
//! A client that sees no reply sends its call again, with the same xid (RFC 5531, section 4). A
//! REMOVE carried out twice would answer NFS3ERR_NOENT to a caller who has removed the file. So
//! the last replies to calls of that kind are remembered, as Juszczak described it for the
//! reference server (USENIX Winter 1989), and given again. TCP does not lose calls.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use filestone_wire::nfs3::Procedure;

/// How many replies are remembered; each has some 300 bytes.
const REPLIES_MAX: usize = 1024;

/// Who called, and a digest of the whole call, its xid included.
type Key = (SocketAddr, u64);

/// The last replies.
#[derive(Debug, Default)]
pub struct Duplicates {
    replies: HashMap<Key, Vec<u8>>,
    order: VecDeque<Key>,
}

impl Duplicates {
    pub fn key(peer: SocketAddr, call: &[u8]) -> Key {
        let mut hasher = DefaultHasher::new();
        call.hash(&mut hasher);
        (peer, hasher.finish())
    }

    pub fn find(&self, key: Key) -> Option<&[u8]> {
        self.replies.get(&key).map(Vec::as_slice)
    }

    pub fn remember(&mut self, key: Key, reply: Vec<u8>) {
        if self.replies.insert(key, reply).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REPLIES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.replies.remove(&oldest);
        }
    }
}

/// Whether a procedure may be carried out twice with the same result.
pub fn is_idempotent(procedure: Procedure) -> bool {
    match procedure {
        Procedure::Setattr
        | Procedure::Create
        | Procedure::Mkdir
        | Procedure::Symlink
        | Procedure::Mknod
        | Procedure::Remove
        | Procedure::Rmdir
        | Procedure::Rename
        | Procedure::Link => false,
        Procedure::Null
        | Procedure::Getattr
        | Procedure::Lookup
        | Procedure::Access
        | Procedure::Readlink
        | Procedure::Read
        | Procedure::Write
        | Procedure::Readdir
        | Procedure::Readdirplus
        | Procedure::Fsstat
        | Procedure::Fsinfo
        | Procedure::Pathconf
        | Procedure::Commit => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_replies_are_forgotten_first() {
        let mut duplicates = Duplicates::default();
        let peer = SocketAddr::from(([127, 0, 0, 1], 700));
        let key = |xid: u32| Duplicates::key(peer, &xid.to_be_bytes());
        for xid in 0..=REPLIES_MAX as u32 {
            duplicates.remember(key(xid), vec![xid as u8]);
        }
        assert_eq!(duplicates.find(key(0)), None);
        assert_eq!(duplicates.find(key(1)), Some([1].as_slice()));
        let other = SocketAddr::from(([127, 0, 0, 1], 701));
        assert_eq!(
            duplicates.find(Duplicates::key(other, &1_u32.to_be_bytes())),
            None
        );
    }
}
