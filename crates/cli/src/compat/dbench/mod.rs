//! `filestone compat dbench` and `compat tbench`: the originals' command lines, rows, tables and exit
//! codes, with correct values.

pub mod command_line;

use super::ending::{refuse, show};
use super::login::Login;
use super::replayed::{self, has_throughput};
use crate::error::Error;
use crate::execution::LoadedPlan;
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::loads::{self, Named};
use crate::options::nfs::NfsOptions;
use crate::options::password::PasswordOptions;
use crate::options::smb::ShareLocation;
use crate::options::target::ParsedTarget;
use crate::planning;
use crate::planning::replay::{BUILT_IN_PATH, TCP_OPTIONS_DEFAULT};
use crate::planning::{Environment, first_and_rest, nfs_target};
use crate::{ExitStatus, console};
use command_line::{DbenchBackend, DbenchProgram, DbenchRequest, DbenchRun, DbenchVersion};
use filestone_engine::protocols::tbench::replay::SocketOptionList;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::limits::CLIENTS_OF_REPLAY_MAX;
use filestone_plan::plan::{
    LeftoverPolicy, LocalTarget, Nfs3Replay, NfsTarget, OnMismatch, Plan, ReplayPlan, SmbTarget,
    TargetPlan, TcpReplay, TransportKind, WorkloadPlan,
};
use filestone_report::dbench::{self, DbenchFormat};

const SECOND: u64 = 1_000_000_000;
/// dbench's exit code if a client failed, or for a wrong command line.
const FAILURE: u8 = 1;
/// dbench 5's exit code if it cannot start.
const CANNOT_START: u8 = 10;
/// Executes the request of a dbench or tbench command line.
pub fn run(program: DbenchProgram, arguments: &[String]) -> Result<ExitStatus, Error> {
    match command_line::parse(program, arguments) {
        Ok(DbenchRequest::Help) => show(&program.known().help()),
        Ok(DbenchRequest::Run(run)) => execute(program, &run),
        Err(refusal) => Ok(refusal.tell()),
    }
}

fn execute(program: DbenchProgram, run: &DbenchRun) -> Result<ExitStatus, Error> {
    let run = &said(run);
    let name = replayed::load_name(run.options.load_file.as_deref());
    let prepared = prepare(run, &name, &Environment::here());
    let job = match prepared {
        Ok(job) => job,
        Err(error) => {
            let code = match run.version {
                DbenchVersion::Five => CANNOT_START,
                DbenchVersion::Four => FAILURE,
            };
            return Ok(refuse(&error, code));
        }
    };
    console::result(&banner(program, run, &name))?;
    let form = form(run);
    let per_client_results = run.options.flags.per_client_results;
    replayed::execute(
        &job,
        replayed::OutputStyle {
            rows: dbench::rows(form),
            released: released(run),
            report: &|measured| {
                measured.map_or_else(
                    |_| String::new(),
                    |record| report(form, record, per_client_results),
                )
            },
            failure: FAILURE,
        },
    )
}

/// Prints the ignored parts of the command line, and returns the run without them.
fn said(run: &DbenchRun) -> DbenchRun {
    let mut run = run.clone();
    if let Some(list) = &run.options.tcp_options {
        let (options, passed_over) = SocketOptionList::leniently(list);
        run.passed_over
            .extend(passed_over.iter().map(|what| format!("-T: {what}")));
        run.options.tcp_options = Some(options.to_string());
    }
    run.passed_over.iter().for_each(|what| console::note(what));
    run
}

const fn form(run: &DbenchRun) -> DbenchFormat {
    match (run.version, run.options.flags.machine_readable) {
        (_, true) => DbenchFormat::Machine,
        (DbenchVersion::Four, false) => DbenchFormat::Four,
        (DbenchVersion::Five, false) => DbenchFormat::Five,
    }
}

fn prepare(run: &DbenchRun, load: &str, here: &Environment) -> Result<LoadedPlan, Error> {
    let loads = loads::list(load)?;
    let plan = plan(run, &loads, here)?;
    let jobs = LoadedPlan::replays(vec![plan], &loads)?;
    let mut jobs = match &run.backend {
        DbenchBackend::Smb(_, login) => LoadedPlan::logging_on(jobs, &credentials(login)?)?,
        DbenchBackend::Fileio | DbenchBackend::Sockio(_) | DbenchBackend::Nfs(_) => jobs,
    };
    Ok(jobs.remove(0))
}

