//! `filestone compat nhfsstone`: command line and report of nhfsstone, with correct values.

pub mod command_line;

use super::ending::{exit_of, refuse, show};
use crate::error::{Error, reason};
use crate::execution::interruption;
use crate::execution::live::Live;
use crate::execution::{CalibrationMode, LoadedPlan, measure};
use crate::inputs::mix_source;
use crate::options::mix::FileSetOptions;
use crate::options::nfs::NfsOptions;
use crate::planning::{
    Environment, first_and_rest, nfs_target, open_loop_in_flight, with_read_data, workers_of,
};
use crate::{ExitStatus, console, planning};
use command_line::{NhfsstoneRequest, NhfsstoneRun, PROGRAM, TargetDirectory};
use filestone_plan::mix::Mix;
use filestone_plan::plan::{
    Access, ArrivalsPlan, FeedbackArithmetic, LocalMix, LocalTarget, MixCount, MixPlan, Plan,
    TargetPlan, TransportKind, WorkloadPlan,
};
use filestone_report::nhfsstone;
use filestone_workload::operation::{OpKind, Stability};
use std::fs::File;
use std::path::Path;

/// nhfsstone's exit code for all errors.
const FAILURE: u8 = 1;
/// nhfsstone's own mix.
const MIX_DEFAULT: &str = "nhfsstone";
/// Size of nhfsstone's reads and writes, the maximum of NFSv2 (RFC 1094, section 2.3.1).
const TRANSFER_BYTES: u32 = 8192;

/// Executes the request of an nhfsstone command line.
pub fn run(arguments: &[String]) -> Result<ExitStatus, Error> {
    match command_line::parse(arguments) {
        Ok(NhfsstoneRequest::Help) => show(&PROGRAM.help()),
        Ok(NhfsstoneRequest::Run(run)) => execute(&run),
        Err(refusal) => Ok(refusal.tell()),
    }
}

fn execute(run: &NhfsstoneRun) -> Result<ExitStatus, Error> {
    let job = mix(run)
        .and_then(|mix| plan(run, mix, &Environment::here()))
        .and_then(LoadedPlan::new);
    let job = match job {
        Ok(job) => job,
        Err(error) => return Ok(refuse(&error, FAILURE)),
    };
    let stop = interruption::stop_flag()?;
    let record = match measure(&job, CalibrationMode::Omit, &stop, &mut Live::silent(&stop)) {
        Ok(record) => record,
        Err(error) => return Ok(refuse(&error, FAILURE)),
    };
    console::result(&nhfsstone::report(PROGRAM.name, &record, run.is_verbose))?;
    console::caveats(&record);
    // nhfsstone exited with 0 after a run that it called invalid; a script must not take that for a
    // result.
    Ok(exit_of(&record, FAILURE))
}

/// Returns the mix of `-m`, that of `-T`, or nhfsstone's own.
fn mix(run: &NhfsstoneRun) -> Result<Mix, Error> {
    match (run.only, &run.mix_file) {
        (Some(operation), _) => Ok(only(operation)),
        (None, Some(path)) => mix_of_file(path),
        (None, None) => mix_source::read(MIX_DEFAULT, None),
    }
}

/// Reads the mix of `-m`. nhfsstone has a separate message for a file that it cannot open.
fn mix_of_file(path: &Path) -> Result<Mix, Error> {
    if let Err(error) = File::open(path) {
        let path = path.display();
        let what = format!("bad mix file {path}: {}", reason(&error));
        return Err(Error::usage(what).with_help("expected the output of nfsstat -s"));
    }
    mix_source::read_file(path, None).map(in_whole_percents)
}

/// Removes the operations whose share of the calls nhfsstone rounds to 0 %: it never calls them.
fn in_whole_percents(mix: Mix) -> Mix {
    let left_out = mix.left_out.iter().map(|left| u128::from(left.count));
    let counted = mix.sum() + left_out.sum::<u128>();
    let calls = mix.calls.filter(|calls| *calls > 0).map(u128::from);
    let calls = calls.unwrap_or(counted).max(1);
    let is_called = |one: &MixCount| u128::from(one.count) * 1000 / calls >= 5;
    Mix {
        calls: u64::try_from(calls).ok(),
        counts: mix.counts.into_iter().filter(is_called).collect(),
        ..mix
    }
}

fn only(operation: OpKind) -> Mix {
    Mix {
        calls: None,
        name: operation.name().into(),
        counts: vec![MixCount {
            operation,
            count: 1,
        }],
        left_out: vec![],
        notes: vec![],
    }
}

