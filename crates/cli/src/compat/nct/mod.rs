//! `filestone compat nct`: command line and tables of nct, with correct values.

pub mod command_line;

use super::ending::{refuse, show};
use crate::error::Error;
use crate::execution::interruption;
use crate::execution::live::{Live, RowStream};
use crate::execution::output_directory::{OnExistingDirectory, OutputDirectory};
use crate::execution::{CalibrationMode, LoadedPlan, measure};
use crate::planning::{Environment, with_intervals};
use crate::{ExitStatus, console};
use command_line::{Measure, NctCommand, NctRequest};
use filestone_host::error::ErrorCategory;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_measure::measure::validity;
use filestone_plan::plan::{NfsTarget, Plan, ProbePlan, TargetPlan, WorkloadPlan};
use filestone_report::json;
use filestone_report::rows::Columns;
use filestone_report::summary;
use filestone_workload::operation::OpKind;
use std::path::Path;

const SECOND: u64 = 1_000_000_000;
/// EX_USAGE of sysexits.h, one of nct's exit codes.
const EX_USAGE: u8 = 64;
const EX_DATAERR: u8 = 65;
/// Exit code for a directory that cannot be used.
const EX_OSERR: u8 = 71;
const EX_IOERR: u8 = 74;
const EX_PROTOCOL: u8 = 76;
const EX_NOPERM: u8 = 77;

/// Executes the request of an nct command line.
pub fn run(arguments: &[String]) -> Result<ExitStatus, Error> {
    match command_line::parse(arguments) {
        Ok(NctRequest::Help(None)) => show(&command_line::PROGRAM.help()),
        Ok(NctRequest::Help(Some(command))) => show(usage_of(command)),
        Ok(NctRequest::Version) => show(&format!("{}\n", env!("CARGO_PKG_VERSION"))),
        Ok(NctRequest::Shell) => Ok(refuse(
            &Error::usage("nct shell: of its commands nct itself only ever had help")
                .with_help("filestone probe OP measures any of the 22 procedures"),
            EX_USAGE,
        )),
        Ok(NctRequest::Measure(measure)) => execute(&measure),
        Err(what) => Ok(refuse(
            &Error::usage(what).with_help("filestone compat nct -h shows nct's own command line"),
            EX_USAGE,
        )),
    }
}

fn usage_of(command: NctCommand) -> &'static str {
    match command {
        NctCommand::Null => "usage: nct null [-hv] [user@]host[:path]\n",
        NctCommand::GetAttr => "usage: nct getattr [-hv] [user@]host[:path]\n",
        NctCommand::Read => "usage: nct read [-hv] [user@]host[:path] [length]\n",
        NctCommand::Shell => "usage: nct shell [-hv]\n",
    }
}

fn execute(measured: &Measure) -> Result<ExitStatus, Error> {
    let options = &measured.options;
    let directory = match &options.directory {
        Some(path) => match OutputDirectory::claim(Path::new(path), OnExistingDirectory::Merge) {
            Ok(directory) => Some(directory),
            Err(error) => return Ok(refuse(&error, EX_OSERR)),
        },
        None => None,
    };
    let stop = interruption::stop_flag()?;
    let job = LoadedPlan::new(plan(measured, &Environment::here()))?;
    if options.jobs == 0 {
        console::note("-j 0: no job asks anything");
    }
    let live = if options.mark > 0 {
        Live::with_rows(&stop, Columns::Nct, RowStream::Output)
    } else {
        Live::silent(&stop)
    };
    let mut live = live
        .verbose(options.verbosity > 0)
        .kept(directory.is_some());
    let calibration = match &directory {
        Some(_) => CalibrationMode::First,
        None => CalibrationMode::Omit,
    };
    let record = match measure(&job, calibration, &stop, &mut live) {
        Ok(record) => record,
        Err(error) => {
            let code = exit_code_of(&error);
            return Ok(refuse(&error, code));
        }
    };
    if let Some(directory) = &directory {
        let kept = directory.write(&record, &options.terminal);
        let counters = summary::nct_counters(&record, options.threads, options.jobs);
        console::result(&(summary::of_nct(&record) + &counters))?;
        if let Err(error) = kept {
            if error.is_record_lost {
                console::result(&json::render(&record)?)?;
            }
            return Err(error.error);
        }
    }
    if options.jobs > 0 {
        // nct counted failures as fast successes without a message.
        console::caveats(&record);
    }
    Ok(match record.end {
        RunOutcome::Finished if options.jobs > 0 && !validity::counts(&record) => {
            ExitStatus::DoesNotCount
        }
        RunOutcome::Finished => ExitStatus::Done,
        RunOutcome::Interrupted => ExitStatus::Interrupted,
        RunOutcome::TargetLost { .. } => ExitStatus::TargetLost,
    })
}

/// Returns connections, requests in flight on each, and workers.
///
/// nct's reply threads share one connection. In filestone each has its own connections: the
/// smallest number that gives every connection an equal number of requests in flight, and together
/// as many as there are jobs. Threads without a job would be idle.
fn shared_out(jobs: u32, threads: u32) -> (u32, u32, u32) {
    let jobs = jobs.max(1);
    let workers = threads.min(jobs);
    let mut connections = workers..=jobs;
    let connections = connections
        .find(|connections| jobs.is_multiple_of(*connections))
        .unwrap_or(jobs);
    (connections, jobs / connections, workers)
}

