//! Facts that several kinds of report contain: load, bytes and cost.

use super::kinds::measured;
use super::units::{bytes_per_second, operations_per_second};
use crate::document::page::Fact;
use crate::sanitize::printable;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::run_record::KindRecord;
use filestone_plan::plan::{Plan, ReadData, WorkloadPlan};
use filestone_workload::text::{bytes_text, counted, thousands, time_text};

/// Minimum number of clients for a description of their connections.
const MANY_CLIENTS: u64 = 100;

/// Formats the number of operations per second that succeeded in the window, and the reason for a
/// difference to the operations that were due in it.
pub fn achieved_load(record: &RunRecord) -> String {
    let totals = &record.totals;
    let load = operations_per_second(totals.achieved_load_ops_per_s);
    let left_over = totals.left_over(record.window_ns);
    let operations = counted(left_over.unsigned_abs(), "operation");
    match left_over {
        0 => load,
        1.. => format!("{load}, with {operations} left over from the warm-up"),
        _ => format!("{load}, without {operations} that ended after the window"),
    }
}

/// Returns file data per second, if there is any.
pub fn goodput(record: &RunRecord) -> Option<Fact> {
    let rate = Some(record.totals.goodput_bytes_per_s).filter(|rate| *rate > 0.0)?;
    Some(("goodput", bytes_per_second(rate)))
}

/// Returns the file systems of a run's directories on this host, with their mount options.
pub fn file_system(record: &RunRecord) -> Option<Fact> {
    let mounts = record
        .target
        .mounts
        .iter()
        .map(|mount| printable(&mount.text()));
    let mounts: Vec<String> = mounts.collect();
    (!mounts.is_empty()).then(|| ("file system", mounts.join("; ")))
}

/// Returns the handling of data that was read, if any was: it decides the cost of a READ for the
/// load generator.
pub fn read_data(plan: &Plan) -> Option<Fact> {
    let data = plan.read_data?;
    let what = match (data, &plan.workload) {
        (ReadData::Discard, WorkloadPlan::Mix(_)) => format!(
            "of replies of {} and more discarded by the kernel, unread; of others delivered",
            bytes_text(ReadData::DISCARD_MIN_BYTES.into())
        ),
        (ReadData::Discard, _) => "discarded by the kernel, unread".into(),
        (ReadData::Deliver, _) => "delivered to this process, not looked at".into(),
        (ReadData::Verify, _) => "delivered to this process and compared".into(),
    };
    let option = match plan.workload {
        WorkloadPlan::Probe(_) | WorkloadPlan::Mix(_) => format!(" (--data {})", data.name()),
        WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => String::new(),
    };
    Some(("read data", format!("{what}{option}")))
}

/// Returns the cost of the load generator, if there was a window; for a replay it includes the clients' system
/// calls.
pub fn client_cpu(record: &RunRecord) -> Option<Fact> {
    let totals = &record.totals;
    let window = (record.window_ns > 0).then_some(record.window_ns as f64)?;
    let share = 100.0 * totals.client_cpu_ns as f64 / window;
    if totals.ledger.ended() == 0 {
        return Some(("client CPU", format!("{share:.0} % of one processor")));
    }
    let included = if record.replay.is_some() {
        ", system calls included"
    } else {
        ""
    };
    let cost = format!(
        "{:.3} usecs per operation{included}, {share:.0} % of one processor",
        totals.client_cpu_ns_per_op / 1000.0,
    );
    Some(("client CPU", cost))
}

/// Returns the mean bytes on the wire per measured operation, if one ended.
pub fn wire_bytes(record: &RunRecord) -> Option<Fact> {
    let sum = |of: fn(&KindRecord) -> u64| measured(record).map(of).sum::<u64>() as f64;
    let ended = sum(|kind| kind.ledger.ended());
    if ended == 0.0 {
        return None;
    }
    let bytes = format!(
        "{:.1} sent and {:.1} received per operation, in {:.2} calls{}",
        sum(|kind| kind.bytes_sent) / ended,
        sum(|kind| kind.bytes_received) / ended,
        sum(|kind| kind.calls) / ended,
        datagrams(record),
    );
    Some(("wire bytes", bytes))
}

/// Returns lost and duplicate datagrams, also if there are none, if messages are datagrams.
fn datagrams(record: &RunRecord) -> String {
    if !record.plan.target.is_udp() {
        return String::new();
    }
    let again = record.totals.kinds.iter();
    let again: u64 = again.map(|kind| kind.retransmissions).sum();
    format!(
        "; {} sent again, {} late or twice",
        counted(again, "call"),
        match record.totals.late_replies {
            1 => "1 reply".into(),
            late => format!("{} replies", thousands(late)),
        }
    )
}

/// Returns the connection setup of the clients, if there are enough that it may have taken a while.
pub fn connections(record: &RunRecord) -> Option<Fact> {
    let made = record.connections.as_ref();
    let made = made.filter(|connections| connections.made >= MANY_CLIENTS)?;
    let time = |nanos: u64| time_text(nanos as f64);
    let refused = match made.refused_attempts {
        0 => String::new(),
        refused => format!("; {} refused at first", counted(refused, "attempt")),
    };
    let text = format!(
        "{} in {}; of each p50 {}, p99 {}, max {}{refused}",
        thousands(made.made),
        time(made.took_ns),
        time(made.connect_time_p50_ns),
        time(made.connect_time_p99_ns),
        time(made.connect_time_max_ns),
    );
    Some(("connecting", text))
}