fn plan(run: &NhfsstoneRun, mix: Mix, here: &Environment) -> Result<Plan, Error> {
    let clients = run.processes;
    let (target, more_targets) = first_and_rest(targets(run, here)?)?;
    let is_local = target.is_directory();
    let in_flight = if is_local {
        1
    } else {
        open_loop_in_flight(clients)
    };
    let mix = MixPlan {
        calls: mix.calls_beside_sum(),
        more_targets,
        transfer_bytes: TRANSFER_BYTES,
        access: Access::Whole,
        // An NFSv2 server had to store data before it replied (RFC 1094, section 2.2.9).
        stability: Stability::FileSync,
        listing_bytes: TRANSFER_BYTES,
        local: if is_local {
            planning::mix::local(None, true, FeedbackArithmetic::Nhfsstone)
        } else {
            LocalMix::default()
        },
        ..planning::mix::mix_plan(mix, &FileSetOptions::default())
    };
    let plan = Plan {
        arrivals: ArrivalsPlan::Poisson {
            offered_load_ops_per_s: run.load as f64,
        },
        clients,
        in_flight,
        workers: workers_of(None, clients, &target, here),
        count: Some(run.calls),
        ..Plan::new(
            "nhfsstone",
            target,
            WorkloadPlan::Mix(Box::new(mix)),
            here.seed,
        )
    };
    with_read_data(planning::mix::with_spare_names(plan), None, false)
}

/// Returns the directories without duplicates, and without those that no process would use.
fn targets(run: &NhfsstoneRun, here: &Environment) -> Result<Vec<TargetPlan>, Error> {
    let mut targets = Vec::new();
    for directory in run.directories.iter().take(run.processes as usize) {
        let target = match directory {
            TargetDirectory::Mounted(path) => TargetPlan::Local(LocalTarget {
                directory: Some(path.to_string_lossy().into_owned()),
            }),
            TargetDirectory::Server(server) => TargetPlan::Nfs3(nfs_target(
                Some(server),
                &NfsOptions::default(),
                TransportKind::Tcp,
                planning::mix::BUILT_IN_PATH,
                here,
            )?),
        };
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_which_nothing_succeeded_is_no_success() {
        let mut record = filestone_report::fixtures::plain();
        assert_eq!(exit_of(&record, FAILURE), ExitStatus::Done);
        record.totals.ledger.failed += record.totals.ledger.ok;
        record.totals.ledger.ok = 0;
        assert_eq!(exit_of(&record, FAILURE), ExitStatus::DoesNotCount);
    }

    const HERE: Environment = Environment::CANNED;

    fn plan_of(line: &str) -> Result<Plan, Error> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        match command_line::parse(&words) {
            Ok(NhfsstoneRequest::Run(run)) => plan(&run, only(OpKind::GetAttr), &HERE),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn without_a_word_it_is_the_original_in_a_directory() {
        let plan = plan_of("").expect("nhfsstone's defaults");
        insta::assert_snapshot!(serde_json::to_string_pretty(&plan).expect("JSON"));
    }

    #[test]
    fn shares_are_of_the_calls_that_the_mix_file_names() {
        let mix = Mix {
            calls: Some(4),
            ..only(OpKind::GetAttr)
        };
        let Ok(NhfsstoneRequest::Run(run)) = command_line::parse(&["s:/a".into()]) else {
            panic!("nhfsstone takes this");
        };
        let plan = plan(&run, mix, &HERE).expect("a plan");
        let mix = plan.mix().expect("a mix");
        assert_eq!(mix.calls, Some(4));
        assert!((mix.share(OpKind::GetAttr) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn an_operation_of_less_than_half_a_percent_is_never_called() {
        // 4 of 1000 are 0 %, 5 are 1 %, as nhfsstone rounds.
        let counts = [
            (OpKind::GetAttr, 991),
            (OpKind::Read, 5),
            (OpKind::MkDir, 4),
        ];
        let counts = counts.map(|(operation, count)| MixCount { operation, count });
        let mix = in_whole_percents(Mix {
            counts: counts.to_vec(),
            ..only(OpKind::GetAttr)
        });
        assert_eq!(mix.count(OpKind::Read), 5);
        assert_eq!(mix.count(OpKind::MkDir), 0);
        // Shares are relative to all calls, as in nhfsstone.
        assert_eq!(mix.calls_beside_sum(), Some(1000));
    }

    #[test]
    fn a_mix_file_that_cannot_be_opened_is_a_bad_one() {
        let error = mix_of_file(Path::new("/nowhere/mix")).expect_err("there is none");
        assert!(
            error.message.starts_with("bad mix file /nowhere/mix: "),
            "{}",
            error.message
        );
    }

    #[test]
    fn servers_are_asked_without_a_mount() {
        let plan = plan_of("-p 2 -l 100 -t 5 s:/a s:/a s:/b").expect("directories of one server");
        assert_eq!((plan.clients, plan.count), (2, Some(500)));
        assert_eq!(plan.arrivals.offered_load(), Some(100.0));
        let mix = plan.mix().expect("a mix");
        assert!(mix.more_targets.is_empty() && !mix.local.feedback);
        assert!(plan_of("a:/x b:/x").is_err());
    }
}
