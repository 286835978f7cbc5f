//! Reading run records and plans back from files.

mod wrong_mix;

use crate::error::Error;
use crate::inputs::loads::LOADS_MAX;
use crate::options::limits::{
    CLIENTS_MAX, CLIENTS_OF_REPLAY_MAX, IN_FLIGHT_MAX, MARK_MAX_NANOS, SIZE_MAX,
};
use crate::options::values::is_speed;
use crate::quantity::PROCESSORS_MAX;
use filestone_model::measure::RunRecord;
use filestone_model::measure::run_record::FORMAT;
use filestone_model::plan::{
    ArrivalsPlan, Pacing, Plan, ReplayPlan, TICK_NANOS, TargetPlan, WorkloadPlan,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The record in the directory of a run.
pub const RECORD_FILE: &str = "run.json";

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
        // That there is none is said as of any file.
        [] => Ok(vec![record]),
        layers => Ok(layers.iter().map(|(_, path)| path.clone()).collect()),
    }
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
            plan.duration_ns.is_none()
                && plan.count.is_none()
                && plan.steering.is_none()
                && !plan.replay().is_some_and(|replay| replay.run_once),
            "\"duration_ns\" or \"count\" must end the run",
        ),
        (
            probe.is_some() && plan.target.nfs3().is_none(),
            "\"target\" of a probe must be an NFS server",
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
    let wrong = wrong.iter().find(|(is_wrong, _)| *is_wrong);
    let wrong = wrong.map(|(_, what)| (*what).to_string());
    let wrong = wrong.or_else(|| wrong_in_workload(&plan));
    let wrong = wrong.or_else(|| {
        let (why, _) = plan.read_data_refusal()?;
        Some(format!("\"read_data\": {why}"))
    });
    match wrong {
        None => Ok(plan),
        Some(what) => Err(Error::usage(format!("{}: {what}", path.display()))),
    }
}

fn wrong_in_workload(plan: &Plan) -> Option<String> {
    match &plan.workload {
        WorkloadPlan::Mix(mix) => wrong_mix::find(plan, mix),
        _ if plan.steering.is_some() => Some("\"steering\" is for mixes".into()),
        WorkloadPlan::Probe(_) => None,
        WorkloadPlan::LoadFile(replay) => wrong_in_replay(plan, replay).map(String::from),
    }
}

/// What no replay could follow.
fn wrong_in_replay(plan: &Plan, replay: &ReplayPlan) -> Option<&'static str> {
    let is_far_from_sense = |rate: f64| !(rate > 0.0 && rate <= 1e18);
    let wrong = [
        (
            replay.loads.is_empty() || replay.loads.len() > LOADS_MAX,
            "\"loads\" must name from 1 to 1024 loads",
        ),
        (
            plan.clients > CLIENTS_OF_REPLAY_MAX,
            "\"clients\" of a replay must be at most 65536",
        ),
        (plan.workers != 1, "\"workers\" of a replay must be 1"),
        (
            replay.clients_per_thread == 0 || replay.clients_per_thread > plan.clients,
            "\"clients_per_thread\" must be from 1 to \"clients\"",
        ),
        (
            replay.more_targets.len() >= plan.clients as usize,
            "\"more_targets\" must leave each target a client",
        ),
        (
            replay
                .more_targets
                .iter()
                .any(|target| target.layer() != plan.target.layer()),
            "\"more_targets\" must have the protocol of \"target\"",
        ),
        (
            targets(plan, replay).any(TargetPlan::is_udp),
            "\"transport\" of a replay must be tcp",
        ),
        (
            matches!(replay.pacing, Pacing::Stamps { speed } if !is_speed(speed)),
            "\"speed\" must be from 0.5 to 100",
        ),
        (
            matches!(replay.pacing, Pacing::Rate { bytes_per_s } if is_far_from_sense(bytes_per_s)),
            "\"bytes_per_s\" must be more than 0 and at most 1e18",
        ),
        (
            replay.trunc_io_bytes == Some(0),
            "\"trunc_io_bytes\" must be at least 1",
        ),
        (
            plan.arrivals != ArrivalsPlan::Closed,
            "\"arrivals\" of a replay must be closed: it has its own pacing",
        ),
        (plan.count.is_some(), "\"count\" is for probes"),
    ];
    let wrong = wrong.iter().find(|(is_wrong, _)| *is_wrong);
    wrong.map(|(_, what)| *what)
}

fn targets<'plan>(
    plan: &'plan Plan,
    replay: &'plan ReplayPlan,
) -> impl Iterator<Item = &'plan TargetPlan> {
    std::iter::once(&plan.target).chain(&replay.more_targets)
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
    use crate::report::{canned, json};
    use filestone_model::plan::TransportKind;

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
        assert!(error.what.ends_with("numbers below 1024"));
        let _ = fs::remove_file(path);
        plan.workers = 9;
        let path = file("plan", &json::document(&plan).expect("JSON"));
        let error = read_plans(&path).expect_err("more workers than clients");
        assert!(
            error
                .what
                .ends_with("\"workers\" must not be more than \"clients\"")
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

    #[test]
    fn a_replay_that_cannot_be_made_is_refused() {
        type Change = fn(&mut Plan);
        let changes: [(&str, Change); 10] = [
            ("\"loads\"", |plan| replay_of(plan).loads.clear()),
            ("\"clients\"", |plan| plan.clients = 70_000),
            ("\"clients_per_thread\"", |plan| {
                replay_of(plan).clients_per_thread = 0;
            }),
            ("\"more_targets\" must have", |plan| {
                let server = canned::plain().plan.target;
                replay_of(plan).more_targets = vec![server];
            }),
            ("\"more_targets\" must leave", |plan| {
                let same = plan.target.clone();
                replay_of(plan).more_targets = vec![same; 2];
            }),
            ("\"transport\"", |plan| {
                plan.target = canned::plain().plan.target;
                plan.target.nfs3_mut().expect("NFS").transport = TransportKind::Udp;
            }),
            ("\"speed\"", |plan| {
                replay_of(plan).pacing = Pacing::Stamps { speed: 0.0 };
            }),
            ("\"bytes_per_s\"", |plan| {
                replay_of(plan).pacing = Pacing::Rate { bytes_per_s: -1.0 };
            }),
            ("\"trunc_io_bytes\"", |plan| {
                replay_of(plan).trunc_io_bytes = Some(0);
            }),
            ("\"duration_ns\"", |plan| plan.duration_ns = None),
        ];
        for (expected, change) in changes {
            let mut plan = canned::replayed().plan;
            change(&mut plan);
            let error = check_plan(Path::new("plan.json"), plan).expect_err(expected);
            assert!(error.what.contains(expected), "{}", error.what);
        }
        let mut plan = canned::plain().plan;
        plan.target = canned::replayed().plan.target;
        assert!(check_plan(Path::new("plan.json"), plan).is_err());
    }

    fn replay_of(plan: &mut Plan) -> &mut ReplayPlan {
        plan.replay_mut().expect("a replay")
    }
}
