//! Which clients a window has: what is filtered, and in which order.

use filestone_plan::plan::{
    Direction, FleetPlan, GroupPlan, HealthPlan, LeftoverPolicy, LocalTarget, Plan, TargetPlan,
    WorkloadPlan,
};
use filestone_protocol::fleet_control::{
    Answer, ByteSnapshot, ClientOrder, ClientPage, ClientsView, ControlRequest, FleetRequest,
    FleetState, ListRequest, answer,
};
use filestone_protocol::workload::stream::SharedFleet;
use filestone_workload::time::Timestamp;

/// Four writers with addresses of their own, and two readers without.
fn fleet() -> SharedFleet {
    let writers = GroupPlan {
        sources: "10.9.0.1-10.9.0.2,10.8.0.7".parse().expect("addresses"),
        ..GroupPlan::new("writers", 4, Direction::Write)
    };
    let fleet = FleetPlan {
        name: "six".into(),
        groups: vec![writers, GroupPlan::new("readers", 2, Direction::Read)],
        more_targets: vec![],
        ramp: None,
        health: HealthPlan::default(),
        clients_per_thread: 1,
        left_over: LeftoverPolicy::default(),
        keep_files: false,
    };
    let target = TargetPlan::Local(LocalTarget { directory: None });
    let workload = WorkloadPlan::Fleet(Box::new(fleet.clone()));
    SharedFleet::new(&Plan::new("fleet", target, workload, 1), &fleet)
}

fn window(wanted: ClientPage) -> ClientsView {
    let shared = fleet();
    let earlier = ByteSnapshot::now(&shared, Timestamp::ZERO);
    let fleet = FleetState {
        shared: &shared,
        now: Timestamp::from_nanos(1_000_000_000),
        is_over: false,
        changes: 0,
        earlier: Some(&earlier),
        groups: &Vec::new,
    };
    let clients = Some(wanted);
    let request = ControlRequest::new(FleetRequest::List(ListRequest { clients }));
    match answer(&fleet, &request.to_line()).0.answer {
        Answer::Fleet(view) => view.clients.expect("they were asked for"),
        other => panic!("{other:?}"),
    }
}

fn numbers(wanted: ClientPage) -> Vec<u32> {
    let window = window(wanted).window;
    window.iter().map(|client| client.client).collect()
}

#[test]
fn clients_are_filtered_by_address_rate_and_failures() {
    let address = |pattern: &str| ClientPage {
        address: Some(pattern.into()),
        ..ClientPage::default()
    };
    // Three addresses in turn.
    assert_eq!(numbers(address("10.9.*")), [0, 1, 3]);
    assert_eq!(numbers(address("10.8.0.7")), [2]);
    assert!(numbers(address("10.8.0")).is_empty());
    let rate = |least, most| ClientPage {
        rate_min: least,
        rate_max: most,
        ..ClientPage::default()
    };
    // Nobody has moved anything.
    assert!(numbers(rate(Some(1.0), None)).is_empty());
    assert_eq!(numbers(rate(None, Some(0.0))).len(), 6);
    let failing = |failing| ClientPage {
        failing: Some(failing),
        ..ClientPage::default()
    };
    assert!(numbers(failing(true)).is_empty());
    assert_eq!(numbers(failing(false)).len(), 6);
}

#[test]
fn clients_are_ordered_by_address_and_the_other_way_round() {
    let ordered = |order, reversed| ClientPage {
        order,
        reversed,
        ..ClientPage::default()
    };
    // Those without an address first.
    assert_eq!(
        numbers(ordered(ClientOrder::Address, false)),
        [4, 5, 2, 0, 3, 1]
    );
    assert_eq!(
        numbers(ordered(ClientOrder::Number, true)),
        [5, 4, 3, 2, 1, 0]
    );
    let first = window(ClientPage::default());
    assert_eq!(first.window[2].source.as_deref(), Some("10.8.0.7"));
    assert_eq!((first.all, first.window[4].source.as_deref()), (6, None));
}
