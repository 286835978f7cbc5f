//! The runs that are compared, read from their records: many at a time, and no more of each than
//! is needed.

use super::record_file;
use crate::error::Error;
use crate::report::comparison::ReadRun;
use filestone_model::comparison::ComparedRun;
use filestone_model::measure::figures::RunFigure;
use filestone_model::measure::run_record::{FORMAT, IntervalRecord};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

/// What of a record is read only where it is needed.
#[derive(Debug, Deserialize)]
struct Long {
    intervals: Vec<IntervalRecord>,
}

/// The runs of a side, with what it takes to know how well these figures are known.
pub fn read(paths: &[PathBuf], judged: &[RunFigure]) -> Result<Vec<ReadRun>, Error> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(record_file::paths_of_runs(path)?);
    }
    let readers = thread::available_parallelism().map_or(1, NonZero::get);
    let share = files.len().div_ceil(readers).max(1);
    let read: Vec<Result<Vec<ReadRun>, Error>> = thread::scope(|scope| {
        let readers = files
            .chunks(share)
            .map(|files| scope.spawn(move || read_files(files, judged)));
        let readers: Vec<_> = readers.collect();
        let ended = readers.into_iter().map(|reader| {
            reader
                .join()
                .unwrap_or_else(|_| Err(Error::internal("a thread that read records panicked")))
        });
        ended.collect()
    });
    let mut runs = Vec::new();
    for read in read {
        runs.extend(read?);
    }
    Ok(runs)
}

fn read_files(files: &[PathBuf], judged: &[RunFigure]) -> Result<Vec<ReadRun>, Error> {
    let mut runs = Vec::new();
    for path in files {
        let read = read_file(path, judged)?.into_iter();
        runs.extend(read.map(|run| ReadRun {
            path: path.clone(),
            run,
        }));
    }
    Ok(runs)
}

fn read_file(path: &Path, judged: &[RunFigure]) -> Result<Vec<ComparedRun>, Error> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut runs: Vec<ComparedRun> = documents(&text).unwrap_or_default();
    if runs.is_empty() || runs.iter().any(|run| run.format != FORMAT) {
        return Err(why_not(path));
    }
    if runs.iter().any(|run| run.lacks(judged)) {
        let long: Vec<Long> = documents(&text).ok_or_else(|| why_not(path))?;
        for (run, long) in runs.iter_mut().zip(long) {
            run.intervals = long.intervals;
        }
    }
    Ok(runs)
}

/// The document, or the members of a list of them.
fn documents<T: DeserializeOwned>(text: &str) -> Option<Vec<T>> {
    if text.trim_start().starts_with('[') {
        serde_json::from_str(text).ok()
    } else {
        Some(vec![serde_json::from_str(text).ok()?])
    }
}

/// What is wrong with a record, as every command says it.
fn why_not(path: &Path) -> Error {
    match record_file::read_records(path) {
        Err(error) => error,
        Ok(_) => Error::internal(format!("{}: this record cannot be read", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{canned, json};

    #[test]
    fn what_is_long_is_read_where_it_is_needed() {
        let name = format!("filestone-compared-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("one")).expect("a temporary directory");
        let record = canned::in_stretches();
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
        assert!(one.run.intervals.is_empty() && !two.run.intervals.is_empty());
        assert_eq!(one.run.figures(&judged), two.run.figures(&judged));
        let _ = fs::remove_dir_all(folder);
    }
}
