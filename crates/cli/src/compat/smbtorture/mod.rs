//! `filestone compat smbtorture`: command line and output lines of its BENCH-NBENCH, over SMB2 and SMB3
//! instead of SMB1, with correct values.

pub mod command_line;

use super::ending::{refuse, show};
use super::replayed::{self, has_throughput, why_not};
use crate::error::Error;
use crate::execution::LoadedPlan;
use crate::inputs::credentials::DefaultCredentials;
use crate::inputs::loads::{self, Named};
use crate::inputs::target_list;
use crate::options::layer_targets::LayerTarget;
use crate::options::smb::ShareLocation;
use crate::planning::{self, Environment, first_and_rest, workers_of};
use crate::{ExitStatus, console};
use command_line::{FAILURE, PROGRAM, SmbtortureRequest, SmbtortureRun, Test};
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::{
    LeftoverPolicy, OnMismatch, Plan, ReplayPlan, SmbOplock, TargetPlan, WorkloadPlan,
};
use filestone_report::smbtorture;

const SECOND: u64 = 1_000_000_000;
/// Version whose output format is used.
const VERSION: &str = "4.17";
/// Samba's name of the test within its suite.
const TEST: &str = "nbench";

/// Executes the request of an smbtorture command line.
pub fn run(arguments: &[String]) -> Result<ExitStatus, Error> {
    match command_line::parse(arguments) {
        Ok(SmbtortureRequest::Help) => show(&PROGRAM.help()),
        Ok(SmbtortureRequest::List) => show("bench.nbench\n"),
        Ok(SmbtortureRequest::Version) => show(&format!("Version {}\n", version())),
        Ok(SmbtortureRequest::Run(run)) => execute(&run),
        Err(refusal) => Ok(refusal.tell()),
    }
}

fn execute(run: &SmbtortureRun) -> Result<ExitStatus, Error> {
    run.remarks.iter().for_each(|what| console::note(what));
    let name = replayed::load_name(run.load_file.as_deref());
    let job = match prepare(run, &name, &Environment::here()) {
        Ok(job) => job,
        Err(error) => return Ok(refuse(&error, FAILURE)),
    };
    console::result(&banner(run, &name, job.plan.seed))?;
    replayed::execute(
        &job,
        replayed::OutputStyle {
            rows: smbtorture::rows(),
            released: released(run),
            report: &|measured| report(run.test, measured),
            failure: FAILURE,
        },
    )
}

fn prepare(run: &SmbtortureRun, load: &str, here: &Environment) -> Result<LoadedPlan, Error> {
    let loads = loads::list(load)?;
    let credentials = DefaultCredentials::read(&run.smb.access)?;
    let credentials = match &run.login.password {
        Some(password) if run.login.user.is_some() || credentials.user.is_some() => {
            credentials.given(password.clone(), "-U")
        }
        Some(_) | None => credentials,
    };
    let shares = shares(run)?;
    let plan = plan(run, &shares, &loads, &credentials, here)?;
    plan.check()?;
    let jobs = LoadedPlan::replays(vec![plan], &loads)?;
    Ok(LoadedPlan::logging_on(jobs, &credentials)?.remove(0))
}

/// Returns the shares of the list, or else the one of the command line, each with the options of
/// the command line.
fn shares(run: &SmbtortureRun) -> Result<Vec<ShareLocation>, Error> {
    let listed = match &run.list {
        None => vec![run.share.clone()],
        Some(path) => {
            let listed = target_list::read(path)?.into_iter();
            let shares = listed.map(|target| match target {
                LayerTarget::Smb(share) => Ok(share),
                LayerTarget::Local(_) | LayerTarget::Tcp(_) | LayerTarget::Nfs3(_) => {
                    let what = format!("{}: there is a target that is no share", path.display());
                    Err(Error::usage(what).with_help("expected one //HOST/SHARE a line"))
                }
            });
            shares.collect::<Result<_, _>>()?
        }
    };
    let mut shares: Vec<ShareLocation> = Vec::new();
    // Without duplicates, and without shares that no client would use.
    for share in listed.into_iter().take(run.clients as usize) {
        let share = ShareLocation {
            port: share.port.or(run.port),
            user: share.user.or_else(|| run.login.user.clone()),
            domain: share.domain.or_else(|| run.login.domain.clone()),
            ..share
        };
        if !shares.contains(&share) {
            shares.push(share);
        }
    }
    Ok(shares)
}

