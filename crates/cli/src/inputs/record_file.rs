//! Reading run records and plans back from files.

use crate::console;
use crate::error::{Error, reason};
use filestone_measure::measure::figures::with_figures;
use filestone_measure::measure::run_record::FORMAT;
use filestone_measure::measure::{RunRecord, validity};
use filestone_plan::plan::{Field, Plan};
use filestone_report::json::RECORD_FILE;
use filestone_report::sanitize::excerpt;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Summary of repeated runs, in the directory that contains the run directories.
pub const REPEATS_FILE: &str = "repeats.json";
/// Result of `filestone ab`, in the directory that contains the run directories.
pub const AB_FILE: &str = "ab.json";
/// Plan and results of a sweep, in the directory that contains the directories of its points.
pub const SWEEP_FILE: &str = "sweep.json";
/// Results of a ladder.
pub const LADDER_FILE: &str = "ladder.json";
/// Maximum size of a record; a run of a day with a row per second has about 200 MB.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// Returns the records in a file, or in a directory that `--output` wrote.
pub fn read_records(path: &Path) -> Result<Vec<RunRecord>, Error> {
    let mut records = Vec::new();
    for path in record_paths(path)? {
        records.extend(parse_records(&path, &text_of(&path)?)?);
    }
    Ok(records)
}

/// Returns the records in the text of a file.
pub fn parse_records(path: &Path, text: &str) -> Result<Vec<RunRecord>, Error> {
    let values = documents_of(path, text)?.into_iter();
    values.map(|value| parse_record(path, value)).collect()
}

/// Returns the record of a run, or the records below a directory in the order of their names. Other
/// files written by a run are skipped.
pub fn paths_of_runs(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        let is_record = !is_beside_record(path);
        return Ok(is_record.then(|| path.into()).into_iter().collect());
    }
    if let Some(record) = record_in(path) {
        return Ok(vec![record]);
    }
    let mut below = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| Error::file(path, &error))? {
        let entry = entry.map_err(|error| Error::file(path, &error))?;
        below.extend(run_at(entry.path()));
    }
    below.sort();
    if below.is_empty() {
        return Err(none_in(path));
    }
    Ok(below)
}

/// Whether a file was written by a run next to its record, or by several runs next to theirs: a
/// page, a picture, a summary. A shell glob matches them all (`hist/a/*`).
fn is_beside_record(path: &Path) -> bool {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let documents = [RECORD_FILE, REPEATS_FILE, AB_FILE, SWEEP_FILE, LADDER_FILE];
    let is_of_runs = documents.iter().any(|name| directory.join(name).is_file());
    let is_document = path.file_name().is_some_and(|name| name == RECORD_FILE);
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    is_of_runs && path.is_file() && !is_document && (!is_json || is_other_document(path))
}

/// Returns the record in the directory of a run. A record that cannot be inspected counts as
/// existing: the reader reports why it cannot be read.
fn record_in(directory: &Path) -> Option<PathBuf> {
    let record = directory.join(RECORD_FILE);
    let is_there = directory.is_dir() && !matches!(record.try_exists(), Ok(false));
    is_there.then_some(record)
}

