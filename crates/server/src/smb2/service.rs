//! SMB service for workers.

use std::sync::{Arc, Mutex, RwLock};

use filestone_wire::smb2::Status;

use super::connection::SmbConnection;
use super::connection_id::ConnectionId;
use super::exchange::SmbSharedState;
use super::frames::{Frames, Moment};
use super::metadata::file_time;
use super::options::SmbOptions;
use super::random;
use crate::counters::ThreadCounters;
use crate::tree::inode::UnixNanoseconds;
use crate::tree::{Identity, InodeNumber, Tree};

/// A share over a tree.
#[derive(Debug)]
pub struct SmbService {
    shared: SmbSharedState,
}

impl SmbService {
    pub fn new(tree: Arc<RwLock<Tree>>, options: SmbOptions, now: UnixNanoseconds) -> Self {
        let (root, (uid, gid)) = {
            let tree = tree
                .read()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let root = tree.walk(b"export").unwrap_or(InodeNumber::ROOT);
            (root, tree.owner())
        };
        let mut guid = [0; 16];
        // Any number suffices: it only distinguishes this server from others.
        let _: Result<(), Status> = random::fill(&mut guid);
        Self {
            shared: SmbSharedState {
                tree,
                open_table: Mutex::default(),
                options,
                root,
                identity: Identity::unchecked(uid, gid),
                guid,
                start: file_time(now),
            },
        }
    }

    /// Creates the state of a connection.
    pub fn connect(&self, place: ConnectionId) -> SmbConnection {
        SmbConnection::new(place, self.shared.options.credits)
    }

    /// Returns the frames of a connection at a moment, for one call; `room` is a reused buffer for
    /// verifying signatures.
    pub fn frames<'x>(
        &'x self,
        connection: &'x mut SmbConnection,
        tally: &'x ThreadCounters,
        moment: Moment,
        room: &'x mut Vec<u8>,
    ) -> Frames<'x> {
        Frames {
            shared: &self.shared,
            connection,
            tally,
            moment,
            room,
        }
    }
}
