//! Times that calls spent in this host's kernel and beyond it, from kernel timestamps.

use crate::document::{Block, Document};
use crate::quantity::time_with_chance;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::stamps::StampedTime;
use filestone_workload::text::counted;

/// Returns the section; empty if there are no timestamps.
pub fn section(record: &RunRecord) -> Document {
    let Some(stamps) = &record.stamps else {
        return Document::default();
    };
    let shown = |time: &StampedTime| time_with_chance(time.mean, time.half_width);
    let said = format!(
        "{} stamped by the kernel: {} in this host's kernel on the way out, {} in the network and at the \
         server, {} in this host's kernel on the way in and waiting to be taken; means with 95 % intervals",
        counted(stamps.calls, "call"),
        shown(&stamps.kernel_out_ns),
        shown(&stamps.beyond_ns),
        shown(&stamps.kernel_in_ns),
    );
    Document::default().blank().push(Block::Wrapped {
        indent: 2,
        lines: vec![said],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::page::PageWidth;
    use crate::fixtures;
    use filestone_measure::measure::stamps::StampsRecord;

    #[test]
    fn the_parts_of_the_way_are_told_with_their_intervals() {
        let mut record = fixtures::plain();
        assert_eq!(section(&record).text(PageWidth::of(1000)), "");
        let time = |mean, half_width| StampedTime {
            mean,
            half_width,
            p50: 0,
        };
        record.stamps = Some(StampsRecord {
            calls: 1234,
            kernel_out_ns: time(1500.0, 20.0),
            beyond_ns: time(31_000.0, 400.0),
            kernel_in_ns: time(6000.0, 0.0),
        });
        assert_eq!(
            section(&record).text(PageWidth::of(1000)),
            "\n1,234 calls stamped by the kernel: 1.50 ± 0.02 µs in this host's kernel on the way out, \
             31.0 ± 0.4 µs in the network and at the server, 6.00 µs in this host's kernel on the way in \
             and waiting to be taken; means with 95 % intervals\n"
        );
    }
}
