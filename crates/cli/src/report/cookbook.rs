//! The table of `fleet cookbook`: what clients take of memory, beside what the original's took.

use crate::quantity::grouped;
use crate::report::parts::page::Page;
use crate::report::parts::table::{Column, Table};
use crate::report::parts::units::{load, micros};
use filestone_model::measure::RunRecord;

/// What one endpoint of LANforge took, a process each, in KiB: at 4 KiB a transfer, and at 1 MiB.
const ORIGINAL_KIB: [(u64, u64); 2] = [(4096, 10_400), (1 << 20, 11_600)];

/// A row for each record.
pub fn render(records: &[RunRecord], page: Page) -> String {
    let mut table = Table::new([
        Column::figure("CLIENTS"),
        Column::figure("SIZE"),
        Column::figure("OPS/S"),
        Column::figure("P99"),
        Column::figure("ERRORS"),
        Column::figure("BAD DATA"),
        Column::figure("MEMORY"),
        Column::figure("EACH"),
        Column::figure("THERE"),
    ]);
    for record in records {
        let Some(fleet) = &record.fleet else {
            continue;
        };
        let clients = u64::from(record.plan.clients);
        let peak = peak(record);
        let size = record.plan.fleet().map_or(0, |plan| plan.unit_max());
        let there = ORIGINAL_KIB.iter().find(|(bytes, _)| *bytes == size);
        let wrong: u64 = fleet
            .groups
            .iter()
            .map(|group| group.counters.checksum_errors)
            .sum();
        let errors: u64 = fleet.steps.iter().map(|step| step.errors).sum();
        table.row([
            grouped(clients),
            format!("{} KiB", size >> 10),
            load(record.totals.achieved_load_ops_per_s),
            micros(record.totals.response_time_ns.p99 as f64),
            grouped(errors),
            grouped(wrong),
            format!("{} KiB", grouped(peak >> 10)),
            each(records, record, size),
            there.map_or("-".into(), |(_, kib)| format!("{} KiB", grouped(*kib))),
        ]);
    }
    let legend = "MEMORY: the most that the load generator took, in all. EACH: what each client takes \
                  beyond those of the first row of its size, which have what all clients share. THERE: \
                  what a client of LANforge took, which was a process (cookbook \"Scalability Testing \
                  with NFS File-IO\").";
    format!("\n{}\n{}", table.render(page), page.prose(legend))
}

/// The most that was taken.
fn peak(record: &RunRecord) -> u64 {
    let steps = record.fleet.iter().flat_map(|fleet| &fleet.steps);
    steps.map(|step| step.memory_bytes).max().unwrap_or(0)
}

/// What each client takes beyond those of the first record of its size.
fn each(records: &[RunRecord], record: &RunRecord, size: u64) -> String {
    let is_alike = |other: &&RunRecord| {
        other
            .plan
            .fleet()
            .is_some_and(|plan| plan.unit_max() == size)
    };
    let first = records.iter().find(is_alike);
    let clients = first.map(|first| record.plan.clients.saturating_sub(first.plan.clients));
    match (first, clients) {
        (Some(first), Some(more)) if more > 0 => {
            let bytes = peak(record).saturating_sub(peak(first)) / u64::from(more);
            format!("{:.1} KiB", bytes as f64 / 1024.0)
        }
        _ => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;

    #[test]
    fn a_row_for_each_number_of_clients() {
        let (mut one, other) = (canned::fleet(), canned::fleet());
        one.plan.clients = 2;
        let steps = one.fleet.iter_mut().flat_map(|fleet| &mut fleet.steps);
        steps.for_each(|step| step.memory_bytes = 9 << 20);
        insta::assert_snapshot!(render(&[one, other], Page::default()));
    }
}
