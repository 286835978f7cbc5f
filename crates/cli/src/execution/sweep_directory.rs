//! The directory of a sweep: what it is, so that it can go on, and what came of it.

use super::output_directory::write_synced;
use crate::error::Error;
use crate::inputs::compared_runs;
use crate::inputs::record_file::{RECORD_FILE, SWEEP_FILE, text_of};
use crate::printable::excerpt;
use crate::report::picture::render;
use crate::report::sweep::document::{self, FORMAT, SweepDocument};
use crate::report::sweep::{Swept, picture, script};
use crate::report::{html, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The document while it is being written.
const PART_FILE: &str = "sweep.json.part";
/// Longer names of directories are cut.
const NAME_MAX: usize = 100;

/// The sweep that was begun in a directory; `None` if there was none.
pub fn earlier(directory: &Path) -> Result<Option<Swept>, Error> {
    let path = directory.join(SWEEP_FILE);
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    read(&path).map(Some)
}

/// The document of a sweep, if this is one, or the directory of one.
pub fn document_at(path: &Path) -> Option<PathBuf> {
    let inside = path.join(SWEEP_FILE);
    if inside.is_file() {
        return Some(inside);
    }
    let is_named = path.file_name().is_some_and(|name| name == SWEEP_FILE);
    (is_named && path.is_file()).then(|| path.into())
}

/// A sweep with the runs beside its document.
pub fn read_with_runs(path: &Path) -> Result<Swept, Error> {
    let mut swept = read(path)?;
    let root = path.parent().unwrap_or(Path::new("."));
    for point in 0..swept.points.len() {
        let place = place_of(root, &swept, point);
        let numbers = 1..=swept.wanted.most;
        let runs = numbers.map(|number| place.join(format!("{number:03}")).join(RECORD_FILE));
        let runs: Vec<PathBuf> = runs.take_while(|run| run.is_file()).collect();
        for read in compared_runs::read(&runs, &[swept.figure])? {
            swept.count(point, &read.run);
        }
    }
    Ok(swept)
}

fn read(path: &Path) -> Result<Swept, Error> {
    let damaged = |why: &str| {
        Error::usage(format!(
            "{}: this is no sweep: {}",
            path.display(),
            excerpt(why)
        ))
        .with_help("a sweep with --output DIR writes one")
    };
    let document: SweepDocument =
        serde_json::from_str(&text_of(path)?).map_err(|error| damaged(&error.to_string()))?;
    if document.format != FORMAT {
        let found = document.format;
        return Err(Error::usage(format!(
            "{}: this sweep has format {found}; this version reads format {FORMAT}",
            path.display()
        ))
        .with_help("use the version of filestone that wrote it, or a newer one"));
    }
    let swept = document.into_sweep();
    swept.ok_or_else(|| damaged("there is no figure of that name"))
}

/// The directory of the runs of a point: `02-size=1024`.
pub fn place_of(root: &Path, swept: &Swept, point: usize) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=.,:+-".contains(c);
    let name = swept.name(point).replace(", ", ",");
    let name: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(NAME_MAX)
        .collect();
    let width = swept.points.len().to_string().len();
    root.join(format!("{:0width$}-{name}", point + 1))
}

/// Says whose directory it is, before the first run.
pub fn write_plan(directory: &Path, swept: &Swept) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| Error::file(directory, &error))?;
    write_document(directory, swept)
}

/// Writes what came of it, in every form.
pub fn write_found(directory: &Path, swept: &Swept) -> Result<(), Error> {
    write_document(directory, swept)?;
    for (name, text) in [
        ("sweep.csv", document::csv(swept)),
        ("sweep.gnuplot", script::script(swept)),
        ("sweep.svg", render(&picture::picture(swept))),
        (html::FILE, html::of_sweep(swept)?),
    ] {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(())
}

/// It appears whole or not at all.
fn write_document(directory: &Path, swept: &Swept) -> Result<(), Error> {
    let (part, whole) = (directory.join(PART_FILE), directory.join(SWEEP_FILE));
    let text = json::document(&document::of(swept))?;
    write_synced(&part, &text)
        .and_then(|()| fs::rename(&part, &whole))
        .map_err(|error| Error::file(&whole, &error))
}
