//! Converts the options of `filestone replay` to plans, one for each layer.

use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::loads::Named;
use crate::inputs::target_list;
use crate::options::layer_targets::{LayerTarget, LayerTargets};
use crate::options::nfs::NfsOptions;
use crate::options::replay::{
    LocalArguments, NfsReplayOptions, PacingOptions, ReplayOptions, ReplayRunOptions, TcpArguments,
};
use crate::options::smb::SmbArguments;
use crate::planning::{
    DURATION_DEFAULT, Environment, OptionsOf, connections, first_and_rest, first_given, nfs_target,
    refuse_of_connections, refuse_unused, share, with_intervals, workers_of, workers_sharing,
};
use filestone_plan::plan::{
    ConnectionPlan, Identities, Interface, LeftoverPolicy, LocalReplay, LocalTarget, Nfs3Replay,
    OnMismatch, Pacing, Plan, ReplayPlan, SmbReplay, TargetPlan, TcpReplay, TransportKind,
    WorkloadPlan,
};
use filestone_workload::operation::OpKind;

/// Load file if none is named on the command line.
pub const LOAD_DEFAULT: &str = "office";
/// Directory of the built-in server for replays of a load file.
pub const BUILT_IN_PATH: &str = "/export";
/// dbench's default of `-T`.
pub const TCP_OPTIONS_DEFAULT: &str = "TCP_NODELAY SO_REUSEADDR";
/// dbench's default of `-D`.
const PREFIX_DEFAULT: &str = ".";

