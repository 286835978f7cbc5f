//! Contents of a load file, as a text report and as JSON.

use crate::document::Document;
use crate::document::page::Fact;
use crate::document::table::{Column, Table};
use crate::quantity::duration_text;
use filestone_workload::load::Generation;
use filestone_workload::load::refusals::VerbRefusal;
use filestone_workload::load::statistics::contents::{
    ExpectedFailureCount, KindContents, TransferTotals,
};
use filestone_workload::load::statistics::{LoadStatisticsData, TruncationReason};
use filestone_workload::text::{bytes_text, counted, thousands};
use serde::Serialize;

/// A load file that was parsed and counted.
#[derive(Debug, Serialize)]
pub struct CheckedLoad {
    /// Path of the file, or name of a built-in load.
    pub load: String,
    /// Program whose load files have this format.
    #[serde(serialize_with = "generation_name")]
    pub generation: Generation,
    /// Number of lines of the file, including comments and blank ones.
    pub lines: u64,
    /// Contents of one iteration.
    pub contents: LoadStatisticsData,
    /// Operations that each layer would not execute as they are.
    pub layers: Vec<LayerVerdict>,
}

/// Verdict of a layer on a load file.
#[derive(Debug, Serialize)]
pub struct LayerVerdict {
    /// Name of the layer, as in `--layer`.
    pub layer: &'static str,
    /// Operations that it would reject or complete without a call.
    pub refusals: Vec<VerbRefusal>,
}

fn generation_name<S: serde::Serializer>(
    generation: &Generation,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(generation.name())
}

/// Returns the whole report.
pub fn report(load: &CheckedLoad) -> Document {
    let contents = &load.contents;
    let verdicts = load.layers.iter();
    let verdicts = verdicts.map(|verdict| (format!("on {}", verdict.layer), in_short(verdict)));
    heading(load)
        .tables([kinds(contents)])
        .tables(transfers(contents))
        .blank()
        .facts(facts(contents))
        .blank()
        .facts(verdicts)
}

/// Returns the operations that each layer would not execute as they are, verb by verb.
pub fn layers(load: &CheckedLoad) -> Document {
    let mut table = Table::new([
        Column::text("layer"),
        Column::text("operation"),
        Column::figure("COUNT"),
        Column::figure("FIRST LINE"),
        Column::text("what becomes of it"),
    ]);
    for verdict in &load.layers {
        if verdict.refusals.is_empty() {
            table.row([verdict.layer, "all", "-", "-", "carried out"]);
        }
        for refusal in &verdict.refusals {
            let refused = if refusal.refused { "refused: " } else { "" };
            table.row([
                verdict.layer.into(),
                refusal.verb.into(),
                thousands(refusal.count),
                refusal.first_line.to_string(),
                format!("{refused}{}", refusal.reason.sentence()),
            ]);
        }
    }
    heading(load).tables([table])
}

fn heading(load: &CheckedLoad) -> Document {
    let contents = &load.contents;
    let operations = counted(contents.operations, "operation");
    let what = format!(
        "{}: {}, {operations} in {}",
        load.load,
        load.generation.description(),
        counted(load.lines, "line"),
    );
    let bytes = format!(
        "One pass writes {} and reads {} bytes; its files never hold more than {} together.",
        thousands(contents.writes.bytes_asked),
        thousands(contents.reads.bytes_asked),
        bytes_text(contents.tree.live_set_bytes),
    );
    let cut_off = contents.cut_off.as_ref().map(|reason| match reason {
        TruncationReason::Steps => {
            format!("The pass is longer than that: counting was cut off after {operations}.")
        }
        TruncationReason::Memory => format!(
            "The pass is longer than that: counting was cut off after {operations}, for want of room \
             for ever new names, handles or sizes."
        ),
        TruncationReason::Line { line, what } => {
            format!("The pass cannot go beyond line {line}: {what}")
        }
    });
    Document::default().prose([what, bytes]).prose(cut_off)
}

fn directories(count: u64) -> String {
    match count {
        1 => "1 directory".into(),
        _ => format!("{} directories", thousands(count)),
    }
}

