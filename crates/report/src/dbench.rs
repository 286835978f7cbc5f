//! Output of dbench: the row of every second, the table of operations, the line that scripts parse.
//! The format equals dbench's, byte by byte; the values match their labels where dbench's did not:
//!
//! - the throughput is file data of the measured window over its length; dbench repeated the last
//!   row, and its machine-readable form always printed 0;
//! - `max_latency` is the longest response time in the window, excluding pauses;
//! - bytes of a client are those of the window.

use crate::parts::kinds::measured;
use crate::quantity::{plain, without_zeros};
use crate::rows::{ProgressRow, is_printed};
use filestone_measure::measure::progress::{Progress, ProgressPhase};
use filestone_measure::measure::replay_record::{ClientRecord, ReplayRecord};
use filestone_measure::measure::{RunRecord, validity};
use filestone_plan::plan::ReplayPlan;
use filestone_workload::load::Generation;
use filestone_workload::load::verb::{table_order, word_of};
use filestone_workload::operation::OpKind;

/// Version whose format is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DbenchFormat {
    /// dbench 3 and 4.0, as packaged by Debian.
    Four,
    /// dbench 5.0.
    Five,
    /// dbench 5.0 with `--machine-readable`.
    Machine,
}

/// Returns the formatter of a replay's rows.
pub fn rows(form: DbenchFormat) -> ProgressRow {
    Box::new(move |progress| row(form, progress))
}

/// Formats the row of a second; `None` during the first second of a phase.
pub fn row(form: DbenchFormat, progress: &Progress) -> Option<String> {
    if !is_printed(progress) {
        return None;
    }
    let Progress {
        phase,
        clients,
        line,
        seconds,
        ..
    } = *progress;
    let rate = progress.bytes_per_s / 1e6;
    let latency = millis(progress.latency_max_ns as f64);
    if form == DbenchFormat::Machine {
        let phase = match phase {
            ProgressPhase::WarmUp => 'W',
            ProgressPhase::Execute => 'R',
            ProgressPhase::CleanUp => 'C',
        };
        let whole = seconds.floor();
        return Some(format!(
            "@{phase}@{clients}@{line}@{rate:.2}@{whole:.0}@{latency:.3}@\n"
        ));
    }
    let phase = match phase {
        ProgressPhase::WarmUp => "warmup",
        ProgressPhase::Execute => "execute",
        ProgressPhase::CleanUp => {
            return Some(format!("{clients:>4}  cleanup {seconds:>3.0} sec\n"));
        }
    };
    Some(format!(
        "{clients:>4}  {line:>8}  {rate:>7.2} MB/sec  {phase} {seconds:>3.0} sec  \
         latency {latency:.3} ms\n"
    ))
}

/// A row of a table.
struct Row {
    kind: OpKind,
    count: u64,
    mean_ns: f64,
    max_ns: u64,
}

/// Formats the table of all clients' operations.
pub fn table(form: DbenchFormat, record: &RunRecord, replay: &ReplayPlan) -> String {
    let rows: Vec<Row> = measured(record)
        .map(|kind| Row {
            kind: kind.operation,
            count: kind.service_time_ns.count,
            mean_ns: kind.service_time_ns.mean,
            max_ns: kind.service_time_ns.max,
        })
        .collect();
    table_of(form, rows, replay)
}

/// Formats `Per client results:` and a table for each.
pub fn per_client(form: DbenchFormat, record: &ReplayRecord, replay: &ReplayPlan) -> String {
    let mut text = String::from("Per client results:\n");
    for client in &record.clients {
        text.push_str(&format!(
            "Client {} did {} lines and {} bytes\n",
            client.client, client.lines, client.data_bytes_in_window
        ));
        text.push_str(&table_of(form, rows_of(client), replay));
    }
    text
}

fn rows_of(client: &ClientRecord) -> Vec<Row> {
    let kinds = client.kinds.iter();
    kinds
        .map(|kind| Row {
            kind: kind.operation,
            count: kind.count,
            mean_ns: kind.service_time_mean_ns,
            max_ns: kind.service_time_max_ns,
        })
        .collect()
}

