//! Jobs of many hosts: filestone built with MPI, started by the launchers of Open MPI and MPICH,
//! with ranks on one host and on hosts that are network namespaces, and with ranks that die or
//! stop.

mod losses;
mod slurm;

use super::{Interop, install};
use crate::process::{self, Folder, Running};
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Programs that both MPI families need.
const NEEDED: &super::Needed = &[
    ("/usr/lib/*/lib/libclang.so", "libclang-dev"),
    ("/usr/sbin/ip", "iproute2"),
];
/// Port of the server for all jobs.
const SERVER_PORT: u16 = 20_770;
/// Time limit of a job, including its start.
const JOB_LIMIT: Duration = Duration::from_secs(60);

/// An MPI implementation, with the Debian names of its programs.
struct Family {
    name: &'static str,
    needed: &'static super::Needed,
    compiler: &'static str,
    /// Option of Slurm that starts its ranks.
    slurm: &'static str,
    /// A setting without effect on the build, so that Cargo keeps the artifacts for the two
    /// families' headers separate: it does not track `MPICC`.
    apart: &'static str,
    launcher: &'static str,
    /// Options that permit more ranks than processors, and ranks run by root.
    alone: &'static [&'static str],
    /// Options for the hosts `10.77.0.1` and `10.77.0.2`, before the path of the agent that reaches them.
    hosts: &'static str,
    /// Options that let the job continue when a rank dies; `None` if the launcher always ends all
    /// ranks.
    survives: Option<&'static [&'static str]>,
}

const FAMILIES: [Family; 2] = [
    Family {
        name: "Open MPI",
        needed: &[
            ("/usr/bin/mpicc.openmpi", "libopenmpi-dev"),
            ("/usr/bin/mpirun.openmpi", "openmpi-bin"),
        ],
        compiler: "/usr/bin/mpicc.openmpi",
        slurm: "--mpi=pmix",
        apart: "profile.dev.package.mpi-sys.codegen-units=2",
        launcher: "/usr/bin/mpirun.openmpi",
        alone: &["--allow-run-as-root", "--oversubscribe"],
        hosts: "--host 10.77.0.1:1,10.77.0.2:1 --mca oob_tcp_if_include 10.77.0.0/24 --mca \
                btl_tcp_if_include 10.77.0.0/24 --mca btl tcp,self --mca plm_rsh_agent",
        survives: Some(&["--enable-recovery"]),
    },
    Family {
        name: "MPICH",
        needed: &[
            ("/usr/bin/mpicc.mpich", "libmpich-dev"),
            ("/usr/bin/mpirun.mpich", "mpich"),
        ],
        compiler: "/usr/bin/mpicc.mpich",
        slurm: "--mpi=pmi2",
        apart: "profile.dev.package.mpi-sys.codegen-units=3",
        launcher: "/usr/bin/mpirun.mpich",
        alone: &[],
        hosts: "-hosts 10.77.0.1,10.77.0.2 -launcher ssh -launcher-exec",
        survives: None,
    },
];

/// Runs the jobs of both families. With `thorough`, also those that Slurm starts, and those with a
/// rank that is killed, stopped or slowed in each phase, if the launcher lets the others continue.
pub fn run(options: &Interop) -> Result<bool> {
    install(NEEDED)?;
    if options.thorough {
        install(slurm::NEEDED)?;
        install(losses::NEEDED)?;
    }
    let only = options.only.as_deref();
    let by_slurm = slurm::CHECKS.iter().filter(|_| options.thorough);
    let checks: Vec<&(&str, Check)> = CHECKS.iter().chain(by_slurm).collect();
    let mut is_good = true;
    for family in &FAMILIES {
        install(family.needed)?;
        let begun = Instant::now();
        let folder = Folder::new("interop-mpi")?;
        let filestone = build(family, &folder.path)?;
        println!(
            "{}: built in {:.0} s",
            family.name,
            begun.elapsed().as_secs_f64()
        );
        let bed = Bed {
            family,
            filestone,
            folder: folder.path.clone(),
        };
        for (name, check) in &checks {
            if only.is_none_or(|only| name.contains(only)) {
                is_good &= told(&bed, name, *check);
            }
        }
        if options.thorough && family.survives.is_some() {
            is_good &= losses::run(&bed, only);
        }
    }
    Ok(is_good)
}

