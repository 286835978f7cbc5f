//! Table of `fleet cookbook`: memory per client, with the original's for comparison.

use crate::document::Document;
use crate::document::table::{Column, Table};
use crate::parts::units::{load, micros};
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_measure::measure::{RunRecord, validity};
use filestone_workload::recording::DistributionRecord;
use filestone_workload::text::thousands;

/// Transfer sizes that follow each other in a run, in bytes and in the format of settings.
pub const SIZES: [(u64, &str); 3] = [(4096, "4K"), (1 << 20, "1M"), (4096, "4K")];
/// Number of groups that are notified of each change of size.
const CHANGES_OF_SIZE: u32 = 2;
/// Memory of one endpoint of LANforge, a process each, in KiB: at 4 KiB a transfer, and at 1 MiB.
const ORIGINAL_KIB: [(u64, u64); 2] = [(4096, 10_400), (1 << 20, 11_600)];

/// A run at one number of clients.
#[derive(Debug, Clone)]
pub struct CookbookRow {
    /// Record of the run.
    pub record: RunRecord,
    /// Memory of the load generator at the end of each size, in bytes.
    pub memory_bytes: [u64; SIZES.len()],
}

/// Returns a line for each size of each run, and the reasons of runs that do not count.
pub fn report(rows: &[CookbookRow]) -> Document {
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
    for row in rows {
        let Some(fleet) = &row.record.fleet else {
            continue;
        };
        let groups = || fleet.groups.iter();
        let wrong: u64 = groups().map(|group| group.counters.checksum_errors).sum();
        let errors: u64 = groups().map(|group| group.counters.failures).sum();
        for (place, ((size, _), memory)) in (0_u32..).zip(SIZES.iter().zip(row.memory_bytes)) {
            let intervals = of_size(&row.record, place);
            let there = ORIGINAL_KIB.iter().find(|(bytes, _)| bytes == size);
            let is_first = place == 0;
            let of_run = |count: u64| {
                if is_first {
                    thousands(count)
                } else {
                    String::new()
                }
            };
            table.row([
                thousands(row.record.plan.clients.into()),
                format!("{} KiB", size >> 10),
                ops_per_s(&intervals).map_or("-".into(), load),
                p99(&intervals).map_or("-".into(), |nanos| micros(nanos as f64)),
                of_run(errors),
                of_run(wrong),
                taken(memory),
                each(rows, row, place as usize),
                there.map_or("-".into(), |(_, kib)| format!("{} KiB", thousands(*kib))),
            ]);
        }
    }
    let legend = "The size of transfers is changed while the clients run, to 1 MiB and back. MEMORY: what the \
                  load generator took at the end of a size, in all. EACH: what each client takes beyond those \
                  of the first run, which have what all clients share. THERE: what a client of LANforge took, \
                  which was a process (cookbook \"Scalability Testing with NFS File-IO\").";
    Document::default()
        .tables([table])
        .paragraphs(rows.iter().filter_map(does_not_count))
        .paragraphs([legend.into()])
}

/// Returns the note that a run does not count, with reasons.
fn does_not_count(row: &CookbookRow) -> Option<String> {
    let reasons = validity::reasons(&row.record).join("; ");
    let clients = thousands(row.record.plan.clients.into());
    (!validity::counts(&row.record))
        .then(|| format!("{clients} clients: does not count ({reasons})"))
}

/// Formats memory; `-` if a size was not used to its end.
fn taken(memory: u64) -> String {
    match memory >> 10 {
        0 => "-".into(),
        kib => format!("{} KiB", thousands(kib)),
    }
}

/// Returns the intervals during which all clients used the size at this position.
fn of_size(record: &RunRecord, place: u32) -> Vec<&IntervalRecord> {
    let is_of_size = |interval: &&IntervalRecord| {
        interval.phase == Phase::Measure
            && interval.settings.is_some_and(|settings| {
                settings.mixed_from.is_none() && settings.generation == place * CHANGES_OF_SIZE
            })
    };
    record.intervals.iter().filter(is_of_size).collect()
}

