//! `--output DIR`: all files of a run, written without disturbing the measurement.
//!
//! The directory is claimed before the run, so that a wrong name costs nothing, and filled after
//! the run. `run.json` is written first and appears complete or not at all.

use crate::error::Error;
use crate::inputs::record_file;
use crate::{advice, console};
use filestone_engine::protocols::local::file_claim::FileClaim;
use filestone_measure::measure::RunRecord;
use filestone_report::gnuplot::{GRAPHS, INTERVALS_FILE, RAW_FILE};
use filestone_report::json::RECORD_FILE;
use filestone_report::mix::found;
use filestone_report::picture::render;
use filestone_report::{gnuplot, hdr, html, json, layers, picture_list, ticks};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The incomplete record while it is written.
pub const PART_FILE: &str = "run.json.part";
/// The record of a run that does not count.
pub const UNFINISHED_FILE: &str = "unfinished.json";
/// The picture of several replays.
const LAYERS_FILE: &str = "layers.svg";
/// Interval log in HdrHistogram format.
const INTERVAL_LOG_FILE: &str = "intervals.hlog";
/// Time limit for one picture.
const PICTURE_LIMIT: Duration = Duration::from_secs(20);

/// Handling of a directory that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExistingDirectory {
    /// Refuse it; nothing is ever overwritten.
    Refuse,
    /// Write next to existing files, and over nct's files of an earlier run, as nct's scripts
    /// expect. Other files are not touched.
    Merge,
    /// Replace a run that was interrupted.
    Resume,
    /// Continue an earlier sweep, whose content was checked already.
    Earlier,
}

impl OnExistingDirectory {
    /// Returns the name of the option in the calling command.
    const fn option(self) -> &'static str {
        match self {
            Self::Refuse | Self::Resume | Self::Earlier => "--output",
            Self::Merge => "-o",
        }
    }
}

/// A directory that only this process fills. On drop it removes whatever claiming created, unless
/// it contains a record.
#[derive(Debug)]
pub struct OutputDirectory {
    path: PathBuf,
    is_new: bool,
    /// Whether the claim's file exists, which the record replaces later.
    is_claimed: Cell<bool>,
    /// Excludes other runs from the directory.
    _claim: FileClaim,
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Error of files that could not be written.
#[derive(Debug)]
pub struct WriteError {
    /// The file and the reason.
    pub error: Error,
    /// Whether even `run.json` is missing.
    pub is_record_lost: bool,
}

impl OutputDirectory {
    /// Checks before the run that `path` can be filled after it.
    pub fn claim(path: &Path, existing: OnExistingDirectory) -> Result<Self, Error> {
        let is_new = match fs::read_dir(path) {
            Ok(entries) => {
                refuse_foreign(path, entries, existing)?;
                false
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(path).map_err(|error| Error::file(path, &error))?;
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(Error::usage(format!(
                    "{} {}: this is not a directory",
                    existing.option(),
                    path.display()
                ))
                .with_help("name a new or an empty directory"));
            }
            Err(error) => return Err(Error::file(path, &error)),
        };
        let claim = FileClaim::make(path, PART_FILE).inspect_err(|_| {
            if is_new {
                let _ = fs::remove_dir(path);
            }
        })?;
        let claimed = Self {
            path: path.into(),
            is_new,
            is_claimed: Cell::new(true),
            _claim: claim,
        };
        // Checks for files that another run wrote before its claim ended.
        let entries = fs::read_dir(path).map_err(|error| Error::file(path, &error))?;
        refuse_foreign(path, entries, existing)?;
        Ok(claimed)
    }

