//! Reading run records and plans back from files.

use crate::error::Error;
use crate::options::{CLIENTS_MAX, IN_FLIGHT_MAX, MARK_MAX_NANOS, SIZE_MAX};
use crate::output_directory::RECORD_FILE;
use crate::quantity::PROCESSORS_MAX;
use filestone_model::measure::RunRecord;
use filestone_model::measure::run_record::FORMAT;
use filestone_model::plan::{Plan, TICK_NANOS};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The record in a file, or in a directory that `--output` wrote.
pub fn read_record(path: &Path) -> Result<RunRecord, Error> {
    let (path, value) = read_document(path)?;
    parse_record(&path, value)
}

/// The plan in a file: a plan itself, or a record's.
pub fn read_plan(path: &Path) -> Result<Plan, Error> {
    let (path, value) = read_document(path)?;
    if value.get("format").is_some() {
        return parse_record(&path, value).map(|record| record.plan);
    }
    let plan: Plan = serde_json::from_value(value).map_err(|error| {
        Error::usage(format!("{}: this is not a plan: {error}", path.display()))
            .with_help("--dry-run prints a plan; a run record holds one, too")
    })?;
    check_plan(&path, plan)
}

/// What options cannot say, a file can: a plan that no run could follow.
fn check_plan(path: &Path, plan: Plan) -> Result<Plan, Error> {
    let probe = plan.probe();
    let wrong = [
        (plan.clients == 0, "\"clients\" must be at least 1"),
        (plan.in_flight == 0, "\"in_flight\" must be at least 1"),
        (plan.workers == 0, "\"workers\" must be at least 1"),
        (
            plan.workers > plan.clients,
            "\"workers\" must not be more than \"clients\"",
        ),
        (
            plan.clients > CLIENTS_MAX,
            "\"clients\" must be at most 1000000",
        ),
        (
            plan.in_flight > IN_FLIGHT_MAX,
            "\"in_flight\" must be at most 65536",
        ),
        (
            probe.is_some_and(|probe| probe.size_bytes == 0),
            "\"size_bytes\" must be at least 1",
        ),
        (
            probe.is_some_and(|probe| probe.size_bytes > SIZE_MAX),
            "\"size_bytes\" must be at most 1048576",
        ),
        (
            plan.duration_ns.is_none() && plan.count.is_none(),
            "\"duration_ns\" or \"count\" must end the run",
        ),
        (
            plan.pin
                .iter()
                .any(|processor| *processor >= PROCESSORS_MAX),
            "\"pin\" names processors by numbers below 1024",
        ),
        (plan.timeout_ns == 0, "\"timeout_ns\" must be more than 0"),
        (
            plan.interval_ns < TICK_NANOS
                || plan.interval_ns > MARK_MAX_NANOS
                || !plan.interval_ns.is_multiple_of(TICK_NANOS),
            "\"interval_ns\" must be a multiple of 100 ms, at most one hour",
        ),
        (
            plan.arrivals
                .offered_load()
                .is_some_and(|load| !(load > 0.0 && load <= 1e9)),
            "\"offered_load_ops_per_s\" must be more than 0 and at most 1000000000",
        ),
    ];
    match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
        None => Ok(plan),
        Some((_, what)) => Err(Error::usage(format!("{}: {what}", path.display()))),
    }
}

fn read_document(path: &Path) -> Result<(PathBuf, Value), Error> {
    let path = if path.is_dir() {
        path.join(RECORD_FILE)
    } else {
        path.into()
    };
    let text = fs::read_to_string(&path).map_err(|error| Error {
        guilt: filestone_engine::Guilt::Usage,
        ..Error::file(&path, &error)
    })?;
    let value = serde_json::from_str(&text).map_err(|error| {
        Error::usage(format!("{}: this is not JSON: {error}", path.display()))
            .with_help(format!("--output DIR writes a record as DIR/{RECORD_FILE}"))
    })?;
    Ok((path, value))
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
    serde_json::from_value(value).map_err(|error| {
        Error::usage(format!(
            "{}: this run record is damaged: {error}",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{canned, json};

    fn file(name: &str, text: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("filestone-record-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        path
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for record in [
            canned::plain(),
            canned::with_errors(),
            canned::interrupted(),
        ] {
            let path = file("same", &json::render(&record).expect("JSON"));
            assert_eq!(read_record(&path).expect("our own"), record);
            assert_eq!(read_plan(&path).expect("our own"), record.plan);
            let _ = fs::remove_file(path);
        }
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
            let error = read_record(&path).expect_err(name);
            assert!(error.what.contains(expected), "{}", error.what);
            assert_eq!(error.exit_code(), 2);
            let _ = fs::remove_file(path);
        }
        let error = read_record(Path::new("/nowhere/run.json")).expect_err("no file");
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
        let error = read_plan(&path).expect_err("no such processor");
        assert!(error.what.ends_with("numbers below 1024"));
        let _ = fs::remove_file(path);
        plan.workers = 9;
        let path = file("plan", &json::document(&plan).expect("JSON"));
        let error = read_plan(&path).expect_err("more workers than clients");
        assert!(
            error
                .what
                .ends_with("\"workers\" must not be more than \"clients\"")
        );
        let _ = fs::remove_file(path);
    }
}
