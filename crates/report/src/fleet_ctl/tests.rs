//! Output of the command for hand-made replies.

use super::*;
use crate::document::page::PageWidth;
use filestone_measure::measure::fleet_record::{
    ChangeKind, FleetCounters, GroupRecord, LatencyBounds, SettingChange, StateCount,
};
use filestone_protocol::fleet_control::{GroupView, Refusal, SettingsView, SkippedClients};

const SECOND: u64 = 1_000_000_000;

fn shown(answer: &Answer) -> String {
    report(answer).text(PageWidth::default())
}

fn values(rate: &str) -> BTreeMap<String, String> {
    let values = [("rate", rate), ("file_size", "64KiB..1MiB"), ("files", "2")];
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    values.into_iter().map(owned).collect()
}

fn counters(reads: u64, writes: u64) -> FleetCounters {
    FleetCounters {
        reads,
        writes,
        bytes_read: 4096 * reads,
        bytes_written: 4096 * writes,
        files_read: reads / 250,
        files_written: writes / 250,
        failures: writes / 10_000,
        failing_ns: SECOND * (writes / 10_000),
        ..FleetCounters::default()
    }
}

fn at_most(counters: FleetCounters) -> Option<LatencyBounds> {
    let count = counters.reads + counters.writes;
    (count > 0).then_some(LatencyBounds {
        count,
        p50_ns: Some(96_000),
        p99_ns: Some(1_280_000),
    })
}

fn group(name: &str, states: &[(ClientState, u32)], counters: FleetCounters) -> GroupView {
    let state = |(state, clients): &(ClientState, u32)| StateCount {
        state: *state,
        clients: *clients,
    };
    let states: Vec<StateCount> = states.iter().map(state).collect();
    let clients = states.iter().map(|count| count.clients).sum();
    let settings = |clients, rate| SettingsView {
        clients,
        values: values(rate),
    };
    GroupView {
        record: GroupRecord {
            name: name.into(),
            clients,
            states,
            counters,
            read_bits_per_s: 8.0 * counters.bytes_read as f64 / 60.0,
            write_bits_per_s: 8.0 * counters.bytes_written as f64 / 60.0,
            read_bits_per_s_20s: 0.0,
            write_bits_per_s_20s: 1.25e6,
            response_time_buckets: at_most(counters),
            client_bytes_min: 0,
            client_bytes_max: 0,
        },
        settings: vec![settings(clients - 1, "5Mbit/s"), settings(1, "2.5Mbit/s")],
    }
}

fn client(number: u32, state: ClientState, counters: FleetCounters) -> ClientView {
    ClientView {
        client: number,
        name: format!("writers/{number}"),
        source: None,
        state,
        retries_until_ns: (state == ClientState::Failing).then_some(63 * SECOND),
        counters,
        bits_per_s: 8.0 * counters.bytes_written as f64 / 60.0,
        bits_per_s_20s: 1.25e6,
        response_time_buckets: at_most(counters),
        settings: None,
    }
}

#[test]
fn a_fleet_and_some_of_its_clients() {
    let states = [(ClientState::Running, 4998), (ClientState::Failing, 2)];
    let writers = group("writers", &states, counters(0, 1_200_000));
    let states = [(ClientState::Waiting, 10), (ClientState::Stopped, 4990)];
    let readers = group("readers", &states, counters(90_000, 0));
    let fleet = FleetView {
        name: "plan.toml".into(),
        now_ns: 60 * SECOND,
        changes: 1,
        all: GroupRecord::total(
            &[writers.record.clone(), readers.record.clone()],
            at_most(counters(90_000, 1_200_000)),
        ),
        groups: vec![writers, readers],
        clients: Some(ClientsView {
            all: 4998,
            window: vec![
                client(0, ClientState::Running, counters(0, 240)),
                client(17, ClientState::Failing, counters(0, 20_000)),
            ],
        }),
    };
    insta::assert_snapshot!(shown(&Answer::Fleet(Box::new(fleet))));
}

#[test]
fn one_group_and_one_client_with_their_settings() {
    let states = [(ClientState::Running, 12)];
    let group = group("writers", &states, counters(0, 3000));
    let client = ClientView {
        settings: Some(values("none")),
        ..client(7, ClientState::Quiescing, counters(0, 250))
    };
    let text =
        shown(&Answer::Group(Box::new(group))) + "\n" + &shown(&Answer::Client(Box::new(client)));
    insta::assert_snapshot!(text);
}

fn change() -> ChangeView {
    let setting = |key: &str, from: &str, to: &str, clients| SettingChange {
        key: key.into(),
        from: from.into(),
        to: to.into(),
        clients,
    };
    ChangeView {
        what: ChangeKind::Set,
        dry_run: false,
        number: Some(3),
        at_ns: 61 * SECOND / 2,
        named: 5000,
        changed: 4999,
        unchanged: vec![SkippedClients {
            clients: 1,
            why: "so already".into(),
        }],
        settings: vec![
            setting("rate", "5Mbit/s", "2.5Mbit/s", 4990),
            setting("rate", "none", "2.5Mbit/s", 9),
        ],
        holds: "from the next read or write on".into(),
    }
}

#[test]
fn a_change_one_that_is_only_asked_for_and_one_that_changes_nothing() {
    let made = change();
    let asked = ChangeView {
        dry_run: true,
        number: None,
        ..change()
    };
    let nothing = ChangeView {
        what: ChangeKind::Start,
        number: None,
        named: 2,
        changed: 0,
        unchanged: vec![SkippedClients {
            clients: 2,
            why: "gave up, and does not begin again in this run".into(),
        }],
        settings: vec![],
        holds: "at once".into(),
        ..change()
    };
    let texts = [made, asked, nothing].map(|change| shown(&Answer::Change(change)));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn what_is_refused_is_told_in_a_line() {
    let refusal = Refusal {
        what: "there is no group \"writer\"".into(),
        help: Some("did you mean writers?".into()),
    };
    assert_eq!(
        shown(&Answer::Refused(refusal)),
        "there is no group \"writer\"\n"
    );
}
