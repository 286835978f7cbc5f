//! Every fuzz target, briefly, where the toolchain allows.

use anyhow::{Context, Result, bail};
use clap::Args;
use std::process::{Command, Output, Stdio};

/// Options of `cargo xtask fuzz`.
#[derive(Debug, Clone, Args)]
pub struct Fuzz {
    /// Duration of each target in seconds
    #[arg(long, default_value_t = 10)]
    pub seconds: u32,
    /// Only targets whose name contains this
    #[arg(long)]
    pub only: Option<String>,
}

fn cargo_fuzz(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "fuzz"])
        .args(arguments)
        .current_dir(filestone_interop::root())
        // The caller's toolchain must not override nightly.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO");
    command
}

/// Fills the corpus from the list of all messages, so that even a short run gets past the first few
/// bytes.
fn seed() -> Result<()> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--example", "seeds"])
        .current_dir(filestone_interop::root().join("fuzz"))
        .stdout(Stdio::null())
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("fuzz: the seeds could not be written");
    }
    Ok(())
}

fn fuzzed(target: &str, seconds: u32) -> Result<Output> {
    let time = format!("-max_total_time={seconds}");
    Ok(cargo_fuzz(&["run", target, "--", &time]).output()?)
}

/// Runs the targets. Returns whether none found anything; true, with a message, if fuzzing is not
/// possible.
pub fn run(options: &Fuzz) -> Result<bool> {
    let list = cargo_fuzz(&["list"]).stderr(Stdio::piped()).output();
    let Some(list) = list.ok().filter(|list| list.status.success()) else {
        println!(
            "note: not fuzzed: this needs a nightly compiler and cargo-fuzz (`rustup toolchain install nightly`, `cargo install cargo-fuzz`)"
        );
        return Ok(true);
    };
    let names = String::from_utf8_lossy(&list.stdout).into_owned();
    let only = options.only.as_deref();
    let wanted = |name: &&str| only.is_none_or(|only| name.contains(only));
    let targets: Vec<&str> = names.lines().filter(wanted).collect();
    if targets.is_empty() {
        bail!(
            "fuzz: no target of that name; there are {}",
            names.lines().collect::<Vec<_>>().join(", ")
        );
    }
    if !cargo_fuzz(&["build"])
        .status()
        .context("cargo did not start")?
        .success()
    {
        println!("note: not fuzzed: the targets do not build with this nightly compiler");
        return Ok(true);
    }
    seed()?;
    let mut found = Vec::new();
    let at_once = std::thread::available_parallelism().map_or(1, Into::into);
    for targets in targets.chunks(at_once) {
        let outputs: Result<Vec<Output>> = std::thread::scope(|scope| {
            let start = |target| scope.spawn(move || fuzzed(target, options.seconds));
            let runs: Vec<_> = targets.iter().copied().map(start).collect();
            let ended = runs.into_iter().map(|run| run.join().expect("no panic"));
            ended.collect()
        });
        for (target, output) in targets.iter().zip(outputs?) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let done = said.lines().rev().find(|line| line.starts_with("Done "));
            println!("{target}: {}", done.unwrap_or("found something"));
            if !output.status.success() {
                eprintln!("{said}");
                found.push(*target);
            }
        }
    }
    if !found.is_empty() {
        eprintln!(
            "error: fuzz: {} found an input\nhelp: it is in fuzz/artifacts; make a test of it before mending the decoder",
            found.join(", ")
        );
    }
    Ok(found.is_empty())
}
