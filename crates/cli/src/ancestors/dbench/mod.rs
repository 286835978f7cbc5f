//! `filestone as dbench` and `as tbench`: their command lines, their rows, tables
//! and exit codes, correct values.

pub mod command_line;

use super::ending::{self, refuse, show};
use crate::error::Error;
use crate::execution::interruption;
use crate::execution::live::{Live, RowStream};
use crate::execution::{Calibration, Job, measure};
use crate::inputs::loads::{self, Named};
use crate::options::nfs::NfsOptions;
use crate::options::target::Target;
use crate::planning;
use crate::planning::replay::{BUILT_IN_PATH, LOAD_DEFAULT, TCP_OPTIONS_DEFAULT};
use crate::planning::{Environment, first_and_rest, nfs_target};
use crate::report::dbench::{self, Form};
use crate::{Exit, console};
use command_line::{Backend, Program, Request, Run, Version};
use filestone_engine::target::tbench::replay::SocketOptions;
use filestone_model::measure::RunRecord;
use filestone_model::plan::limits::CLIENTS_OF_REPLAY_MAX;
use filestone_model::plan::{
    LeftOverPolicy, LocalTarget, Nfs3Replay, NfsTarget, OnMismatch, Pacing, Plan, ReplayPlan,
    TargetPlan, TcpReplay, TcpTarget, TransportKind, WorkloadPlan,
};
use std::path::Path;

const SECOND: u64 = 1_000_000_000;
/// dbench's exit code when a client failed, or when it was called wrongly.
const FAILURE: u8 = 1;
/// dbench 5's exit code when it cannot start.
const CANNOT_START: u8 = 10;
/// Where dbench 1 and 2 look for their load file.
const LOAD_FILE_HERE: &str = "client.txt";
/// Where dbench 4.0 looks for its load file.
const LOAD_FILE_DEFAULT: &str = "/usr/share/dbench/client.txt";

/// Does what dbench, or tbench, was asked to do.
pub fn run(program: Program, arguments: &[String]) -> Result<Exit, Error> {
    match command_line::parse(program, arguments) {
        Ok(Request::Help) => show(&program.known().help()),
        Ok(Request::Run(run)) => execute(program, &run),
        Err(refusal) => Ok(refusal.tell()),
    }
}

fn execute(program: Program, run: &Run) -> Result<Exit, Error> {
    let run = &said(run);
    let name = load_name(run);
    let prepared = prepare(run, &name, &Environment::here());
    let job = match prepared {
        Ok(job) => job,
        Err(error) => {
            let code = match run.version {
                Version::Five => CANNOT_START,
                Version::Four => FAILURE,
            };
            return Ok(refuse(&error, code));
        }
    };
    console::result(&banner(program, run, &name))?;
    let stop = interruption::stop_flag()?;
    let form = form(run);
    let mut live = Live::with_progress(&stop, form, RowStream::Output).released(released(run));
    let record = match measure(&job, Calibration::Omit, &stop, &mut live) {
        Ok(record) => record,
        Err(error) => return Ok(refuse(&error, FAILURE)),
    };
    console::result(&report(form, &record, run.options.flags.per_client_results))?;
    record.caveats.iter().for_each(console::caveat);
    if !has_throughput(&record) {
        console::note("no Throughput: the run failed, was interrupted or measured nothing");
    }
    Ok(exit_of(&record))
}

/// Says what of the command line is passed over; the run without that.
fn said(run: &Run) -> Run {
    let mut run = run.clone();
    if let Some(list) = &run.options.tcp_options {
        let (options, passed_over) = SocketOptions::leniently(list);
        run.passed_over
            .extend(passed_over.iter().map(|what| format!("-T: {what}")));
        run.options.tcp_options = Some(options.to_string());
    }
    run.passed_over.iter().for_each(|what| console::note(what));
    run
}

const fn form(run: &Run) -> Form {
    match (run.version, run.options.flags.machine_readable) {
        (_, true) => Form::Machine,
        (Version::Four, false) => Form::Four,
        (Version::Five, false) => Form::Five,
    }
}

