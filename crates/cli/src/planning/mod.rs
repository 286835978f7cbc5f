//! Converts options to a [`Plan`]: fills in defaults and rejects combinations that are not
//! possible.

pub mod cost;
pub mod doctor;
mod fields;
pub mod fleet;
pub mod gates;
pub mod ladder;
pub mod mix;
#[cfg(test)]
mod option_audit;
pub mod read_study;
pub mod repeats;
pub mod replay;
pub mod share;
pub mod sweep;

use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::call_target::CallTarget;
use crate::options::nfs::NfsOptions;
use crate::options::probe::{ArrivalProcess, LoadArguments, ProbeOptions, WorkloadOptions};
use crate::options::smb::{ShareLocation, SmbArguments};
use crate::options::target::{Arguments, ParsedTarget};
use filestone_plan::plan::limits::{GIDS_MAX, SIZE_MAX};
use filestone_plan::plan::{
    ArrivalsPlan, ConnectionPlan, IdRanges, Identities, LeftoverPolicy, LevelsPlan, NfsTarget,
    OnLost, OtherTarget, Plan, PlanError, ProbePlan, ReadData, SmbTarget, TICK_NANOS, TargetPlan,
    TransportKind, WorkloadPlan,
};
use filestone_workload::operation::OpKind;
use filestone_workload::text::bytes_text;
use std::fmt::Display;
use std::hash::{BuildHasher, Hasher};

const SECOND: u64 = 1_000_000_000;
/// Default duration; nct's `-d` is 60 s, too long for a first measurement.
pub const DURATION_DEFAULT: u64 = 10 * SECOND;
/// Duration of each load of several in turn: short, so that drift affects all of them equally.
const LEVEL_DEFAULT: u64 = TICK_NANOS;
/// Slots of all clients together, enough that an open loop seldom waits for one.
const OPEN_LOOP_IN_FLIGHT: u32 = 1024;
/// Minimum number of slots of one of many clients; each slot has its own memory.
const OPEN_LOOP_IN_FLIGHT_MIN: u32 = 16;
/// Number of intervals in a run, unless they would be shorter than a tick.
const STRETCHES: u64 = 20;
const FILE_SIZE_DEFAULT: u64 = 64 << 20;
const FILES_DEFAULT: u32 = 10_000;

/// Properties of this process and host that a plan depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Number of processors that this process may use.
    pub processors: u32,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
    /// Supplementary group ids, at most as many as a call carries.
    pub gids: Vec<u32>,
    /// A fresh seed.
    pub seed: u64,
}

impl Environment {
    /// A constant environment for tests, so that plans are reproducible.
    #[cfg(test)]
    pub const CANNED: Self = Self {
        processors: 8,
        uid: 1000,
        gid: 100,
        gids: Vec::new(),
        seed: 7,
    };

    /// Returns the environment of this process.
    pub fn here() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
        Self {
            processors: u32::try_from(processors).unwrap_or(1),
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            gids: supplementary_groups(),
            // 32 bits are enough, and short enough to be typed.
            seed: std::hash::RandomState::new().build_hasher().finish() >> 32,
        }
    }
}

/// Returns the first supplementary groups of this process, in the order of the system.
fn supplementary_groups() -> Vec<u32> {
    let groups = rustix::process::getgroups().unwrap_or_default();
    let groups = groups.into_iter().map(|gid| gid.as_raw());
    groups.take(GIDS_MAX).collect()
}

