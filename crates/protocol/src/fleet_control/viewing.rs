//! Views of a running fleet.

use super::controlled::FleetState;
use super::selection::{clients_of, matches, name_of};
use super::{
    Answer, ClientOrder, ClientPage, ClientView, ClientsView, FleetView, GroupView, ListRequest,
    Refusal, SettingsView, WINDOW_MAX,
};
use crate::workload::stream::{ClientStats, TimesCounted};
use filestone_measure::measure::fleet_record::{FleetCounters, GroupRecord};
use filestone_plan::fleet::SETTINGS;
use filestone_plan::plan::GroupPlan;
use filestone_workload::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

pub(super) fn list(fleet: &FleetState<'_>, request: &ListRequest) -> Result<Answer, Refusal> {
    let wanted = request.clients.as_ref();
    let clients = wanted.map(|wanted| window(fleet, wanted)).transpose()?;
    let groups = (fleet.groups)();
    let mut times = TimesCounted::default();
    let gauges = fleet.shared.gauges().iter();
    gauges.for_each(|gauge| gauge.add_times(&mut times));
    let all = GroupRecord::total(&groups, times.record());
    let groups = groups.into_iter().enumerate();
    Ok(Answer::Fleet(Box::new(FleetView {
        name: fleet.shared.plan().name.clone(),
        now_ns: fleet.now.nanos(),
        changes: fleet.changes,
        all,
        groups: groups
            .map(|(place, record)| group_view(fleet, place, record))
            .collect(),
        clients,
    })))
}

pub(super) fn show(fleet: &FleetState<'_>, which: &str) -> Result<Answer, Refusal> {
    let plan = fleet.shared.plan();
    let place = plan.groups.iter().position(|group| group.name == which);
    let record = place.and_then(|place| {
        let record = (fleet.groups)().into_iter().nth(place)?;
        Some(group_view(fleet, place, record))
    });
    if let Some(view) = record {
        return Ok(Answer::Group(Box::new(view)));
    }
    let clients = clients_of(which, plan)?;
    let [client] = clients.as_slice() else {
        let many = clients.len();
        return Err(
            Refusal::new(format!("\"{which}\" are {many} clients; one can be shown"))
                .with_help("list --clients lists several"),
        );
    };
    let settings = fleet.shared.gauges().get(*client as usize);
    let settings = settings.and_then(|gauge| fleet.shared.settings(gauge.orders().settings));
    let settings = settings.map(|settings| values(&settings.group));
    Ok(Answer::Client(Box::new(ClientView {
        settings,
        ..client_view(fleet, *client)
    })))
}

fn values(group: &GroupPlan) -> BTreeMap<String, String> {
    let value =
        |setting: &filestone_plan::fleet::Setting| (setting.key.to_owned(), setting.show(group));
    SETTINGS.iter().map(value).collect()
}

fn group_view(fleet: &FleetState<'_>, place: usize, record: GroupRecord) -> GroupView {
    let shared = fleet.shared;
    let first = shared.plan().first_of(place) as usize;
    let gauges = shared.gauges().get(first..first + record.clients as usize);
    let mut counts = BTreeMap::new();
    for gauge in gauges.unwrap_or_default() {
        *counts.entry(gauge.orders().settings).or_insert(0) += 1;
    }
    let view = |(place, clients): (u32, u32)| {
        let settings = shared.settings(place)?;
        let values = values(&settings.group);
        Some(SettingsView { clients, values })
    };
    let mut settings: Vec<SettingsView> = counts.into_iter().filter_map(view).collect();
    settings.sort_by_key(|view| Reverse(view.clients));
    GroupView { record, settings }
}

