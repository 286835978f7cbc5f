//! A client of a load over NFS as a future.

use super::locks::ClientLocks;
use super::names::HandleCache;
use super::paths::{LoadOptions, RunDirectories, VerbExecutor};
use crate::client::actor::{self, ActorTaskKind, TaskEnd, ended, next_task};
use crate::client::call_slot::ActionError;
use crate::client::nfs3::sequence::{NfsCallHandle, Rpc};
use crate::client::open_files::OpenFiles;
use crate::client::owned_action::OwnedAction;
use filestone_plan::made::MadeNames;
use filestone_workload::load::{ActionStatus, Cause};
use std::sync::Arc;

/// Options of a client.
#[derive(Debug, Clone)]
pub struct ActorOptions {
    /// The client number.
    pub client: u32,
    /// Directories of the run.
    pub directories: RunDirectories,
    /// Options of the load.
    pub options: LoadOptions,
    /// The names that the run can create; only these are removed.
    pub made: Arc<MadeNames>,
    /// Whether locks go to the lock manager.
    pub has_lock_manager: bool,
    /// Time limit for a reply, in nanoseconds.
    pub timeout_nanos: u64,
}

/// A client of a load over NFS.
pub type NfsActor = actor::Actor<Rpc>;

/// Creates an idle client.
pub fn actor(options: &ActorOptions) -> NfsActor {
    let locks = || ClientLocks::new(NfsCallHandle::HERE, options.timeout_nanos, options.client);
    NfsActor::new(act(VerbExecutor {
        client: options.client,
        nfs: NfsCallHandle::HERE,
        locks: options.has_lock_manager.then(locks),
        directories: options.directories,
        options: options.options,
        made: Arc::clone(&options.made),
        names: HandleCache::default(),
        open: OpenFiles::default(),
        moved: 0,
    }))
}

/// Executes tasks forever.
async fn act(mut verbs: VerbExecutor) {
    let mut kept = OwnedAction::default();
    loop {
        let kind = next_task(&mut kept).await;
        verbs.moved = 0;
        let answer = match kind {
            ActorTaskKind::Action => verbs.execute(kept.action()).await,
            // Clients of a load execute only lines.
            ActorTaskKind::Operation(_) => Err(ActionError::refused(Cause::Other)),
            ActorTaskKind::EndPass => verbs.end_pass().await.map(|()| ActionStatus::Ok),
            // An NFSv3 server keeps no client state.
            ActorTaskKind::Leave => Ok(ActionStatus::Ok),
            ActorTaskKind::RemoveTree => verbs.remove_own_tree().await.map(|()| ActionStatus::Ok),
        };
        ended(TaskEnd::plain(answer, verbs.moved));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::nfs3::load::NfsTransferLimits;
    use filestone_plan::plan::CreateModes;
    use filestone_wire::nfs3::Handle;

    #[test]
    fn a_client_is_small() {
        let transfers = NfsTransferLimits { read: 1, write: 1 };
        let actor = actor(&ActorOptions {
            client: 0,
            directories: RunDirectories {
                root: Handle::EMPTY,
                clients: Handle::EMPTY,
                transfers,
            },
            options: LoadOptions {
                has_nfs_verbs: false,
                ignores_case: true,
                stable: false,
                modes: CreateModes::OWN,
            },
            made: Arc::new(MadeNames::any()),
            has_lock_manager: true,
            timeout_nanos: 1,
        });
        assert!(actor.future_len() <= 3 << 10, "{}", actor.future_len());
    }
}
