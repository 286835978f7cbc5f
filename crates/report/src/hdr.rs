//! HdrHistogram's interval log, format 1.3, for its log readers and plotters.
//!
//! The log has a line per interval, kind of operation and time: the tag is
//! `OPERATION.response_time` or `OPERATION.service_time`, values are nanoseconds, Interval_Max is
//! in milliseconds. Unmeasured operations are tagged `unmeasured.OPERATION.…`.

use crate::error::ReportError;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::rows::in_rows;
use filestone_measure::measure::run_record::IntervalKindRecord;
use filestone_workload::recording::Role;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::fmt::Display;
use std::time::Duration;

/// Formats the log.
pub fn render(record: &RunRecord) -> Result<String, ReportError> {
    let record = &*in_rows(record);
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&format!(
            "[Logged with {} {}]",
            record.tool.name, record.tool.version
        ))
        .with_start_time(started_at(record))
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut log, &mut serializer)
        .map_err(bad)?;
    for interval in &record.intervals {
        let start = Duration::from_nanos(interval.start_ns);
        let length = Duration::from_nanos(interval.end_ns.saturating_sub(interval.start_ns));
        for kind in &interval.kinds {
            for (what, times) in [
                ("response_time", &kind.response_time_ns),
                ("service_time", &kind.service_time_ns),
            ] {
                let histogram = times.decode().map_err(|error| {
                    ReportError::unavailable(format!("the record's interval at {start:?}: {error}"))
                })?;
                let name = tag(kind, what);
                writer
                    .write_histogram(&histogram, start, length, Tag::new(&name))
                    .map_err(|error| bad(format!("{error:?}")))?;
            }
        }
    }
    String::from_utf8(log).map_err(bad)
}

fn bad(error: impl Display) -> ReportError {
    ReportError::Internal(format!("the interval log cannot be made: {error}"))
}

fn tag(kind: &IntervalKindRecord, what: &str) -> String {
    let operation = kind.operation.name();
    match kind.role {
        Role::Measured => format!("{operation}.{what}"),
        Role::Unmeasured => format!("unmeasured.{operation}.{what}"),
    }
}

/// Returns the start of the run; the epoch if the record does not contain it.
#[expect(
    clippy::disallowed_types,
    reason = "the writer of the log takes this type; no clock is read"
)]
fn started_at(record: &RunRecord) -> std::time::SystemTime {
    humantime::parse_rfc3339_weak(&record.started_at).unwrap_or(std::time::SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use base64::Engine as _;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn a_log_reader_finds_every_interval_again() {
        let record = fixtures::with_errors();
        let text = render(&record).expect("canned records can be rendered");
        assert!(
            text.starts_with("#[Histogram log format version 1.3]\n"),
            "{text}"
        );
        let mut counts = std::collections::BTreeMap::<String, u64>::new();
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            let LogEntry::Interval(interval) = entry.expect("our log is well formed") else {
                continue;
            };
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(interval.encoded_histogram())
                .expect("base64");
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut bytes.as_slice())
                .expect("V2, deflated");
            let tag = interval
                .tag()
                .expect("every line is tagged")
                .as_str()
                .to_string();
            *counts.entry(tag).or_default() += histogram.len();
        }
        // Operations that succeeded.
        let timed = record.totals.ledger.timed();
        assert_eq!(counts["create.response_time"], timed);
        assert_eq!(counts["create.service_time"], timed);
        assert_eq!(
            counts["unmeasured.remove.response_time"],
            record.totals.kinds[1].ledger.ended()
        );
    }
}
