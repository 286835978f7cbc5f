//! Reading run records and plans back from files.

use crate::error::Error;
use filestone_model::measure::figures::with_figures;
use filestone_model::measure::run_record::FORMAT;
use filestone_model::measure::{RunRecord, validity};
use filestone_model::plan::{Field, Plan};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The record in the directory of a run.
pub const RECORD_FILE: &str = "run.json";
/// What several runs of the same come to, beside their directories.
pub const REPEATS_FILE: &str = "repeats.json";

/// The records in a file, or in a directory that `--output` wrote.
pub fn read_records(path: &Path) -> Result<Vec<RunRecord>, Error> {
    let mut records = Vec::new();
    for path in record_paths(path)? {
        for value in read_documents(&path)? {
            records.push(parse_record(&path, value)?);
        }
    }
    Ok(records)
}

/// The record of a run, or those below a directory, in the order of their names.
pub fn paths_of_runs(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let record = path.join(RECORD_FILE);
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    if record.exists() {
        return Ok(vec![record]);
    }
    let entries = fs::read_dir(path).map_err(|error| Error::file(path, &error))?;
    let below = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json")
            && !path.ends_with(REPEATS_FILE);
        let record = path.join(RECORD_FILE);
        record
            .exists()
            .then_some(record)
            .or_else(|| (is_json && path.is_file()).then_some(path))
    });
    let mut below: Vec<PathBuf> = below.collect();
    below.sort();
    if below.is_empty() {
        return Err(Error::usage(format!(
            "{}: there is no run record in it, nor in the directories in it",
            path.display()
        ))
        .with_help(format!("--output DIR writes a record as DIR/{RECORD_FILE}")));
    }
    Ok(below)
}

/// The plans in a file: plans themselves, or those of records.
pub fn read_plans(path: &Path) -> Result<Vec<Plan>, Error> {
    let mut plans = Vec::new();
    for path in record_paths(path)? {
        for value in read_documents(&path)? {
            plans.push(parse_plan(&path, value)?);
        }
    }
    Ok(plans)
}

fn parse_plan(path: &Path, value: Value) -> Result<Plan, Error> {
    if value.get("format").is_some() {
        let record = parse_record(path, value)?;
        return check_plan(path, record.plan);
    }
    if value.pointer("/workload/verify").and_then(Value::as_bool) == Some(true) {
        return Err(Error::usage(format!(
            "{}: \"verify\" of a plan is \"read_data\": \"verify\" now",
            path.display()
        )));
    }
    let plan: Plan = serde_json::from_value(value).map_err(|error| {
        Error::usage(format!("{}: this is not a plan: {error}", path.display()))
            .with_help("--dry-run prints a plan; a run record holds one, too")
    })?;
    check_plan(path, plan)
}

/// A file; of a directory its record, or the records of the layers in it.
fn record_paths(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let record = path.join(RECORD_FILE);
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    if record.exists() {
        return Ok(vec![record]);
    }
    let entries = fs::read_dir(path).map_err(|error| Error::file(path, &error))?;
    let mut layers: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let (number, _) = name.split_once('-')?;
            let record = entry.path().join(RECORD_FILE);
            Some((number.parse().ok()?, record)).filter(|(_, record)| record.exists())
        })
        .collect();
    layers.sort();
    match layers.as_slice() {
        [] if path.join(REPEATS_FILE).exists() => Err(Error::usage(format!(
            "{}: these are repeats, each with a record of its own",
            path.display()
        ))
        .with_help(format!(
            "name one of them, such as {}; filestone compare takes them all",
            path.join("001").display()
        ))),
        // That there is none is said as of any file.
        [] => Ok(vec![record]),
        layers => Ok(layers.iter().map(|(_, path)| path.clone()).collect()),
    }
}

/// What options cannot say, a file can: a plan that no run could follow.
fn check_plan(path: &Path, plan: Plan) -> Result<Plan, Error> {
    match plan.check() {
        Ok(()) => Ok(plan),
        Err(error) => Err(Error {
            help: error.help(Field::quoted_key),
            ..Error::usage(format!("{}: {error}", path.display()))
        }),
    }
}

/// The document in a file, or the members of a list of them.
fn read_documents(path: &Path) -> Result<Vec<Value>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error {
        category: filestone_engine::ErrorCategory::Usage,
        ..Error::file(path, &error)
    })?;
    let value = serde_json::from_str(&text).map_err(|error| {
        Error::usage(format!("{}: this is not JSON: {error}", path.display()))
            .with_help(format!("--output DIR writes a record as DIR/{RECORD_FILE}"))
    })?;
    match value {
        Value::Array(values) if values.is_empty() => Err(Error::usage(format!(
            "{}: this list is empty",
            path.display()
        ))),
        Value::Array(values) => Ok(values),
        value => Ok(vec![value]),
    }
}

