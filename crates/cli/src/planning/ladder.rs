//! Converts a ladder's options to those of the probe of each rung.

use crate::error::Error;
use crate::options::cost::CostOptions;
use crate::options::echo_address::EchoAddress;
use crate::options::ladder::LadderOptions;
use crate::options::probe::{LoadArguments, ProbeOptions, WorkloadOptions};
use crate::options::run_report::{ExpectOptions, RunReportOptions};
use filestone_engine::protocols::echo;
use filestone_measure::sweep::Rung;
use filestone_plan::plan::{Plan, ProbePlan, TransportKind};

const MILLISECOND: u64 = 1_000_000;
/// Defaults for short runs, because a ladder has many.
const DURATION_DEFAULT: u64 = 2000 * MILLISECOND;
const WARM_UP_DEFAULT: u64 = 200 * MILLISECOND;
/// Defaults that give a run enough readings for a regression line.
const COST_IDLE_DEFAULT: u64 = 1000 * MILLISECOND;
const COST_INTERVAL_DEFAULT: u64 = 200 * MILLISECOND;
/// Length of the files that are read and written: whole READs of all sizes.
const FILE_SIZE: u64 = 1 << 20;
/// Bytes of a call of NULL (RFC 5531 section 9: six words, and twice AUTH_NONE), and of its record
/// mark.
const NULL_BYTES: u32 = 40;
const RECORD_MARK_BYTES: u32 = 4;
/// Bytes of an ECHO request (MS-SMB2 2.2.28), with its header and that of its frame.
const SMB_ECHO_BYTES: u32 = 72;

/// Returns the options of the probe of a rung.
pub fn probe_of(options: &LadderOptions, rung: &Rung) -> ProbeOptions {
    let load = &options.load;
    let duration = match (load.duration, load.count) {
        (None, Some(_)) => None,
        (duration, _) => Some(duration.unwrap_or(DURATION_DEFAULT)),
    };
    ProbeOptions {
        operation: rung.operation,
        target: options.target.clone(),
        share: options.share.clone(),
        workload: WorkloadOptions {
            io_size: rung.size_bytes,
            stable: rung.stability,
            file_size_default: Some(FILE_SIZE),
            create_files: ProbePlan::can_have_own_files(rung.operation),
            ..WorkloadOptions::default()
        },
        load: LoadArguments {
            duration,
            warm_up: Some(load.warm_up.unwrap_or(WARM_UP_DEFAULT)),
            // Several calls in flight mainly wait for each other.
            kernel_timestamps: load.kernel_timestamps
                || load.in_flight.is_none_or(|count| count == 1),
            // One call at a time, so that each finds an idle server, as without --offered.
            in_flight: load.in_flight.or(load.load_levels.map(|_| 1)),
            ..load.clone()
        },
        report: RunReportOptions {
            dry_run: options.dry_run,
            cost: cost(&options.cost, load),
            ..RunReportOptions::default()
        },
        expect: ExpectOptions::default(),
        calibration: options.calibration.clone(),
        verbose: false,
    }
}

/// Creates the lowest rung's plan from that of an empty call: the same exchange with the same
/// number of bytes, with a server that returns the received data.
pub fn echo_of(null: Plan, address: &EchoAddress) -> Result<Plan, Error> {
    let transport = if null.target.is_udp() {
        TransportKind::Udp
    } else {
        TransportKind::Tcp
    };
    let bytes = match (null.target.smb(), transport) {
        (Some(_), _) => SMB_ECHO_BYTES,
        (None, TransportKind::Tcp) => NULL_BYTES + RECORD_MARK_BYTES,
        (None, TransportKind::Udp) => NULL_BYTES,
    };
    let plan = Plan {
        target: echo::target(&address.host, address.port, transport, bytes),
        ..null
    };
    plan.check()?;
    Ok(plan)
}