/// Creates the plan of `filestone probe`.
pub fn probe(
    options: &ProbeOptions,
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Plan, Error> {
    let operation = options.operation;
    let reaching = TargetConnectOptions {
        nfs: &options.target.nfs,
        transport: options.target.transport,
        share: &options.share,
        credentials,
        here,
    };
    let target = options.target.target.as_ref();
    let built_in_path = if options.workload.create_files {
        DIRECTORY
    } else {
        built_in_path(operation)
    };
    let target = reaching.target(target, built_in_path)?;
    let load = &options.load;
    refuse_of_connections(&target, load.generator.reconnect, load.generator.on_lost)?;
    let clients = load.clients.unwrap_or(1);
    let workload = WorkloadPlan::Probe(workload(&options.workload, operation)?);
    let arrivals = arrivals(load, options.report.cost.cost_interval);
    let whole = |nanos: u64| match arrivals {
        ArrivalsPlan::Levels(levels) => {
            let cycles = nanos.checked_next_multiple_of(levels.cycle_ns());
            cycles.unwrap_or(nanos)
        }
        _ => nanos,
    };
    let plan = Plan {
        arrivals,
        clients,
        in_flight: load.in_flight.unwrap_or_else(|| {
            let usual = match load.offered {
                Some(_) => open_loop_in_flight(clients),
                None => 1,
            };
            usual.max(target.connections_per_client())
        }),
        workers: workers_of(load.workers, clients, &target, here),
        warm_up_ns: whole(load.warm_up.unwrap_or(0)),
        duration_ns: match (load.duration, load.count) {
            (None, Some(_)) => None,
            (duration, _) => Some(whole(duration.unwrap_or(DURATION_DEFAULT))),
        },
        count: load.count,
        stamps: load.kernel_timestamps,
        connections: connections(&options.target.nfs),
        ..Plan::new("probe", target, workload, here.seed)
    };
    let plan = with_intervals(
        load.generator.applied_to(plan),
        options.report.report_interval,
    );
    with_read_data(plan, options.workload.data, options.workload.verify)
}

/// Returns the connection parameters of the clients.
fn connections(options: &NfsOptions) -> ConnectionPlan {
    ConnectionPlan {
        sources: options.source.clone().unwrap_or_default(),
        identities: Identities {
            uids: several(options.uid.as_ref()),
            gids: several(options.gid.as_ref()),
            // With several users, each client carries the named groups; otherwise the target has
            // them.
            supplementary_gids: options
                .gids
                .clone()
                .filter(|_| options.uid.as_ref().is_some_and(|uids| uids.count() > 1)),
            machine_name: options.machine_name.clone(),
        },
        ..ConnectionPlan::default()
    }
}

/// Returns ids that differ from client to client; a single id is part of the target.
fn several(ids: Option<&IdRanges>) -> IdRanges {
    let several = ids.filter(|ids| ids.count() > 1);
    several.cloned().unwrap_or_default()
}

/// Returns the id of the first client.
fn first_of(ids: Option<&IdRanges>) -> Option<u32> {
    ids.and_then(|ids| ids.of_client(0))
}

/// Returns the plan with the requested or default handling of READ data, if it is possible.
pub fn with_read_data(plan: Plan, data: Option<ReadData>, verify: bool) -> Result<Plan, Error> {
    let plan = plan.with_read_data(data.or(verify.then_some(ReadData::Verify)));
    match plan.check() {
        Ok(()) => Ok(plan),
        Err(PlanError::ReadData { why, .. }) if data.is_none() => {
            Err(Error::usage(format!("--verify: {why}")).with_help(why.help()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Splits the targets into the plan's first target and the others.
pub fn first_and_rest(
    mut targets: Vec<TargetPlan>,
) -> Result<(TargetPlan, Vec<TargetPlan>), Error> {
    let more = targets.split_off(1.min(targets.len()));
    let first = targets.pop();
    first
        .map(|first| (first, more))
        .ok_or_else(|| Error::internal("a plan without a target"))
}

/// Returns the plan with intervals as long as the rows of `mark`; without such rows, with enough
/// intervals to estimate the precision of its figures, each 1 s at most.
///
/// A whole number of intervals makes a second, because reports have one row per second.
pub fn with_intervals(plan: Plan, mark: Option<u64>) -> Plan {
    if let Some(interval_ns) = mark.filter(|nanos| *nanos > 0) {
        return Plan {
            interval_ns,
            row_ns: None,
            ..plan
        };
    }
    let longest = plan.duration_ns.map_or(SECOND, |nanos| nanos / STRETCHES);
    let lengths = [SECOND, SECOND / 2, SECOND / 5];
    let interval_ns = lengths.into_iter().find(|length| *length <= longest);
    let interval_ns = interval_ns.unwrap_or(TICK_NANOS);
    Plan {
        interval_ns,
        row_ns: (interval_ns < SECOND).then_some(SECOND),
        ..plan
    }
}

/// Options that select a target of calls, apart from its name.
#[derive(Clone, Copy)]
pub struct TargetConnectOptions<'run> {
    /// NFS options: discovery of the server and connection.
    pub nfs: &'run NfsOptions,
    /// Transport of the calls.
    pub transport: TransportKind,
    /// SMB options: dialect and session parameters.
    pub share: &'run SmbArguments,
    /// Identity of the clients.
    pub credentials: &'run DefaultCredentials,
    /// Environment of the plan.
    pub here: &'run Environment,
}

impl TargetConnectOptions<'_> {
    /// Returns the target that a TARGET names: an NFS server, unless another protocol is named;
    /// without TARGET the built-in server and `built_in_path` on it.
    pub fn target(
        &self,
        target: Option<&CallTarget>,
        built_in_path: &str,
    ) -> Result<TargetPlan, Error> {
        let server = match target {
            Some(CallTarget::Share(share)) => {
                let mut target = self.share(share)?;
                if target.host.is_none() {
                    // The root of the share is the NFS export.
                    let path = built_in_path.trim_start_matches("/export");
                    target.path = path.trim_matches('/').into();
                }
                return Ok(TargetPlan::Smb(target));
            }
            Some(CallTarget::Server(server)) => Some(server),
            None => None,
        };
        share::refuse_options(self.share, "the target is no SMB share")?;
        server_target(server, self.nfs, self.transport, built_in_path, self.here)
    }

    /// Returns the share that a URL names.
    fn share(&self, share: &ShareLocation) -> Result<SmbTarget, Error> {
        let transport = self.transport == TransportKind::Udp;
        let given = first_given(&[("--transport", transport)])
            .or_else(|| share::first_without_meaning(self.nfs));
        match given {
            Some(option) => Err(
                Error::usage(format!("{option}: the target is an SMB share"))
                    .with_help("it says how an NFS server is found and called"),
            ),
            None => Ok(share::target(share, self.share, self.credentials)),
        }
    }
}

/// Returns the server that a target names: NFS, unless another protocol is named.
pub fn server_target(
    target: Option<&ParsedTarget>,
    options: &NfsOptions,
    transport: TransportKind,
    built_in_path: &str,
    here: &Environment,
) -> Result<TargetPlan, Error> {
    let Some((target, scheme)) = target.and_then(|target| Some((target, target.scheme.as_ref()?)))
    else {
        return nfs_target(target, options, transport, built_in_path, here).map(TargetPlan::Nfs3);
    };
    let port = target.port.ok_or_else(|| {
        Error::usage(format!("a target of {scheme} needs a port"))
            .with_help(format!("{scheme}://host:port/path"))
    })?;
    Ok(TargetPlan::Other(OtherTarget {
        name: scheme.clone(),
        host: target.host.clone(),
        port,
        path: target.path.clone(),
        transport,
    }))
}

/// Returns the NFS server that a target and the options name; without a target the built-in one and
/// `built_in_path` on it.
pub fn nfs_target(
    target: Option<&ParsedTarget>,
    options: &NfsOptions,
    transport: TransportKind,
    built_in_path: &str,
    here: &Environment,
) -> Result<NfsTarget, Error> {
    let of_target = target.map_or_else(Arguments::default, |target| target.arguments);
    let uid = once("uid", first_of(options.uid.as_ref()), of_target.uid)?.unwrap_or(here.uid);
    let gid = once("gid", first_of(options.gid.as_ref()), of_target.gid)?.unwrap_or(here.gid);
    let mut plan = NfsTarget {
        port: once("port", options.port, of_target.port)?,
        mount_port: once("mount-port", options.mount_port, of_target.mount_port)?,
        transport,
        reserved_port: options.reserved_port,
        uid,
        gid,
        supplementary_gids: match &options.gids {
            Some(gids) => gids.clone(),
            // The groups of this process belong to its user.
            None if uid == here.uid => IdRanges::of(here.gids.iter().copied()),
            None => IdRanges::default(),
        },
        ..NfsTarget::built_in(built_in_path)
    };
    match target {
        Some(target) => {
            plan.host = Some(target.host.clone());
            plan.port = once("port", plan.port, target.port)?;
            plan.path.clone_from(&target.path);
        }
        None => {
            for (name, port) in [
                ("--port", options.port),
                ("--mount-port", options.mount_port),
            ] {
                if let Some(port) = port {
                    return Err(Error::usage(format!(
                        "{name} {port}: the built-in server chooses its own port"
                    ))
                    .with_help("name a target, such as nfs://server/export"));
                }
            }
        }
    }
    Ok(plan)
}

/// Merges a value that both an option and a target can contain; the two must be equal.
fn once<T: Copy + PartialEq + Display>(
    name: &str,
    option: Option<T>,
    of_target: Option<T>,
) -> Result<Option<T>, Error> {
    match (option, of_target) {
        (Some(option), Some(named)) if option != named => Err(Error::usage(format!(
            "--{name} {option}: the target already names {name} {named}"
        ))
        .with_help(format!("name the {name} once"))),
        (option, of_target) => Ok(option.or(of_target)),
    }
}

/// Work directory on the built-in server.
const DIRECTORY: &str = "/export";

/// Returns the path on the built-in server that an operation uses.
pub const fn built_in_path(operation: OpKind) -> &'static str {
    match operation {
        OpKind::Read => "/export/file",
        OpKind::ReadLink => "/export/link",
        OpKind::GetAttr
        | OpKind::Lookup
        | OpKind::Access
        | OpKind::ReadDir
        | OpKind::ReadDirPlus => "/export/files",
        _ => DIRECTORY,
    }
}

/// Returns an error for an option that the operation would ignore.
fn refuse_ignored(options: &WorkloadOptions, operation: OpKind) -> Result<(), Error> {
    let visits = matches!(
        operation,
        OpKind::GetAttr | OpKind::Lookup | OpKind::Access | OpKind::ReadLink | OpKind::Read
    );
    let writes = matches!(operation, OpKind::Write | OpKind::Commit | OpKind::Copy);
    for (is_given, is_used, option, help) in [
        (
            options.random,
            visits || writes,
            "--random",
            "it is for getattr, lookup, access, readlink, read, write, commit and copy",
        ),
        (
            options.file_size.is_some(),
            writes || operation == OpKind::Read && options.create_files,
            "--file-size",
            "it is for write, commit and copy, and for read with --create-files",
        ),
        (
            options.files.is_some(),
            visits && !options.create_files,
            "--files",
            "it is for getattr, lookup, access, readlink and read, without --create-files",
        ),
    ] {
        if is_given && !is_used {
            let text = format!("{option}: {} does not use it", operation.name());
            return Err(Error::usage(text).with_help(help));
        }
    }
    Ok(())
}

fn workload(options: &WorkloadOptions, operation: OpKind) -> Result<ProbePlan, Error> {
    let copies = operation == OpKind::Copy;
    let moves_data = matches!(operation, OpKind::Read | OpKind::Write | OpKind::Commit) || copies;
    let lists = matches!(operation, OpKind::ReadDir | OpKind::ReadDirPlus);
    let name = operation.name();
    if let Some(size) = options.io_size
        && !moves_data
        && !lists
    {
        return Err(
            Error::usage(format!("--io-size {size}: {name} has no size"))
                .with_help("it is for read, write, commit, copy, readdir and readdirplus"),
        );
    }
    if let Some(size) = options.io_size
        && size > SIZE_MAX
        && !copies
    {
        let most = bytes_text(SIZE_MAX.into());
        return Err(Error::usage(format!(
            "--io-size {}: a {name} is one call, which moves {most} at most",
            bytes_text(size.into())
        ))
        .with_help(match operation {
            OpKind::Write | OpKind::Commit => {
                "--io-size is bytes per call, --file-size how long a file is"
            }
            _ => "--io-size is bytes per call; more calls in flight (-j) move more at a time",
        }));
    }
    if options.stable.is_some() && operation != OpKind::Write {
        return Err(Error::usage(format!(
            "--stable: {name} stores no data; only write does"
        )));
    }
    refuse_ignored(options, operation)?;
    let size_bytes = options.io_size.unwrap_or(match operation {
        OpKind::Copy => 1 << 20,
        _ if lists => 32 << 10,
        _ => 4096,
    });
    let file_size = options.file_size.or(options.file_size_default);
    let file_size_bytes = file_size.unwrap_or(FILE_SIZE_DEFAULT);
    Ok(ProbePlan {
        operation,
        size_bytes,
        random: options.random,
        stability: options.stable.unwrap_or_default(),
        // A copy needs existing data.
        file_size_bytes: match operation {
            OpKind::Copy => file_size_bytes.max(size_bytes.into()),
            _ => file_size_bytes,
        },
        files_max: options.files.unwrap_or(FILES_DEFAULT),
        own_files: options.create_files,
        left_over: LeftoverPolicy::removing(options.remove_leftover),
    })
}

/// Returns the arrival process; several loads in turn are each offered from one reading to the
/// next.
fn arrivals(load: &LoadArguments, between_readings_ns: Option<u64>) -> ArrivalsPlan {
    if let (Some(highest_load_ops_per_s), Some(levels)) = (load.offered, load.load_levels) {
        return ArrivalsPlan::Levels(LevelsPlan {
            highest_load_ops_per_s,
            levels,
            level_ns: between_readings_ns.unwrap_or(LEVEL_DEFAULT),
        });
    }
    match (load.offered, load.arrivals) {
        (None, _) => ArrivalsPlan::Closed,
        (Some(offered_load_ops_per_s), Some(ArrivalProcess::Poisson)) => ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        },
        (Some(offered_load_ops_per_s), _) => ArrivalsPlan::Constant {
            offered_load_ops_per_s,
        },
    }
}

/// Returns the first of these options that is given.
fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    let given = options.iter().find(|(_, is_given)| *is_given);
    given.map(|(name, _)| *name)
}

/// Options that apply to some protocols only; protocols are named as in `--layer`.
pub struct OptionsOf<'o> {
    /// Protocols that use the options.
    pub layers: &'o [&'o str],
    /// The first of the options that is given.
    pub given: Option<&'static str>,
}