/// Returns the credentials of the user of `--smb-user`.
fn credentials(login: &Login) -> Result<DefaultCredentials, Error> {
    let credentials = DefaultCredentials::read(&PasswordOptions::default())?;
    Ok(match &login.password {
        Some(password) if login.user.is_some() => credentials.given(password.clone(), "--smb-user"),
        Some(_) | None => credentials,
    })
}

/// Returns the banner above the rows, which names filestone.
fn banner(program: DbenchProgram, run: &DbenchRun, load: &str) -> String {
    let version = match run.version {
        DbenchVersion::Four => "4.00",
        DbenchVersion::Five => "5.0",
    };
    let name = match program {
        DbenchProgram::Dbench => "dbench",
        DbenchProgram::Tbench => "tbench",
    };
    format!(
        "{name} version {version} as spoken by filestone {}\n\n\
         Running for {} seconds with load '{load}' and minimum warmup {} secs\n",
        env!("CARGO_PKG_VERSION"),
        run.time_limit,
        run.warm_up,
    )
}

/// Returns the text before the first row, once everything is ready.
fn released(run: &DbenchRun) -> String {
    let processes = run.processes;
    match run.version {
        DbenchVersion::Four => format!(
            "{processes} of {processes} processes prepared for launch   0 sec\n\
             releasing clients\n"
        ),
        DbenchVersion::Five => {
            "Waiting for child processes to finish setup.\nReleasing clients\n".into()
        }
    }
}