fn plan(
    run: &SmbtortureRun,
    shares: &[ShareLocation],
    loads: &[Named],
    credentials: &DefaultCredentials,
    here: &Environment,
) -> Result<Plan, Error> {
    let mut options = run.smb.clone();
    // Like the opens of smbtorture.
    options.oplock = Some(SmbOplock::Batch);
    let targets = shares.iter();
    let targets = targets.map(|share| planning::share::target(share, &options, credentials));
    let (target, more_targets) = first_and_rest(targets.map(TargetPlan::Smb).collect())?;
    let (left_over, on_mismatch) = if run.read_only {
        // A tree that does not match the load file causes many unexpected results.
        (LeftoverPolicy::Refuse, OnMismatch::Count)
    } else {
        // smbtorture works in files that an earlier run left. Without an explicit request, the
        // files of a run that may still be active on another host stay.
        (LeftoverPolicy::RemoveIfOver, OnMismatch::Smbtorture)
    };
    let names = loads.iter().map(|named| named.name.clone()).collect();
    let replay = ReplayPlan {
        more_targets,
        first_number: 1,
        pacing: replayed::pacing(run.rate, loads),
        left_over,
        on_mismatch,
        run_once: is_one_pass(run.test),
        smb: planning::replay::smb(run.retries),
        read_only: run.read_only,
        skip_cleanup: run.read_only,
        ..ReplayPlan::new(names, planning::replay::kinds(loads))
    };
    let seed = run.seed.unwrap_or(here.seed);
    let workers = workers_of(None, run.clients, &target, here);
    let plan = Plan {
        clients: run.clients,
        workers,
        warm_up_ns: warm_up(run).saturating_mul(SECOND),
        duration_ns: (!is_one_pass(run.test)).then(|| run.time_limit.saturating_mul(SECOND)),
        ..Plan::new("smbtorture", target, WorkloadPlan::LoadFile(replay), seed)
    };
    Ok(plan.with_read_data(None))
}

/// Whether a test ends with its load file instead of after a time.
const fn is_one_pass(test: Test) -> bool {
    matches!(test, Test::NetBench(_))
}

/// Returns the warm-up in whole seconds, like smbtorture; none for a single iteration.
const fn warm_up(run: &SmbtortureRun) -> u64 {
    match run.test {
        Test::Nbench => run.time_limit / 20,
        Test::NetBench(_) => 0,
    }
}

const fn name(test: Test) -> &'static str {
    match test {
        Test::Nbench => TEST,
        Test::NetBench(name) => name,
    }
}

fn version() -> String {
    format!(
        "{VERSION} as spoken by filestone {}",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the banner above the rows, which names filestone.
fn banner(run: &SmbtortureRun, load: &str, seed: u64) -> String {
    let length = match run.test {
        Test::Nbench => format!("for {} seconds", run.time_limit),
        Test::NetBench(_) => "once".into(),
    };
    format!(
        "smbtorture {}\nUsing seed {seed}\ntest: {}\n\
         Running {length} with load '{load}' and warmup {} secs\nStarting {} clients\n",
        version(),
        name(run.test),
        warm_up(run),
        run.clients,
    )
}

/// Returns the text before the first row, once everything is ready.
fn released(run: &SmbtortureRun) -> String {
    let rate = run.rate.map(|rate| rate / 1e6);
    let rate = rate.map(|rate| format!("Targeting {rate:.4} MByte/sec\n"));
    format!(
        "{} clients started\n{}",
        run.clients,
        rate.unwrap_or_default()
    )
}

fn report(test: Test, measured: Result<&RunRecord, &Error>) -> String {
    let name = name(test);
    match measured {
        Ok(record) if has_throughput(record) => {
            let throughput = match test {
                Test::Nbench => smbtorture::throughput(record),
                Test::NetBench(_) => smbtorture::netbench(record),
            };
            format!("\n\n{throughput}success: {name}\n")
        }
        Ok(record) => format!("\n\nerror: {name} [\n{}\n]\n", why_not(record)),
        Err(error) => format!("error: {name} [\n{}\n]\n", error.message),
    }
}

#[cfg(test)]
mod tests;
