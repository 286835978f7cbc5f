//! Jobs that Slurm starts: two nodes on one machine, as made by `docs/cluster/slurm-two-nodes.sh`.

use super::{Bed, Check, check_sums, hosts, mix};
use crate::process;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Programs that Slurm needs in addition to an MPI family.
pub const NEEDED: &super::super::Needed = &[
    ("/usr/sbin/slurmctld", "slurmctld"),
    ("/usr/sbin/slurmd", "slurmd"),
    ("/usr/bin/srun", "slurm-client"),
    ("/usr/sbin/munged", "munge"),
    (
        "/usr/lib/*/slurm-wlm/mpi_pmix.so",
        "slurm-wlm-basic-plugins",
    ),
];

/// The checks.
pub const CHECKS: [(&str, Check); 2] = [
    ("2 nodes of Slurm", two_nodes),
    ("Slurm sends SIGTERM", terminated),
];

/// Time limit for the start and end of Slurm's daemons and for the job.
const LIMIT: Duration = Duration::from_secs(90);

/// Returns a command that runs within a temporary Slurm installation.
fn within_slurm() -> Result<Command> {
    let mut command = Command::new("bash");
    command.arg(crate::tidy::root()?.join("docs/cluster/slurm-two-nodes.sh"));
    Ok(command)
}

fn record_in(folder: &Path, said: &str) -> Result<Value> {
    let text = std::fs::read_to_string(folder.join("run.json"));
    let text = text.with_context(|| format!("there is no record: {said}"))?;
    Ok(serde_json::from_str(&text)?)
}

fn two_nodes(bed: &Bed<'_>) -> Result<String> {
    let _server = bed.serve("127.0.0.1", None)?;
    let folder = bed.folder.join("slurm");
    let mut command = within_slurm()?;
    command.args(["srun", "-N2", bed.family.slurm]);
    mix(&mut command, &bed.filestone, "127.0.0.1", "3s");
    command.arg("--output").arg(&folder);
    let output = process::run(&mut command, &[], &bed.folder, LIMIT)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", output.status);
    check_sums(&record_in(&folder, &said)?, 2)
}

/// Starts `srun` with the arguments after the file name, and terminates the job once it prints
/// rows.
const TERMINATE: &str = r#"
rows=$1; shift
srun --job-name=terminated "$@" >"$rows" 2>&1 &
job=$!
for _ in $(seq 300); do grep -qE '^ +[0-9]' "$rows" && break; sleep 0.1; done
scancel --signal=TERM --name=terminated
wait $job
"#;

/// Checks that a job that Slurm terminates before its time limit (`--signal=TERM@60`) keeps its
/// record, which must report it.
fn terminated(bed: &Bed<'_>) -> Result<String> {
    let _server = bed.serve("127.0.0.1", None)?;
    let (folder, rows) = (bed.folder.join("terminated"), bed.folder.join("rows"));
    let mut command = within_slurm()?;
    command
        .args(["sh", "-c", TERMINATE, "terminate"])
        .arg(&rows);
    command.args(["-N2", bed.family.slurm]);
    mix(&mut command, &bed.filestone, "127.0.0.1", "60s");
    command.args(["--mark", "500ms", "--output"]).arg(&folder);
    process::run(&mut command, &[], &bed.folder, LIMIT)?;
    let said = std::fs::read_to_string(&rows)?;
    let record = record_in(&folder, &said)?;
    let hosts = hosts(&record);
    let all = hosts.iter().copied().chain([&record]);
    let ends: Vec<Option<&str>> = all.map(|of| of.pointer("/end/reason")?.as_str()).collect();
    ensure!(
        ends == [Some("interrupted"); 3],
        "both hosts and the job are interrupted, but the record says {ends:?}"
    );
    let window_ns = record.get("window_ns").and_then(Value::as_u64);
    let seconds = window_ns.context("no window")? as f64 / 1e9;
    Ok(format!("interrupted after {seconds:.1} s"))
}
