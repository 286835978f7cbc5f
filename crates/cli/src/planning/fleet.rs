//! Converts the options of `filestone fleet` to a plan.

use super::replay::{BUILT_IN_PATH, LayerConnectOptions};
use super::{
    Environment, OptionsOf, SECOND, connections, first_and_rest, first_given,
    refuse_of_connections, refuse_unused, share, workers_of, workers_sharing,
};
use crate::error::Error;
use crate::inputs::credentials::DefaultCredentials;
use crate::options::fleet::{CommonOptions, FleetOptions};
use crate::options::layer_targets::{self, LayerTarget};
use filestone_plan::fleet::{FleetFile, TargetText, parse};
use filestone_plan::plan::limits::CLIENTS_MAX;
use filestone_plan::plan::{
    Direction, FleetPlan, GroupPlan, HealthPlan, LeftoverPolicy, OnLost, Plan, RampPlan,
    TICK_NANOS, TargetPlan, TransportKind, ValueRange, WorkloadPlan,
};
use filestone_workload::text::thousands;
use std::path::Path;

/// Default duration of a fleet.
const DURATION: u64 = 10 * SECOND;
/// Default duration of a step.
const EVERY: u64 = 5 * SECOND;

/// Creates the plan of `filestone fleet`.
pub fn plan(
    options: &FleetOptions,
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Plan, Error> {
    let (file, path) = fleet(options)?;
    let reaching = LayerConnectOptions {
        nfs: &options.nfs,
        transport: options.transport,
        share: &options.share,
        credentials,
        here,
    };
    let targets = targets(&file.targets, path.as_deref(), &reaching)?;
    let (target, more_targets) = first_and_rest(targets)?;
    check_layers(&target, &more_targets)?;
    refuse_options_of_others(options, &target)?;
    check_count(&file.fleet)?;
    let fleet = FleetPlan {
        more_targets,
        clients_per_thread: options.clients_per_thread.unwrap_or(1),
        left_over: LeftoverPolicy::removing(options.remove_leftover),
        keep_files: options.keep_files,
        ..file.fleet
    };
    let (clients, ramp) = (fleet.clients(), fleet.ramp);
    let last = options.duration.or(file.duration_ns);
    let last = last.or(ramp.map(|ramp| ramp.every_ns)).unwrap_or(DURATION);
    let before = ramp.map_or(0, |ramp| {
        let steps = u64::from(fleet.steps().saturating_sub(1));
        steps.saturating_mul(ramp.every_ns)
    });
    let workers = if target.blocks_loads() {
        1
    } else {
        let workers = workers_sharing(options.workers, options.clients_per_thread, clients);
        workers_of(workers, clients.max(1), &target, here)
    };
    let row = options.report.report_interval.filter(|nanos| *nanos > 0);
    let row = row.or(file.report_ns).unwrap_or(SECOND);
    let seed = file.seed.unwrap_or(here.seed);
    let plan = Plan::new("fleet", target, WorkloadPlan::Fleet(Box::new(fleet)), seed);
    let plan = Plan {
        clients,
        workers,
        duration_ns: Some(before.saturating_add(last)),
        interval_ns: interval(row, ramp)?,
        connections: connections(&options.nfs),
        ..plan
    };
    let mut plan = options.generator.applied_to(plan);
    let made = &mut plan.connections;
    made.connections_per_s = made.connections_per_s.or(file.connect_rate);
    // By default a lost client retries, whatever the others do.
    made.on_lost = made.on_lost.or(Some(OnLost::Retry));
    if plan.target.is_directory() {
        plan.connections = filestone_plan::plan::ConnectionPlan::default();
    }
    let plan = plan.with_read_data(None);
    plan.check()?;
    Ok(plan)
}

/// Returns the groups of clients, and the file that defines them.
fn fleet(options: &FleetOptions) -> Result<(FleetFile, Option<String>), Error> {
    let common = &options.common;
    if common.are_groups() {
        if let (Some(plan), Some(_)) = (&options.plan, &options.target) {
            return Err(Error::usage(format!(
                "{plan}: with --readers and --writers there is no plan, only a target"
            ))
            .with_help("leave it out, or say in the plan how many read and write"));
        }
        return Ok((without_plan(common, options.plan.as_deref()), None));
    }
    if let Some(option) = common.first_given() {
        return Err(
            Error::usage(format!("{option}: it is for --readers and --writers"))
                .with_help("in a plan it is a key of each group: filestone fleet --example"),
        );
    }
    let Some(path) = &options.plan else {
        return Err(
            Error::usage("name a plan, or say how many read and write").with_help(
                "filestone fleet --example > plan.toml, or --readers 10 --writers 10 nfs:",
            ),
        );
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let error = Error::file(Path::new(path), &error);
        match layer_targets::single(path) {
            Ok(_) => error.with_help("to name a target only, say --readers N or --writers N"),
            Err(_) => error,
        }
    })?;
    let mut file = parse(path, &text).map_err(|error| {
        let wrong = Error::usage(format!("{path}:{error}"));
        match error.help {
            Some(help) => wrong.with_help(help),
            None => wrong,
        }
    })?;
    if let Some(target) = &options.target {
        let text = target.clone();
        file.targets = vec![TargetText { text, line: 0 }];
        let groups = file.fleet.groups.iter_mut();
        groups.for_each(|group| group.targets = vec![0]);
    }
    Ok((file, Some(path.clone())))
}

