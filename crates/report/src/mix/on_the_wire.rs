//! Calls on the wire of a mix through a kernel mount.

use crate::document::Document;
use crate::document::table::{Column, Table};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::mix_record::WireRecord;
use filestone_workload::text::thousands;

/// Returns all calls that the mount's client made, by procedure, with their times; and the number
/// of system calls that should have caused them.
pub fn section(record: &RunRecord, wire: &WireRecord) -> Document {
    let mut table = Table::new([
        Column::text("on the wire"),
        Column::figure("WANT %"),
        Column::figure("GOT %"),
        Column::figure("CALLS"),
        Column::figure("CALLS/S").gives_way(2),
        Column::figure("SECS").gives_way(1),
        Column::figure("MSEC/CALL"),
        Column::figure("ASKED"),
    ]);
    let seconds = record.window_ns.max(1) as f64 / 1e9;
    let mut line = |name: &str, shares: [f64; 2], seen: u64, time_ns: Option<u64>, asked: &str| {
        let (secs, each) = match time_ns {
            Some(time) if seen > 0 => (
                format!("{:.3}", time as f64 / 1e9),
                format!("{:.2}", time as f64 / 1e6 / seen as f64),
            ),
            _ => ("-".into(), "-".into()),
        };
        table.row([
            name.into(),
            format!("{:.2}", shares[0]),
            format!("{:.2}", shares[1]),
            thousands(seen),
            format!("{:.1}", seen as f64 / seconds),
            secs,
            each,
            asked.into(),
        ]);
    };
    for row in &wire.operations {
        let shares = [row.expected_percent, row.actual_percent];
        let (name, asked) = (row.operation.name(), thousands(row.asked));
        line(name, shares, row.seen, row.time_ns, &asked);
    }
    for row in &wire.others {
        let shares = [0.0, row.actual_percent];
        line(&row.name, shares, row.seen, row.time_ns, "-");
    }
    let rows = wire.operations.iter();
    let all = rows.fold([0.0; 2], |[want, got], row| {
        [want + row.expected_percent, got + row.actual_percent]
    });
    let others: f64 = wire.others.iter().map(|row| row.actual_percent).sum();
    let times = wire.operations.iter().map(|row| row.time_ns);
    let times = times.chain(wire.others.iter().map(|row| row.time_ns));
    let asked: u64 = wire.operations.iter().map(|row| row.asked).sum();
    line(
        "all",
        [all[0], all[1] + others],
        wire.calls,
        times.sum(),
        &thousands(asked),
    );
    Document::default()
        .tables([table])
        .prose(about_the_wire(wire))
}

/// Describes the source of the counts, and their limits.
fn about_the_wire(wire: &WireRecord) -> impl Iterator<Item = String> {
    let same = wire.counted_as.iter().map(|same| {
        format!(
            "{}: NFSv4 has no such procedure; wanted, asked and counted as {}",
            same.operation.name(),
            same.counted_as.name(),
        )
    });
    let limits = wire.limits.iter().map(|limit| {
        format!(
            "{}: this client cannot be made to ask it more than {:.2} times per second, of {:.2}",
            limit.operation.name(),
            limit.at_most_per_s,
            limit.wanted_per_s,
        )
    });
    let source = format!(
        "{} calls in {}; {:.1} calls/s of other traffic before the run; corrected {}",
        thousands(wire.calls),
        wire.source,
        wire.background_calls_per_s,
        match wire.corrections.len() as u64 {
            1 => "once".into(),
            count => format!("{} times", thousands(count)),
        }
    );
    same.chain(limits).chain([source])
}
