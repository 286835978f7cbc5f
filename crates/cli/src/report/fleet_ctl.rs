//! Replies of a running fleet, as tables.

use crate::quantity::{bytes_text, duration_text, grouped};
use crate::report::parts::page::Page;
use crate::report::parts::table::{Column, Table};
use crate::report::parts::units::{at_most, counted};
use filestone_measure::measure::fleet_record::{ClientState, GroupRecord};
use filestone_protocol::fleet_control::{
    Answer, ChangeView, ClientView, ClientsView, FleetView, GroupView,
};
use std::collections::BTreeMap;

/// Renders the reply.
pub fn render(answer: &Answer, page: Page) -> String {
    match answer {
        Answer::Fleet(fleet) => fleet_text(fleet, page),
        Answer::Group(group) => groups([&group.record], page) + &settings(group, page),
        Answer::Client(client) => {
            let of_client = client.settings.as_ref();
            clients(std::slice::from_ref(client), page)
                + &of_client.map_or(String::new(), |values| values_text(values, page))
        }
        Answer::Change(change) => change_text(change, page),
        Answer::Refused(refusal) => format!("{}\n", refusal.what),
    }
}

fn fleet_text(fleet: &FleetView, page: Page) -> String {
    let mut text = page.prose(&format!(
        "{}, {} after its begin, changed {}",
        fleet.name,
        duration_text(fleet.now_ns),
        counted(fleet.changes.into(), "time")
    ));
    text.push('\n');
    let each = fleet.groups.iter().map(|group| &group.record);
    let all = (fleet.groups.len() > 1).then_some(&fleet.all);
    text.push_str(&groups(each.chain(all), page));
    if let Some(listed) = &fleet.clients {
        text.push('\n');
        text.push_str(&clients_text(listed, page));
    }
    text
}

fn groups<'g>(groups: impl IntoIterator<Item = &'g GroupRecord>, page: Page) -> String {
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
    for record in groups {
        let counters = &record.counters;
        let times = record.response_time_at_most;
        let states: Vec<String> = record
            .states
            .iter()
            .map(|count| format!("{} {}", grouped(count.clients.into()), count.state.name()))
            .collect();
        table.row([
            record.name.clone(),
            grouped(record.clients.into()),
            grouped(counters.reads),
            grouped(counters.writes),
            grouped(counters.files_read + counters.files_written),
            format!(
                "{:.2}",
                (record.read_bits_per_s + record.write_bits_per_s) / 1e6
            ),
            format!(
                "{:.2}",
                (record.read_bits_per_s_20s + record.write_bits_per_s_20s) / 1e6
            ),
            at_most(times.and_then(|times| times.p50_ns)),
            at_most(times.and_then(|times| times.p99_ns)),
            grouped(counters.checksum_errors),
            grouped(counters.failures),
            states.join(", "),
        ]);
    }
    table.render(page)
}

fn settings(group: &GroupView, page: Page) -> String {
    let mut text = String::new();
    for view in &group.settings {
        text.push('\n');
        text.push_str(&page.prose(&format!(
            "{} of them:",
            counted(view.clients.into(), "client")
        )));
        text.push_str(&values_text(&view.values, page));
    }
    text
}

fn values_text(values: &BTreeMap<String, String>, page: Page) -> String {
    page.facts(values.iter().map(|(key, value)| (key, value.clone())))
}

fn clients_text(listed: &ClientsView, page: Page) -> String {
    let mut text = clients(&listed.window, page);
    let shown = listed.window.len() as u64;
    if shown < u64::from(listed.all) {
        text.push_str(&page.prose(&format!(
            "{} of {}; --first and --count list others",
            grouped(shown),
            counted(listed.all.into(), "client")
        )));
    }
    text
}

fn clients(clients: &[ClientView], page: Page) -> String {
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
        let times = client.response_time_at_most;
        table.row([
            client.name.clone(),
            match client.retries_until_ns {
                Some(end) => format!("{}, until {}", state.name(), duration_text(end)),
                None => state.name().into(),
            },
            grouped(counters.reads),
            grouped(counters.writes),
            grouped(counters.files_read + counters.files_written),
            bytes_text(counters.bytes_read + counters.bytes_written),
            format!("{:.2}", client.bits_per_s / 1e6),
            format!("{:.2}", client.bits_per_s_20s / 1e6),
            at_most(times.and_then(|times| times.p50_ns)),
            at_most(times.and_then(|times| times.p99_ns)),
            grouped(counters.failures),
            duration_text(counters.failing_ns),
        ]);
    }
    table.render(page)
}

fn change_text(change: &ChangeView, page: Page) -> String {
    let would = if change.dry_run {
        "would be told"
    } else {
        "told"
    };
    let mut text = page.prose(&format!(
        "{}: {} of {} {would}, {}",
        change.what.name(),
        grouped(change.changed.into()),
        counted(change.named.into(), "client"),
        change.holds
    ));
    for setting in &change.settings {
        text.push_str(&page.prose(&format!(
            "{}: {} -> {}, {}",
            setting.key,
            setting.from,
            setting.to,
            counted(setting.clients.into(), "client")
        )));
    }
    for left in &change.unchanged {
        text.push_str(&page.prose(&format!(
            "{}: {}",
            counted(left.clients.into(), "client"),
            left.why
        )));
    }
    text
}

#[cfg(test)]
mod tests;