/// Creates groups of readers and writers from the options.
fn without_plan(options: &CommonOptions, target: Option<&str>) -> FleetFile {
    let group = |name: &str, count, direction| {
        let usual = GroupPlan::new(name, count, direction);
        let size = options.io_size.map_or(usual.read_size, ValueRange::always);
        GroupPlan {
            read_size: size,
            write_size: size,
            file_size: options
                .file_size
                .map_or(usual.file_size, ValueRange::always),
            files: options.files.unwrap_or(usual.files),
            rate: options.rate,
            pattern: options.pattern.clone().unwrap_or(usual.pattern.clone()),
            ..usual
        }
    };
    let mut groups = Vec::new();
    if let Some(writers) = options.writers {
        groups.push(group("writers", writers, Direction::Write));
    }
    if let Some(readers) = options.readers {
        groups.push(GroupPlan {
            reads: options.writers.map(|_| 0),
            ..group("readers", readers, Direction::Read)
        });
    }
    FleetFile {
        targets: vec![TargetText {
            text: target.unwrap_or("nfs:").into(),
            line: 0,
        }],
        duration_ns: None,
        seed: None,
        connect_rate: None,
        report_ns: None,
        fleet: FleetPlan {
            name: "readers and writers".into(),
            groups,
            more_targets: vec![],
            ramp: options.step.map(|clients| RampPlan {
                clients,
                every_ns: options.every.unwrap_or(EVERY),
            }),
            health: HealthPlan::default(),
            clients_per_thread: 1,
            left_over: LeftoverPolicy::default(),
            keep_files: false,
        },
    }
}

fn targets(
    texts: &[TargetText],
    path: Option<&str>,
    reaching: &LayerConnectOptions<'_>,
) -> Result<Vec<TargetPlan>, Error> {
    if texts.is_empty() {
        return Err(
            Error::usage("the plan names no target, and the command line none")
                .with_help("target = \"nfs://server/export\", or a TARGET behind the plan"),
        );
    }
    let target = |named: &TargetText| {
        let parsed: Result<LayerTarget, String> = layer_targets::single(&named.text);
        let parsed = parsed.map_err(|reason| match path {
            Some(path) if named.line > 0 => {
                Error::usage(format!("{path}:{}: target: {reason}", named.line))
            }
            _ => Error::usage(reason),
        })?;
        reaching.target(&parsed, BUILT_IN_PATH)
    };
    texts.iter().map(target).collect()
}

/// Rejects options that apply to another protocol only.
fn refuse_options_of_others(options: &FleetOptions, target: &TargetPlan) -> Result<(), Error> {
    let generator = &options.generator;
    let udp = options.transport == TransportKind::Udp;
    let of_nfs = first_given(&[("--transport udp", udp)]);
    // Connection settings in a fleet's plan have no effect on a directory either, but the plan may
    // be for any target.
    let connections = first_given(&[
        ("--workers", options.workers.is_some()),
        ("--timeout", generator.timeout.is_some()),
        ("--reconnect", generator.reconnect.is_some()),
        ("--on-lost", generator.on_lost.is_some()),
        ("--connect-rate", generator.connect_rate.is_some()),
        ("--busy-poll", generator.busy_poll),
        ("--source", options.nfs.source.is_some()),
    ]);
    let of = |layers, given| OptionsOf { layers, given };
    refuse_of_connections(target, generator.reconnect, generator.on_lost)?;
    refuse_unused(
        &[target.layer()],
        &[
            of(
                &["nfs"],
                of_nfs.or_else(|| share::first_without_meaning(&options.nfs)),
            ),
            of(&["smb"], share::first_option(&options.share)),
            of(&["nfs", "smb"], connections),
        ],
    )
}

/// Checks that all targets of a fleet use one protocol.
fn check_layers(target: &TargetPlan, more: &[TargetPlan]) -> Result<(), Error> {
    let Some(other) = more.iter().find(|other| other.layer() != target.layer()) else {
        return Ok(());
    };
    let (first, other) = (target.layer(), other.layer());
    Err(
        Error::usage(format!("the fleet has targets of {first}: and of {other}:"))
            .with_help("all clients of a fleet work on one protocol: run a fleet for each"),
    )
}