fn kinds(contents: &LoadStatisticsData) -> Table {
    let mut table = Table::new([
        Column::text("operation"),
        Column::figure("COUNT"),
        Column::figure("SHARE").gives_way(1),
        Column::figure("TO FAIL"),
        Column::text("with"),
    ]);
    for kind in &contents.kinds {
        kind_rows(&mut table, kind, contents.operations);
    }
    table.row([
        "all".into(),
        thousands(contents.operations),
        share(contents.operations, contents.operations),
        thousands(contents.expected_failures_total()),
    ]);
    table
}

/// Adds a kind's row, and one more for each further status.
fn kind_rows(table: &mut Table, kind: &KindContents, operations: u64) {
    let to_fail: u64 = kind.expected_failures.iter().map(|row| row.count).sum();
    let mut outcomes: Vec<String> = kind
        .expected_failures
        .iter()
        .map(|row| outcome(row, to_fail))
        .collect();
    if kind.any_outcome > 0 {
        outcomes.push(format!(
            "{} may end in any way",
            thousands(kind.any_outcome)
        ));
    }
    let mut outcomes = outcomes.into_iter();
    table.row([
        kind.verb.into(),
        thousands(kind.count),
        share(kind.count, operations),
        match to_fail {
            0 => "-".into(),
            count => thousands(count),
        },
        outcomes.next().unwrap_or_default(),
    ]);
    for further in outcomes {
        let blank = String::new;
        table.row([blank(), blank(), blank(), blank(), further]);
    }
}

/// Formats the status, without a count if it is the only one.
fn outcome(row: &ExpectedFailureCount, to_fail: u64) -> String {
    if row.count == to_fail {
        row.status.clone()
    } else {
        format!("{} {}", thousands(row.count), row.status)
    }
}

