//! Directories of this host, on any mounted file system.

mod examine;
pub mod file_claim;
pub mod mix;
pub mod replay;
pub(crate) mod tree;

use super::replay_sites::{SiteOptions, occupied};
use crate::protocols::{ConnectTarget, Job, Protocol};
use crate::replay::thread::Threads;
use filestone_host::control::{Cancellation, RunContext};
use filestone_host::error::RunError;
use filestone_measure::doctor::facts::TargetFacts;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{LeftoverPolicy, LocalTarget};
use filestone_setup::TargetError;
use mix::run_local;
use replay::{LocalOptions, LocalSite};
use std::path::Path;
use std::sync::Arc;

/// Name of the protocol in plans.
pub const NAME: &str = "local";

/// Protocol of system calls on this host.
pub struct Local;

impl Protocol for Local {
    fn name(&self) -> &str {
        NAME
    }

    fn examine(
        &self,
        contact: &ConnectTarget,
        facts: &mut TargetFacts,
        _cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        let target = contact.target.local().ok_or(TargetError::NoCalls)?;
        examine::examine(target, facts)
    }

    fn replay(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        let opening = SiteOptions::of(job)?;
        opening.replay(context, &Threads, |target| {
            Some(open(&opening, target.local()?))
        })
    }

    fn mix(&self, job: &Job<'_>, context: &mut RunContext<'_>) -> Result<RunRecord, RunError> {
        run_local(job.plan, context.stop, context.observer)
    }
}

fn open(opening: &SiteOptions<'_>, target: &LocalTarget) -> Result<LocalSite, RunError> {
    let replay = &*opening.replay;
    let options = LocalOptions {
        sync: replay.local.sync,
        sync_directories: replay.local.sync_directories,
        fsync: replay.local.fsync,
        xattr: replay.local.xattr,
        resolve: replay.resolve,
        one_byte_write_fix: replay.local.one_byte_write_fix,
        stat_check: replay.local.stat_check,
        fake_io: replay.local.fake_io,
        direct: replay.local.direct,
        first_number: replay.first_number,
        occupied: occupied(replay),
        made: Arc::clone(&opening.made),
    };
    let site = match &target.directory {
        Some(directory) => {
            let directory = Path::new(directory);
            // The lock distinguishes active runs on this host from leftovers.
            if replay.left_over != LeftoverPolicy::Refuse {
                replay::remove_left_over_beside(directory, replay.left_over, &options)?;
            }
            LocalSite::claim(directory, options)
        }
        None => LocalSite::temporary(options),
    }?;
    if opening.makes_links {
        site.expect_links();
    }
    Ok(site)
}