fn check_count(fleet: &FleetPlan) -> Result<(), Error> {
    let counts = fleet.groups.iter().map(|group| u64::from(group.count));
    let clients: u64 = counts.sum();
    if clients <= u64::from(CLIENTS_MAX) {
        return Ok(());
    }
    let (clients, most) = (thousands(clients), thousands(u64::from(CLIENTS_MAX)));
    Err(Error::usage(format!(
        "the groups have {clients} clients together, and a fleet at most {most}"
    )))
}

/// Returns the length of a row; a step is a multiple of it.
fn interval(row: u64, ramp: Option<RampPlan>) -> Result<u64, Error> {
    let ticks = (row / TICK_NANOS).max(1);
    let Some(ramp) = ramp else {
        return Ok(ticks * TICK_NANOS);
    };
    if !ramp.every_ns.is_multiple_of(TICK_NANOS) {
        return Err(Error::usage(
            "a step of the ramp lasts a multiple of 100 ms",
        ));
    }
    let step = ramp.every_ns / TICK_NANOS;
    let divides = |length: &u64| step.is_multiple_of(*length);
    let length = (1..=ticks.min(step)).rev().find(divides);
    Ok(length.unwrap_or(1) * TICK_NANOS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{CommandLine, FilestoneCommand};
    use clap::Parser;

    fn plan_of(line: &str) -> Result<Plan, Error> {
        let words = ["filestone", "fleet"].into_iter().chain(line.split(' '));
        let Some(FilestoneCommand::Fleet(options)) = CommandLine::parse_from(words).command else {
            panic!("a fleet");
        };
        plan(
            &options,
            &DefaultCredentials::default(),
            &Environment::CANNED,
        )
    }

    #[test]
    fn readers_and_writers_need_no_plan() {
        let plan = plan_of(
            "--readers 3 --writers 2 --io-size 64K --rate 1..2Mbit/s --step 2 -d 7s nfs://server/export",
        );
        let plan = plan.expect("a plan");
        assert_eq!((plan.clients, plan.duration_ns), (5, Some(17 * SECOND)));
        let fleet = plan.fleet().expect("a fleet");
        assert_eq!(fleet.groups[1].reads, Some(0));
        assert_eq!(fleet.groups[0].write_size, ValueRange::always(65_536));
        assert_eq!(plan.targets().count(), 1);
        // A plan is unchanged after it was stored.
        let stored = serde_json::to_string(&plan).expect("text");
        assert_eq!(serde_json::from_str::<Plan>(&stored).expect("a plan"), plan);
    }

    #[test]
    fn readers_alone_read_files_of_their_own() {
        let plan = plan_of("--readers 3 local:/tmp").expect("a plan");
        let fleet = plan.fleet().expect("a fleet");
        assert_eq!((fleet.groups.len(), fleet.groups[0].reads), (1, None));
        assert_eq!(plan.workers, 1);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (line, wanted) in [
            (
                "--io-size 4K nfs:",
                "--io-size: it is for --readers and --writers",
            ),
            (
                "--readers 1 plan.toml nfs:",
                "there is no plan, only a target",
            ),
            ("--readers 1 tcp:server", "bare TCP only carries bytes"),
            (
                "--readers 1 --writers 1 --io-size 64 nfs:",
                "80 bytes or more",
            ),
            (
                "--readers 1 --step 1 --every 150ms nfs:",
                "a multiple of 100 ms",
            ),
            ("/nowhere/plan.toml", "/nowhere/plan.toml"),
            (
                "--readers 600000 --writers 600000 nfs:",
                "the groups have 1,200,000 clients together, and a fleet at most 1,000,000",
            ),
        ] {
            let error = plan_of(line).expect_err(wanted);
            assert!(error.message.contains(wanted), "{}", error.message);
        }
    }

    #[test]
    fn rows_are_parts_of_steps() {
        let ramp = |every_ns| {
            Some(RampPlan {
                clients: 1,
                every_ns,
            })
        };
        for (row, every, wanted) in [
            (SECOND, 5 * SECOND, SECOND),
            (SECOND, SECOND * 5 / 2, SECOND / 2),
            (2 * SECOND, SECOND, SECOND),
            (SECOND, 700 * 1_000_000, 700 * 1_000_000),
        ] {
            assert_eq!(interval(row, ramp(every)).ok(), Some(wanted));
        }
        assert_eq!(interval(SECOND / 2, None).ok(), Some(SECOND / 2));
    }
}