/// Returns the record of a run directory that is an entry of another directory.
fn run_at(path: PathBuf) -> Option<PathBuf> {
    if path.is_dir() {
        return record_in(&path);
    }
    let mut extension = path.extension().into_iter();
    let is_json = extension.any(|extension| extension == "json");
    let is_file = match fs::metadata(&path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    (is_json && is_file && !is_other_document(&path)).then_some(path)
}

/// Fields that records have and other filestone documents do not.
#[derive(Deserialize)]
struct Outline {
    #[serde(rename = "plan")]
    _plan: IgnoredAny,
}

/// Whether a file is JSON but not a record.
fn is_other_document(path: &Path) -> bool {
    let Ok(text) = text_of(path) else {
        return false;
    };
    // Nearly all files are records, which are long; this reads them only once.
    if serde_json::from_str::<Outline>(&text).is_ok() {
        return false;
    }
    let records: Result<Vec<Outline>, _> = serde_json::from_str(&text);
    let has_records = records.is_ok_and(|records| !records.is_empty());
    !has_records && serde_json::from_str::<IgnoredAny>(&text).is_ok()
}

/// Returns the error that a directory is a sweep or a ladder and not repeated runs; `None` for
/// other directories.
fn of_points(path: &Path) -> Option<Error> {
    let shown = path.display();
    let is_there = |name: &str| path.join(name).exists();
    let (noun, points, one) = match (is_there(SWEEP_FILE), is_there(LADDER_FILE)) {
        (true, _) => ("sweep", "points", "1-size=512"),
        (_, true) => ("ladder", "rungs", "01-rung=null"),
        _ => return None,
    };
    let error = Error::usage(format!(
        "{shown}: this is a {noun}, whose {points} have runs of their own"
    ));
    Some(error.with_help(format!(
        "name one of them, such as {shown}/{one}, or a run of it, such as {shown}/{one}/001; \
         filestone report {shown} shows them all"
    )))
}

/// Returns the error that the named file is not a record, but was written next to one.
pub fn no_record(path: &Path) -> Error {
    let what = format!("{}: this file is not a run record", path.display());
    Error::usage(what).with_help(format!("the record of a run is {RECORD_FILE}, beside it"))
}

/// Returns the error that no record exists where runs are expected.
fn none_in(path: &Path) -> Error {
    let shown = path.display();
    if let Some(error) = of_points(path) {
        return error;
    }
    if path.join(AB_FILE).exists() {
        let sides = ["a", "b"].map(|side| path.join(side).display().to_string());
        return Error::usage(format!("{shown}: these are the blocks of ab, of two sides"))
            .with_help(format!("name one of them: {}", sides.join(" or ")));
    }
    Error::usage(format!(
        "{shown}: there is no run record in it, nor in the directories in it"
    ))
    .with_help(format!("--output DIR writes a record as DIR/{RECORD_FILE}"))
}

/// Returns the complete run that an earlier invocation left in its directory, or `None` if there is
/// none. An incomplete run is reported on stderr.
pub fn kept_run(directory: &Path, plan: &Plan) -> Result<Option<RunRecord>, Error> {
    let path = directory.join(RECORD_FILE);
    let again =
        |what: &str| console::note(&format!("{}: {what}; it is made again", path.display()));
    if matches!(path.try_exists(), Ok(false)) {
        if directory.is_dir() {
            again("this run was broken off");
        }
        return Ok(None);
    }
    let text = text_of(&path)?;
    if serde_json::from_str::<IgnoredAny>(&text).is_err() {
        again("this record was broken off");
        return Ok(None);
    }
    let record = match <[RunRecord; 1]>::try_from(parse_records(&path, &text)?) {
        Ok([record]) => record,
        Err(records) => {
            let count = records.len();
            let what = format!("{}: {count} records, and not one", path.display());
            return Err(Error::usage(what));
        }
    };
    if as_kept(&record.plan) == as_kept(plan) {
        return Ok(Some(record));
    }
    Err(
        Error::usage(format!("{}: this is a run of another plan", path.display()))
            .with_help("name a new or an empty directory; nothing was overwritten"),
    )
}

/// Returns a plan as it is read back: the last digit of a number can change.
pub fn as_kept(plan: &Plan) -> Option<Plan> {
    let text = serde_json::to_string(plan).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    serde_json::from_value(value).ok()
}

/// Returns the plans in a file: plans, or those of records.
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
        let error = excerpt(&error.to_string());
        Error::usage(format!("{}: this is not a plan: {error}", path.display()))
            .with_help("--dry-run prints a plan; a run record holds one, too")
    })?;
    check_plan(path, plan)
}

/// Returns a file itself, or the record of a directory, or the records of the layers in it.
fn record_paths(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    if let Some(record) = record_in(path) {
        return Ok(vec![record]);
    }
    let mut layers: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| Error::file(path, &error))? {
        let entry = entry.map_err(|error| Error::file(path, &error))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.split_once('-'));
        let number = number.and_then(|(number, _)| number.parse().ok());
        layers.extend(number.zip(record_in(&entry.path())));
    }
    layers.sort();
    if layers.is_empty() {
        return Err(no_single_run(path));
    }
    Ok(layers.into_iter().map(|(_, path)| path).collect())
}