fn window(fleet: &FleetState<'_>, wanted: &ClientPage) -> Result<ClientsView, Refusal> {
    let plan = fleet.shared.plan();
    let gauges = fleet.shared.gauges();
    let mut clients = match &wanted.which {
        Some(which) => clients_of(which, plan)?,
        None => (0..plan.clients()).collect(),
    };
    let counters = |client: &u32| {
        let gauge = gauges.get(*client as usize);
        gauge
            .map(|gauge| gauge.counters(fleet.now))
            .unwrap_or_default()
    };
    clients.retain(|client| is_wanted(fleet, wanted, *client));
    match wanted.order {
        ClientOrder::Number => {}
        ClientOrder::State => clients.sort_by_key(|client| {
            let gauge = gauges.get(*client as usize);
            gauge.map(|gauge| gauge.state() as u8)
        }),
        ClientOrder::Bytes => clients.sort_by_cached_key(|client| {
            let counters = counters(client);
            counters.bytes_read + counters.bytes_written
        }),
        ClientOrder::Failures => {
            clients.sort_by_cached_key(|client| Reverse(failures_of(&counters(client))));
        }
        ClientOrder::Rate => {
            clients.sort_by_cached_key(|client| recent_bits_per_s(fleet, *client) as u64);
        }
        ClientOrder::Address => {
            clients.sort_by_cached_key(|client| source_of(fleet, *client));
        }
    }
    if wanted.reversed {
        clients.reverse();
    }
    let count = wanted.count.unwrap_or(WINDOW_MAX).min(WINDOW_MAX);
    let shown = clients.iter().skip(wanted.first as usize);
    Ok(ClientsView {
        all: clients.len() as u32,
        window: shown
            .take(count as usize)
            .map(|client| client_view(fleet, *client))
            .collect(),
    })
}

/// Returns whether a client matches all filters.
fn is_wanted(fleet: &FleetState<'_>, wanted: &ClientPage, client: u32) -> bool {
    let gauge = fleet.shared.gauges().get(client as usize);
    let is_state = |state| gauge.is_some_and(|gauge| gauge.state() == state);
    let has_failed = || gauge.is_some_and(|gauge| failures_of(&gauge.counters(fleet.now)) > 0);
    let is_address = |pattern: &String| {
        let source = source_of(fleet, client).map(|source| source.to_string());
        source.is_some_and(|source| matches(pattern, &source))
    };
    wanted.state.is_none_or(is_state)
        && wanted.failing.is_none_or(|failing| failing == has_failed())
        && wanted
            .rate_min
            .is_none_or(|least| recent_bits_per_s(fleet, client) >= least)
        && wanted
            .rate_max
            .is_none_or(|most| recent_bits_per_s(fleet, client) <= most)
        && wanted.address.as_ref().is_none_or(is_address)
}

const fn failures_of(counters: &FleetCounters) -> u64 {
    counters.failures + counters.checksum_errors
}

/// Returns the source address of a client, if the plan names one.
fn source_of(fleet: &FleetState<'_>, client: u32) -> Option<IpAddr> {
    let member = fleet.shared.plan().member(client)?;
    member.group.sources.of_client(member.number)
}

/// Returns the bits read and written per second in the last 16 to 20 s.
fn recent_bits_per_s(fleet: &FleetState<'_>, client: u32) -> f64 {
    let gauge = fleet.shared.gauges().get(client as usize);
    let bytes = gauge.map_or(0, ClientStats::data_bytes);
    let since = fleet.earlier.map_or(Timestamp::ZERO, |earlier| earlier.at);
    let earlier = fleet
        .earlier
        .and_then(|earlier| earlier.of_clients.get(client as usize));
    let earlier = earlier.copied().unwrap_or(0);
    bits_per_s(bytes.saturating_sub(earlier), fleet.now.nanos_since(since))
}

fn client_view(fleet: &FleetState<'_>, client: u32) -> ClientView {
    let gauge = fleet.shared.gauges().get(client as usize);
    let counters = gauge.map(|gauge| gauge.counters(fleet.now));
    let counters = counters.unwrap_or_default();
    let bytes = counters.bytes_read + counters.bytes_written;
    let mut times = TimesCounted::default();
    if let Some(gauge) = gauge {
        gauge.add_times(&mut times);
    }
    ClientView {
        client,
        name: name_of(client, fleet.shared.plan()),
        source: source_of(fleet, client).map(|source| source.to_string()),
        state: gauge.map_or(
            filestone_measure::measure::fleet_record::ClientState::Failed,
            |gauge| gauge.state(),
        ),
        retries_until_ns: gauge
            .and_then(ClientStats::retries_until)
            .map(Timestamp::nanos),
        counters,
        bits_per_s: bits_per_s(bytes, fleet.now.nanos()),
        bits_per_s_20s: recent_bits_per_s(fleet, client),
        response_time_buckets: times.record(),
        settings: None,
    }
}

fn bits_per_s(bytes: u64, nanos: u64) -> f64 {
    match nanos {
        0 => 0.0,
        nanos => 8e9 * bytes as f64 / nanos as f64,
    }
}