/// Rejects an option that none of the protocols `on` uses.
pub fn refuse_unused(on: &[&str], options: &[OptionsOf<'_>]) -> Result<(), Error> {
    let is_used = |of: &&OptionsOf<'_>| of.layers.iter().any(|layer| on.contains(layer));
    let unused = options.iter().filter(|of| of.given.is_some());
    let Some(unused) = unused.into_iter().find(|of| !is_used(of)) else {
        return Ok(());
    };
    let layers = unused.layers.join(": or ");
    let option = unused.given.unwrap_or_default();
    Err(Error::usage(format!("{option}: no target is {layers}:"))
        .with_help(format!("it says how {layers}: works")))
}

/// Rejects an option about disconnects on a target that uses datagrams, which has no connections to
/// lose.
pub fn refuse_of_connections(
    target: &TargetPlan,
    reconnect: Option<u64>,
    on_lost: Option<OnLost>,
) -> Result<(), Error> {
    let given = first_given(&[
        ("--reconnect", reconnect.is_some()),
        ("--on-lost", on_lost.is_some()),
    ]);
    match given.filter(|_| target.is_udp()) {
        Some(option) => Err(Error::usage(format!(
            "{option}: a target that is sent datagrams has no connection that could be lost"
        ))
        .with_help(
            "--timeout says how long a call is sent again; --transport tcp has connections",
        )),
        None => Ok(()),
    }
}

/// Returns the options for discovery and protocol parameters of a server, and whether each is
/// given.
fn server_options(options: &NfsOptions) -> [(&'static str, bool); 8] {
    [
        ("--port", options.port.is_some()),
        ("--mount-port", options.mount_port.is_some()),
        ("--reserved-port", options.reserved_port),
        ("--source", options.source.is_some()),
        ("--uid", options.uid.is_some()),
        ("--gid", options.gid.is_some()),
        ("--gids", options.gids.is_some()),
        ("--machine-name", options.machine_name.is_some()),
    ]
}

/// Returns the number of calls in flight of each client of an open loop.
pub fn open_loop_in_flight(clients: u32) -> u32 {
    OPEN_LOOP_IN_FLIGHT
        .div_ceil(clients.max(1))
        .max(OPEN_LOOP_IN_FLIGHT_MIN)
}

/// Returns the requested number of workers, or the number of threads that results from `per_thread`
/// clients each.
pub fn workers_sharing(workers: Option<u32>, per_thread: Option<u32>, clients: u32) -> Option<u32> {
    workers.or(per_thread.map(|per_thread| clients.div_ceil(per_thread.max(1))))
}

/// Returns the number of workers. A worker runs many clients, but a client belongs to one worker.
/// The built-in server needs processors too. At a mount the clients' threads do the work, and one
/// worker keeps the counts.
pub fn workers_of(
    workers: Option<u32>,
    clients: u32,
    target: &TargetPlan,
    here: &Environment,
) -> u32 {
    if target.is_directory() {
        return 1;
    }
    let share = if target.is_built_in() {
        here.processors / 2
    } else {
        here.processors
    };
    workers.unwrap_or_else(|| share.clamp(1, clients))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{CommandLine, FilestoneCommand};
    use clap::Parser;

    const HERE: Environment = Environment::CANNED;

    fn plan_of(line: &str) -> Result<Plan, Error> {
        let words = ["filestone", "probe"]
            .into_iter()
            .chain(line.split_whitespace());
        match CommandLine::try_parse_from(words).expect(line).command {
            Some(FilestoneCommand::Probe(options)) => {
                probe(&options, &DefaultCredentials::default(), &HERE)
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    fn plan_text(line: &str) -> String {
        let plan = plan_of(line).expect(line);
        serde_json::to_string_pretty(&plan).expect("a plan is JSON")
    }

    #[test]
    fn the_plan_of_a_bare_operation() {
        insta::assert_snapshot!(plan_text("null"));
    }

    #[test]
    fn the_plan_with_every_option() {
        insta::assert_snapshot!(plan_text(
            "read nfs://[::1]:2050/export/f -j 16 -c 8 -w 4 -d 2m --count 1000 -m 500ms \
             --offered 10k/s --arrivals poisson --warm-up 1s --seed 3 --timeout 5s \
             --connect-rate 100/s --source fd00::/126,::1 --busy-poll --pin 0-2,4 --transport udp \
             --mount-port 635 --reserved-port --uid 0 --gid 0 --io-size 32K --random --verify --files 10 -o out --format json"
        ));
    }

    #[test]
    fn the_plan_of_a_probe_of_a_share() {
        insta::assert_snapshot!(plan_text(
            "query-info smb://CORP;anna@fs:4450/bench/a%20b -c 4 --dialect 3.1.1 --sign required \
             --encrypt off --no-compound --oplock lease --source ::1"
        ));
        let guest = plan_of("echo smb://fs/bench").expect("a guest");
        assert_eq!(guest.target.to_string(), "smb://fs/bench");
        assert_eq!(guest.measured_kind(), OpKind::Null);
        assert_eq!(
            plan_of("FLUSH smb://fs/b").expect("a plan").measured_kind(),
            OpKind::Commit
        );
    }

    #[test]
    fn options_of_one_protocol_are_refused_with_another() {
        for (line, what) in [
            (
                "null fs:/x --dialect 2.1",
                "--dialect: the target is no SMB share",
            ),
            (
                "null --oplock batch",
                "--oplock: the target is no SMB share",
            ),
            (
                "null fs:/x -A f",
                "--authentication-file: the target is no SMB share",
            ),
            (
                "null smb://fs/b --port 445",
                "--port: the target is an SMB share",
            ),
            (
                "null smb://fs/b --transport udp",
                "--transport: the target is an SMB share",
            ),
            (
                "null smb://fs/b --uid 5",
                "--uid: the target is an SMB share",
            ),
            (
                "null smb://fs/b --dialect 2.1 --encrypt required",
                "--encrypt: --dialect 2.1 does not have that",
            ),
            (
                "null smb://fs/b --dialect 2.1 --encrypt",
                "--encrypt: --dialect 2.1 does not have that",
            ),
        ] {
            assert_eq!(plan_of(line).expect_err(line).message, what, "{line}");
        }
    }

    #[test]
    fn groups_are_those_of_the_caller_unless_another_user_is_named() {
        let here = Environment {
            gids: vec![4, 24],
            ..HERE
        };
        let of = |line: &str| {
            let words = ["filestone", "probe", "null"].into_iter();
            let words = words.chain(line.split_whitespace());
            let Some(FilestoneCommand::Probe(options)) =
                CommandLine::try_parse_from(words).expect(line).command
            else {
                panic!("{line}: a probe");
            };
            let plan = probe(&options, &DefaultCredentials::default(), &here).expect(line);
            plan.check().expect(line);
            let gids = &plan.target.nfs3().expect("NFS").supplementary_gids;
            let named = plan.connections.identities.supplementary_gids.as_ref();
            (gids.to_string(), named.map(ToString::to_string))
        };
        let text = |gids: &str| gids.to_owned();
        assert_eq!(of(""), (text("4,24"), None));
        assert_eq!(of("--uid 1000 --gid 7"), (text("4,24"), None));
        assert_eq!(of("--uid 1001"), (text(""), None));
        assert_eq!(of("nfs://s/x?uid=1001"), (text(""), None));
        assert_eq!(of("--gids none"), (text(""), None));
        assert_eq!(of("--uid 1001 --gids 7,9-10"), (text("7,9-10"), None));
        // With several users, each client carries the named groups.
        let several = of("--uid 1000-1009 --gids 7");
        assert_eq!(several, (text("7"), Some(text("7"))));
    }

    #[test]
    fn arguments_of_a_url_are_in_the_plan() {
        let line = "null nfs://s/x?uid=7&gid=8&nfsport=2050&mountport=635";
        let plan = plan_of(line).expect(line);
        let target = plan.target.nfs3().expect("NFS");
        assert_eq!((target.uid, target.gid), (7, 8));
        assert_eq!((target.port, target.mount_port), (Some(2050), Some(635)));
        assert_eq!(target.path, "/x");
        for (line, what) in [
            (
                "null nfs://s:1/x?nfsport=2",
                "--port 2: the target already names port 1",
            ),
            (
                "null nfs://s/x?uid=2 --uid 3",
                "--uid 3: the target already names uid 2",
            ),
        ] {
            assert_eq!(plan_of(line).expect_err(line).message, what);
        }
    }

    #[test]
    fn readdir_plus_has_two_names() {
        let operation = |line| plan_of(line).expect(line).measured_kind();
        assert_eq!(operation("readdir+"), OpKind::ReadDirPlus);
        assert_eq!(operation("READDIRPLUS"), OpKind::ReadDirPlus);
    }

    #[test]
    fn defaults_depend_on_what_is_asked() {
        let plan = |line| plan_of(line).expect(line);
        assert_eq!(plan("null --offered 5").in_flight, 1024);
        assert_eq!(plan("null --offered 5 -j 3").in_flight, 3);
        assert_eq!(plan("null --offered 5 -c 8").in_flight, 128);
        assert_eq!(plan("null --offered 5 -c 10000").in_flight, 16);
        assert_eq!(plan("null --count 5").duration_ns, None);
        assert_eq!(plan("null --count 5 -d 1").duration_ns, Some(SECOND));
        assert_eq!(
            plan("readdir").probe().expect("a probe").size_bytes,
            32 << 10
        );
        let lengths = |line| {
            let plan = plan(line);
            (plan.interval_ns, plan.row_ns)
        };
        let row = Some(SECOND);
        assert_eq!(lengths("null -m 0"), (SECOND / 2, row));
        assert_eq!(lengths("null -m 1 -d 2s"), (SECOND, None));
        assert_eq!(lengths("null -d 1s"), (SECOND / 10, row));
        assert_eq!(lengths("null -d 9s"), (SECOND / 5, row));
        assert_eq!(lengths("null -d 20s"), (SECOND, None));
        assert_eq!(lengths("null --count 1000"), (SECOND, None));
        assert_eq!(
            plan("read").target.nfs3().expect("an NFS target").path,
            "/export/file"
        );
        assert_eq!(
            plan("readlink").target.nfs3().expect("an NFS target").path,
            "/export/link"
        );
        assert_eq!(
            plan("lookup").target.nfs3().expect("an NFS target").path,
            "/export/files"
        );
        assert_eq!(
            plan("create").target.nfs3().expect("an NFS target").path,
            "/export"
        );
        assert_eq!(
            plan("READ").probe().expect("a probe").operation,
            OpKind::Read
        );
    }

    #[test]
    fn workers_are_shared_out_between_client_and_built_in_server() {
        let workers = |line| plan_of(line).expect(line).workers;
        assert_eq!(workers("null"), 1);
        assert_eq!(workers("null -j 64"), 1);
        assert_eq!(workers("null -c 100"), 4);
        assert_eq!(workers("null s:/ -c 100"), 8);
        assert_eq!(workers("null s:/ -c 3"), 3);
        assert_eq!(workers("null s:/ -c 3 -w 2"), 2);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let mut text = String::new();
        for line in [
            "null -w 2",
            "getattr --io-size 4K",
            "null --random",
            "readdir --random",
            "getattr --file-size 1M",
            "read --file-size 1M",
            "create --files 5",
            "read --create-files --files 5",
            "read --io-size 16M",
            "write --io-size 16M",
            "write --verify",
            "getattr --data deliver",
            "read --data discard",
            "read --data discard --io-size 32K --transport udp",
            "read --stable file-sync",
            "read --transport udp --io-size 64K",
            "null --port 2049",
            "null nfs://s:1/x --port 2",
        ] {
            let error = plan_of(line).expect_err(line);
            assert_eq!(error.exit_code(), 2);
            text.push_str(&format!("{line}\nerror: {}\n", error.message));
            if let Some(help) = error.help {
                text.push_str(&format!("help: {help}\n"));
            }
        }
        insta::assert_snapshot!(text);
    }
}
