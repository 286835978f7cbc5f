//! Server-side copies: every byte must arrive in the destination file.

use super::TestEnv;
use crate::interop::smb::Account;
use crate::process::{Logged, Running};
use crate::scenario::RUN_LIMIT;
use anyhow::{Context, Result, bail};
use filestone_wire::pattern;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit for a copy to appear.
const COPY_LIMIT: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A copy: bytes per operation and of the file, and further options.
struct Wanted {
    size: usize,
    file: usize,
    options: &'static str,
}

/// Copies larger than Samba copies in one request, and in parts that the pattern of the file, which
/// repeats after a mebibyte, can distinguish.
const ALL: &[Wanted] = &[
    Wanted {
        size: 20 << 20,
        file: 20 << 20,
        options: "--dialect 2.1",
    },
    Wanted {
        size: 20 << 20,
        file: 20 << 20,
        options: "--dialect 3.1.1 --encrypt",
    },
    Wanted {
        size: 2_500_000,
        file: 20_000_000,
        options: "--connections-per-client 2 -j 4",
    },
];

/// Copies a file repeatedly and compares the copies with the source.
pub fn compared(ground: &TestEnv) -> Result<String> {
    let mut said = Vec::new();
    for wanted in ALL {
        let copies = copy(ground, wanted).with_context(|| wanted.options)?;
        said.push(format!("{copies} of {} bytes", wanted.size));
    }
    Ok(said.join(", "))
}

/// Returns the number of copies.
fn copy(ground: &TestEnv, wanted: &Wanted) -> Result<f64> {
    let place = ground.servers.place("open", None)?;
    let line = format!(
        "probe copy {} --password-file {} --size {} --file-size {} --duration 20s --as json \
         --no-calibrate {}",
        place.target(Account::User, ""),
        place.password_file.display(),
        wanted.size,
        wanted.file,
        wanted.options
    );
    let command = &mut ground.bed.command(&line);
    let mut run = Logged::start(command, &[], &ground.bed.folder)?;
    let compared = compare(
        &ground.servers.get("open")?.directory(),
        wanted.file,
        &mut run.running,
    );
    // The figures of the operations until then also exist after ^C; if the run has ended, there is
    // nothing to interrupt.
    let _ = run.running.interrupt();
    let output = run.wait(RUN_LIMIT)?;
    compared.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let record: Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| {
        let figure = record.pointer(&format!("/totals/{name}"));
        figure.and_then(Value::as_f64).context(name.to_owned())
    };
    let (copies, failed) = (number("ledger/ok")?, number("ledger/failed")?);
    let moved = number("kinds/0/data_bytes")?;
    if copies < 1.0 || failed > 0.0 || moved < copies * wanted.size as f64 {
        bail!("{copies} copies of {moved} bytes, {failed} failed");
    }
    Ok(copies)
}

/// Waits until both files contain the pattern of the source.
fn compare(directory: &Path, len: usize, run: &mut Running) -> Result<()> {
    let start = Instant::now();
    let mut last = "no file of a copy".to_owned();
    while start.elapsed() < COPY_LIMIT {
        if let Some(own) = own_directory(directory)? {
            let files = [own.join("source0"), own.join("client0")];
            // A run that ends may remove them between two checks.
            let read = files.map(|path| std::fs::read(path).unwrap_or_default());
            let wrong = read.iter().position(|data| !is_pattern(data, len));
            match wrong {
                None => return Ok(()),
                Some(which) => last = format!("file {which} has {} bytes", read[which].len()),
            }
        }
        if run.ended()?.is_some() {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    bail!("the copy is not what it was copied from: {last}")
}

fn is_pattern(data: &[u8], len: usize) -> bool {
    let table = pattern::table();
    let mut pieces = data.chunks(pattern::PERIOD);
    data.len() == len && pieces.all(|piece| table.starts_with(piece))
}

/// Returns the directory that the run made.
fn own_directory(directory: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("filestone-")
        {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}
