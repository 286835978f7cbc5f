//! Report of nhfsstone: the line that `nhfsnums` reads, the table of `-v`, and the message about a
//! mix that is off. The format is nhfsstone 1.22's, byte by byte; the values match their labels
//! where nhfsstone's did not:
//!
//! - **msec/call** is the mean response time of a call, from its due time to the arrival of its
//!   reply; for a mix through a kernel mount, the kernel's own mean time of the calls that are
//!   counted in the same row. nhfsstone divided the time that all its processes spent in system
//!   calls by the calls that the kernel had counted: a READ from the client's cache and a deferred
//!   WRITE cost time without a call, and the calls made later for them cost no time; and since a
//!   waiting process sends no calls, a slow server received fewer.
//! - **calls/sec** is over the actual window, not over its whole seconds, so a run of less than a
//!   second has one, too.
//! - **want** is rounded in print only. nhfsstone never sent operations whose share rounds to 0 %.
//! - Numbers are rounded; nhfsstone truncated them in integer divisions.
//!
//! Kinds of NFSv3 that NFSv2 does not have follow the eighteen procedures, and for a kernel mount
//! they are followed by calls without an equivalent: all counted calls have a row.

use crate::parts::kinds::measured_of;
use filestone_measure::measure::caveat::thresholds::INVALID_PERCENT;
use filestone_measure::measure::mix_record::{MixRecord, WireRecord};
use filestone_measure::measure::{RunRecord, validity};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::DistributionRecord;

/// Procedures of NFSv2 (RFC 1094, section 2.2) in the order of their numbers, with their
/// equivalents in NFSv3.
pub const PROCEDURES_OF_NFSV2: [(&str, Option<OpKind>); 18] = [
    ("null", Some(OpKind::Null)),
    ("getattr", Some(OpKind::GetAttr)),
    ("setattr", Some(OpKind::SetAttr)),
    ("root", None),
    ("lookup", Some(OpKind::Lookup)),
    ("readlink", Some(OpKind::ReadLink)),
    ("read", Some(OpKind::Read)),
    ("wrcache", None),
    ("write", Some(OpKind::Write)),
    ("create", Some(OpKind::Create)),
    ("remove", Some(OpKind::Remove)),
    ("rename", Some(OpKind::Rename)),
    ("link", Some(OpKind::Link)),
    ("symlink", Some(OpKind::SymLink)),
    ("mkdir", Some(OpKind::MkDir)),
    ("rmdir", Some(OpKind::RmDir)),
    ("readdir", Some(OpKind::ReadDir)),
    ("fsstat", Some(OpKind::FsStat)),
];

/// Formats all output of nhfsstone at its end: if the mix is off by too much, the table is always
/// included. Empty for a record without a mix.
pub fn report(program: &str, record: &RunRecord, is_verbose: bool) -> String {
    let Some(mix) = &record.mix else {
        return String::new();
    };
    let invalid = invalid(program, mix);
    let table = if is_verbose || invalid.is_some() {
        table(record, mix)
    } else {
        String::new()
    };
    let reasons = validity::reasons(record);
    let reasons = if invalid.is_none() && !reasons.is_empty() {
        format!("{program}: INVALID RUN, {}\n", reasons.join("; "))
    } else {
        String::new()
    };
    format!(
        "{}{reasons}{table}{}",
        invalid.unwrap_or_default(),
        line(record, mix)
    )
}

/// Formats the result: `N sec N calls N.NN calls/sec N.NN msec/call`; empty for a run that does not
/// count.
///
/// For a mix through a kernel mount, calls are those on the wire, as nhfsstone counted them, with
/// their time; if the kernel does not count times, the time is that of the operations. Otherwise
/// calls are those of the table: due in the window, whenever they ended.
pub fn line(record: &RunRecord, mix: &MixRecord) -> String {
    if !validity::counts(record) {
        return String::new();
    }
    let calls = calls(mix);
    let seconds = record.window_ns as f64 / 1e9;
    let rate = calls as f64 * 1e9 / record.window_ns.max(1) as f64;
    let mean = match mix.wire.as_ref().and_then(time_on_wire_ns) {
        Some(time_ns) => time_ns as f64 / 1e6 / calls.max(1) as f64,
        None => mean_millis(&record.totals.response_time_ns),
    };
    format!("{seconds:.0} sec {calls} calls {rate:.2} calls/sec {mean:.2} msec/call\n")
}

