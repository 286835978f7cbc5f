//! Converts the options of `filestone mix` to a plan: defaults, and handling of several
//! directories. `refusals` rejects options that cannot be combined.

mod kinds;
mod refusals;

pub use kinds::missing_note;

use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::layer_targets::{LayerTarget, LayerTargets};
use crate::options::mix::{
    FileSetOptions, MixArrivals, MixLoadOptions, MixOptions, SteeringOptions,
};
use crate::planning::{
    DURATION_DEFAULT, Environment, TargetConnectOptions, connections, first_and_rest,
    open_loop_in_flight, refuse_of_connections, with_intervals, with_read_data, workers_of,
};
use crate::protocols;
use filestone_plan::mix::Mix;
use filestone_plan::plan::{
    Access, ArrivalsPlan, CurvePlan, FeedbackArithmetic, FileSetPlan, FileSizes, LeftoverPolicy,
    LocalMix, LocalTarget, MixPlan, ObjectivePlan, Plan, SteeringPlan, TargetPlan, WorkloadPlan,
};
use filestone_protocol::workload::mix::spare_names_needed;
use filestone_workload::operation::Stability;

const SECOND: u64 = 1_000_000_000;
/// Default load; nhfsstone offered 30 operations per second, to the servers of 1989.
const OFFERED_DEFAULT: f64 = 1000.0;
/// Default number of clients; nhfsstone had 7 processes, but 8 are divided evenly among workers.
const CLIENTS_DEFAULT: u32 = 8;
/// nhfsstone's files per process.
const FILES_DEFAULT: u32 = 40;
/// Default transfer size: between nhfsstone's 8 KiB and the maximum of servers.
const TRANSFER_DEFAULT: u32 = 32 << 10;
/// The Linux client requests listings of that size or less.
const LISTING_BYTES: u32 = 32 << 10;
/// Maximum rate of background calls; nhfsstone aborted above 20 calls in two seconds.
const BACKGROUND_MAX_CALLS_PER_S: u32 = 10;
/// Work directory of a mix on the built-in server.
pub const BUILT_IN_PATH: &str = "/export";
const WARM_UP_DEFAULT: u64 = SECOND;
const POINTS_DEFAULT: u32 = 10;
const POINT_DURATION_DEFAULT: u64 = 5 * SECOND;
const POINT_WARM_UP_DEFAULT: u64 = 10 * SECOND;
const PRECISION_DEFAULT: f64 = 0.02;
const SEARCH_TIME_DEFAULT: u64 = 90 * SECOND;
/// Interval of a steered run: the controller decides after every interval and must not wait long
/// for one.
const STEERED_INTERVAL: u64 = SECOND / 5;

