//! Preview of the read study: points, runs and duration.

use super::{carrier, missing, size};
use crate::document::Document;
use crate::quantity::waiting_text;
use crate::shell::shell_line;
use crate::sweep::{SweepReport, SweptLine};
use filestone_workload::text::{bytes_text, counted, thousands};

/// Returns points, runs and their expected duration, which is given in nanoseconds.
pub fn report(swept: &SweepReport, expected_ns: u64) -> Document {
    let runs = u64::from(swept.wanted.most) * swept.points.len() as u64;
    let mut sentences = vec![format!(
        "read study: {}: {}",
        shell_line(&swept.command),
        counted(swept.points.len() as u64, "point")
    )];
    sentences.extend(swept.lines().iter().map(of_line));
    sentences.push(format!(
        "{}, {} of each, in random order: about {}",
        counted(runs, "run"),
        swept.wanted.most,
        waiting_text(expected_ns)
    ));
    sentences.extend(missing(swept));
    Document::default().prose(sentences)
}

/// Describes the points of a transport: `over udp: null, getattr, and 38 sizes of read from 1 byte
/// to 32 KiB`.
fn of_line(line: &SweptLine<'_>) -> String {
    let sizes: Vec<f64> = line.points.iter().filter_map(size).collect();
    let ends = [sizes.first(), sizes.last()].map(|end| end.copied().unwrap_or_default() as u64);
    format!(
        "over {}: null, getattr, and {} sizes of read from {} B to {}",
        carrier(line),
        thousands(sizes.len() as u64),
        ends[0],
        bytes_text(ends[1])
    )
}
