//! Prepares a run: the clients' files, and objects that their caches cannot answer for.

use super::caller::SyscallExecutor;
use super::learn::LEARN_SECONDS;
use super::opened_set::{OpenedSet, refused};
use super::populate::populate;
use super::task::MountMixTask;
use super::uncached_files::{Needed, OBJECTS_MAX};
use crate::time::Time;
use filestone_host::control::check_cancelled;
use filestone_host::error::RunError;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_workload::operation::OpKind;
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::path::Path;

/// Changes separated by this time have different timestamps on any server.
const CLOCK_TICK_NANOS: u64 = 50_000_000;

impl MountMixTask<'_> {
    /// Creates and checks the files of all clients.
    pub fn populate(&self) -> Result<(Vec<SyscallExecutor>, FileSetRecord), RunError> {
        let began = self.time.now();
        let paths = self.claims.iter();
        let paths = paths.map(|claim| claim.directory.path.clone()).collect();
        let mut record = FileSetRecord::of(&self.layout, &self.kinds, paths);
        let callers = (0..self.plan.clients).map(|client| self.populate_one(client, &mut record));
        let callers = callers.collect::<Result<_, _>>()?;
        record.prepared_ns = self.time.now().nanos_since(began);
        Ok((callers, record))
    }

    fn populate_one(
        &self,
        client: u32,
        record: &mut FileSetRecord,
    ) -> Result<SyscallExecutor, RunError> {
        check_cancelled(self.stop)?;
        let Some(claim) = self.claims.iter().cycle().nth(client as usize) else {
            return Err(RunError::Internal("a mix without a directory".into()));
        };
        let set = OpenedSet::open(
            claim.directory.handle.as_fd(),
            Path::new(&claim.directory.path),
            client,
            &self.layout,
            &self.kinds,
        )?;
        let populated = populate(&set, &self.layout, &self.kinds, self.stop)?;
        record.found += set.found + populated.found;
        record.made += set.made + populated.made;
        let path = set.path.clone();
        let is_direct = self.directories.is_direct();
        let mut caller = SyscallExecutor::new(
            set,
            &self.layout,
            self.mix,
            &self.kinds,
            self.plan.seed,
            is_direct,
        );
        caller
            .open_files()
            .map_err(|errno| refused(&path, errno, "opening its files"))?;
        Ok(caller)
    }

    /// Returns the number of uncached objects that each client will need: as many as the load
    /// requires plus a fifth, or the maximum without an offered load.
    fn needed(&self) -> Needed {
        let (plan, mix) = (self.plan, self.mix);
        let window_ns = plan.duration_ns.unwrap_or(u64::MAX);
        let seconds = (plan.warm_up_ns as f64 + window_ns as f64) / 1e9 + LEARN_SECONDS;
        let by_time = (plan.arrivals.offered_load()).map_or(f64::INFINITY, |load| load * seconds);
        let by_count = plan.count.map_or(f64::INFINITY, |count| count as f64);
        let calls = by_time.min(by_count) / f64::from(plan.clients.max(1));
        let of = |share: f64| {
            if share > 0.0 {
                (1.2 * share * calls).ceil().min(OBJECTS_MAX as f64) as u64
            } else {
                0
            }
        };
        Needed {
            // Every SETATTR makes an ACCESS necessary.
            files: of(mix.share(OpKind::Access) - mix.share(OpKind::SetAttr)),
            links: of(mix.share(OpKind::ReadLink)),
        }
    }

    /// Creates the uncached objects of all clients, then changes them; the total time separates the
    /// two steps.
    pub fn freshen(&self, callers: &mut [SyscallExecutor]) -> Result<(), RunError> {
        let needed = self.needed();
        for caller in callers.iter_mut() {
            check_cancelled(self.stop)?;
            caller
                .make_fresh(needed)
                .map_err(|errno| not_fresh(caller, errno))?;
        }
        if needed.links > 0 {
            self.time
                .wait(self.time.now().after_nanos(CLOCK_TICK_NANOS));
        }
        for caller in callers.iter_mut().filter(|_| needed.links > 0) {
            check_cancelled(self.stop)?;
            match caller.change_fresh(needed) {
                // Some file systems cannot give a symbolic link a second name: then it cannot be
                // read again, and the report states this.
                Ok(()) | Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK) => {}
                Err(errno) => return Err(not_fresh(caller, errno)),
            }
        }
        Ok(())
    }
}

fn not_fresh(caller: &SyscallExecutor, errno: Errno) -> RunError {
    let path = &caller.set().path;
    refused(path, errno, "making links and files for the run")
}
