//! Directory of a sweep: its parameters, so that it can be resumed, and its results.

use super::output_directory::write_synced;
use crate::error::Error;
use crate::inputs::compared_runs;
use crate::inputs::record_file::{RECORD_FILE, SWEEP_FILE, parse_json, text_of};
use crate::report::picture::render;
use crate::report::sweep::document::{self, FORMAT, SweepDocument};
use crate::report::sweep::{SweepReport, drawing, script, study};
use crate::report::{html, json};
use crate::sanitize::excerpt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// File name extension of a document while it is written.
const PART_EXTENSION: &str = "json.part";
/// Maximum length of a directory name; longer ones are truncated.
const NAME_MAX: usize = 100;

/// Returns the sweep that was started in a directory; `None` if there was none.
pub fn earlier(directory: &Path) -> Result<Option<SweepReport>, Error> {
    let path = directory.join(SWEEP_FILE);
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    read(&path).map(Some)
}

/// Returns the document of a sweep, if `path` is one or its directory.
pub fn document_at(path: &Path) -> Option<PathBuf> {
    named_document(path, SWEEP_FILE)
}

/// Returns the document of that name, if `path` is one or its directory.
pub(super) fn named_document(path: &Path, name: &str) -> Option<PathBuf> {
    let inside = path.join(name);
    if inside.is_file() {
        return Some(inside);
    }
    let is_named = path.file_name().is_some_and(|own| own == name);
    (is_named && path.is_file()).then(|| path.into())
}

/// Reads a sweep with the runs in its directory.
pub fn read_with_runs(path: &Path) -> Result<SweepReport, Error> {
    let mut swept = read(path)?;
    let root = path.parent().unwrap_or(Path::new("."));
    for point in 0..swept.points.len() {
        let runs = runs_of(root, &swept, point);
        let judged = swept.figure.of_operations();
        for read in compared_runs::read(&runs, judged.as_slice())? {
            swept.count(point, &read.run);
        }
    }
    Ok(swept)
}

/// Returns the paths of the records of a point's runs.
pub(super) fn runs_of(root: &Path, swept: &SweepReport, point: usize) -> Vec<PathBuf> {
    let place = place_of(root, swept, point);
    let numbers = 1..=swept.wanted.most;
    let runs = numbers.map(|number| place.join(format!("{number:03}")).join(RECORD_FILE));
    runs.take_while(|run| run.is_file()).collect()
}

fn read(path: &Path) -> Result<SweepReport, Error> {
    let document: SweepDocument = read_document(path, "sweep", FORMAT)?;
    let swept = document.into_sweep();
    swept.ok_or_else(|| damaged(path, "sweep", "there is no figure of that name"))
}

/// Only the format version of a document.
#[derive(Deserialize)]
struct Shape {
    format: u32,
}

/// Reads the document of a sweep, or of a measurement stored like a sweep (`noun`), and checks its
/// format version.
pub(super) fn read_document<D: DeserializeOwned>(
    path: &Path,
    noun: &str,
    format: u32,
) -> Result<D, Error> {
    let text = text_of(path)?;
    let broken = |error: serde_json::Error| damaged(path, noun, &error.to_string());
    let value = parse_json(&text).map_err(broken)?;
    let shape = Shape::deserialize(&value).map_err(broken)?;
    if shape.format != format {
        return Err(Error::usage(format!(
            "{}: this {noun} has format {}; this version reads format {format}",
            path.display(),
            shape.format
        ))
        .with_help("use the version of filestone that wrote it, or a newer one"));
    }
    serde_json::from_value(value).map_err(broken)
}

/// Returns the error that a document is unusable.
pub(super) fn damaged(path: &Path, noun: &str, why: &str) -> Error {
    Error::usage(format!(
        "{}: this is no {noun}: {}",
        path.display(),
        excerpt(why)
    ))
    .with_help(format!("a {noun} with --output DIR writes one"))
}

/// Returns the directory of a point's runs, such as `02-size=1024`.
pub fn place_of(root: &Path, swept: &SweepReport, point: usize) -> PathBuf {
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

/// Writes the document before the first run, which identifies the directory.
pub fn write_plan(directory: &Path, swept: &SweepReport) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| Error::file(directory, &error))?;
    write_document(directory, swept)
}

/// Writes the results in every form.
pub fn write_found(directory: &Path, swept: &SweepReport) -> Result<(), Error> {
    write_document(directory, swept)?;
    let forms = [
        ("sweep.csv", document::csv(swept)),
        ("sweep.gnuplot", script::script(swept)),
        ("sweep.svg", render(&drawing(swept))),
        (html::FILE, html::of_sweep(swept)?),
    ];
    let forms = forms.into_iter().map(|(name, text)| (name.into(), text));
    for (name, text) in forms.chain(graphs(swept)) {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(())
}

/// Returns the graphs of the study with their file names.
fn graphs(swept: &SweepReport) -> Vec<(String, String)> {
    if !swept.is_study {
        return vec![];
    }
    let pictures = study::picture::pictures(swept).into_iter();
    pictures
        .map(|(name, picture)| (name, render(&picture)))
        .collect()
}

fn write_document(directory: &Path, swept: &SweepReport) -> Result<(), Error> {
    write_whole(&directory.join(SWEEP_FILE), &document::of(swept))
}

/// Writes a document that appears complete or not at all.
pub(super) fn write_whole(path: &Path, document: &impl Serialize) -> Result<(), Error> {
    let part = path.with_extension(PART_EXTENSION);
    let text = json::document(document)?;
    write_synced(&part, &text)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| Error::file(path, &error))
}