/// Creates the plans of `filestone replay`, in the order of its layers.
pub fn plans(
    options: &ReplayOptions,
    loads: &[Named],
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Vec<Plan>, Error> {
    let mut layers: Vec<LayerTargets> = options
        .layer
        .iter()
        .flat_map(|list| list.0.clone())
        .collect();
    if let Some(path) = &options.targets {
        layers.push(target_list::read(path)?);
    }
    if layers.is_empty() {
        let temporary = LocalTarget { directory: None };
        layers.push(vec![LayerTarget::Local(temporary)]);
    }
    refuse_options_without_layer(options, &layers)?;
    let clients = options.course.clients.unwrap_or(1);
    let replay = replay_plan(options, loads, clients)?;
    // With several layers, the option may apply to another one.
    let is_only_layer = layers.len() == 1;
    layers
        .iter()
        .map(|layer| {
            let (target, more_targets) =
                first_and_rest(targets(layer, options, credentials, here)?)?;
            if is_only_layer {
                let course = &options.course;
                refuse_of_connections(&target, course.reconnect, course.on_lost)?;
            }
            let replay = ReplayPlan {
                more_targets,
                ..replay.clone()
            };
            let plan = plan(options, replay, target, here);
            plan.check()?;
            Ok(plan)
        })
        .collect()
}

fn plan(
    options: &ReplayOptions,
    replay: ReplayPlan,
    target: TargetPlan,
    here: &Environment,
) -> Plan {
    let course = &options.course;
    let duration_ns = match (course.duration, course.run_once) {
        (None, true) => None,
        (duration, _) => Some(duration.unwrap_or(DURATION_DEFAULT)),
    };
    let seed = course.seed.unwrap_or(here.seed);
    let clients = course.clients.unwrap_or(1);
    // Blocking clients have their own threads; one worker keeps the counts.
    let workers = if target.blocks_loads() {
        1
    } else {
        let workers = workers_sharing(course.workers, course.clients_per_thread, clients);
        workers_of(workers, clients, &target, here)
    };
    let plan = Plan::new("replay", target, WorkloadPlan::LoadFile(replay), seed);
    let plan = Plan {
        clients,
        workers,
        warm_up_ns: warm_up(course),
        duration_ns,
        timeout_ns: course.timeout.unwrap_or(plan.timeout_ns),
        reconnect_ns: course.reconnect.unwrap_or(plan.reconnect_ns),
        // Connections of other layers are not made by filestone.
        connections: match plan.target.interface() {
            Interface::Calls => ConnectionPlan {
                connections_per_s: course.connect_rate,
                on_lost: course.on_lost,
                identities: own_identities(&plan.target, &options.nfs.nfs),
                ..connections(&options.nfs.nfs)
            },
            Interface::SystemCalls | Interface::Bytes => plan.connections,
        },
        pin: course.pin.clone().map_or(plan.pin, |list| list.0),
        ..plan
    };
    with_intervals(plan.with_read_data(None), options.report.report_interval)
}

/// Returns the identities that calls carry; on a share the user logs on instead.
fn own_identities(target: &TargetPlan, options: &NfsOptions) -> Identities {
    match target.nfs3() {
        Some(_) => connections(options).identities,
        None => Identities::default(),
    }
}

/// Returns the warm-up: like dbench a fifth of the duration; none for a single iteration.
fn warm_up(course: &ReplayRunOptions) -> u64 {
    course.warm_up.unwrap_or(if course.run_once {
        0
    } else {
        course.duration.unwrap_or(DURATION_DEFAULT) / 5
    })
}

fn replay_plan(
    options: &ReplayOptions,
    loads: &[Named],
    clients: u32,
) -> Result<ReplayPlan, Error> {
    let course = &options.course;
    let clients_per_thread = course.clients_per_thread.unwrap_or(1);
    let names = loads.iter().map(|named| named.name.clone()).collect();
    Ok(ReplayPlan {
        clients_per_thread,
        pacing: pacing(&options.pacing, loads, clients)?,
        run_once: course.run_once,
        read_only: course.read_only,
        skip_cleanup: course.skip_cleanup || course.read_only,
        left_over: LeftoverPolicy::removing(course.remove_leftover),
        trunc_io_bytes: course.trunc_io,
        on_mismatch: course.on_mismatch,
        resolve: !options.local.no_resolve,
        local: local(&options.local),
        nfs3: Nfs3Replay {
            stable: options.nfs.stable,
            enable_nlm: options.nfs.enable_nlm,
            nlm_port: options.nfs.nlm_port,
        },
        tcp: tcp(&options.tcp),
        smb: smb(course.retries),
        ..ReplayPlan::new(names, kinds(loads))
    })
}

/// Returns the kinds of operation in any of the load files, in the order of records.
pub fn kinds(loads: &[Named]) -> Vec<OpKind> {
    let occurs = |kind: &OpKind| loads.iter().any(|named| named.kinds.contains(kind));
    OpKind::ALL.iter().copied().filter(occurs).collect()
}

fn pacing(options: &PacingOptions, loads: &[Named], clients: u32) -> Result<Pacing, Error> {
    let has_stamps = loads.iter().any(|named| named.has_stamps);
    if let (Some(speed), false) = (options.speed, has_stamps) {
        let names: Vec<&str> = loads.iter().map(|named| named.name.name.as_str()).collect();
        return Err(Error::usage(format!(
            "--speed {speed}: {} has no time stamps",
            names.join(", ")
        ))
        .with_help("lines of a time-stamped load begin with seconds; --rate paces any load"));
    }
    Ok(match (options.rate, options.total_rate) {
        (Some(bytes_per_s), _) => Pacing::Rate { bytes_per_s },
        (None, Some(total)) => Pacing::Rate {
            bytes_per_s: total / f64::from(clients),
        },
        (None, None) if has_stamps && !options.ignore_timestamps => Pacing::Stamps {
            speed: options.speed.unwrap_or(1.0),
        },
        (None, None) => Pacing::Closed,
    })
}

fn local(options: &LocalArguments) -> LocalReplay {
    LocalReplay {
        sync: options.sync,
        sync_directories: options.sync_dir,
        fsync: options.fsync,
        xattr: options.xattr,
        one_byte_write_fix: options.one_byte_write_fix,
        stat_check: options.stat_check,
        fake_io: options.fake_io,
        direct: options.direct,
    }
}

fn tcp(options: &TcpArguments) -> TcpReplay {
    TcpReplay {
        prefix: options.prefix.clone().unwrap_or(PREFIX_DEFAULT.into()),
        socket_options: options
            .tcp_options
            .clone()
            .unwrap_or(TCP_OPTIONS_DEFAULT.into()),
    }
}

/// Returns the SMB options, with the number of retries of a line.
pub fn smb(retries: Option<u32>) -> SmbReplay {
    retries.map_or_else(SmbReplay::default, |retries| SmbReplay { retries })
}

/// Returns the targets of a layer.
fn targets(
    layer: &LayerTargets,
    options: &ReplayOptions,
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Vec<TargetPlan>, Error> {
    let reaching = LayerConnectOptions {
        nfs: &options.nfs.nfs,
        transport: options.nfs.transport.unwrap_or_default(),
        share: &options.share,
        credentials,
        here,
    };
    let target = |target: &LayerTarget| reaching.target(target, BUILT_IN_PATH);
    layer.iter().map(target).collect()
}

/// Options that select the target of a layer, apart from its name.
pub struct LayerConnectOptions<'run> {
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

impl LayerConnectOptions<'_> {
    /// Returns the named target; on the built-in NFS server `built_in_path`.
    pub fn target(&self, target: &LayerTarget, built_in_path: &str) -> Result<TargetPlan, Error> {
        match target {
            LayerTarget::Local(directory) => Ok(TargetPlan::Local(directory.clone())),
            LayerTarget::Tcp(peer) => Ok(TargetPlan::Tcp(peer.clone())),
            LayerTarget::Smb(share) => {
                let target = share::target(share, self.share, self.credentials);
                Ok(TargetPlan::Smb(target))
            }
            LayerTarget::Nfs3(server) => {
                let server = server.as_ref();
                nfs_target(server, self.nfs, self.transport, built_in_path, self.here)
                    .map(TargetPlan::Nfs3)
            }
        }
    }
}

/// Rejects options that apply only to layers that are not used.
fn refuse_options_without_layer(
    options: &ReplayOptions,
    layers: &[LayerTargets],
) -> Result<(), Error> {
    let on: Vec<&str> = layers.iter().flatten().map(LayerTarget::layer).collect();
    let (course, local) = (&options.course, &options.local);
    let of = |layers, given| OptionsOf { layers, given };
    let files = first_given(&[
        ("--remove-leftover", course.remove_leftover),
        ("--skip-cleanup", course.skip_cleanup),
        // A bare TCP peer returns bytes, which always match the expectation.
        ("--on-mismatch stop", course.on_mismatch == OnMismatch::Stop),
        (
            "--on-mismatch smbtorture",
            course.on_mismatch == OnMismatch::Smbtorture,
        ),
    ]);
    let connections = first_given(&[
        ("--workers", course.workers.is_some()),
        ("--reconnect", course.reconnect.is_some()),
        ("--on-lost", course.on_lost.is_some()),
        ("--connect-rate", course.connect_rate.is_some()),
        ("--source", options.nfs.nfs.source.is_some()),
    ]);
    // A system call waits until the kernel returns.
    let timeout = course.timeout.map(|_| "--timeout");
    // Name resolution has no effect over NFS; the server of a share resolves names itself.
    let no_resolve = local.no_resolve.then_some("--no-resolve");
    refuse_unused(
        &on,
        &[
            of(&["local"], local_options_given(local)),
            of(&["local", "nfs"], no_resolve),
            of(&["tcp"], tcp_options_given(&options.tcp)),
            of(&["nfs"], nfs_options_given(&options.nfs)),
            of(&["smb"], smb_options_given(options)),
            of(&["nfs", "smb"], connections),
            of(&["nfs", "smb", "tcp"], timeout),
            of(&["local", "nfs", "smb"], files),
        ],
    )
}

fn local_options_given(options: &LocalArguments) -> Option<&'static str> {
    first_given(&[
        ("--sync", options.sync),
        ("--sync-dir", options.sync_dir),
        ("--fsync", options.fsync),
        ("--xattr", options.xattr),
        ("--one-byte-write-fix", options.one_byte_write_fix),
        ("--stat-check", options.stat_check),
        ("--fake-io", options.fake_io),
        ("--direct", options.direct),
    ])
}

fn tcp_options_given(options: &TcpArguments) -> Option<&'static str> {
    first_given(&[
        ("--tcp-options", options.tcp_options.is_some()),
        ("--prefix", options.prefix.is_some()),
    ])
}

fn smb_options_given(options: &ReplayOptions) -> Option<&'static str> {
    let retries = options.course.retries.map(|_| "--retries");
    share::first_option(&options.share).or(retries)
}

fn nfs_options_given(options: &NfsReplayOptions) -> Option<&'static str> {
    first_given(&[
        ("--stable", options.stable),
        ("--enable-nlm", options.enable_nlm),
        ("--nlm-port", options.nlm_port.is_some()),
        ("--transport", options.transport.is_some()),
    ])
    .or_else(|| share::first_without_meaning(&options.nfs))
}

#[cfg(test)]
mod tests;