fn share(part: u64, whole: u64) -> String {
    format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Formats a figure of reads or of writes.
type Figure = fn(&TransferTotals) -> String;

/// Returns bytes and sizes; `None` if there are no reads and writes.
fn transfers(contents: &LoadStatisticsData) -> Option<Table> {
    let (writes, reads) = (&contents.writes, &contents.reads);
    if writes.operations == 0 && reads.operations == 0 {
        return None;
    }
    let mut table = Table::new([
        Column::text("file data"),
        Column::figure("WRITES").at_least(18),
        Column::figure("READS").at_least(18),
    ]);
    let rows: [(&str, Figure); 8] = [
        ("operations", |side| thousands(side.operations)),
        ("bytes asked for", |side| thousands(side.bytes_asked)),
        ("bytes returned", |side| thousands(side.bytes_returned)),
        ("sequential", |side| share(side.sequential, side.operations)),
        ("smallest", |side| thousands(side.size_min)),
        ("median", |side| thousands(side.size_median)),
        ("largest", |side| thousands(side.size_max)),
        ("different sizes", |side| thousands(side.sizes_distinct)),
    ];
    for (name, value) in rows {
        table.row([name.into(), value(writes), value(reads)]);
    }
    for rank in 0..writes.sizes_frequent.len().max(reads.sizes_frequent.len()) {
        let name = if rank == 0 { "most frequent" } else { "" };
        table.row([name.into(), frequent(writes, rank), frequent(reads, rank)]);
    }
    Some(table)
}

/// Formats a frequent size as `12,658 x 65,536`: its count, and the size.
fn frequent(side: &TransferTotals, rank: usize) -> String {
    side.sizes_frequent
        .get(rank)
        .map_or_else(String::new, |size| {
            format!("{} x {}", thousands(size.count), thousands(size.bytes))
        })
}

/// Returns tree, handles, arguments and pacing, one fact per line.
fn facts(contents: &LoadStatisticsData) -> Vec<Fact> {
    let tree = &contents.tree;
    let mut facts = vec![
        (
            "live set",
            format!(
                "{} bytes: the most that all files hold at any moment",
                thousands(tree.live_set_bytes)
            ),
        ),
        (
            "largest file",
            format!("{} bytes", thousands(tree.largest_file_bytes)),
        ),
        (
            "tree",
            format!(
                "{} in {}, {} deep; {} asked for",
                counted(tree.files, "file"),
                directories(tree.directories),
                thousands(tree.depth),
                counted(tree.names, "name"),
            ),
        ),
    ];
    if tree.files_presumed > 0 {
        facts.push((
            "must be there",
            format!(
                "{} that nothing in the load makes",
                counted(tree.files_presumed, "file")
            ),
        ));
    }
    facts.push((
        "left behind",
        format!(
            "{} and {} at the end of a pass",
            counted(tree.files_left, "file"),
            counted(contents.handles.left_open, "open handle")
        ),
    ));
    facts.push((
        "handles",
        format!(
            "{} open at once at most",
            thousands(contents.handles.open_max)
        ),
    ));
    facts.extend(arguments(contents));
    facts.extend(pacing(contents));
    facts
}

const DISPOSITIONS: [&str; 6] = [
    "supersede",
    "open",
    "create",
    "open if",
    "overwrite",
    "overwrite if",
];

/// Returns dispositions and levels.
fn arguments(contents: &LoadStatisticsData) -> Vec<Fact> {
    let mut facts = Vec::new();
    if !contents.dispositions.is_empty() {
        let used: Vec<String> = contents
            .dispositions
            .iter()
            .map(|row| {
                let name = DISPOSITIONS.get(row.disposition as usize);
                let name = name.copied().unwrap_or("unknown");
                format!("{} {name} ({})", thousands(row.count), row.disposition)
            })
            .collect();
        facts.push(("dispositions", used.join(", ")));
    }
    let mut name = "levels";
    for kind in &contents.kinds {
        let levels: Vec<String> = contents
            .levels
            .iter()
            .filter(|row| row.verb == kind.verb)
            .map(|row| format!("{} of {}", thousands(row.count), row.level))
            .collect();
        if !levels.is_empty() {
            facts.push((name, format!("{}: {}", kind.verb, levels.join(", "))));
            name = "";
        }
    }
    facts
}

/// Returns time stamps and pauses.
fn pacing(contents: &LoadStatisticsData) -> Vec<Fact> {
    let mut facts = Vec::new();
    let stamps = contents.stamps.map_or_else(
        || "none: as fast as the layer answers".into(),
        |stamps| {
            format!(
                "{}, from {} to {}, over {}",
                counted(stamps.operations, "operation"),
                duration_text(stamps.first_ns),
                duration_text(stamps.last_ns),
                duration_text(stamps.span_ns),
            )
        },
    );
    facts.push(("time stamps", stamps));
    let pacing = &contents.pacing;
    if pacing.pauses > 0 {
        facts.push((
            "pauses",
            format!(
                "{}, {} together",
                thousands(pacing.pauses),
                duration_text(pacing.pauses_ns)
            ),
        ));
    }
    if pacing.sequence_points + pacing.waits > 0 {
        facts.push((
            "sequence points",
            format!(
                "{} set, {} waited for",
                thousands(pacing.sequence_points),
                thousands(pacing.waits)
            ),
        ));
    }
    facts
}

/// Formats a layer's verdict in one line.
fn in_short(verdict: &LayerVerdict) -> String {
    let count = |refused: bool| -> u64 {
        let matching = verdict.refusals.iter();
        matching
            .filter(|refusal| refusal.refused == refused)
            .map(|refusal| refusal.count)
            .sum()
    };
    let verbs = |refused: bool| -> String {
        let mut verbs: Vec<&str> = Vec::new();
        for refusal in &verdict.refusals {
            if refusal.refused == refused && !verbs.contains(&refusal.verb) {
                verbs.push(refusal.verb);
            }
        }
        verbs.join(", ")
    };
    let (refused, noted) = (count(true), count(false));
    let mut text = if refused == 0 {
        "carried out".to_string()
    } else {
        format!("refused: {} ({})", thousands(refused), verbs(true))
    };
    if noted > 0 {
        text.push_str(&format!(
            "; {} answered without a call ({})",
            thousands(noted),
            verbs(false)
        ));
    }
    text
}

#[cfg(test)]
mod tests;