fn report(form: DbenchFormat, record: &RunRecord, per_client_results: bool) -> String {
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

fn plan(run: &DbenchRun, loads: &[Named], here: &Environment) -> Result<Plan, Error> {
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
    let workers = match &run.backend {
        DbenchBackend::Nfs(_) | DbenchBackend::Smb(..) => {
            planning::workers_of(None, clients, &target, here)
        }
        DbenchBackend::Fileio | DbenchBackend::Sockio(_) => 1,
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

fn replay_plan(run: &DbenchRun, loads: &[Named], more_targets: Vec<TargetPlan>) -> ReplayPlan {
    let options = &run.options;
    let flags = options.flags;
    let names = loads.iter().map(|named| named.name.clone()).collect();
    ReplayPlan {
        more_targets,
        clients_per_thread: options.clients_per_process,
        pacing: replayed::pacing(options.rate, loads),
        run_once: flags.run_once,
        skip_cleanup: flags.skip_cleanup,
        // dbench works in files that an earlier run left. Without an explicit request, the files of
        // a run that may still be active on another host stay.
        left_over: LeftoverPolicy::RemoveIfOver,
        trunc_io_bytes: options.trunc_io,
        on_mismatch: match run.backend {
            // A client of dbench ends at an unexpected status.
            DbenchBackend::Nfs(_) | DbenchBackend::Smb(..) => OnMismatch::Stop,
            DbenchBackend::Fileio | DbenchBackend::Sockio(_) => OnMismatch::Count,
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
        ..ReplayPlan::new(names, planning::replay::kinds(loads))
    }
}

fn targets(run: &DbenchRun, here: &Environment) -> Result<Vec<TargetPlan>, Error> {
    match &run.backend {
        DbenchBackend::Fileio => {
            let directory = Some(run.options.directory.clone());
            Ok(vec![TargetPlan::Local(LocalTarget { directory })])
        }
        DbenchBackend::Sockio(server) => Ok(vec![TargetPlan::Tcp(server.clone())]),
        DbenchBackend::Nfs(servers) => servers
            .iter()
            .map(|server| export(run, server, here).map(TargetPlan::Nfs3))
            .collect(),
        DbenchBackend::Smb(place, login) => Ok(vec![TargetPlan::Smb(share(run, place, login))]),
    }
}

/// Returns the share of `--smb-share`, with the directory that `-D` names.
fn share(run: &DbenchRun, place: &ShareLocation, login: &Login) -> SmbTarget {
    let mut target = SmbTarget {
        port: place.port,
        path: place.path.clone(),
        domain: login.domain.clone().filter(|_| login.user.is_some()),
        user: login.user.clone(),
        host: place.host.clone(),
        ..SmbTarget::new("", &place.share)
    };
    let below = below(run);
    if !below.is_empty() {
        target.path = format!("{}/{below}", target.path);
        target.path = target.path.trim_start_matches('/').into();
    }
    target
}

/// Returns the directory of `-D`, which precedes every name, without leading dots.
fn below(run: &DbenchRun) -> &str {
    let directory = run.options.directory.trim_start_matches('.');
    directory.trim_matches('/')
}

/// Returns an export of `--nfs`, with the directory that `-D` names.
fn export(run: &DbenchRun, server: &ParsedTarget, here: &Environment) -> Result<NfsTarget, Error> {
    let (options, tcp) = (NfsOptions::default(), TransportKind::Tcp);
    let mut target = nfs_target(Some(server), &options, tcp, BUILT_IN_PATH, here)?;
    let below = below(run);
    if !below.is_empty() {
        target.path = format!("{}/{below}", target.path.trim_end_matches('/'));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::measure::run_record::RunOutcome;
    use filestone_report::fixtures;

    const HERE: Environment = Environment {
        processors: 8,
        uid: 0,
        gid: 0,
        gids: Vec::new(),
        seed: 1,
    };

    fn run_of(program: DbenchProgram, line: &str) -> DbenchRun {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        match command_line::parse(program, &words) {
            Ok(DbenchRequest::Run(run)) => *run,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn loads() -> Vec<Named> {
        vec![Named::canned()]
    }

    #[test]
    fn command_lines_become_plans() {
        let mut text = String::new();
        for (program, line) in [
            (
                DbenchProgram::Dbench,
                "-sS -t 60 -D /mnt/test --clients-per-process 2 4",
            ),
            (DbenchProgram::Tbench, "-t 10 -R 5 2 far"),
            (
                DbenchProgram::Dbench,
                "-B nfs --nfs nfs://a/x,nfs://b -D ./deep -c x --run-once --enable-nlm 2",
            ),
            (
                DbenchProgram::Dbench,
                "-B smb --smb-share //fs:4450/bench/a --smb-user CORP/anna%secret -D ./deep -c x 2",
            ),
        ] {
            let plan = plan(&run_of(program, line), &loads(), &HERE).expect(line);
            text.push_str(&serde_json::to_string_pretty(&plan).expect("a plan is JSON"));
            text.push('\n');
        }
        assert!(!text.contains("secret"));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_printed_has_dbenchs_form() {
        let mut text = String::new();
        for (program, line) in [
            (DbenchProgram::Dbench, "-t 60 2"),
            (DbenchProgram::Dbench, "-B fileio -c client.txt -t 60 2"),
            (
                DbenchProgram::Dbench,
                "-B fileio -c client.txt -t 60 --machine-readable --per-client-results 2",
            ),
            (DbenchProgram::Tbench, "-t 60 2"),
        ] {
            let run = run_of(program, line);
            text.push_str(&banner(program, &run, "client.txt"));
            text.push_str(&released(&run));
            text.push_str(&report(
                form(&run),
                &fixtures::replayed(),
                run.options.flags.per_client_results,
            ));
            text.push_str("----\n");
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn only_a_run_that_measured_something_has_a_throughput() {
        let has_line =
            |record: &RunRecord| report(DbenchFormat::Four, record, false).contains("Throughput");
        let whole = fixtures::replayed();
        assert!(has_line(&whole));
        assert!(
            !has_line(&fixtures::replayed_with_mismatches()),
            "a client was lost"
        );
        let mut interrupted = whole.clone();
        interrupted.end = RunOutcome::Interrupted;
        assert!(!has_line(&interrupted));
        let mut nothing = whole;
        nothing.totals.ledger.failed += nothing.totals.ledger.ok;
        nothing.totals.ledger.ok = 0;
        assert!(!has_line(&nothing));
        let machine = report(DbenchFormat::Machine, &nothing, false);
        assert!(!machine.contains(";0;"), "{machine}");
    }

    #[test]
    fn too_many_clients_are_refused() {
        let run = run_of(DbenchProgram::Dbench, "--clients-per-process 70000 70000");
        assert!(plan(&run, &loads(), &HERE).is_err());
    }
}