/// Returns the message about a mix that is off by more than 10 %.
pub fn invalid(program: &str, mix: &MixRecord) -> Option<String> {
    let off = mix.off_by();
    (off > INVALID_PERCENT)
        .then(|| format!("{program}: INVALID RUN, mix generated is off by {off:.2}%\n"))
}

/// Formats the table of `-v`: every procedure of NFSv2, sent or not, then the other operations.
pub fn table(record: &RunRecord, mix: &MixRecord) -> String {
    let rows = rows(record, mix);
    let sum: f64 = rows.iter().map(|row| row.time_ns).sum();
    let mut text =
        String::from("op        want       got    calls      secs  msec/call    time %\n");
    for row in rows {
        let share = if sum > 0.0 {
            100.0 * row.time_ns / sum
        } else {
            0.0
        };
        let time = |value: f64| {
            if row.is_timed {
                format!("{value:>7.2}")
            } else {
                format!("{:>7}", "-")
            }
        };
        text.push_str(&format!(
            "{}    {:>5.2}%   {:>6}   {}    {}    {share:>5.2}%\n",
            name_and_want(&row.name, row.want_percent),
            row.got_percent,
            row.calls,
            time(row.time_ns / 1e9),
            time(row.mean_millis),
        ));
    }
    text
}

/// Returns the time of all calls on the wire together, if it was counted for all of them.
fn time_on_wire_ns(wire: &WireRecord) -> Option<u64> {
    let times = wire.operations.iter().map(|row| row.time_ns);
    let times = times.chain(wire.others.iter().map(|row| row.time_ns));
    times.sum()
}

/// Formats fourteen columns: ten for the name and four for the share. One name of NFSv3 is longer
/// than those of NFSv2.
fn name_and_want(name: &str, want_percent: f64) -> String {
    const WIDTH: usize = 13;
    let name = match name.len() {
        ..=10 => format!("{name:<10}"),
        _ => format!("{name} "),
    };
    let rest = WIDTH.saturating_sub(name.len());
    format!("{name}{want_percent:>rest$.0}%")
}

struct Row {
    name: String,
    want_percent: f64,
    got_percent: f64,
    calls: u64,
    /// Time of all calls together.
    time_ns: f64,
    mean_millis: f64,
    /// Whether the time of these calls is known.
    is_timed: bool,
}

impl Row {
    /// Creates a row from calls that the kernel counted, with their time.
    fn on_the_wire(name: &str, shares: [f64; 2], calls: u64, time_ns: Option<u64>) -> Self {
        let [want_percent, got_percent] = shares;
        let of_all = time_ns.unwrap_or(0) as f64;
        Self {
            name: name.to_owned(),
            want_percent,
            got_percent,
            calls,
            time_ns: of_all,
            mean_millis: of_all / 1e6 / calls.max(1) as f64,
            is_timed: time_ns.is_some(),
        }
    }
}

fn rows(record: &RunRecord, mix: &MixRecord) -> Vec<Row> {
    let of_nfsv2 = PROCEDURES_OF_NFSV2.iter();
    let of_nfsv2 = of_nfsv2.map(|&(name, kind)| row(record, mix, name, kind));
    let has_name_in_nfsv2 =
        |kind: OpKind| PROCEDURES_OF_NFSV2.iter().any(|row| row.1 == Some(kind));
    let others = kinds(mix)
        .into_iter()
        .filter(|kind| !has_name_in_nfsv2(*kind));
    let others = others.map(|kind| row(record, mix, kind.name(), Some(kind)));
    let unlike = mix.wire.iter().flat_map(|wire| &wire.others);
    let unlike = unlike.map(|other| {
        let shares = [0.0, other.actual_percent];
        Row::on_the_wire(&other.name, shares, other.seen, other.time_ns)
    });
    of_nfsv2.chain(others).chain(unlike).collect()
}

