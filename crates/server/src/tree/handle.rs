//! Format of the server's file handles (RFC 1813, section 2.5: opaque bytes).
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | a magic number, so that another server's handle is NFS3ERR_BADHANDLE |
//! | 4–11 | the lineage: a digest of the initial tree's options |
//! | 12–19 | the number of the inode |
//! | 20–27 | the generation of the inode |
//!
//! Objects of the initial tree have generation 0 after every start of the server, so their handles
//! survive a restart. Objects created later have generations that start at a random number, so that
//! a handle from before a restart is recognised as NFS3ERR_STALE.

/// Length of each handle of this server, in bytes.
pub const HANDLE_LEN: usize = 28;

const MAGIC: [u8; 4] = *b"fst3";

/// A decoded handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HandleParts {
    pub lineage: u64,
    pub number: u64,
    pub generation: u64,
}

impl HandleParts {
    pub fn encode(self) -> [u8; HANDLE_LEN] {
        let mut bytes = [0; HANDLE_LEN];
        let (magic, rest) = bytes.split_at_mut(MAGIC.len());
        magic.copy_from_slice(&MAGIC);
        let words = [self.lineage, self.number, self.generation];
        for (target, word) in rest.chunks_exact_mut(8).zip(words) {
            target.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// Decodes a handle; `None` if this server has never created these bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != HANDLE_LEN {
            return None;
        }
        let rest = bytes.strip_prefix(&MAGIC)?;
        let word = |at: usize| {
            rest.get(at..)?
                .first_chunk()
                .map(|word: &[u8; 8]| u64::from_be_bytes(*word))
        };
        Some(Self {
            lineage: word(0)?,
            number: word(8)?,
            generation: word(16)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_the_round_trip_and_other_bytes_are_refused() {
        let parts = HandleParts {
            lineage: 1,
            number: u64::MAX,
            generation: 3,
        };
        let bytes = parts.encode();
        assert_eq!(HandleParts::decode(&bytes), Some(parts));
        assert_eq!(HandleParts::decode(&bytes[..27]), None);
        assert_eq!(HandleParts::decode(&[0; HANDLE_LEN]), None);
    }
}