/// Returns the cost options; bytes and packets are always counted, because that needs neither
/// privileges nor the server's cooperation.
fn cost(asked: &CostOptions, load: &LoadArguments) -> CostOptions {
    // Loads in turn have their own length.
    let interval = load.load_levels.is_none().then_some(COST_INTERVAL_DEFAULT);
    CostOptions {
        cost: true,
        idle_baseline: Some(asked.idle_baseline.unwrap_or(COST_IDLE_DEFAULT)),
        cost_interval: asked.cost_interval.or(interval),
        ..asked.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::credentials::DefaultCredentials;
    use crate::options::{CommandLine, FilestoneCommand};
    use crate::planning::{Environment, cost::with_cost, probe};
    use clap::Parser;
    use filestone_measure::sweep::RUNGS;

    fn plans(line: &str) -> Vec<(&'static str, Result<Plan, String>)> {
        let words = line.split_whitespace();
        let read = CommandLine::try_parse_from(words).expect("a command line");
        let Some(FilestoneCommand::Ladder(options)) = read.command else {
            panic!("{line}: no ladder");
        };
        let plan = |rung: &Rung| {
            let asked = probe_of(&options, rung);
            let credentials = DefaultCredentials::read(&asked.share.access)?;
            let plan = probe(&asked, &credentials, &Environment::CANNED)?;
            with_cost(plan, &asked.report.cost)
        };
        let rungs = options.rungs().into_iter();
        rungs
            .map(|rung| (rung.name, plan(rung).map_err(|error| error.message)))
            .collect()
    }

    #[test]
    fn every_rung_is_a_probe_on_files_of_its_own() {
        let all = plans("filestone ladder server:/export");
        assert_eq!(all.len(), RUNGS.len());
        for (name, plan) in all {
            let plan = plan.expect(name);
            let probe = plan.probe().expect(name);
            assert_eq!(probe.file_size_bytes, FILE_SIZE, "{name}");
            assert_eq!(
                (plan.duration_ns, plan.in_flight, plan.clients),
                (Some(DURATION_DEFAULT), 1, 1),
                "{name}"
            );
            assert!(
                plan.cost
                    .is_some_and(|cost| cost.interval_ns == 200_000_000)
            );
        }
    }

    #[test]
    fn options_are_those_of_all_rungs() {
        let line =
            "filestone ladder server:/export --rungs read-4K,null --count 7 -j 3 --server-pid 4711";
        let some = plans(line);
        let names: Vec<_> = some.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["null", "read-4K"]);
        for (name, plan) in some {
            let plan = plan.expect(name);
            assert_eq!((plan.duration_ns, plan.count), (None, Some(7)));
            assert_eq!(plan.in_flight, 3);
            assert_eq!(plan.cost.expect("it is read").process, Some(4711));
        }
    }

    #[test]
    fn an_echo_has_as_many_bytes_as_an_empty_call() {
        let address = EchoAddress {
            host: "server".into(),
            port: 20_007,
        };
        for (line, expected) in [
            ("filestone ladder server:/export --rungs null", "/44"),
            (
                "filestone ladder server:/export --rungs null --transport udp",
                "/40 over UDP",
            ),
            ("filestone ladder smb: --rungs null", "/72"),
        ] {
            let mut all = plans(line);
            let (_, null) = all.remove(0);
            let echo = echo_of(null.expect("a plan"), &address).expect("a plan");
            let shown = echo.target.to_string();
            assert_eq!(shown, format!("rfc862://server:20007{expected}"), "{line}");
        }
    }

    #[test]
    fn loads_in_turn_are_of_all_rungs_and_in_whole_cycles() {
        let line = "filestone ladder server:/export --rungs null,getattr --offered 3k --load-levels 3 \
                    -d 3s --cost-interval 100ms";
        for (name, plan) in plans(line) {
            let plan = plan.expect(name);
            let times = (plan.warm_up_ns, plan.duration_ns, plan.in_flight);
            assert_eq!(times, (800 * MILLISECOND, Some(3200 * MILLISECOND), 1));
            let cost = plan.cost.expect("it is read");
            assert_eq!(cost.interval_ns, 100 * MILLISECOND);
        }
    }

    #[test]
    fn what_no_datagram_holds_is_no_rung_over_udp() {
        let all = plans("filestone ladder server:/export --transport udp");
        let refused = all.iter().filter_map(|(name, plan)| {
            let why = plan.as_ref().err()?;
            Some(format!("{name}: {why}"))
        });
        let refused: Vec<String> = refused.collect();
        assert_eq!(
            refused,
            ["read-128K: --io-size 131072: a datagram holds at most 64512 bytes of data"]
        );
    }
}