/// Returns the kinds that were sent, or counted on the wire.
fn kinds(mix: &MixRecord) -> Vec<OpKind> {
    match &mix.wire {
        Some(wire) => wire.operations.iter().map(|row| row.operation).collect(),
        None => mix.operations.iter().map(|row| row.operation).collect(),
    }
}

fn row(record: &RunRecord, mix: &MixRecord, name: &str, kind: Option<OpKind>) -> Row {
    if let Some(wire) = &mix.wire {
        let mut seen = wire.operations.iter();
        return match seen.find(|row| Some(row.operation) == kind) {
            Some(row) => {
                let shares = [row.expected_percent, row.actual_percent];
                Row::on_the_wire(name, shares, row.seen, row.time_ns)
            }
            None => Row::on_the_wire(name, [0.0; 2], 0, Some(0)),
        };
    }
    let mut done = mix.operations.iter();
    let done = done.find(|row| Some(row.operation) == kind);
    let (want_percent, got_percent, calls) = done.map_or((0.0, 0.0, 0), |row| {
        (row.expected_percent, row.actual_percent, row.count)
    });
    let timed = kind.and_then(|kind| measured_of(record, kind));
    let times = timed.map(|row| &row.response_time_ns);
    Row {
        name: name.to_owned(),
        want_percent,
        got_percent,
        calls,
        time_ns: times.map_or(0.0, |times| times.mean * times.count as f64),
        mean_millis: times.map_or(0.0, mean_millis),
        is_timed: true,
    }
}

fn calls(mix: &MixRecord) -> u64 {
    match &mix.wire {
        Some(wire) => wire.calls,
        None => mix.operations.iter().map(|row| row.count).sum(),
    }
}

