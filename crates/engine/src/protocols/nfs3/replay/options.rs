//! How a load is replayed on an NFS server.

use crate::control::Cancellation;
use crate::driver::retry::Retry;
use crate::workspace::OnExisting;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::GroupIdentities;
use filestone_protocol::client::nfs3::load::LoadOptions;
use filestone_workload::load::Generation;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// What a caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nfs3Options {
    /// Whose verbs the loads have: client i replays load i modulo their number.
    /// Some verbs are in both languages: RENAME3 is one call, and the Rename of
    /// CIFS also asks for both names first.
    pub generations: Vec<Generation>,
    /// Whether names of CIFS verbs that are not there are looked for by ignoring
    /// case, as Samba does.
    pub resolve: bool,
    /// Whether the writes of CIFS verbs are FILE_SYNC instead of UNSTABLE.
    pub stable: bool,
    /// Whether LockX, UnlockX and the LOCK4 family go to the lock manager.
    pub enable_nlm: bool,
    /// Its port, if neither the server nor its port mapper is to be asked.
    pub nlm_port: Option<u16>,
    /// How long a call may stay unanswered.
    pub timeout: Duration,
    /// How long a lost connection is tried again.
    pub reconnect: Duration,
    /// Where what prepares and cleans up connects from.
    pub source: Option<IpAddr>,
    /// As whom they call.
    pub callers: GroupIdentities,
    /// The first client's number in names.
    pub first_number: u32,
    /// What is done where there may be a `clients` already.
    pub occupied: OnExisting,
    /// The names that the run can make in `clients`, which are all that it removes.
    pub made: Arc<MadeNames>,
}

impl Nfs3Options {
    /// What applies when nothing is said, for loads of these generations.
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

    /// How lost connections are made again, until `cancellation`.
    pub(super) fn retry(&self, cancellation: &Cancellation) -> Retry {
        Retry {
            reconnect: self.reconnect,
            cancellation: cancellation.clone(),
        }
    }

    /// What applies to one client.
    pub(super) fn of_client(&self, client: u32) -> LoadOptions {
        let loads = self.generations.len().max(1);
        let generation = self.generations.get(client as usize % loads);
        let has_nfs_verbs = generation == Some(&Generation::Nfs);
        LoadOptions {
            has_nfs_verbs,
            // Case counts in the names of NFS.
            ignores_case: self.resolve && !has_nfs_verbs,
            stable: self.stable,
            modes: self.callers.modes(),
        }
    }
}
