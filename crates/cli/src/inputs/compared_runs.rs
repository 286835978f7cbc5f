//! Runs to compare, read from their records: many at a time, with only the needed parts of each in
//! memory.

use super::record_file;
use crate::error::Error;
use filestone_measure::comparison::ComparedRun;
use filestone_measure::measure::figures::RunFigure;
use filestone_report::comparison::ReadRun;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

/// Runs, and the error messages of records that could not be read.
#[derive(Debug, Default)]
pub struct ReadableRuns {
    /// Runs that could be read.
    pub runs: Vec<ReadRun>,
    /// Error messages of the others.
    pub unreadable: Vec<String>,
}

/// A file to read.
struct Found {
    path: PathBuf,
    /// Whether the file was named itself, instead of found below a directory.
    is_named: bool,
}

/// A file that was read.
struct ReadFile {
    is_named: bool,
    runs: Result<Vec<ReadRun>, Error>,
}

/// Reads the runs of a side, with the data for the precision of these figures.
pub fn read(paths: &[PathBuf], judged: &[RunFigure]) -> Result<Vec<ReadRun>, Error> {
    let mut all = Vec::new();
    for file in read_each(paths, judged)? {
        all.extend(file.runs?);
    }
    Ok(all)
}

/// Reads the runs of a side, without those below a directory that cannot be read.
pub fn read_readable(paths: &[PathBuf], judged: &[RunFigure]) -> Result<ReadableRuns, Error> {
    let mut all = ReadableRuns::default();
    for file in read_each(paths, judged)? {
        match file.runs {
            Ok(runs) => all.runs.extend(runs),
            Err(error) if file.is_named => return Err(error),
            Err(error) => all.unreadable.push(error.message),
        }
    }
    Ok(all)
}

/// Reads each file.
fn read_each(paths: &[PathBuf], judged: &[RunFigure]) -> Result<Vec<ReadFile>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let is_named = !path.is_dir();
        let found = record_file::paths_of_runs(path)?.into_iter();
        files.extend(found.map(|path| Found { path, is_named }));
    }
    if let (Some(path), true) = (paths.first(), files.is_empty()) {
        return Err(record_file::no_record(path));
    }
    let readers = thread::available_parallelism().map_or(1, NonZero::get);
    let share = files.len().div_ceil(readers).max(1);
    let read_file = |found: &Found| ReadFile {
        is_named: found.is_named,
        runs: read_file(&found.path, judged),
    };
    let read = thread::scope(|scope| {
        let readers = files
            .chunks(share)
            .map(|files| scope.spawn(move || files.iter().map(read_file).collect::<Vec<_>>()));
        let readers: Vec<_> = readers.collect();
        let ended = readers.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<Result<Vec<_>, _>>()
    });
    let read = read.map_err(|_| Error::internal("a thread that read records panicked"))?;
    Ok(read.into_iter().flatten().collect())
}

fn read_file(path: &Path, judged: &[RunFigure]) -> Result<Vec<ReadRun>, Error> {
    let records = record_file::read_records(path)?.into_iter();
    let read = records.map(|record| {
        let mut run = ComparedRun::from(&record);
        if run.lacks(judged) {
            run.intervals = record.intervals;
        }
        ReadRun {
            path: path.into(),
            run,
        }
    });
    Ok(read.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_report::{fixtures, json};
    use std::fs;

    #[test]
    fn what_is_long_is_read_where_it_is_needed() {
        let name = format!("filestone-compared-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("one")).expect("a temporary directory");
        let record = fixtures::in_stretches();
        let mut old = record.clone();
        old.totals.figures.clear();
        fs::write(folder.join(record_file::REPEATS_FILE), "{}").expect("a temporary file");
        for (file, record) in [("one/run.json", &record), ("two.json", &old)] {
            let text = json::render(record).expect("JSON");
            fs::write(folder.join(file), text).expect("a temporary file");
        }
        let judged = ["achieved".parse().expect("a figure")];
        let runs = read(std::slice::from_ref(&folder), &judged).expect("our own");
        let [one, two] = runs.as_slice() else {
            panic!("{runs:?}");
        };
        // The figures of the older record are computed when it is read.
        assert!(one.run.intervals.is_empty() && two.run.intervals.is_empty());
        assert_eq!(one.run.figures(&judged), two.run.figures(&judged));
        let judged = ["response_time.p90".parse().expect("a figure")];
        let runs = read(std::slice::from_ref(&folder), &judged).expect("our own");
        assert!(!runs[0].run.intervals.is_empty());
        let _ = fs::remove_dir_all(folder);
    }
}