fn mean_millis(times: &DistributionRecord) -> f64 {
    if times.count == 0 {
        return 0.0;
    }
    times.mean / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use filestone_measure::measure::mix_record::{
        MixOperationRecord, WireOperationRecord, WireOtherRecord,
    };

    fn mix_of(record: &mut RunRecord) -> &mut MixRecord {
        record.mix.as_mut().expect("a mix")
    }

    #[test]
    fn the_line_and_the_table_of_the_default_mix() {
        let record = fixtures::mix();
        let line = report("nhfsstone", &record, false);
        assert!(
            line.starts_with("2 sec 4000 calls 2000.00 calls/sec "),
            "{line}"
        );
        let verbose = report("nhfsstone", &record, true);
        assert!(verbose.ends_with(&line));
        insta::assert_snapshot!(verbose);
    }

    /// An operation was due in the warm-up and ended in the window; or three were in flight when it
    /// closed.
    #[test]
    fn the_line_counts_what_its_table_counts() {
        for (left_over, seconds) in [(1.0, 2.0), (-3.0, 2.0)] {
            let mut record = fixtures::mix();
            record.totals.achieved_load_ops_per_s = (4000.0 + left_over) / seconds;
            let line = report("nhfsstone", &record, false);
            let calls = "2 sec 4000 calls 2000.00 calls/sec ";
            assert!(line.starts_with(calls), "{line}");
            let table = table(&record, record.mix.as_ref().expect("a mix"));
            let counted = table.lines().skip(1).map(|row| {
                let calls = row.split_whitespace().nth(3).expect("a column of calls");
                calls.parse::<u64>().expect("a count")
            });
            assert_eq!(counted.sum::<u64>(), 4000);
        }
    }

    #[test]
    fn a_mix_off_by_more_than_ten_percent_is_no_run_and_shows_its_table() {
        let mut record = fixtures::mix();
        let off_by = |record: &mut RunRecord, percent: f64| {
            let rows = &mut mix_of(record).operations;
            rows.iter_mut()
                .for_each(|row| row.actual_percent = row.expected_percent);
            rows[0].actual_percent += percent;
        };
        off_by(&mut record, 10.0);
        assert_eq!(invalid("nhfsstone", mix_of(&mut record)), None);
        off_by(&mut record, 12.346);
        let text = report("nhfsstone", &record, false);
        let words = "nhfsstone: INVALID RUN, mix generated is off by 12.35%\nop        want ";
        assert!(text.starts_with(words), "{text}");
        assert_eq!(text.lines().count(), 21);
    }

    #[test]
    fn what_only_nfsv3_has_follows_the_eighteen() {
        let mut record = fixtures::mix();
        let further = [(OpKind::Access, 11.0), (OpKind::ReadDirPlus, 2.0)];
        let further = further.map(|(operation, percent)| MixOperationRecord {
            operation,
            expected_percent: percent,
            actual_percent: percent,
            count: 100,
        });
        mix_of(&mut record).operations.extend(further);
        let table = table(&record, record.mix.as_ref().expect("a mix"));
        let rows: Vec<&str> = table.lines().skip(18).collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn a_run_shorter_than_a_second_has_a_rate() {
        let mut record = fixtures::mix();
        record.window_ns = 250_000_000;
        record.totals.achieved_load_ops_per_s = 16_000.0;
        let text = report("nhfsstone", &record, false);
        assert!(
            text.starts_with("0 sec 4000 calls 16000.00 calls/sec"),
            "{text}"
        );
        record.window_ns = 0;
        let mix = mix_of(&mut record);
        mix.operations.iter_mut().for_each(|row| row.count = 0);
        record.totals.response_time_ns = DistributionRecord::default();
        let text = report("nhfsstone", &record, false);
        assert_eq!(text, "0 sec 0 calls 0.00 calls/sec 0.00 msec/call\n");
    }

    #[test]
    fn through_a_kernel_mount_calls_are_those_on_the_wire() {
        let mut record = fixtures::mix();
        mix_of(&mut record).wire = Some(WireRecord {
            source: "/proc/self/mountstats".into(),
            operations: vec![WireOperationRecord {
                operation: OpKind::Lookup,
                asked: 1340,
                seen: 670,
                time_ns: Some(1_340_000_000),
                expected_percent: 34.0,
                actual_percent: 67.0,
            }],
            others: vec![WireOtherRecord {
                name: "sequence".into(),
                seen: 330,
                time_ns: Some(660_000_000),
                actual_percent: 33.0,
            }],
            calls: 1000,
            ..WireRecord::default()
        });
        let text = report("nhfsstone", &record, true);
        let lookup = text.lines().find(|line| line.starts_with("lookup"));
        let lookup = lookup.expect("a row for every procedure");
        assert!(
            lookup.starts_with("lookup     34%    67.00%      670      1.34       2.00 "),
            "{lookup}"
        );
        // Calls that the mix does not contain have a row and a time, too.
        let other = "\nsequence    0%    33.00%      330      0.66       2.00    33.00%\n";
        assert!(text.contains(other), "{text}");
        let line = "\n2 sec 1000 calls 500.00 calls/sec 2.00 msec/call\n";
        assert!(text.contains(line), "{text}");
        // An unknown time is not printed.
        let wire = mix_of(&mut record).wire.as_mut().expect("it was seen");
        wire.operations[0].time_ns = None;
        let text = report("nhfsstone", &record, true);
        assert!(
            text.contains("lookup     34%    67.00%      670         -          - "),
            "{text}"
        );
    }

    #[test]
    fn a_record_that_is_no_mix_has_no_such_report() {
        assert_eq!(report("nhfsstone", &fixtures::plain(), true), "");
    }
}