/// Runs a check and prints its result. Returns whether it passed.
fn told(bed: &Bed<'_>, name: &str, check: impl FnOnce(&Bed<'_>) -> Result<String>) -> bool {
    let begun = Instant::now();
    let family = bed.family.name;
    match check(bed) {
        Ok(said) => {
            let took = begun.elapsed().as_secs_f64();
            println!("ok    {family}: {name}: {said} ({took:.1} s)");
            true
        }
        Err(error) => {
            println!("WRONG {family}: {name}: {error:#}");
            false
        }
    }
}

/// Builds filestone with this family's headers, and copies it into `folder`.
///
/// Cargo unifies the features of dependencies over everything built together. With the whole
/// workspace and one of its tests, they are those of CI's tests, so that their libraries are
/// reused: only what depends on MPI is compiled.
fn build(family: &Family, folder: &Path) -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--workspace"])
        .args(["--bin", "filestone", "--test", "job"])
        .args(["--features", "filestone-cli/mpi,xtask/chores"])
        .args(["--config", family.apart])
        .env("MPICC", family.compiler)
        .current_dir(crate::tidy::root()?)
        .status()
        .context("cargo did not start")?;
    ensure!(
        status.success(),
        "filestone does not build with {}",
        family.name
    );
    let built = folder.join("filestone");
    let target = process::target_folder()?;
    std::fs::copy(target.join("debug/filestone"), &built)?;
    Ok(built)
}

struct Bed<'family> {
    family: &'family Family,
    filestone: PathBuf,
    folder: PathBuf,
}

