//! Directory of a sweep or ladder: its parameters, so that it can be resumed, and its results.

use super::output_directory::write_synced;
use crate::error::Error;
use crate::inputs::compared_runs;
use crate::inputs::record_file::{LADDER_FILE, SWEEP_FILE, parse_json, text_of};
use filestone_report::json::RECORD_FILE;
use filestone_report::picture::render;
use filestone_report::sanitize::excerpt;
use filestone_report::sweep::document::{self, FORMAT, SweepDocument};
use filestone_report::sweep::ladder::{self, document::LadderDocument};
use filestone_report::sweep::{SweepKind, SweepReport, csv, drawing, script, study};
use filestone_report::{html, json};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};

/// File name extension of a document while it is written.
const PART_EXTENSION: &str = "json.part";
/// Maximum length of a directory name; longer ones are truncated.
const NAME_MAX: usize = 100;

/// Returns the sweep that was started in a directory; `None` if there was none.
pub fn earlier(directory: &Path, kind: SweepKind) -> Result<Option<SweepReport>, Error> {
    let path = directory.join(file_of(kind));
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    read(&path, kind).map(Some)
}

const fn file_of(kind: SweepKind) -> &'static str {
    match kind {
        SweepKind::Options | SweepKind::ReadStudy => SWEEP_FILE,
        SweepKind::Ladder => LADDER_FILE,
    }
}

/// Returns the document of a sweep of this kind, if `path` is one or its directory.
pub fn document_at(path: &Path, kind: SweepKind) -> Option<PathBuf> {
    let name = file_of(kind);
    let inside = path.join(name);
    if inside.is_file() {
        return Some(inside);
    }
    let is_named = path.file_name().is_some_and(|own| own == name);
    (is_named && path.is_file()).then(|| path.into())
}

/// Reads a sweep with the runs in its directory.
pub fn read_with_runs(path: &Path, kind: SweepKind) -> Result<SweepReport, Error> {
    let mut swept = read(path, kind)?;
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
fn runs_of(root: &Path, swept: &SweepReport, point: usize) -> Vec<PathBuf> {
    let place = place_of(root, swept, point);
    let numbers = 1..=swept.wanted.most;
    let runs = numbers.map(|number| place.join(format!("{number:03}")).join(RECORD_FILE));
    runs.take_while(|run| run.is_file()).collect()
}

fn read(path: &Path, kind: SweepKind) -> Result<SweepReport, Error> {
    if kind == SweepKind::Ladder {
        let document: LadderDocument = read_document(path, kind.noun(), ladder::document::FORMAT)?;
        return Ok(document.into_ladder());
    }
    let document: SweepDocument = read_document(path, kind.noun(), FORMAT)?;
    let swept = document.into_sweep();
    swept.ok_or_else(|| damaged(path, kind.noun(), "there is no figure of that name"))
}

/// Only the format version of a document.
#[derive(Deserialize)]
struct Shape {
    format: u32,
}

/// Reads the document of a sweep (`noun`), and checks its format version.
fn read_document<D: DeserializeOwned>(path: &Path, noun: &str, format: u32) -> Result<D, Error> {
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
fn damaged(path: &Path, noun: &str, why: &str) -> Error {
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
    let noun = swept.kind.noun();
    let mut forms = vec![
        (format!("{noun}.csv"), csv(swept)),
        (format!("{noun}.svg"), render(&drawing(swept))),
        (html::FILE.into(), html::of_sweep(swept)?),
    ];
    if swept.kind != SweepKind::Ladder {
        forms.push((format!("{noun}.gnuplot"), script::script(swept)));
    }
    for (name, text) in forms.into_iter().chain(graphs(swept)) {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    }
    Ok(())
}

/// Returns the graphs of the study with their file names.
fn graphs(swept: &SweepReport) -> Vec<(String, String)> {
    if !swept.is_study() {
        return vec![];
    }
    let pictures = study::picture::pictures(swept).into_iter();
    pictures
        .map(|(name, picture)| (name, render(&picture)))
        .collect()
}

/// Returns the text of the document of a sweep.
pub fn document_of(swept: &SweepReport) -> Result<String, Error> {
    Ok(match swept.kind {
        SweepKind::Options | SweepKind::ReadStudy => json::document(&document::of(swept))?,
        SweepKind::Ladder => json::document(&ladder::document::of(swept))?,
    })
}

/// Writes the document, which appears complete or not at all.
fn write_document(directory: &Path, swept: &SweepReport) -> Result<(), Error> {
    let path = directory.join(file_of(swept.kind));
    let part = path.with_extension(PART_EXTENSION);
    write_synced(&part, &document_of(swept)?)
        .and_then(|()| fs::rename(&part, &path))
        .map_err(|error| Error::file(&path, &error))
}
