//! The dashboard in `docs/grafana`: its shape, and that each metric of its queries exists.

use filestone_measure::measure::RunPhase;
use filestone_measure::measure::fleet_record::GroupRecord;
use filestone_measure::measure::run_record::{Target, Tool};
use filestone_metrics::{Format, Metrics};
use filestone_plan::plan::{LocalTarget, Plan, ReplayPlan, TargetPlan, WorkloadPlan};
use filestone_workload::operation::OpKind;
use serde_json::Value;
use std::collections::BTreeSet;

fn dashboard() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/grafana/filestone.json"
    );
    let text = std::fs::read_to_string(path).expect("the dashboard");
    serde_json::from_str(&text).expect("JSON")
}

/// The names of all series that can be there.
fn series() -> BTreeSet<String> {
    let metrics = Metrics::new(Tool::release("1.2.3"));
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let replay = ReplayPlan::new(vec![], vec![OpKind::Read]);
    metrics.start(&Plan::new(
        "replay",
        target,
        WorkloadPlan::LoadFile(replay),
        1,
    ));
    metrics.found(&Target::default());
    metrics.set_phase(RunPhase::Measure);
    metrics.offer(100.0);
    metrics.fleet(&[GroupRecord::total(&[], None)]);
    let exposition = metrics.snapshot().expose(Format::Text).expect("a text");
    let text = String::from_utf8(exposition.body).expect("UTF-8");
    let mut names = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').expect("a name and a type");
        names.insert(name.to_owned());
        if kind == "histogram" {
            names.extend(["_bucket", "_sum", "_count"].map(|suffix| format!("{name}{suffix}")));
        }
    }
    names
}

/// The names of series in a query.
fn named(query: &str) -> Vec<&str> {
    query
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("filestone_"))
        .collect()
}

fn panels(dashboard: &Value) -> impl Iterator<Item = &Value> {
    let panels = dashboard["panels"].as_array().expect("panels");
    panels.iter().filter(|panel| panel["type"] != "row")
}

#[test]
fn every_panel_asks_for_series_that_exist() {
    let (dashboard, series) = (dashboard(), series());
    let mut asked = BTreeSet::new();
    for panel in panels(&dashboard) {
        let title = panel["title"].as_str().expect("a title");
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{title} asks for nothing");
        for target in targets {
            let query = target["expr"].as_str().expect("a query");
            let names = named(query);
            assert!(!names.is_empty(), "{title}: {query}");
            for name in names {
                assert!(series.contains(name), "{title}: there is no {name}");
                asked.insert(name.to_owned());
            }
        }
    }
    assert!(asked.len() > 20, "{asked:?}");
}

#[test]
fn panels_have_ids_places_and_units_and_do_not_overlap() {
    let dashboard = dashboard();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        assert!(ids.insert(panel["id"].as_u64().expect("an id")));
        let place = |key: &str| panel["gridPos"][key].as_u64().expect("a place");
        assert!(place("x") + place("w") <= 24, "Grafana is 24 columns wide");
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(taken.insert((x, y)), "{} overlaps", panel["title"]);
            }
        }
    }
    for panel in panels(&dashboard) {
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string());
        assert_eq!(panel["datasource"]["uid"], "${datasource}");
    }
    let variables = dashboard["templating"]["list"].as_array();
    let names: Vec<&Value> = variables
        .expect("variables")
        .iter()
        .map(|variable| &variable["name"])
        .collect();
    assert_eq!(names, ["datasource", "instance", "operation"]);
}

#[test]
fn the_reference_names_every_metric() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/metrics.md"
    );
    let page = std::fs::read_to_string(path).expect("the page");
    let histograms: Vec<String> = series()
        .iter()
        .filter_map(|name| name.strip_suffix("_bucket").map(str::to_owned))
        .collect();
    for name in series() {
        let is_part = histograms.iter().any(|histogram| {
            name.strip_prefix(histogram.as_str())
                .is_some_and(|rest| ["_bucket", "_sum", "_count"].contains(&rest))
        });
        assert!(is_part || page.contains(&format!("`{name}`")), "{name}");
    }
}
