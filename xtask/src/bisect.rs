//! Tests `git bisect run` with `filestone ab`: in a small repository of 16 commits, one commit
//! makes a setting of a server slower, and bisect must find it.

use crate::process::{self, Folder};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Commits of the repository.
const COMMITS: u32 = 16;
/// The script of docs/tutorials/bisect.md, except that instead of building a server it reads from a
/// file of the repository how slow the server is.
const SCRIPT: &str = r#"#!/bin/sh
serve() { echo "exec $FILESTONE serve --bind 127.0.0.1 --port $PORT --files 1 --fault delay=$1"; }
good=$(git show good:delay) || exit 125
exec "$FILESTONE" ab --a "$(serve "$good")" --b "$(serve "$(cat delay)")" --power 95% \
    -- probe null "nfs://127.0.0.1:$PORT/export" --no-calibrate -d 500ms
"#;

/// Options of `cargo xtask bisect`.
#[derive(Debug, Clone, Args)]
pub struct Bisect {
    /// The commit that makes the server slower, from 2 to 16
    #[arg(long, default_value_t = 11)]
    pub slower: u32,
    /// How slow the server is before, in microseconds
    #[arg(long, default_value_t = 2000)]
    pub before: u32,
    /// And from that commit on
    #[arg(long, default_value_t = 2100)]
    pub after: u32,
}

/// Makes the repository, lets git find the commit, and returns whether it is the right one.
pub fn run(options: &Bisect) -> Result<bool> {
    if !(2..=COMMITS).contains(&options.slower) {
        bail!(
            "--slower {}: expected a commit from 2 to {COMMITS}",
            options.slower
        );
    }
    let filestone = process::build_filestone("release")?;
    let folder = Folder::new("bisect")?;
    let path = &folder.path;
    make(path, options)?;
    let start = Instant::now();
    git(path, &["bisect", "start", "HEAD", "good"])?;
    let said = Command::new("git")
        .args(["bisect", "run", "./bisect.sh"])
        .current_dir(path)
        .env("FILESTONE", filestone)
        .env("PORT", process::free_port()?.to_string())
        .output()
        .context("git did not start")?;
    let text = String::from_utf8_lossy(&said.stdout);
    let found = text
        .lines()
        .find_map(|line| line.strip_prefix("    commit "));
    print!("{text}");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "bisect: commit {} was to be found, {} was, in {seconds:.0} s",
        options.slower,
        found.unwrap_or("none")
    );
    if !said.status.success() {
        println!("{}", String::from_utf8_lossy(&said.stderr));
    }
    Ok(found == Some(options.slower.to_string().as_str()))
}

/// Makes a repository whose commits are called `commit 1` to `commit 16`.
fn make(path: &Path, options: &Bisect) -> Result<()> {
    git(path, &["init", "--quiet", "--initial-branch=main"])?;
    // The script belongs to the environment, not to a commit.
    fs::write(path.join(".git/info/exclude"), "bisect.sh\n")?;
    fs::write(path.join("bisect.sh"), SCRIPT)?;
    git(path, &["config", "user.name", "filestone"])?;
    git(path, &["config", "user.email", "filestone@localhost"])?;
    let script = path.join("bisect.sh");
    let mut permissions = fs::metadata(&script)?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&script, permissions)?;
    for commit in 1..=COMMITS {
        let delay = if commit < options.slower {
            options.before
        } else {
            options.after
        };
        fs::write(path.join("delay"), format!("{delay}us\n"))?;
        fs::write(path.join("source"), format!("version {commit}\n"))?;
        git(path, &["add", "."])?;
        git(
            path,
            &["commit", "--quiet", "-m", &format!("commit {commit}")],
        )?;
        if commit == 1 {
            git(path, &["tag", "good"])?;
        }
    }
    Ok(())
}

fn git(path: &Path, arguments: &[&str]) -> Result<()> {
    let said = Command::new("git")
        .args(arguments)
        .current_dir(path)
        .output()
        .context("git did not start")?;
    if !said.status.success() {
        bail!(
            "git {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&said.stderr)
        );
    }
    Ok(())
}