/// Returns the error that a directory does not contain exactly one run.
fn no_single_run(path: &Path) -> Error {
    let of_several = |what: &str, one: &str, all: &str| {
        let one = path.join(one);
        Error::usage(format!(
            "{}: these are {what}, each with a record of its own",
            path.display()
        ))
        .with_help(format!(
            "name one of them, such as {}; {all}",
            one.display()
        ))
    };
    if let Some(error) = of_points(path) {
        return error;
    }
    if path.join(REPEATS_FILE).exists() {
        return of_several("repeats", "001", "filestone compare takes them all");
    }
    if path.join(AB_FILE).exists() {
        let all = format!("what they come to is in {AB_FILE}");
        return of_several("the blocks of ab", "a/001", &all);
    }
    let record = path.join(RECORD_FILE);
    let error = io::Error::from(rustix::io::Errno::NOENT);
    unreadable(&record, &error)
}

/// Checks a plan, because a file can contain a plan that options cannot express and that no run can
/// execute.
fn check_plan(path: &Path, plan: Plan) -> Result<Plan, Error> {
    match plan.check() {
        Ok(()) => Ok(plan),
        Err(error) => Err(Error {
            help: error.help(Field::quoted_key),
            ..Error::usage(format!("{}: {error}", path.display()))
        }),
    }
}

/// Returns the content of a file or a pipe. Endless files such as devices are rejected.
pub fn text_of(path: &Path) -> Result<String, Error> {
    let of = |error: io::Error| unreadable(path, &error);
    let file = File::open(path).map_err(of)?;
    let kind = file.metadata().map_err(of)?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        return Err(Error::usage(format!(
            "{}: this is neither a file nor a pipe",
            path.display()
        )));
    }
    let mut text = String::new();
    let mut bounded = file.take(RECORD_BYTES_MAX);
    bounded.read_to_string(&mut text).map_err(of)?;
    if bounded.limit() == 0 {
        return Err(Error::usage(format!(
            "{}: this is not a run record: it has more than {} MiB",
            path.display(),
            RECORD_BYTES_MAX >> 20
        )));
    }
    Ok(text)
}

/// Returns the error that a named file cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!("{}: {}", path.display(), reason(error)))
}

/// Returns the document in a file, or the members of a list of documents.
fn read_documents(path: &Path) -> Result<Vec<Value>, Error> {
    documents_of(path, &text_of(path)?)
}

/// Parses JSON; a duplicate key in an object is an error.
pub fn parse_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).map(|Unambiguous(value)| value)
}