type Check = fn(&Bed<'_>) -> Result<String>;

const CHECKS: [(&str, Check); 5] = [
    ("alone it is as one without MPI", alone),
    ("4 ranks of one host", four_ranks),
    ("2 ranks in network namespaces", in_namespaces),
    ("a rank is killed", |bed| match bed.family.survives {
        Some(survives) => lost(bed, Signal::KILL, survives),
        None => all_lost(bed),
    }),
    // A launcher that tolerates the loss of ranks does not end a stopped one, either.
    ("a rank is stopped", |bed| lost(bed, Signal::STOP, &[])),
];

impl Bed<'_> {
    /// Starts the built-in server as a separate process.
    fn serve(&self, bind: &str, namespace: Option<&str>) -> Result<Running> {
        self.serve_with(bind, namespace, &[])
    }

    /// Starts the built-in server with more options.
    fn serve_with(&self, bind: &str, namespace: Option<&str>, more: &[&str]) -> Result<Running> {
        let mut command = within(namespace, &self.filestone);
        let line = format!("serve --port {SERVER_PORT} --bind {bind} --threads 1");
        command.args(line.split(' '));
        command.args(more);
        let log = std::fs::File::create(self.folder.join("serve.log"))?;
        command.stdout(log.try_clone()?).stderr(log);
        let mut running = Running::start(&mut command, &[])?;
        if namespace.is_none() {
            running.wait_for(
                format!("{bind}:{SERVER_PORT}").parse()?,
                Duration::from_secs(10),
            )?;
        } else {
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(running)
    }

    fn launcher(&self, namespace: Option<&str>) -> Command {
        let mut command = within(namespace, Path::new(self.family.launcher));
        command.args(self.family.alone);
        command
    }

    /// Runs a job. Returns its exit code, run record and standard error. The exit code of a job that does not count
    /// only because its sends were late is 0: it is complete, and its ranks, which are not optimized, share few
    /// processors.
    fn measure(&self, command: &mut Command) -> Result<(i32, Value, String)> {
        let output = process::run(command, &[], &self.folder, JOB_LIMIT)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let start = text.find('{').unwrap_or(text.len());
        let end = text.rfind('}').map_or(text.len(), |end| end + 1);
        let record = text.get(start..end).unwrap_or_default();
        let record = serde_json::from_str(record).unwrap_or(Value::Null);
        let code = match output.status.code() {
            Some(3) if crate::record::is_late(&output) => 0,
            code => code.unwrap_or(-1),
        };
        Ok((code, record, said))
    }
}

/// Returns a command, which runs in a network namespace if one is given.
fn within(namespace: Option<&str>, program: &Path) -> Command {
    match namespace {
        None => Command::new(program),
        Some(name) => {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", name]).arg(program);
            command
        }
    }
}

/// Adds arguments for nhfsstone's mix with this duration, as JSON.
fn mix(command: &mut Command, filestone: &Path, server: &str, duration: &str) {
    mix_at(command, filestone, server, "400");
    command.args(["--files", "8", "--clients", "4"]);
    command.args(["--warm-up", "500ms", "--duration", duration]);
}

/// Adds arguments for nhfsstone's mix at this load, as JSON.
fn mix_at(command: &mut Command, filestone: &Path, server: &str, offered: &str) {
    let line = format!(
        "mix nfs://{server}:{SERVER_PORT}/export --mount-port {SERVER_PORT} --mix nhfsstone \
         --offered {offered} --no-calibrate --remove-set --as json"
    );
    command.arg(filestone).args(line.split(' '));
}

fn hosts(record: &Value) -> Vec<&Value> {
    let hosts = record.pointer("/job/hosts").and_then(Value::as_array);
    hosts
        .map(|hosts| hosts.iter().collect())
        .unwrap_or_default()
}

fn scheduled(ledger: &Value) -> u64 {
    ledger
        .pointer("/ledger/scheduled")
        .and_then(Value::as_u64)
        .unwrap_or(0)
}

fn alone(bed: &Bed<'_>) -> Result<String> {
    let version = Command::new(&bed.filestone).arg("--version").output()?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_string();
    ensure!(
        version.contains(&format!(" with {}", bed.family.name)),
        "{version}: it is not said that it has {}",
        bed.family.name
    );
    let mut command = Command::new(&bed.filestone);
    command.args("probe null --duration 1s --no-calibrate --as json".split(' '));
    let (code, record, said) = bed.measure(&mut command)?;
    ensure!(code == 0, "exit code {code}: {said}");
    ensure!(
        record.get("job").is_none(),
        "a run of one host says that it is a job"
    );
    Ok(version)
}

fn four_ranks(bed: &Bed<'_>) -> Result<String> {
    let _server = bed.serve("127.0.0.1", None)?;
    let mut command = bed.launcher(None);
    command.args(["-n", "4"]);
    mix(&mut command, &bed.filestone, "127.0.0.1", "3s");
    let (code, record, said) = bed.measure(&mut command)?;
    ensure!(code == 0, "exit code {code}: {said}");
    check_sums(&record, 4)
}

/// Checks that the parts of a record add up. Returns a summary.
fn check_sums(record: &Value, ranks: usize) -> Result<String> {
    let hosts = hosts(record);
    ensure!(hosts.len() == ranks, "{} hosts", hosts.len());
    let parts: u64 = hosts.iter().map(|host| scheduled(host)).sum();
    let all = record
        .pointer("/totals/ledger/scheduled")
        .and_then(Value::as_u64);
    ensure!(
        all == Some(parts),
        "{all:?} operations, of {parts} in the parts"
    );
    ensure!(parts > 1000, "only {parts} operations");
    let uncertainty = hosts.iter().filter_map(|host| {
        let clock = host.get("clock")?;
        Some(clock.get("uncertainty_ns")?.as_u64()? + clock.get("late_ns")?.as_u64()?)
    });
    let uncertainty = uncertainty.max().context("no clocks")?;
    Ok(format!(
        "{parts} operations, all began within {:.2} ms",
        uncertainty as f64 / 1e6
    ))
}

/// Network namespaces with a bridge between them, removed with all their processes.
struct Namespaces;

const HOSTS: [(&str, &str); 3] = [
    ("fs-mpi-1", "10.77.0.1"),
    ("fs-mpi-2", "10.77.0.2"),
    ("fs-mpi-s", "10.77.0.9"),
];
const BRIDGE: &str = "fs-mpi-b";

impl Namespaces {
    fn make() -> Result<Self> {
        let made = Self;
        ip(&["netns", "add", BRIDGE])?;
        ip(&["-n", BRIDGE, "link", "add", "br0", "type", "bridge"])?;
        ip(&["-n", BRIDGE, "link", "set", "br0", "up"])?;
        for (name, address) in HOSTS {
            ip(&["netns", "add", name])?;
            for line in [
                format!("-n {BRIDGE} link add {name} type veth peer name eth0 netns {name}"),
                format!("-n {BRIDGE} link set {name} master br0 up"),
                format!("-n {name} address add {address}/24 dev eth0"),
                format!("-n {name} link set eth0 up"),
                format!("-n {name} link set lo up"),
            ] {
                ip(&line.split(' ').collect::<Vec<_>>())?;
            }
        }
        Ok(made)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for (name, _) in HOSTS {
            let _ = ip(&["netns", "delete", name]);
        }
        let _ = ip(&["netns", "delete", BRIDGE]);
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    super::succeed("ip", arguments)
}

/// Writes a replacement for ssh: HOST COMMAND… runs the command in the namespace of that host.
fn agent(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("agent");
    let cases: String = HOSTS
        .iter()
        .map(|(name, address)| {
            format!("    {address}) exec ip netns exec {name} sh -c \"$*\" ;;\n")
        })
        .collect();
    let script = format!(
        "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\nhost=$1; shift\ncase $host in\n{cases}esac\nexit 255\n"
    );
    std::fs::write(&path, script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))?;
    Ok(path)
}

fn in_namespaces(bed: &Bed<'_>) -> Result<String> {
    let _namespaces = Namespaces::make()?;
    let _server = bed.serve("10.77.0.9", Some("fs-mpi-s"))?;
    let agent = agent(&bed.folder)?;
    let mut command = bed.launcher(Some("fs-mpi-1"));
    command.args(bed.family.hosts.split(' '));
    command.arg(agent).args(["-n", "2"]);
    mix(&mut command, &bed.filestone, "10.77.0.9", "3s");
    let (code, record, said) = bed.measure(&mut command)?;
    ensure!(code == 0, "exit code {code}: {said}");
    check_sums(&record, 2)
}

/// Sends a signal to a rank during the measurement: the record of the other rank must be kept and
/// name the lost one.
fn lost(bed: &Bed<'_>, signal: Signal, survives: &[&str]) -> Result<String> {
    let record = bed.folder.join(format!("lost-{}", signal.as_raw()));
    struck(bed, signal, survives, &record)?;
    let text = std::fs::read_to_string(record.join("run.json")).with_context(|| {
        let said = std::fs::read_to_string(bed.folder.join("lost.log"));
        format!("there is no record: {}", said.unwrap_or_default())
    })?;
    let record: Value = serde_json::from_str(&text)?;
    ensure!(
        hosts(&record).len() == 2,
        "{} hosts in the record",
        hosts(&record).len()
    );
    let lost = record.pointer("/job/lost/0/reason").and_then(Value::as_str);
    Ok(lost.context("nobody is said to be lost")?.to_string())
}

/// Kills a rank whose launcher ends all ranks: the launcher must not hang, must report it by its
/// exit code, and must not leave a file that looks like the record of a complete run.
fn all_lost(bed: &Bed<'_>) -> Result<String> {
    let record = bed.folder.join("all-lost");
    let code = struck(bed, Signal::KILL, &[], &record)?;
    ensure!(code != Some(0), "the job is said to have ended well");
    ensure!(
        !record.join("run.json").exists(),
        "there is a record now: see what `lost` expects of it"
    );
    Ok("all ranks are ended by the launcher, and there is no record".into())
}

/// Runs a job of three ranks and sends a signal to one. Returns the exit code.
fn struck(bed: &Bed<'_>, signal: Signal, survives: &[&str], record: &Path) -> Result<Option<i32>> {
    let _server = bed.serve("127.0.0.1", None)?;
    let mut command = bed.launcher(None);
    command.args(survives).args(["-n", "3"]);
    mix(&mut command, &bed.filestone, "127.0.0.1", "3s");
    command.args(["--watchdog", "2s", "--output"]).arg(record);
    let log = std::fs::File::create(bed.folder.join("lost.log"))?;
    command.stdout(log.try_clone()?).stderr(log);
    let mut job = Running::start_group(&mut command)?;
    let rank = rank_of(job.id(), "2", Duration::from_secs(20))?;
    std::thread::sleep(Duration::from_secs(2));
    kill_process(rank, signal)?;
    let begun = Instant::now();
    loop {
        if let Some(status) = job.ended()? {
            return Ok(status.code());
        }
        ensure!(begun.elapsed() < JOB_LIMIT, "the job hangs");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Process ID of a rank, found by the environment variables that its launcher sets.
fn rank_of(job: u32, rank: &str, limit: Duration) -> Result<Pid> {
    let begun = Instant::now();
    let wanted = [
        format!("OMPI_COMM_WORLD_RANK={rank}"),
        format!("PMI_RANK={rank}"),
    ];
    while begun.elapsed() < limit {
        for process in descendants(job) {
            let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            let is_it = |variable: &[u8]| wanted.iter().any(|wanted| wanted.as_bytes() == variable);
            if variables.any(is_it) {
                return Pid::from_raw(process as i32).context("no process id");
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("rank {rank} was not started")
}

/// Returns the descendants of a process.
fn descendants(process: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let children = threads.into_iter().flatten().flatten().flat_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("children"));
        let text = text.unwrap_or_default();
        let ids = text.split_whitespace().filter_map(|id| id.parse().ok());
        ids.collect::<Vec<u32>>()
    });
    let children: Vec<u32> = children.collect();
    let below: Vec<u32> = children
        .iter()
        .flat_map(|child| descendants(*child))
        .collect();
    [children, below].concat()
}
