//! Runs on several hosts: `mpirun` or `srun` started this process, and rank 0 has read the command
//! line.

use super::{CalibrationMode, LoadedPlan, interruption, measure_in};
use crate::console;
use crate::error::Error;
use crate::options::hosts::{HostsOptions, OnRankLostArgument};
use crate::protocols;
use filestone_cluster::{
    Cluster, JobError, JobOptions, MpiTransport, RankFailure, Runner, Transport, launch,
    library_version, serve,
};
use filestone_host::control::{Observer, RunContext};
use filestone_host::control_socket::SocketChoice;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::Plan;
use filestone_setup::workspace::marker::ProcessIdentity;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time that ranks wait for each other at the end.
const LEAVE_WITHIN: Duration = Duration::from_secs(30);

thread_local! {
    // MPI may only be used by the thread that initialized it, which is the one that reads the
    // command line.
    static CLUSTER: RefCell<Option<Cluster>> = const { RefCell::new(None) };
    static OPTIONS: RefCell<Option<JobOptions>> = const { RefCell::new(None) };
}

/// Returns the version of this program and of its MPI library.
pub fn version() -> String {
    format!("{} with {}", env!("CARGO_PKG_VERSION"), library_version())
}

/// Returns the properties that all ranks must share.
fn build() -> String {
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    format!("{} ({profile})", env!("CARGO_PKG_VERSION"))
}

/// Initializes MPI if a launcher started this process as one of several. Rank 0 continues; the
/// other ranks execute parts of jobs until rank 0 releases them, and then return an exit code.
pub fn serve_if_not_first() -> Option<u8> {
    launch::launcher(|name| std::env::var(name).ok())?;
    let mut transport = Box::new(MpiTransport::start()?);
    if transport.size() < 2 {
        transport.leave(false);
        return None;
    }
    if transport.rank() == 0 {
        let runner: Arc<dyn Runner> = Arc::new(Here);
        let cluster = Cluster::new(transport, runner, JobOptions::new(&build()));
        CLUSTER.set(Some(cluster));
        return None;
    }
    let runner: Arc<dyn Runner> = Arc::new(Here);
    let ended = interruption::stop_flag().and_then(|stop| {
        let served = serve(&mut *transport, &build(), &runner, &stop);
        served.map_err(|error| Error::environment(format!("rank {}: {error}", transport.rank())))
    });
    let (exit_code, is_one_lost) = match &ended {
        Ok(is_one_lost) => (0, *is_one_lost),
        Err(error) => {
            console::error(error);
            (error.exit_code(), true)
        }
    };
    let rank = transport.rank();
    within(LEAVE_WITHIN, rank, || transport.leave(is_one_lost));
    Some(exit_code)
}

/// Whether runs use several hosts.
pub fn are_many() -> bool {
    CLUSTER.with_borrow(Option::is_some)
}

/// Stores the job options of the command line.
pub fn follow(options: &HostsOptions) -> Result<(), Error> {
    OPTIONS.set(Some(JobOptions {
        per_host: options.per_host,
        coordinator_only: options.coordinator_only,
        on_rank_lost: match options.on_rank_lost {
            OnRankLostArgument::End => filestone_cluster::OnRankLost::End,
            OnRankLostArgument::Continue => filestone_cluster::OnRankLost::Continue,
        },
        watchdog: Duration::from_nanos(options.rank_timeout),
        ..JobOptions::new(&build())
    }));
    Ok(())
}

/// Releases the other ranks.
pub fn leave() {
    if let Some(cluster) = CLUSTER.take() {
        within(LEAVE_WITHIN, 0, || cluster.leave());
    }
}

/// Finalizes MPI with a time limit, because it waits for all ranks and one may have been stopped at
/// that moment. All measurements have been written by then.
fn within(limit: Duration, rank: u32, leave: impl FnOnce()) {
    let has_left = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let has_left = Arc::clone(&has_left);
        move || {
            std::thread::sleep(limit);
            if !has_left.load(Ordering::Acquire) {
                let error = Error::environment(format!(
                    "rank {rank}: other ranks have not ended within {} s",
                    limit.as_secs()
                ));
                console::error(&error);
                end(error.exit_code());
            }
        }
    });
    leave();
    has_left.store(true, Ordering::Release);
}

#[expect(
    clippy::exit,
    reason = "the thread that would end this process is within MPI"
)]
fn end(exit_code: u8) {
    std::process::exit(exit_code.into());
}

/// Runs a job on all hosts.
pub fn measure(
    job: &LoadedPlan,
    calibration: CalibrationMode,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, Error> {
    refuse_what_stays_here(job)?;
    with_cluster(|cluster| {
        let calibrates = calibration == CalibrationMode::First;
        let made = cluster.run(&job.plan, calibrates, stop, observer);
        made.map_err(|error| explained(&error))
    })?
}

/// Returns the combined plan of all hosts.
pub fn plan_of_all(plan: &Plan) -> Result<Plan, Error> {
    with_cluster(|cluster| cluster.plan_of_all(plan))
}

/// Calls `act` with the ranks, with the options of the command line.
fn with_cluster<T>(act: impl FnOnce(&mut Cluster) -> T) -> Result<T, Error> {
    CLUSTER.with_borrow_mut(|cluster| {
        let cluster = cluster.as_mut();
        let cluster = cluster.ok_or_else(|| Error::internal("there are no other ranks"))?;
        if let Some(options) = OPTIONS.with_borrow(Clone::clone) {
            cluster.set_options(options);
        }
        Ok(act(cluster))
    })
}

/// Rejects plans that depend on this host only: a built-in server is on this host alone, and
/// passwords are not sent to other ranks.
fn refuse_what_stays_here(job: &LoadedPlan) -> Result<(), Error> {
    if job.plan.targets().any(|target| target.is_built_in()) {
        return Err(
            Error::usage("a job of many hosts has no built-in server").with_help(
                "name one, such as nfs://server/export; filestone serve is one to try on any host",
            ),
        );
    }
    if job.password.is_some() {
        return Err(
            Error::usage("a job of many hosts logs on without a password").with_help(
                "passwords are not sent to other hosts: measure as guest, or on one host",
            ),
        );
    }
    Ok(())
}

fn explained(error: &JobError) -> Error {
    Error {
        category: error.category(),
        message: error.to_string(),
        help: error.help(),
    }
}

/// Runs parts of jobs on this host.
struct Here;

impl Runner for Here {
    fn run(
        &self,
        plan: &Plan,
        calibrates: bool,
        context: &mut RunContext<'_>,
    ) -> Result<RunRecord, RankFailure> {
        let job = LoadedPlan {
            plan: plan.clone(),
            loads: vec![],
            password: None,
            control_socket: SocketChoice::None,
        };
        let calibration = CalibrationMode::unless(!calibrates);
        measure_in(&job, calibration, context)
            .map_err(|error| RankFailure::new(error.category, error.message, error.help))
    }

    fn reclaim(
        &self,
        plan: &Plan,
        owner: &ProcessIdentity,
        limit: Duration,
        context: &mut RunContext<'_>,
    ) -> Result<(), RankFailure> {
        let job = filestone_engine::Job::new(plan);
        filestone_engine::reclaim(&job, protocols::known(), owner, limit, context)
            .map_err(|error| RankFailure::new(error.category(), error.to_string(), None))
    }
}