fn documents_of(path: &Path, text: &str) -> Result<Vec<Value>, Error> {
    let value = parse_json(text).map_err(|error| {
        if serde_json::from_str::<IgnoredAny>(text).is_ok() {
            return Error::usage(format!("{}: {error}", path.display()));
        }
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

/// A JSON document without duplicate keys: programs disagree about the value that counts.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unambiguous(value)) = members.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = serde_json::Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let Unambiguous(value) = members.next_value()?;
            if values.contains_key(&key) {
                let key = excerpt(&key);
                return Err(A::Error::custom(format!(
                    "the key \"{key}\" is there twice"
                )));
            }
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

/// Formats that this version reads.
const READ_FORMATS: std::ops::RangeInclusive<u64> = 1..=FORMAT as u64;

fn parse_record(path: &Path, value: Value) -> Result<RunRecord, Error> {
    match value.get("format") {
        Some(format)
            if format
                .as_u64()
                .is_some_and(|number| READ_FORMATS.contains(&number)) => {}
        Some(format) => {
            return Err(Error::usage(format!(
                "{}: this record has format {}; this version reads formats 1 to {FORMAT}",
                path.display(),
                excerpt(&format.to_string())
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
            "{}: this run record is damaged: {}",
            path.display(),
            excerpt(&error.to_string())
        ))
    })?;
    record.check_numbers().map_err(|error| {
        let what = format!("{}: this run record is damaged: {error}", path.display());
        Error::usage(what).with_help("no report is made of it: no run has such numbers")
    })?;
    if record.validity.is_none() {
        record.validity = Some(validity::of(&record));
    }
    record.format = FORMAT;
    Ok(with_figures(record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_report::{fixtures, json};

    fn file(name: &str, text: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("filestone-record-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        path
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for record in fixtures::all() {
            let path = file("same", &json::render(&record).expect("JSON"));
            let plans = read_plans(&path).expect("our own");
            assert_eq!(plans.first(), Some(&record.plan));
            assert_eq!(read_records(&path).expect("our own"), [record]);
            let _ = fs::remove_file(path);
        }
    }

    /// Returns the text of a record with `value` at this position.
    fn changed(place: &str, value: Value) -> String {
        let text = json::render(&fixtures::plain()).expect("JSON");
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        *document.pointer_mut(place).expect(place) = value;
        document.to_string()
    }

    #[test]
    fn numbers_that_no_run_has_are_refused_by_all_that_read_records() {
        for (name, place, value, expected) in [
            ("window", "/window_ns", 0.into(), "its window is 0 ns long"),
            (
                "rate",
                "/totals/achieved_load_ops_per_s",
                (-1.0).into(),
                "the achieved load is -1, which is less than 0",
            ),
            (
                "histogram",
                "/totals/response_time_ns/histogram",
                "garbage".into(),
                "the histogram is not",
            ),
            (
                "interval",
                "/intervals/0/kinds/0/response_time_ns/histogram",
                "AAAA".into(),
                "the histogram is not",
            ),
        ] {
            let path = file(&format!("bad-{name}.json"), &changed(place, value));
            let compared = super::super::compared_runs::read(std::slice::from_ref(&path), &[]);
            let read = read_records(&path).map(|records| records.len());
            for found in [read, compared.map(|runs| runs.len())] {
                let error = found.expect_err(name);
                assert!(
                    error.message.contains("this run record is damaged"),
                    "{}",
                    error.message
                );
                assert!(error.message.contains(expected), "{}", error.message);
            }
            let _ = fs::remove_file(path);
        }
    }

    #[test]
    fn what_a_run_writes_beside_its_record_is_passed_over() {
        let folder = std::env::temp_dir().join(format!("filestone-beside-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary directory");
        let names = [
            "run.json",
            "report.html",
            "percentiles.svg",
            "repeats.json",
            "other.json",
        ];
        let paths = names.map(|name| folder.join(name));
        for path in &paths {
            fs::write(path, "{\"format\": 1}").expect("a temporary file");
        }
        let text = json::render(&fixtures::plain()).expect("JSON");
        fs::write(&paths[0], &text).expect("a temporary file");
        fs::write(&paths[4], &text).expect("a temporary file");
        let found = paths
            .iter()
            .flat_map(|path| paths_of_runs(path).expect("it is there"));
        let found: Vec<PathBuf> = found.collect();
        assert_eq!(found, [paths[0].clone(), paths[4].clone()]);
        let one = super::super::compared_runs::read(&paths[1..2], &[]);
        let error = one.map(|runs| runs.len()).expect_err("no record");
        assert!(
            error.message.contains("this file is not a run record"),
            "{}",
            error.message
        );
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn bytes_are_not_a_record() {
        let path = std::env::temp_dir().join(format!("filestone-bytes-{}", std::process::id()));
        fs::write(&path, [0xff, 0xfe, 0x00]).expect("a temporary file");
        let error = text_of(&path).expect_err("not text");
        let expected = format!("{}: not a text file (UTF-8)", path.display());
        assert_eq!(error.message, expected);
        let _ = fs::remove_file(path);
    }

    #[test]
    fn figures_of_an_older_record_are_worked_out() {
        let record = fixtures::in_stretches();
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
                "format 99; this version reads formats 1 to 2",
            ),
            (
                "twice",
                "{\"format\": 1, \"plan\": {}, \"plan\": {}}",
                "the key \"plan\" is there twice",
            ),
            (
                "cut",
                "{\"format\": 1}",
                "this run record is damaged: missing field",
            ),
        ] {
            let path = file(name, text);
            let error = read_records(&path).expect_err(name);
            assert!(error.message.contains(expected), "{}", error.message);
            assert_eq!(error.exit_code(), 2);
            let _ = fs::remove_file(path);
        }
        let error = read_records(Path::new("/nowhere/run.json")).expect_err("no file");
        assert_eq!(
            error.message,
            "/nowhere/run.json: no such file or directory (2)"
        );
    }

    #[test]
    fn a_plan_that_no_run_could_follow_is_refused() {
        let mut plan = fixtures::plain().plan;
        let mut pinned = plan.clone();
        pinned.pin = vec![0, 1024];
        let path = file("pin", &json::document(&pinned).expect("JSON"));
        let error = read_plans(&path).expect_err("no such processor");
        assert!(
            error
                .message
                .ends_with("\"pin\" 1024: expected a number from 0 to 1023")
        );
        let _ = fs::remove_file(path);
        plan.workers = 9;
        let path = file("plan", &json::document(&plan).expect("JSON"));
        let error = read_plans(&path).expect_err("more workers than clients");
        assert!(
            error
                .message
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
        let records = fixtures::three_layers();
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