    /// Removes what [`claim`](Self::claim) created, if there is nothing to write.
    fn abort(&self) {
        if !self.is_claimed.replace(false) {
            return;
        }
        // Anything that cannot be removed is empty and harmless.
        let _ = fs::remove_file(self.path.join(PART_FILE));
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Writes the record and the files derived from it; runs gnuplot on its scripts if it is
    /// installed.
    pub fn write(&self, record: &RunRecord, terminal: &str) -> Result<(), WriteError> {
        self.keep(record, RECORD_FILE).map_err(|error| {
            self.abort();
            WriteError {
                error: error
                    .with_help("nothing was kept there; the record is on standard output, as JSON"),
                is_record_lost: true,
            }
        })?;
        self.write_rest(record, terminal)
            .map_err(|error| WriteError {
                error: error.with_help(format!(
                    "{} is complete; `filestone report` makes the rest of it",
                    self.path.join(RECORD_FILE).display()
                )),
                is_record_lost: false,
            })?;
        self.draw(record, terminal);
        Ok(())
    }

    /// Writes only the record, under this name.
    pub fn keep(&self, record: &RunRecord, name: &str) -> Result<(), Error> {
        let part = self.path.join(PART_FILE);
        let whole = self.path.join(name);
        let text = json::render(record)?;
        write_synced(&part, &text).map_err(|error| Error::file(&whole, &error))?;
        fs::rename(&part, &whole).map_err(|error| Error::file(&whole, &error))?;
        self.is_claimed.set(false);
        if name == RECORD_FILE {
            // Removes the previous attempt of a repeated run; usually there is none.
            let _ = fs::remove_file(self.path.join(UNFINISHED_FILE));
        }
        Ok(())
    }

    fn write_rest(&self, record: &RunRecord, terminal: &str) -> Result<(), Error> {
        self.write_file(INTERVAL_LOG_FILE, &hdr::render(record)?)?;
        for (name, picture) in picture_list::files(record) {
            self.write_file(name, &picture)?;
        }
        self.write_file(
            html::FILE,
            &html::of_records(std::slice::from_ref(record), advice::of)?,
        )?;
        match found::files(record, terminal) {
            Some(found) => self.write_found(&found),
            None => self.write_graphs(record, terminal),
        }
    }

    /// Writes nct's four graphs as scripts, with their tables.
    fn write_graphs(&self, record: &RunRecord, terminal: &str) -> Result<(), Error> {
        self.write_file(RAW_FILE, &ticks::raw(record))?;
        self.write_file(INTERVALS_FILE, &gnuplot::intervals(record))?;
        for graph in &GRAPHS {
            self.write_file(
                &format!("{}.gnuplot", graph.name),
                &graph.script(terminal, record),
            )?;
        }
        Ok(())
    }

    /// Writes a curve or a search as values and as a script. nct's graphs over time would show only
    /// its steps.
    fn write_found(&self, found: &found::Files) -> Result<(), Error> {
        let stem = found.stem;
        self.write_file(&format!("{stem}.csv"), &found.csv)?;
        self.write_file(&format!("{stem}.gnuplot"), &found.script)
    }

    fn write_file(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(|error| {
            // A partial file must not be mistaken for a complete one; if it cannot be removed
            // either, the message names it.
            let _ = fs::remove_file(&path);
            Error::file(&path, &error)
        })
    }

    /// Runs gnuplot on its scripts. A failure is reported as a note, not as an error, because all
    /// measurements are already stored.
    fn draw(&self, record: &RunRecord, terminal: &str) {
        let names: Vec<&str> = match found::stem(record) {
            Some(stem) => vec![stem],
            None => GRAPHS.iter().map(|graph| graph.name).collect(),
        };
        for name in names {
            let script = format!("{name}.gnuplot");
            match self.draw_one(&script) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // Only nct's scripts need gnuplot; the pictures already exist.
                    if record.plan.command == "nct" {
                        console::note(&format!(
                            "gnuplot is not installed, so {} holds nct's graphs as scripts \
                             (*.gnuplot) and not drawn (*.{terminal}); percentiles.svg and \
                             over-time.svg are pictures",
                            self.path.display()
                        ));
                    }
                    return;
                }
                Err(error) => {
                    console::note(&format!(
                        "gnuplot {}: {error}",
                        self.path.join(script).display()
                    ));
                }
            }
        }
    }