fn table_of(form: DbenchFormat, mut rows: Vec<Row>, replay: &ReplayPlan) -> String {
    let width = match form {
        DbenchFormat::Four => 12,
        DbenchFormat::Five | DbenchFormat::Machine => 22,
    };
    rows.retain(|row| row.count > 0);
    rows.sort_by_key(|row| place(form, replay, row.kind));
    let header = format!(
        " {:<width$} {:>7} {:>9} {:>9}",
        "Operation", "Count", "AvgLat", "MaxLat"
    );
    let mut text = format!("{header}\n {}\n", "-".repeat(header.len() - 1));
    for row in rows {
        let name = spelling(form, replay, row.kind);
        let (mean, max) = (millis(row.mean_ns), millis(row.max_ns as f64));
        text.push_str(&match form {
            DbenchFormat::Machine => format!(":{name}:{}:{mean:.3}:{max:.3}:\n", row.count),
            DbenchFormat::Four | DbenchFormat::Five => {
                format!(" {name:<width$} {:>7} {mean:>9.3} {max:>9.3}\n", row.count)
            }
        });
    }
    text.push('\n');
    text
}

/// Formats the line that scripts take for a result; empty for a run that does not count.
pub fn throughput(form: DbenchFormat, record: &RunRecord, replay: &ReplayPlan) -> String {
    if !validity::counts(record) {
        return String::new();
    }
    let rate = general(megabytes_per_second(record));
    let clients = record.plan.clients;
    let threads = record.replay.as_ref().map_or(0, |replay| replay.threads);
    let latency = millis(record.totals.response_time_ns.max as f64);
    if form == DbenchFormat::Machine {
        return format!(";{rate};{clients};{threads};{latency:.3};\n");
    }
    let note = |is_set, text| if is_set { text } else { "" };
    format!(
        "Throughput {rate} MB/sec{}{}{}  {clients} clients  {threads} procs  \
         max_latency={latency:.3} ms\n",
        netbench_note(record, replay),
        note(replay.local.sync, " (sync open)"),
        note(replay.local.sync_directories, " (sync dirs)"),
    )
}

/// Returns the text that dbench 1 printed behind its MB/sec, for its load files.
fn netbench_note(record: &RunRecord, replay: &ReplayPlan) -> String {
    if is_of_dbench_1(replay) {
        format!(" ({})", netbench_scale(megabytes_per_second(record)))
    } else {
        String::new()
    }
}

/// Whether the plan has a load file of dbench 1.
pub fn is_of_dbench_1(replay: &ReplayPlan) -> bool {
    let mut loads = replay.loads.iter();
    loads.any(|load| load.generation == Generation::Dbench1)
}

/// Returns dbench 1's figures for a rate in MB/s: its constants come from one sniffed run of two
/// clients, 660 s and 4 Mbit/s.
pub fn netbench_scale(rate: f64) -> String {
    let (scaled, bits) = (general(1.25 * rate), general(10.0 * rate));
    format!("NB={scaled} MB/sec  {bits} MBit/sec")
}

/// Returns file data of the window per second, in 10^6 bytes.
pub fn megabytes_per_second(record: &RunRecord) -> f64 {
    let moved = record.replay.as_ref().map_or(0, |replay| {
        replay.bytes_written.saturating_add(replay.bytes_read)
    });
    moved as f64 * 1e3 / record.window_ns.max(1) as f64
}

/// Returns the grammar that decides the spelling of a kind: that of the first load file that has
/// the kind, so that each load file of a mixture keeps its spelling.
fn generation_of(replay: &ReplayPlan, kind: OpKind) -> Generation {
    let loads = || replay.loads.iter().map(|load| load.generation);
    let has_kind = |generation: &Generation| table_order(*generation).contains(&kind);
    loads()
        .find(has_kind)
        .or_else(|| loads().next())
        .unwrap_or(Generation::Cifs)
}

/// Returns the load file's name of a kind of operation; dbench 4.0's table has different names.
pub fn spelling(form: DbenchFormat, replay: &ReplayPlan, kind: OpKind) -> &'static str {
    match (form, kind) {
        (DbenchFormat::Four, OpKind::QueryPathInformation) => "Qpathinfo",
        (DbenchFormat::Four, OpKind::QueryFileInformation) => "Qfileinfo",
        (DbenchFormat::Four, OpKind::QueryFsInformation) => "Qfsinfo",
        (DbenchFormat::Four, OpKind::SetFileInformation) => "Sfileinfo",
        (DbenchFormat::Four, OpKind::FindFirst) => "Find",
        (_, kind) => word_of(generation_of(replay, kind), kind),
    }
}

/// Order of dbench 4.0's table.
const ORDER_OF_FOUR: [OpKind; 18] = [
    OpKind::NtCreateX,
    OpKind::OpenX,
    OpKind::Close,
    OpKind::Rename,
    OpKind::Unlink,
    OpKind::Deltree,
    OpKind::RmDir,
    OpKind::MkDir,
    OpKind::QueryPathInformation,
    OpKind::QueryFileInformation,
    OpKind::QueryFsInformation,
    OpKind::SetFileInformation,
    OpKind::FindFirst,
    OpKind::WriteX,
    OpKind::ReadX,
    OpKind::LockX,
    OpKind::UnlockX,
    OpKind::Flush,
];