/// The load: that of `-c`, or dbench's. Versions 1 and 2 looked for it in the working
/// directory, 4.0 where it is installed; what is not asked for by name is said.
fn load_name(run: &Run) -> String {
    if let Some(name) = &run.options.load_file {
        return name.clone();
    }
    let (name, what) = default_load(&|name| Path::new(name).is_file());
    if let Some(what) = what {
        console::note(&what);
    }
    name.into()
}

/// The load of a command line without `-c`, and what is to be said of it.
fn default_load(is_there: &dyn Fn(&str) -> bool) -> (&'static str, Option<String>) {
    if is_there(LOAD_FILE_HERE) {
        let what = format!("replaying {LOAD_FILE_HERE} of the working directory");
        return (LOAD_FILE_HERE, Some(what));
    }
    if is_there(LOAD_FILE_DEFAULT) {
        return (LOAD_FILE_DEFAULT, None);
    }
    let what = format!(
        "neither {LOAD_FILE_HERE} nor {LOAD_FILE_DEFAULT} is there; replaying filestone's own \
         load {LOAD_DEFAULT}"
    );
    (LOAD_DEFAULT, Some(what))
}

fn prepare(run: &Run, load: &str, here: &Environment) -> Result<Job, Error> {
    let loads = loads::list(load)?;
    let plan = plan(run, &loads, here)?;
    let mut jobs = Job::replays(vec![plan], &loads)?;
    Ok(jobs.remove(0))
}

/// What stands above the rows. It is our program, and says so.
fn banner(program: Program, run: &Run, load: &str) -> String {
    let version = match run.version {
        Version::Four => "4.00",
        Version::Five => "5.0",
    };
    let name = match program {
        Program::Dbench => "dbench",
        Program::Tbench => "tbench",
    };
    format!(
        "{name} version {version} as spoken by filestone {}\n\n\
         Running for {} seconds with load '{load}' and minimum warmup {} secs\n",
        env!("CARGO_PKG_VERSION"),
        run.time_limit,
        run.warm_up,
    )
}

/// What stands before the first row, once everything is ready.
fn released(run: &Run) -> String {
    let processes = run.processes;
    match run.version {
        Version::Four => format!(
            "{processes} of {processes} processes prepared for launch   0 sec\n\
             releasing clients\n"
        ),
        Version::Five => "Waiting for child processes to finish setup.\nReleasing clients\n".into(),
    }
}

fn report(form: Form, record: &RunRecord, per_client_results: bool) -> String {
    let (Some(plan), Some(replay)) = (record.plan.replay(), &record.replay) else {
        return String::new();
    };
    let mut text = String::from("\n");
    text.push_str(&dbench::table(form, record, plan));
    if per_client_results {
        text.push_str(&dbench::per_client(form, replay, plan));
    }
    if has_throughput(record) {
        text.push_str(&dbench::throughput(form, record, plan));
    }
    text
}

/// Scripts take the line `Throughput` for a result: it stands for a run that came to its
/// end, with all its clients, and in which something succeeded.
fn has_throughput(record: &RunRecord) -> bool {
    exit_of(record) == Exit::Done && record.window_ns > 0
}

/// dbench ends with 1 when a client failed.
fn exit_of(record: &RunRecord) -> Exit {
    let mut clients = record.replay.iter().flat_map(|replay| &replay.clients);
    match ending::exit_of(record, FAILURE) {
        Exit::Done if clients.any(|client| client.lost.is_some()) => Exit::Code(FAILURE),
        exit => exit,
    }
}