/// Returns the memory of the clients, if there are many.
pub fn memory(record: &RunRecord) -> Option<Fact> {
    let made = record.connections.as_ref();
    let made = made.filter(|connections| connections.made >= MANY_CLIENTS)?;
    let memory = made.memory?;
    let mebibytes = |bytes: u64| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    let text = format!(
        "{} before the clients were made, {} with them, {:.1} KiB each, {} at the end",
        mebibytes(memory.before_bytes),
        mebibytes(memory.after_bytes),
        memory.per_client(made.made) as f64 / 1024.0,
        mebibytes(memory.end_bytes),
    );
    Some(("memory", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use filestone_measure::measure::connections_record::{ClientMemory, ConnectionsRecord};
    use filestone_plan::plan::TransportKind;
    use filestone_workload::recording::ledger::Ledger;

    #[test]
    fn what_makes_rate_and_count_differ_is_said() {
        let mut record = fixtures::plain();
        let mut of = |ended: f64| {
            record.totals.achieved_load_ops_per_s = ended / 2.0;
            achieved_load(&record)
        };
        assert_eq!(of(1000.0), "500.0 operations/s");
        assert_eq!(
            of(1001.0),
            "500.5 operations/s, with 1 operation left over from the warm-up"
        );
        assert_eq!(
            of(968.0),
            "484.0 operations/s, without 32 operations that ended after the window"
        );
    }

    #[test]
    fn how_many_clients_were_connected_is_said() {
        let mut record = fixtures::plain();
        let mut connections = ConnectionsRecord {
            made: 99,
            took_ns: 1_234_567_890,
            connect_time_p50_ns: 31_234,
            connect_time_p99_ns: 87_345,
            connect_time_max_ns: 12_345_678,
            refused_attempts: 0,
            memory: None,
        };
        record.connections = Some(connections.clone());
        assert_eq!(super::connections(&record), None, "few");
        (connections.made, connections.refused_attempts) = (10_000, 2);
        record.connections = Some(connections);
        let (name, text) = super::connections(&record).expect("many");
        assert_eq!(name, "connecting");
        assert_eq!(
            text,
            "10,000 in 1.23 s; of each p50 31.2 µs, p99 87.3 µs, max 12.3 ms; 2 attempts refused at \
             first"
        );
    }

    #[test]
    fn what_many_clients_take_of_memory_is_said() {
        let mut record = fixtures::plain();
        let memory = ClientMemory {
            before_bytes: 10 << 20,
            after_bytes: 110 << 20,
            end_bytes: 111 << 20,
        };
        record.connections = Some(ConnectionsRecord {
            made: 10_000,
            memory: Some(memory),
            ..ConnectionsRecord::default()
        });
        let (_, text) = super::memory(&record).expect("many");
        assert_eq!(
            text,
            "10 MiB before the clients were made, 110 MiB with them, 10.2 KiB each, 111 MiB at the \
             end"
        );
    }

    #[test]
    fn without_operations_nothing_is_per_operation() {
        let mut record = fixtures::plain();
        record.totals.ledger = Ledger::default();
        for kind in &mut record.totals.kinds {
            kind.ledger = Ledger::default();
        }
        assert_eq!(wire_bytes(&record), None);
        let (_, cpu) = client_cpu(&record).expect("there was a window");
        assert!(!cpu.contains("per operation"), "{cpu}");
        record.window_ns = 0;
        assert_eq!(client_cpu(&record), None);
    }

    #[test]
    fn what_of_datagrams_went_missing_or_came_twice_is_said() {
        let mut record = fixtures::plain();
        let in_calls = |record: &RunRecord| {
            let (_, text) = wire_bytes(record).expect("operations ended");
            text.split_once(" in ").map(|(_, calls)| calls.to_string())
        };
        assert_eq!(in_calls(&record).as_deref(), Some("1.00 calls"));
        record
            .plan
            .target
            .nfs3_mut()
            .expect("an NFS target")
            .transport = TransportKind::Udp;
        record.totals.kinds[0].retransmissions = 1;
        let told = in_calls(&record);
        assert_eq!(
            told.as_deref(),
            Some("1.00 calls; 1 call sent again, 0 replies late or twice")
        );
        record.totals.kinds[0].retransmissions = 0;
        record.totals.late_replies = 1;
        let told = in_calls(&record);
        assert_eq!(
            told.as_deref(),
            Some("1.00 calls; 0 calls sent again, 1 reply late or twice")
        );
    }

    #[test]
    fn what_became_of_read_data_is_said() {
        let mut lines = String::new();
        for mut record in [fixtures::plain(), fixtures::mix(), fixtures::replayed()] {
            for data in [ReadData::Discard, ReadData::Deliver, ReadData::Verify] {
                record.plan.read_data = Some(data);
                let (name, said) = read_data(&record.plan).expect("it is said");
                lines.push_str(&format!("{name:<16}{said}\n"));
            }
        }
        insta::assert_snapshot!(lines, @"
        read data       discarded by the kernel, unread (--data discard)
        read data       delivered to this process, not looked at (--data deliver)
        read data       delivered to this process and compared (--data verify)
        read data       of replies of 16 KiB and more discarded by the kernel, unread; of others delivered (--data discard)
        read data       delivered to this process, not looked at (--data deliver)
        read data       delivered to this process and compared (--data verify)
        read data       discarded by the kernel, unread
        read data       delivered to this process, not looked at
        read data       delivered to this process and compared
        ");
    }
}