/// Returns the position of a kind in dbench's table.
pub fn place(form: DbenchFormat, replay: &ReplayPlan, kind: OpKind) -> (Generation, usize) {
    let generation = generation_of(replay, kind);
    let order = match form {
        DbenchFormat::Four if generation.opens_files() => &ORDER_OF_FOUR,
        DbenchFormat::Four | DbenchFormat::Five | DbenchFormat::Machine => table_order(generation),
    };
    let place = order.iter().position(|listed| *listed == kind);
    (generation, place.unwrap_or(order.len()))
}

fn millis(nanos: f64) -> f64 {
    nanos / 1e6
}

/// Formats a number like C's `%g`: six significant digits, no trailing zeros, an exponent below
/// 10^-4 and from 10^6 on (C17, section 7.21.6.1).
pub fn general(number: f64) -> String {
    const DIGITS: i32 = 6;
    let scientific = format!("{number:.*e}", DIGITS as usize - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific.to_lowercase();
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent) as usize;
        return plain(number, decimals);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn progress(phase: ProgressPhase, seconds: f64) -> Progress {
        Progress {
            phase,
            clients: 2,
            line: 49_449,
            bytes_per_s: 565_460_000.0,
            seconds,
            latency_max_ns: 6_604_000,
        }
    }

    #[test]
    fn rows_are_dbenchs_byte_by_byte() {
        use ProgressPhase::{CleanUp, Execute, WarmUp};
        let text = |form, phase, seconds| row(form, &progress(phase, seconds));
        assert_eq!(
            text(DbenchFormat::Five, WarmUp, 1.0).as_deref(),
            Some("   2     49449   565.46 MB/sec  warmup   1 sec  latency 6.604 ms\n")
        );
        assert_eq!(
            text(DbenchFormat::Four, Execute, 12.2).as_deref(),
            Some("   2     49449   565.46 MB/sec  execute  12 sec  latency 6.604 ms\n")
        );
        assert_eq!(
            text(DbenchFormat::Five, CleanUp, 0.2).as_deref(),
            Some("   2  cleanup   0 sec\n")
        );
        assert_eq!(
            text(DbenchFormat::Machine, Execute, 12.7).as_deref(),
            Some("@R@2@49449@565.46@12@6.604@\n")
        );
        assert_eq!(text(DbenchFormat::Five, Execute, 0.6), None);
    }

    #[test]
    fn tables_and_the_line_in_all_forms() {
        let record = fixtures::replayed();
        let plan = record.plan.replay().expect("a replay");
        let replay = record.replay.as_ref().expect("a replay");
        let mut text = String::new();
        for form in [
            DbenchFormat::Four,
            DbenchFormat::Five,
            DbenchFormat::Machine,
        ] {
            text.push_str(&table(form, &record, plan));
            text.push_str(&per_client(form, replay, plan));
            text.push_str(&throughput(form, &record, plan));
            text.push('\n');
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_throughput_is_what_was_moved_in_the_window() {
        let mut record = fixtures::replayed();
        record.window_ns = 2_000_000_000;
        let replay = record.replay.as_mut().expect("a replay");
        (replay.bytes_written, replay.bytes_read) = (1_000_000, 500_000);
        assert!((megabytes_per_second(&record) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn loads_of_dbench_1_have_its_netbench_figures() {
        let mut record = fixtures::replayed();
        record.window_ns = 2_000_000_000;
        let replay = record.replay.as_mut().expect("a replay");
        (replay.bytes_written, replay.bytes_read) = (60_000_000, 21_340_200);
        let line = |record: &RunRecord| {
            let plan = record.plan.replay().expect("a replay");
            throughput(DbenchFormat::Four, record, plan)
        };
        assert!(line(&record).starts_with("Throughput 40.6701 MB/sec  2 clients"));
        let plan = record.plan.replay_mut().expect("a replay");
        plan.loads[0].generation = Generation::Dbench1;
        // 40.6701 MB/s is the example of the README.
        let expected = "Throughput 40.6701 MB/sec (NB=50.8376 MB/sec  406.701 MBit/sec)  2 clients";
        assert!(line(&record).starts_with(expected), "{}", line(&record));
    }

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (number, text) in [
            (0.0, "0"),
            (553.627_4, "553.627"),
            (553.6, "553.6"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.5, "1e+06"),
            (100_000.0, "100000"),
            (0.000_123_456_7, "0.000123457"),
            (0.000_012, "1.2e-05"),
            (12.0, "12"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(general(number), text);
        }
    }
}
