//! Duplicate request cache: repeated UDP calls are executed once.
//!
//! A client that sees no reply sends its call again, with the same xid (RFC 5531, section 4). A
//! REMOVE that is executed twice would return NFS3ERR_NOENT although the call has removed the file.
//! So the last replies to such calls are cached, as Juszczak described it for the reference server
//! (USENIX Winter 1989), and sent again. TCP does not lose calls.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use filestone_wire::nfs3::Procedure;

/// Number of cached replies, of about 300 bytes each.
const REPLIES_MAX: usize = 1024;

/// Source address, and a digest of the whole call including the xid.
type Key = (SocketAddr, u64);

/// The cached replies.
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

/// Returns whether a procedure can be executed twice with the same result.
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
