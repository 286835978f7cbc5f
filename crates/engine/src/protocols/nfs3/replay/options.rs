//! Options of a replay on an NFS server.

use filestone_host::control::Cancellation;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::GroupIdentities;
use filestone_protocol::client::nfs3::load::LoadOptions;
use filestone_setup::driver::retry::Retry;
use filestone_setup::workspace::test_directory::OnExisting;
use filestone_workload::load::Generation;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Options of a replay on an NFS server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nfs3Options {
    /// Verb set of each load: client i replays load i modulo their number. Some verbs exist in both
    /// sets: RENAME3 is one call, while the Rename of CIFS first looks up both names.
    pub generations: Vec<Generation>,
    /// Whether missing names of CIFS verbs are searched case-insensitively, as Samba does.
    pub resolve: bool,
    /// Whether writes of CIFS verbs are FILE_SYNC instead of UNSTABLE.
    pub stable: bool,
    /// Whether LockX, UnlockX and the LOCK4 verbs use the lock manager.
    pub enable_nlm: bool,
    /// Port of the lock manager; `None` to find it on the server or through the port mapper.
    pub nlm_port: Option<u16>,
    /// Timeout of a call.
    pub timeout: Duration,
    /// Maximum time to retry a lost connection.
    pub reconnect: Duration,
    /// Source address for preparation and clean-up.
    pub source: Option<IpAddr>,
    /// Identities of the clients.
    pub callers: GroupIdentities,
    /// Number of the first client in names.
    pub first_number: u32,
    /// Policy for an existing `clients`.
    pub occupied: OnExisting,
    /// Names that the run can create in `clients`; only these are removed.
    pub made: Arc<MadeNames>,
}

impl Nfs3Options {
    /// Creates default options for loads of these generations.
    pub fn new(generations: Vec<Generation>) -> Self {
        Self {
            generations,
            resolve: true,
            stable: false,
            enable_nlm: false,
            nlm_port: None,
            timeout: Duration::from_secs(30),
            reconnect: Duration::from_secs(10),
            source: None,
            callers: GroupIdentities::default(),
            first_number: 0,
            occupied: OnExisting::BesideEmpty,
            made: Arc::new(MadeNames::any()),
        }
    }

    /// Returns the retry policy for lost connections, ended by `cancellation`.
    pub(super) fn retry(&self, cancellation: &Cancellation) -> Retry {
        Retry {
            reconnect: self.reconnect,
            cancellation: cancellation.clone(),
        }
    }

    /// Returns the options of one client.
    pub(super) fn of_client(&self, client: u32) -> LoadOptions {
        let loads = self.generations.len().max(1);
        let generation = self.generations.get(client as usize % loads);
        let has_nfs_verbs = generation == Some(&Generation::Nfs);
        LoadOptions {
            has_nfs_verbs,
            // Names of NFS are case-sensitive.
            ignores_case: self.resolve && !has_nfs_verbs,
            stable: self.stable,
            modes: self.callers.modes(),
        }
    }
}