fn plan(run: &Run, loads: &[Named], here: &Environment) -> Result<Plan, Error> {
    let clients = run
        .processes
        .checked_mul(run.options.clients_per_process)
        .filter(|clients| *clients <= CLIENTS_OF_REPLAY_MAX)
        .ok_or_else(|| {
            Error::usage(format!(
                "{} processes of {} clients: there may be {CLIENTS_OF_REPLAY_MAX} clients",
                run.processes, run.options.clients_per_process
            ))
        })?;
    let (target, more_targets) = first_and_rest(targets(run, here)?)?;
    let workers = match target.nfs3() {
        Some(_) => planning::workers_of(None, clients, &target, here),
        None => 1,
    };
    Ok(Plan {
        clients,
        workers,
        warm_up_ns: run.warm_up.saturating_mul(SECOND),
        duration_ns: Some(run.time_limit.saturating_mul(SECOND)),
        ..Plan::new(
            "dbench",
            target,
            WorkloadPlan::LoadFile(replay_plan(run, loads, more_targets)),
            here.seed,
        )
    }
    .with_read_data(None))
}

fn replay_plan(run: &Run, loads: &[Named], more_targets: Vec<TargetPlan>) -> ReplayPlan {
    let options = &run.options;
    let flags = options.flags;
    let has_stamps = loads.iter().any(|named| named.has_stamps);
    ReplayPlan {
        loads: loads.iter().map(|named| named.name.clone()).collect(),
        kinds: planning::replay::kinds(loads),
        more_targets,
        clients_per_thread: options.clients_per_process,
        pacing: match options.rate {
            Some(bytes_per_s) => Pacing::Rate { bytes_per_s },
            None if has_stamps => Pacing::Stamps { speed: 1.0 },
            None => Pacing::Closed,
        },
        run_once: flags.run_once,
        skip_cleanup: flags.skip_cleanup,
        // dbench works in what an earlier run has left over. No one was asked here,
        // so what may be a run of another host stays.
        left_over: LeftOverPolicy::RemoveIfOver,
        trunc_io_bytes: options.trunc_io,
        on_mismatch: match run.backend {
            // A client of dbench ends at a status that it did not expect.
            Backend::Nfs(_) => OnMismatch::Stop,
            Backend::Fileio | Backend::Sockio(_) => OnMismatch::Count,
        },
        resolve: !flags.no_resolve,
        local: flags.local,
        nfs3: Nfs3Replay {
            stable: false,
            enable_nlm: flags.enable_nlm,
            nlm_port: None,
        },
        tcp: TcpReplay {
            prefix: options.directory.clone(),
            socket_options: options
                .tcp_options
                .clone()
                .unwrap_or(TCP_OPTIONS_DEFAULT.into()),
        },
    }
}

fn targets(run: &Run, here: &Environment) -> Result<Vec<TargetPlan>, Error> {
    match &run.backend {
        Backend::Fileio => {
            let directory = Some(run.options.directory.clone());
            Ok(vec![TargetPlan::Local(LocalTarget { directory })])
        }
        Backend::Sockio(server) => {
            let host = Some(server.clone());
            Ok(vec![TargetPlan::Tcp(TcpTarget { host, port: None })])
        }
        Backend::Nfs(servers) => servers
            .iter()
            .map(|server| export(run, server, here).map(TargetPlan::Nfs3))
            .collect(),
    }
}

