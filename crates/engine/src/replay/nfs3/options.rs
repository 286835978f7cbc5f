//! How a load is replayed on an NFS server.

use filestone_model::load::Generation;
use std::time::Duration;

/// What a caller decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nfs3Options {
    /// Whose verbs the load has. Some are in both languages: RENAME3 is one call,
    /// and the Rename of CIFS also asks for both names first.
    pub generation: Generation,
    /// Whether names of CIFS verbs that are not there are looked for by ignoring
    /// case, as Samba does.
    pub resolve: bool,
    /// Whether the writes of CIFS verbs are FILE_SYNC instead of UNSTABLE.
    pub stable: bool,
    /// The most bytes that a line may read or write.
    pub trunc_io: Option<u32>,
    /// Whether LockX, UnlockX and the LOCK4 family go to the lock manager.
    pub enable_nlm: bool,
    /// Its port, if the portmapper is not to be asked.
    pub nlm_port: Option<u16>,
    /// How long a call may stay unanswered.
    pub timeout: Duration,
}

impl Nfs3Options {
    /// What applies when nothing is said, for a load of this generation.
    pub fn new(generation: Generation) -> Self {
        Self {
            generation,
            resolve: true,
            stable: false,
            trunc_io: None,
            enable_nlm: false,
            nlm_port: None,
            timeout: Duration::from_secs(30),
        }
    }

    /// Whether the load's verbs are those of NFS.
    pub fn has_nfs_verbs(&self) -> bool {
        self.generation == Generation::Nfs
    }

    /// Whether case may differ. It may not in NFS.
    pub fn ignores_case(&self) -> bool {
        self.resolve && !self.has_nfs_verbs()
    }
}
