//! Replies of a running fleet, as tables.

use crate::document::Document;
use crate::document::table::{Column, Table};
use crate::fleet::{cells, states};
use crate::parts::units::at_most;
use crate::quantity::duration_text;
use filestone_measure::measure::fleet_record::{ClientState, GroupRecord};
use filestone_protocol::fleet_control::{Answer, ChangeView, ClientView, ClientsView, FleetView};
use filestone_workload::text::{bytes_text, counted, thousands};
use std::collections::BTreeMap;

/// Returns the reply.
pub fn report(answer: &Answer) -> Document {
    let document = Document::default();
    match answer {
        Answer::Fleet(fleet) => of_fleet(fleet),
        Answer::Group(group) => {
            let document = document.table(groups([&group.record]));
            group.settings.iter().fold(document, |document, view| {
                let clients = counted(view.clients.into(), "client");
                document
                    .paragraphs([format!("{clients} of them:")])
                    .facts(facts(&view.values))
            })
        }
        Answer::Client(client) => document
            .table(clients(std::slice::from_ref(client)))
            .facts(client.settings.iter().flat_map(facts)),
        Answer::Change(change) => document.prose(of_change(change)),
        Answer::Refused(refusal) => document.lines(format!("{}\n", refusal.what)),
    }
}

fn of_fleet(fleet: &FleetView) -> Document {
    let each = fleet.groups.iter().map(|group| &group.record);
    let all = (fleet.groups.len() > 1).then_some(&fleet.all);
    let listed = fleet.clients.as_ref();
    Document::default()
        .prose([format!(
            "{}, {} after its begin, changed {}",
            fleet.name,
            duration_text(fleet.now_ns),
            counted(fleet.changes.into(), "time")
        )])
        .tables([groups(each.chain(all))])
        .tables(listed.map(|listed| clients(&listed.window)))
        .prose(listed.and_then(others))
}

fn groups<'g>(groups: impl IntoIterator<Item = &'g GroupRecord>) -> Table {
    let mut table = Table::new([
        Column::text("group").at_least(14),
        Column::figure("CLIENTS"),
        Column::figure("READS"),
        Column::figure("WRITES"),
        Column::figure("FILES").gives_way(4),
        Column::figure("MBIT/S"),
        Column::figure("20 S").gives_way(3),
        Column::figure("P50 <").gives_way(1),
        Column::figure("P99 <").gives_way(5),
        Column::figure("BAD DATA").gives_way(2),
        Column::figure("FAILED"),
        Column::text("STATES"),
    ]);
    for group in groups {
        table.row(cells(group).into_iter().chain([states(group)]));
    }
    table
}

fn facts(values: &BTreeMap<String, String>) -> impl Iterator<Item = (&String, String)> {
    values.iter().map(|(key, value)| (key, value.clone()))
}

/// Says that more clients can be listed, if there are any.
fn others(listed: &ClientsView) -> Option<String> {
    let shown = listed.window.len() as u64;
    let all = u64::from(listed.all);
    (shown < all).then(|| {
        format!(
            "{} of {}; --first and --count list others",
            thousands(shown),
            counted(all, "client")
        )
    })
}

fn clients(clients: &[ClientView]) -> Table {
    let mut table = Table::new([
        Column::text("client").at_least(14),
        Column::text("STATE"),
        Column::figure("READS"),
        Column::figure("WRITES"),
        Column::figure("FILES"),
        Column::figure("BYTES"),
        Column::figure("MBIT/S"),
        Column::figure("20 S").gives_way(4),
        Column::figure("P50 <").gives_way(1),
        Column::figure("P99 <").gives_way(3),
        Column::figure("FAILED"),
        Column::figure("FAILING").gives_way(2),
    ]);
    for client in clients {
        let counters = &client.counters;
        let state: ClientState = client.state;
        let times = client.response_time_buckets;
        table.row([
            client.name.clone(),
            match client.retries_until_ns {
                Some(end) => format!("{}, until {}", state.name(), duration_text(end)),
                None => state.name().into(),
            },
            thousands(counters.reads),
            thousands(counters.writes),
            thousands(counters.files_read + counters.files_written),
            bytes_text(counters.bytes_read + counters.bytes_written),
            format!("{:.2}", client.bits_per_s / 1e6),
            format!("{:.2}", client.bits_per_s_20s / 1e6),
            at_most(times.and_then(|times| times.p50_ns)),
            at_most(times.and_then(|times| times.p99_ns)),
            thousands(counters.failures),
            duration_text(counters.failing_ns),
        ]);
    }
    table
}

fn of_change(change: &ChangeView) -> Vec<String> {
    let would = if change.dry_run {
        "would be told"
    } else {
        "told"
    };
    let changed = format!(
        "{}: {} of {} {would}, {}",
        change.what.name(),
        thousands(change.changed.into()),
        counted(change.named.into(), "client"),
        change.holds
    );
    let settings = change.settings.iter().map(|setting| {
        let clients = counted(setting.clients.into(), "client");
        format!(
            "{}: {} -> {}, {clients}",
            setting.key, setting.from, setting.to
        )
    });
    let unchanged = change.unchanged.iter();
    let unchanged =
        unchanged.map(|left| format!("{}: {}", counted(left.clients.into(), "client"), left.why));
    [changed]
        .into_iter()
        .chain(settings)
        .chain(unchanged)
        .collect()
}

#[cfg(test)]
mod tests;
