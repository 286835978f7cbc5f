//! Tests of request execution.

use super::*;
use crate::workload::stream::{DesiredState, SharedFleet};
use filestone_plan::examples::pairs;
use filestone_plan::plan::{LocalTarget, Plan, TargetPlan, ValueRange, WorkloadPlan};
use filestone_workload::time::Timestamp;

fn shared() -> SharedFleet {
    let fleet = pairs();
    let directory = Some("/x".into());
    let target = TargetPlan::Local(LocalTarget { directory });
    let workload = WorkloadPlan::Fleet(Box::new(fleet.clone()));
    SharedFleet::new(&Plan::new("fleet", target, workload, 7), &fleet)
}

fn ask(shared: &SharedFleet, line: &str) -> Answer {
    let fleet = FleetState {
        shared,
        now: Timestamp::from_nanos(2_000_000_000),
        is_over: false,
        changes: 3,
        earlier: None,
        groups: &Vec::<GroupRecord>::new,
    };
    answer(&fleet, line.as_bytes()).0.answer
}

fn change(shared: &SharedFleet, request: &str) -> ChangeView {
    let line = format!("{{\"version\":1,\"request\":{request}}}");
    match ask(shared, &line) {
        Answer::Change(view) => view,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rate_is_set_for_a_range_and_every_other_setting_stays() {
    let shared = shared();
    let set = |dry_run| {
        let request = format!(
            "{{\"set\":{{\"which\":\"writers[0..1],readers\",\"settings\":{{\"rate\":\"5ops/s\"}},\
             \"dry_run\":{dry_run}}}}}"
        );
        change(&shared, &request)
    };
    let dry = set(true);
    assert_eq!((dry.named, dry.changed, dry.number), (6, 6, None));
    assert_eq!(shared.gauges()[0].orders().settings, 0);
    assert_eq!(shared.control_epoch().now(), 0);
    let view = set(false);
    assert_eq!(
        (view.changed, view.number, view.at_ns),
        (6, Some(4), 2_000_000_000)
    );
    assert_eq!(view.holds, "from the next read or write on");
    assert_eq!(
        view.settings,
        [SettingChange {
            key: "rate".into(),
            from: "none".into(),
            to: "5ops/s".into(),
            clients: 6,
        }]
    );
    assert_eq!(shared.control_epoch().now(), 1);
    let settings = shared.gauges()[1].orders().settings;
    let group = &shared.settings(settings).expect("they are there").group;
    assert_eq!(group.rate.map(|rate| rate.per_s.min), Some(5.0));
    assert_eq!(shared.gauges()[2].orders().settings, 0);
    // A second time it changes nothing.
    let again = set(false);
    assert_eq!((again.changed, again.number), (0, None));
    assert_eq!(again.unchanged[0].why, "so already");
}

#[test]
fn clients_are_told_to_stop_and_to_begin_again_and_why_they_are_not() {
    let shared = shared();
    let stop = change(&shared, r#"{"stop":{"which":"writers[0..1]"}}"#);
    assert_eq!((stop.changed, stop.number), (2, Some(4)));
    let quiesce = change(&shared, r#"{"quiesce":{"which":"writers"}}"#);
    assert_eq!((quiesce.named, quiesce.changed), (4, 2));
    assert_eq!(quiesce.unchanged[0].why, "told to stop already");
    let start = change(&shared, r#"{"start":{"which":"all"}}"#);
    assert_eq!((start.named, start.changed), (8, 4));
    let told = |client: usize| shared.gauges()[client].orders();
    assert_eq!((told(0).command, told(0).number), (DesiredState::Run, 2));
    assert_eq!((told(5).command, told(5).number), (DesiredState::Run, 0));
}

#[test]
fn whatever_is_no_request_is_refused_and_changes_nothing() {
    let shared = shared();
    for (line, wanted) in [
        ("", "it is no request"),
        ("\u{1}\u{2}", "it is no request"),
        (
            r#"{"version":2,"request":{"list":{}}}"#,
            "version 2 of the protocol",
        ),
        (
            r#"{"version":1,"request":{"lust":{}}}"#,
            "it is no request: unknown variant",
        ),
        (
            r#"{"version":1,"request":{"stop":{"who":"all"}}}"#,
            "it is no request: unknown field",
        ),
        (
            r#"{"version":1,"request":{"stop":{"which":"nobody"}}}"#,
            "there is no group \"nobody\"",
        ),
        (
            r#"{"version":1,"request":{"set":{"which":"writers","settings":{"read_size":"4K"}}}}"#,
            "read_size: group \"writers\" reads nothing",
        ),
        (
            r#"{"version":1,"request":{"set":{"which":"readers","settings":{"count":"9"}}}}"#,
            "count cannot be changed",
        ),
        (
            r#"{"version":1,"request":{"set":{"which":"readers","settings":{}}}}"#,
            "nothing is to be changed",
        ),
    ] {
        let Answer::Refused(refusal) = ask(&shared, line) else {
            panic!("{line}");
        };
        assert!(refusal.what.starts_with(wanted), "{}", refusal.what);
    }
    assert_eq!(shared.control_epoch().now(), 0);
}

#[test]
fn clients_are_listed_in_windows() {
    let shared = shared();
    let line = r#"{"version":1,"id":9,"request":{"list":{"clients":{"which":"readers","first":1,"count":2}}}}"#;
    let Answer::Fleet(view) = ask(&shared, line) else {
        panic!("a fleet");
    };
    let clients = view.clients.expect("they were asked for");
    let names: Vec<&str> = clients
        .window
        .iter()
        .map(|client| client.name.as_str())
        .collect();
    assert_eq!((clients.all, names), (4, vec!["readers/1", "readers/2"]));
    assert_eq!((view.changes, view.now_ns), (3, 2_000_000_000));
    let line = r#"{"version":1,"request":{"show":{"which":"writers/3"}}}"#;
    let Answer::Client(client) = ask(&shared, line) else {
        panic!("a client");
    };
    let settings = client.settings.expect("of one client");
    assert_eq!(settings["write_size"], "4KiB");
    // A written line parses to the same value.
    let answer = ControlAnswer::new(Some(9), Answer::Client(client_again(&shared)));
    assert_eq!(ControlAnswer::from_line(&answer.to_line()), Ok(answer));
}

fn client_again(shared: &SharedFleet) -> Box<ClientView> {
    match ask(
        shared,
        r#"{"version":1,"request":{"show":{"which":"readers/0"}}}"#,
    ) {
        Answer::Client(client) => client,
        other => panic!("{other:?}"),
    }
}

proptest::proptest! {
    #[test]
    fn any_line_is_answered(line in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let shared = shared();
        let fleet = FleetState {
            shared: &shared,
            now: Timestamp::ZERO,
            is_over: false,
            changes: 0,
            earlier: None,
            groups: &Vec::<GroupRecord>::new,
        };
        let (answer, change) = answer(&fleet, &line);
        assert!(change.is_none());
        assert!(answer.to_line().ends_with(b"\n"));
    }
}

#[test]
fn sizes_of_reads_and_writes_are_set_for_groups_of_both_directions_at_once() {
    let shared = shared();
    let sizes = "{\"read_size\":\"1MiB\",\"write_size\":\"1MiB\"}";
    let of = |which: &str, settings: &str| {
        format!("{{\"set\":{{\"which\":\"{which}\",\"settings\":{settings}}}}}")
    };
    let view = change(&shared, &of("all", sizes));
    assert_eq!((view.named, view.changed), (8, 8));
    let keys: Vec<(&str, u32)> = view
        .settings
        .iter()
        .map(|setting| (setting.key.as_str(), setting.clients))
        .collect();
    assert_eq!(keys, [("write_size", 4), ("read_size", 4)]);
    let group = |client: usize| {
        let settings = shared.gauges()[client].orders().settings;
        shared
            .settings(settings)
            .expect("they are there")
            .group
            .clone()
    };
    assert_eq!(group(0).write_size, ValueRange::always(1 << 20));
    assert_eq!(group(4).read_size, ValueRange::always(1 << 20));
    let view = change(&shared, &of("all", "{\"read_size\":\"2MiB\"}"));
    assert_eq!(view.unchanged[0].why, "its group has no use for it");
    // A value is refused where no client could use it.
    let line = format!("{{\"version\":1,\"request\":{}}}", of("readers", sizes));
    assert!(matches!(ask(&shared, &line), Answer::Refused(_)));
}