    fn draw_one(&self, script: &str) -> io::Result<()> {
        let mut gnuplot = Command::new("gnuplot")
            .arg(script)
            .current_dir(&self.path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let deadline = Instant::now() + PICTURE_LIMIT;
        loop {
            match gnuplot.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(io::Error::other(format!("no picture ({status})"))),
                None if Instant::now() >= deadline => {
                    gnuplot.kill()?;
                    gnuplot.wait()?;
                    return Err(io::Error::other("no picture after 20 s"));
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

/// The picture and the page of several replays on their layers, in the directory that contains
/// their directories.
#[derive(Debug)]
pub struct LayersPicture {
    picture: PathBuf,
    page: PathBuf,
}

impl LayersPicture {
    /// Checks before the runs that it does not overwrite anything.
    pub fn claim(directory: &Path) -> Result<Self, Error> {
        let [picture, page] = [LAYERS_FILE, html::FILE].map(|name| directory.join(name));
        let is_there = |path: &&PathBuf| path.symlink_metadata().is_ok();
        match Some(&picture).filter(is_there).or(Some(&page).filter(is_there)) {
            Some(path) => Err(Error::usage(format!("{}: this exists", path.display())).with_help(
                "nothing was overwritten and nothing was sent; name a new or an empty directory",
            )),
            None => Ok(Self { picture, page }),
        }
    }

    /// Draws the picture and writes the page; does nothing if there are fewer than two layers.
    pub fn write(&self, records: &[RunRecord]) -> Result<(), Error> {
        let Some(picture) = layers::picture::picture(records) else {
            return Ok(());
        };
        let page = html::of_records(records, advice::of)?;
        for (path, text) in [(&self.picture, render(&picture)), (&self.page, page)] {
            fs::write(path, text).map_err(|error| Error::file(path, &error))?;
        }
        Ok(())
    }
}

/// Writes a file and syncs it to disk.
pub fn write_synced(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    // A full disk may be reported only here.
    file.sync_all()
}

/// Rejects a directory that contains files to be preserved.
fn refuse_foreign(
    path: &Path,
    entries: fs::ReadDir,
    existing: OnExistingDirectory,
) -> Result<(), Error> {
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::file(path, &error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let found = match existing {
        OnExistingDirectory::Earlier => None,
        OnExistingDirectory::Refuse => refusal_of_any(&names),
        OnExistingDirectory::Merge => refusal_of_namesakes(path, &names),
        OnExistingDirectory::Resume => refusal_of_any(
            &names
                .iter()
                .filter(|name| !is_of_a_run(name))
                .cloned()
                .collect::<Vec<_>>(),
        ),
    };
    let Some(found) = found else {
        return Ok(());
    };
    let refusal = Error::usage(format!("{} {}: {found}", existing.option(), path.display()));
    Err(refusal.with_help(
        "nothing was overwritten and nothing was sent; name a new or an empty directory",
    ))
}

/// Returns the reason to reject a directory that must be empty.
fn refusal_of_any(names: &[String]) -> Option<String> {
    let mut others = names.iter().filter(|name| *name != PART_FILE);
    let first = others.next()?;
    Some(if names.iter().any(|name| name == RECORD_FILE) {
        format!("it already holds a record ({RECORD_FILE})")
    } else {
        format!("it already holds other things, such as {first}")
    })
}

/// Whether a file name belongs to a run that can be repeated.
fn is_of_a_run(name: &str) -> bool {
    [PART_FILE, RECORD_FILE, UNFINISHED_FILE].contains(&name)
}

/// Returns the reason to reject a directory with existing files: a file name that filestone uses
/// and nct does not, without a filestone record that explains it.
fn refusal_of_namesakes(path: &Path, names: &[String]) -> Option<String> {
    let mut namesakes = names.iter().filter(|name| is_ours(name) && !is_ncts(name));
    let first = namesakes.next()?;
    let record = path.join(RECORD_FILE);
    match record_file::read_records(&record) {
        Ok(_) => None,
        Err(_) => Some(format!(
            "{first} in it would be overwritten, and no run of filestone has written it"
        )),
    }
}

/// Whether a file name is one that nct writes.
fn is_ncts(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    name == RAW_FILE || GRAPHS.iter().any(|graph| graph.name == stem)
}

/// Whether a file name is one that nct or filestone writes.
fn is_ours(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let alone = [
        RECORD_FILE,
        RAW_FILE,
        INTERVALS_FILE,
        INTERVAL_LOG_FILE,
        html::FILE,
    ];
    alone.contains(&name)
        || GRAPHS.iter().any(|graph| graph.name == stem)
        || found::STEMS.contains(&stem)
        || picture_list::is_ours(name)
}

#[cfg(test)]
mod tests;
