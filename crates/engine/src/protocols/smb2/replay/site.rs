//! A directory of a share in which loads are replayed.

use crate::protocols::replay_sites::{SiteOptions, occupied};
use crate::replay::site::{TreeCleanup, WorkDir};
use filestone_host::control::{Cancellation, RunContext, cancel_on};
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::{DurableHandles, Target};
use filestone_plan::plan::{LeftoverPolicy, SmbTarget};
use filestone_protocol::client::smb2::{
    ConnectionSetup, ShareLoadOptions, SharePath, ShareTransfers,
};
use filestone_setup::smb2::connection::{ConnectedShare, Reaching};
use filestone_setup::smb2::terms::{guest_remark, keeping, reach};
use filestone_setup::smb2::tree::{ShareDirectory, ShareTree};
use filestone_setup::smb2::{SmbError, prepare};
use filestone_setup::workspace::Purpose;
use filestone_setup::workspace::scratch_directory::REMOVE_LEFTOVER;
use filestone_setup::workspace::test_directory::{self, LeftOver, TestDirectory};
use filestone_setup::workspace::tree::TreeDirectory;
use std::sync::Arc;

/// Maximum size of a READ or WRITE in bytes, even if the server supports more.
const TRANSFER_MAX: u32 = 1 << 20;

/// A directory of a share, claimed for a run.
pub struct ShareSite {
    reaching: Reaching,
    claim: TestDirectory<SharePath>,
    options: ShareLoadOptions,
    record: Target,
    guest_remark: Option<String>,
}

impl ShareSite {
    /// Connects to the share and claims the target's directory: creates `clients` in it, or works
    /// next to one of another program.
    pub fn claim(
        opening: &SiteOptions<'_>,
        target: &SmbTarget,
        context: &RunContext<'_>,
    ) -> Result<Self, RunError> {
        let cancellation = context.cancellation.clone();
        cancel_on(context.stop, &cancellation, || {
            Self::claim_until(opening, target, context)
        })
    }

    fn claim_until(
        opening: &SiteOptions<'_>,
        target: &SmbTarget,
        context: &RunContext<'_>,
    ) -> Result<Self, RunError> {
        let (plan, replay) = (opening.plan, &*opening.replay);
        let policy = replay.left_over;
        let occupied = occupied(replay);
        let mut connection = reach(plan, target, opening.built_in.smb, context)?;
        let found = prepare::find(&mut connection, target)?;
        if !found.opened.is_directory() {
            let path = target.to_string();
            return Err(SmbError::NotADirectory { path }.into());
        }
        let limits = connection.limits().map_err(SmbError::into_run_error)?;
        let root = || root(target, &found.path);
        let tree = &mut ShareTree::new(&mut connection);
        if policy != LeftoverPolicy::Refuse {
            let wanted = LeftOver {
                policy,
                occupied,
                made: &opening.made,
            };
            test_directory::remove_left_over(tree, &root(), wanted)?;
        }
        let claim = TestDirectory::claim(tree, root(), occupied, &opening.made)?;
        let transfers = ShareTransfers {
            read: limits.read.min(TRANSFER_MAX),
            write: limits.write.min(TRANSFER_MAX),
        };
        let reaching = connection.reaching().clone();
        let site = Self {
            guest_remark: guest_remark(&connection, target),
            options: ShareLoadOptions {
                client: replay.first_number,
                root: (*claim.root.handle).into(),
                clients: (*claim.clients.handle).into(),
                transfers,
                keeping: keeping(target),
                made: Arc::clone(&opening.made),
                way: Arc::clone(&reaching.way),
                retries: replay.smb.retries,
            },
            record: Target {
                address: reaching.dial.address.to_string(),
                built_in: target.host.is_none(),
                local: connection.is_local(),
                export: target.share.clone(),
                walked: target.path.clone(),
                object: "directory".into(),
                read_max_bytes: transfers.read.into(),
                write_max_bytes: transfers.write.into(),
                session: connection.session_record(),
                ..Target::default()
            },
            claim,
            reaching,
        };
        match connection.leave().map_err(SmbError::into_run_error) {
            Ok(()) => Ok(site),
            Err(error) => {
                let path = site.claim.clients.path.clone();
                Err(match site.release(TreeCleanup::Remove) {
                    Ok(()) => error,
                    Err(kept) => error.leaving(&path, &kept, REMOVE_LEFTOVER),
                })
            }
        }
    }

    /// Returns the connection parameters of the clients.
    pub fn reaching(&self) -> &Reaching {
        &self.reaching
    }

    /// Returns the options of client `client` with the connection setup `way`.
    pub fn load_options(&self, client: u32, way: Arc<ConnectionSetup>) -> ShareLoadOptions {
        ShareLoadOptions {
            way,
            client: self.options.client.saturating_add(client),
            ..self.options.clone()
        }
    }
}

impl WorkDir for ShareSite {
    fn target(&self) -> Target {
        self.record.clone()
    }

    fn note(&self) -> Option<String> {
        let remarks = [self.guest_remark.clone(), self.claim.note()];
        let remarks: Vec<String> = remarks.into_iter().flatten().collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn durable(&self) -> Option<DurableHandles> {
        self.options.keeping.handles()
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.reaching.cancellation = cancellation.clone();
    }

    fn release(mut self, trees: TreeCleanup) -> Result<(), RunError> {
        // A new connection, because the one from before a long run may be gone.
        let made = ConnectedShare::make(&self.reaching, 1);
        let mut connection = made.map_err(SmbError::into_run_error)?;
        let tree = &mut ShareTree::new(&mut connection);
        match trees {
            TreeCleanup::Remove => Ok(self.claim.remove(tree)?),
            TreeCleanup::Keep => Ok(self.claim.release(tree)?),
        }
    }
}

/// Returns the directory under test.
fn root(target: &SmbTarget, path: &str) -> ShareDirectory {
    TreeDirectory {
        handle: path.into(),
        path: target.to_string(),
        purpose: Purpose::Replay,
    }
}