fn ops_per_s(intervals: &[&IntervalRecord]) -> Option<f64> {
    let nanos: u64 = intervals
        .iter()
        .map(|interval| interval.end_ns.saturating_sub(interval.start_ns))
        .sum();
    let ok: u64 = intervals.iter().map(|interval| interval.ledger.ok).sum();
    (nanos > 0).then(|| ok as f64 * 1e9 / nanos as f64)
}

fn p99(intervals: &[&IntervalRecord]) -> Option<u64> {
    let times: Vec<_> = intervals
        .iter()
        .filter_map(|interval| interval.response_time())
        .collect();
    let times: Vec<&DistributionRecord> = times.iter().map(|times| &**times).collect();
    let all = DistributionRecord::merged(&times).ok()?;
    (all.count > 0).then_some(all.p99)
}

/// Returns the memory per client beyond those of the first run, at the same position of its sizes.
fn each(rows: &[CookbookRow], row: &CookbookRow, place: usize) -> String {
    let memory = |row: &CookbookRow| row.memory_bytes.get(place).copied().unwrap_or(0);
    let first = rows.first();
    let more = first.map(|first| {
        let clients = row.record.plan.clients;
        clients.saturating_sub(first.record.plan.clients)
    });
    match (first, more) {
        (Some(first), Some(more)) if more > 0 && memory(row) > 0 && memory(first) > 0 => {
            let bytes = memory(row).saturating_sub(memory(first)) / u64::from(more);
            format!("{:.1} KiB", bytes as f64 / 1024.0)
        }
        _ => "-".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_measure::measure::fleet_record::SettingsGeneration;

    #[test]
    fn each_size_of_each_number_of_clients_has_a_line() {
        let row = |clients, kib: [u64; 3]| {
            let mut record = fixtures::fleet();
            record.plan.clients = clients;
            for (generation, interval) in [0, 2].into_iter().zip(&mut record.intervals) {
                interval.settings = Some(SettingsGeneration::new(generation, generation));
            }
            CookbookRow {
                record,
                memory_bytes: kib.map(|kib| kib << 10),
            }
        };
        let rows = [
            row(2, [9000, 11_000, 11_000]),
            row(100, [10_176, 111_352, 111_352]),
        ];
        let text = report(&rows).text(PageWidth::default());
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(" KiB")).collect();
        assert_eq!(lines.len(), 6, "{text}");
        // 1,176 KiB of 98 clients at 4 KiB, 100,352 KiB at 1 MiB.
        assert!(
            lines[3].contains("10,176 KiB") && lines[3].contains(" 12.0 KiB"),
            "{text}"
        );
        assert!(
            lines[4].contains("111,352 KiB") && lines[4].contains(" 1024.0 KiB"),
            "{text}"
        );
        assert!(
            lines[1].contains("1024 KiB") && lines[1].contains("11,600 KiB"),
            "{text}"
        );
        // The last size has no interval.
        assert!(lines[2].contains(" - "), "{text}");
    }

    #[test]
    fn a_run_that_does_not_count_is_said_with_the_reason() {
        let row = |clients| {
            let mut record = fixtures::fleet();
            record.plan.clients = clients;
            CookbookRow {
                record,
                memory_bytes: [9000 << 10, 0, 0],
            }
        };
        let mut rows = [row(2), row(100)];
        let text = report(&rows).text(PageWidth::default());
        assert!(!text.contains("does not count"), "{text}");
        let ledger = &mut rows[1].record.totals.ledger;
        ledger.failed += ledger.ok;
        ledger.ok = 0;
        let text = report(&rows).text(PageWidth::default());
        assert!(
            text.contains("\n100 clients: does not count (nothing succeeded)\n"),
            "{text}"
        );
        assert!(!text.contains("\n2 clients: "), "{text}");
        // The run did not reach its second size.
        assert!(!text.contains(" 0 KiB"), "{text}");
    }
}