/// Creates the plan of `filestone mix` with a mix that has been read.
pub fn plan(
    options: &MixOptions,
    mix: Mix,
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Plan, Error> {
    refusals::refuse(options)?;
    let targets = targets(options, credentials, here)?;
    let load = &options.load;
    let clients = clients(load, targets.len());
    let (target, more_targets) = first_and_rest(targets)?;
    refuse_of_connections(&target, load.generator.reconnect, load.generator.on_lost)?;
    let mix = kinds::asked_of(&target, protocols::known(), mix);
    let arrivals = arrivals(load, &options.steering);
    let steering = steering(&options.steering);
    let is_local = target.is_directory();
    let in_flight = match (load.in_flight, arrivals) {
        // A process at a mount makes one system call at a time.
        _ if is_local => 1,
        (Some(in_flight), _) => in_flight,
        (None, ArrivalsPlan::Closed) => target.connections_per_client(),
        (None, _) => open_loop_in_flight(clients).max(target.connections_per_client()),
    };
    let access = &options.access;
    let mix = MixPlan {
        more_targets,
        transfer_bytes: access.io_size.unwrap_or(TRANSFER_DEFAULT),
        access: access.access.unwrap_or_default(),
        stability: access.stable.unwrap_or_default(),
        remove_set: options.set.remove_file_set,
        left_over: LeftoverPolicy::removing(options.set.remove_leftover),
        local: if is_local {
            let (proc_root, feedback) = (options.target.proc.clone(), !options.target.no_feedback);
            local(proc_root, feedback, FeedbackArithmetic::Exact)
        } else {
            LocalMix::default()
        },
        ..mix_plan(mix, &options.set)
    };
    let plan = Plan {
        arrivals,
        clients,
        in_flight,
        workers: workers_of(load.workers, clients, &target, here),
        warm_up_ns: match steering {
            Some(_) => 0,
            None => load.warm_up.unwrap_or(WARM_UP_DEFAULT),
        },
        duration_ns: match (&steering, load.duration, load.count) {
            (Some(_), ..) | (None, None, Some(_)) => None,
            (None, duration, _) => Some(duration.unwrap_or(DURATION_DEFAULT)),
        },
        count: load.count,
        steering,
        connections: connections(&options.target.nfs),
        ..Plan::new("mix", target, WorkloadPlan::Mix(Box::new(mix)), here.seed)
    };
    let plan = with_spare_names(load.generator.applied_to(plan));
    let plan = match options.report.report_interval {
        None | Some(0) if plan.steering.is_some() => Plan {
            interval_ns: STEERED_INTERVAL,
            ..plan
        },
        mark => with_intervals(plan, mark),
    };
    with_read_data(plan, access.data, false)
}

/// Returns all directories, in the order of the command line.
fn targets(
    options: &MixOptions,
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Vec<TargetPlan>, Error> {
    let at = &options.target;
    let reaching = TargetConnectOptions {
        nfs: &at.nfs,
        transport: at.transport.unwrap_or_default(),
        share: &options.share,
        credentials,
        here,
    };
    let calls = |target| reaching.target(target, BUILT_IN_PATH);
    let targets: Vec<TargetPlan> = match &at.layer {
        Some(list) => directories(&list.0)?,
        None if at.targets.is_empty() => vec![calls(None)?],
        None => {
            let each = at.targets.iter().map(|target| calls(Some(target)));
            each.collect::<Result<_, _>>()?
        }
    };
    Ok(targets)
}

/// Returns the directories of `--layer`, which must be mounts.
fn directories(layers: &[LayerTargets]) -> Result<Vec<TargetPlan>, Error> {
    let [layer] = layers else {
        return Err(Error::usage("--layer: a mix is measured on one layer")
            .with_help("run it once for each, with the same --seed"));
    };
    let directory = |target: &LayerTarget| match target {
        LayerTarget::Local(LocalTarget { directory: None }) => Err(Error::usage(
            "--layer local: a mix needs a directory on an NFS mount",
        )
        .with_help("name it: --layer local:/mnt/test")),
        LayerTarget::Local(directory) => Ok(TargetPlan::Local(directory.clone())),
        LayerTarget::Tcp(_) => Err(Error::usage(
            "--layer tcp: bare TCP has no files that a mix could work on",
        )
        .with_help("filestone replay --layer tcp:HOST carries a load file's bytes")),
        LayerTarget::Smb(_) => Err(Error::usage(
            "--layer smb: a mix goes through a mount, or to a server by itself",
        )
        .with_help("name a directory on an NFS mount: --layer local:/mnt/test")),
        LayerTarget::Nfs3(_) => Err(Error::usage(
            "--layer nfs: a mix goes to an NFS server by itself",
        )
        .with_help("name the server as TARGET: filestone mix nfs://server/export")),
    };
    layer.iter().map(directory).collect()
}

/// Returns the number of clients; each directory has at least one.
fn clients(load: &MixLoadOptions, directories: usize) -> u32 {
    let needed = u32::try_from(directories).unwrap_or(u32::MAX);
    load.clients.unwrap_or_else(|| needed.max(CLIENTS_DEFAULT))
}

fn arrivals(load: &MixLoadOptions, steering: &SteeringOptions) -> ArrivalsPlan {
    // A steered run needs an initial load, which the steering chooses.
    let offered = load.offered.or(steering.peak);
    let offered_load_ops_per_s = offered.unwrap_or(OFFERED_DEFAULT);
    match load.arrivals.unwrap_or_default() {
        MixArrivals::Closed => ArrivalsPlan::Closed,
        MixArrivals::Constant => ArrivalsPlan::Constant {
            offered_load_ops_per_s,
        },
        MixArrivals::Poisson => ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        },
    }
}

fn steering(options: &SteeringOptions) -> Option<SteeringPlan> {
    if options.curve {
        return Some(SteeringPlan::Curve(CurvePlan {
            points: options.points.unwrap_or(POINTS_DEFAULT),
            peak_ops_per_s: options.peak,
            point_ns: options.point_duration.unwrap_or(POINT_DURATION_DEFAULT),
            warm_up_max_ns: options.point_warm_up.unwrap_or(POINT_WARM_UP_DEFAULT),
            down: !options.ascending_only,
        }));
    }
    options.slo.map(|objective| {
        SteeringPlan::Objective(ObjectivePlan {
            objective,
            search_max_ns: options.search_timeout.unwrap_or(SEARCH_TIME_DEFAULT),
            precision: options.precision.unwrap_or(PRECISION_DEFAULT),
        })
    })
}

/// Creates a mix on the file set of these options, without spare names; other options have their
/// defaults.
pub fn mix_plan(mix: Mix, set: &FileSetOptions) -> MixPlan {
    MixPlan {
        calls: None,
        file_set: file_set(set),
        counts: mix.to_plan_counts(),
        name: mix.name,
        skipped_operations: mix.left_out,
        more_targets: vec![],
        transfer_bytes: TRANSFER_DEFAULT,
        access: Access::default(),
        stability: Stability::default(),
        listing_bytes: LISTING_BYTES,
        remove_set: false,
        left_over: LeftoverPolicy::Refuse,
        local: LocalMix::default(),
    }
}

/// Returns the parameters of a mix through a kernel mount.
pub fn local(
    proc_root: Option<String>,
    feedback: bool,
    arithmetic: FeedbackArithmetic,
) -> LocalMix {
    LocalMix {
        proc_root,
        feedback,
        arithmetic,
        background_max_calls_per_s: BACKGROUND_MAX_CALLS_PER_S,
    }
}

/// Returns the plan with the number of spare names in its file set that its operations need.
pub fn with_spare_names(mut plan: Plan) -> Plan {
    let (in_flight, operations) = (plan.in_flight, plan.operations_of_client_max());
    if let WorkloadPlan::Mix(mix) = &mut plan.workload {
        mix.file_set.spare_names_per_client =
            spare_names_needed(&mix.counts, in_flight, operations);
    }
    plan
}

fn file_set(options: &FileSetOptions) -> FileSetPlan {
    let files_per_client = options.files.unwrap_or(FILES_DEFAULT);
    FileSetPlan {
        name: options
            .file_set
            .clone()
            .unwrap_or(FileSetPlan::NAME_DEFAULT.into()),
        files_per_client,
        sizes: options.file_size.clone().unwrap_or(FileSizes::Nhfsstone),
        symbolic_links_per_client: symbolic_links(files_per_client),
        spare_names_per_client: 0,
        working_set_bytes: options.working_set,
        popularity: options.popularity.unwrap_or_default(),
    }
}

/// Returns one symbolic link for every four files: 10 with nhfsstone's 40.
fn symbolic_links(files: u32) -> u32 {
    (files / 4).clamp(1, 1000)
}

#[cfg(test)]
mod tests;