fn parse_record(path: &Path, value: Value) -> Result<RunRecord, Error> {
    match value.get("format") {
        Some(format) if format.as_u64() == Some(FORMAT.into()) => {}
        Some(format) => {
            return Err(Error::usage(format!(
                "{}: this record has format {format}; this version reads format {FORMAT}",
                path.display()
            ))
            .with_help("use the version of filestone that wrote it, or a newer one"));
        }
        None => {
            return Err(Error::usage(format!(
                "{}: this is JSON, but not a run record: it has no \"format\"",
                path.display()
            ))
            .with_help(format!("--output DIR writes a record as DIR/{RECORD_FILE}")));
        }
    }
    let mut record: RunRecord = serde_json::from_value(value).map_err(|error| {
        Error::usage(format!(
            "{}: this run record is damaged: {error}",
            path.display()
        ))
    })?;
    if record.validity.is_none() {
        record.validity = Some(validity::of(&record));
    }
    Ok(with_figures(record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{canned, json};

    fn file(name: &str, text: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("filestone-record-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        path
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for record in canned::all() {
            let path = file("same", &json::render(&record).expect("JSON"));
            let plans = read_plans(&path).expect("our own");
            assert_eq!(plans.first(), Some(&record.plan));
            assert_eq!(read_records(&path).expect("our own"), [record]);
            let _ = fs::remove_file(path);
        }
    }

    #[test]
    fn figures_of_an_older_record_are_worked_out() {
        let record = canned::in_stretches();
        assert!(!record.totals.figures.is_empty());
        let mut old = record.clone();
        old.totals.figures.clear();
        let path = file("old", &json::render(&old).expect("JSON"));
        assert_eq!(read_records(&path).expect("our own"), [record]);
        let _ = fs::remove_file(path);
    }

    #[test]
    fn what_is_no_record_is_told_apart() {
        for (name, text, expected) in [
            ("text", "hello", "this is not JSON"),
            ("empty", "", "this is not JSON"),
            (
                "other",
                "{\"a\": 1}",
                "not a run record: it has no \"format\"",
            ),
            (
                "newer",
                "{\"format\": 99}",
                "format 99; this version reads format 1",
            ),
            (
                "cut",
                "{\"format\": 1}",
                "this run record is damaged: missing field",
            ),
        ] {
            let path = file(name, text);
            let error = read_records(&path).expect_err(name);
            assert!(error.what.contains(expected), "{}", error.what);
            assert_eq!(error.exit_code(), 2);
            let _ = fs::remove_file(path);
        }
        let error = read_records(Path::new("/nowhere/run.json")).expect_err("no file");
        assert_eq!(
            error.what,
            "/nowhere/run.json: no such file or directory (2)"
        );
    }

    #[test]
    fn a_plan_that_no_run_could_follow_is_refused() {
        let mut plan = canned::plain().plan;
        let mut pinned = plan.clone();
        pinned.pin = vec![0, 1024];
        let path = file("pin", &json::document(&pinned).expect("JSON"));
        let error = read_plans(&path).expect_err("no such processor");
        assert!(
            error
                .what
                .ends_with("\"pin\" 1024: expected a number from 0 to 1023")
        );
        let _ = fs::remove_file(path);
        plan.workers = 9;
        let path = file("plan", &json::document(&plan).expect("JSON"));
        let error = read_plans(&path).expect_err("more workers than clients");
        assert!(
            error
                .what
                .ends_with("\"workers\" 9: there must not be more workers than clients (1)")
        );
        assert!(
            error
                .help
                .is_some_and(|help| help.ends_with("use \"clients\" 9"))
        );
        let _ = fs::remove_file(path);
    }

    #[test]
    fn several_records_are_a_list_or_the_layers_of_a_directory() {
        let records = canned::three_layers();
        let path = file("list", &json::document(&records).expect("JSON"));
        assert_eq!(read_records(&path).expect("our own"), records);
        let _ = fs::remove_file(path);
        let folder = file("layers", "");
        fs::remove_file(&folder).expect("it was made");
        for (name, record) in ["1-local", "2-tcp", "10-nfs"].iter().zip(&records) {
            fs::create_dir_all(folder.join(name)).expect("a temporary directory");
            let text = json::render(record).expect("JSON");
            fs::write(folder.join(name).join(RECORD_FILE), text).expect("a temporary file");
        }
        assert_eq!(read_records(&folder).expect("our own"), records);
        let _ = fs::remove_dir_all(folder);
    }
}
