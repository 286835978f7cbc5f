//! Directory of a ladder: like that of a sweep over its rungs, with a different document.

use super::sweep_directory::{named_document, read_document, runs_of, write_whole};
use crate::error::Error;
use crate::inputs::record_file::{LADDER_FILE, read_records};
use crate::report::html;
use crate::report::ladder::document::{self, FORMAT, LadderDocument};
use crate::report::ladder::{Ladder, picture};
use crate::report::picture::render;
use filestone_measure::comparison::ComparedRun;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the ladder that was started in a directory; `None` if there was none.
pub fn earlier(directory: &Path) -> Result<Option<Ladder>, Error> {
    let path = directory.join(LADDER_FILE);
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    read(&path).map(Some)
}

/// Returns the document of a ladder, if `path` is one or its directory.
pub fn document_at(path: &Path) -> Option<PathBuf> {
    named_document(path, LADDER_FILE)
}

/// Reads a ladder with the runs in its directory.
pub fn read_with_runs(path: &Path) -> Result<Ladder, Error> {
    let mut ladder = read(path)?;
    let root = path.parent().unwrap_or(Path::new("."));
    for rung in 0..ladder.swept.points.len() {
        for run in runs_of(root, &ladder.swept, rung) {
            for record in read_records(&run)? {
                ladder.swept.count(rung, &ComparedRun::from(&record));
                if let Some(tally) = ladder.tallies.get_mut(rung) {
                    tally.add(&record);
                }
            }
        }
    }
    Ok(ladder)
}

fn read(path: &Path) -> Result<Ladder, Error> {
    let document: LadderDocument = read_document(path, "ladder", FORMAT)?;
    Ok(document.into_ladder())
}

/// Writes the document before the first run, which identifies the directory.
pub fn write_plan(directory: &Path, ladder: &Ladder) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| Error::file(directory, &error))?;
    write_whole(&directory.join(LADDER_FILE), &document::of(ladder))
}

/// Writes the results in every form.
pub fn write_found(directory: &Path, ladder: &Ladder) -> Result<(), Error> {
    write_whole(&directory.join(LADDER_FILE), &document::of(ladder))?;
    for (name, text) in [
        ("ladder.csv", document::csv(ladder)),
        ("ladder.svg", render(&picture::picture(ladder))),
        (html::FILE, html::of_ladder(ladder)?),
    ] {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(())
}