fn plan(measured: &Measure, here: &Environment) -> Plan {
    let options = &measured.options;
    let (clients, in_flight, workers) = shared_out(options.jobs, options.threads);
    // A job of nct ends with the first reply after its time, so without any it makes one request.
    let is_once = options.duration == 0 || options.jobs == 0;
    let target = TargetPlan::Nfs3(NfsTarget {
        host: Some(measured.target.host.clone()),
        port: Some(options.port),
        uid: here.uid,
        gid: here.gid,
        ..NfsTarget::built_in(&measured.target.path)
    });
    let operation = match measured.command {
        NctCommand::Null | NctCommand::Shell => OpKind::Null,
        NctCommand::GetAttr => OpKind::GetAttr,
        NctCommand::Read => OpKind::Read,
    };
    let workload = WorkloadPlan::Probe(ProbePlan {
        size_bytes: measured.length,
        // nct requests one object, and never the entries of a directory.
        files_max: 0,
        ..ProbePlan::new(operation)
    });
    let plan = Plan {
        clients,
        in_flight,
        workers,
        duration_ns: (!is_once).then(|| options.duration.saturating_mul(SECOND)),
        count: is_once.then_some(options.jobs.into()),
        ..Plan::new("nct", target, workload, here.seed)
    };
    let mark = options.mark.saturating_mul(SECOND);
    with_intervals(plan.with_read_data(None), Some(mark))
}

/// Returns nct's exit codes for a rejected path; filestone's for all other errors.
fn exit_code_of(error: &Error) -> u8 {
    // Error messages always contain the name of a status as in RFC 1813, sections 2.6 and 5.1.5.
    // LOOKUP may reject below a permitted export what MOUNT would reject, so both families count.
    let says = |names: &[&str]| names.iter().any(|name| error.message.contains(name));
    match error.category {
        ErrorCategory::Usage => EX_USAGE,
        ErrorCategory::Target if says(&["3ERR_PERM ", "3ERR_ACCES "]) => EX_NOPERM,
        ErrorCategory::Target if says(&["3ERR_IO "]) => EX_IOERR,
        ErrorCategory::Target
            if says(&[
                "3ERR_NOENT ",
                "3ERR_NOTDIR ",
                "3ERR_INVAL ",
                "3ERR_NAMETOOLONG ",
            ]) =>
        {
            EX_DATAERR
        }
        ErrorCategory::Target if says(&["MNT3ERR_"]) => EX_PROTOCOL,
        ErrorCategory::Target
        | ErrorCategory::Environment
        | ErrorCategory::Internal
        | ErrorCategory::Interruption => error.exit_code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Environment = Environment {
        processors: 8,
        uid: 0,
        gid: 0,
        gids: Vec::new(),
        seed: 1,
    };

    #[test]
    fn a_refused_mount_ends_with_ncts_exit_code() {
        for (status, code) in [
            ("MNT3ERR_ACCES (13)", 77),
            ("MNT3ERR_IO (5)", 74),
            ("MNT3ERR_NOENT (2)", 65),
            ("MNT3ERR_SERVERFAULT (10006)", 76),
        ] {
            let error = Error {
                category: ErrorCategory::Target,
                message: format!("server:/x: the server refused MOUNT with {status}"),
                help: None,
            };
            assert_eq!(exit_code_of(&error), code, "{status}");
        }
    }

    #[test]
    fn reply_threads_are_workers_and_all_jobs_are_in_flight() {
        for (jobs, threads, expected) in [
            (1, 1, (1, 1, 1)),
            (32, 1, (1, 32, 1)),
            (8, 4, (4, 2, 4)),
            (32, 3, (4, 8, 3)),
            (7, 2, (7, 1, 2)),
            (2, 128, (2, 1, 2)),
            (0, 4, (1, 1, 1)),
        ] {
            assert_eq!(shared_out(jobs, threads), expected, "-j{jobs} -t{threads}");
        }
    }

    #[test]
    fn without_time_each_job_makes_one_request_and_without_jobs_there_is_none() {
        for (words, count) in [(["-d0", "-j8"], 8), (["-d10", "-j0"], 0)] {
            let words = words.into_iter().chain(["null", "srv"]);
            let words: Vec<String> = words.map(String::from).collect();
            let Ok(NctRequest::Measure(measure)) = command_line::parse(&words) else {
                panic!("nct takes this");
            };
            let plan = plan(&measure, &HERE);
            assert_eq!((plan.duration_ns, plan.count), (None, Some(count)));
        }
    }

    #[test]
    fn ncts_command_line_becomes_a_plan() {
        let words = ["-d", "10", "-j", "32", "-m", "5", "read", "srv:/f", "8k"];
        let words: Vec<String> = words.map(String::from).to_vec();
        let Ok(NctRequest::Measure(measure)) = command_line::parse(&words) else {
            panic!("nct takes this");
        };
        let here = HERE;
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&plan(&measure, &here)).expect("a plan is JSON")
        );
    }
}