/// An export of `--nfs`, and what `-D` names below it.
fn export(run: &Run, server: &Target, here: &Environment) -> Result<NfsTarget, Error> {
    let (options, tcp) = (NfsOptions::default(), TransportKind::Tcp);
    let mut target = nfs_target(Some(server), &options, tcp, BUILT_IN_PATH, here)?;
    // -D stands before every name, but for leading dots.
    let below = run
        .options
        .directory
        .trim_start_matches('.')
        .trim_matches('/');
    if !below.is_empty() {
        target.path = format!("{}/{below}", target.path.trim_end_matches('/'));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;
    use filestone_model::load::{Generation, Load};
    use filestone_model::measure::run_record::RunEnd;
    use filestone_model::operation::OpKind;
    use filestone_model::plan::LoadName;
    use std::sync::Arc;

    const HERE: Environment = Environment {
        uid: 0,
        gid: 0,
        seed: 1,
        ..Environment::CANNED
    };

    fn run_of(program: Program, line: &str) -> Run {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        match command_line::parse(program, &words) {
            Ok(Request::Run(run)) => *run,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn loads() -> Vec<Named> {
        vec![Named {
            name: LoadName {
                name: "client.txt".into(),
                operations: 458_344,
                generation: Generation::Cifs,
            },
            kinds: vec![OpKind::ReadX],
            has_stamps: false,
            load: Arc::new(Load::empty(Generation::Cifs)),
        }]
    }

    #[test]
    fn command_lines_become_plans() {
        let mut text = String::new();
        for (program, line) in [
            (
                Program::Dbench,
                "-sS -t 60 -D /mnt/test --clients-per-process 2 4",
            ),
            (Program::Tbench, "-t 10 -R 5 2 far"),
            (
                Program::Dbench,
                "-B nfs --nfs nfs://a/x,nfs://b -D ./deep -c x --run-once --enable-nlm 2",
            ),
        ] {
            let plan = plan(&run_of(program, line), &loads(), &HERE).expect(line);
            text.push_str(&serde_json::to_string_pretty(&plan).expect("a plan is JSON"));
            text.push('\n');
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_printed_has_dbenchs_form() {
        let mut text = String::new();
        for (program, line) in [
            (Program::Dbench, "-t 60 2"),
            (Program::Dbench, "-B fileio -c client.txt -t 60 2"),
            (
                Program::Dbench,
                "-B fileio -c client.txt -t 60 --machine-readable --per-client-results 2",
            ),
            (Program::Tbench, "-t 60 2"),
        ] {
            let run = run_of(program, line);
            text.push_str(&banner(program, &run, "client.txt"));
            text.push_str(&released(&run));
            text.push_str(&report(
                form(&run),
                &canned::replayed(),
                run.options.flags.per_client_results,
            ));
            text.push_str("----\n");
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_lost_client_is_exit_code_1() {
        assert_eq!(exit_of(&canned::replayed()), Exit::Done);
        let lost = canned::replayed_with_mismatches();
        assert_eq!(exit_of(&lost), Exit::Code(FAILURE));
        let mut nothing = canned::replayed();
        nothing.totals.ledger.failed += nothing.totals.ledger.ok;
        nothing.totals.ledger.ok = 0;
        assert_eq!(exit_of(&nothing), Exit::NothingSucceeded);
    }

    #[test]
    fn only_a_run_that_measured_something_has_a_throughput() {
        let has_line =
            |record: &RunRecord| report(Form::Four, record, false).contains("Throughput");
        let whole = canned::replayed();
        assert!(has_line(&whole));
        assert!(
            !has_line(&canned::replayed_with_mismatches()),
            "a client was lost"
        );
        let mut interrupted = whole.clone();
        interrupted.end = RunEnd::Interrupted;
        assert!(!has_line(&interrupted));
        let mut nothing = whole;
        nothing.totals.ledger.failed += nothing.totals.ledger.ok;
        nothing.totals.ledger.ok = 0;
        assert!(!has_line(&nothing));
        let machine = report(Form::Machine, &nothing, false);
        assert!(!machine.contains(";0;"), "{machine}");
    }

    #[test]
    fn a_load_in_the_working_directory_is_found_and_said() {
        let found = |there: &[&str]| default_load(&|name| there.contains(&name));
        let (name, what) = found(&[LOAD_FILE_HERE, LOAD_FILE_DEFAULT]);
        assert_eq!(name, "client.txt");
        assert!(what.is_some_and(|what| what.contains("working directory")));
        assert_eq!(found(&[LOAD_FILE_DEFAULT]), (LOAD_FILE_DEFAULT, None));
        let (name, what) = found(&[]);
        assert_eq!(name, LOAD_DEFAULT);
        assert!(what.is_some_and(|what| what.contains("filestone's own load")));
    }

    #[test]
    fn too_many_clients_are_refused() {
        let run = run_of(Program::Dbench, "--clients-per-process 70000 70000");
        assert!(plan(&run, &loads(), &HERE).is_err());
    }
}
